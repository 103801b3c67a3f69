//! The writer of the machine code at the leaders, instruction by instruction.
//!
//! The layout of the code, and the reasons for it, are told in the module above.

use agent::names::LeaderId;
use agent::poison::SCRATCH;
use agent::session::{BUFFER_FULL, offset};
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Encoder, FlowControl, Instruction, InstructionBlock, OpKind,
    Register,
};

use super::parts::{Arrivals, INT3, Layout, MovedCode};

/// A buffer of code, written for the address at which it will run.
pub(super) struct Writer {
    code: Vec<u8>,
    layout: Layout,
    how: Arrivals,
    /// The addresses of moved instructions, and the original address of each, in order.
    moved: Vec<(u64, u64)>,
}

/// Jumps to be completed: the positions of their distances.
pub(super) struct Exit(Vec<usize>);

impl Writer {
    /// Starts after the agent's code.
    pub(super) fn new(agent: Vec<u8>, layout: Layout, how: Arrivals) -> Writer {
        Writer { code: agent, layout, how, moved: Vec::new() }
    }

    /// Returns all code; and the addresses of moved instructions, and the original address of each, in order.
    pub(super) fn finish(self) -> (Vec<u8>, Vec<(u64, u64)>) {
        (self.code, self.moved)
    }

    /// The address of the next instruction.
    pub(super) fn here(&self) -> u64 {
        self.layout.code + self.code.len() as u64
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.code.extend_from_slice(bytes);
    }

    /// Writes an instruction that ends with the distance to `target` from the next one, and then an `immediate`.
    fn relative(&mut self, instruction: &[u8], target: u64, immediate: &[u8]) {
        let end = self.here() + (instruction.len() + 4 + immediate.len()) as u64;
        self.bytes(instruction);
        self.bytes(&(target.wrapping_sub(end) as u32).to_le_bytes());
        self.bytes(immediate);
    }

    fn session(&self, offset: u64) -> u64 {
        self.layout.session + offset
    }

    /// The arrival code of a leader, up to its body. The jumps to the part of it that is seldom needed
    /// are not complete yet.
    pub(super) fn arrival(&mut self, leader: LeaderId, flags_live: bool, ask: u64) -> Option<Exit> {
        match self.how {
            // The quick ways change the flags.
            Arrivals::TakenDown if !flags_live => Some(self.take_down(leader)),
            Arrivals::Expected if !flags_live => Some(self.expect(leader)),
            _ => {
                self.ask(leader, flags_live, ask);
                self.go_to_target();
                None
            }
        }
    }

    fn go_to_target(&mut self) {
        self.relative(&[0xff, 0x25], self.session(offset::TARGET), &[]); // jmp [target]
    }

    /// Writes the code that appends the arrival to the buffer.
    fn take_down(&mut self, leader: LeaderId) -> Exit {
        let [spare, _] = self.spare();
        let next = self.session(offset::RING_NEXT);
        self.relative(&[0x48, 0x89, 0x05], spare, &[]); // mov [spare], rax
        self.relative(&[0x48, 0x8b, 0x05], next, &[]); // mov rax, [next]
        self.bytes(&[0x48, 0x89, 0x20]); // mov [rax], rsp
        self.bytes(&[0xc7, 0x40, 0x08]); // mov dword [rax+8], leader
        self.bytes(&leader.0.to_le_bytes());
        self.bytes(&[0x48, 0x8d, 0x40, 0x10]); // lea rax, [rax+16]
        self.relative(&[0x48, 0x89, 0x05], next, &[]); // mov [next], rax
        self.relative(&[0x48, 0x3b, 0x05], self.session(offset::RING_END), &[]); // cmp rax, [end]
        self.relative(&[0x48, 0x8b, 0x05], spare, &[]); // mov rax, [spare]
        Exit(vec![self.exit(0x83)]) // jae seldom
    }

