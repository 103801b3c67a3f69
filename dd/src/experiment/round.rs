//! The round: it searches candidates, in their order, for the first with a wanted outcome.
//!
//! A round draws candidates one by one and decides for each: test it, or take the outcome that is known. Tests
//! may end in any order; everything is counted, told and decided in the order of the candidates, so that it
//! does not depend on how many tests are made at the same time.

use std::collections::VecDeque;

use super::journal::Journal;
use crate::configuration::Configuration;
use crate::outcome::Outcome;
use crate::space::Space;
use crate::stop::Stop;
use crate::tester::{TestId, Tester};

/// The largest number of candidates that are drawn ahead for each test that may be under way.
const MOST_DRAWN: usize = 16;

/// A candidate, an effective set, with its place among the candidates.
pub(super) type Candidate = (usize, Configuration);

/// The first candidate with a wanted outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) position: usize,
    pub(super) configuration: Configuration,
    pub(super) outcome: Outcome,
}

/// The source of a candidate's outcome.
enum Source<V, E> {
    /// A test, and its result, if it has ended.
    Test(TestId, Option<Result<(Outcome, V), E>>),
    /// A test of an earlier experiment.
    Remembered,
    /// The prediction of the space.
    Predicted(Outcome),
    /// An earlier candidate, or an earlier round: the outcome is known.
    Known,
}

struct Drawn<V, E> {
    position: usize,
    configuration: Configuration,
    source: Source<V, E>,
}

/// The reason why no more candidates are drawn.
enum Ending<E> {
    /// No candidates are left.
    Exhausted,
    /// A candidate that is drawn has a wanted outcome; an earlier one may have, too.
    Decided,
    /// The next candidate must not be tested.
    Stopped(Stop<E>),
}

/// A round: one search for a candidate with a wanted outcome.
pub(super) struct Round<'r, 'e, V, E> {
    pub(super) space: &'r dyn Space,
    pub(super) tester: Option<&'r mut (dyn Tester<Evidence = V, Error = E> + 'e)>,
    pub(super) journal: &'r mut Journal<'e, V>,
    /// The number of the next test, never used before.
    pub(super) next_id: &'r mut u64,
    /// Whether a candidate in this place is wanted if it has this outcome.
    pub(super) is_wanted: &'r dyn Fn(usize, Outcome) -> bool,
}

impl<V: Clone, E> Round<'_, '_, V, E> {
    /// Draws candidates until one has a wanted outcome; `None` if none has.
    pub(super) fn search(
        mut self,
        candidates: &mut dyn Iterator<Item = Candidate>,
    ) -> Result<Option<Found>, Stop<E>> {
        let mut queue: VecDeque<Drawn<V, E>> = VecDeque::new();
        let mut ending = None;
        loop {
            while ending.is_none() && self.has_room(&queue) {
                ending = match candidates.next() {
                    Some(candidate) => self.draw(candidate, &mut queue),
                    None => Some(Ending::Exhausted),
                };
            }
            let Some(first) = queue.pop_front() else { break };
            let settled = self.settle(first, &mut queue, &mut ending);
            if !matches!(settled, Ok(None)) {
                self.cancel(&queue);
                return settled;
            }
        }
        match ending {
            Some(Ending::Stopped(stop)) => Err(stop),
            Some(Ending::Exhausted | Ending::Decided) | None => Ok(None),
        }
    }

    /// Whether another candidate may be drawn. Those whose outcome is known cost no test, but some memory.
    fn has_room(&self, queue: &VecDeque<Drawn<V, E>>) -> bool {
        let capacity = self.tester.as_ref().map_or(1, |tester| tester.capacity());
        let is_unfinished = |drawn: &&Drawn<V, E>| matches!(drawn.source, Source::Test(_, None));
        queue.len() < MOST_DRAWN * capacity && queue.iter().filter(is_unfinished).count() < capacity
    }

