//! Change the control flow of a program that otherwise runs freely.
//!
//! What is changed at all executions is written into its code; what is changed at one execution has a breakpoint
//! that counts, and goes for good once that execution has come. Processes that the program starts have the changes
//! of all executions, but no breakpoints, for which nobody waits there.

use super::Placement;
use crate::address::RuntimeAddress;
use crate::intervention::{Change, Intervention, When};
use crate::process::{Pid, ProcessError, Stop, Tracee};
use crate::program::Program;

const INT3: u8 = 0xcc;
const NOP: u8 = 0x90;
const JUMP_NEAR: u8 = 0xe9;
const JUMP_SHORT: u8 = 0xeb;
/// How long a jump to anywhere near is.
const NEAR: usize = 5;
/// The longest conditional jump.
const LONGEST: usize = 6;

/// The changes of a program under way.
pub(crate) struct Changes {
    breakpoints: Vec<Breakpoint>,
}

/// A place where the program stops to be changed.
struct Breakpoint {
    address: RuntimeAddress,
    original: u8,
    act: Act,
    when: When,
    arrivals: u32,
    is_over: bool,
}

/// What is done at a breakpoint.
#[derive(Clone, Copy)]
enum Act {
    GoTo(RuntimeAddress),
    /// Of a conditional jump.
    Branch {
        jump: ConditionalJump,
        change: Change,
    },
}

/// A conditional jump: the condition as the processor numbers it, and both places where it leads.
#[derive(Clone, Copy)]
struct ConditionalJump {
    condition: u8,
    target: RuntimeAddress,
    next: RuntimeAddress,
}

/// What came of a stop at a breakpoint.
pub(crate) enum Changed {
    /// The program can go on.
    Served,
    /// It is none of these breakpoints.
    Foreign,
    /// On the way over the breakpoint this has happened.
    Stopped(Stop),
}

impl Changes {
    /// Makes the changes of a program that has not executed an instruction yet. What does not lie in its executable,
    /// or is no conditional jump where one is asked for, is not changed.
    pub(crate) fn make(
        interventions: &[Intervention],
        program: &Program,
        placement: &Placement,
        tracee: &Tracee,
    ) -> Changes {
        let mut changes = Changes { breakpoints: Vec::new() };
        for intervention in interventions {
            changes.add(intervention, program, placement, tracee);
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
        let code = (1..=LONGEST).rev().find_map(|length| tracee.read(address, length))?;
        let act = match change {
            Change::Skip(to) => Act::GoTo(at(to.address.0)),
            change => Act::Branch { jump: ConditionalJump::read(address, &code)?, change },
        };
        let room = program.leader_at(place.image, place.address);
        let room = room.map_or(0, |leader| usize::from(program.leader(leader).movable));
        if let Some(patch) = patch(act, address, &code, room).filter(|_| when == When::Always) {
            tracee.write(address, &patch);
            return Some(());
        }
        tracee.write(address, &[INT3]);
        self.breakpoints.push(Breakpoint {
            address,
            original: code[0],
            act,
            when,
            arrivals: 0,
            is_over: false,
        });
        Some(())
    }

    /// Serves a stop after an `int3`.
    pub(crate) fn trap(&mut self, tracee: &mut Tracee) -> Result<Changed, ProcessError> {
        let Some(location) = tracee.location() else { return Ok(Changed::Served) };
        let address = RuntimeAddress(location.pc.wrapping_sub(1));
        let Some(reached) = self.breakpoints.iter_mut().find(|it| it.address == address && !it.is_over)
        else {
            return Ok(Changed::Foreign);
        };
        tracee.take_trap()?;
        reached.arrivals += 1;
        let is_due = reached.when == When::Always || reached.when == When::Execution(reached.arrivals);
        if is_due && reached.when != When::Always {
            reached.is_over = true;
            tracee.write(address, &[reached.original]);
        }
        match reached.act {
            Act::GoTo(to) if is_due => tracee.set_pc(to),
            Act::GoTo(_) => return reached.step_over(tracee),
            Act::Branch { jump, change } => {
                let flags = tracee.registers().map_or(0, |registers| registers.eflags);
                let holds = jump.holds(flags);
                let jumps = match change {
                    _ if !is_due => holds,
                    Change::Jump => true,
                    Change::FallThrough => false,
                    Change::Flip | Change::Skip(_) => !holds,
                };
                tracee.set_pc(if jumps { jump.target } else { jump.next });
            }
        }
        Ok(Changed::Served)
    }

    /// Takes the breakpoints out of the copy of the memory that a forked process has.
    pub(crate) fn leave_fork(&self, tracee: &Tracee, fork: Pid) {
        for breakpoint in self.breakpoints.iter().filter(|it| !it.is_over) {
            tracee.write_to_fork(fork, breakpoint.address, &[breakpoint.original]);
        }
    }

    /// Takes the breakpoints out of memory, or puts them back.
    pub(crate) fn set_aside(&self, tracee: &Tracee, are_out: bool) {
        for breakpoint in self.breakpoints.iter().filter(|it| !it.is_over) {
            tracee.write(breakpoint.address, &[if are_out { breakpoint.original } else { INT3 }]);
        }
    }
}

impl Breakpoint {
    /// Executes the instruction that the breakpoint covers.
    fn step_over(&self, tracee: &mut Tracee) -> Result<Changed, ProcessError> {
        tracee.write(self.address, &[self.original]);
        tracee.set_pc(self.address);
        tracee.step(0);
        let stop = tracee.wait()?;
        tracee.write(self.address, &[INT3]);
        Ok(if stop == Stop::Trap { Changed::Served } else { Changed::Stopped(stop) })
    }
}

impl ConditionalJump {
    /// Source: Intel's manual, volume 2, `Jcc`: the lower half of the opcode is the condition.
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

    /// Whether it jumps with these status flags.
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

/// The code that does the same without a stop; `None` where there is no room for it.
fn patch(act: Act, address: RuntimeAddress, code: &[u8], room: usize) -> Option<Vec<u8>> {
    match act {
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
                (Change::Flip | Change::Skip(_), 2) => patched[0] ^= 1,
                (Change::Flip | Change::Skip(_), _) => patched[1] ^= 1,
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
