//! The journal of an experiment: it remembers and counts what has been tested, and says how much more may be.
//!
//! Does not draw candidates and starts no test.

use std::collections::HashMap;
use std::iter;

use crate::configuration::Configuration;
use crate::level::Level;
use crate::outcome::Outcome;
use crate::stop::Stop;

/// The numbers of tests that an experiment has made. Independent of how many are made at the same time.
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
    /// Candidates that needed no test, because their outcome was plain: see
    /// [`Space::predict`](crate::Space::predict).
    pub predicted: u64,
}

impl iter::Sum for Counts {
    fn sum<I: Iterator<Item = Counts>>(counts: I) -> Counts {
        counts.fold(Counts::default(), |sum, other| Counts {
            total: sum.total + other.total,
            fail: sum.fail + other.fail,
            pass: sum.pass + other.pass,
            unresolved: sum.unresolved + other.unresolved,
            cached: sum.cached + other.cached,
            predicted: sum.predicted + other.predicted,
        })
    }
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

/// An observer of an experiment, which may end it. `V` is the evidence of the tests.
pub trait Observer<V> {
    /// Called after each test: with the effective set, what was seen, and the counts including this test.
    fn tested(&mut self, _configuration: &Configuration, _outcome: Outcome, _evidence: &V, _counts: Counts) {}

    /// Called for a test that an earlier experiment has made and this one need not make again.
    fn recalled(
        &mut self,
        _configuration: &Configuration,
        _outcome: Outcome,
        _evidence: &V,
        _counts: Counts,
    ) {
    }

    /// Called for a smaller configuration that fails, from which the search now goes on.
    fn improved(&mut self, _smaller: &Configuration) {}

    /// Asked before each test is begun: shall the search end here? Tests that are under way are still reported. An
    /// observer that has said yes must keep saying so.
    fn should_stop(&mut self) -> bool {
        false
    }

    /// Asked where the space has groups: is it worth while to leave out what `level` says, which takes at least
    /// so many tests for the next pass? If not, the search ends with a result that is minimal by coarser groups.
    fn goes_finer(&mut self, _level: Level, _tests: u64) -> bool {
        true
    }
}

/// The largest amount of evidence that comes together before a search that has made progress throws some away.
const EVIDENCE: usize = 1024;

/// The memory of an experiment. Everything is found by the fingerprint of the effective set.
///
/// Outcomes are kept for ever, evidence only as long as the end of the search may ask for it: what was
/// seen without a member of the result was seen for a set smaller than any that failed.
pub(crate) struct Journal<'o, V> {
    outcomes: HashMap<u128, Outcome>,
    /// The evidence, with the sizes of the sets, by fingerprint.
    evidence: HashMap<u128, (usize, V)>,
    /// The amount of evidence at which some is thrown away.
    bearable: usize,
    /// The outcomes of an earlier experiment. Each counts when it is needed for the first time.
    pub(super) remembered: Option<&'o HashMap<u128, (Outcome, V)>>,
    pub(super) counts: Counts,
    pub(super) max_tests: Option<u64>,
    pub(super) observer: Option<&'o mut dyn Observer<V>>,
}

impl<'o, V: Clone> Journal<'o, V> {
    pub(super) fn new() -> Self {
        Journal {
            outcomes: HashMap::new(),
            evidence: HashMap::new(),
            bearable: EVIDENCE,
            remembered: None,
            counts: Counts::default(),
            max_tests: None,
            observer: None,
        }
    }

    /// The outcome that an earlier experiment has seen of a set that this one does not know.
    pub(super) fn remembered(&self, fingerprint: u128) -> Option<&'o (Outcome, V)> {
        let earlier = self.remembered.and_then(|remembered| remembered.get(&fingerprint));
        earlier.filter(|_| !self.outcomes.contains_key(&fingerprint))
    }

    /// Counts a test that an earlier experiment has made. From here on it counts like one of this experiment, so that
    /// the numbers are those of an uninterrupted one.
    pub(super) fn recall(&mut self, fingerprint: u128, configuration: &Configuration) {
        let Some((outcome, evidence)) = self.remembered(fingerprint) else { return };
        self.keep(fingerprint, configuration, *outcome, evidence);
        if let Some(observer) = &mut self.observer {
            observer.recalled(configuration, *outcome, evidence, self.counts);
        }
    }

    /// Counts an outcome that needs no test.
    pub(super) fn predict(&mut self, fingerprint: u128, outcome: Outcome) {
        self.counts.predicted += 1;
        self.outcomes.insert(fingerprint, outcome);
    }

    pub(super) fn outcome(&self, fingerprint: u128) -> Option<Outcome> {
        self.outcomes.get(&fingerprint).copied()
    }

    /// Returns the outcome with the evidence for it, if that has been kept.
    pub(super) fn seen(&self, fingerprint: u128) -> Option<(Outcome, &V)> {
        let (_, evidence) = self.evidence.get(&fingerprint)?;
        Some((*self.outcomes.get(&fingerprint)?, evidence))
    }

    /// Forgets that a set was tested.
    pub(super) fn forget(&mut self, fingerprint: u128) {
        self.outcomes.remove(&fingerprint);
        self.evidence.remove(&fingerprint);
    }

    /// Returns the reason why no further test may be begun while `under_way` are, if there is one.
    pub(super) fn refusal<E>(&mut self, under_way: usize) -> Option<Stop<E>> {
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
        evidence: &V,
    ) {
        self.keep(fingerprint, configuration, outcome, evidence);
        if let Some(observer) = &mut self.observer {
            observer.tested(configuration, outcome, evidence, self.counts);
        }
    }

    fn keep(&mut self, fingerprint: u128, configuration: &Configuration, outcome: Outcome, evidence: &V) {
        self.counts.add(outcome);
        self.outcomes.insert(fingerprint, outcome);
        self.evidence.insert(fingerprint, (configuration.len(), evidence.clone()));
    }

    pub(super) fn improved(&mut self, smaller: &Configuration) {
        if self.evidence.len() >= self.bearable {
            let size = smaller.len();
            self.evidence.retain(|_, (other, _)| *other < size);
            // So that looking through all of it happens seldom.
            self.bearable = EVIDENCE.max(2 * self.evidence.len());
        }
        if let Some(observer) = &mut self.observer {
            observer.improved(smaller);
        }
    }
}
