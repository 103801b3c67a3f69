//! The session: the memory that the tracer and the agent share.
//!
//! One session belongs to one process that the tracer has started. Addresses are those of that process.
//! While the program runs, the agent alone writes here, but for what is said otherwise.

use core::mem::offset_of;

use crate::lockstep::{Deviation, Expectation, Position};
use crate::names::{Control, EventId, LeaderId, Link};
use crate::pace::Pace;
use crate::poison::{Poison, SCRATCH};

/// The value of a leader's number for no arrival, but a buffer that is full.
pub const BUFFER_FULL: u32 = u32::MAX;

/// The largest part of a frame that is filled, in bytes: the usual limit of the whole stack.
pub const MAX_FRAME: u64 = 8 << 20;

/// The mode of the agent: its work at arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AgentMode {
    /// Record the arrivals that the code at the leaders has not recorded itself.
    Assist,
    /// Record all arrivals.
    Record,
    /// Follow the schedule.
    Replay,
    /// At the first one become a server: fork a child for each test, which then follows the schedule.
    Serve,
    /// Make fresh frames undefined, and nothing else: the program goes its own way.
    Free,
}

/// A span of memory: several things of a kind, one after the other.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Span {
    /// The address of the first.
    pub address: u64,
    /// The number of things.
    pub count: u64,
}

impl Span {
    /// The empty span.
    pub const NONE: Span = Span { address: 0, count: 0 };
}

/// The agent's data on a leader, besides its [`Mark`](crate::names::Mark).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Site {
    /// The address of the moved code of the leader: to go on at the leader is to go on there.
    pub body: u64,
    /// The live registers: those whose values from before the leader the function uses after it, one bit each: general
    /// ones by their number, vector ones from bit 16 on.
    pub live: u64,
    /// The number of bytes below the stack pointer at its entry that the leader's function may use.
    pub frame_size: u64,
}

/// An arrival that is recorded. The code at the leaders knows how it is laid out.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Arrival {
    /// The stack pointer.
    pub sp: u64,
    /// The leader's number.
    pub leader: u32,
    /// Padding.
    pub unused: u32,
}

/// The ring of buffers by which arrivals reach the tracer: one after the other, used in turns.
///
/// The agent fills a buffer, counts it in `filled` and goes on with the next one once the tracer has counted that in
/// `drained`. Each side sleeps on the other's count (futex(2)).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Ring {
    /// All buffers, as one piece of [`Arrival`]s.
    pub buffers: Span,
    /// The number of arrivals that a buffer holds.
    pub size: u64,
    /// The address for the next arrival.
    pub next: u64,
    /// The end of the buffer that is being filled.
    pub end: u64,
    /// The number of buffers that the agent has filled so far.
    pub filled: u32,
    /// The number of them that the tracer has taken; the tracer writes this.
    pub drained: u32,
}

/// The request for tests and its answer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Service {
    /// The current request, a [`Wanted`]; the tracer writes this and wakes the server (futex(2)).
    pub wanted: u32,
    /// The rank of the next process that becomes a server: 0 for the first, one more for a child's.
    pub rank: u32,
    /// The process of the latest test.
    pub child: u32,
    /// The address at which the C library keeps the number of its thread, which is another one in each child.
    pub tid_address: u64,
}

/// A request of the tracer: its number, the rank of the server that it is for, and whether that has to go on itself
/// instead of forking a test.
///
/// All in one word, because servers that nobody asks see it change as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted(pub u32);

impl Wanted {
    const RANK: u32 = 0x7f;
    const ITSELF: u32 = 0x80;

    /// The request after this one: a test of the server of that rank, below 128.
    pub fn next_test(self, rank: u8) -> Wanted {
        Wanted((self.0 & !0xff).wrapping_add(0x100) | u32::from(rank))
    }

