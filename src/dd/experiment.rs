//! Ask the testing function, but never twice and never too often.
//!
//! This is what the algorithms talk to. It does not choose what to test.

use super::configuration::Configuration;
use super::journal::{Counts, Journal, Observer};
use super::outcome::Outcome;
use super::round::{FirstFailure, Round};
use super::stop::Stop;
use super::test_function::TestFunction;
use std::cell::RefCell;
use std::collections::HashMap;
use std::iter;

/// A testing function together with the memory of its outcomes, a limit and an observer.
///
/// Made for one reduction, together with the tests that its caller wants to make before: from each
/// success on, only smaller sets are expected to matter.
pub struct Experiment<'o, T: TestFunction> {
    test_function: T,
    journal: Journal<'o, T::Evidence>,
}

impl<'o, T: TestFunction> Experiment<'o, T> {
    /// Begins an experiment, without a limit and unobserved.
    pub fn new(test_function: T) -> Self {
        Experiment { test_function, journal: Journal::new() }
    }

    /// Permits at most `max_tests` tests, those of the caller's own included; `None`: any number.
    pub fn limited_to(mut self, max_tests: Option<u64>) -> Self {
        self.journal.max_tests = max_tests;
        self
    }

    /// Uses the outcomes of an earlier experiment with the same testing function, by the fingerprints
    /// of effective sets, instead of testing again.
    pub fn remembering(mut self, outcomes: Option<&'o HashMap<u128, (Outcome, T::Evidence)>>) -> Self {
        self.journal.remembered = outcomes;
        self
    }

    /// Tells `observer` about each test from now on.
    pub fn observed_by(mut self, observer: &'o mut dyn Observer<T::Evidence>) -> Self {
        self.journal.observer = Some(observer);
        self
    }

    /// Returns how many tests have been made.
    pub fn counts(&self) -> Counts {
        self.journal.counts
    }

    /// Returns the effective set of `configuration`.
    pub fn normalise(&self, configuration: &Configuration) -> Configuration {
        effective_set(&self.test_function, configuration)
    }

    /// Returns the outcome of `configuration` if it is known, without testing it.
    pub fn outcome_of(&self, configuration: &Configuration) -> Option<Outcome> {
        self.journal.outcome(self.normalise(configuration).fingerprint())
    }

    /// Returns what was seen for the effective set `effective` without one circumstance.
    pub(super) fn seen_without(
        &self,
        effective: &Configuration,
        circumstance: usize,
    ) -> Option<(Outcome, &T::Evidence)> {
        let rest = effective_set_without(&self.test_function, effective, &[circumstance]);
        self.journal.seen(rest.fingerprint())
    }

    /// Tests one configuration, unless it is known what is to be seen. The evidence for what a search has
    /// left behind is forgotten; who asks for it gets another test.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn test(&mut self, configuration: &Configuration) -> Result<(Outcome, T::Evidence), Stop<T::Error>> {
        let effective = self.normalise(configuration);
        let fingerprint = effective.fingerprint();
        if self.journal.seen(fingerprint).is_none() {
            self.journal.forget(fingerprint);
        }
        round(&self.test_function, &mut self.journal, &mut iter::once(effective))?;
        let seen = self.journal.seen(fingerprint).expect("a round without a stop tests everything");
        Ok((seen.0, seen.1.clone()))
    }

    /// Returns the first of the candidates that fails, and tells the observer that it improves on
    /// what was known. Candidates are drawn one by one, as the tests proceed.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn first_failure(
        &mut self,
        candidates: impl IntoIterator<Item = Configuration>,
    ) -> Result<Option<FirstFailure>, Stop<T::Error>> {
        let Experiment { test_function, journal } = self;
        let candidates = candidates.into_iter().map(|candidate| effective_set(test_function, &candidate));
        improvement(test_function, journal, candidates)
    }

    /// Does the same for candidates that are the effective set `effective` without something: what is
    /// left out comes in ascending order.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn first_failure_without(
        &mut self,
        effective: &Configuration,
        left_out: impl IntoIterator<Item = impl AsRef<[usize]>>,
    ) -> Result<Option<FirstFailure>, Stop<T::Error>> {
        let Experiment { test_function, journal } = self;
        let candidates = left_out.into_iter();
        let candidates =
            candidates.map(|part| effective_set_without(test_function, effective, part.as_ref()));
        improvement(test_function, journal, candidates)
    }
}

fn improvement<T: TestFunction>(
    test_function: &T,
    journal: &mut Journal<'_, T::Evidence>,
    mut effective: impl Iterator<Item = Configuration>,
) -> Result<Option<FirstFailure>, Stop<T::Error>> {
    let winner = round(test_function, journal, &mut effective)?;
    if let Some(winner) = &winner {
        journal.improved(&winner.configuration);
    }
    Ok(winner)
}

fn round<'o, T: TestFunction>(
    test_function: &T,
    journal: &mut Journal<'o, T::Evidence>,
    effective: &mut dyn Iterator<Item = Configuration>,
) -> Result<Option<FirstFailure>, Stop<T::Error>> {
    // Drawing and reporting alternate, and both write the same books.
    let round: RefCell<Round<'_, 'o, T>> = RefCell::new(Round::new(journal));
    let returned = test_function.first_failure(
        &mut iter::from_fn(|| round.borrow_mut().next(effective)),
        &mut |configuration, outcome, evidence| {
            round.borrow_mut().tested(configuration, outcome, evidence);
        },
    );
    round.into_inner().conclude(returned)
}

fn effective_set<T: TestFunction>(test_function: &T, configuration: &Configuration) -> Configuration {
    let effective = test_function.normalise(configuration);
    debug_assert!(effective.is_subset(configuration), "{effective:?} adds to {configuration:?}");
    debug_assert_eq!(test_function.normalise(&effective), effective, "not an effective set");
    effective
}

fn effective_set_without<T: TestFunction>(
    test_function: &T,
    effective: &Configuration,
    left_out: &[usize],
) -> Configuration {
    let rest = test_function.normalise_without(effective, left_out);
    debug_assert_eq!(rest, effective_set(test_function, &effective.without(left_out)), "{left_out:?}");
    rest
}
