//! The functions that an event calls: what they return, and what those have written that are not traced.

use std::ops::Range;

use agent::names::LeaderId;

use super::glance::{Glance, Past};
use super::{Assignment, EventWatch, ProgramMemory};
use crate::address::RuntimeAddress;
use crate::engine::{Execution, Trap};
use crate::process::{ProcessError, Stop, Tracee};
use crate::program::accesses::Effect;
use crate::program::variables::{Memory, Named, RegisterValues, Value};
use crate::program::{FunctionId, LeaderKind};
use crate::trace::EventId;

/// The largest number of bytes of memory handed to untraced code that are compared.
const MOST_COMPARED: u64 = 4096;
/// The registers with the first arguments of a call: System V ABI.
const ARGUMENTS: [usize; 6] = [7, 6, 2, 1, 8, 9];

/// An event that waits for a function to return.
pub(super) struct Calling {
    pub(super) glance: Glance,
    /// The return address of the function, and the stack pointer then.
    pub(super) back: u64,
    pub(super) sp: u64,
    callee: Callee,
}

/// The function that an event has called.
pub(super) enum Callee {
    Traced(FunctionId),
    /// Code that is not traced, with the values that it may read or write.
    Foreign(Vec<Exposed>),
}

/// A value that code that is not traced may read or write.
pub(super) struct Exposed {
    named: Named,
    bytes: Vec<u8>,
    before: Option<Value>,
    role: Role,
}

/// The way in which code that is not traced comes by a value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The call was handed the address of this variable of the function, or of a part of one.
    HandedOwn,
    /// The call was handed its address.
    Handed,
    /// It may know the address from before.
    Own,
}

