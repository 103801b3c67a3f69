//! The origin of the pointer through which an instruction uses memory: the address from which it was read.
//!
//! The straight line of code before the instruction is followed with the values that its registers have,
//! as far as they can be told from the frame and from memory. Where control may come from elsewhere, or has
//! come back from a call, nothing is known any more but the frame: a guess would name the wrong variable.

use std::collections::HashSet;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register,
};

use super::variables::{Memory, RegisterValues};

/// The known state of a register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Known {
    value: Option<u64>,
    /// The address of the pointer that it holds, or from which its value was computed.
    origin: Option<u64>,
}

/// The pointers that lead to the memory that an instruction uses, by the addresses at which they lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointers {
    /// The last pointer.
    pub(crate) last: u64,
    /// All pointers that were read on the way.
    pub(crate) read: Vec<u64>,
}

/// The pointers through which the instruction at `registers.pc` uses memory; `None` if that cannot be told. `text` is
/// the code of the function from `start` on, `line` the address from which on the straight line to the instruction is
/// followed.
pub(crate) fn pointers(
    (start, text): (u64, &[u8]),
    line: u64,
    registers: &RegisterValues,
    memory: &dyn Memory,
) -> Option<Pointers> {
    let code: Vec<Instruction> =
        Decoder::with_ip(64, text, start, DecoderOptions::NONE).into_iter().collect();
    let targets: HashSet<u64> =
        code.iter().map(Instruction::near_branch_target).filter(|&target| target != 0).collect();
    let at = code.binary_search_by_key(&registers.pc, Instruction::ip).ok()?;
    let from = code[..at].partition_point(|instruction| instruction.ip() < line);
    let mut follower = Follower { known: Default::default(), memory, read: Vec::new() };
    follower.forget(registers);
    for instruction in &code[from..at] {
        if targets.contains(&instruction.ip()) {
            follower.forget(registers);
        }
        follower.follow(instruction, registers);
    }
    if targets.contains(&registers.pc) {
        follower.forget(registers);
    }
    let last = follower.origin_of_operand(&code[at])?;
    Some(Pointers { last, read: follower.read })
}

struct Follower<'m> {
    /// The state of each general register, by the number of the machine's encoding.
    known: [Known; 16],
    memory: &'m dyn Memory,
    /// The addresses of the pointers that were read.
    read: Vec<u64>,
}

impl Follower<'_> {
    /// Forgets all registers; only the frame stays known.
    fn forget(&mut self, registers: &RegisterValues) {
        const FRAME: usize = 5;
        self.known = Default::default();
        self.known[FRAME].value = Some(registers.general[FRAME]);
    }

    fn get(&self, register: Register) -> Known {
        number(register).map_or_else(Known::default, |number| self.known[number])
    }

    /// The value of a register as an operand, whatever its width.
    fn value(&self, register: Register) -> Option<u64> {
        let value = self.get(register).value?;
        Some(if register.size() == 4 { value & 0xffff_ffff } else { value })
    }

    fn follow(&mut self, instruction: &Instruction, registers: &RegisterValues) {
        if instruction.flow_control() != FlowControl::Next {
            self.forget(registers);
            return;
        }
        let result = self.result(instruction);
        for used in InstructionInfoFactory::new().info(instruction).used_registers() {
            let is_written = !matches!(used.access(), OpAccess::Read | OpAccess::CondRead | OpAccess::None);
            if let Some(number) = number(used.register()).filter(|_| is_written) {
                self.known[number] = Known::default();
            }
        }
        let target = match instruction.mnemonic() {
            Mnemonic::Cdqe => Register::RAX,
            _ => instruction.op0_register(),
        };
        self.read.extend(result.and_then(|result| result.origin));
        if let Some((number, result)) = number(target).zip(result).filter(|_| target.size() >= 4) {
            let cut = |value: u64| if target.size() == 4 { value & 0xffff_ffff } else { value };
            self.known[number] = Known { value: result.value.map(cut), ..result };
        }
    }

    /// The state of a register after an instruction whose first operand it is.
    fn result(&self, instruction: &Instruction) -> Option<Known> {
        let of = |value| Some(Known { value, origin: None });
        match instruction.mnemonic() {
            Mnemonic::Mov | Mnemonic::Movzx => self.source(instruction),
            Mnemonic::Movsxd | Mnemonic::Movsx => {
                let unused = 64 - 8 * self.width(instruction, 1) as u32;
                let value = self.source(instruction)?.value;
                of(value.map(|value| ((value << unused) as i64 >> unused) as u64))
            }
            Mnemonic::Cdqe => {
                let value = self.get(Register::RAX).value;
                of(value.map(|value| value as i32 as u64))
            }
            Mnemonic::Lea => {
                Some(Known { value: self.address(instruction), origin: self.origin_of_operand(instruction) })
            }
            Mnemonic::Add | Mnemonic::Sub => {
                let (one, other) = (self.get(instruction.op0_register()), self.source(instruction)?);
                let is_sum = instruction.mnemonic() == Mnemonic::Add;
                let compute = if is_sum { u64::wrapping_add } else { u64::wrapping_sub };
                let value = one.value.zip(other.value).map(|(one, other)| compute(one, other));
                Some(Known { value, origin: either(one.origin, other.origin) })
            }
            Mnemonic::Shl if instruction.op1_kind() == OpKind::Immediate8 => {
                let by = u32::from(instruction.immediate8());
                of(self.value(instruction.op0_register()).and_then(|value| value.checked_shl(by)))
            }
            Mnemonic::Xor if instruction.op0_register() == instruction.op1_register() => of(Some(0)),
            _ => None,
        }
    }

    /// The state of the second operand.
    fn source(&self, instruction: &Instruction) -> Option<Known> {
        match instruction.op1_kind() {
            OpKind::Register => {
                let register = instruction.op1_register();
                let Known { value, origin } = self.get(register);
                let cut = |value: u64| match register.size() {
                    8 => Some(value),
                    4 => Some(value & 0xffff_ffff),
                    _ => None,
                };
                Some(Known { value: value.and_then(cut), origin: origin.filter(|_| register.size() == 8) })
            }
            OpKind::Memory => {
                let width = self.width(instruction, 1);
                let address = self.address(instruction);
                let bytes = address.and_then(|address| self.memory.read(address, width.min(8)));
                let word =
                    |bytes: Vec<u8>| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
                Some(Known { value: bytes.map(word), origin: address.filter(|_| width == 8) })
            }
            _ => instruction.try_immediate(1).ok().map(|value| Known { value: Some(value), origin: None }),
        }
    }

    /// The width of an operand in bytes.
    fn width(&self, instruction: &Instruction, operand: u32) -> usize {
        match instruction.op_kind(operand) {
            OpKind::Register => instruction.op_register(operand).size(),
            OpKind::Memory => instruction.memory_size().size(),
            _ => 8,
        }
    }

    /// The address of the memory operand, if all of it is known.
    fn address(&self, instruction: &Instruction) -> Option<u64> {
        instruction.virtual_address(memory_operand(instruction)?, 0, |register, _, _| match register {
            Register::ES | Register::CS | Register::SS | Register::DS => Some(0),
            register => self.value(register),
        })
    }

    /// The address of the pointer from which the address of the memory operand is computed.
    fn origin_of_operand(&self, instruction: &Instruction) -> Option<u64> {
        memory_operand(instruction)?;
        let origin = |register: Register| self.get(register).origin.filter(|_| register.size() == 8);
        let index = origin(instruction.memory_index()).filter(|_| instruction.memory_index_scale() == 1);
        either(origin(instruction.memory_base()), index)
    }
}

