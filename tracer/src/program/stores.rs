//! Find the instructions of a statement that store a value in memory.

use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};

use super::{LeaderId, Program};
use crate::address::FileAddress;

/// The type of a stored value to the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredKind {
    /// An integer, or a pointer, of so many bytes: 1, 2, 4 or 8.
    Integer(u8),
    /// A floating-point number of so many bytes: 4 or 8.
    Float(u8),
}

impl StoredKind {
    /// The number of its bytes.
    pub fn size(self) -> usize {
        match self {
            StoredKind::Integer(size) | StoredKind::Float(size) => usize::from(size),
        }
    }
}

/// An instruction that stores a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The address of the store instruction.
    pub address: FileAddress,
    /// The address of the next instruction.
    pub next: FileAddress,
    /// The type of the stored value.
    pub kind: StoredKind,
    /// The memory operand that it writes to.
    pub operand: StoreOperand,
}

/// A place in memory: the sum of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreOperand {
    /// A register by its name; `None` if there is none.
    pub base: Option<String>,
    /// A register by its name, and with what it is multiplied.
    pub index: Option<(String, u32)>,
    /// A number; an address in the file if `is_in_file`.
    pub displacement: u64,
    /// Whether the place is one of the file.
    pub is_in_file: bool,
}

impl Program {
    /// The stores in the code of a statement, in the order of addresses; not those that serve the frame, nor those of
    /// thread-local memory.
    pub fn stores(&self, leader: LeaderId) -> Vec<Store> {
        let it = self.leader(leader);
        if it.kind.is_structural() {
            return Vec::new();
        }
        let decoder = Decoder::with_ip(64, self.block(leader), it.address.0, DecoderOptions::NONE);
        let mut factory = InstructionInfoFactory::new();
        decoder.into_iter().filter_map(|instruction| store(&instruction, &mut factory)).collect()
    }
}

/// The store that an instruction is, if it is one.
fn store(instruction: &Instruction, factory: &mut InstructionInfoFactory) -> Option<Store> {
    let writes = matches!(factory.info(instruction).op0_access(), OpAccess::Write | OpAccess::ReadWrite);
    let is_plain = !instruction.is_stack_instruction()
        && !instruction.has_rep_prefix()
        && !instruction.has_repne_prefix()
        && instruction.op0_kind() == OpKind::Memory
        && matches!(instruction.memory_segment(), Register::DS | Register::SS);
    if instruction.is_invalid() || !writes || !is_plain {
        return None;
    }
    let size = u8::try_from(instruction.memory_size().size()).ok()?;
    let kind = match instruction.mnemonic() {
        Mnemonic::Movss => StoredKind::Float(4),
        Mnemonic::Movsd => StoredKind::Float(8),
        _ if !matches!(size, 1 | 2 | 4 | 8) || is_vector(instruction) => return None,
        _ => StoredKind::Integer(size),
    };
    let (address, next) = (FileAddress(instruction.ip()), FileAddress(instruction.next_ip()));
    Some(Store { address, next, kind, operand: operand(instruction) })
}

/// Whether registers other than the general ones take part.
fn is_vector(instruction: &Instruction) -> bool {
    (1..instruction.op_count()).any(|operand| {
        instruction.op_kind(operand) == OpKind::Register && !instruction.op_register(operand).is_gpr()
    })
}

fn operand(instruction: &Instruction) -> StoreOperand {
    let name = |register: Register| format!("{register:?}").to_lowercase();
    let is_in_file = instruction.is_ip_rel_memory_operand();
    let register = |register: Register| Some(register).filter(|it| *it != Register::None && !is_in_file);
    StoreOperand {
        base: register(instruction.memory_base()).map(name),
        index: register(instruction.memory_index()).map(|it| (name(it), instruction.memory_index_scale())),
        displacement: instruction.memory_displacement64(),
        is_in_file,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(code: &[u8]) -> Option<(StoredKind, StoreOperand)> {
        let instruction = Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE).decode();
        store(&instruction, &mut InstructionInfoFactory::new()).map(|store| (store.kind, store.operand))
    }

    #[test]
    fn stores_are_told_from_what_only_reads_or_serves_the_stack() {
        let operand =
            |base: Option<&str>, index: Option<(&str, u32)>, displacement: i64, is_in_file| StoreOperand {
                base: base.map(str::to_owned),
                index: index.map(|(name, scale)| (name.to_owned(), scale)),
                displacement: displacement as u64,
                is_in_file,
            };
        let local = operand(Some("rbp"), None, -8, false);
        assert_eq!(stored(&[0x89, 0x45, 0xf8]), Some((StoredKind::Integer(4), local.clone()))); // mov [rbp-8],eax
        assert_eq!(stored(&[0x83, 0x45, 0xf8, 1]), Some((StoredKind::Integer(4), local.clone()))); // add [rbp-8],1
        assert_eq!(stored(&[0xf2, 0x0f, 0x11, 0x45, 0xf8]), Some((StoredKind::Float(8), local))); // movsd
        let array = operand(Some("rbp"), Some(("rax", 4)), -48, false);
        assert_eq!(stored(&[0x89, 0x54, 0x85, 0xd0]), Some((StoredKind::Integer(4), array)));
        let global = operand(None, None, 0x2006, true);
        assert_eq!(stored(&[0x89, 0x05, 0, 0x10, 0, 0]), Some((StoredKind::Integer(4), global)));
        for other in [
            &[0x8b, 0x45, 0xf8][..],                  // mov eax,[rbp-8]
            &[0x83, 0x7d, 0xf8, 1],                   // cmp [rbp-8],1
            &[0x55],                                  // push rbp
            &[0xff, 0x75, 0xf8],                      // push [rbp-8]
            &[0x0f, 0x29, 0x45, 0xf0],                // movaps [rbp-16],xmm0
            &[0x64, 0x89, 0x04, 0x25, 0xfc, 0, 0, 0], // mov fs:[0xfc],eax
            &[0xf3, 0xaa],                            // rep stosb
        ] {
            assert_eq!(stored(other), None, "{other:x?}");
        }
    }
}
