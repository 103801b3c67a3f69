//! The memory, registers and flags that an instruction reads and writes. Decoded once, it is asked each time that it is
//! executed.
//!
//! Unlike [`super::accesses`], which names what a statement does to the program's variables, this is about each
//! byte: what goes by the stack counts too. Source of the use of each instruction: iced-x86.

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register, UsedMemory,
};

use super::accesses::{CANARY, Mode, value};
use super::interpretation::{MachineState, Storage, interpret, undefined_flags};
use super::registers::clears;
use super::variables::{MemoryPiece, RegisterValues};

/// A set of registers by number; see [`ALL_REGISTERS`].
pub(crate) type RegisterBits = u64;

/// The number of registers that are told apart: general registers by the machine's numbers, but the stack pointer; then
/// the vector registers, those of the x87 and of MMX as one each, the mask registers and the flags.
pub(crate) const ALL_REGISTERS: u32 = 60;
const VECTORS: u32 = 16;
const X87: u32 = 48;
const MMX: u32 = 49;
const MASKS: u32 = 50;
const FLAGS: u32 = 58;
/// The number of the frame pointer.
pub(crate) const RBP: u32 = 5;
/// The numbers of the registers in which functions return integers, and floating-point numbers.
pub(crate) const RAX: u32 = 0;

/// The role of an instruction: what is particular about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InsnRole {
    /// It computes.
    Plain,
    /// It stores this register as it is.
    Store(u32),
    /// It pushes this register onto the stack, to be taken back or read.
    Push(u32),
    /// It pops this register from the stack.
    Pop(u32),
    /// It begins a frame: the frame pointer is the stack pointer.
    Frame,
    /// It calls a function.
    Call,
    /// It returns from one.
    Return,
    /// It makes a system call.
    SystemCall,
    /// It raises a signal: a breakpoint of the program's own.
    Trap,
}

/// A decoded instruction.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) role: InsnRole,
    pub(crate) reads: RegisterBits,
    pub(crate) writes: RegisterBits,
    operands: Vec<Operand>,
    /// Whether it is a string operation that is repeated as often as a register says.
    repeats: bool,
    insn: Instruction,
}

#[derive(Clone, Debug)]
struct Operand {
    memory: UsedMemory,
    mode: Mode,
    length: u64,
    /// Whether it always means the same variable of a function.
    is_fixed: bool,
}

/// A piece of memory that an instruction is about to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) piece: MemoryPiece,
    pub(crate) mode: Mode,
    /// Whether it means the same variable of a function each time.
    pub(crate) is_fixed: bool,
}

/// The length of the longest instruction, in bytes.
pub(crate) const LONGEST: usize = 15;

impl Operation {
    /// Decodes the instruction with these bytes, which lies at `pc`; `None` if it is none.
    pub(crate) fn decode(bytes: &[u8], pc: u64) -> Option<Operation> {
        let insn = Decoder::with_ip(64, bytes, pc, DecoderOptions::NONE).decode();
        if insn.is_invalid() {
            return None;
        }
        let mut factory = InstructionInfoFactory::new();
        let info = factory.info(&insn);
        let role = role(&insn);
        let (mut reads, mut writes) = (0, 0);
        for used in info.used_registers() {
            let bit = bits(used.register());
            let access = used.access();
            let is_none = matches!(access, OpAccess::None | OpAccess::NoMemAccess);
            reads |= if is_none || access == OpAccess::Write { 0 } else { bit };
            writes |= if is_none || matches!(access, OpAccess::Read | OpAccess::CondRead) { 0 } else { bit };
        }
        reads |= if insn.rflags_read() != 0 { 1 << FLAGS } else { 0 };
        writes |= if insn.rflags_modified() != 0 { 1 << FLAGS } else { 0 };
        let (read, written) = x87(bytes, &insn);
        reads |= read;
        writes |= written;
        if clears(&insn) {
            reads = 0;
        }
        if keeps_registers(&insn) {
            (reads, writes) = (0, 0);
        }
        let operands = match keeps_registers(&insn) {
            true => Vec::new(),
            false => info.used_memory().iter().filter_map(|used| operand(&insn, used)).collect(),
        };
        let repeats = insn.is_string_instruction() && (insn.has_rep_prefix() || insn.has_repne_prefix());
        Some(Operation { role, reads, writes, operands, repeats, insn })
    }

