//! Imitate a pool of workers, without a thread.

use super::subject::{Random, Subject};
use crate::dd::{Configuration, Outcome, Test, TestFunction};
use std::cell::RefCell;
use std::collections::VecDeque;

type Tested = Result<(Outcome, u128), Configuration>;

/// Tests several configurations at once, which finish in any order.
pub(super) struct LookAhead<'s> {
    subject: &'s Subject,
    ahead: usize,
    random: RefCell<Random>,
}

impl<'s> LookAhead<'s> {
    pub(super) fn new(subject: &'s Subject, ahead: usize, random: &Random) -> Self {
        LookAhead { subject, ahead, random: RefCell::new(random.clone()) }
    }

    /// Lets any of the tests finish, until the first in order has.
    fn finish_first(&self, window: &mut VecDeque<(Configuration, Option<Tested>)>) {
        while window[0].1.is_none() {
            let any = self.random.borrow_mut().below(window.len());
            let (configuration, result) = &mut window[any];
            *result = Some({ self.subject }.test(configuration));
        }
    }
}

impl TestFunction for LookAhead<'_> {
    type Evidence = u128;
    type Error = Configuration;

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        self.subject.closure(configuration)
    }

    fn first_failure(
        &self,
        candidates: &mut dyn Iterator<Item = Configuration>,
        tested: &mut dyn FnMut(&Configuration, Outcome, &u128),
    ) -> Result<Option<Configuration>, Configuration> {
        let mut window = VecDeque::new();
        loop {
            let free = self.ahead - window.len();
            window.extend(candidates.take(free).map(|candidate| (candidate, None)));
            if window.is_empty() {
                return Ok(None);
            }
            self.finish_first(&mut window);
            let (configuration, result) = window.pop_front().expect("it has finished");
            let (outcome, evidence) = result.expect("it has finished")?;
            tested(&configuration, outcome, &evidence);
            if outcome == Outcome::Fail {
                return Ok(Some(configuration));
            }
        }
    }
}
