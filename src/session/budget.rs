//! Divide the budget of a command among its searches.

use std::time::{Duration, Instant};

/// The budget of a command: what is left of its tests and its time, for so many searches.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    tests: Option<u64>,
    deadline: Option<Instant>,
    searches: u32,
}

/// The share of a search in the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The largest number of tests; `None`: any number.
    pub tests: Option<u64>,
    /// The limit of time; `None`: any time.
    pub time: Option<Duration>,
}

impl Budget {
    /// Creates a budget for so many searches; its time begins now.
    pub fn new(tests: Option<u64>, time: Option<Duration>, searches: usize) -> Budget {
        let deadline = time.map(|time| Instant::now() + time);
        Budget { tests, deadline, searches: u32::try_from(searches).unwrap_or(u32::MAX) }
    }

    /// The share of the next search: an equal part of what the earlier ones have left over.
    pub fn share(&mut self) -> Share {
        let searches = self.searches.max(1);
        self.searches = searches - 1;
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let tests = self.tests.map(|tests| tests.div_ceil(u64::from(searches)));
        Share { tests, time: left.map(|left| left / searches) }
    }

    /// Subtracts the tests that a search has made.
    pub fn spend(&mut self, tests: u64) {
        self.tests = self.tests.map(|left| left.saturating_sub(tests));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_search_leaves_over_is_for_those_behind_it() {
        let mut budget = Budget::new(Some(30), None, 3);
        let mut shares = Vec::new();
        for spent in [10, 4, 16] {
            shares.push(budget.share().tests);
            budget.spend(spent);
        }
        assert_eq!(shares, [Some(10), Some(10), Some(16)]);
        assert_eq!(budget.share().tests, Some(0));
    }

    #[test]
    fn time_is_shared_as_well_and_no_limit_is_none() {
        let mut budget = Budget::new(None, Some(Duration::from_secs(60)), 3);
        let share = budget.share();
        assert_eq!(share.tests, None);
        assert!(share.time.is_some_and(|time| (19..=20).contains(&time.as_secs())), "{share:?}");
        assert_eq!(Budget::new(None, None, 3).share(), Share { tests: None, time: None });
    }
}
