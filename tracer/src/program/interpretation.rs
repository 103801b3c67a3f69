//! Compute what an instruction does to general registers, flags and memory, without the processor: that of integer code
//! which moves, adds, compares, shifts, jumps, calls and returns. Everything else is left to the processor.
//!
//! Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. What it calls undefined of the flags
//! is [`undefined_flags`].

use iced_x86::{Code, ConditionCode, Instruction, Mnemonic, OpKind, Register};

use super::accesses::value;
use super::variables::RegisterValues;

const CARRY: u64 = 1;
const PARITY: u64 = 1 << 2;
const ADJUST: u64 = 1 << 4;
const ZERO: u64 = 1 << 6;
const SIGN: u64 = 1 << 7;
const OVERFLOW: u64 = 1 << 11;
const STATUS: u64 = CARRY | PARITY | ADJUST | ZERO | SIGN | OVERFLOW;
const RAX: usize = 0;
const RDX: usize = 2;
const RSP: usize = 4;
const RBP: usize = 5;
const WORD: usize = 8;

/// The state of the machine before or after an instruction, without memory: registers and flags.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MachineState {
    pub(crate) registers: RegisterValues,
    pub(crate) flags: u64,
}

/// The memory that instructions use.
pub(crate) trait Storage {
    /// At most 8 bytes, the first one lowest; `None` where the processor has to find out what happens.
    fn load(&mut self, address: u64, length: usize) -> Option<u64>;

    /// Stores the lowest bytes of a value; `None`, and nothing is stored, where the processor has to find out.
    fn store(&mut self, address: u64, length: usize, value: u64) -> Option<()>;
}

/// The state after an instruction; `None`, and nothing has happened, if only the processor knows.
pub(super) fn interpret(
    insn: &Instruction,
    state: &MachineState,
    memory: &mut dyn Storage,
) -> Option<MachineState> {
    if insn.has_lock_prefix() {
        return None;
    }
    let mut next = *state;
    next.registers.pc = insn.next_ip();
    Step { insn, before: state, next, memory }.run()
}

/// The flags that have no defined value after an instruction.
pub(super) fn undefined_flags(insn: &Instruction) -> u64 {
    use iced_x86::RflagsBits;
    let all = [
        (RflagsBits::CF, CARRY),
        (RflagsBits::PF, PARITY),
        (RflagsBits::AF, ADJUST),
        (RflagsBits::ZF, ZERO),
        (RflagsBits::SF, SIGN),
        (RflagsBits::OF, OVERFLOW),
    ];
    let undefined = insn.rflags_undefined();
    all.into_iter().filter(|(bit, _)| undefined & bit != 0).fold(0, |flags, (_, flag)| flags | flag)
}

/// An instruction that is being interpreted. What it stores comes last, so that nothing has happened if it cannot.
struct Step<'s> {
    insn: &'s Instruction,
    before: &'s MachineState,
    next: MachineState,
    memory: &'s mut dyn Storage,
}

