//! The numbers of the things that a trace is about: leaders, functions, events, activations.

/// A leader, the address where an event begins, by its position among the program's leaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct LeaderId(pub u32);

/// A function by its position among the program's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct FunctionId(pub u32);

/// An event by its position in the trace, from 0. Users see it counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct EventId(pub u32);

impl EventId {
    /// The number that users see: events count from 1, and it is also the event's time.
    pub fn time(self) -> u32 {
        self.0 + 1
    }
}

/// A call of a function by its position in the order of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ActivationId(pub u32);

/// An optional position in four bytes: the last number stands for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Link(u32);

impl Default for Link {
    fn default() -> Link {
        Link::NONE
    }
}

impl Link {
    /// No position.
    pub const NONE: Link = Link(u32::MAX);

    /// The position, if there is one.
    #[inline(always)]
    pub fn get(self) -> Option<u32> {
        if self.0 == u32::MAX { None } else { Some(self.0) }
    }

    /// Whether it is this position.
    #[inline(always)]
    pub fn is(self, position: u32) -> bool {
        self.0 == position
    }
}

impl From<u32> for Link {
    #[inline(always)]
    fn from(position: u32) -> Link {
        Link(position)
    }
}

impl From<Option<u32>> for Link {
    #[inline(always)]
    fn from(position: Option<u32>) -> Link {
        match position {
            Some(position) => Link(position),
            None => Link::NONE,
        }
    }
}

impl From<Option<EventId>> for Link {
    #[inline(always)]
    fn from(event: Option<EventId>) -> Link {
        Link::from(event.map(|event| event.0))
    }
}

impl From<Option<ActivationId>> for Link {
    #[inline(always)]
    fn from(activation: Option<ActivationId>) -> Link {
        Link::from(activation.map(|activation| activation.0))
    }
}

/// The kind of a leader: why an address is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LeaderKind {
    /// The entry of a function: sets up its frame, structural.
    Entry,
    /// A statement of the user's.
    Statement,
    /// The epilogue before a `ret`: tears down the frame, structural.
    Epilogue,
}

impl LeaderKind {
    /// Whether the leader serves the frame and is never omitted.
    pub fn is_structural(self) -> bool {
        self != LeaderKind::Statement
    }
}

/// The mark of a leader: what the rules have to know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Mark {
    /// The function that it belongs to.
    pub function: FunctionId,
    /// The reason why it is a leader.
    pub kind: LeaderKind,
}

/// The control flow of a replay: what makes a statement be executed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Control {
    /// The trace states the control flow; a branch has no effect of its own.
    Trace,
    /// A branch decides, and has to go as recorded.
    Program,
}
