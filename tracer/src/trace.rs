//! The trace of a run: its events in order, and the activation (call of a function) of each.
//!
//! An *event* is the arrival at a leader; an arrival at the leader that was reached last, with no other
//! leader in between, does not count. Events carry no values, only their place in the order; 12 bytes
//! each, and 12 for each activation, whatever the program.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use agent::calls::{Call, Calls};
pub use agent::names::{ActivationId, EventId};
use agent::names::{LeaderId, LeaderKind, Link, Mark};
use agent::tape::{self, Activation, Event, Tape};

use crate::process::{Sealed, roomy};
use crate::program::Program;
use crate::termination::Cut;

/// The trace of a run. Its copies share their memory.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Trace(Arc<Tables>);

#[derive(Clone, PartialEq, Eq, Default)]
struct Tables {
    events: Vec<Event>,
    activations: Vec<Activation>,
    endless: Option<Endless>,
    /// The leaders of the loop: 1 for each leader that it has, as the rules of a replay read it.
    looping: Vec<u8>,
    for_programs: ForPrograms,
}

impl Tables {
    /// Removes all events after the first so many.
    fn end_after(&mut self, length: usize) {
        assert!(length <= self.events.len(), "a trace has its beginning");
        self.events.truncate(length);
        let kept = self.activations.partition_point(|activation| (activation.entry.0 as usize) < length);
        self.activations.truncate(kept);
        let late = |link: Link, end: usize| match link.get() {
            Some(position) if (position as usize) < end => link,
            _ => Link::NONE,
        };
        self.events.iter_mut().for_each(|event| event.next = late(event.next, length));
        self.activations.iter_mut().for_each(|call| call.sibling = late(call.sibling, kept));
        self.events.shrink_to_fit();
        self.activations.shrink_to_fit();
        self.for_programs = ForPrograms::default();
    }
}

/// The tables in memory that programs can map: one copy for all who replay the trace at the same time, because it takes
/// more than the trace itself.
#[derive(Default)]
struct ForPrograms(Mutex<Weak<Sealed>>);

/// A copy of the tables has no such memory yet.
impl Clone for ForPrograms {
    fn clone(&self) -> ForPrograms {
        ForPrograms::default()
    }
}

/// All are equal: the memory says nothing that the tables do not.
impl PartialEq for ForPrograms {
    fn eq(&self, _: &ForPrograms) -> bool {
        true
    }
}

impl Eq for ForPrograms {}

/// The loop in which a run goes round for ever, or the statement that never ends.
///
/// Of such a run only the beginning is recorded. The last event of its trace is where the loop is reached for
/// the second time; what never ends is the activation of that event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endless {
    /// The reason why the run was ended while it was recorded.
    pub cut: Cut,
    /// The leaders of the loop in that activation, in their order.
    pub leaders: Vec<LeaderId>,
    /// The number of them after which a replay has shown not to end, counted from the last event; 0 for a single
    /// statement that never ends, where only time can show it.
    pub enough: u32,
    /// The number of arrivals of all kinds that this has taken in the recorded run.
    pub arrivals: u64,
    /// The number of events before the run was ended.
    pub events: u64,
    /// The time without an event before the run was ended.
    pub silence: Duration,
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

    /// The tape: the recorded run, as the rules of a replay read it.
    pub fn tape(&self) -> Tape<'_> {
        let Tables { events, activations, endless, looping, .. } = &*self.0;
        let enough = endless.as_ref().map_or(0, |endless| endless.enough);
        Tape { events, activations, endless: tape::Endless { leaders: looping, enough } }
    }

    /// The loop in which the run has not ended; `None` if it has.
    pub fn endless(&self) -> Option<&Endless> {
        self.0.endless.as_ref()
    }

    /// The first so many events of the trace, as a run that ends there.
    ///
    /// # Panics
    /// If it has fewer.
    pub fn beginning(self, events: usize) -> Trace {
        let mut tables = Arc::unwrap_or_clone(self.0);
        tables.end_after(events);
        Trace(Arc::new(tables))
    }

    /// The same trace up to and including this event, as that of a run that never ends.
    ///
    /// # Panics
    /// If the event is not in the trace.
    pub fn that_never_ends(self, last: EventId, endless: Endless) -> Trace {
        let mut tables = Arc::unwrap_or_clone(self.0);
        tables.end_after(last.0 as usize + 1);
        let looping = endless.leaders.iter().max().map_or(1, |last| last.0 as usize + 1);
        tables.looping = vec![0; looping];
        endless.leaders.iter().for_each(|leader| tables.looping[leader.0 as usize] = 1);
        tables.endless = Some(endless);
        Trace(Arc::new(tables))
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

    /// The number of traced calls in which the event lies, 0 in `main`.
    pub fn depth(&self, event: EventId) -> usize {
        self.callers(event).count()
    }

    /// The events that called the event's activation, innermost first.
    pub fn callers(&self, event: EventId) -> impl Iterator<Item = EventId> {
        let caller_of = |event| self.caller(self.activation(event));
        std::iter::successors(caller_of(event), move |&caller| caller_of(caller))
    }

    /// Whether the event can be omitted at all: it is no entry or epilogue, and its activation goes on after it.
    pub fn is_omittable(&self, program: &Program, event: EventId) -> bool {
        let kind = program.leader(self.leader(event)).kind;
        !kind.is_structural() && self.next(event).is_some()
    }

    /// The tables in memory that programs can map, which `make` makes unless somebody has them already.
    ///
    /// # Errors
    /// If they cannot be made.
    pub(crate) fn for_programs<E>(&self, make: impl FnOnce() -> Result<Sealed, E>) -> Result<Arc<Sealed>, E> {
        let mut known = self.0.for_programs.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = known.upgrade() {
            return Ok(shared);
        }
        let shared = Arc::new(make()?);
        *known = Arc::downgrade(&shared);
        Ok(shared)
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

    /// The size of the trace in memory, in bytes.
    pub fn memory(&self) -> usize {
        let Tables { events, activations, .. } = &*self.0;
        events.capacity() * size_of::<Event>() + activations.capacity() * size_of::<Activation>()
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trace({} events, {} activations)", self.len(), self.0.activations.len())
    }
}

/// The reason why arrivals do not form a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenTrace {
    /// Control reached the middle of a function that was not entered, or that was left: the program
    /// switches stacks.
    NotEntered(LeaderId),
    /// More events than a trace can number.
    TooLong,
}

/// The number of events for which there is room at once.
const ROOM: usize = 64 << 20;

/// The builder's state of an open call.
struct Open {
    activation: ActivationId,
    last: EventId,
    /// The latest activation that `last` called.
    callee: Link,
}

/// The builder of a trace, from arrivals at leaders.
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
        TraceBuilder { trace: Tables { events, ..Tables::default() }, ..TraceBuilder::default() }
    }

    /// Adds an arrival at `leader` with the stack pointer `sp`; returns the event, or `None` for an arrival that does
    /// not count.
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

    /// The size of the trace in memory so far, in bytes.
    pub fn memory(&self) -> u64 {
        let Tables { events, activations, .. } = &self.trace;
        (size_of_val(&events[..]) + size_of_val(&activations[..])) as u64
    }

    /// Whether there was no event yet.
    pub fn is_empty(&self) -> bool {
        self.trace.events.is_empty()
    }

    /// The leaders of the latest event of each open call, innermost first: what the program is doing.
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
