//! Hold a program together with its recorded run.

use std::collections::BTreeSet;

use tracer::program::{Program, Statement};
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

/// The statements that a recorded run has executed.
pub fn executed(recorded: Recorded<'_>) -> BTreeSet<Statement> {
    let leaders = recorded.trace.events().map(|event| recorded.program.leader(recorded.trace.leader(event)));
    leaders.filter(|leader| !leader.kind.is_structural()).map(|leader| leader.statement).collect()
}
