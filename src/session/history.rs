//! Record the tests of a search in order, for the reports.
//!
//! Of each test the size of its configuration, the outcome, the reason and the output are kept; the
//! configurations themselves only of some tests, evenly spread, because all of them may not fit into memory.
//! Does not decide anything about the search.

use std::sync::Arc;

use super::watcher::Watcher;
use crate::circumstances::{PhaseId, PhaseTitle, Status};
use crate::oracle::Evidence;
use crate::printed::Printed;
use dd::{Configuration, Counts, Level, Observer, Outcome};

/// The largest number of tests whose configurations are kept.
const MOST_CONFIGURATIONS: usize = 1000;

/// The largest number of different other failures that are kept.
const MOST_SLIPS: usize = 50;

/// The largest size of all configurations in bytes.
const MOST_BYTES: usize = 32 << 20;

/// A test that was made.
#[derive(Clone, Debug)]
pub struct TestMade {
    /// The phase of the search, from 0: under `--control both` the first one lets branches decide, the
    /// second one the trace.
    pub phase: usize,
    /// The number of events that were chosen.
    pub size: usize,
    /// The number of events to choose from.
    pub universe: usize,
    /// The configuration; `None` for tests of which only the rest is kept.
    pub configuration: Option<Configuration>,
    /// The outcome: whether the failure was reproduced.
    pub outcome: Outcome,
    /// The reason, in words.
    pub why: String,
    /// The output, if it is kept.
    pub printed: Option<Arc<Printed>>,
}

/// Another failure, in which tests have ended.
#[derive(Clone, Debug)]
pub struct OtherFailure {
    /// A description in words.
    pub what: String,
    /// The number of tests that have ended so.
    pub tests: u64,
    /// The phase of the smallest of them.
    pub phase: PhaseId,
    /// The configuration of that test.
    pub configuration: Configuration,
}

/// The tests of a search, in the order in which the search has learned of them.
#[derive(Debug)]
pub struct History {
    tests: Vec<TestMade>,
    other_failures: Vec<OtherFailure>,
    /// The phase that was begun last.
    phase: Option<PhaseId>,
    phases: usize,
    /// The phases that were begun: before which test, and what they are about.
    begun: Vec<(usize, String)>,
    /// The stride: of so many tests one keeps its configuration.
    stride: usize,
    room: HistoryLimit,
}

/// The number of configurations that are kept, and its limit.
#[derive(Clone, Copy, Debug)]
struct HistoryLimit {
    kept: usize,
    most: usize,
    bytes: usize,
}

impl Default for History {
    fn default() -> History {
        History::with_room(MOST_CONFIGURATIONS, MOST_BYTES)
    }
}

impl History {
    fn with_room(most: usize, bytes: usize) -> History {
        History {
            tests: Vec::new(),
            other_failures: Vec::new(),
            phase: None,
            phases: 0,
            begun: Vec::new(),
            stride: 1,
            room: HistoryLimit { kept: 0, most, bytes },
        }
    }

    /// All tests in order.
    pub fn tests(&self) -> &[TestMade] {
        &self.tests
    }

    /// The other failures that came up, those that came up most often first.
    pub fn other_failures(&self) -> Vec<&OtherFailure> {
        let mut other_failures: Vec<&OtherFailure> = self.other_failures.iter().collect();
        other_failures.sort_by_key(|other| std::cmp::Reverse(other.tests));
        other_failures
    }

    fn add_slip(&mut self, what: &str, configuration: &Configuration) {
        let Some(phase) = self.phase else { return };
        let other =
            || OtherFailure { what: what.to_owned(), tests: 1, phase, configuration: configuration.clone() };
        match self.other_failures.iter().position(|other| other.what == what) {
            Some(place) => {
                let known = &self.other_failures[place];
                let is_smaller = configuration.len() < known.configuration.len();
                let smallest = if is_smaller { other() } else { known.clone() };
                self.other_failures[place] = OtherFailure { tests: known.tests + 1, ..smallest };
            }
            None if self.other_failures.len() < MOST_SLIPS => self.other_failures.push(other()),
            None => {}
        }
    }

    /// The phase that was begun last.
    pub fn phase(&self) -> Option<PhaseId> {
        self.phase
    }

    /// The phases that were begun, in order: how many tests were made before, and what the phase is about.
    pub fn begun(&self) -> &[(usize, String)] {
        &self.begun
    }

    /// The stride: of so many tests one keeps its configuration; 1 if all of them do.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Watches a search together with `other`; only that one may end it.
    pub fn beside<'o>(&'o mut self, other: &'o mut dyn Watcher) -> impl Watcher + 'o {
        Pair { history: self, other }
    }

    fn add(&mut self, configuration: &Configuration, evidence: &Evidence, counts: Counts) {
        // Each phase counts its tests from 1.
        if counts.total == 1 {
            self.phases += 1;
        }
        if let Some(what) = evidence.failure() {
            self.add_slip(what, configuration);
        }
        let is_kept = self.tests.len().is_multiple_of(self.stride);
        self.room.kept += usize::from(is_kept);
        self.tests.push(TestMade {
            phase: self.phases.saturating_sub(1),
            size: configuration.len(),
            universe: configuration.universe(),
            configuration: is_kept.then(|| configuration.clone()),
            outcome: evidence.outcome,
            why: evidence.why.clone(),
            printed: evidence.printed.clone(),
        });
        let most = self.room.most.min(self.room.bytes / (configuration.universe() / 8 + 1)).max(2);
        if self.room.kept > most {
            self.thin_out();
        }
    }

