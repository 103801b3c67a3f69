//! The registers that an instruction reads and writes, and those that are live at a place.
//!
//! Only registers that carry values from statement to statement count: general and vector ones, but
//! neither the stack pointer nor the frame pointer. Source of the use of each instruction: iced-x86.

use std::ops::{BitAnd, BitOr, BitOrAssign, Not};

use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};

use super::code::{Code, ControlFlow, Insn};

/// A set of registers, each in its full width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegisterSet(u64);

impl RegisterSet {
    /// The number of the first vector register in the set's bits.
    const VECTORS: u32 = 16;
    /// The number of the first MMX register in the set's bits.
    const MMX: u32 = 48;
    const ALL: RegisterSet = RegisterSet(u64::MAX);

    /// Whether the general register with this number of the machine's encoding (rax 0, rcx 1, rdx 2,
    /// rsi 6, rdi 7, r8 8 and so on) is in the set.
    pub fn has_general(self, number: u32) -> bool {
        self.0 >> number & 1 == 1
    }

    /// The set as bits: general registers by their number, vector registers from bit 16 on.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// Whether a vector register is in the set.
    pub fn has_vector(self) -> bool {
        self.0 >> RegisterSet::VECTORS & 0xffff_ffff != 0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn of(register: Register) -> RegisterSet {
        let full = register.full_register();
        let offset = |first: Register| full as u32 - first as u32;
        match full {
            Register::RSP | Register::RBP => RegisterSet(0),
            _ if full.is_gpr() => RegisterSet(1 << offset(Register::RAX)),
            _ if full.is_vector_register() => {
                RegisterSet(1 << (RegisterSet::VECTORS + offset(Register::ZMM0)))
            }
            _ if full.is_mm() => RegisterSet(1 << (RegisterSet::MMX + offset(Register::MM0))),
            _ => RegisterSet(0),
        }
    }
}

impl BitOr for RegisterSet {
    type Output = RegisterSet;
    fn bitor(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(self.0 | other.0)
    }
}

impl BitOrAssign for RegisterSet {
    fn bitor_assign(&mut self, other: RegisterSet) {
        self.0 |= other.0;
    }
}

impl BitAnd for RegisterSet {
    type Output = RegisterSet;
    fn bitand(self, other: RegisterSet) -> RegisterSet {
        RegisterSet(self.0 & other.0)
    }
}

impl Not for RegisterSet {
    type Output = RegisterSet;
    fn not(self) -> RegisterSet {
        RegisterSet(!self.0)
    }
}

/// The registers that an instruction reads and writes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) reads: RegisterSet,
    pub(super) writes: RegisterSet,
}

/// The analysis of the registers that instructions use.
pub(super) struct Uses {
    info: InstructionInfoFactory,
}

impl Uses {
    pub(super) fn new() -> Uses {
        Uses { info: InstructionInfoFactory::new() }
    }

    /// The registers that this instruction uses. A write of a part counts as one of the whole.
    pub(super) fn of(&mut self, insn: &Insn) -> Use {
        let mut result = Use { reads: RegisterSet(0), writes: RegisterSet(0) };
        if clears(&insn.iced) {
            result.writes = RegisterSet::of(insn.iced.op0_register());
            return result;
        }
        for used in self.info.info(&insn.iced).used_registers() {
            let register = RegisterSet::of(used.register());
            if matches!(used.access(), OpAccess::Write | OpAccess::ReadWrite) {
                result.writes |= register;
            }
            // A conditional write (`cmov`) may leave the old value in place: it reads.
            if !matches!(used.access(), OpAccess::Write | OpAccess::NoMemAccess | OpAccess::None) {
                result.reads |= register;
            }
        }
        result
    }
}

/// Whether it is `xor r,r` or the like: the old value does not matter.
pub(super) fn clears(insn: &Instruction) -> bool {
    use Mnemonic::*;
    matches!(insn.mnemonic(), Xor | Sub | Pxor | Xorps | Xorpd | Vpxor | Vxorps | Vxorpd | Psubd | Psubq)
        && (1..insn.op_count()).all(|i| insn.op_kind(i) == OpKind::Register)
        && insn.op0_kind() == OpKind::Register
        && insn.op_register(insn.op_count() - 1) == insn.op_register(insn.op_count() - 2)
}

/// The live registers before each instruction: those whose values the function still uses.
///
/// Calls and returns use none here: what a call is handed is set up by its own statement, and the value of a function
/// is that of its `return`, which makes it undefined to leave that out. Where an indirect jump goes is not asked: to
/// any instruction that no direct jump reaches.
pub(super) fn live(code: &Code, uses: &mut Uses) -> Vec<RegisterSet> {
    let predecessors = code.predecessors();
    let landings: Vec<usize> =
        (0..predecessors.len()).filter(|&insn| predecessors[insn].is_empty()).collect();
    let uses: Vec<Use> = code.insns().iter().map(|insn| uses.of(insn)).collect();
    let mut live = vec![RegisterSet::default(); uses.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for insn in (0..uses.len()).rev() {
            let mut behind = RegisterSet::default();
            code.successors(insn).for_each(|successor| behind |= live[successor]);
            let killed = match code.at(insn).flow {
                ControlFlow::Call => RegisterSet::ALL,
                ControlFlow::Indirect => {
                    landings.iter().for_each(|&landing| behind |= live[landing]);
                    uses[insn].writes
                }
                _ => uses[insn].writes,
            };
            let before = uses[insn].reads | behind & !killed;
            changed |= before != live[insn];
            live[insn] = before;
        }
    }
    live
}
