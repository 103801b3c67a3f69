//! Write a trace, event by event.

use std::io::{self, Write};

use super::blocks::{BlockWriter, write_plain};
use super::moves::{Foresight, From, Move};
use super::{BLOCK_EVENTS, EVENT_BYTES, Identity, MAGIC, VERSION};
use crate::program::Program;
use crate::trace::{ActivationId, EventId, Trace};

/// Writes the trace of a run of `program`, whose identity this is. `out` need not be buffered.
///
/// # Errors
/// If `out` cannot be written, or if the calls of the trace are not nested.
pub fn write(mut out: impl Write, program: &Program, identity: &Identity, trace: &Trace) -> io::Result<()> {
    out.write_all(MAGIC)?;
    out.write_all(VERSION)?;
    write_plain(&mut out, &identity.to_bytes())?;
    let mut blocks = BlockWriter::new(out)?;
    let mut foresight = Foresight::new(program.leaders().len());
    let mut open = OpenCalls::default();
    let nowhere = program.leaders().len() as u32;
    let mut here = nowhere;
    let mut bytes = Vec::with_capacity(BLOCK_EVENTS * EVENT_BYTES);
    let mut events = 0;
    for event in trace.events() {
        let closed = open.advance(trace, event).ok_or_else(not_nested)?;
        let leader = trace.leader(event).0;
        let caller = open.innermost().map_or(nowhere, |last| trace.leader(last).0);
        foresight.write(From { here, caller }, Move { closed, leader }, &mut bytes);
        open.settle(trace, event);
        here = leader;
        events += 1;
        if events as usize == BLOCK_EVENTS {
            blocks.write(events, &bytes)?;
            bytes.clear();
            events = 0;
        }
    }
    if events > 0 {
        blocks.write(events, &bytes)?;
    }
    blocks.write(0, &(trace.len() as u64).to_le_bytes())?;
    blocks.finish()
}

fn not_nested() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the calls of the trace are not nested")
}

/// The calls that are open, outermost first, each with its last event.
#[derive(Default)]
struct OpenCalls(Vec<(ActivationId, EventId)>);

impl OpenCalls {
    /// Closes what is over when `event` happens; tells how many calls that were. `None` if the event
    /// belongs to none of them.
    fn advance(&mut self, trace: &Trace, event: EventId) -> Option<u32> {
        let activation = trace.activation(event);
        let kept = if trace.entry(activation) == event {
            match trace.caller(activation) {
                Some(caller) => self.0.iter().rposition(|&(_, last)| last == caller)? + 1,
                None => 0,
            }
        } else {
            self.0.iter().rposition(|&(open, _)| open == activation)? + 1
        };
        let closed = self.0.len() - kept;
        self.0.truncate(kept);
        Some(closed as u32)
    }

    /// The event behind which control goes on: the last one of the innermost open call.
    fn innermost(&self) -> Option<EventId> {
        self.0.last().map(|&(_, last)| last)
    }

    /// Takes down that `event` has happened.
    fn settle(&mut self, trace: &Trace, event: EventId) {
        let activation = trace.activation(event);
        match self.0.last_mut() {
            Some((open, last)) if *open == activation => *last = event,
            _ => self.0.push((activation, event)),
        }
    }
}
