//! The results of a search: what it has found, how far it came, and the evidence for it.
//!
//! Does not test anything: the evidence was seen on the way.

use super::configuration::Configuration;
use super::experiment::Experiment;
use super::level::Level;
use super::outcome::Outcome;
use super::stop::Stop;

/// The end of a search. `E` is the error of the tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End<E> {
    /// Minimal: nothing of this level can be left out any more.
    Minimal(Level),
    /// Cut short; perhaps less would do.
    Stopped(Stop<E>),
}

/// The result of a reduction. `V` is the evidence of the tests, `E` their error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction<V, E> {
    /// The smallest configuration that was seen to fail, an effective set.
    pub configuration: Configuration,
    /// The end of the reduction.
    pub end: End<E>,
    /// The outcome and evidence without each member, or without its group where groups were left out; members in
    /// ascending order. Empty unless the end is minimal.
    pub evidence: Vec<(usize, Outcome, V)>,
}

/// The result of [`dd()`](super::dd()) and [`dd_plus()`](super::dd_plus()).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inducing<E> {
    /// The circumstances that make the difference; where the search was cut short, these and others.
    pub configuration: Configuration,
    /// The smallest configuration that is known to fail: what was found may say nothing by itself, without what
    /// remained applied.
    pub failing: Configuration,
    /// The reason why the search was cut short, if it was.
    pub stopped: Option<Stop<E>>,
}

/// The result of [`isolate()`](super::isolate()): two configurations as close to each other as was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference<E> {
    /// The passing configuration.
    pub passing: Configuration,
    /// The failing configuration, which holds all of the passing one.
    pub failing: Configuration,
    /// The end of the search.
    pub end: End<E>,
}

impl<E> Difference<E> {
    /// The minimal difference: what the failing configuration has and the passing one has not.
    pub fn difference(&self) -> Configuration {
        self.failing.without(&self.passing.iter().collect::<Vec<_>>())
    }
}

impl<V: Clone, E> Reduction<V, E> {
    /// Closes a search that arrived at `smallest` and ended as `searched` says.
    pub(super) fn conclude(
        experiment: &Experiment<'_, V, E>,
        smallest: Configuration,
        searched: Result<Level, Stop<E>>,
    ) -> Self {
        // Where the search was cut short, most members were not left out one by one; and who has asked for
        // the end does not want to wait for the few that were.
        let (end, evidence) = match searched {
            Ok(level) => (End::Minimal(level), evidence(experiment, &smallest, level)),
            Err(stop) => (End::Stopped(stop), Vec::new()),
        };
        debug_assert!(evidence.iter().all(|seen| seen.1 != Outcome::Fail), "{smallest:?} is not minimal");
        Reduction { configuration: smallest, end, evidence }
    }
}

fn evidence<V: Clone, E>(
    experiment: &Experiment<'_, V, E>,
    smallest: &Configuration,
    level: Level,
) -> Vec<(usize, Outcome, V)> {
    let seen_without = |left_out: &[usize]| {
        let (outcome, evidence) = experiment.seen_without(smallest, left_out)?;
        Some((outcome, evidence.clone()))
    };
    let mut all = Vec::new();
    match level {
        Level::Members => {
            for member in smallest.iter() {
                all.extend(seen_without(&[member]).map(|(outcome, seen)| (member, outcome, seen)));
            }
        }
        Level::Groups(level) => {
            let partition = experiment.space().levels()[level].partitions.first();
            for group in partition.into_iter().flat_map(|partition| partition.groups()) {
                let members: Vec<usize> = group.filter(|&member| smallest.contains(member)).collect();
                if let Some((outcome, seen)) = seen_without(&members).filter(|_| !members.is_empty()) {
                    all.extend(members.into_iter().map(|member| (member, outcome, seen.clone())));
                }
            }
            all.sort_by_key(|&(member, ..)| member);
        }
    }
    all
}
