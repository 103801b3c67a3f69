//! The algorithms: they choose which configurations to test.
//!
//! Each algorithm is a function of an [`Experiment`] and the configuration to start from.

mod dd;
mod dd_plus;
mod ddmin;
mod halve;
mod isolate;
mod pairs;
mod prune;
mod sweep;

pub use dd::dd;
pub use dd_plus::dd_plus;
pub use ddmin::ddmin;
pub use halve::halve;
pub use isolate::isolate;
pub use pairs::pairs;
pub use prune::prune;
pub use sweep::sweep;

use super::configuration::Configuration;
use super::experiment::Experiment;
use super::outcome::Outcome;
use super::reduction::{End, Reduction};

/// The algorithm of a reduction, so that a caller can choose one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Groups and chunks are left out, from the end to the beginning: see [`sweep()`].
    #[default]
    Sweep,
    /// The algorithm of the papers: see [`ddmin()`].
    Ddmin,
    /// Halves of what cannot be left out as a whole: see [`halve()`]. For circumstances of which few are needed.
    Halve,
    /// Failure-inducing circumstances first, see [`dd_plus()`]; from there as [`Algorithm::Sweep`], which proves that
    /// the result is minimal. For circumstances of which none passes, and few are needed.
    DdPlus,
    /// Single circumstances first: see [`prune()`]. For configurations of which most is likely to be needed.
    Prune,
    /// As [`Algorithm::Sweep`], and then two circumstances at once: see [`pairs()`]. For circumstances that may only need
    /// each other.
    Pairs,
}

impl Algorithm {
    /// Reduces `start`, which is known to fail, to a minimal configuration.
    ///
    /// A caller who can guess which circumstances matter tests the guess here, before the call,
    /// with [`Experiment::test`], and starts from it if it fails, by [`Algorithm::Prune`]; otherwise from what was
    /// recorded.
    pub fn reduce<V: Clone, E>(
        self,
        experiment: &mut Experiment<'_, V, E>,
        start: Configuration,
    ) -> Reduction<V, E> {
        match self {
            Algorithm::Sweep => sweep(experiment, start),
            Algorithm::Ddmin => ddmin(experiment, start),
            Algorithm::Halve => halve(experiment, start),
            Algorithm::DdPlus => inducing(experiment, start),
            Algorithm::Prune => prune(experiment, start),
            Algorithm::Pairs => pairs(experiment, start),
        }
    }
}

/// Finds the failure-inducing circumstances by [`dd_plus()`], and reduces them by [`sweep()`]: or, if they do not fail
/// by themselves, the smallest configuration that has failed on the way.
fn inducing<V: Clone, E>(experiment: &mut Experiment<'_, V, E>, start: Configuration) -> Reduction<V, E> {
    let found = dd_plus(experiment, start);
    if let Some(stop) = found.stopped {
        let configuration = experiment.normalise(&found.failing);
        return Reduction { configuration, end: End::Stopped(stop), evidence: Vec::new() };
    }
    experiment.improved(&found.failing);
    match experiment.outcome(&found.configuration) {
        Ok(Outcome::Fail) => sweep(experiment, found.configuration),
        Ok(_) => sweep(experiment, found.failing),
        Err(stop) => {
            let configuration = experiment.normalise(&found.failing);
            Reduction { configuration, end: End::Stopped(stop), evidence: Vec::new() }
        }
    }
}

/// Replaces the smallest failing configuration so far by this failing one, if that is smaller.
fn keep_smaller<V: Clone, E>(
    experiment: &mut Experiment<'_, V, E>,
    smallest: &mut Configuration,
    failing: &Configuration,
) {
    let failing = experiment.normalise(failing);
    if failing.len() < smallest.len() {
        experiment.improved(&failing);
        *smallest = failing;
    }
}

/// The circumstances that are selected in both.
fn intersection(one: &Configuration, other: &Configuration) -> Configuration {
    one.without(&one.iter().filter(|&member| !other.contains(member)).collect::<Vec<_>>())
}

/// The circumstances that are selected in one of them or in both.
fn union(one: &Configuration, other: &Configuration) -> Configuration {
    let mut both = one.clone();
    both.insert_all(other);
    both
}

/// The circumstances that are selected in the first and not in the second.
fn difference(one: &Configuration, other: &Configuration) -> Configuration {
    one.without(&other.iter().collect::<Vec<_>>())
}
