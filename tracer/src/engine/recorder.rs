//! Guide a run that goes its own way, and take down where it went.

use agent::lockstep::{Deviation, Directive};

use super::Guide;
use crate::program::{LeaderId, LeaderKind, Program};
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
        match self.builder.arrive(self.program, leader, sp) {
            Err(broken) => {
                self.broken = Some(broken);
                Directive::Leave(Deviation::NotEntered(leader))
            }
            Ok(_) if self.program.leader(leader).kind == LeaderKind::Entry => Directive::Enter,
            Ok(_) => Directive::RunFreely,
        }
    }

    fn position(&self) -> Vec<Option<LeaderId>> {
        let trace = self.builder.trace();
        let Some(current) = self.builder.current() else {
            return Vec::new();
        };
        let calls = std::iter::once(current).chain(trace.callers(current));
        calls.map(|event| Some(trace.leader(event))).collect()
    }
}
