//! Detours: they lead control from each leader to the agent, and from there to the leader's own code.
//!
//! The first bytes of a leader become a jump to its *arrival code*; the instructions that they belonged to, and those
//! after them that nothing else jumps to, are moved to the place after it, to the leader's *body*:
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
//!   after:   ... ◄───────────────────────────         jmp after
//! ```
//!
//! A leader with fewer than five bytes of its own jumps to a *hole*, five bytes near it that are free
//! because their code was moved; without a hole it gets a breakpoint, and the tracer leads it on. A call
//! that is moved pushes the return address that it had, so that returning, unwinding and `longjmp` see
//! the program's own text only.
//!
//! Source: Kessler, "Fast Breakpoints: Design and Implementation", PLDI 1990.

mod parts;
mod writer;

use std::collections::{BTreeSet, HashMap};

use agent::names::LeaderId;
use agent::session::Site;
use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic};

pub(crate) use self::parts::{Arrivals, Layout};
use self::parts::{INT3, MovedCode};
use self::writer::Writer;
use super::agent_code::AgentCode;
use super::{Leader, Program};
use crate::address::RuntimeAddress;

/// The way in which control comes to a leader's arrival code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detour {
    /// By a jump at the leader.
    Jump,
    /// By a short jump at the leader to a jump in this hole near it.
    ShortJump(u64),
    /// By a breakpoint, and the tracer.
    Breakpoint,
}

/// The numbers of leaders by the means by which control comes from them to the agent.
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
    /// Counts the detours of the leaders of a program.
    pub fn of(program: &Program) -> DetourCounts {
        let texts = Texts { program };
        let runs: Vec<MovedCode> =
            program.leaders().iter().map(|leader| texts.run(leader, leader.address.0)).collect();
        let mut counts = DetourCounts::default();
        for detour in detours(&runs) {
            match detour {
                Detour::Jump => counts.jumps += 1,
                Detour::ShortJump(_) => counts.short_jumps += 1,
                Detour::Breakpoint => counts.breakpoints += 1,
            }
        }
        counts
    }
}

/// A patch: bytes of the program's text to be overwritten.
#[derive(Clone, Debug)]
pub(crate) struct Patch {
    pub(crate) address: RuntimeAddress,
    pub(crate) bytes: Vec<u8>,
    /// The leader whose detour it is; `None` where that needs anything else besides.
    pub(crate) leader: Option<LeaderId>,
}

/// The detours of all leaders of a program.
#[derive(Debug)]
pub(crate) struct Detours {
    /// The agent, and the code at the leaders.
    pub(crate) code: Vec<u8>,
    /// The agent's data on each leader.
    pub(crate) sites: Vec<Site>,
    /// The patches of the program's text.
    pub(crate) patches: Vec<Patch>,
    /// The addresses of the agent's parts.
    pub(crate) layout: Layout,
    /// The address of the code that makes registers undefined.
    pub(crate) undefine: u64,
    /// The arrival code of each leader, and the part of it that is seldom needed, after the body.
    arrivals: Vec<u64>,
    seldom: Vec<u64>,
    /// The addresses of moved instructions, and the original address of each, in order.
    moved: Vec<(u64, u64)>,
    /// The leaders whose detour is a breakpoint, by address.
    breakpoints: HashMap<u64, LeaderId>,
}

const JUMP: u64 = 5;
const SHORT_JUMP: u64 = 2;