    /// Writes the code that lets the arrival through if it is the expected one.
    fn expect(&mut self, leader: LeaderId) -> Exit {
        let [spare_rax, spare_rcx] = self.spare();
        let event = self.session(offset::EVENT);
        let mut exits = Vec::new();
        self.relative(&[0x48, 0x89, 0x05], spare_rax, &[]); // mov [spare_rax], rax
        self.relative(&[0x48, 0x89, 0x0d], spare_rcx, &[]); // mov [spare_rcx], rcx
        self.relative(&[0x8b, 0x05], event, &[]); // mov eax, [event]
        self.relative(&[0x48, 0x3b, 0x25], self.session(offset::ENTRY_SP), &[]); // cmp rsp, [entry_sp]
        exits.push(self.exit(0x87)); // ja seldom
        self.bytes(&[0x48, 0xb9]); // mov rcx, foreseen
        self.bytes(&self.layout.foreseen.to_le_bytes());
        self.bytes(&[0x81, 0x7c, 0xc1, 0x04]); // cmp dword [rcx+8*rax+4], leader
        self.bytes(&leader.0.to_le_bytes());
        exits.push(self.exit(0x85)); // jne seldom
        self.bytes(&[0x8b, 0x04, 0xc1]); // mov eax, [rcx+8*rax]
        self.bytes(&[0x48, 0xb9]); // mov rcx, kept
        self.bytes(&self.layout.kept.to_le_bytes());
        self.bytes(&[0x80, 0x3c, 0x01, 0x01]); // cmp byte [rcx+rax], 1
        exits.push(self.exit(0x85)); // jne seldom
        self.relative(&[0x89, 0x05], event, &[]); // mov [event], eax
        self.relative(&[0x48, 0xff, 0x05], self.session(offset::ARRIVALS), &[]); // inc qword [arrivals]
        self.relative(&[0x48, 0x8b, 0x0d], spare_rcx, &[]); // mov rcx, [spare_rcx]
        self.relative(&[0x48, 0x8b, 0x05], spare_rax, &[]); // mov rax, [spare_rax]
        Exit(exits)
    }

    /// Writes the code to which the exits of a leader's arrival code lead, after its body.
    pub(super) fn ask_seldom(&mut self, leader: LeaderId, exit: Exit, body: u64, ask: u64) {
        let here = self.code.len();
        for place in exit.0 {
            let distance = (here - place - 4) as u32;
            self.code[place..place + 4].copy_from_slice(&distance.to_le_bytes());
        }
        if self.how == Arrivals::TakenDown {
            self.ask(LeaderId(BUFFER_FULL), false, ask);
            self.relative(&[0xe9], body, &[]); // jmp body
            return;
        }
        let [spare_rax, spare_rcx] = self.spare();
        self.relative(&[0x48, 0x8b, 0x0d], spare_rcx, &[]); // mov rcx, [spare_rcx]
        self.relative(&[0x48, 0x8b, 0x05], spare_rax, &[]); // mov rax, [spare_rax]
        self.ask(leader, false, ask);
        self.go_to_target();
    }

    /// Writes a conditional jump whose distance is not known yet; returns the position of that.
    fn exit(&mut self, condition: u8) -> usize {
        self.bytes(&[0x0f, condition, 0, 0, 0, 0]);
        self.code.len() - 4
    }

    fn spare(&self) -> [u64; 2] {
        [0, 8].map(|offset| self.session(offset::SPARE + offset))
    }

    /// Writes the code that asks the agent about an arrival.
    fn ask(&mut self, leader: LeaderId, flags_live: bool, ask: u64) {
        let program_sp = self.session(offset::PROGRAM_SP);
        self.relative(&[0x48, 0x89, 0x25], program_sp, &[]); // mov [program_sp], rsp
        // With the flags the agent's stack would not be aligned: one word more.
        let stack = self.layout.stack - if flags_live { 8 } else { 0 };
        self.relative(&[0x48, 0x8d, 0x25], stack, &[]); // lea rsp, [stack]
        if flags_live {
            self.bytes(&[0x9c]); // pushfq
        }
        self.bytes(&[0x56, 0xbe]); // push rsi; mov esi, leader
        self.bytes(&leader.0.to_le_bytes());
        self.relative(&[0xe8], ask, &[]); // call save_and_ask
        self.bytes(&[0x5e]); // pop rsi
        if flags_live {
            self.bytes(&[0x9d]); // popfq
        }
        self.relative(&[0x48, 0x8b, 0x25], program_sp, &[]); // mov rsp, [program_sp]
    }

    /// Writes the function that calls the agent with all registers saved and restored but rsi, which holds its second
    /// argument.
    pub(super) fn save_and_ask(&mut self, agent: u64, vectors: bool) -> u64 {
        self.align();
        let here = self.here();
        self.bytes(&[0x50, 0x51, 0x52, 0x57]); // push rax, rcx, rdx, rdi
        self.bytes(&[0x41, 0x50, 0x41, 0x51, 0x41, 0x52, 0x41, 0x53]); // push r8, r9, r10, r11
        if vectors {
            self.bytes(&[0x48, 0x8d, 0xa4, 0x24, 0x00, 0xff, 0xff, 0xff]); // lea rsp, [rsp-256]
            (0..16).for_each(|number| self.vector_on_stack(0x11, number)); // movups [rsp+16*i], xmm
        }
        self.relative(&[0x48, 0x8d, 0x3d], self.layout.session, &[]); // lea rdi, [session]
        self.relative(&[0xe8], agent, &[]); // call arrive
        if vectors {
            (0..16).for_each(|number| self.vector_on_stack(0x10, number)); // movups xmm, [rsp+16*i]
            self.bytes(&[0x48, 0x8d, 0xa4, 0x24, 0x00, 0x01, 0x00, 0x00]); // lea rsp, [rsp+256]
        }
        self.bytes(&[0x41, 0x5b, 0x41, 0x5a, 0x41, 0x59, 0x41, 0x58]); // pop r11, r10, r9, r8
        self.bytes(&[0x5f, 0x5a, 0x59, 0x58, 0xc3]); // pop rdi, rdx, rcx, rax; ret
        here
    }