impl Step<'_> {
    fn run(mut self) -> Option<MachineState> {
        use Mnemonic::*;
        match self.insn.mnemonic() {
            Nop | Endbr64 => {}
            Mov | Movzx => {
                let value = self.read(1)?;
                self.write(value)?;
            }
            Movsx | Movsxd => {
                let value = extended(self.read(1)?, self.size(1)) as u64;
                self.write(value)?;
            }
            Lea => {
                let address = self.address()?;
                self.write(address)?;
            }
            Add | Adc | Sub | Sbb | Cmp | And | Or | Xor | Test => self.binary()?,
            Inc | Dec | Neg | Not => self.unary()?,
            Shl | Sal | Shr | Sar => self.shift()?,
            Imul if self.insn.op_count() > 1 => self.multiply()?,
            Cdqe | Cwde | Cdq | Cqo => self.extend(),
            Push | Pop | Leave | Call | Ret => self.stack()?,
            Jmp => self.next.registers.pc = self.target()?,
            Xchg => self.exchange()?,
            _ => self.conditional()?,
        }
        Some(self.next)
    }

    /// The number of bytes of an operand.
    fn size(&self, number: u32) -> usize {
        match self.insn.op_kind(number) {
            OpKind::Register => self.insn.op_register(number).size(),
            OpKind::Memory => self.insn.memory_size().size(),
            _ if number == 0 => WORD,
            _ => self.size(0),
        }
    }

    fn address(&self) -> Option<u64> {
        let registers = &self.before.registers;
        // The base of GS is not known.
        let is_known = self.insn.memory_segment() != Register::GS;
        let address = self
            .insn
            .virtual_address(memory_operand(self.insn)?, 0, |register, _, _| value(register, registers));
        address.filter(|_| is_known)
    }

    fn register(&self, register: Register) -> Option<u64> {
        let (number, shift) = place(register)?;
        Some(self.before.registers.general[number] >> shift & mask(register.size()))
    }

    /// The value of an operand, without a sign.
    fn read(&mut self, number: u32) -> Option<u64> {
        match self.insn.op_kind(number) {
            OpKind::Register => self.register(self.insn.op_register(number)),
            OpKind::Memory => {
                let (address, size) = (self.address()?, self.size(number));
                (1..=WORD).contains(&size).then(|| self.memory.load(address, size))?
            }
            OpKind::NearBranch64 => Some(self.insn.near_branch64()),
            OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64 => Some(self.insn.immediate(number) & mask(self.size(0))),
            _ => None,
        }
    }

    fn set(&mut self, register: Register, value: u64) -> Option<()> {
        let (number, shift) = place(register)?;
        let whole = &mut self.next.registers.general[number];
        *whole = match register.size() {
            WORD => value,
            4 => value & mask(4),
            size => *whole & !(mask(size) << shift) | (value & mask(size)) << shift,
        };
        Some(())
    }

    /// Gives the first operand a value.
    fn write(&mut self, value: u64) -> Option<()> {
        match self.insn.op_kind(0) {
            OpKind::Register => self.set(self.insn.op_register(0), value),
            OpKind::Memory => {
                let (address, size) = (self.address()?, self.size(0));
                (1..=WORD).contains(&size).then(|| self.memory.store(address, size, value & mask(size)))?
            }
            _ => None,
        }
    }

    /// Sets the flags in `which`; those that follow from a result are computed.
    fn flag(&mut self, which: u64, flags: u64) {
        self.next.flags = self.next.flags & !which | flags & which;
    }

    fn binary(&mut self) -> Option<()> {
        use Mnemonic::*;
        let size = self.size(0);
        let (a, b) = (self.read(0)?, self.read(1)?);
        let carry = self.before.flags & CARRY;
        let (result, flags) = match self.insn.mnemonic() {
            Add => sum(a, b, 0, size),
            Adc => sum(a, b, carry, size),
            Sub | Cmp => difference(a, b, 0, size),
            Sbb => difference(a, b, carry, size),
            And | Test => (a & b, of_result(a & b, size)),
            Or => (a | b, of_result(a | b, size)),
            _ => (a ^ b, of_result(a ^ b, size)),
        };
        self.flag(STATUS, flags);
        if matches!(self.insn.mnemonic(), Cmp | Test) { Some(()) } else { self.write(result) }
    }

    fn unary(&mut self) -> Option<()> {
        let size = self.size(0);
        let a = self.read(0)?;
        let (result, flags, which) = match self.insn.mnemonic() {
            Mnemonic::Inc => with(sum(a, 1, 0, size), STATUS & !CARRY),
            Mnemonic::Dec => with(difference(a, 1, 0, size), STATUS & !CARRY),
            Mnemonic::Neg => with(difference(0, a, 0, size), STATUS),
            _ => (!a & mask(size), 0, 0),
        };
        self.flag(which, flags);
        self.write(result)
    }

    fn shift(&mut self) -> Option<()> {
        let size = self.size(0);
        let bits = 8 * size as u32;
        let count = match self.insn.op_count() {
            1 => 1,
            _ => self.read(1)? as u32 & if size == WORD { 63 } else { 31 },
        };
        // Nothing is shifted, or more than there is.
        if count == 0 || count >= bits {
            return None;
        }
        let a = self.read(0)?;
        let top = |value: u64| value >> (bits - 1) & 1;
        let (result, carry, overflow) = match self.insn.mnemonic() {
            Mnemonic::Shr => (a >> count, a >> (count - 1) & 1, top(a)),
            Mnemonic::Sar => ((extended(a, size) >> count) as u64 & mask(size), a >> (count - 1) & 1, 0),
            _ => {
                let (result, carry) = (a << count & mask(size), a >> (bits - count) & 1);
                (result, carry, top(result) ^ carry)
            }
        };
        let overflow = if overflow == 1 { OVERFLOW } else { 0 };
        self.flag(STATUS, of_result(result, size) | carry | overflow);
        self.write(result)
    }

    fn multiply(&mut self) -> Option<()> {
        let size = self.size(0);
        let factors = if self.insn.op_count() == 3 { (1, 2) } else { (0, 1) };
        let (a, b) = (self.read(factors.0)?, self.read(factors.1)?);
        let product = i128::from(extended(a, size)) * i128::from(extended(b, size));
        let result = product as u64 & mask(size);
        let is_cut = product != i128::from(extended(result, size));
        let cut = if is_cut { CARRY | OVERFLOW } else { 0 };
        self.flag(STATUS, of_result(result, size) | cut);
        self.write(result)
    }

    /// Makes a value of twice the size of what is in rax.
    fn extend(&mut self) {
        let general = &mut self.next.registers.general;
        let rax = general[RAX];
        match self.insn.mnemonic() {
            Mnemonic::Cdqe => general[RAX] = extended(rax & mask(4), 4) as u64,
            Mnemonic::Cwde => general[RAX] = extended(rax & mask(2), 2) as u64 & mask(4),
            Mnemonic::Cdq => general[RDX] = (extended(rax & mask(4), 4) >> 63) as u64 & mask(4),
            _ => general[RDX] = (rax as i64 >> 63) as u64,
        }
    }

    fn stack(&mut self) -> Option<()> {
        let sp = self.before.registers.sp();
        match self.insn.mnemonic() {
            Mnemonic::Push if self.insn.stack_pointer_increment() == -(WORD as i32) => {
                let value = match self.insn.op_kind(0) {
                    OpKind::Register | OpKind::Memory => self.read(0)?,
                    _ => self.insn.immediate(0),
                };
                self.push(value)
            }
            Mnemonic::Pop if self.insn.op_kind(0) == OpKind::Register && self.size(0) == WORD => {
                let value = self.memory.load(sp, WORD)?;
                self.next.registers.general[RSP] = sp.wrapping_add(WORD as u64);
                self.write(value)
            }
            Mnemonic::Leave if self.insn.code() == Code::Leaveq => {
                let frame = self.before.registers.general[RBP];
                self.next.registers.general[RBP] = self.memory.load(frame, WORD)?;
                self.next.registers.general[RSP] = frame.wrapping_add(WORD as u64);
                Some(())
            }
            Mnemonic::Call => {
                self.next.registers.pc = self.target()?;
                self.push(self.insn.next_ip())
            }
            Mnemonic::Ret if matches!(self.insn.code(), Code::Retnq | Code::Retnq_imm16) => {
                let more = if self.insn.op_count() == 1 { self.insn.immediate(0) } else { 0 };
                self.next.registers.pc = self.memory.load(sp, WORD)?;
                self.next.registers.general[RSP] = sp.wrapping_add(WORD as u64 + more);
                Some(())
            }
            _ => None,
        }
    }

    fn push(&mut self, value: u64) -> Option<()> {
        let sp = self.before.registers.sp().wrapping_sub(WORD as u64);
        self.next.registers.general[RSP] = sp;
        self.memory.store(sp, WORD, value)
    }

    /// The target address of a jump or a call.
    fn target(&mut self) -> Option<u64> {
        let is_near = matches!(
            self.insn.code(),
            Code::Call_rel32_64 | Code::Jmp_rel8_64 | Code::Jmp_rel32_64 | Code::Call_rm64 | Code::Jmp_rm64
        );
        is_near.then(|| self.read(0))?
    }

    fn exchange(&mut self) -> Option<()> {
        // With memory it is for several threads.
        if self.insn.op0_kind() != OpKind::Register || self.insn.op1_kind() != OpKind::Register {
            return None;
        }
        let (a, b) = (self.read(0)?, self.read(1)?);
        self.set(self.insn.op0_register(), b)?;
        self.set(self.insn.op1_register(), a)
    }

    /// A jump, a move or a truth value that depends on flags.
    fn conditional(&mut self) -> Option<()> {
        let holds = holds(self.insn.condition_code(), self.before.flags)?;
        if self.insn.is_jcc_short_or_near() {
            if holds {
                self.next.registers.pc = self.insn.near_branch_target();
            }
            return Some(());
        }
        match (self.insn.op_count(), self.size(0)) {
            (1, 1) if self.insn.op_kind(0) != OpKind::NearBranch64 => self.write(u64::from(holds)),
            (2, 2 | 4 | WORD) if self.insn.op_kind(0) == OpKind::Register && is_move(self.insn) => {
                let (old, new) = (self.read(0)?, self.read(1)?);
                self.write(if holds { new } else { old })
            }
            _ => None,
        }
    }
}

