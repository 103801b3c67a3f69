//! Lead control from each leader to the agent, and from there to the leader's own code.
//!
//! The first bytes of a leader become a jump to its *arrival code*; the instructions that they belonged
//! to, and those behind them that nothing else jumps to, are moved behind it, to the leader's *body*:
//!
//! ```text
//!   the program's text                      code that is mapped near it
//!
//!   leader:  jmp arrival ───────────────►   arrival:  mov [session.program_sp], rsp
//!            (free: 5 bytes are enough)               lea rsp, [agent's stack]
//!                                                     push rsi
//!   leader:  jmp short hole ──┐                       mov esi, number of the leader
//!            next leader: ... │                       call save_and_ask  ──► agent: arrive()
//!   hole:    jmp arrival ◄────┘                       pop rsi
//!                                                     mov rsp, [session.program_sp]
//!   leader:  int3  ──► tracer ──► arrival             jmp [session.target]  ──► the body of some leader
//!                                           body:     the moved instructions
//!   behind:  ... ◄───────────────────────────         jmp behind
//! ```
//!
//! A leader with fewer than five bytes of its own jumps to a *hole*, five bytes near it that are free
//! because their code was moved; without a hole it gets a breakpoint, and the tracer leads it on. A call
//! that is moved pushes the return address that it had, so that returning, unwinding and `longjmp` see
//! the program's own text only.
//!
//! Source: Kessler, "Fast Breakpoints: Design and Implementation", PLDI 1990.

use std::collections::HashMap;

use agent::names::LeaderId;
use agent::poison::SCRATCH;
use agent::session::{BUFFER_FULL, Site, offset};
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Decoder, DecoderOptions, Encoder, FlowControl, Instruction,
    InstructionBlock, Mnemonic, OpKind, Register,
};

use super::agent_code::AgentCode;
use super::{Leader, Program};
use crate::address::RuntimeAddress;

/// What happens at a leader before the agent is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrivals {
    /// Nothing.
    Asked,
    /// The arrival is taken down; the agent is asked when a buffer is full.
    TakenDown,
    /// An expected arrival is let through.
    Expected,
}

/// Where the parts lie that belong to the agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The end of the agent's stack, where it is empty.
    pub(crate) stack: u64,
    /// The session.
    pub(crate) session: u64,
    /// The code; the session has to be within reach of it.
    pub(crate) code: u64,
    /// What is foreseen behind each event, see [`agent::tape::Foreseen`].
    pub(crate) foreseen: u64,
    /// Which events are kept, see [`agent::lockstep::Script::kept`].
    pub(crate) kept: u64,
}

/// How control comes to a leader's arrival code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detour {
    /// By a jump at the leader.
    Jump,
    /// By a short jump at the leader to a jump near it.
    ShortJump,
    /// By a breakpoint, and the tracer.
    Breakpoint,
}

/// By which means control comes to the agent: at how many leaders each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DetourCounts {
    /// By a jump at the leader.
    pub jumps: usize,
    /// By a short jump to a jump near it.
    pub short_jumps: usize,
    /// By a breakpoint, which costs a stop at each arrival.
    pub breakpoints: usize,
}

impl DetourCounts {
    /// Of the leaders of a program.
    pub fn of(program: &Program) -> DetourCounts {
        let texts = Texts { program };
        let runs: Vec<Run> =
            program.leaders().iter().map(|leader| texts.run(leader, leader.address.0)).collect();
        let (kinds, _) = patches(&runs, &vec![0; runs.len()]);
        let count = |kind| kinds.iter().filter(|&&other| other == kind).count();
        DetourCounts {
            jumps: count(Detour::Jump),
            short_jumps: count(Detour::ShortJump),
            breakpoints: count(Detour::Breakpoint),
        }
    }
}

/// Bytes of the program's text to be overwritten.
#[derive(Clone, Debug)]
pub(crate) struct Patch {
    pub(crate) address: RuntimeAddress,
    pub(crate) bytes: Vec<u8>,
}