    /// The number of its form, whatever its operands hold: instructions of one form differ in numbers and registers
    /// only.
    pub(crate) fn form(&self) -> u32 {
        self.insn.code() as u32
    }

    /// The flags that have no defined value after it.
    pub(crate) fn undefined_flags(&self) -> u64 {
        undefined_flags(&self.insn)
    }

    /// The state after it; `None`, and nothing has happened, if only the processor knows.
    pub(crate) fn interpret(&self, state: &MachineState, memory: &mut dyn Storage) -> Option<MachineState> {
        interpret(&self.insn, state, memory)
    }

    /// The memory that it is about to use.
    pub(crate) fn accesses<'o>(&'o self, registers: &'o RegisterValues) -> impl Iterator<Item = Access> + 'o {
        const RCX: usize = 1;
        let is_done = self.repeats && registers.general[RCX] == 0;
        let operands = self.operands.iter().filter(move |_| !is_done);
        operands.filter_map(|operand| {
            let address = operand.memory.virtual_address(0, |register, _, _| value(register, registers))?;
            let is_canary =
                operand.memory.segment() == Register::FS && address == registers.fs_base.wrapping_add(CANARY);
            let piece = MemoryPiece { address, length: operand.length };
            (!is_canary).then_some(Access { piece, mode: operand.mode, is_fixed: operand.is_fixed })
        })
    }
}

fn operand(insn: &Instruction, used: &UsedMemory) -> Option<Operand> {
    let mode = match used.access() {
        OpAccess::Read | OpAccess::CondRead => Mode::Read,
        OpAccess::Write | OpAccess::CondWrite => Mode::Write,
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => Mode::Update,
        OpAccess::None | OpAccess::NoMemAccess => return None,
    };
    // One round of a repeated operation: so it is executed step by step.
    let size = if insn.is_string_instruction() { insn.memory_size() } else { used.memory_size() };
    let length = size.size() as u64;
    // A return address is no value of the program's.
    let is_link = insn.is_stack_instruction()
        && used.base() == Register::RSP
        && matches!(insn.flow_control(), FlowControl::Return | FlowControl::Call | FlowControl::IndirectCall)
        && mode != Mode::Update
        && (mode == Mode::Write || insn.flow_control() == FlowControl::Return);
    let is_fixed = used.index() == Register::None
        && matches!(used.base(), Register::RBP | Register::RSP | Register::None | Register::RIP);
    (length > 0 && !is_link).then_some(Operand { memory: *used, mode, length, is_fixed })
}

fn role(insn: &Instruction) -> InsnRole {
    let is_register = |number: u32| insn.op_kind(number) == OpKind::Register;
    let number = |register: Register| {
        let bit = bits(register);
        (bit != 0).then(|| bit.trailing_zeros())
    };
    let only = |make: fn(u32) -> InsnRole, register| number(register).map_or(InsnRole::Plain, make);
    match insn.mnemonic() {
        Mnemonic::Syscall => InsnRole::SystemCall,
        Mnemonic::Int3 | Mnemonic::Int1 => InsnRole::Trap,
        Mnemonic::Push if is_register(0) => only(InsnRole::Push, insn.op0_register()),
        Mnemonic::Pop if is_register(0) => only(InsnRole::Pop, insn.op0_register()),
        Mnemonic::Leave => InsnRole::Pop(RBP),
        Mnemonic::Mov if is_register(0) && insn.op0_register() == Register::RBP && reads_sp(insn) => {
            InsnRole::Frame
        }
        Mnemonic::Lea if insn.op0_register() == Register::RBP && insn.memory_base() == Register::RSP => {
            InsnRole::Frame
        }
        Mnemonic::Mov
        | Mnemonic::Movss
        | Mnemonic::Movsd
        | Mnemonic::Movaps
        | Mnemonic::Movups
        | Mnemonic::Movapd
        | Mnemonic::Movdqa
        | Mnemonic::Movdqu
        | Mnemonic::Vmovaps
        | Mnemonic::Vmovups
        | Mnemonic::Vmovdqa
        | Mnemonic::Vmovdqu
            if insn.op_count() == 2 && insn.op0_kind() == OpKind::Memory && is_register(1) =>
        {
            only(InsnRole::Store, insn.op1_register())
        }
        _ => match insn.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall => InsnRole::Call,
            FlowControl::Return => InsnRole::Return,
            _ => InsnRole::Plain,
        },
    }
}

