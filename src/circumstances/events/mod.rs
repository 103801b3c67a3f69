//! Leave out statement executions: [`Universe`] numbers those of a recorded run and knows which go together,
//! [`EventTest`] replays the run without some of them.
//!
//! Under [`Control::Both`] in two phases: first a branch decides, then, from that result, the trace states the
//! control flow. The results are nested, so that what only the first one has is needed as a decision.

mod groups;
mod memo;
mod remote_test;
mod test;
mod universe;

use dd::{Algorithm, Configuration};
use tracer::Tracer;
use tracer::schedule::Control as Rule;
use tracer::trace::EventId;

pub use memo::RunMemo;
pub use remote_test::{EventTrial, RemoteTest};
pub use test::{EventTest, EventTestSetup};
pub use universe::{Draft, Universe};

use super::{Before, Kind, NextPhase, PhaseId, PhaseStart, PhaseTitle};
use crate::remote::link::WorkerLink;

/// The control rule as the user chooses it: what makes a statement be executed again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// First under `program`, then from there under `trace`: tells effects from decisions.
    #[default]
    Both,
    /// The branches of the program decide, and have to go as recorded.
    Program,
    /// The trace states the control flow; decisions are not needed.
    Trace,
}

/// The phase in which branches decide.
pub const PROGRAM: PhaseId = PhaseId(b'p');

/// The phase in which the trace states the control flow.
pub const TRACE: PhaseId = PhaseId(b't');

impl Control {
    /// The phases of the search.
    pub fn phases(self) -> &'static [PhaseId] {
        match self {
            Control::Both => &[PROGRAM, TRACE],
            Control::Program => &[PROGRAM],
            Control::Trace => &[TRACE],
        }
    }

    /// The control rule of each phase.
    pub fn rules(self) -> impl Iterator<Item = Rule> {
        self.phases().iter().map(|&phase| rule(phase))
    }
}

/// The control rule of a phase.
pub fn rule(phase: PhaseId) -> Rule {
    if phase == PROGRAM { Rule::Program } else { Rule::Trace }
}

/// The control rule of a phase, in words.
pub fn words(rule: Rule) -> &'static str {
    match rule {
        Rule::Program => "branches decide",
        Rule::Trace => "the trace decides",
    }
}

/// The phase that has this control rule.
pub fn phase(rule: Rule) -> PhaseId {
    match rule {
        Rule::Program => PROGRAM,
        Rule::Trace => TRACE,
    }
}

/// A guess: the events that may well be enough for a failure, in order. A search tries them first.
#[derive(Clone, Debug)]
pub struct EventGuess {
    /// The guess where branches decide.
    pub by_branches: Vec<EventId>,
    /// The guess where the trace states the control flow.
    pub by_trace: Vec<EventId>,
}

/// The statement executions of a recorded run, and the workers that replay it.
pub struct Events<'a, 'm, 'p> {
    /// The setup that all tests share.
    pub setup: &'a EventTestSetup<'a>,
    /// The control rule, which makes a statement be executed again.
    pub control: Control,
    /// The algorithm that chooses subsets: only some of them use groups.
    pub algorithm: Algorithm,
    /// The guess: events that may well be enough.
    pub guess: Option<&'a EventGuess>,
    /// The tracers, one for each worker.
    pub tracers: &'m mut [Tracer<'p>],
    /// Workers elsewhere, which make the tests if there are any. They know the criterion by its name.
    pub links: &'m mut [WorkerLink],
    /// The name of the criterion, if there are several.
    pub criterion: Option<&'a str>,
}

impl<'a, 'p> Events<'a, '_, 'p> {
    /// Those elsewhere that are still there; all if none is, so that the loss is told.
    fn remote_trials<'t>(&'t mut self, space: &'t Universe) -> Vec<EventTrial<'t, 't, 'p>>
    where
        'a: 't,
    {
        let all_lost = self.links.iter().all(|link| link.loss().is_some());
        let (setup, criterion) = (self.setup, self.criterion);
        let links = self.links.iter_mut().filter(|link| all_lost || link.loss().is_none());
        links.map(|link| EventTrial::Elsewhere(RemoteTest { setup, criterion, space, link })).collect()
    }

    fn space(&self, phase: PhaseId) -> Universe {
        let recorded = self.setup.recorded;
        let universe = Universe::new(recorded.program, recorded.trace, rule(phase));
        match self.algorithm {
            Algorithm::Ddmin => universe,
            _ => universe.grouped(recorded.program, recorded.trace),
        }
    }
}

impl<'p> Kind for Events<'_, '_, 'p> {
    type Space = Universe;
    type Trial<'t>
        = EventTrial<'t, 't, 'p>
    where
        Self: 't;

    fn next(&mut self, before: Option<Before<'_, Universe>>) -> Option<NextPhase<Universe>> {
        let phases = self.control.phases();
        let done = before.as_ref().and_then(|before| phases.iter().position(|&phase| phase == before.id));
        let id = *phases.get(done.map_or(0, |done| done + 1))?;
        let space = self.space(id);
        let start = match before {
            Some(Before { space: earlier, found, .. }) => {
                PhaseStart::CarriedOver(space.configuration(earlier.schedule(found).kept()))
            }
            None => PhaseStart::Everything,
        };
        let title = PhaseTitle { id, what: words(rule(id)).to_owned(), unit: "execution" };
        Some(NextPhase { title, space, start })
    }

    fn guess(&mut self, phase: PhaseId, space: &Universe) -> Option<Configuration> {
        let EventGuess { by_branches, by_trace } = self.guess?;
        let events = match rule(phase) {
            Rule::Program => by_branches,
            Rule::Trace => by_trace,
        };
        Some(space.configuration(events.iter().copied()))
    }

    fn trials<'t>(&'t mut self, space: &'t Universe) -> Vec<EventTrial<'t, 't, 'p>> {
        if !self.links.is_empty() {
            return self.remote_trials(space);
        }
        let setup = self.setup;
        let here = |tracer| EventTrial::Here(EventTest::new(setup, space, tracer));
        self.tracers.iter_mut().map(here).collect()
    }

    fn first_trial<'t>(&'t mut self, space: &'t Universe) -> Option<EventTrial<'t, 't, 'p>> {
        let tracer = self.tracers.first_mut()?;
        Some(EventTrial::Here(EventTest::new(self.setup, space, tracer)))
    }
}