    /// The request after this one: the server of that rank, below 128, goes on itself.
    pub fn go_on(self, rank: u8) -> Wanted {
        Wanted(self.next_test(rank).0 | Wanted::ITSELF)
    }

    /// Whether it is for the server of that rank.
    pub fn is_for(self, rank: u32) -> bool {
        self.0 & Wanted::RANK == rank
    }

    /// Whether the server has to go on itself.
    pub fn is_to_go_on(self) -> bool {
        self.0 & Wanted::ITSELF != 0
    }
}

/// The argument that the agent passes to a system call where that takes nothing, so that the tracer lets it through:
/// the same from a program is answered, or heard. "stripe".
pub const OWN_CALL: u64 = 0x6570_6972_7473;

/// The number of descriptors whose files a server's children find where they were at its checkpoint: those below this.
pub const MOST_FILES: usize = 16;

/// The descriptors of the output: to empty these files is the tracer's affair.
pub const OUTPUT: [usize; 2] = [1, 2];

/// The undefinition of registers where execution goes on after omitted statements.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Undefinition {
    /// The address where it goes on.
    pub resume: u64,
    /// The registers to be left alone, as in [`Site::live`].
    pub keep: u64,
    /// The values for the others among [`SCRATCH`].
    pub general: [u64; SCRATCH.len()],
    /// The value for the vector registers.
    pub vector: [u64; 2],
}

/// The area of the program's stack.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct StackArea {
    /// The stack pointer before the program's first instruction.
    pub base: u64,
    /// The limit of the stack: how far below the base it may grow, in bytes.
    pub limit: u64,
    /// The lowest address of it that is known to be mapped.
    pub floor: u64,
}

/// The reason why the agent has ended the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The run has left the recorded path.
    Left(Deviation),
    /// The limit of arrivals was reached.
    Enough,
    /// More calls are open than there is room for.
    TooDeep,
    /// Not an end: the process has become a server.
    Serving,
    /// The run does not leave the loop in which the recorded run has not ended.
    LoopsOn,
}

/// The verdict of the agent: an [`End`], or none, as numbers.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Verdict {
    kind: u32,
    details: [Link; 3],
}

impl Verdict {
    /// The agent has not ended the run.
    pub const NONE: Verdict = Verdict { kind: 0, details: [Link::NONE; 3] };

    /// The end that the agent has written, if any.
    pub fn get(self) -> Option<End> {
        let [first, second, third] = self.details.map(|link| link.get().unwrap_or(0));
        let deviation = match self.kind {
            1 => Deviation::Diverged {
                after: EventId(first),
                expected: LeaderId(second),
                reached: LeaderId(third),
            },
            2 => {
                Deviation::OtherCall { caller: self.details[0].get().map(EventId), entered: LeaderId(second) }
            }
            3 => Deviation::MissingCall { caller: EventId(first), missing: EventId(second) },
            4 => Deviation::RanPastEnd { after: EventId(first), reached: LeaderId(second) },
            5 => Deviation::NotEntered(LeaderId(first)),
            6 => return Some(End::Enough),
            7 => return Some(End::TooDeep),
            8 => return Some(End::Serving),
            9 => return Some(End::LoopsOn),
            _ => return None,
        };
        Some(End::Left(deviation))
    }
}

impl From<End> for Verdict {
    fn from(end: End) -> Verdict {
        let none = Link::NONE;
        let (kind, details) = match end {
            End::Left(Deviation::Diverged { after, expected, reached }) => {
                (1, [after.0.into(), expected.0.into(), reached.0.into()])
            }
            End::Left(Deviation::OtherCall { caller, entered }) => {
                (2, [caller.into(), entered.0.into(), none])
            }
            End::Left(Deviation::MissingCall { caller, missing }) => {
                (3, [caller.0.into(), missing.0.into(), none])
            }
            End::Left(Deviation::RanPastEnd { after, reached }) => {
                (4, [after.0.into(), reached.0.into(), none])
            }
            End::Left(Deviation::NotEntered(leader)) => (5, [leader.0.into(), none, none]),
            End::Enough => (6, [none; 3]),
            End::TooDeep => (7, [none; 3]),
            End::Serving => (8, [none; 3]),
            End::LoopsOn => (9, [none; 3]),
        };
        Verdict { kind, details }
    }
}

