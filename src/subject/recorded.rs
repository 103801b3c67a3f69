//! Hold a program together with its recorded run.

use tracer::program::Program;
use tracer::trace::{EventId, Trace};

/// A program with its recorded run: what all reports about it look things up in.
#[derive(Clone, Copy)]
pub struct Recorded<'a> {
    /// What the executable says.
    pub program: &'a Program,
    /// What the run did.
    pub trace: &'a Trace,
}

/// The stretches of successive events among these, which are in order: first and last of each.
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
