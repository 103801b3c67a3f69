//! Interventions: changes of the control flow of a program that otherwise runs freely.
//!
//! A change of all executions is written into its code; a change of one execution has a breakpoint
//! that counts, and goes for good once that execution has come. Processes that the program starts have the changes
//! of all executions, but no breakpoints, for which nobody waits there.

use std::collections::{BTreeMap, HashSet};

use agent::names::LeaderId;
use agent::poison::Poison;

use super::crash::registers;
use super::{Placement, Poisoner};
use crate::address::RuntimeAddress;
use crate::intervention::{Alterations, Change, Intervention, NewValue, When};
use crate::process::{Pid, ProcessError, Stop, Tracee};
use crate::program::accesses::{self, Mode};
use crate::program::variables::RegisterValues;
use crate::program::{ImageId, LeaderKind, Program, StoredKind};

const INT3: u8 = 0xcc;
const NOP: u8 = 0x90;
const JUMP_NEAR: u8 = 0xe9;
const JUMP_SHORT: u8 = 0xeb;
/// The length of a near jump, in bytes.
const NEAR: usize = 5;
/// The length of the longest conditional jump, in bytes.
const LONGEST: usize = 6;

/// The interventions in a running program.
pub(crate) struct Changes<'c> {
    alterations: &'c Alterations<'c>,
    breakpoints: BTreeMap<RuntimeAddress, Breakpoint>,
    /// The stack pointer before the first instruction.
    stack_base: u64,
    scratch: Vec<u8>,
}

/// A breakpoint at which control flow is changed.
struct Breakpoint {
    original: u8,
    /// The acts, and at which arrivals they are done.
    acts: Vec<(Act, When)>,
    arrivals: u32,
    is_over: bool,
}

/// The act of a breakpoint.
#[derive(Clone, Copy)]
enum Act {
    GoTo(RuntimeAddress),
    /// Change of a conditional jump.
    Branch {
        jump: ConditionalJump,
        change: Change,
    },
    /// The frame of the function that begins here becomes undefined.
    Undefine(LeaderId),
    /// The store here writes another value.
    Write(StoredKind, NewValue),
}

/// A conditional jump: the condition as the processor numbers it, and both places where it leads.
#[derive(Clone, Copy)]
struct ConditionalJump {
    condition: u8,
    target: RuntimeAddress,
    next: RuntimeAddress,
}

/// The result of a stop at a breakpoint.
pub(crate) enum Changed {
    /// The program can go on.
    Served,
    /// The trap belongs to none of these breakpoints.
    Foreign,
    /// This stop has happened on the way over the breakpoint.
    Stopped(Stop),
}

