//! Find the test of a search at which an execution was gone for good, and what went with it.
//!
//! Watches a search, or one that is remembered. Numbers tests as the history does.

use std::collections::HashMap;

use tracer::trace::EventId;

use super::watcher::Watcher;
use crate::circumstances::PhaseTitle;
use crate::circumstances::events::{Universe, rule};
use crate::oracle::Evidence;
use crate::subject::Recorded;
use dd::{Configuration, Counts, Observer, Outcome};

/// The departure of an execution: the test that left it out for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The test without it that reproduced the failure, from 1.
    pub test: usize,
    /// The other executions that this test left out for the first time, in order.
    pub together: Vec<EventId>,
}

/// Watches for the departures of some events.
pub struct Departures<'a> {
    recorded: Recorded<'a>,
    asked: Vec<EventId>,
    phase: Option<Phase>,
    tests: usize,
    departures: HashMap<EventId, Departure>,
}

struct Phase {
    universe: Universe,
    best: Configuration,
    /// The events that are watched, each with its circumstance, as far as they can be left out.
    asked: Vec<(EventId, usize)>,
}

impl<'a> Departures<'a> {
    /// Watches for the departures of these events.
    pub fn of(recorded: Recorded<'a>, asked: &[EventId]) -> Departures<'a> {
        let asked = asked.to_vec();
        Departures { recorded, asked, phase: None, tests: 0, departures: HashMap::new() }
    }

    /// The departures of the events that are gone.
    pub fn departures(self) -> HashMap<EventId, Departure> {
        self.departures
    }
}

impl Observer<Evidence> for Departures<'_> {
    fn tested(&mut self, _: &Configuration, _: Outcome, _: &Evidence, _: Counts) {
        self.tests += 1;
    }

    fn recalled(&mut self, _: &Configuration, _: Outcome, _: &Evidence, _: Counts) {
        self.tests += 1;
    }

    fn improved(&mut self, smaller: &Configuration) {
        let Some(Phase { universe, best, asked }) = &mut self.phase else { return };
        let before = std::mem::replace(best, smaller.clone());
        let event = |number| universe.event(number);
        let mut gone: Vec<EventId> = Vec::new();
        for &(asked, number) in &*asked {
            if !before.contains(number) || smaller.contains(number) {
                continue;
            }
            if gone.is_empty() {
                gone = before.iter().filter(|&number| !smaller.contains(number)).map(event).collect();
            }
            let together = gone.iter().copied().filter(|&other| other != asked).collect();
            self.departures.entry(asked).or_insert(Departure { test: self.tests, together });
        }
    }

    fn should_stop(&mut self) -> bool {
        false
    }
}

impl Watcher for Departures<'_> {
    fn begins(&mut self, phase: &PhaseTitle, start: &Configuration) {
        let Recorded { program, trace } = self.recorded;
        let universe = Universe::new(program, trace, rule(phase.id));
        let number = |&event: &EventId| {
            let number = universe.configuration(std::iter::once(event)).iter().next()?;
            Some((event, number))
        };
        let asked = self.asked.iter().filter_map(number).collect();
        self.phase = Some(Phase { universe, best: start.clone(), asked });
    }
}
