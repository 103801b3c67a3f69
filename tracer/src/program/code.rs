//! Decode the machine code of one function into what the leader analysis asks of it.
//!
//! capstone gives lengths, control flow and branch targets; its read/write sets are not reliable
//! (`movups`, `movq` and `set*cc` stores among others), thus register and flag use comes from
//! iced-x86. This module knows nothing of source lines.

use std::cell::OnceCell;

use capstone::arch::x86::{ArchMode, X86OperandType};
use capstone::arch::{ArchOperand, BuildsCapstone};
use capstone::{Capstone, InsnGroupType};
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

use super::LoadError;

/// The control flow after an instruction: where it can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlFlow {
    /// To the next instruction only.
    Next,
    /// To the next instruction, once the callee has returned.
    Call,
    /// To this address only.
    Jump(u64),
    /// To this address or to the next instruction.
    Branch(u64),
    /// To an address computed at run time: a switch, a computed goto, an indirect tail call.
    Indirect,
    /// Out of the function.
    Return,
    /// Nowhere: `ud2`, `hlt`.
    Halt,
}

impl ControlFlow {
    /// Whether control can reach the next instruction. A call is taken to return.
    pub(super) fn falls_through(self) -> bool {
        matches!(self, ControlFlow::Next | ControlFlow::Call | ControlFlow::Branch(_))
    }

    /// The direct target inside or outside of the function, if there is one.
    pub(super) fn target(self) -> Option<u64> {
        match self {
            ControlFlow::Jump(target) | ControlFlow::Branch(target) => Some(target),
            _ => None,
        }
    }
}

/// One machine instruction.
#[derive(Clone, Debug)]
pub(super) struct Insn {
    pub(super) address: u64,
    pub(super) flow: ControlFlow,
    /// The instruction as iced-x86 decodes it.
    pub(super) iced: Instruction,
}

impl Insn {
    /// The address after the instruction.
    pub(super) fn end(&self) -> u64 {
        self.iced.next_ip()
    }

    /// Whether it is a `nop` of any length.
    pub(super) fn is_nop(&self) -> bool {
        self.iced.mnemonic() == Mnemonic::Nop
    }

    /// Whether an operand is the stack canary of the System V ABI, `fs:0x28`.
    pub(super) fn reads_canary(&self) -> bool {
        let insn = &self.iced;
        (0..insn.op_count()).any(|i| insn.op_kind(i) == OpKind::Memory)
            && insn.memory_segment() == Register::FS
            && insn.memory_base() == Register::None
            && insn.memory_displacement64() == 0x28
    }
}

/// The instructions of a function, in the order of their addresses.
#[derive(Debug)]
pub(super) struct Code {
    insns: Vec<Insn>,
    /// The predecessors of each instruction, found when they are asked for first.
    predecessors: OnceCell<Vec<Vec<usize>>>,
}

impl Code {
    /// The instruction at an index.
    pub(super) fn at(&self, index: usize) -> &Insn {
        &self.insns[index]
    }

    /// All instructions.
    pub(super) fn insns(&self) -> &[Insn] {
        &self.insns
    }

    /// The index of the instruction that begins at `address`.
    pub(super) fn index_of(&self, address: u64) -> Option<usize> {
        self.insns.binary_search_by_key(&address, |insn| insn.address).ok()
    }

    /// The index of the next instruction, where control can fall through to it.
    pub(super) fn fall_through(&self, index: usize) -> Option<usize> {
        let insn = &self.insns[index];
        let next = self.insns.get(index + 1)?;
        (insn.flow.falls_through() && next.address == insn.end()).then_some(index + 1)
    }

    /// The instructions to which control can go directly.
    pub(super) fn successors(&self, index: usize) -> impl Iterator<Item = usize> {
        let target = self.insns[index].flow.target().and_then(|target| self.index_of(target));
        self.fall_through(index).into_iter().chain(target)
    }

    /// The direct predecessors of each instruction: those from which control comes directly.
    pub(super) fn predecessors(&self) -> &[Vec<usize>] {
        self.predecessors.get_or_init(|| {
            let mut predecessors = vec![Vec::new(); self.insns.len()];
            for index in 0..self.insns.len() {
                for successor in self.successors(index) {
                    predecessors[successor].push(index);
                }
            }
            predecessors
        })
    }
}

/// A disassembler that serves many functions.
pub(super) struct Disassembler {
    capstone: Capstone,
}

impl Disassembler {
    pub(super) fn new() -> Result<Disassembler, LoadError> {
        let capstone = Capstone::new()
            .x86()
            .mode(ArchMode::Mode64)
            .detail(true)
            .build()
            .map_err(|error| LoadError::Disassembler(error.to_string()))?;
        Ok(Disassembler { capstone })
    }

    /// Decodes the ranges of a function, each given as its first address and its bytes.
    ///
    /// Decoding of a range ends at the first byte sequence that is no instruction: after it, data may lie between the
    /// code.
    pub(super) fn decode(&self, ranges: &[(u64, &[u8])]) -> Result<Code, LoadError> {
        let mut insns = Vec::new();
        for &(start, bytes) in ranges {
            let decoded = self
                .capstone
                .disasm_all(bytes, start)
                .map_err(|error| LoadError::Disassembler(error.to_string()))?;
            for insn in decoded.iter() {
                let offset = (insn.address() - start) as usize;
                let flow = self.flow(insn);
                let mut decoder =
                    Decoder::with_ip(64, &bytes[offset..], insn.address(), DecoderOptions::NONE);
                let iced = decoder.decode();
                if iced.is_invalid() || iced.len() != insn.bytes().len() {
                    break;
                }
                insns.push(Insn { address: insn.address(), flow, iced });
            }
        }
        insns.sort_by_key(|insn| insn.address);
        Ok(Code { insns, predecessors: OnceCell::new() })
    }

    fn flow(&self, insn: &capstone::Insn<'_>) -> ControlFlow {
        let Ok(detail) = self.capstone.insn_detail(insn) else {
            return ControlFlow::Next;
        };
        let is = |group: u32| detail.groups().iter().any(|g| u32::from(g.0) == group);
        let immediate = || {
            detail.arch_detail().operands().into_iter().find_map(|ArchOperand::X86Operand(operand)| {
                match operand.op_type {
                    X86OperandType::Imm(target) => Some(target as u64),
                    _ => None,
                }
            })
        };
        if is(InsnGroupType::CS_GRP_RET) || is(InsnGroupType::CS_GRP_IRET) {
            ControlFlow::Return
        } else if is(InsnGroupType::CS_GRP_CALL) {
            ControlFlow::Call
        } else if is(InsnGroupType::CS_GRP_JUMP) {
            match (immediate(), insn.mnemonic()) {
                (Some(target), Some(name)) if name.ends_with("jmp") => ControlFlow::Jump(target),
                (Some(target), _) => ControlFlow::Branch(target),
                (None, _) => ControlFlow::Indirect,
            }
        } else if matches!(insn.mnemonic(), Some("ud2" | "hlt")) {
            ControlFlow::Halt
        } else {
            ControlFlow::Next
        }
    }
}
