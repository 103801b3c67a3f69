//! Name the parts of a detour: where they lie, what happens there, which code they take the place of.

use iced_x86::Instruction;

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
    /// What is foreseen behind each event, see [`agent::tape::PredictedArrival`].
    pub(crate) foreseen: u64,
    /// Which events are kept, see [`agent::lockstep::Script::kept`].
    pub(crate) kept: u64,
}

/// The code of a leader that is moved, as far as it lies in the text.
pub(super) struct MovedCode {
    /// Where the leader's jump goes: the leader, or behind the `endbr64` there.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) instructions: Vec<Instruction>,
}

/// The instruction of a breakpoint.
pub(super) const INT3: u8 = 0xcc;