impl Detours {
    /// Makes the detours of all leaders of `program`, which lie where `place` says.
    pub(crate) fn new(
        program: &Program,
        place: impl Fn(LeaderId) -> RuntimeAddress,
        layout: Layout,
        arrivals: Arrivals,
    ) -> Result<Detours, super::LoadError> {
        let agent = AgentCode::new(layout.code)?;
        let (entry, uses_vectors) = (agent.entry, agent.uses_vectors);
        let mut writer = Writer::new(agent.bytes, layout, arrivals);
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
        let detours = detours(&runs);
        let ways = runs.iter().zip(&detours).zip(arrivals.iter().zip((0..).map(LeaderId)));
        let patches =
            ways.flat_map(|((run, &detour), (&arrival, leader))| patches(run, detour, arrival, leader));
        let patches = patches.collect();
        let numbered = runs.iter().zip(&detours).zip((0..).map(LeaderId));
        let breakpoints = numbered
            .filter(|((_, detour), _)| **detour == Detour::Breakpoint)
            .map(|((run, _), leader)| (run.start, leader))
            .collect();
        let (code, moved) = writer.finish();
        Ok(Detours { code, sites, patches, layout, undefine, arrivals, seldom, moved, breakpoints })
    }

    /// The address of the leader's arrival code.
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

    /// The address of the instruction at `pc` in the program's own text, if it was moved from there; `pc` itself if
    /// not.
    pub(crate) fn original(&self, pc: u64) -> u64 {
        let is_inside = pc.checked_sub(self.layout.code).is_some_and(|at| at < self.code.len() as u64);
        if !is_inside || self.is_critical(pc) {
            return pc;
        }
        let behind = self.moved.partition_point(|&(moved, _)| moved <= pc);
        behind.checked_sub(1).map_or(pc, |at| self.moved[at].1)
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
    fn run(&self, leader: &Leader, place: u64) -> MovedCode {
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
        MovedCode { start, end, instructions }
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

/// Chooses the detour of each leader.
fn detours(runs: &[MovedCode]) -> Vec<Detour> {
    let mut holes = Holes::new(runs);
    let detour = |run: &MovedCode| match run.end - run.start {
        JUMP.. => Detour::Jump,
        SHORT_JUMP.. => holes.take(run.start + SHORT_JUMP).map_or(Detour::Breakpoint, Detour::ShortJump),
        _ => Detour::Breakpoint,
    };
    runs.iter().map(detour).collect()
}

/// The patches of the text at a leader, and in its hole if it has one.
fn patches(run: &MovedCode, detour: Detour, arrival: u64, leader: LeaderId) -> Vec<Patch> {
    let patch = |address: u64, bytes: &[u8]| Patch {
        address: RuntimeAddress(address),
        bytes: bytes.to_vec(),
        leader: None,
    };
    match detour {
        Detour::Jump => {
            let jump = patch(run.start, &jump(run.start, arrival));
            vec![Patch { leader: Some(leader), ..jump }]
        }
        Detour::ShortJump(hole) => {
            let distance = hole.wrapping_sub(run.start + SHORT_JUMP) as u8;
            vec![patch(run.start, &[0xeb, distance]), patch(hole, &jump(hole, arrival))]
        }
        Detour::Breakpoint => vec![patch(run.start, &[INT3])],
    }
}

/// The holes: addresses of pieces of text, each long enough for a jump, whose code was moved, as far as they are free.
struct Holes(BTreeSet<u64>);

impl Holes {
    fn new(runs: &[MovedCode]) -> Holes {
        let of_run =
            |run: &MovedCode| (run.start + JUMP..=run.end.saturating_sub(JUMP)).step_by(JUMP as usize);
        Holes(runs.iter().flat_map(of_run).collect())
    }

    /// Takes the hole that is next to `from` within the reach of a short jump that ends there.
    fn take(&mut self, from: u64) -> Option<u64> {
        let reachable = |hole: &u64| i8::try_from(hole.wrapping_sub(from) as i64).is_ok();
        let (behind, before) = (self.0.range(from..).next(), self.0.range(..from).next_back());
        let near = [behind, before].into_iter().flatten().copied().filter(reachable);
        let nearest = near.min_by_key(|hole| hole.abs_diff(from))?;
        self.0.take(&nearest)
    }
}

/// The instruction `jmp rel32`.
fn jump(from: u64, to: u64) -> [u8; 5] {
    let [a, b, c, d] = (to.wrapping_sub(from + JUMP) as u32).to_le_bytes();
    [0xe9, a, b, c, d]
}