impl<'c> Changes<'c> {
    /// Makes the changes of a program that has not executed an instruction yet. What does not lie in its executable,
    /// or is no conditional jump where one is asked for, is not changed. The frames of the functions with these entries
    /// are made undefined by somebody else.
    pub(crate) fn make(
        alterations: &'c Alterations<'c>,
        program: &Program,
        (placement, filled): (&Placement, &HashSet<LeaderId>),
        tracee: &Tracee,
    ) -> Changes<'c> {
        let stack_base = tracee.location().map_or(0, |location| location.sp);
        let (breakpoints, scratch) = (BTreeMap::new(), Vec::new());
        let mut changes = Changes { alterations, breakpoints, stack_base, scratch };
        for intervention in alterations.interventions {
            changes.add(intervention, program, placement, tracee);
        }
        if alterations.poison != Poison::Off {
            changes.undefine_frames(program, (placement, filled), tracee);
        }
        changes
    }

    fn add(
        &mut self,
        intervention: &Intervention,
        program: &Program,
        placement: &Placement,
        tracee: &Tracee,
    ) -> Option<()> {
        let Intervention { place, change, when } = *intervention;
        let at = |address: u64| RuntimeAddress(address.wrapping_add(placement.bias(place.image)));
        let address = at(place.address.0);
        let mut code = (1..=LONGEST).rev().find_map(|length| tracee.read(address, length))?;
        if let Some(there) = self.breakpoints.get(&address) {
            code[0] = there.original;
        }
        let act = match change {
            Change::Skip(to) => Act::GoTo(at(to.address.0)),
            Change::Write(kind, value) => Act::Write(kind, value),
            change => Act::Branch { jump: ConditionalJump::read(address, &code)?, change },
        };
        let room = program.leader_at(place.image, place.address);
        let room = room.map_or(0, |leader| usize::from(program.leader(leader).movable));
        if let Some(patch) = patch(act, address, &code, room).filter(|_| self.is_patched(intervention)) {
            tracee.write(address, &patch);
            return Some(());
        }
        self.stop_at(address, code[0], (act, when), tracee);
        Some(())
    }

    /// Whether code can do the work of a stop: each act is done at each arrival, and where a statement is left out, no
    /// registers are set.
    fn is_patched(&self, intervention: &Intervention) -> bool {
        let Alterations { interventions, poison, .. } = *self.alterations;
        let is_alone = interventions.iter().filter(|other| other.place == intervention.place).count() == 1;
        let is_free = poison == Poison::Off || !matches!(intervention.change, Change::Skip(_));
        is_alone && is_free && intervention.when == When::Always
    }

    fn stop_at(&mut self, address: RuntimeAddress, original: u8, act: (Act, When), tracee: &Tracee) {
        let new = || Breakpoint { original, acts: Vec::new(), arrivals: 0, is_over: false };
        let acts = &mut self.breakpoints.entry(address).or_insert_with(new).acts;
        acts.push(act);
        // The last one decides where control goes: a change of one execution is more than one of all.
        acts.sort_by_key(|(_, when)| *when != When::Always);
        tracee.write(address, &[INT3]);
    }

    /// Adds a breakpoint at each other function of the executable, which makes its frame undefined.
    fn undefine_frames(
        &mut self,
        program: &Program,
        (placement, filled): (&Placement, &HashSet<LeaderId>),
        tracee: &Tracee,
    ) {
        for (leader, number) in program.leaders().iter().zip((0..).map(LeaderId)) {
            if leader.kind != LeaderKind::Entry || leader.image != ImageId(0) || filled.contains(&number) {
                continue;
            }
            let leader = number;
            let address = placement.address(leader);
            if let Some(code) = tracee.read(address, 1) {
                self.stop_at(address, code[0], (Act::Undefine(leader), When::Always), tracee);
            }
        }
    }

    /// Handles a stop after an `int3`.
    pub(crate) fn trap(
        &mut self,
        program: &Program,
        placement: &Placement,
        tracee: &mut Tracee,
    ) -> Result<Changed, ProcessError> {
        let Some(location) = tracee.location() else { return Ok(Changed::Served) };
        let address = RuntimeAddress(location.pc.wrapping_sub(1));
        let Alterations { poison, untouched, .. } = *self.alterations;
        let Some(reached) = self.breakpoints.get_mut(&address).filter(|it| !it.is_over) else {
            return Ok(Changed::Foreign);
        };
        tracee.take_trap()?;
        let (stack_base, scratch) = (self.stack_base, &mut self.scratch);
        let mut poisoner = Poisoner { program, placement, poison, untouched, stack_base, scratch };
        let (mut next, mut store) = (None, None);
        for act in reached.arrive() {
            next = match act {
                Act::Write(kind, value) => {
                    store = Some((kind, value));
                    next
                }
                Act::GoTo(to) => {
                    let leader = |address: RuntimeAddress| placement.leader_at(address.0);
                    if let (Some(reached), Some(at)) = (leader(address), leader(to)) {
                        poisoner.registers(tracee, reached, at);
                    }
                    Some(to)
                }
                Act::Branch { jump, change } => Some(jump.changed(change, tracee)),
                Act::Undefine(entry) => {
                    poisoner.frame(tracee, entry, location.sp)?;
                    next
                }
            };
        }
        if reached.is_over {
            tracee.write(address, &[reached.original]);
        }
        if let (Some((kind, value)), None) = (store, next) {
            return reached.store(address, (kind, value), placement, tracee);
        }
        match next.or_else(|| reached.imitated(address, tracee)) {
            Some(next) => tracee.set_pc(next),
            None if reached.is_over => tracee.set_pc(address),
            None => return reached.step_over(address, tracee),
        }
        Ok(Changed::Served)
    }

    /// Removes the breakpoints from the copy of the memory that a forked process has.
    pub(crate) fn leave_fork(&self, tracee: &Tracee, fork: Pid) {
        for (address, breakpoint) in self.breakpoints.iter().filter(|(_, it)| !it.is_over) {
            tracee.write_to_fork(fork, *address, &[breakpoint.original]);
        }
    }

    /// Removes the breakpoints from memory, or puts them back.
    pub(crate) fn set_aside(&self, tracee: &Tracee, are_out: bool) {
        for (address, breakpoint) in self.breakpoints.iter().filter(|(_, it)| !it.is_over) {
            tracee.write(*address, &[if are_out { breakpoint.original } else { INT3 }]);
        }
    }
}