/// The session: all that the two sides share, but for the long tables that it points to.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Session {
    /// The program's stack pointer, while the agent works on a stack of its own.
    pub program_sp: u64,
    /// The address where to go on after the agent.
    pub target: u64,
    /// Two of the program's registers, while the code at a leader uses them.
    pub spare: [u64; 2],
    /// The undefinition of the registers there.
    pub undefinition: Undefinition,
    /// The address of the code that carries this out.
    pub undefine: u64,
    /// The work of the agent.
    pub duty: AgentMode,
    /// The number of open calls.
    pub depth: u32,
    /// The arrivals so far.
    pub pace: Pace,
    /// The position of the replay.
    pub position: Position,
    /// The arrival that the replay expects next; the code at the leaders moves it on.
    pub expectation: Expectation,
    /// The reason why the agent has ended the run.
    pub verdict: Verdict,
    /// The control flow: what makes a statement be executed.
    pub control: Control,
    /// The pattern of undefined memory.
    pub poison: Poison,
    /// The program's stack.
    pub stack: StackArea,
    /// The buffers in which arrivals are recorded.
    pub ring: Ring,
    /// The request for tests.
    pub service: Service,
    /// The open calls.
    pub calls: Span,
    /// A [`Mark`](crate::names::Mark) for each leader.
    pub marks: Span,
    /// A [`Site`] for each leader.
    pub sites: Span,
    /// The recorded events.
    pub events: Span,
    /// The recorded activations.
    pub activations: Span,
    /// The list of kept events: [`Script::kept`](crate::lockstep::Script::kept).
    pub kept: Span,
    /// The leaders of the loop in which the recorded run has not ended:
    /// [`Endless::leaders`](crate::tape::Endless::leaders).
    pub looping: Span,
    /// The number of them after which a replay has shown not to end: [`Endless::enough`](crate::tape::Endless::enough).
    pub enough: u32,
}

/// The offsets of what the code at the leaders needs, in bytes from the beginning of a [`Session`].
pub mod offset {
    use super::*;

    /// [`Session::program_sp`].
    pub const PROGRAM_SP: u64 = offset_of!(Session, program_sp) as u64;
    /// [`Session::spare`].
    pub const SPARE: u64 = offset_of!(Session, spare) as u64;
    /// The current event of [`Session::expectation`].
    pub const EVENT: u64 = offset_of!(Session, expectation.event) as u64;
    /// The stack pointer of [`Session::expectation`].
    pub const ENTRY_SP: u64 = offset_of!(Session, expectation.entry_sp) as u64;
    /// [`Pace::arrivals`].
    pub const ARRIVALS: u64 = offset_of!(Session, pace.arrivals) as u64;
    /// [`Ring::next`].
    pub const RING_NEXT: u64 = offset_of!(Session, ring.next) as u64;
    /// [`Ring::end`].
    pub const RING_END: u64 = offset_of!(Session, ring.end) as u64;
    /// [`Session::target`].
    pub const TARGET: u64 = offset_of!(Session, target) as u64;
    /// [`Undefinition::resume`].
    pub const RESUME: u64 = offset_of!(Session, undefinition.resume) as u64;
    /// [`Undefinition::keep`].
    pub const KEEP: u64 = offset_of!(Session, undefinition.keep) as u64;
    /// [`Undefinition::general`].
    pub const GENERAL: u64 = offset_of!(Session, undefinition.general) as u64;
    /// [`Undefinition::vector`].
    pub const VECTOR: u64 = offset_of!(Session, undefinition.vector) as u64;
}
