//! Hold what a reduction has found, and the evidence for it.
//!
//! Does not test anything: the evidence was seen on the way.

use super::configuration::Configuration;
use super::experiment::Experiment;
use super::outcome::Outcome;
use super::stop::Stop;
use super::test_function::TestFunction;

/// How a reduction ended. `E` is the error of the testing function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End<E> {
    /// No single member can be left out any more.
    Minimal,
    /// The search was cut short; perhaps less would do.
    Stopped(Stop<E>),
}

/// The result of a reduction. `V` is the evidence of the tests, `E` their error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduction<V, E> {
    /// The smallest configuration that was seen to fail, an effective set.
    pub configuration: Configuration,
    /// How the reduction ended.
    pub end: End<E>,
    /// For each member in ascending order: what was seen without it. Empty unless the end is minimal.
    pub evidence: Vec<(usize, Outcome, V)>,
}

/// The reduction that an experiment with the testing function `T` leads to.
pub type ReductionOf<T> = Reduction<<T as TestFunction>::Evidence, <T as TestFunction>::Error>;

impl<V: Clone, E> Reduction<V, E> {
    /// Closes a search that arrived at `smallest` and ended as `searched` says.
    pub(super) fn conclude<T>(
        experiment: &Experiment<'_, T>,
        smallest: Configuration,
        searched: Result<(), Stop<E>>,
    ) -> Self
    where
        T: TestFunction<Evidence = V, Error = E>,
    {
        // Where the search was cut short, most members were not left out one by one; and who has asked for
        // the end does not want to wait for the few that were.
        let (end, evidence) = match searched {
            Ok(()) => (End::Minimal, evidence(experiment, &smallest)),
            Err(stop) => (End::Stopped(stop), Vec::new()),
        };
        debug_assert!(
            matches!(end, End::Stopped(_))
                || evidence.iter().map(|seen| seen.0).eq(smallest.iter())
                    && evidence.iter().all(|seen| seen.1 != Outcome::Fail),
            "{smallest:?} is not minimal",
        );
        Reduction { configuration: smallest, end, evidence }
    }
}

fn evidence<T: TestFunction>(
    experiment: &Experiment<'_, T>,
    smallest: &Configuration,
) -> Vec<(usize, Outcome, T::Evidence)> {
    let seen_without = |member| {
        let (outcome, evidence) = experiment.seen_without(smallest, member)?;
        Some((member, outcome, evidence.clone()))
    };
    smallest.iter().filter_map(seen_without).collect()
}