impl Breakpoint {
    /// Counts an arrival; returns the acts to be done at it.
    fn arrive(&mut self) -> Vec<Act> {
        self.arrivals += 1;
        let arrivals = self.arrivals;
        let due = |when: When| when == When::Always || when == When::Execution(arrivals);
        let acts = self.acts.iter().filter(|(_, when)| due(*when)).map(|(act, _)| *act).collect();
        let is_past = |when: When| matches!(when, When::Execution(number) if number <= arrivals);
        self.is_over = self.acts.iter().all(|(_, when)| is_past(*when));
        acts
    }

    /// Executes the store that the breakpoint covers, and replaces what it has written.
    fn store(
        &self,
        address: RuntimeAddress,
        (kind, value): (StoredKind, NewValue),
        placement: &Placement,
        tracee: &mut Tracee,
    ) -> Result<Changed, ProcessError> {
        let there = registers(tracee).and_then(|registers| {
            let text = placement.text(address.0)?;
            let at = RegisterValues { pc: address.0, ..registers };
            let effect = accesses::effect(&text[..text.len().min(15)], &at)?;
            let written = effect.accesses.into_iter().find(|(_, mode)| *mode != Mode::Read)?.0;
            let there = RuntimeAddress(written.address);
            Some((there, tracee.read(there, kind.size())?))
        });
        let stepped = self.step_over(address, tracee)?;
        if let (Changed::Served, Some((there, old))) = (&stepped, there)
            && let Some(written) = tracee.read(there, kind.size())
        {
            tracee.write(there, &value.bytes(kind, &old, &written));
        }
        Ok(stepped)
    }

    /// Emulates the covered instruction, if it is one with which functions begin and that costs no stop; returns where
    /// control goes on.
    fn imitated(&self, address: RuntimeAddress, tracee: &Tracee) -> Option<RuntimeAddress> {
        const PUSH_RBP: u8 = 0x55;
        if self.original != PUSH_RBP {
            return None;
        }
        let mut registers = tracee.registers()?;
        registers.rsp = registers.rsp.wrapping_sub(8);
        if !tracee.write(RuntimeAddress(registers.rsp), &registers.rbp.to_le_bytes()) {
            return None;
        }
        tracee.set_registers(&registers);
        Some(RuntimeAddress(address.0 + 1))
    }

    /// Executes the instruction that the breakpoint covers.
    fn step_over(&self, address: RuntimeAddress, tracee: &mut Tracee) -> Result<Changed, ProcessError> {
        tracee.write(address, &[self.original]);
        tracee.set_pc(address);
        tracee.step(0);
        let stop = tracee.wait()?;
        if !self.is_over {
            tracee.write(address, &[INT3]);
        }
        Ok(if stop == Stop::Trap { Changed::Served } else { Changed::Stopped(stop) })
    }
}

impl ConditionalJump {
    /// Decodes a conditional jump. Source: Intel's manual, volume 2, `Jcc`: the lower half of the opcode is the
    /// condition.
    fn read(address: RuntimeAddress, code: &[u8]) -> Option<ConditionalJump> {
        let (condition, length, distance) = match *code {
            [opcode @ 0x70..=0x7f, distance, ..] => (opcode & 0xf, 2, i64::from(distance as i8)),
            [0x0f, opcode @ 0x80..=0x8f, a, b, c, d, ..] => {
                (opcode & 0xf, LONGEST as u64, i64::from(i32::from_le_bytes([a, b, c, d])))
            }
            _ => return None,
        };
        let next = RuntimeAddress(address.0.wrapping_add(length));
        let target = RuntimeAddress(next.0.wrapping_add_signed(distance));
        Some(ConditionalJump { condition, target, next })
    }