/// The detours of all leaders of a program.
#[derive(Debug)]
pub(crate) struct Detours {
    /// The agent, and the code at the leaders.
    pub(crate) code: Vec<u8>,
    /// What the agent has to know of each leader.
    pub(crate) sites: Vec<Site>,
    /// What is to be put into the program's text.
    pub(crate) patches: Vec<Patch>,
    /// Where the agent takes arrivals.
    pub(crate) layout: Layout,
    /// Where the code lies that makes registers undefined.
    pub(crate) undefine: u64,
    /// The arrival code of each leader, and the part of it that is seldom needed, behind the body.
    arrivals: Vec<u64>,
    seldom: Vec<u64>,
    /// The breakpoints that remain.
    breakpoints: HashMap<u64, LeaderId>,
}

/// The code of a leader that is moved, as far as it lies in the text.
struct Run {
    /// Where the leader's jump goes: the leader, or behind the `endbr64` there.
    start: u64,
    end: u64,
    instructions: Vec<Instruction>,
}

const JUMP: u64 = 5;
const SHORT_JUMP: u64 = 2;
const INT3: u8 = 0xcc;

impl Detours {
    /// Leads all leaders of `program` away, which lie where `place` says.
    pub(crate) fn new(
        program: &Program,
        place: impl Fn(LeaderId) -> RuntimeAddress,
        layout: Layout,
        arrivals: Arrivals,
    ) -> Result<Detours, super::LoadError> {
        let agent = AgentCode::new(layout.code)?;
        let (entry, uses_vectors) = (agent.entry, agent.uses_vectors);
        let mut writer = Writer { code: agent.bytes, layout, how: arrivals };
        let ask = writer.save_and_ask(entry, uses_vectors);
        let undefine = writer.undefine();
        let texts = Texts { program };
        let (mut runs, mut sites, mut arrivals, mut seldom) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (number, leader) in program.leaders().iter().enumerate() {
            let id = LeaderId(number as u32);
            let run = texts.run(leader, place(id).0);
            arrivals.push(writer.here());
            let exit = writer.arrival(id, leader.flags_live, ask);
            sites.push(Site {
                body: writer.here(),
                live: leader.live.bits(),
                frame_size: u64::from(program.function(leader.function).frame_size),
            });
            let body = writer.here();
            writer.body(&run);
            seldom.push(writer.here());
            exit.into_iter().for_each(|exit| writer.ask_seldom(id, exit, body, ask));
            runs.push(run);
        }
        let (kinds, patches) = patches(&runs, &arrivals);
        let numbered = kinds.iter().zip(&patches).zip((0..).map(LeaderId));
        let breakpoints = numbered
            .filter(|((kind, _), _)| **kind == Detour::Breakpoint)
            .map(|((_, patch), leader)| (patch.address.0, leader))
            .collect();
        Ok(Detours { code: writer.code, sites, patches, layout, undefine, arrivals, seldom, breakpoints })
    }

    /// Where an arrival at the leader is taken.
    pub(crate) fn arrival(&self, leader: LeaderId) -> RuntimeAddress {
        RuntimeAddress(self.arrivals[leader.0 as usize])
    }

    /// Whether `pc` is in code that must not be interrupted: the agent, or an arrival on the way to it.
    pub(crate) fn is_critical(&self, pc: u64) -> bool {
        let Some(offset) = pc.checked_sub(self.layout.code) else {
            return false;
        };
        let leader = self.arrivals.partition_point(|&arrival| arrival <= pc);
        let is_of_program = |leader: usize| (self.sites[leader].body..self.seldom[leader]).contains(&pc);
        offset < self.code.len() as u64 && !leader.checked_sub(1).is_some_and(is_of_program)
    }

    /// The leader that has a breakpoint at `pc`.
    pub(crate) fn breakpoint(&self, pc: u64) -> Option<LeaderId> {
        self.breakpoints.get(&pc).copied()
    }
}

/// The traced text of a program.
struct Texts<'p> {
    program: &'p Program,
}

impl<'p> Texts<'p> {
    /// The code of a leader that can be moved, decoded for the place where it runs; at least one
    /// instruction.
    fn run(&self, leader: &Leader, place: u64) -> Run {
        let end = place + u64::from(leader.movable);
        let decoder = Decoder::with_ip(64, self.behind(leader), place, DecoderOptions::NONE);
        let within = |instruction: &Instruction| instruction.ip() == place || instruction.next_ip() <= end;
        let mut instructions: Vec<Instruction> = decoder.into_iter().take_while(within).collect();
        let marked = instructions.first().is_some_and(|first| first.mnemonic() == Mnemonic::Endbr64);
        if marked && instructions.len() > 1 {
            instructions.remove(0);
        }
        let start = instructions.first().map_or(place, Instruction::ip);
        let end = instructions.last().map_or(place, Instruction::next_ip);
        Run { start, end, instructions }
    }

