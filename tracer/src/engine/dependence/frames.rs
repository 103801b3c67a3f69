//! The open calls: an instruction belongs to the latest event of the innermost call that has not returned.

use std::collections::{BTreeMap, HashSet};

use super::writers::LastWriter;
use crate::program::variables::RegisterValues;
use crate::program::{FunctionId, Program};
use crate::trace::{ActivationId, EventId, Trace};

/// An open call with its latest event.
pub(super) struct OpenCall {
    activation: ActivationId,
    /// The stack pointer at its entry.
    entry_sp: u64,
    pub(super) event: EventId,
    pub(super) function: FunctionId,
    /// The bias: what has to be added to addresses of the file.
    pub(super) bias: u64,
    /// Whether the event is the entry or the epilogue of the function.
    pub(super) is_structural: bool,
    /// The instructions by which a writer was noticed already.
    pub(super) noticed: HashSet<(u64, LastWriter)>,
    /// The writers that the event has read, with numbers of names; and the latest event when that was first.
    pub(super) read: BTreeMap<(LastWriter, u32), u32>,
    /// The decisions that could have written what it has read, with numbers of names; and the latest event then.
    pub(super) potential: BTreeMap<(LastWriter, u32), u32>,
    /// The addresses at which it has read what may be a pointer.
    pub(super) pointers: Vec<u64>,
    /// Its registers when its own code was executed last.
    pub(super) registers: RegisterValues,
    /// The libraries' own data that they have overwritten meanwhile: the byte that was there, and its writer.
    pub(super) overwritten: BTreeMap<u64, (u8, LastWriter)>,
}

/// An event that is over: what it has read, and what libraries have overwritten meanwhile.
pub(super) struct EndedEvent {
    pub(super) event: EventId,
    pub(super) read: BTreeMap<(LastWriter, u32), u32>,
    pub(super) potential: BTreeMap<(LastWriter, u32), u32>,
    pub(super) overwritten: BTreeMap<u64, (u8, LastWriter)>,
}

/// The open calls, innermost last.
#[derive(Default)]
pub(super) struct OpenCalls(Vec<OpenCall>);

impl OpenCalls {
    /// Closes the innermost call if it has returned when the stack pointer is here; returns the event that ends with
    /// it.
    pub(super) fn settle(&mut self, sp: u64) -> Option<EndedEvent> {
        self.0.pop_if(|call| call.entry_sp < sp).map(OpenCall::end)
    }

    /// The call whose code is being executed.
    pub(super) fn innermost(&mut self) -> Option<&mut OpenCall> {
        self.0.last_mut()
    }

    /// The event whose code is being executed.
    pub(super) fn event(&self) -> Option<EventId> {
        self.0.last().map(|call| call.event)
    }

    /// Begins another event; returns those that are over by that.
    pub(super) fn arrive(
        &mut self,
        (program, trace): (&Program, &Trace),
        (event, bias): (EventId, u64),
        registers: &RegisterValues,
    ) -> Vec<EndedEvent> {
        let (activation, leader) = (trace.activation(event), program.leader(trace.leader(event)));
        let mut ended = Vec::new();
        if trace.entry(activation) == event {
            while let Some(call) = self.0.pop_if(|call| call.entry_sp <= registers.sp()) {
                ended.push(call.end());
            }
            self.0.push(OpenCall {
                activation,
                entry_sp: registers.sp(),
                event,
                function: leader.function,
                bias,
                is_structural: true,
                noticed: HashSet::new(),
                read: BTreeMap::new(),
                potential: BTreeMap::new(),
                pointers: Vec::new(),
                registers: *registers,
                overwritten: BTreeMap::new(),
            });
            return ended;
        }
        while let Some(call) = self.0.pop_if(|call| call.activation != activation) {
            ended.push(call.end());
        }
        if let Some(call) = self.0.last_mut() {
            ended.push(EndedEvent {
                event: call.event,
                read: std::mem::take(&mut call.read),
                potential: std::mem::take(&mut call.potential),
                overwritten: std::mem::take(&mut call.overwritten),
            });
            call.event = event;
            call.is_structural = leader.kind.is_structural();
            call.noticed.clear();
            call.pointers.clear();
            call.registers = *registers;
        }
        ended
    }
}

impl OpenCall {
    /// Notes that the event has read what this one has written, when the run had come to the event `now`.
    pub(super) fn reads(&mut self, writer: LastWriter, name: u32, now: u32) {
        self.read.entry((writer, name)).or_insert(now);
    }

    fn end(self) -> EndedEvent {
        let OpenCall { event, read, potential, overwritten, .. } = self;
        EndedEvent { event, read, potential, overwritten }
    }
}
