//! Hold a program together with its recorded run.

use std::collections::{BTreeSet, HashSet};

use tracer::program::{LeaderId, LeaderKind, Program, Statement};
use tracer::trace::{EventId, Trace};

/// A program with its recorded run, where all reports look things up.
#[derive(Clone, Copy)]
pub struct Recorded<'a> {
    /// The program, as read from the executable.
    pub program: &'a Program,
    /// The trace of the run.
    pub trace: &'a Trace,
}

/// The runs of consecutive events among these, which are in order: first and last of each.
pub fn stretches(events: impl IntoIterator<Item = EventId>) -> impl Iterator<Item = (EventId, EventId)> {
    let mut events = events.into_iter().peekable();
    std::iter::from_fn(move || {
        let first = events.next()?;
        let mut last = first;
        while let Some(next) = events.next_if(|next| next.0 == last.0 + 1) {
            last = next;
        }
        Some((first, last))
    })
}

/// The statements that a recorded run has executed, also those at which no event begins.
pub fn executed(recorded: Recorded<'_>) -> BTreeSet<Statement> {
    let steps: HashSet<_> = recorded.trace.events().filter_map(|event| step(recorded, event)).collect();
    steps.into_iter().flat_map(|step| executed_by(recorded, step)).collect()
}

/// The statements that a step executes: its own, and those at which no event begins on the way to the next one.
pub fn executed_by(recorded: Recorded<'_>, (from, to): (LeaderId, Option<LeaderId>)) -> Vec<Statement> {
    let leader = recorded.program.leader(from);
    let own = Some(leader.statement).filter(|_| !leader.kind.is_structural());
    own.into_iter().chain(recorded.program.passed(from, to)).collect()
}

/// The leaders that a recorded run has reached.
pub fn reached(recorded: Recorded<'_>) -> BTreeSet<LeaderId> {
    recorded.trace.events().map(|event| recorded.trace.leader(event)).collect()
}

/// The step of an execution: its leader, and the next one of the same call of a function. From an epilogue there is none.
pub fn step(recorded: Recorded<'_>, event: EventId) -> Option<(LeaderId, Option<LeaderId>)> {
    let leader = recorded.trace.leader(event);
    let is_epilogue = recorded.program.leader(leader).kind == LeaderKind::Epilogue;
    (!is_epilogue).then(|| (leader, recorded.trace.next(event).map(|next| recorded.trace.leader(next))))
}
