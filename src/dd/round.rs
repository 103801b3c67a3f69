//! Keep the books of one search for the first failing candidate.
//!
//! A round decides for each candidate that is drawn: test it, skip it because its outcome is known,
//! or end here. It does not test anything, and cannot tell how far the testing function looks
//! ahead: everything is counted in the order of the candidates, and only up to the winner.

use super::configuration::Configuration;
use super::journal::Journal;
use super::outcome::Outcome;
use super::stop::Stop;
use super::test_function::TestFunction;
use std::collections::VecDeque;

/// The first candidate that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstFailure {
    /// Its place among the candidates, from 0.
    pub position: usize,
    /// Its effective set.
    pub configuration: Configuration,
}

/// A candidate that was handed out and whose outcome is not reported yet.
struct UnderWay {
    position: usize,
    fingerprint: u128,
    /// The candidates between the last one handed out and this one, skipped as known.
    hits_before: u64,
}

/// Why no more candidates are handed out.
enum Ending<E> {
    /// There are no more.
    Exhausted,
    /// The next one is known to fail: it wins unless one that is under way does.
    KnownFailure(FirstFailure),
    /// The next one must not be tested.
    Stopped(Stop<E>),
}

/// One search for the first failing candidate.
pub(super) struct Round<'j, 'o, T: TestFunction> {
    journal: &'j mut Journal<'o, T::Evidence>,
    drawn: usize,
    hits: u64,
    under_way: VecDeque<UnderWay>,
    ending: Option<Ending<T::Error>>,
    winner: Option<FirstFailure>,
}

impl<'j, 'o, T: TestFunction> Round<'j, 'o, T> {
    pub(super) fn new(journal: &'j mut Journal<'o, T::Evidence>) -> Self {
        let (under_way, ending, winner) = (VecDeque::new(), None, None);
        Round { journal, drawn: 0, hits: 0, under_way, ending, winner }
    }

    /// Returns the next of the candidates, all of them effective sets, that has to be tested.
    pub(super) fn next(
        &mut self,
        candidates: &mut dyn Iterator<Item = Configuration>,
    ) -> Option<Configuration> {
        while self.ending.is_none() {
            let Some(candidate) = candidates.next() else {
                self.ending = Some(Ending::Exhausted);
                break;
            };
            let position = self.drawn;
            self.drawn += 1;
            let to_test = self.consider(FirstFailure { position, configuration: candidate });
            if to_test.is_some() {
                return to_test;
            }
        }
        None
    }

    /// Returns the candidate if it has to be tested. What is under way counts as known: behind it
    /// the same set matters only if it did not fail.
    fn consider(&mut self, candidate: FirstFailure) -> Option<Configuration> {
        let fingerprint = candidate.configuration.fingerprint();
        let is_recalled = self.journal.recall(fingerprint, &candidate.configuration);
        let known = self.journal.outcome(fingerprint);
        let twin = self.under_way.iter().any(|other| other.fingerprint == fingerprint);
        if known.is_none() && !twin {
            return self.hand_out(candidate, fingerprint);
        }
        self.hits += u64::from(!is_recalled);
        if known == Some(Outcome::Fail) {
            self.ending = Some(Ending::KnownFailure(candidate));
        }
        None
    }

    /// Limits are looked at here and nowhere else, so that never a test too many is begun.
    fn hand_out(&mut self, candidate: FirstFailure, fingerprint: u128) -> Option<Configuration> {
        if let Some(stop) = self.journal.refusal(self.under_way.len()) {
            self.ending = Some(Ending::Stopped(stop));
            return None;
        }
        let FirstFailure { position, configuration } = candidate;
        let hits_before = std::mem::take(&mut self.hits);
        self.under_way.push_back(UnderWay { position, fingerprint, hits_before });
        Some(configuration)
    }

    /// Takes a report of the testing function.
    pub(super) fn tested(&mut self, configuration: &Configuration, outcome: Outcome, evidence: &T::Evidence) {
        assert!(self.winner.is_none(), "a testing function reports nothing behind a failure");
        let candidate = self.under_way.pop_front();
        let candidate = candidate.expect("a testing function reports what it has drawn, once");
        let UnderWay { position, fingerprint, hits_before } = candidate;
        debug_assert_eq!(fingerprint, configuration.fingerprint(), "reports come in order");
        self.journal.counts.cached += hits_before;
        self.journal.record(fingerprint, configuration, outcome, evidence);
        if outcome == Outcome::Fail {
            self.winner = Some(FirstFailure { position, configuration: configuration.clone() });
        }
    }

    /// Takes what the testing function has returned and says how the round ended.
    pub(super) fn conclude(
        mut self,
        returned: Result<Option<Configuration>, T::Error>,
    ) -> Result<Option<FirstFailure>, Stop<T::Error>> {
        let winner = self.winner.take();
        if winner.is_none() {
            let last = self.under_way.front();
            self.journal.counts.cached += last.map_or(self.hits, |failed| failed.hits_before);
        }
        let returned = returned.map_err(Stop::Error)?;
        let reported = winner.as_ref().map(|winner| &winner.configuration);
        assert_eq!(returned.as_ref(), reported, "a testing function returns what it reports");
        let complete = winner.is_some() || self.under_way.is_empty();
        assert!(complete, "a testing function reports what it has drawn");
        match (winner, self.ending) {
            (Some(winner), _) => Ok(Some(winner)),
            (None, Some(Ending::Exhausted)) => Ok(None),
            (None, Some(Ending::KnownFailure(known))) => Ok(Some(known)),
            (None, Some(Ending::Stopped(stop))) => Err(stop),
            (None, None) => {
                panic!("a testing function draws until a candidate fails or none is left")
            }
        }
    }
}
