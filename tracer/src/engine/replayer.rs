//! The replayer: a guide along a recorded trace.

use agent::calls::Call;
use agent::lockstep::{Directive, Frame, Lockstep, Position, Script};
use agent::names::Control;

use super::{Guide, waits_for_ever};
use crate::program::{LeaderId, Program};
use crate::termination::Cut;
use crate::trace::{EventId, Trace};

/// The replayer of a run.
pub(crate) struct Replayer<'a> {
    lockstep: Lockstep<'a, Vec<Call<Frame>>>,
    trace: &'a Trace,
    /// The event before which the run ends.
    last: Option<EventId>,
}

impl<'a> Replayer<'a> {
    /// A replayer at the beginning of `trace`, a run of `program`; `kept` says of each event whether it is executed,
    /// see [`Script::kept`].
    pub(crate) fn new(
        program: &'a Program,
        trace: &'a Trace,
        control: Control,
        kept: &'a [u8],
    ) -> Replayer<'a> {
        let tape = trace.tape();
        let script = Script { marks: program.marks(), tape, control, kept };
        Replayer { lockstep: Lockstep::new(script, Position::start(tape), Vec::new()), trace, last: None }
    }

    /// A replayer whose run ends where the last event of the trace begins.
    pub(crate) fn that_stops_at_last(self) -> Replayer<'a> {
        Replayer { last: self.trace.events().next_back(), ..self }
    }

    /// The latest event of the innermost call; `None` if the trace does not know that call.
    pub(crate) fn current(&self) -> Option<EventId> {
        self.lockstep.stack().next().flatten()
    }
}

impl Guide for Replayer<'_> {
    fn arrive(&mut self, leader: LeaderId, sp: u64) -> Directive {
        self.lockstep.arrive(leader, sp)
    }

    fn is_over(&self) -> bool {
        self.last.is_some_and(|last| self.current() == Some(last))
    }

    fn position(&self) -> Vec<Option<LeaderId>> {
        self.lockstep.stack().map(|event| event.map(|event| self.trace.leader(event))).collect()
    }

    fn waits_for_ever(&self, cut: Cut) -> bool {
        waits_for_ever(self.trace, self.current(), cut)
    }
}
