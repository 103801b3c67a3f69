//! The parts of a detour: where they lie, what happens there, which code they replace.

use iced_x86::Instruction;

/// The treatment of arrivals at a leader before the agent is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrivals {
    /// None: the agent is asked each time.
    Asked,
    /// The arrival is recorded in a buffer; the agent is asked when that is full.
    TakenDown,
    /// An expected arrival is let through.
    Expected,
}

/// The addresses of the agent's parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The end of the agent's stack, where it is empty.
    pub(crate) stack: u64,
    /// The session.
    pub(crate) session: u64,
    /// The code; the session has to be within reach of it.
    pub(crate) code: u64,
    /// The arrival that is predicted after each event, see [`agent::tape::PredictedArrival`].
    pub(crate) foreseen: u64,
    /// The events that are kept, see [`agent::lockstep::Script::kept`].
    pub(crate) kept: u64,
}

/// The code of a leader that is moved, as far as it lies in the text.
pub(super) struct MovedCode {
    /// The address of the leader's jump: the leader, or the one after the `endbr64` there.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) instructions: Vec<Instruction>,
}

/// The instruction of a breakpoint, `int3`.
pub(super) const INT3: u8 = 0xcc;