    /// The address at which control goes on with this change.
    fn changed(self, change: Change, tracee: &Tracee) -> RuntimeAddress {
        let flags = tracee.registers().map_or(0, |registers| registers.eflags);
        let jumps = match change {
            Change::Jump => true,
            Change::FallThrough => false,
            Change::Flip | Change::Skip(_) | Change::Write(..) => !self.holds(flags),
        };
        if jumps { self.target } else { self.next }
    }

    /// Whether the condition holds with these status flags.
    fn holds(self, flags: u64) -> bool {
        let is_set = |bit: u32| flags >> bit & 1 == 1;
        let (carry, parity, zero, sign, overflow) = (is_set(0), is_set(2), is_set(6), is_set(7), is_set(11));
        let holds = match self.condition >> 1 {
            0 => overflow,
            1 => carry,
            2 => zero,
            3 => carry || zero,
            4 => sign,
            5 => parity,
            6 => sign != overflow,
            _ => zero || sign != overflow,
        };
        holds != (self.condition & 1 == 1)
    }
}

/// The code that does an act without a stop; `None` where there is no room for it.
fn patch(act: Act, address: RuntimeAddress, code: &[u8], room: usize) -> Option<Vec<u8>> {
    match act {
        Act::Undefine(_) | Act::Write(..) => None,
        Act::GoTo(to) => {
            let distance = |length: usize| to.0.wrapping_sub(address.0.wrapping_add(length as u64)) as i64;
            if let Ok(short) = i8::try_from(distance(2))
                && room >= 2
            {
                return Some(vec![JUMP_SHORT, short as u8]);
            }
            let near = i32::try_from(distance(NEAR)).ok().filter(|_| room >= NEAR)?;
            Some([&[JUMP_NEAR][..], &near.to_le_bytes()].concat())
        }
        Act::Branch { jump, change } => {
            let length = (jump.next.0 - address.0) as usize;
            let mut patched = code[..length].to_vec();
            match (change, length) {
                (Change::Flip | Change::Skip(_) | Change::Write(..), 2) => patched[0] ^= 1,
                (Change::Flip | Change::Skip(_) | Change::Write(..), _) => patched[1] ^= 1,
                (Change::Jump, 2) => patched[0] = JUMP_SHORT,
                (Change::Jump, _) => patched[..2].copy_from_slice(&[NOP, JUMP_NEAR]),
                (Change::FallThrough, _) => patched.fill(NOP),
            }
            Some(patched)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_condition_is_the_opposite_of_the_one_beside_it() {
        let at = RuntimeAddress(0x1000);
        for flags in (0..1 << 12).step_by(5) {
            for even in (0x70..0x80).step_by(2) {
                let holds =
                    |opcode: u8| ConditionalJump::read(at, &[opcode, 5]).expect("a jump").holds(flags);
                assert_ne!(holds(even), holds(even + 1), "{even:#x} {flags:#x}");
            }
        }
        let zero = |flags| ConditionalJump::read(at, &[0x74, 0xfe]).expect("je").holds(flags);
        assert!(zero(1 << 6) && !zero(1 << 7));
    }

    #[test]
    fn both_encodings_lead_to_the_same_places_and_nothing_else_is_a_conditional_jump() {
        let at = RuntimeAddress(0x1000);
        let short = ConditionalJump::read(at, &[0x75, 0x10]).expect("jne");
        let near = ConditionalJump::read(at, &[0x0f, 0x85, 0x0c, 0, 0, 0]).expect("jne");
        assert_eq!((short.target, near.target), (RuntimeAddress(0x1012), RuntimeAddress(0x1012)));
        assert_eq!((short.next, near.next), (RuntimeAddress(0x1002), RuntimeAddress(0x1006)));
        for other in [&[0xeb, 0x10][..], &[0xe8, 0, 0, 0, 0], &[0x0f, 0x90, 0, 0, 0, 0], &[0x75]] {
            assert!(ConditionalJump::read(at, other).is_none());
        }
    }
}
