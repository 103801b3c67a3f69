//! The agent's place inside of programs: it is mapped into them, and tracer and agent share a session.
//!
//! The agent, the code at the leaders and the tables that belong to the program are the same for all
//! runs of a tracer: one file in memory, mapped by every process. What belongs to a recorded run is a
//! second one. What changes while a program runs is its *session*, one for each process that the
//! tracer starts.
//!
//! ```text
//!   near the text, with nothing mapped between   far from everything, with nothing mapped between
//!   ┌───────────────┐ ┌─────────┐ ┌──────────┐   ┌────────────────┐ ┌────────────────────────┐
//!   │ agent's stack │ │ session │ │ code:    │   │ marks, sites   │ │ rest of the session:   │
//!   │ (private)     │ │ (shared)│ │ agent,   │   │ (sealed)       │ │ open calls, kept events│
//!   │               │ │         │ │ arrivals,│   ├────────────────┤ │ or buffers of arrivals │
//!   └───────────────┘ └─────────┘ │ bodies   │   │ events, activ- │ │ (shared)               │
//!                                 │ (sealed) │   │ ations (sealed)│ └────────────────────────┘
//!                                 └──────────┘   └────────────────┘
//! ```
//!
//! A program that runs amok writes there, too. What is sealed stays as it is for all other runs; what it makes
//! of its own copy is gone with it. The session is written anew before each test, and looked at after it: a run
//! that has changed there what the tracer wrote and the agent only reads is ended as such, and nothing that
//! its session tells is believed (`integrity.rs`).

use std::mem::offset_of;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::Arc;

use agent::calls::Call;
use agent::lockstep::{Expectation, Frame, Position};
use agent::names::{Control, EventId, Link, Mark};
use agent::pace::Pace;
use agent::poison::Poison;
use agent::session::{
    AgentMode, Arrival, End, Ring, Service, Session, Site, Span, StackArea, Undefinition, Verdict,
};
use agent::tape::{Activation, Event, PredictedArrival};

use super::{Conditions, Placement};
use crate::address::RuntimeAddress;
use crate::process::{
    MAP_ANONYMOUS, MAP_FIXED_NOREPLACE, MAP_PRIVATE, MAP_SHARED, PROT_EXEC, PROT_READ, PROT_WRITE,
    ProcessError, SYS_close, SYS_mmap, Sealed, Shared, Tracee, stack_limit,
};
use crate::program::Program;
use crate::program::detour::{Arrivals, Detours, Layout};
use crate::trace::Trace;
use crate::untouched::Untouched;

/// The reason why the agent cannot be used.
#[derive(Debug)]
pub(crate) enum Unable {
    /// The agent does not fit this program; the reason, as a part of a sentence.
    Unfit(String),
    /// The machine refuses.
    Process(ProcessError),
}

impl From<ProcessError> for Unable {
    fn from(error: ProcessError) -> Unable {
        Unable::Process(error)
    }
}

/// The size of a page.
const PAGE: u64 = 4096;
/// The size of the gap of address space between the parts near the program: who writes on beyond the end of one does
/// not reach the next.
const GAP: u64 = 16 * PAGE;
/// The size of the agent's stack, in bytes.
const STACK: u64 = 64 << 10;
/// The largest number of open calls: as many as the smallest frames fit on the usual stack.
const CALLS: u64 = 1 << 20;
/// The address of the first table that need not be near the program: high above where executables are put, and in what
/// AddressSanitizer, MemorySanitizer and ThreadSanitizer take for the memory of programs. They refuse a program with
/// anything in their own.
const FAR: u64 = 0x5620_0000_0000;
/// The distance between the tables far away, in bytes.
const FAR_STEP: u64 = 1 << 37;
/// The address of a server's list of kept events: after the open calls.
const KEPT: u64 = far(1) + CALLS * size_of::<Call<Frame>>() as u64;
/// The number of arrivals that a buffer holds, and the number of buffers.
const BUFFER: u64 = 1 << 15;
const BUFFERS: u64 = 8;

