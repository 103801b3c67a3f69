//! The height of the stack in a function, from its instructions alone.
//!
//! Heights are in bytes relative to the entry, where the return address lies at 0; they are negative
//! inside of the function. A pointer that is set from a register (alloca, variable-length arrays,
//! alignment) keeps the height that it had: its new place is the base of what follows. Where two ways
//! of different heights meet, the height is unknown.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use super::code::Code;

/// The size of the red zone: the System V ABI lets a function use this many bytes below the stack pointer.
const RED_ZONE: i64 = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Height {
    Unreached,
    Known(i64),
    Unknown,
}

/// The height of the stack before each instruction of a function.
pub(super) struct StackHeights {
    before: Vec<Height>,
    probed: i64,
}

impl StackHeights {
    /// Follows all ways from the instruction at index `entry`.
    pub(super) fn new(code: &Code, entry: usize) -> StackHeights {
        let mut before = vec![Height::Unreached; code.insns().len()];
        before[entry] = Height::Known(0);
        let mut open = vec![entry];
        while let Some(index) = open.pop() {
            let after = match before[index] {
                Height::Known(height) => effect(&code.at(index).iced, height),
                other => other,
            };
            for successor in code.successors(index) {
                let joined = join(before[successor], after);
                if joined != before[successor] {
                    before[successor] = joined;
                    open.push(successor);
                }
            }
        }
        StackHeights { before, probed: probed(code) }
    }

    /// The height before an instruction, where it is the same on all ways.
    pub(super) fn at(&self, insn: usize) -> Option<i64> {
        match self.before[insn] {
            Height::Known(height) => Some(height),
            _ => None,
        }
    }

    /// The number of bytes below the entry's stack pointer that the function may use, its red zone included.
    pub(super) fn frame_size(&self) -> u32 {
        let deepest = self.before.iter().filter_map(|height| match height {
            Height::Known(height) => Some(height.saturating_neg()),
            _ => None,
        });
        let bytes = deepest.max().unwrap_or(0).max(self.probed).saturating_add(RED_ZONE);
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }
}

/// The size of a large frame that the prologue touches page by page (`-fstack-clash-protection`):
/// `lea r11,[rsp-N]` before the loop.
fn probed(code: &Code) -> i64 {
    let lea = code.insns().iter().map(|insn| &insn.iced).filter(|insn| {
        insn.mnemonic() == Mnemonic::Lea
            && insn.op0_register() == Register::R11
            && insn.memory_base() == Register::RSP
    });
    lea.map(|insn| (insn.memory_displacement64() as i64).saturating_neg()).max().unwrap_or(0)
}

fn join(one: Height, other: Height) -> Height {
    match (one, other) {
        (Height::Unreached, height) | (height, Height::Unreached) => height,
        (Height::Known(a), Height::Known(b)) if a == b => one,
        _ => Height::Unknown,
    }
}

fn effect(insn: &Instruction, height: i64) -> Height {
    let immediate = insn.op_count() > 1
        && matches!(insn.op1_kind(), OpKind::Immediate8to64 | OpKind::Immediate32to64 | OpKind::Immediate64);
    let on_rsp = insn.op0_kind() == OpKind::Register && insn.op0_register() == Register::RSP;
    // Bytes that are no code may move it as far as they like.
    let moved = |bytes: i64| Height::Known(height.saturating_add(bytes));
    match insn.mnemonic() {
        Mnemonic::Leave => Height::Unknown,
        Mnemonic::Call | Mnemonic::Ret => Height::Known(height),
        Mnemonic::Add if on_rsp && immediate => moved(insn.immediate64() as i64),
        Mnemonic::Sub if on_rsp && immediate => moved((insn.immediate64() as i64).saturating_neg()),
        Mnemonic::Lea
            if on_rsp && insn.memory_base() == Register::RSP && insn.memory_index() == Register::None =>
        {
            moved(insn.memory_displacement64() as i64)
        }
        _ if on_rsp => Height::Known(height),
        _ => moved(insn.stack_pointer_increment().into()),
    }
}
