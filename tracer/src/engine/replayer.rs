//! Guide a run along a recorded trace.

use super::Guide;
use crate::lockstep::{Directive, Lockstep};
use crate::program::LeaderId;
use crate::trace::Trace;

/// Repeats a run.
pub(crate) struct Replayer<'a> {
    lockstep: Lockstep<'a>,
    trace: &'a Trace,
}

impl<'a> Replayer<'a> {
    pub(crate) fn new(lockstep: Lockstep<'a>, trace: &'a Trace) -> Replayer<'a> {
        Replayer { lockstep, trace }
    }
}

impl Guide for Replayer<'_> {
    fn arrive(&mut self, leader: LeaderId, sp: u64) -> Directive {
        self.lockstep.arrive(leader, sp)
    }

    fn position(&self) -> Vec<Option<LeaderId>> {
        self.lockstep.stack().map(|event| event.map(|event| self.trace.leader(event))).collect()
    }
}
