//! The experiment, which drives a search: it tests what is not known yet, never twice and never too often.
//!
//! This is what the algorithms talk to. It does not choose what to test.

mod journal;
mod round;

use std::collections::HashMap;
use std::iter;

use journal::Journal;
pub use journal::{Counts, Observer};
use round::{Found, Round};

use super::configuration::Configuration;
use super::level::Level;
use super::outcome::Outcome;
use super::space::{Direction, Space};
use super::stop::Stop;
use super::tester::Tester;

/// The first candidate that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstFailure {
    /// Its place among the candidates, from 0.
    pub position: usize,
    /// Its effective set.
    pub configuration: Configuration,
}

/// A space and a tester together with the memory of all outcomes, a limit and an observer. `V` is the evidence
/// of the tests, `E` their error.
///
/// Made for one search, together with the tests that its caller wants to make before: from each success on,
/// only smaller sets are expected to matter.
pub struct Experiment<'e, V, E> {
    space: &'e dyn Space,
    tester: Option<&'e mut dyn Tester<Evidence = V, Error = E>>,
    journal: Journal<'e, V>,
    next_id: u64,
}

impl<'e, V: Clone, E> Experiment<'e, V, E> {
    /// Begins an experiment, without a limit and unobserved.
    pub fn new(space: &'e dyn Space, tester: &'e mut dyn Tester<Evidence = V, Error = E>) -> Self {
        Experiment { space, tester: Some(tester), journal: Journal::new(), next_id: 0 }
    }

    /// Begins an experiment that follows the outcomes of an earlier one, by the fingerprints of effective sets,
    /// and ends with [`Stop::NotRecorded`] where a test would be needed.
    pub fn recorded(space: &'e dyn Space, outcomes: Option<&'e HashMap<u128, (Outcome, V)>>) -> Self {
        let experiment = Experiment { space, tester: None, journal: Journal::new(), next_id: 0 };
        experiment.remembering(outcomes)
    }

    /// Permits at most `max_tests` tests, those of the caller's own included; `None`: any number.
    pub fn limited_to(mut self, max_tests: Option<u64>) -> Self {
        self.journal.max_tests = max_tests;
        self
    }

    /// Uses the outcomes of an earlier experiment with the same tester, by the fingerprints of effective sets,
    /// instead of testing again.
    pub fn remembering(mut self, outcomes: Option<&'e HashMap<u128, (Outcome, V)>>) -> Self {
        self.journal.remembered = outcomes;
        self
    }

    /// Tells `observer` about each test from now on.
    pub fn observed_by(mut self, observer: &'e mut dyn Observer<V>) -> Self {
        self.journal.observer = Some(observer);
        self
    }

    /// Returns the numbers of tests that have been made.
    pub fn counts(&self) -> Counts {
        self.journal.counts
    }