    /// Forgets every second configuration.
    fn thin_out(&mut self) {
        self.stride *= 2;
        for (number, test) in self.tests.iter_mut().enumerate() {
            if !number.is_multiple_of(self.stride) {
                test.configuration = None;
            }
        }
        self.room.kept = self.tests.len().div_ceil(self.stride);
    }
}

/// Two observers as one.
struct Pair<'o> {
    history: &'o mut History,
    other: &'o mut dyn Watcher,
}

impl Observer<Evidence> for Pair<'_> {
    fn tested(
        &mut self,
        configuration: &Configuration,
        outcome: Outcome,
        evidence: &Evidence,
        counts: Counts,
    ) {
        self.history.add(configuration, evidence, counts);
        self.other.tested(configuration, outcome, evidence, counts);
    }

    fn recalled(
        &mut self,
        configuration: &Configuration,
        outcome: Outcome,
        evidence: &Evidence,
        counts: Counts,
    ) {
        self.history.add(configuration, evidence, counts);
        self.other.recalled(configuration, outcome, evidence, counts);
    }

    fn improved(&mut self, smaller: &Configuration) {
        self.other.improved(smaller);
    }

    fn should_stop(&mut self) -> bool {
        self.other.should_stop()
    }

    fn goes_finer(&mut self, level: Level, tests: u64) -> bool {
        self.other.goes_finer(level, tests)
    }
}

impl Watcher for Pair<'_> {
    fn begins(&mut self, phase: &PhaseTitle, start: &Configuration) {
        self.history.phase = Some(phase.id);
        self.history.begun.push((self.history.tests.len(), phase.what.clone()));
        self.other.begins(phase, start);
    }

    fn guesses(&mut self, guess: &Configuration) {
        self.other.guesses(guess);
    }

    fn reason(&self) -> Status {
        self.other.reason()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::watcher::NoWatcher;

    /// A history of phases of so many tests.
    fn told(mut history: History, phases: &[u64]) -> History {
        let evidence = Evidence::new(Outcome::Pass, "no output");
        for &tests in phases {
            for total in 1..=tests {
                let counts = Counts { total, ..Counts::default() };
                let chosen = Configuration::from_iter(16, [1, 2]);
                history.beside(&mut NoWatcher).tested(&chosen, evidence.outcome, &evidence, counts);
            }
        }
        history
    }

    #[test]
    fn tests_are_kept_in_order_with_their_phase() {
        let history = told(History::default(), &[2, 3]);
        let phases: Vec<usize> = history.tests().iter().map(|test| test.phase).collect();
        assert_eq!(phases, [0, 0, 1, 1, 1]);
        let test = &history.tests()[4];
        assert_eq!((test.size, test.universe, test.why.as_str()), (2, 16, "no output"));
        assert!(history.tests().iter().all(|test| test.configuration.is_some()));
    }

    #[test]
    fn configurations_are_kept_of_evenly_spread_tests_if_there_are_too_many() {
        let history = told(History::with_room(4, 1 << 20), &[11]);
        let kept = |test: &TestMade| test.configuration.is_some();
        let numbers = history.tests().iter().enumerate().filter(|(_, test)| kept(test));
        assert_eq!(numbers.map(|(number, _)| number).collect::<Vec<_>>(), [0, 4, 8]);
        assert_eq!(history.stride(), 4);
        assert_eq!(history.tests().len(), 11);
    }

    #[test]
    fn another_failure_is_kept_once_with_its_smallest_test() {
        let mut history = History::default();
        let title = PhaseTitle { id: PhaseId(0), what: "all".into(), unit: "circumstance" };
        history.beside(&mut NoWatcher).begins(&title, &Configuration::full(16));
        let crashed = Evidence::other_failure("crashed", "SIGSEGV at a.c:3 in main".into());
        let reported = Evidence::other_failure("reported", "AddressSanitizer: SEGV".into());
        let left = Evidence::new(Outcome::Unresolved, "after a.c:3 control went to a.c:9");
        let seen = [(&crashed, 5), (&reported, 9), (&left, 1), (&crashed, 3), (&crashed, 4)];
        for (evidence, size) in seen {
            let chosen = Configuration::from_iter(16, 0..size);
            history.beside(&mut NoWatcher).tested(&chosen, evidence.outcome, evidence, Counts::default());
        }
        let other_failures: Vec<_> =
            history.other_failures().iter().map(|other| (&*other.what, other.tests)).collect();
        assert_eq!(other_failures, [("SIGSEGV at a.c:3 in main", 3), ("AddressSanitizer: SEGV", 1)]);
        assert_eq!(history.other_failures()[0].configuration.len(), 3);
    }

    #[test]
    fn large_configurations_have_less_room() {
        let history = told(History::with_room(1000, 6), &[9]);
        assert_eq!(history.tests().iter().filter(|test| test.configuration.is_some()).count(), 2);
    }
}