fn reads_sp(insn: &Instruction) -> bool {
    insn.op1_kind() == OpKind::Register && insn.op1_register() == Register::RSP
}

/// Whether it saves or restores whole sets of registers, or only marks parts of them as unused: no value of the
/// program's comes of that.
fn keeps_registers(insn: &Instruction) -> bool {
    use Mnemonic::*;
    matches!(
        insn.mnemonic(),
        Vzeroupper
            | Vzeroall
            | Xsave
            | Xsave64
            | Xsavec
            | Xsavec64
            | Xsaveopt
            | Xsaveopt64
            | Xrstor
            | Xrstor64
            | Fxsave
            | Fxsave64
            | Fxrstor
            | Fxrstor64
            | Nop
            | Endbr64
    )
}

/// The use of the x87 registers, which iced-x86 does not tell of all instructions: they count as one.
fn x87(bytes: &[u8], insn: &Instruction) -> (RegisterBits, RegisterBits) {
    use Mnemonic::*;
    let is_prefix = |byte: &&u8| matches!(**byte, 0x66 | 0xf2 | 0xf3 | 0x40..=0x4f | 0x64 | 0x65);
    if !bytes.iter().find(|byte| !is_prefix(byte)).is_some_and(|opcode| (0xd8..=0xdf).contains(opcode)) {
        return (0, 0);
    }
    match insn.mnemonic() {
        Fldcw | Fnstcw | Fstcw | Fldenv | Fnstenv | Fstenv => (0, 0),
        Fld | Fild | Fbld | Fld1 | Fldl2t | Fldl2e | Fldpi | Fldlg2 | Fldln2 | Fldz
            if insn.op0_kind() == OpKind::Memory || insn.op_count() == 0 =>
        {
            (0, 1 << X87)
        }
        Fst | Fstp | Fist | Fistp | Fisttp | Fbstp => (1 << X87, 0),
        _ => (1 << X87, 1 << X87),
    }
}