/// The offsets of the fields in the memory of a session, in bytes.
pub(super) mod offset {
    use super::{Session, offset_of};

    pub(crate) const DUTY: u64 = offset_of!(Session, duty) as u64;
    pub(crate) const PACE: u64 = offset_of!(Session, pace) as u64;
    pub(crate) const POSITION: u64 = offset_of!(Session, position) as u64;
    pub(crate) const EXPECTATION: u64 = offset_of!(Session, expectation) as u64;
    pub(crate) const VERDICT: u64 = offset_of!(Session, verdict) as u64;
    pub(crate) const DEPTH: u64 = offset_of!(Session, depth) as u64;
    pub(crate) const FLOOR: u64 = offset_of!(Session, stack.floor) as u64;
    pub(crate) const SERVICE: u64 = offset_of!(Session, service) as u64;
    pub(crate) const WANTED: u64 = offset_of!(Session, service.wanted) as u64;
}

/// The agent for one program, with its detours and tables.
pub(crate) struct Inside {
    pub(crate) placement: Placement,
    pub(crate) detours: Detours,
    code: Sealed,
    tables: Sealed,
    leaders: u64,
    untouched: Arc<Untouched>,
}

/// The tables of a recorded run.
pub(crate) struct Tape {
    /// The trace from which they were made.
    pub(crate) trace: Trace,
    memory: Arc<Sealed>,
}

/// The channel between the tracer and the agent in a process: the session's memory.
pub(crate) struct Channel {
    pub(crate) memory: Shared,
    pub(crate) session: Session,
}

/// A mapping to be made in a process.
struct Mapping<'a> {
    address: u64,
    length: u64,
    access: i32,
    file: Option<(BorrowedFd<'a>, u64)>,
    flags: i32,
}

impl Inside {
    /// Makes detours for the program, which lies in memory as `placement` says.
    pub(crate) fn new(
        program: &Program,
        mut placement: Placement,
        arrivals: Arrivals,
    ) -> Result<Inside, Unable> {
        let layout =
            layout(&placement).ok_or_else(|| Unable::Unfit("there is no room near its code".into()))?;
        let place = |leader| placement.address(leader);
        let detours = Detours::new(program, place, layout, arrivals);
        let detours = detours.map_err(|error| Unable::Unfit(error.to_string()))?;
        placement.patch(&detours.patches);
        let code = share(detours.code.len() as u64)?;
        code.put(0, &detours.code);
        let leaders = program.leaders().len() as u64;
        let (code, tables) = (sealed(code)?, tables(program, &detours.sites)?);
        Ok(Inside { placement, detours, code, tables, leaders, untouched: Arc::default() })
    }

    /// Takes over the untouched memory of these conditions, which is not filled. True if it is other memory than
    /// before, so that programs that run already must not go on.
    pub(crate) fn adopt(&mut self, program: &Program, conditions: &Conditions) -> Result<bool, Unable> {
        let untouched = &conditions.untouched;
        if self.untouched == *untouched {
            return Ok(false);
        }
        let mut sites = self.detours.sites.clone();
        for (site, leader) in sites.iter_mut().zip(program.leaders()) {
            if untouched.frames.contains(&leader.function) {
                site.frame_size = 0;
            }
        }
        self.tables = tables(program, &sites)?;
        self.untouched = Arc::clone(untouched);
        Ok(true)
    }

    /// The size of the address space that all this takes in a program, in bytes.
    pub(crate) fn size(&self, talk: &Channel, tape: Option<&Tape>) -> u64 {
        let tape = tape.map_or(0, |tape| tape.memory.length());
        STACK + talk.memory.length() + self.code.length() + self.tables.length() + tape
    }