/// Whether it moves if a condition holds: others have one, too.
fn is_move(insn: &Instruction) -> bool {
    use Mnemonic::*;
    matches!(
        insn.mnemonic(),
        Cmova
            | Cmovae
            | Cmovb
            | Cmovbe
            | Cmove
            | Cmovg
            | Cmovge
            | Cmovl
            | Cmovle
            | Cmovne
            | Cmovno
            | Cmovnp
            | Cmovns
            | Cmovo
            | Cmovp
            | Cmovs
    )
}

fn memory_operand(insn: &Instruction) -> Option<u32> {
    (0..insn.op_count()).find(|&number| insn.op_kind(number) == OpKind::Memory)
}

/// The number of a general register, and at which bit of it this one begins.
fn place(register: Register) -> Option<(usize, u32)> {
    let full = register.full_register();
    let shift = match register {
        Register::AH | Register::CH | Register::DH | Register::BH => 8,
        _ => 0,
    };
    full.is_gpr().then(|| (full as usize - Register::RAX as usize, shift))
}

fn mask(size: usize) -> u64 {
    if size >= WORD { u64::MAX } else { (1 << (8 * size)) - 1 }
}

/// A value of so many bytes with its sign.
fn extended(value: u64, size: usize) -> i64 {
    let unused = 64 - 8 * size.clamp(1, WORD) as u32;
    ((value << unused) as i64) >> unused
}