/// The only one of two origins; `None` if there are both.
fn either(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.xor(other)
}

fn memory_operand(instruction: &Instruction) -> Option<u32> {
    (0..instruction.op_count()).find(|&operand| instruction.op_kind(operand) == OpKind::Memory)
}

/// The number of a general register.
fn number(register: Register) -> Option<usize> {
    let full = register.full_register();
    full.is_gpr().then(|| full as usize - Register::RAX as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of memory from 0x1000 on.
    struct Words(Vec<u64>);

    impl Memory for Words {
        fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
            let bytes: Vec<u8> = self.0.iter().flat_map(|word| word.to_le_bytes()).collect();
            let start = usize::try_from(address.checked_sub(0x1000)?).ok()?;
            bytes.get(start..start.checked_add(length)?).map(<[u8]>::to_vec)
        }
    }

    /// The pointers of the last of these instructions, with the frame at 0x1020.
    fn pointers_of(code: &[&[u8]], words: &[u64]) -> Option<Pointers> {
        let text = code.concat();
        let mut registers = RegisterValues::default();
        registers.general[5] = 0x1020;
        registers.pc = 0x400 + (text.len() - code[code.len() - 1].len()) as u64;
        pointers((0x400, &text), 0x400, &registers, &Words(words.to_vec()))
    }

    const LOAD_P: &[u8] = &[0x48, 0x8b, 0x45, 0xf8]; // mov rax,[rbp-8]
    const LOAD_NEXT: &[u8] = &[0x48, 0x8b, 0x40, 0x08]; // mov rax,[rax+8]
    const USE: &[u8] = &[0x8b, 0x00]; // mov eax,[rax]

    #[test]
    fn the_pointer_is_found_where_it_was_read_and_the_one_before_it_too() {
        let words = [0, 0x7000, 0, 0x1000];
        let found = pointers_of(&[LOAD_P, USE], &words);
        assert_eq!(found, Some(Pointers { last: 0x1018, read: vec![0x1018] }));
        let found = pointers_of(&[LOAD_P, LOAD_NEXT, USE], &words);
        assert_eq!(found, Some(Pointers { last: 0x1008, read: vec![0x1018, 0x1008] }));
    }

    #[test]
    fn an_index_that_is_added_does_not_hide_the_pointer() {
        let index: &[u8] = &[0x48, 0x63, 0x55, 0xf0]; // movsxd rdx,dword [rbp-16]
        let scale: &[u8] = &[0x48, 0xc1, 0xe2, 0x03]; // shl rdx,3
        let sum: &[u8] = &[0x48, 0x01, 0xd0]; // add rax,rdx
        let load: &[u8] = &[0x48, 0x8b, 0x00]; // mov rax,[rax]
        let found = pointers_of(&[LOAD_P, index, scale, sum, load, USE], &[0, 0, 1, 0x1000]);
        assert_eq!(found.map(|found| found.last), Some(0x1008));
    }

    #[test]
    fn nothing_is_known_behind_a_call_and_where_ways_meet() {
        let call: &[u8] = &[0xe8, 0, 0, 0, 0];
        assert_eq!(pointers_of(&[LOAD_P, call, USE], &[0; 4]), None);
        // jz to the use, which two ways lead to
        assert_eq!(pointers_of(&[&[0x74, 0x04], LOAD_P, USE], &[0; 4]), None);
    }
}