    /// Maps everything into a program that has not executed an instruction yet, and leads its leaders
    /// to the agent.
    pub(crate) fn enter(
        &self,
        program: &Program,
        tracee: &mut Tracee,
        talk: &Channel,
        tape: Option<&Tape>,
    ) -> Result<(), Unable> {
        if !self.placement.is_of(program, tracee) {
            return Err(Unable::Unfit(
                "it lies at another address in each run, as where personality(2) is refused".into(),
            ));
        }
        let Layout { stack, session, code, .. } = self.detours.layout;
        let (read, write) = (PROT_READ, PROT_READ | PROT_WRITE);
        let mut mappings = vec![
            Mapping {
                address: stack - STACK,
                length: STACK,
                access: write,
                file: None,
                flags: MAP_PRIVATE | MAP_ANONYMOUS,
            },
            Mapping {
                address: session,
                length: PAGE,
                access: write,
                file: Some((talk.memory.file(), 0)),
                flags: MAP_SHARED,
            },
            Mapping {
                address: code,
                length: self.code.length(),
                access: PROT_READ | PROT_EXEC,
                file: Some((self.code.descriptor(), 0)),
                // Its own, so that the tracer can put a system call into it for a moment.
                flags: MAP_PRIVATE,
            },
            Mapping {
                address: FAR,
                length: self.tables.length(),
                access: read,
                file: Some((self.tables.descriptor(), 0)),
                // A program that makes it writable gets a copy.
                flags: MAP_PRIVATE,
            },
            Mapping {
                address: far(1),
                length: talk.memory.length() - PAGE,
                access: write,
                file: Some((talk.memory.file(), PAGE)),
                flags: MAP_SHARED,
            },
        ];
        if let Some(tape) = tape {
            let file = Some((tape.memory.descriptor(), 0));
            let length = tape.memory.length();
            mappings.push(Mapping { address: far(2), length, access: read, file, flags: MAP_PRIVATE });
        }
        talk.memory.set(0, talk.session);
        tracee.leave_exec()?;
        for mapping in &mappings {
            mapping.put(tracee)?;
        }
        for file in self.files(talk, tape) {
            tracee.system_call(SYS_close, [file.as_raw_fd() as u64, 0, 0, 0, 0, 0])?;
        }
        self.placement.arm_all(tracee, None);
        Ok(())
    }

    /// The files that the program has to inherit.
    pub(crate) fn files<'a>(&'a self, talk: &'a Channel, tape: Option<&'a Tape>) -> Vec<BorrowedFd<'a>> {
        let tape = tape.map(|tape| tape.memory.descriptor());
        let agent = [self.code.descriptor(), self.tables.descriptor(), talk.memory.file()];
        agent.into_iter().chain(tape).collect()
    }

    /// Makes a session in which arrivals are recorded.
    pub(crate) fn talk_to_recorder(&self, duty: AgentMode) -> Result<Channel, Unable> {
        let buffers = Span { address: far(1), count: BUFFER * BUFFERS };
        let memory = share(PAGE + buffers.count * size_of::<Arrival>() as u64)?;
        let end = buffers.address + BUFFER * size_of::<Arrival>() as u64;
        let ring = Ring { buffers, size: BUFFER, next: buffers.address, end, filled: 0, drained: 0 };
        Ok(Channel { memory, session: Session { duty, ring, ..self.session() } })
    }

    /// Makes a session in which the agent serves tests of a recorded run.
    pub(crate) fn talk_to_server(&self, tape: &Tape) -> Result<Channel, Unable> {
        let agent::tape::Tape { events, activations, endless } = tape.trace.tape();
        let (events, activations) = (events.len(), activations.len());
        let calls = Span { address: far(1), count: CALLS };
        let kept = Span { address: KEPT, count: events as u64 };
        let memory = share(PAGE + kept.address - far(1) + kept.count)?;
        let session = Session {
            duty: AgentMode::Serve,
            calls,
            kept,
            expectation: nothing_expected(events),
            events: Span { address: far(2) + events_offset(events), count: events as u64 },
            activations: Span { address: far(2) + activations_offset(events), count: activations as u64 },
            looping: Span {
                address: far(2) + looping_offset(events, activations),
                count: endless.leaders.len() as u64,
            },
            enough: endless.enough,
            ..self.session()
        };
        Ok(Channel { memory, session })
    }

    fn session(&self) -> Session {
        Session {
            program_sp: 0,
            target: 0,
            spare: [0; 2],
            expectation: Expectation::NONE,
            undefinition: Undefinition { resume: 0, keep: 0, general: Poison::Off.general(), vector: [0; 2] },
            undefine: self.detours.undefine,
            duty: AgentMode::Record,
            depth: 0,
            pace: Pace::new(u64::MAX),
            position: Position::start(Trace::default().tape()),
            verdict: Verdict::NONE,
            control: Control::Program,
            poison: Poison::Off,
            stack: StackArea { base: 0, limit: 0, floor: u64::MAX },
            ring: Ring { buffers: Span::NONE, size: 0, next: 0, end: 0, filled: 0, drained: 0 },
            service: Service { wanted: 0, rank: 0, child: 0, tid_address: 0 },
            calls: Span::NONE,
            marks: Span { address: FAR, count: self.leaders },
            sites: Span { address: FAR + sites_offset(self.leaders), count: self.leaders },
            events: Span::NONE,
            activations: Span::NONE,
            kept: Span::NONE,
            looping: Span::NONE,
            enough: 0,
        }
    }
}

