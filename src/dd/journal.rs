//! Remember what has been tested, count it, and say how much more may be.
//!
//! Does not draw candidates and starts no test.

use super::configuration::Configuration;
use super::outcome::Outcome;
use super::stop::Stop;
use std::collections::HashMap;

/// How many tests an experiment has made. Independent of how many run at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Configurations really tested: the sum of the next three.
    pub total: u64,
    /// Tests that reproduced the failure.
    pub fail: u64,
    /// Tests that did not reproduce it.
    pub pass: u64,
    /// Tests that said nothing.
    pub unresolved: u64,
    /// Candidates that needed no test, because their effective set had been tested before.
    pub cached: u64,
}

impl Counts {
    fn add(&mut self, outcome: Outcome) {
        self.total += 1;
        match outcome {
            Outcome::Fail => self.fail += 1,
            Outcome::Pass => self.pass += 1,
            Outcome::Unresolved => self.unresolved += 1,
        }
    }
}

/// Somebody who watches an experiment, and may end it. `E` is the evidence of the tests.
pub trait Observer<E> {
    /// Learns of a test: the effective set, what was seen, and the counts including this test.
    fn tested(&mut self, _configuration: &Configuration, _outcome: Outcome, _evidence: &E, _counts: Counts) {}

    /// Learns of a smaller configuration that fails, from which the search now goes on.
    fn improved(&mut self, _smaller: &Configuration) {}

    /// Asked before each test is begun: shall the search end here? Tests that are under way are
    /// still reported. Who has said yes must keep saying so.
    fn should_stop(&mut self) -> bool {
        false
    }
}

/// The memory of an experiment. Outcomes are found by the fingerprint of the effective set.
pub(super) struct Journal<'o, E> {
    seen: HashMap<u128, (Outcome, E)>,
    /// Outcomes of an earlier experiment that have not been asked for in this one.
    pub(super) remembered: HashMap<u128, (Outcome, E)>,
    pub(super) counts: Counts,
    pub(super) max_tests: Option<u64>,
    pub(super) observer: Option<&'o mut dyn Observer<E>>,
}

impl<E: Clone> Journal<'_, E> {
    pub(super) fn new() -> Self {
        let (seen, remembered) = (HashMap::new(), HashMap::new());
        Journal { seen, remembered, counts: Counts::default(), max_tests: None, observer: None }
    }

    /// The outcome of a test that an earlier experiment has made and this one now needs. From here on
    /// it counts like one of this experiment, so that the numbers are those of an uninterrupted one.
    pub(super) fn recall(&mut self, fingerprint: u128) -> Option<Outcome> {
        let (outcome, evidence) = self.remembered.remove(&fingerprint)?;
        self.counts.add(outcome);
        self.seen.insert(fingerprint, (outcome, evidence));
        Some(outcome)
    }

    pub(super) fn seen(&self, fingerprint: u128) -> Option<&(Outcome, E)> {
        self.seen.get(&fingerprint)
    }

    /// Says why no further test may be begun while `under_way` are, if so.
    pub(super) fn refusal<X>(&mut self, under_way: usize) -> Option<Stop<X>> {
        let begun = self.counts.total + under_way as u64;
        if self.max_tests.is_some_and(|max| begun >= max) {
            return Some(Stop::Limit);
        }
        let asked = self.observer.as_mut().is_some_and(|observer| observer.should_stop());
        asked.then_some(Stop::Asked)
    }

    pub(super) fn record(
        &mut self,
        fingerprint: u128,
        configuration: &Configuration,
        outcome: Outcome,
        evidence: &E,
    ) {
        self.counts.add(outcome);
        self.seen.insert(fingerprint, (outcome, evidence.clone()));
        if let Some(observer) = &mut self.observer {
            observer.tested(configuration, outcome, evidence, self.counts);
        }
    }

    pub(super) fn improved(&mut self, smaller: &Configuration) {
        if let Some(observer) = &mut self.observer {
            observer.improved(smaller);
        }
    }
}
