//! Guide a run that goes its own way, and take down where it went.

use agent::lockstep::{Deviation, Directive};
use agent::names::{LeaderId, LeaderKind};

use super::Guide;
use crate::program::Program;
use crate::trace::{BrokenTrace, Trace, TraceBuilder};

/// Takes down a run.
pub(crate) struct Recorder<'a> {
    program: &'a Program,
    builder: TraceBuilder,
    broken: Option<BrokenTrace>,
    /// At most so many events.
    limit: u64,
}

impl<'a> Recorder<'a> {
    /// Takes down a run of `program` of at most `limit` events.
    pub(crate) fn new(program: &'a Program, limit: u64) -> Recorder<'a> {
        Recorder { program, builder: TraceBuilder::with_room(), broken: None, limit }
    }

    /// Takes down an arrival; whether it and those before make a trace that is not too long.
    #[inline]
    pub(crate) fn takes(&mut self, leader: LeaderId, sp: u64) -> bool {
        if self.broken.is_none() {
            self.broken = self.builder.arrive(self.program, leader, sp).err();
        }
        self.broken.is_none() && !self.is_full()
    }

    /// Whether there were more events than there may be.
    pub(crate) fn is_full(&self) -> bool {
        self.builder.len() as u64 > self.limit
    }

    /// How many events there were.
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
