//! The writer of traces, event by event.

use std::io::{self, Write};

use super::blocks::{BlockWriter, write_plain};
use super::moves::{From, Move, MovePredictor};
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
    let mut encoder = Encoder::new(BlockWriter::new(out)?, program.leaders().len());
    for event in trace.events() {
        encoder.event(trace, event)?;
    }
    encoder.finish(trace.len())
}

/// The encoder, which turns events into bytes and these into blocks.
struct Encoder<W> {
    blocks: BlockWriter<W>,
    foresight: MovePredictor,
    open: OpenCalls,
    /// The number that stands for no leader.
    nowhere: u32,
    /// The leader of the last event.
    here: u32,
    bytes: Vec<u8>,
    /// The number of events in these bytes.
    events: u32,
}

impl<W: Write> Encoder<W> {
    fn new(blocks: BlockWriter<W>, leaders: usize) -> Self {
        Encoder {
            blocks,
            foresight: MovePredictor::new(leaders),
            open: OpenCalls::default(),
            nowhere: leaders as u32,
            here: leaders as u32,
            bytes: Vec::with_capacity(BLOCK_EVENTS * EVENT_BYTES),
            events: 0,
        }
    }

    fn event(&mut self, trace: &Trace, event: EventId) -> io::Result<()> {
        let closed = self.open.advance(trace, event).ok_or_else(not_nested)?;
        let leader = trace.leader(event).0;
        let caller = self.open.innermost().map_or(self.nowhere, |last| trace.leader(last).0);
        self.foresight.write(From { here: self.here, caller }, Move { closed, leader }, &mut self.bytes);
        self.open.settle(trace, event);
        self.here = leader;
        self.events += 1;
        if self.events as usize == BLOCK_EVENTS { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.blocks.write(self.events, &self.bytes)?;
        self.bytes.clear();
        self.events = 0;
        Ok(())
    }

    fn finish(mut self, events: usize) -> io::Result<()> {
        if self.events > 0 {
            self.flush()?;
        }
        self.blocks.write(0, &(events as u64).to_le_bytes())?;
        self.blocks.finish()
    }
}

fn not_nested() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the calls of the trace are not nested")
}

/// The calls that are open, outermost first, each with its last event.
#[derive(Default)]
struct OpenCalls(Vec<(ActivationId, EventId)>);

impl OpenCalls {
    /// Closes the calls that are over when `event` happens; returns their number. `None` if the event belongs to none
    /// of them.
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

    /// The event after which control goes on: the last one of the innermost open call.
    fn innermost(&self) -> Option<EventId> {
        self.0.last().map(|&(_, last)| last)
    }

    /// Notes that `event` has happened.
    fn settle(&mut self, trace: &Trace, event: EventId) {
        let activation = trace.activation(event);
        match self.0.last_mut() {
            Some((open, last)) if *open == activation => *last = event,
            _ => self.0.push((activation, event)),
        }
    }
}
