//! An imitation of a pool of workers, without a thread: tests end in any order.

use super::subject::{Random, Subject};
use crate::{Configuration, Outcome, TestId, Tester};

/// A tester that makes several tests at the same time, which end in any order.
pub(super) struct Unordered<'s> {
    subject: &'s Subject,
    capacity: usize,
    random: Random,
    submitted: Vec<(TestId, Configuration)>,
    /// The number of tests that were cancelled.
    pub(super) cancelled: usize,
}

impl<'s> Unordered<'s> {
    pub(super) fn new(subject: &'s Subject, capacity: usize, random: &Random) -> Self {
        Unordered { subject, capacity, random: random.clone(), submitted: Vec::new(), cancelled: 0 }
    }
}

impl Tester for Unordered<'_> {
    type Evidence = u128;
    type Error = Configuration;

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn submit(&mut self, id: TestId, configuration: &Configuration) {
        assert!(self.submitted.len() < self.capacity, "more tests than there is room for");
        self.submitted.push((id, configuration.clone()));
    }

    fn next(&mut self) -> (TestId, Result<(Outcome, u128), Configuration>) {
        let any = self.random.below(self.submitted.len());
        let (id, configuration) = self.submitted.swap_remove(any);
        (id, self.subject.test()(&configuration))
    }

    fn cancel(&mut self, id: TestId) {
        let before = self.submitted.len();
        self.submitted.retain(|submitted| submitted.0 != id);
        self.cancelled += before - self.submitted.len();
    }
}
