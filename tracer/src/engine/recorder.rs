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
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(program: &'a Program) -> Recorder<'a> {
        Recorder { program, builder: TraceBuilder::default(), broken: None }
    }

    /// Takes down an arrival; whether it and those before make a trace.
    pub(crate) fn takes(&mut self, leader: LeaderId, sp: u64) -> bool {
        if self.broken.is_none() {
            self.broken = self.builder.arrive(self.program, leader, sp).err();
        }
        self.broken.is_none()
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