/// The expectation at the beginning of a replay of so many events.
pub(super) fn nothing_expected(events: usize) -> Expectation {
    Expectation { event: Link::from(events as u32), ..Expectation::NONE }
}

impl Channel {
    /// The offset of the rest of the session in its memory, after what lies near the program.
    pub(crate) const REST: u64 = PAGE;

    /// Sets the conditions under which the run goes on.
    pub(crate) fn set_conditions(&mut self, conditions: &Conditions) {
        let poison = conditions.poison;
        self.session.pace.limit = conditions.limits.arrivals;
        self.session.poison = poison;
        self.session.undefinition.general = poison.general();
        self.session.undefinition.vector = [poison.vector(); 2];
    }

    /// Sets the base of the program's stack, the address of its first word.
    pub(crate) fn set_stack(&mut self, base: u64) {
        self.session.stack = StackArea { base, limit: stack_limit(), floor: base };
    }

    /// The number of arrivals, and the reason why the agent has ended the run, if it has.
    pub(crate) fn result(&self) -> (Pace, Option<End>) {
        let pace = self.memory.get(offset::PACE);
        let verdict: Verdict = self.memory.get(offset::VERDICT);
        (pace, verdict.get())
    }

    /// The open calls, outermost first.
    pub(super) fn calls(&self) -> Vec<Call<Frame>> {
        let depth: u32 = self.memory.get(offset::DEPTH);
        let depth = u64::from(depth).min(self.session.calls.count);
        let mut calls = Vec::new();
        self.memory.append_to(&mut calls, Channel::REST, depth as usize);
        calls
    }

    /// The latest events of the open calls, innermost first; `None` for a call that the trace does not know.
    pub(crate) fn stack(&self, trace: &Trace) -> Vec<Option<EventId>> {
        let calls = self.calls();
        // Expected arrivals show in the expectation alone.
        let expectation: Expectation = self.memory.get(offset::EXPECTATION);
        let expected = expectation.event.get().filter(|&event| (event as usize) < trace.len());
        let events = calls.iter().rev().enumerate().map(|(depth, call)| match (depth, expected) {
            (0, Some(event)) => Some(EventId(event)),
            _ => call.data().current(),
        });
        // A program that runs amok may have written any number.
        events.map(|event| event.filter(|event| (event.0 as usize) < trace.len())).collect()
    }
}

impl Tape {
    /// The tables of `trace`.
    pub(crate) fn new(trace: &Trace) -> Result<Tape, Unable> {
        let memory = trace.for_programs(|| Tape::tables(trace))?;
        Ok(Tape { trace: trace.clone(), memory })
    }

    fn tables(trace: &Trace) -> Result<Sealed, Unable> {
        let tape = trace.tape();
        let events = tape.events.len();
        let looping = looping_offset(events, tape.activations.len());
        let memory = share(looping + tape.endless.leaders.len() as u64)?;
        for event in trace.events() {
            memory.set(u64::from(event.0) * size_of::<PredictedArrival>() as u64, tape.foreseen(event));
        }
        // The entry after the last event, and those of events after which nothing is expected.
        memory.set(
            (events * size_of::<PredictedArrival>()) as u64,
            PredictedArrival { event: Link::NONE, leader: Link::NONE },
        );
        memory.put(events_offset(events), tape.events);
        memory.put(activations_offset(events), tape.activations);
        memory.put(looping, tape.endless.leaders);
        sealed(memory)
    }
}

