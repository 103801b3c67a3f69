//! The memory that an instruction reads and writes, from the registers before it.
//!
//! Words that go to the stack on the way, such as return addresses and pushed registers, do not count.
//! Source of the use of each instruction: iced-x86.

use iced_x86::{Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, OpAccess, Register};

use super::variables::{MemoryPiece, RegisterValues};

/// The kind of access of an instruction to a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A read, and then a write.
    Update,
}

/// The direction in which control goes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// On in the function, or out of it by a jump.
    On,
    /// Into another function.
    Call,
    /// Back to the caller.
    Return,
}

/// The effect of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    /// The address after the instruction.
    pub(crate) end: u64,
    /// The direction in which control goes after it.
    pub(crate) way: Way,
    /// The memory that it reads and writes.
    pub(crate) accesses: Vec<(MemoryPiece, Mode)>,
}

/// The offset of the stack canary in thread-local memory: System V ABI.
pub(super) const CANARY: u64 = 0x28;

/// The effect of the instruction with these bytes, given these registers; `None` if the bytes are no instruction.
pub(crate) fn effect(bytes: &[u8], registers: &RegisterValues) -> Option<Effect> {
    let mut decoder = Decoder::with_ip(64, bytes, registers.pc, DecoderOptions::NONE);
    let insn = decoder.decode();
    if insn.is_invalid() {
        return None;
    }
    let mut factory = InstructionInfoFactory::new();
    let mut accesses = Vec::new();
    for used in factory.info(&insn).used_memory() {
        let mode = match used.access() {
            OpAccess::Read | OpAccess::CondRead => Mode::Read,
            OpAccess::Write | OpAccess::CondWrite => Mode::Write,
            OpAccess::ReadWrite | OpAccess::ReadCondWrite => Mode::Update,
            OpAccess::None | OpAccess::NoMemAccess => continue,
        };
        let is_of_stack = insn.is_stack_instruction() && used.base() == Register::RSP;
        let length = used.memory_size().size() as u64;
        let address = used.virtual_address(0, |register, _, _| value(register, registers));
        let is_canary =
            used.segment() == Register::FS && address == Some(registers.fs_base.wrapping_add(CANARY));
        if let Some(address) = address.filter(|_| !is_of_stack && !is_canary && length > 0) {
            accesses.push((MemoryPiece { address, length }, mode));
        }
    }
    let way = match insn.flow_control() {
        FlowControl::Call | FlowControl::IndirectCall => Way::Call,
        FlowControl::Return => Way::Return,
        _ => Way::On,
    };
    Some(Effect { end: insn.next_ip(), way, accesses })
}

pub(super) fn value(register: Register, values: &RegisterValues) -> Option<u64> {
    match register {
        Register::FS => return Some(values.fs_base),
        Register::ES | Register::CS | Register::SS | Register::DS | Register::GS => return Some(0),
        _ => {}
    }
    let full = register.full_register();
    if !full.is_gpr() {
        return None;
    }
    let value = values.general[full as usize - Register::RAX as usize];
    Some(if register.size() == 4 { value & 0xffff_ffff } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers() -> RegisterValues {
        let mut registers = RegisterValues { pc: 0x1000, fs_base: 0x7000, ..RegisterValues::default() };
        (registers.general[5], registers.general[0]) = (0x2000, 3);
        registers
    }

    fn accesses(bytes: &[u8]) -> Vec<(u64, u64, Mode)> {
        let effect = effect(bytes, &registers()).unwrap();
        effect.accesses.iter().map(|(piece, mode)| (piece.address, piece.length, *mode)).collect()
    }

    #[test]
    fn operands_are_computed_from_the_registers() {
        assert_eq!(accesses(&[0x8b, 0x45, 0xfc]), [(0x1ffc, 4, Mode::Read)]); // mov eax,[rbp-4]
        assert_eq!(accesses(&[0x89, 0x45, 0xf8]), [(0x1ff8, 4, Mode::Write)]); // mov [rbp-8],eax
        assert_eq!(accesses(&[0x83, 0x45, 0xfc, 0x01]), [(0x1ffc, 4, Mode::Update)]); // add [rbp-4],1
        assert_eq!(accesses(&[0x8b, 0x44, 0x85, 0xd0]), [(0x1fdc, 4, Mode::Read)]); // mov eax,[rbp+rax*4-48]
        assert_eq!(accesses(&[0x8b, 0x05, 0x00, 0x10, 0x00, 0x00]), [(0x2006, 4, Mode::Read)]); // rip
    }

    #[test]
    fn an_address_that_is_only_computed_is_no_access() {
        assert_eq!(accesses(&[0x48, 0x8d, 0x45, 0xfc]), []); // lea rax,[rbp-4]
    }

    #[test]
    fn what_a_push_leaves_on_the_stack_does_not_count_but_what_it_reads_does() {
        assert_eq!(accesses(&[0x55]), []); // push rbp
        assert_eq!(accesses(&[0xff, 0x75, 0xf8]), [(0x1ff8, 8, Mode::Read)]); // push [rbp-8]
    }

    #[test]
    fn the_canary_is_none_of_the_programs_variables_but_other_thread_local_memory_is() {
        assert_eq!(accesses(&[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0]), []);
        assert_eq!(accesses(&[0x64, 0x8b, 0x04, 0x25, 0xfc, 0xff, 0xff, 0xff]), [(0x6ffc, 4, Mode::Read)]);
    }

    #[test]
    fn calls_and_returns_are_told_from_other_instructions() {
        let way = |bytes: &[u8]| effect(bytes, &registers()).unwrap().way;
        assert_eq!(way(&[0xe8, 0, 0, 0, 0]), Way::Call);
        assert_eq!(way(&[0xe9, 0, 0, 0, 0]), Way::On);
        assert_eq!(way(&[0xc3]), Way::Return);
        assert_eq!(effect(&[0x06], &registers()), None);
    }
}
