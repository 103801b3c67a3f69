//! Determine the executions that a search has shown to be needed, and their necessity.

use dd::{Counts, Space};
use tracer::schedule::Control as Rule;
use tracer::trace::EventId;

use super::driver::{Found, PhaseFound};
use crate::circumstances::Status;
use crate::circumstances::events::{Control, Universe, rule};
use crate::oracle::Evidence;
use crate::slice::{Level, Necessity, Needed};
use crate::subject::Recorded;

/// The findings of a search among statement executions.
#[derive(Debug)]
pub struct Finding {
    /// The status at its end.
    pub status: Status,
    /// The level at which the result is minimal, if it is.
    pub level: Level,
    /// The evidence of the confirmation, if the result was not confirmed.
    pub unconfirmed: Option<Evidence>,
    /// The needed events in order.
    pub needed: Vec<Needed>,
    /// The number of events that could have been omitted.
    pub omittable: usize,
    /// The tests by outcome.
    pub tests: Counts,
    /// True if the failure shows even if nothing is executed.
    pub is_trivial: bool,
}

impl Finding {
    /// Converts the findings of a search of a recorded run under this control.
    pub fn of(found: Found<Universe>, recorded: Recorded<'_>, control: Control) -> Finding {
        let needed = match &found.phases[..] {
            [decided, stated] => of_both(decided, stated),
            _ => of_one(found.last(), recorded),
        };
        Finding {
            status: found.status(),
            level: found.phases.iter().map(|phase| level(phase.level)).min().unwrap_or_default(),
            needed,
            omittable: omittable(&found, recorded, control),
            tests: found.tests(),
            is_trivial: found.is_trivial,
            unconfirmed: found.unconfirmed,
        }
    }
}

/// The needed events of a single phase. Whether an event is needed for its effect has not been tried where a branch
/// decides; a decision is then taken to be needed as such.
fn of_one(phase: &PhaseFound<Universe>, Recorded { program, trace }: Recorded<'_>) -> Vec<Needed> {
    let necessity = |event| match rule(phase.phase) {
        Rule::Program if program.leader(trace.leader(event)).decides => Necessity::Decision,
        _ => Necessity::Effect,
    };
    kept(phase).map(|(number, event)| needed(phase, number, necessity(event))).collect()
}

/// The needed events of two phases, the first where a branch decides, the second, from its result, where
/// the trace states the control flow: what only the first one has is needed as a decision.
fn of_both(decided: &PhaseFound<Universe>, stated: &PhaseFound<Universe>) -> Vec<Needed> {
    let for_effect: Vec<EventId> = kept(stated).map(|(_, event)| event).collect();
    let only_decides = |event: &EventId| for_effect.binary_search(event).is_err();
    let decisions = kept(decided).filter(|(_, event)| only_decides(event));
    let decisions = decisions.map(|(number, _)| needed(decided, number, Necessity::Decision));
    let effects = kept(stated).map(|(number, _)| needed(stated, number, Necessity::Effect));
    let mut all: Vec<Needed> = effects.chain(decisions).collect();
    all.sort_by_key(|needed| needed.event);
    all
}

/// The circumstances that a phase has kept, with their events.
fn kept(phase: &PhaseFound<Universe>) -> impl Iterator<Item = (usize, EventId)> {
    phase.configuration.iter().map(|number| (number, phase.space.event(number)))
}

fn needed(phase: &PhaseFound<Universe>, number: usize, necessity: Necessity) -> Needed {
    let seen = phase.evidence.binary_search_by_key(&number, |&(number, _)| number);
    let without = seen.ok().map(|position| Box::new(phase.evidence[position].1.clone()));
    Needed { event: phase.space.event(number), necessity, without }
}

/// The number of omittable events, of the phase that would have come last.
fn omittable(found: &Found<Universe>, recorded: Recorded<'_>, control: Control) -> usize {
    let last = *control.phases().last().expect("a search has a phase");
    match found.phases.iter().find(|phase| phase.phase == last) {
        Some(phase) => phase.space.len(),
        None if found.is_trivial => found.last().space.len(),
        None => Universe::new(recorded.program, recorded.trace, rule(last)).len(),
    }
}

fn level(level: dd::Level) -> Level {
    match level {
        dd::Level::Members => Level::Execution,
        dd::Level::Groups(0) => Level::Statement,
        dd::Level::Groups(_) => Level::History,
    }
}
