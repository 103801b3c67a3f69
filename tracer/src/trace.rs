//! Hold what a run did: its events in order, and the activation (call of a function) of each.
//!
//! An *event* is the arrival at a leader; an arrival at the leader that was reached last, with no other
//! leader in between, does not count. Events carry no values, only their place in the order; 12 bytes
//! each, and 12 for each activation, whatever the program.

use std::fmt;
use std::sync::Arc;

use agent::calls::{Call, Calls};
pub use agent::names::{ActivationId, EventId};
use agent::names::{LeaderId, LeaderKind, Link, Mark};
use agent::tape::{Activation, Event, Tape};

use crate::process::roomy;
use crate::program::Program;

/// The trace of a run. Its copies share their memory.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Trace(Arc<Tables>);

#[derive(PartialEq, Eq, Default)]
struct Tables {
    events: Vec<Event>,
    activations: Vec<Activation>,
}

impl Trace {
    /// The number of events.
    pub fn len(&self) -> usize {
        self.0.events.len()
    }

    /// Whether nothing traced was executed.
    pub fn is_empty(&self) -> bool {
        self.0.events.is_empty()
    }

    /// All events in order.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = EventId> + use<> {
        (0..self.0.events.len() as u32).map(EventId)
    }

    /// The recorded run, as the rules of a replay read it.
    pub fn tape(&self) -> Tape<'_> {
        Tape { events: &self.0.events, activations: &self.0.activations }
    }

    /// The leader that the event reached.
    pub fn leader(&self, event: EventId) -> LeaderId {
        self.tape().leader(event)
    }

    /// The activation that the event belongs to.
    pub fn activation(&self, event: EventId) -> ActivationId {
        self.tape().activation(event)
    }

    /// The next event of the same activation.
    pub fn next(&self, event: EventId) -> Option<EventId> {
        self.tape().next(event)
    }

    /// The event at the entry of the activation.
    pub fn entry(&self, activation: ActivationId) -> EventId {
        self.tape().entry(activation)
    }

    /// The event that called the activation; `None` for `main` and others that no traced code calls.
    pub fn caller(&self, activation: ActivationId) -> Option<EventId> {
        self.tape().caller(activation)
    }

    /// How many traced calls the event is deep, 0 in `main`.
    pub fn depth(&self, event: EventId) -> usize {
        self.callers(event).count()
    }

    /// The events that called the event's activation, innermost first.
    pub fn callers(&self, event: EventId) -> impl Iterator<Item = EventId> {
        let caller_of = |event| self.caller(self.activation(event));
        std::iter::successors(caller_of(event), move |&caller| caller_of(caller))
    }

    /// Whether the event can be omitted at all: it is no entry or epilogue, and its activation goes on
    /// behind it.
    pub fn is_omittable(&self, program: &Program, event: EventId) -> bool {
        let kind = program.leader(self.leader(event)).kind;
        !kind.is_structural() && self.next(event).is_some()
    }

    /// Whether the other is a copy of this one.
    pub(crate) fn is(&self, other: &Trace) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The first event in which this trace differs from another; `None` if they are equal.
    pub fn first_difference(&self, other: &Trace) -> Option<EventId> {
        let (one, other) = (&self.0.events, &other.0.events);
        let differs =
            |(one, other): (&Event, &Event)| one.leader != other.leader || one.activation != other.activation;
        let common = one.len().min(other.len());
        let position = one.iter().zip(other).position(differs);
        match position {
            Some(position) => Some(EventId(position as u32)),
            None if one.len() != other.len() => Some(EventId(common as u32)),
            None => None,
        }
    }

    /// How many bytes of memory the trace holds.
    pub fn memory(&self) -> usize {
        let Tables { events, activations } = &*self.0;
        events.capacity() * size_of::<Event>() + activations.capacity() * size_of::<Activation>()
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trace({} events, {} activations)", self.len(), self.0.activations.len())
    }
}