impl EventWatch<'_> {
    /// Notes that the event has called a function, which is about to begin.
    pub(super) fn call(
        &mut self,
        execution: &Execution<'_>,
        (glance, registers, effect): (Glance, &RegisterValues, &Effect),
        reached: Option<LeaderId>,
    ) {
        let program = self.assignment.program;
        let entered = reached.map(|leader| program.leader(leader));
        let callee = match entered.filter(|leader| leader.kind == LeaderKind::Entry) {
            Some(leader) => Callee::Traced(leader.function),
            None => Callee::Foreign(self.exposed(&ProgramMemory(execution.tracee), &glance, registers)),
        };
        self.calling.push(Calling { glance, back: effect.end, sp: registers.sp(), callee });
    }

    /// The values whose addresses a call of code that is not traced is handed, and the function's own variables.
    fn exposed(&self, memory: &dyn Memory, glance: &Glance, registers: &RegisterValues) -> Vec<Exposed> {
        let variables = self.assignment.variables;
        let view = glance.view(registers, memory);
        let handed = ARGUMENTS.iter().filter_map(|&number| variables.object(view, registers.general[number]));
        let own = variables.own(view);
        let role = |named: &Named| match own.iter().any(|own| own.overlaps(named)) {
            true => Role::HandedOwn,
            false => Role::Handed,
        };
        let handed: Vec<(Named, Role)> = handed.map(|named| (named.clone(), role(&named))).collect();
        let mut exposed: Vec<Exposed> = Vec::new();
        for (named, role) in handed.into_iter().chain(own.into_iter().map(|named| (named, Role::Own))) {
            let is_known = exposed.iter().any(|known| known.named.overlaps(&named));
            let size = named.size.min(MOST_COMPARED) as usize;
            if let Some(bytes) = memory.read(named.address, size).filter(|_| !is_known) {
                let past = Past { memory, overwritten: &glance.overwritten };
                let before = variables.value(&named, &past);
                exposed.push(Exposed { named, bytes, before, role });
            }
        }
        exposed
    }

    /// Handles the return of a function to an event, or to another call of the same code.
    pub(super) fn come_back(
        &mut self,
        execution: &mut Execution<'_>,
        pc: u64,
        sp: u64,
    ) -> Result<Trap, ProcessError> {
        self.disarm(execution);
        execution.tracee.take_trap()?;
        execution.tracee.set_pc(RuntimeAddress(pc));
        self.settle(execution.tracee, sp - 1);
        match self.calling.pop_if(|calling| calling.back == pc && calling.sp == sp) {
            Some(calling) => {
                let glance = self.returned(execution.tracee, calling);
                self.current = Some(glance);
            }
            None => {
                execution.tracee.step(0);
                if let Stop::Signal(signal) = execution.tracee.wait()? {
                    execution.tracee.send(signal);
                }
            }
        }
        Ok(Trap::Served)
    }

    /// Reads what a function has returned and written.
    fn returned(&mut self, tracee: &Tracee, calling: Calling) -> Glance {
        let Calling { mut glance, callee, .. } = calling;
        match callee {
            Callee::Traced(function) => self.take_result(tracee, &glance, function),
            Callee::Foreign(exposed) => self.compare(tracee, &mut glance, exposed),
        }
        glance
    }

    fn take_result(&mut self, tracee: &Tracee, glance: &Glance, function: FunctionId) {
        let Assignment { program, trace, variables, .. } = self.assignment;
        let result = tracee.registers().and_then(|registers| variables.result(function, registers.rax));
        // A function that was left by a jump has no result.
        let has_ended = |latest: &EventId| {
            program.leader(trace.leader(*latest)).kind == LeaderKind::Epilogue
                && trace.caller(trace.activation(*latest)) == Some(glance.event)
        };
        let latest = self.latest.filter(has_ended);
        let (Some(value), Some(latest)) = (result, latest) else { return };
        let name = format!("{}()", program.function(function).name);
        self.ledger.takes(glance.event, &name, value);
        let activation = trace.activation(latest);
        let is_last = |event: &EventId| {
            trace.activation(*event) == activation
                && !program.leader(trace.leader(*event)).kind.is_structural()
        };
        let first = trace.entry(activation);
        let last = (first.0..=latest.0).rev().map(EventId).find(is_last);
        if let Some(last) = last.filter(|last| self.assignment.wanted.contains(last.0 as usize)) {
            self.ledger.hands_over(last, glance.event, &name);
        }
    }

    /// Finds the writes of code that is not traced, by comparing the values that it could write.
    fn compare(&mut self, tracee: &Tracee, glance: &mut Glance, exposed: Vec<Exposed>) {
        let variables = self.assignment.variables;
        let memory = ProgramMemory(tracee);
        for Exposed { named, bytes, before, role } in exposed {
            let Some(now) = memory.read(named.address, bytes.len()) else { continue };
            if let Some(changed) = changed(&bytes, &now).or_else(|| self.set_as_before(&named, &bytes, role))
            {
                let address = named.address + changed.start as u64;
                self.ledger.wrote(glance.author, address, &now[changed.clone()]);
                glance.overwrites(address, &bytes[changed]);
                glance.writes(&mut self.ledger, named, |_, _| before);
            } else if role != Role::Own {
                self.ledger.reads(glance.event, &named.name, || variables.value(&named, &memory));
                self.ledger.read(glance.event, named.address, &bytes, &named.name);
            }
        }
    }

    /// The bytes of a value that a call was handed, if it must have set them though they are as before:
    /// nobody else had.
    fn set_as_before(&self, named: &Named, bytes: &[u8], role: Role) -> Option<Range<usize>> {
        let knows_all = self.assignment.wanted.is_full();
        let is_set = role == Role::HandedOwn && knows_all && !self.ledger.is_written(named.address, bytes);
        is_set.then_some(0..bytes.len())
    }

    /// Ends the functions whose frames are at or below `sp`, whether they have returned or not.
    pub(super) fn settle(&mut self, tracee: &Tracee, sp: u64) {
        while let Some(calling) = self.calling.pop_if(|calling| calling.sp <= sp) {
            let glance = self.returned(tracee, calling);
            self.close(tracee, glance);
        }
    }
}

/// The range in which two texts of the same length differ; a number differs as a whole.
fn changed(before: &[u8], now: &[u8]) -> Option<Range<usize>> {
    let differ = |(one, other): (&u8, &u8)| one != other;
    let first = before.iter().zip(now).position(differ)?;
    let last = before.iter().zip(now).rposition(differ)?;
    Some(if now.len() <= 16 { 0..now.len() } else { first..last + 1 })
}