    /// The text from a leader on.
    fn behind(&self, leader: &Leader) -> &'p [u8] {
        let texts = &self.program.images()[usize::from(leader.image.0)].text;
        let behind = texts.partition_point(|(start, _)| *start <= leader.address);
        let holds = behind.checked_sub(1).map(|position| &texts[position]);
        let text = holds.and_then(|(start, text)| text.get((leader.address.0 - start.0) as usize..));
        text.unwrap_or_default()
    }
}

/// How each leader is led away, and what is to be put into the text for that: one patch for each
/// leader, in their order, and then those of the holes.
fn patches(runs: &[Run], arrivals: &[u64]) -> (Vec<Detour>, Vec<Patch>) {
    let jump_to_arrival = |from: u64, leader: usize| Patch {
        address: RuntimeAddress(from),
        bytes: jump(from, arrivals[leader]).to_vec(),
    };
    let mut holes = Holes::new(runs);
    let (mut kinds, mut patches, mut in_holes) = (Vec::new(), Vec::new(), Vec::new());
    for (leader, run) in runs.iter().enumerate() {
        let room = run.end - run.start;
        let hole = if (SHORT_JUMP..JUMP).contains(&room) { holes.take(run.start + SHORT_JUMP) } else { None };
        let (kind, patch) = match hole {
            _ if room >= JUMP => (Detour::Jump, jump_to_arrival(run.start, leader)),
            Some(hole) => {
                in_holes.push(jump_to_arrival(hole, leader));
                let distance = hole.wrapping_sub(run.start + SHORT_JUMP) as u8;
                let bytes = vec![0xeb, distance];
                (Detour::ShortJump, Patch { address: RuntimeAddress(run.start), bytes })
            }
            None => (Detour::Breakpoint, Patch { address: RuntimeAddress(run.start), bytes: vec![INT3] }),
        };
        kinds.push(kind);
        patches.push(patch);
    }
    patches.extend(in_holes);
    (kinds, patches)
}

/// Pieces of text, each long enough for a jump, whose code was moved.
struct Holes {
    /// Where each begins that is still free, in ascending order.
    free: Vec<u64>,
}

impl Holes {
    fn new(runs: &[Run]) -> Holes {
        let of_run = |run: &Run| (run.start + JUMP..=run.end.saturating_sub(JUMP)).step_by(JUMP as usize);
        let mut free: Vec<u64> = runs.iter().flat_map(of_run).collect();
        free.sort_unstable();
        Holes { free }
    }

    /// Takes the hole that is next to `from` within the reach of a short jump that ends there.
    fn take(&mut self, from: u64) -> Option<u64> {
        let reachable = |hole: u64| i8::try_from(hole.wrapping_sub(from) as i64).is_ok();
        let behind = self.free.partition_point(|&hole| hole < from);
        let candidates = [Some(behind), behind.checked_sub(1)].into_iter().flatten();
        let near = candidates.filter(|&at| self.free.get(at).is_some_and(|&hole| reachable(hole)));
        let nearest = near.min_by_key(|&at| self.free[at].abs_diff(from))?;
        Some(self.free.remove(nearest))
    }
}

/// `jmp rel32`.
fn jump(from: u64, to: u64) -> [u8; 5] {
    let [a, b, c, d] = (to.wrapping_sub(from + JUMP) as u32).to_le_bytes();
    [0xe9, a, b, c, d]
}

/// Writes machine code to where it will run.
struct Writer {
    code: Vec<u8>,
    layout: Layout,
    how: Arrivals,
}

/// Jumps to be completed: where their distances stand.
struct Exit(Vec<usize>);

impl Writer {
    /// The address of the next instruction.
    fn here(&self) -> u64 {
        self.layout.code + self.code.len() as u64
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.code.extend_from_slice(bytes);
    }

