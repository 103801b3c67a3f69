//! The tape: the recorded run as the rules read it, its events in order, and the activation (call of a function) of
//! each.
//!
//! Only a view, of 12 bytes for each event and each activation. Whoever recorded the run owns the
//! memory, in whatever process.

use crate::names::{ActivationId, EventId, LeaderId, Link};

/// An event of the recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Event {
    /// The leader at which it began.
    pub leader: LeaderId,
    /// The activation that it belongs to.
    pub activation: ActivationId,
    /// The next event of the same activation.
    pub next: Link,
}

/// An activation: a call of a function in the recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Activation {
    /// The event of its entry.
    pub entry: EventId,
    /// The event that called it.
    pub caller: Link,
    /// The next activation that the same event called; for one that nobody called, the next such.
    pub sibling: Link,
}

/// The predicted arrival after an event: the next one in the same activation, where the way there needs no second look.
/// An arrival at `leader` is that event, if nothing else has happened since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct PredictedArrival {
    /// The event.
    pub event: Link,
    /// The leader at which it begins.
    pub leader: Link,
}

/// The loop in which a recorded run has not ended. The last event is the first one there that a replay does
/// not leave again by the recorded way.
#[derive(Clone, Copy, Debug)]
pub struct Endless<'a> {
    /// The leaders of the loop: 1 for each leader that it reaches in its own activation; leaders that are not in here
    /// are not in the loop. Empty if the run has ended.
    pub leaders: &'a [u8],
    /// The number of these leaders after which a replay has shown not to end, counted from the last event; 0 if only
    /// time can show that.
    pub enough: u32,
}

impl Endless<'_> {
    /// No loop: the run has ended.
    pub const NONE: Endless<'static> = Endless { leaders: &[], enough: 0 };

    /// Whether the loop reaches the leader in its own activation.
    #[inline(always)]
    pub fn has(&self, leader: LeaderId) -> bool {
        self.leaders.get(leader.0 as usize) == Some(&1)
    }
}

/// A recorded run.
#[derive(Clone, Copy, Debug)]
pub struct Tape<'a> {
    /// All events in order.
    pub events: &'a [Event],
    /// All activations, in the order of their entries.
    pub activations: &'a [Activation],
    /// The loop in which it has not ended.
    pub endless: Endless<'a>,
}

impl Tape<'_> {
    /// The leader at which the event began.
    #[inline(always)]
    pub fn leader(&self, event: EventId) -> LeaderId {
        self.events[event.0 as usize].leader
    }

    /// The activation that the event belongs to.
    #[inline(always)]
    pub fn activation(&self, event: EventId) -> ActivationId {
        self.events[event.0 as usize].activation
    }

    /// The next event of the same activation.
    #[inline(always)]
    pub fn next(&self, event: EventId) -> Option<EventId> {
        self.events[event.0 as usize].next.get().map(EventId)
    }

    /// The first activation that the event called: its entry is the very next event, because nothing else
    /// can happen before.
    #[inline(always)]
    pub fn first_callee(&self, event: EventId) -> Option<ActivationId> {
        let behind = EventId(event.0 + 1);
        let activation = self.events.get(behind.0 as usize)?.activation;
        (self.entry(activation) == behind && self.caller(activation) == Some(event)).then_some(activation)
    }

    /// The predicted arrival after the event; none if the event calls something, or the next one begins at the same
    /// leader: there an arrival may count or not.
    pub fn foreseen(&self, event: EventId) -> PredictedArrival {
        let next = self.next(event).filter(|&next| self.leader(next) != self.leader(event));
        match next.filter(|_| self.first_callee(event).is_none()) {
            Some(next) => PredictedArrival { event: next.0.into(), leader: self.leader(next).0.into() },
            None => PredictedArrival { event: Link::NONE, leader: Link::NONE },
        }
    }

    /// Whether the run never ends in the activation of this event and from it on.
    #[inline(always)]
    pub fn loops_from(&self, event: EventId) -> bool {
        !self.endless.leaders.is_empty() && event.0 as usize + 1 == self.events.len()
    }

    /// The first activation that nobody called: `main`, or a static constructor.
    pub fn first_root(&self) -> Option<ActivationId> {
        (!self.activations.is_empty()).then_some(ActivationId(0))
    }

    /// The next activation with the same caller.
    #[inline(always)]
    pub fn sibling(&self, activation: ActivationId) -> Option<ActivationId> {
        self.activations[activation.0 as usize].sibling.get().map(ActivationId)
    }

    /// The event at the entry of the activation.
    #[inline(always)]
    pub fn entry(&self, activation: ActivationId) -> EventId {
        self.activations[activation.0 as usize].entry
    }

    /// The event that called the activation; `None` for `main` and others that no traced code calls.
    #[inline(always)]
    pub fn caller(&self, activation: ActivationId) -> Option<EventId> {
        self.activations[activation.0 as usize].caller.get().map(EventId)
    }
}