impl Mapping<'_> {
    fn put(&self, tracee: &mut Tracee) -> Result<(), Unable> {
        let (file, offset) = match self.file {
            Some((file, offset)) => (file.as_raw_fd() as i64, offset),
            None => (-1, 0),
        };
        let flags = (self.flags | MAP_FIXED_NOREPLACE) as u64;
        let arguments = [self.address, self.length, self.access as u64, flags, file as u64, offset];
        let result = tracee.system_call(SYS_mmap, arguments)?;
        if result as u64 != self.address {
            let error = std::io::Error::from_raw_os_error(-result as i32);
            return Err(Unable::Unfit(format!(
                "memory at {} is refused: {error}",
                RuntimeAddress(self.address)
            )));
        }
        Ok(())
    }
}

/// Memory for both sides; a machine that has none to share, or a limit of the size of files, leaves the
/// breakpoints.
fn share(length: u64) -> Result<Shared, Unable> {
    Shared::new(length).map_err(without_memory)
}

/// Makes the tables that belong to the program, with these sites: they are the same for all runs, and stay so.
fn tables(program: &Program, sites: &[Site]) -> Result<Sealed, Unable> {
    let leaders = sites.len() as u64;
    let tables = share(sites_offset(leaders) + size_of_val(sites) as u64)?;
    tables.put(0, program.marks());
    tables.put(sites_offset(leaders), sites);
    sealed(tables)
}

fn sealed(memory: Shared) -> Result<Sealed, Unable> {
    memory.seal().map_err(without_memory)
}

fn without_memory(error: ProcessError) -> Unable {
    match error {
        ProcessError::System { source, .. } => Unable::Unfit(format!("memory cannot be shared: {source}")),
        error => Unable::Process(error),
    }
}

/// Whether an address belongs to the agent: to its stack, its code, its tables, or the session.
pub(super) fn is_of_agent(detours: &Detours, address: u64) -> bool {
    let Layout { stack, code, .. } = detours.layout;
    let near = stack - STACK..code + (detours.code.len() as u64).next_multiple_of(PAGE);
    near.contains(&address) || (FAR..far(3)).contains(&address)
}

const fn far(number: u64) -> u64 {
    FAR + number * FAR_STEP
}

fn sites_offset(leaders: u64) -> u64 {
    (leaders * size_of::<Mark>() as u64).next_multiple_of(16)
}

fn events_offset(events: usize) -> u64 {
    (((events + 1) * size_of::<PredictedArrival>()) as u64).next_multiple_of(16)
}

fn activations_offset(events: usize) -> u64 {
    events_offset(events) + ((events * size_of::<Event>()) as u64).next_multiple_of(16)
}

fn looping_offset(events: usize, activations: usize) -> u64 {
    activations_offset(events) + (activations * size_of::<Activation>()) as u64
}

/// A place for the agent within reach of all traced text: a jump spans 2 GiB.
///
/// Below an executable that lies high in memory, because the heap grows above it; high above one that
/// lies at the bottom.
fn layout(placement: &Placement) -> Option<Layout> {
    const REACH: u64 = 0x7000_0000;
    const ROOM: u64 = 0x1000_0000;
    let (start, end) = placement.extent();
    let stack = match start.0.checked_sub(REACH) {
        Some(below) if below > ROOM => (start.0 - ROOM) & !(PAGE - 1),
        _ => REACH - ROOM,
    };
    let within_reach = end.0.abs_diff(stack).max(start.0.abs_diff(stack)) < REACH;
    let session = stack + GAP;
    let code = session + PAGE + GAP;
    within_reach.then_some(Layout { stack, session, code, foreseen: far(2), kept: KEPT })
}