    /// Draws a candidate: finds out how its outcome will be known, and begins its test if it needs one. Limits are
    /// checked here and nowhere else, so that never a test too many is begun.
    fn draw(
        &mut self,
        (position, configuration): Candidate,
        queue: &mut VecDeque<Drawn<V, E>>,
    ) -> Option<Ending<E>> {
        let fingerprint = configuration.fingerprint();
        let mut outcome = self.journal.outcome(fingerprint);
        let is_drawn = || queue.iter().any(|drawn| drawn.configuration.fingerprint() == fingerprint);
        let source = if outcome.is_some() || is_drawn() {
            Source::Known
        } else if let Some((remembered, _)) = self.journal.remembered(fingerprint) {
            outcome = Some(*remembered);
            Source::Remembered
        } else if let Some(plain) = self.space.predict(&configuration) {
            outcome = Some(plain);
            Source::Predicted(plain)
        } else {
            let counts = |drawn: &&Drawn<V, E>| !matches!(drawn.source, Source::Known | Source::Predicted(_));
            match self.submit(&configuration, queue.iter().filter(counts).count()) {
                Ok(id) => Source::Test(id, None),
                Err(stop) => return Some(Ending::Stopped(stop)),
            }
        };
        queue.push_back(Drawn { position, configuration, source });
        outcome.filter(|&outcome| (self.is_wanted)(position, outcome)).map(|_| Ending::Decided)
    }

    fn submit(&mut self, configuration: &Configuration, under_way: usize) -> Result<TestId, Stop<E>> {
        let Some(tester) = &mut self.tester else { return Err(Stop::NotRecorded) };
        if let Some(stop) = self.journal.refusal(under_way) {
            return Err(stop);
        }
        let id = TestId(*self.next_id);
        *self.next_id += 1;
        tester.submit(id, configuration);
        Ok(id)
    }

    /// Takes the first drawn candidate, whose outcome is waited for.
    fn settle(
        &mut self,
        mut first: Drawn<V, E>,
        queue: &mut VecDeque<Drawn<V, E>>,
        ending: &mut Option<Ending<E>>,
    ) -> Result<Option<Found>, Stop<E>> {
        while let Source::Test(id, None) = first.source {
            let (ended, result) = self.tester.as_mut().expect("it has taken the order").next();
            if ended == id {
                first.source = Source::Test(id, Some(result));
            } else {
                self.note(ended, result, queue, ending);
            }
        }
        let Drawn { position, configuration, source } = first;
        let fingerprint = configuration.fingerprint();
        match source {
            Source::Test(_, result) => {
                let (outcome, evidence) = result.expect("it has ended").map_err(Stop::Error)?;
                self.journal.record(fingerprint, &configuration, outcome, &evidence);
            }
            Source::Remembered => self.journal.recall(fingerprint, &configuration),
            Source::Predicted(outcome) => self.journal.predict(fingerprint, outcome),
            Source::Known => self.journal.counts.cached += 1,
        }
        let outcome = self.journal.outcome(fingerprint).expect("just taken down, or before");
        let found = (self.is_wanted)(position, outcome).then_some(Found { position, configuration, outcome });
        Ok(found)
    }

    /// Stores a result until its turn. After one that ends the round nothing is looked at.
    fn note(
        &mut self,
        id: TestId,
        result: Result<(Outcome, V), E>,
        queue: &mut VecDeque<Drawn<V, E>>,
        ending: &mut Option<Ending<E>>,
    ) {
        let is_it = |drawn: &Drawn<V, E>| matches!(drawn.source, Source::Test(other, _) if other == id);
        let Some(place) = queue.iter().position(is_it) else { return };
        let is_last = match &result {
            Ok((outcome, _)) => (self.is_wanted)(queue[place].position, *outcome),
            Err(_) => true,
        };
        queue[place].source = Source::Test(id, Some(result));
        if is_last {
            let rest = queue.split_off(place + 1);
            self.cancel(&rest);
            *ending = Some(Ending::Decided);
        }
    }

    fn cancel(&mut self, drawn: &VecDeque<Drawn<V, E>>) {
        for one in drawn {
            if let (Source::Test(id, None), Some(tester)) = (&one.source, &mut self.tester) {
                tester.cancel(*id);
            }
        }
    }
}
