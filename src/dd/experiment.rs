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
    pub fn remembering(mut self, outcomes: HashMap<u128, (Outcome, T::Evidence)>) -> Self {
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

    /// Returns what is known about `configuration`, without testing it.
    pub fn outcome_of(&self, configuration: &Configuration) -> Option<(Outcome, &T::Evidence)> {
        let fingerprint = self.normalise(configuration).fingerprint();
        self.journal.seen(fingerprint).map(|(outcome, evidence)| (*outcome, evidence))
    }

    /// Tests one configuration, unless its outcome is known.
    ///
    /// # Errors
    /// See [`Stop`].
    pub fn test(&mut self, configuration: &Configuration) -> Result<(Outcome, T::Evidence), Stop<T::Error>> {
        self.round(&mut iter::once(configuration.clone()))?;
        let seen = self.outcome_of(configuration).expect("a round without a stop tests everything");
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
        let winner = self.round(&mut candidates.into_iter())?;
        if let Some(winner) = &winner {
            self.journal.improved(&winner.configuration);
        }
        Ok(winner)
    }

    fn round(
        &mut self,
        candidates: &mut dyn Iterator<Item = Configuration>,
    ) -> Result<Option<FirstFailure>, Stop<T::Error>> {
        let test_function = &self.test_function;
        let mut effective = candidates.map(|candidate| effective_set(test_function, &candidate));
        // Drawing and reporting alternate, and both write the same books.
        let round: RefCell<Round<'_, 'o, T>> = RefCell::new(Round::new(&mut self.journal));
        let returned = test_function.first_failure(
            &mut iter::from_fn(|| round.borrow_mut().next(&mut effective)),
            &mut |configuration, outcome, evidence| {
                round.borrow_mut().tested(configuration, outcome, evidence);
            },
        );
        round.into_inner().conclude(returned)
    }
}

fn effective_set<T: TestFunction>(test_function: &T, configuration: &Configuration) -> Configuration {
    let effective = test_function.normalise(configuration);
    debug_assert!(effective.is_subset(configuration), "{effective:?} adds to {configuration:?}");
    debug_assert_eq!(test_function.normalise(&effective), effective, "not an effective set");
    effective
}