/// Why arrivals do not form a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenTrace {
    /// Control reached the middle of a function that was not entered, or that was left: the program
    /// switches stacks.
    NotEntered(LeaderId),
    /// More events than a trace can number.
    TooLong,
}

/// For so many events there is room at once.
const ROOM: usize = 64 << 20;

/// What the builder knows of an open call.
struct Open {
    activation: ActivationId,
    last: EventId,
    /// The latest activation that `last` called.
    callee: Link,
}

/// Makes a trace of arrivals at leaders.
#[derive(Default)]
pub struct TraceBuilder {
    trace: Tables,
    calls: Calls<Vec<Call<Open>>>,
    latest_root: Option<ActivationId>,
    last: Link,
}

impl TraceBuilder {
    /// Begins a trace with room for a long run: pages that are touched one by one would cost more than all
    /// else.
    pub(crate) fn with_room() -> TraceBuilder {
        let events = roomy(ROOM);
        TraceBuilder { trace: Tables { events, activations: Vec::new() }, ..TraceBuilder::default() }
    }

    /// Takes down that the run has reached `leader` with the stack pointer `sp`; tells the event, or
    /// `None` for an arrival that does not count.
    ///
    /// # Errors
    /// If the arrivals so far cannot come from calls and returns on one stack.
    pub fn arrive(
        &mut self,
        program: &Program,
        leader: LeaderId,
        sp: u64,
    ) -> Result<Option<EventId>, BrokenTrace> {
        if self.last.is(leader.0) {
            return Ok(None);
        }
        self.last = leader.0.into();
        if self.trace.events.len() >= (u32::MAX - 1) as usize {
            return Err(BrokenTrace::TooLong);
        }
        let event = EventId(self.trace.events.len() as u32);
        let reached = program.mark(leader);
        if !self.calls.settle(reached, sp) {
            return Err(BrokenTrace::NotEntered(leader));
        }
        let activation = if reached.kind == LeaderKind::Entry {
            self.enter(event, reached, sp)
        } else {
            self.go_on(event)
        };
        self.calls.go_on(reached);
        self.trace.events.push(Event { leader, activation, next: Link::NONE });
        Ok(Some(event))
    }

    /// The number of events so far.
    pub fn len(&self) -> usize {
        self.trace.events.len()
    }

    /// Whether there was no event yet.
    pub fn is_empty(&self) -> bool {
        self.trace.events.is_empty()
    }

    /// Where the latest event of each open call began, innermost first: what the program is doing.
    pub fn stack(&self) -> impl Iterator<Item = LeaderId> + '_ {
        self.calls.iter().map(|open| self.trace.events[open.last.0 as usize].leader)
    }

    /// The finished trace.
    pub fn finish(mut self) -> Trace {
        self.trace.events.shrink_to_fit();
        self.trace.activations.shrink_to_fit();
        Trace(Arc::new(self.trace))
    }

    fn enter(&mut self, event: EventId, entry: Mark, sp: u64) -> ActivationId {
        let activation = ActivationId(self.trace.activations.len() as u32);
        let caller = self.calls.innermost().map(|open| open.last);
        self.trace.activations.push(Activation { entry: event, caller: caller.into(), sibling: Link::NONE });
        let elder = match self.calls.innermost_mut() {
            Some(open) => std::mem::replace(&mut open.callee, Link::from(activation.0)).get(),
            None => self.latest_root.replace(activation).map(|root| root.0),
        };
        if let Some(elder) = elder {
            self.trace.activations[elder as usize].sibling = Link::from(activation.0);
        }
        self.calls.enter(entry, sp, Open { activation, last: event, callee: Link::NONE });
        activation
    }

    fn go_on(&mut self, event: EventId) -> ActivationId {
        let open = self.calls.innermost_mut().expect("control is in an open call");
        self.trace.events[open.last.0 as usize].next = Link::from(event.0);
        open.last = event;
        open.callee = Link::NONE;
        open.activation
    }
}
