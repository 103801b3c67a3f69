//! Poisoning: undefined memory and registers of a running program are set to a pattern.

use agent::names::LeaderId;
use agent::poison::{Poison, SCRATCH};

use super::Placement;
use crate::address::RuntimeAddress;
use crate::process::{ProcessError, Registers, Stop, Tracee};
use crate::program::Program;
use crate::untouched::Untouched;

/// The program, its placement, and the pattern of its undefined values.
pub(super) struct Poisoner<'p> {
    pub(super) program: &'p Program,
    pub(super) placement: &'p Placement,
    pub(super) poison: Poison,
    /// The memory that is not filled.
    pub(super) untouched: &'p Untouched,
    /// The stack pointer before the first instruction.
    pub(super) stack_base: u64,
    /// The buffer for what is written.
    pub(super) scratch: &'p mut Vec<u8>,
}

impl Poisoner<'_> {
    /// Fills the frame of the function that begins at `entry`, which lies below the return address.
    pub(super) fn frame(
        &mut self,
        tracee: &mut Tracee,
        entry: LeaderId,
        sp: u64,
    ) -> Result<(), ProcessError> {
        let function = self.program.leader(entry).function;
        if self.poison == Poison::Off || self.untouched.frames.contains(&function) {
            return Ok(());
        }
        let size = self.program.function_of(entry).undefined_size();
        let bottom = sp - size;
        // By the distance from the stack's first word: the environment moves the stack.
        let place = bottom.wrapping_sub(self.stack_base);
        self.scratch.resize(size as usize, 0);
        self.poison.fill(place, self.scratch);
        if !tracee.write(RuntimeAddress(bottom), self.scratch)
            && grow_stack(tracee, self.placement.address(entry), bottom)?
        {
            tracee.write(RuntimeAddress(bottom), self.scratch);
        }
        Ok(())
    }

    /// Makes the registers undefined that a call may change, except those in which the function keeps a value from
    /// before `reached`, where the run was, to after `at`, where it goes on.
    pub(super) fn registers(&self, tracee: &Tracee, reached: LeaderId, at: LeaderId) {
        if self.poison == Poison::Off {
            return;
        }
        let Some(mut registers) = tracee.registers() else {
            return;
        };
        let live = self.program.leader(reached).live & self.program.leader(at).live;
        let r = &mut registers;
        let scratch: [_; SCRATCH.len()] = [
            &mut r.rax, &mut r.rcx, &mut r.rdx, &mut r.rsi, &mut r.rdi, &mut r.r8, &mut r.r9, &mut r.r10,
            &mut r.r11,
        ];
        for ((register, number), value) in scratch.into_iter().zip(SCRATCH).zip(self.poison.general()) {
            if !live.has_general(number) {
                *register = value;
            }
        }
        tracee.set_registers(&registers);
        if !live.has_vector() {
            tracee.set_vector_registers(self.poison.vector());
        }
    }
}

/// Makes the kernel extend the stack down to `bottom`, by one store of the program's own at `pc`, where it is: a
/// tracer's accesses do not. False if it did not.
fn grow_stack(tracee: &mut Tracee, pc: RuntimeAddress, bottom: u64) -> Result<bool, ProcessError> {
    const STORE: [u8; 3] = [0xc6, 0x00, 0x00]; // mov byte [rax], 0
    let Some(registers) = tracee.registers() else {
        return Ok(false);
    };
    let Some(original) = tracee.read(pc, STORE.len()) else {
        return Ok(false);
    };
    tracee.write(pc, &STORE);
    tracee.set_registers(&Registers { rip: pc.0, rax: bottom, ..registers });
    tracee.step(0);
    let stop = tracee.wait()?;
    tracee.write(pc, &original);
    tracee.set_registers(&registers);
    Ok(stop == Stop::Trap)
}
