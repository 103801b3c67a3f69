//! Bring a passing and a failing configuration as close to each other as can be.
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
        // In the order of the figure: each outcome that leads on, where it does.
        let to_subset = (0..n).map(larger).chain((0..n).map(smaller));
        let leads_to_subset = |at, outcome| outcome == if at < n { Outcome::Fail } else { Outcome::Pass };
        let step = match experiment.first_wanted(to_subset, leads_to_subset)? {
            Some((at, _)) if at < n => Some((Side::Failing, larger(at), 2)),
            Some((at, _)) => Some((Side::Passing, smaller(at - n), 2)),
            None => {
                let to_complement = (0..n).map(larger).chain((0..n).map(smaller));
                let leads = |at, outcome| outcome == if at < n { Outcome::Pass } else { Outcome::Fail };
                let fewer = (n - 1).max(2);
                experiment.first_wanted(to_complement, leads)?.map(|(at, _)| match at < n {
                    true => (Side::Passing, larger(at), fewer),
                    false => (Side::Failing, smaller(at - n), fewer),
                })
            }
        };
        match step {
            Some((side, closer, parts)) => {
                let closer = experiment.normalise(&closer);
                // What a closure adds or takes away may lie outside of the difference.
                if !move_closer(found, side, closer) {
                    return Ok(());
                }
                n = parts;
                experiment.improved(&found.failing);
            }
            None if n < delta.len() => n = (2 * n).min(delta.len()),
            None => return Ok(()),
        }
    }
}

/// Which of the two configurations moves.
enum Side {
    Passing,
    Failing,
}

/// Says whether the two are closer to each other now.
fn move_closer<E>(found: &mut Difference<E>, side: Side, closer: Configuration) -> bool {
    let before = found.difference().len();
    let lies_between = found.passing.is_subset(&closer) && closer.is_subset(&found.failing);
    let old = match side {
        Side::Passing => std::mem::replace(&mut found.passing, closer),
        Side::Failing => std::mem::replace(&mut found.failing, closer),
    };
    let is_closer = lies_between && found.difference().len() < before;
    if !is_closer {
        match side {
            Side::Passing => found.passing = old,
            Side::Failing => found.failing = old,
        }
    }
    is_closer
}