fn bits(register: Register) -> RegisterBits {
    let full = register.full_register();
    let offset = |first: Register| full as u32 - first as u32;
    if full == Register::RSP {
        0
    } else if full.is_gpr() {
        1 << offset(Register::RAX)
    } else if full.is_vector_register() {
        1 << (VECTORS + offset(Register::ZMM0))
    } else if full.is_st() {
        1 << X87
    } else if full.is_mm() {
        1 << MMX
    } else if full.is_k() {
        1 << (MASKS + offset(Register::K0))
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(bytes: &[u8]) -> Operation {
        Operation::decode(bytes, 0x1000).expect("an instruction")
    }

    fn accesses(bytes: &[u8], general: &[(usize, u64)]) -> Vec<(u64, u64, Mode)> {
        let mut registers = RegisterValues { pc: 0x1000, fs_base: 0x7000, ..RegisterValues::default() };
        general.iter().for_each(|&(number, value)| registers.general[number] = value);
        let operation = operation(bytes);
        operation.accesses(&registers).map(|at| (at.piece.address, at.piece.length, at.mode)).collect()
    }

    #[test]
    fn what_goes_by_the_stack_is_an_access_but_for_return_addresses() {
        assert_eq!(accesses(&[0x50], &[(4, 0x2000)]), [(0x1ff8, 8, Mode::Write)]); // push rax
        assert_eq!(accesses(&[0x58], &[(4, 0x2000)]), [(0x2000, 8, Mode::Read)]); // pop rax
        let pushed = accesses(&[0xff, 0x74, 0x24, 0x08], &[(4, 0x2000)]); // push [rsp+8]
        assert!(pushed.contains(&(0x2008, 8, Mode::Read)) && pushed.contains(&(0x1ff8, 8, Mode::Write)));
        assert_eq!(accesses(&[0xc3], &[(4, 0x2000)]), []);
        assert_eq!(accesses(&[0xe8, 0, 0, 0, 0], &[(4, 0x2000)]), []);
        assert_eq!(accesses(&[0xff, 0x14, 0x24], &[(4, 0x2000)]), [(0x2000, 8, Mode::Read)]); // call [rsp]
    }

    #[test]
    fn a_string_operation_that_is_done_touches_nothing() {
        let copy = [0xf3, 0xa4]; // rep movsb
        assert_eq!(accesses(&copy, &[(1, 0), (6, 0x2000), (7, 0x3000)]), []);
        let touched = accesses(&copy, &[(1, 5), (6, 0x2000), (7, 0x3000)]);
        assert!(touched.contains(&(0x2000, 1, Mode::Read)) && touched.contains(&(0x3000, 1, Mode::Write)));
    }

    #[test]
    fn roles_are_told() {
        let role = |bytes: &[u8]| operation(bytes).role;
        assert_eq!(role(&[0x0f, 0x05]), InsnRole::SystemCall);
        assert_eq!(role(&[0x53]), InsnRole::Push(3));
        assert_eq!(role(&[0xc9]), InsnRole::Pop(RBP));
        assert_eq!(role(&[0x48, 0x89, 0xe5]), InsnRole::Frame); // mov rbp,rsp
        assert_eq!(role(&[0x89, 0x7d, 0xec]), InsnRole::Store(7)); // mov [rbp-20],edi
        assert_eq!(role(&[0x83, 0x45, 0xfc, 0x01]), InsnRole::Plain); // add [rbp-4],1
    }

    #[test]
    fn a_register_that_is_cleared_is_not_read() {
        let clear = operation(&[0x31, 0xc0]); // xor eax,eax
        assert_eq!((clear.reads, clear.writes & 1), (0, 1));
        let add = operation(&[0x01, 0xd8]); // add eax,ebx
        assert_eq!(add.reads & 0b1001, 0b1001);
        assert_eq!(operation(&[0xc5, 0xf8, 0x77]).writes, 0); // vzeroupper
        assert_eq!(operation(&[0x0f, 0x1f, 0x44, 0x00, 0x00]).operands.len(), 0);
    }

    #[test]
    fn the_x87_registers_count_as_one() {
        let use_of = |bytes: &[u8]| {
            let operation = operation(bytes);
            (operation.reads >> X87 & 1, operation.writes >> X87 & 1)
        };
        assert_eq!(use_of(&[0xdb, 0x6d, 0xe0]), (0, 1)); // fld tbyte [rbp-32]
        assert_eq!(use_of(&[0xdb, 0x7d, 0xe0]), (1, 0)); // fstp tbyte [rbp-32]
        assert_eq!(use_of(&[0xde, 0xc9]), (1, 1)); // fmulp
        assert_eq!(use_of(&[0xd9, 0x6d, 0xe0]), (0, 0)); // fldcw
    }

    #[test]
    fn flags_count() {
        assert_ne!(operation(&[0x39, 0xd8]).writes & 1 << FLAGS, 0); // cmp eax,ebx
        assert_ne!(operation(&[0x74, 0x00]).reads & 1 << FLAGS, 0); // je
    }
}
