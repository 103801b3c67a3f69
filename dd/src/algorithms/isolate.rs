//! The general delta debugging algorithm: brings a passing and a failing configuration as close to each other as can
//! be.
//!
//! Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002,
//! section 4: the general delta debugging algorithm.

use super::{difference, union};
use crate::configuration::Configuration;
use crate::experiment::Experiment;
use crate::groups::Splitter;
use crate::level::Level;
use crate::outcome::Outcome;
use crate::reduction::{Difference, End};
use crate::stop::Stop;

/// Finds a minimal difference between `passing`, which is known to pass, and `failing`, which is known to fail
/// and holds all of the other: leave out any single circumstance of the difference on one side, or add it on
/// the other, and it is no longer the same outcome.
///
/// The difference is cut into n parts, n = 2 at first:
/// - *Reduce to subset*: if the passing configuration with a part fails, it is the new failing one; if the
///   failing one without a part passes, it is the new passing one; n = 2.
/// - *Increase to complement*, *reduce to complement*: otherwise, if the passing configuration with a part
///   passes, or the failing one without a part fails, go on with that, and n - 1.
/// - *Increase granularity*: otherwise, if n is less than the size of the difference, with 2n.
///
/// Needs fewer tests than a reduction, because passing tests lead on as well. Groups are cut last.
pub fn isolate<V: Clone, E>(
    experiment: &mut Experiment<'_, V, E>,
    passing: Configuration,
    failing: Configuration,
) -> Difference<E> {
    let splitter = Splitter::new(experiment.space().levels());
    let (passing, failing) = (experiment.normalise(&passing), experiment.normalise(&failing));
    let mut found = Difference { passing, failing, end: End::Minimal(Level::Members) };
    if let Err(stop) = narrow(experiment, &splitter, &mut found) {
        found.end = End::Stopped(stop);
    }
    found
}

fn narrow<V: Clone, E>(
    experiment: &mut Experiment<'_, V, E>,
    splitter: &Splitter,
    found: &mut Difference<E>,
) -> Result<(), Stop<E>> {
    let mut n = 2;
    loop {
        let delta: Vec<usize> = found.difference().iter().collect();
        if delta.len() <= 1 {
            return Ok(());
        }
        n = n.min(delta.len());
        let parts = splitter.split(&delta, n);
        let part = |at: usize| Configuration::from_iter(found.passing.universe(), parts[at].iter().copied());
        let larger = |at: usize| union(&found.passing, &part(at));
        let smaller = |at: usize| difference(&found.failing, &part(at));
        // In the order of the figure: each outcome that leads on, where it does. What a closure makes equal to one
        // of the two configurations leads nowhere.
        let candidates: Vec<(usize, Configuration)> = (0..n)
            .map(larger)
            .chain((0..n).map(smaller))
            .map(|candidate| experiment.normalise(&candidate))
            .enumerate()
            .filter(|(_, candidate)| lies_between(found, candidate))
            .collect();
        let offered = || candidates.iter().map(|(_, candidate)| candidate.clone());
        let is_larger = |at: usize| candidates[at].0 < n;
        let leads_to_subset =
            |at, outcome| outcome == if is_larger(at) { Outcome::Fail } else { Outcome::Pass };
        let step = match experiment.first_wanted(offered(), leads_to_subset)? {
            Some((at, _)) if is_larger(at) => Some((Side::Failing, at, 2)),
            Some((at, _)) => Some((Side::Passing, at, 2)),
            None => {
                let leads =
                    |at, outcome| outcome == if is_larger(at) { Outcome::Pass } else { Outcome::Fail };
                let fewer = (n - 1).max(2);
                experiment.first_wanted(offered(), leads)?.map(|(at, _)| match is_larger(at) {
                    true => (Side::Passing, at, fewer),
                    false => (Side::Failing, at, fewer),
                })
            }
        };
        match step {
            Some((side, at, parts)) => {
                let closer = candidates[at].1.clone();
                match side {
                    Side::Passing => found.passing = closer,
                    Side::Failing => found.failing = closer,
                }
                n = parts;
                experiment.improved(&found.failing);
            }
            None if n < delta.len() => n = (2 * n).min(delta.len()),
            None => return Ok(()),
        }
    }
}

/// The one of the two configurations that moves.
enum Side {
    Passing,
    Failing,
}

/// Whether a configuration is larger than the passing one and smaller than the failing one.
fn lies_between<E>(found: &Difference<E>, candidate: &Configuration) -> bool {
    let Difference { passing, failing, .. } = found;
    passing.is_subset(candidate)
        && candidate.is_subset(failing)
        && candidate != passing
        && candidate != failing
}