    /// Writes `movups` between an SSE register and its place on the stack; the opcode says which way.
    fn vector_on_stack(&mut self, opcode: u8, number: u8) {
        if number >= 8 {
            self.bytes(&[0x44]);
        }
        self.bytes(&[0x0f, opcode, 0x84 | (number & 7) << 3, 0x24]);
        self.bytes(&(16 * u32::from(number)).to_le_bytes());
    }

    /// Writes the code that makes the registers undefined that a call may change, except those to be kept; then goes
    /// on.
    pub(super) fn undefine(&mut self) -> u64 {
        self.align();
        let here = self.here();
        let keep = self.session(offset::KEEP);
        for (position, number) in (0..).zip(SCRATCH) {
            self.relative(&[0xf7, 0x05], keep, &(1u32 << number).to_le_bytes()); // test [keep], bit
            self.bytes(&[0x75, 7]); // jnz after the next
            let wide = if number < 8 { 0x48 } else { 0x4c };
            let register = 0x05 | (number as u8 & 7) << 3;
            let value = self.session(offset::GENERAL + 8 * position);
            self.relative(&[wide, 0x8b, register], value, &[]); // mov register, [value]
        }
        // The bits of the vector registers begin at bit 16.
        self.relative(&[0xf7, 0x05], keep + 2, &u32::MAX.to_le_bytes()); // test [keep+2], all
        self.bytes(&[0x75, 8 * 7 + 8 * 8]); // jnz after them
        let value = self.session(offset::VECTOR);
        for number in 0..16u8 {
            let register = 0x05 | (number & 7) << 3;
            let instruction = [0x44, 0x0f, 0x10, register]; // movups register, [value]
            self.relative(&instruction[usize::from(number < 8)..], value, &[]);
        }
        self.relative(&[0xff, 0x25], self.session(offset::RESUME), &[]); // jmp [resume]
        here
    }

    /// Writes the moved code of a leader, and the way back.
    pub(super) fn body(&mut self, run: &MovedCode) {
        for instruction in &run.instructions {
            self.moved.push((self.here(), instruction.ip()));
            if instruction.is_call_near() || instruction.is_call_near_indirect() {
                self.call(instruction);
            } else {
                self.moved(instruction);
            }
        }
        let goes_elsewhere = |last: &Instruction| {
            use FlowControl::{IndirectBranch, Return, UnconditionalBranch};
            matches!(last.flow_control(), UnconditionalBranch | IndirectBranch | Return)
                || last.is_call_near()
                || last.is_call_near_indirect()
        };
        self.moved.push((self.here(), run.end));
        if !run.instructions.last().is_some_and(goes_elsewhere) {
            self.relative(&[0xe9], run.end, &[]); // jmp after
        }
    }

    /// Writes a moved call: the return address is that of the original.
    fn call(&mut self, call: &Instruction) {
        let [low, high] = [call.next_ip() as u32, (call.next_ip() >> 32) as u32].map(u32::to_le_bytes);
        self.bytes(&[0x48, 0x8d, 0x64, 0x24, 0xf8]); // lea rsp, [rsp-8]
        self.bytes(&[0xc7, 0x04, 0x24]); // mov dword [rsp], low
        self.bytes(&low);
        self.bytes(&[0xc7, 0x44, 0x24, 0x04]); // mov dword [rsp+4], high
        self.bytes(&high);
        if call.is_call_near() {
            self.relative(&[0xe9], call.near_branch_target(), &[]); // jmp target
            return;
        }
        let mut jump = *call;
        jump.set_code(Code::Jmp_rm64);
        if jump.op0_kind() == OpKind::Memory && jump.memory_base() == Register::RSP {
            jump.set_memory_displacement64(jump.memory_displacement64().wrapping_add(8));
            jump.set_memory_displ_size(8);
        }
        self.moved(&jump);
    }

    /// Writes a moved instruction that does the same here as at its own place.
    fn moved(&mut self, instruction: &Instruction) {
        let here = self.here();
        if instruction.flow_control() == FlowControl::Next {
            let mut encoder = Encoder::new(64);
            encoder.encode(instruction, here).expect("within reach: it was decoded near here");
            let bytes = encoder.take_buffer();
            self.bytes(&bytes);
            return;
        }
        let block = InstructionBlock::new(std::slice::from_ref(instruction), here);
        let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE);
        let encoded = encoded.expect("within reach: it was decoded near here");
        self.bytes(&encoded.code_buffer);
    }

    fn align(&mut self) {
        self.code.resize(self.code.len().next_multiple_of(16), INT3);
    }
}