fn with<A, B, C>((one, two): (A, B), three: C) -> (A, B, C) {
    (one, two, three)
}

/// The flags that follow from a result alone.
fn of_result(result: u64, size: usize) -> u64 {
    let parity = if (result as u8).count_ones().is_multiple_of(2) { PARITY } else { 0 };
    let zero = if result & mask(size) == 0 { ZERO } else { 0 };
    let sign = if extended(result, size) < 0 { SIGN } else { 0 };
    parity | zero | sign
}

fn sum(a: u64, b: u64, carry: u64, size: usize) -> (u64, u64) {
    let result = a.wrapping_add(b).wrapping_add(carry) & mask(size);
    let whole = u128::from(a) + u128::from(b) + u128::from(carry);
    let out = if whole > u128::from(mask(size)) { CARRY } else { 0 };
    let over = if extended((a ^ result) & (b ^ result), size) < 0 { OVERFLOW } else { 0 };
    (result, of_result(result, size) | out | over | (a ^ b ^ result) & ADJUST)
}

fn difference(a: u64, b: u64, borrow: u64, size: usize) -> (u64, u64) {
    let result = a.wrapping_sub(b).wrapping_sub(borrow) & mask(size);
    let out = if u128::from(b) + u128::from(borrow) > u128::from(a) { CARRY } else { 0 };
    let over = if extended((a ^ b) & (a ^ result), size) < 0 { OVERFLOW } else { 0 };
    (result, of_result(result, size) | out | over | (a ^ b ^ result) & ADJUST)
}

/// Whether a condition holds; `None` if it is none.
fn holds(condition: ConditionCode, flags: u64) -> Option<bool> {
    let is = |flag: u64| flags & flag != 0;
    let is_less = is(SIGN) != is(OVERFLOW);
    Some(match condition {
        ConditionCode::None => return None,
        ConditionCode::o => is(OVERFLOW),
        ConditionCode::no => !is(OVERFLOW),
        ConditionCode::b => is(CARRY),
        ConditionCode::ae => !is(CARRY),
        ConditionCode::e => is(ZERO),
        ConditionCode::ne => !is(ZERO),
        ConditionCode::be => is(CARRY) || is(ZERO),
        ConditionCode::a => !is(CARRY) && !is(ZERO),
        ConditionCode::s => is(SIGN),
        ConditionCode::ns => !is(SIGN),
        ConditionCode::p => is(PARITY),
        ConditionCode::np => !is(PARITY),
        ConditionCode::l => is_less,
        ConditionCode::ge => !is_less,
        ConditionCode::le => is_less || is(ZERO),
        ConditionCode::g => !is_less && !is(ZERO),
    })
}