    /// An instruction that ends with a distance from behind it to `target`, `immediate` bytes excepted.
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
    fn arrival(&mut self, leader: LeaderId, flags_live: bool, ask: u64) -> Option<Exit> {
        match self.how {
            // The quick ways change the flags.
            _ if flags_live => self.ask(leader, flags_live, ask),
            Arrivals::Asked => self.ask(leader, flags_live, ask),
            Arrivals::TakenDown => return Some(self.take_down(leader)),
            Arrivals::Expected => return Some(self.expect(leader)),
        }
        let target = self.session(offset::TARGET);
        self.relative(&[0xff, 0x25], target, &[]); // jmp [target]
        None
    }

    /// Appends the arrival to the buffer.
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

    /// Lets the arrival through if it is the expected one.
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
        self.bytes(&[0x80, 0x3c, 0x01, 0x00]); // cmp byte [rcx+rax], 0
        exits.push(self.exit(0x84)); // je seldom
        self.relative(&[0x89, 0x05], event, &[]); // mov [event], eax
        self.relative(&[0x48, 0xff, 0x05], self.session(offset::ARRIVALS), &[]); // inc qword [arrivals]
        self.relative(&[0x48, 0x8b, 0x0d], spare_rcx, &[]); // mov rcx, [spare_rcx]
        self.relative(&[0x48, 0x8b, 0x05], spare_rax, &[]); // mov rax, [spare_rax]
        Exit(exits)
    }

    /// What the exits of a leader's arrival code lead to, behind its body.
    fn ask_seldom(&mut self, leader: LeaderId, exit: Exit, body: u64, ask: u64) {
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
        self.relative(&[0xff, 0x25], self.session(offset::TARGET), &[]); // jmp [target]
    }

    /// A conditional jump whose distance is not known yet; where it will stand.
    fn exit(&mut self, condition: u8) -> usize {
        self.bytes(&[0x0f, condition, 0, 0, 0, 0]);
        self.code.len() - 4
    }

    fn spare(&self) -> [u64; 2] {
        [0, 8].map(|offset| self.session(offset::SPARE + offset))
    }

    /// Asks the agent about an arrival.
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

    /// Calls the agent with all registers but rsi, which holds its second argument, saved and restored.
    fn save_and_ask(&mut self, agent: u64, vectors: bool) -> u64 {
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

    /// `movups` between an SSE register and its place on the stack; the opcode says which way.
    fn vector_on_stack(&mut self, opcode: u8, number: u8) {
        if number >= 8 {
            self.bytes(&[0x44]);
        }
        self.bytes(&[0x0f, opcode, 0x84 | (number & 7) << 3, 0x24]);
        self.bytes(&(16 * u32::from(number)).to_le_bytes());
    }

    /// Makes the registers undefined that a call may change, except those to be kept; then goes on.
    fn undefine(&mut self) -> u64 {
        self.align();
        let here = self.here();
        let keep = self.session(offset::KEEP);
        for (position, number) in (0..).zip(SCRATCH) {
            self.relative(&[0xf7, 0x05], keep, &(1u32 << number).to_le_bytes()); // test [keep], bit
            self.bytes(&[0x75, 7]); // jnz behind the next
            let wide = if number < 8 { 0x48 } else { 0x4c };
            let register = 0x05 | (number as u8 & 7) << 3;
            let value = self.session(offset::GENERAL + 8 * position);
            self.relative(&[wide, 0x8b, register], value, &[]); // mov register, [value]
        }
        // The bits of the vector registers begin at bit 16.
        self.relative(&[0xf7, 0x05], keep + 2, &u32::MAX.to_le_bytes()); // test [keep+2], all
        self.bytes(&[0x75, 8 * 7 + 8 * 8]); // jnz behind them
        let value = self.session(offset::VECTOR);
        for number in 0..16u8 {
            let register = 0x05 | (number & 7) << 3;
            let instruction = [0x44, 0x0f, 0x10, register]; // movups register, [value]
            self.relative(&instruction[usize::from(number < 8)..], value, &[]);
        }
        self.relative(&[0xff, 0x25], self.session(offset::RESUME), &[]); // jmp [resume]
        here
    }

    /// The moved code of a leader, and the way back.
    fn body(&mut self, run: &Run) {
        for instruction in &run.instructions {
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
        if !run.instructions.last().is_some_and(goes_elsewhere) {
            self.relative(&[0xe9], run.end, &[]); // jmp behind
        }
    }

    /// A call: the return address is that of the original.
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

    /// An instruction that does the same here as at its own place.
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
