//! The recorder: a guide that lets a run go its own way, and records its trace.

use std::time::{Duration, Instant};

use agent::lockstep::{Deviation, Directive};
use agent::names::{LeaderId, LeaderKind};

use super::Guide;
use crate::invocation::Limits;
use crate::program::Program;
use crate::termination::Cut;
use crate::trace::{BrokenTrace, Trace, TraceBuilder};

/// The recorder of a run.
pub(crate) struct Recorder<'a> {
    program: &'a Program,
    builder: TraceBuilder,
    broken: Option<BrokenTrace>,
    /// The largest number of events, and the largest size of the trace in bytes.
    limit: u64,
    bytes: u64,
    /// The time of the first event.
    first: Option<Instant>,
    /// The time of the latest event.
    latest: Instant,
}

impl<'a> Recorder<'a> {
    /// A recorder for a run of `program` within these limits.
    pub(crate) fn new(program: &'a Program, limits: &Limits) -> Recorder<'a> {
        let Limits { arrivals: limit, trace: bytes, .. } = *limits;
        let builder = TraceBuilder::with_room();
        Recorder { program, builder, broken: None, limit, bytes, first: None, latest: Instant::now() }
    }

    /// Notes that there are events at this time.
    pub(crate) fn is_seen_to_go_on(&mut self) {
        self.latest = Instant::now();
        self.first.get_or_insert(self.latest);
    }

    /// The time since the first event: without the start of the program, which takes long on a busy machine.
    pub(crate) fn since_first(&self) -> Duration {
        self.first.unwrap_or(self.latest).elapsed()
    }

    /// The time since the latest event.
    pub(crate) fn silence(&self) -> Duration {
        self.latest.elapsed()
    }

    /// Records an arrival; false if it and those before make no trace, or one that is too long.
    #[inline]
    pub(crate) fn takes(&mut self, leader: LeaderId, sp: u64) -> bool {
        if self.broken.is_none() {
            self.broken = self.builder.arrive(self.program, leader, sp).err();
        }
        self.broken.is_none() && self.excess().is_none()
    }

    /// The limit that the trace exceeds, if it does.
    pub(crate) fn excess(&self) -> Option<Cut> {
        if self.builder.len() as u64 > self.limit {
            Some(Cut::Arrivals)
        } else if self.builder.memory() > self.bytes {
            Some(Cut::Trace)
        } else {
            None
        }
    }

    /// The number of events.
    pub(crate) fn len(&self) -> usize {
        self.builder.len()
    }

    /// The trace of the finished run.
    pub(crate) fn finish(self) -> Result<Trace, BrokenTrace> {
        match self.broken {
            Some(broken) => Err(broken),
            None => Ok(self.builder.finish()),
        }
    }
}

impl Guide for Recorder<'_> {
    fn arrive(&mut self, leader: LeaderId, sp: u64) -> Directive {
        self.is_seen_to_go_on();
        if !self.takes(leader, sp) {
            return Directive::Leave(Deviation::NotEntered(leader));
        }
        match self.program.mark(leader).kind {
            LeaderKind::Entry => Directive::Enter,
            LeaderKind::Statement | LeaderKind::Epilogue => Directive::RunFreely,
        }
    }

    fn position(&self) -> Vec<Option<LeaderId>> {
        self.builder.stack().map(Some).collect()
    }
}