    /// Returns the space of the circumstances.
    pub fn space(&self) -> &'e dyn Space {
        self.space
    }

    /// Returns the effective set of `configuration`.
    pub fn normalise(&self, configuration: &Configuration) -> Configuration {
        effective_set(self.space, configuration)
    }

    /// Returns the outcome of `configuration` if it is known, without testing it.
    pub fn outcome_of(&self, configuration: &Configuration) -> Option<Outcome> {
        self.journal.outcome(self.normalise(configuration).fingerprint())
    }

    /// Returns the outcome and evidence seen for the effective set `effective` without some circumstances; `None` where
    /// they cannot be left out, because what remains needs them.
    pub(super) fn seen_without(
        &self,
        effective: &Configuration,
        left_out: &[usize],
    ) -> Option<(Outcome, &V)> {
        let rest = effective_set_without(self.space, effective, left_out);
        self.journal.seen(rest.fingerprint()).filter(|_| rest != *effective)
    }

    /// Tests one configuration, unless its outcome and evidence are known. The evidence for configurations that a
    /// search no longer needs is forgotten; to ask for it makes another test.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn test(&mut self, configuration: &Configuration) -> Result<(Outcome, V), Stop<E>> {
        let effective = self.normalise(configuration);
        let fingerprint = effective.fingerprint();
        if self.journal.seen(fingerprint).is_none() {
            self.journal.forget(fingerprint);
        }
        let space = Unpredicted(self.space);
        self.round(&space, &|_, _| true, &mut iter::once((0, effective)))?;
        let seen = self.journal.seen(fingerprint).expect("a round without a stop tests everything");
        Ok((seen.0, seen.1.clone()))
    }

    /// Returns the outcome of a configuration: known, plain, or tested.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn outcome(&mut self, configuration: &Configuration) -> Result<Outcome, Stop<E>> {
        let effective = self.normalise(configuration);
        let found = self.round(self.space, &|_, _| true, &mut iter::once((0, effective)))?;
        Ok(found.expect("every outcome is wanted").outcome)
    }

    /// Returns the first of the candidates that fails, and tells the observer that it improves on
    /// what was known. Candidates are drawn one by one, as the tests proceed.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn first_failure(
        &mut self,
        candidates: impl IntoIterator<Item = Configuration>,
    ) -> Result<Option<FirstFailure>, Stop<E>> {
        let space = self.space;
        let candidates = candidates.into_iter().map(|candidate| effective_set(space, &candidate));
        self.improvement(&mut candidates.enumerate())
    }

    /// Returns the first failure of candidates that are the effective set `effective` without something: what is left
    /// out comes in ascending order. Where nothing can be left out, because what remains needs it, there is no
    /// candidate.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn first_failure_without(
        &mut self,
        effective: &Configuration,
        left_out: impl IntoIterator<Item = impl AsRef<[usize]>>,
    ) -> Result<Option<FirstFailure>, Stop<E>> {
        let space = self.space;
        let candidates = left_out.into_iter();
        let candidates = candidates.map(|part| effective_set_without(space, effective, part.as_ref()));
        let smaller = candidates.enumerate().filter(|(_, candidate)| candidate != effective);
        self.improvement(&mut { smaller })
    }

    /// Returns the first of the configurations whose outcome is wanted in its place, with that place and the
    /// outcome.
    ///
    /// # Errors
    /// See [`Stop`].
    pub(super) fn first_wanted(
        &mut self,
        candidates: impl IntoIterator<Item = Configuration>,
        is_wanted: impl Fn(usize, Outcome) -> bool,
    ) -> Result<Option<(usize, Outcome)>, Stop<E>> {
        let space = self.space;
        let candidates = candidates.into_iter().map(|candidate| effective_set(space, &candidate));
        let found = self.round(space, &is_wanted, &mut candidates.enumerate())?;
        Ok(found.map(|found| (found.position, found.outcome)))
    }

    /// Says whether the observer finds it worth while to leave out what `level` says, in so many tests.
    pub(super) fn goes_finer(&mut self, level: Level, tests: u64) -> bool {
        self.journal.observer.as_mut().is_none_or(|observer| observer.goes_finer(level, tests))
    }

    /// Tells the observer that the search goes on from a smaller configuration.
    pub(super) fn improved(&mut self, smaller: &Configuration) {
        self.journal.improved(smaller);
    }

    fn improvement(
        &mut self,
        candidates: &mut dyn Iterator<Item = (usize, Configuration)>,
    ) -> Result<Option<FirstFailure>, Stop<E>> {
        let found = self.round(self.space, &|_, outcome| outcome == Outcome::Fail, candidates)?;
        Ok(found.map(|Found { position, configuration, .. }| {
            self.journal.improved(&configuration);
            FirstFailure { position, configuration }
        }))
    }

    fn round(
        &mut self,
        space: &dyn Space,
        is_wanted: &dyn Fn(usize, Outcome) -> bool,
        candidates: &mut dyn Iterator<Item = (usize, Configuration)>,
    ) -> Result<Option<Found>, Stop<E>> {
        let Experiment { tester, journal, next_id, .. } = self;
        let tester = tester.as_mut().map(|tester| &mut **tester);
        Round { space, tester, journal, next_id, is_wanted }.search(candidates)
    }
}

/// A space that predicts nothing: a search that wants evidence wants a test.
struct Unpredicted<'s>(&'s dyn Space);

impl Space for Unpredicted<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }
}

fn effective_set(space: &dyn Space, configuration: &Configuration) -> Configuration {
    let effective = space.normalise(configuration);
    let (smaller, larger) = match space.direction() {
        Direction::Shrinks => (&effective, configuration),
        Direction::Grows => (configuration, &effective),
    };
    debug_assert!(smaller.is_subset(larger), "{effective:?} of {configuration:?}");
    debug_assert_eq!(space.normalise(&effective), effective, "not an effective set");
    effective
}

fn effective_set_without(space: &dyn Space, effective: &Configuration, left_out: &[usize]) -> Configuration {
    let rest = space.normalise_without(effective, left_out);
    debug_assert_eq!(rest, effective_set(space, &effective.without(left_out)), "{left_out:?}");
    rest
}
