//! Find what a criterion depends on in a recorded run: the *dynamic slice*, inferred from dependences.
//!
//! Unlike a critical slice, no execution in it was seen to be needed, and none was tried. An event depends on those
//! that have written what it reads (data), on the latest decision that has led to it (control), and, where no
//! decision has, on the event that called its function (call). In a *relevant slice* they depend, too, on decisions that
//! would have written what they read, had they gone another way (potential).
//!
//! Sources: Korel and Laski, "Dynamic Program Slicing", 1988; Agrawal and Horgan, "Dynamic Program Slicing", PLDI
//! 1990; for control Xin and Zhang, "Efficient Online Detection of Dynamic Control Dependence", ISSTA 2007; for
//! relevant slices Agrawal, Horgan, Krauser and London, "Incremental Regression Testing", ICSM 1993, and Gyimóthy,
//! Beszédes and Forgács, "An Efficient Relevant Slicing Method for Debugging", ESEC/FSE 1999.

use std::collections::{BTreeSet, HashMap};

use fixedbitset::FixedBitSet;
use tracer::dependence::{DataDependence, Dependences, PotentialDependence};
use tracer::schedule::{Control, Omission};
use tracer::trace::EventId;

use crate::subject::Recorded;

/// The kind of a dynamic slice: the dependences that are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SliceKind {
    /// Data dependences.
    Data,
    /// Data and control dependences, and calls.
    #[default]
    Full,
    /// Those of a full slice, and potential ones: the *relevant slice*.
    Relevant,
}

/// The dependences that a slice follows besides those of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reasons {
    /// None.
    None,
    /// The decisions that have led to an event, and the call of its function if none has.
    All,
    /// The same, and decisions that could have written what the event reads, had they gone another way.
    Potential,
    /// The call of its function alone, whatever decision has led to it there.
    Calls,
}

impl From<SliceKind> for Reasons {
    fn from(kind: SliceKind) -> Reasons {
        match kind {
            SliceKind::Data => Reasons::None,
            SliceKind::Full => Reasons::All,
            SliceKind::Relevant => Reasons::Potential,
        }
    }
}

/// The kind of a dependence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DependenceKind {
    /// The event has read what the other one has written.
    Data,
    /// The other one is the decision that has led to the event.
    Control,
    /// The other one has called the event's function.
    Call,
    /// The other one is a decision which would have written what the event has read, had it gone another way.
    Potential,
}

/// A dependence of an event on another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependence {
    /// The event that depends.
    pub from: EventId,
    /// The event that it depends on.
    pub to: EventId,
    /// The kind.
    pub kind: DependenceKind,
    /// The name of the value in the source; empty if it has no name, or there is none.
    pub name: String,
}

/// The direction in which dependences are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From an event to those that it depends on.
    Backward,
    /// The other way.
    Forward,
}

/// A dynamic slice: what a criterion depends on.
#[derive(Clone, Debug)]
pub struct DynamicSlice {
    /// The kind: which dependences were followed.
    pub kind: SliceKind,
    /// The direction.
    pub direction: Direction,
    /// The events that the criterion is about, in order.
    pub criterion: Vec<EventId>,
    /// All events, in order.
    pub events: Vec<EventId>,
    /// The events to which data dependences lead, or that the criterion is about.
    by_data: FixedBitSet,
    /// The dependences between them, by the event that depends.
    pub dependences: Vec<Dependence>,
}

impl DynamicSlice {
    /// True if the event is in the slice.
    pub fn has(&self, event: EventId) -> bool {
        self.events.binary_search(&event).is_ok()
    }

    /// True if it is there for what it writes, and not only because it leads to others.
    pub fn has_by_data(&self, event: EventId) -> bool {
        self.by_data.contains(event.0 as usize)
    }
}

/// The dependences of a recorded run.
pub struct DependenceGraph<'g> {
    data: &'g Dependences,
    recorded: Recorded<'g>,
    omission: Omission<'g>,
}

impl<'g> DependenceGraph<'g> {
    /// Adds control dependences to those of data.
    pub fn new(recorded: Recorded<'g>, data: &'g Dependences) -> DependenceGraph<'g> {
        let omission = Omission::new(recorded.program, recorded.trace, Control::Program);
        DependenceGraph { data, recorded, omission }
    }

    /// The dependences of an event on others.
    pub fn of(&self, event: EventId, kind: SliceKind) -> Vec<Dependence> {
        self.before(event, None, kind.into())
    }

    /// The dependences of an event that has gone on until the run reaches `limit`: an event that calls
    /// a function has not read yet what that returns.
    fn before(&self, event: EventId, limit: Option<EventId>, followed: Reasons) -> Vec<Dependence> {
        let is_early = |found: &DataDependence<'_>| limit.is_none_or(|limit| found.read_after < limit);
        let data = self.data.of(event).into_iter().filter(is_early).map(|found| Dependence {
            from: event,
            to: found.writer,
            kind: DependenceKind::Data,
            name: found.name.to_owned(),
        });
        let reasons = match followed {
            Reasons::None => Vec::new(),
            Reasons::All | Reasons::Potential => self.reasons(event),
            Reasons::Calls => self.calls(event),
        };
        let asked = followed == Reasons::Potential;
        let potential = self.data.potential(event).filter(|_| asked);
        let is_early = |found: &PotentialDependence<'_>| limit.is_none_or(|limit| found.read_after < limit);
        let potential = potential.filter(is_early).map(|found| Dependence {
            from: event,
            to: found.decision,
            kind: DependenceKind::Potential,
            name: found.name.to_owned(),
        });
        data.chain(reasons).chain(potential).collect()
    }

    /// The limit up to which an event that `from` depends on is followed: if it is still going on because
    /// it has called the function of `from`, the entry of that function.
    fn limit(&self, from: EventId, to: EventId) -> Option<EventId> {
        let trace = self.recorded.trace;
        let mut inner = from;
        for caller in trace.callers(from) {
            if caller == to {
                return Some(trace.entry(trace.activation(inner)));
            }
            // Callers come before what they call.
            if caller < to {
                return None;
            }
            inner = caller;
        }
        None
    }

    /// The reasons why the event took place: the decision that has led to it, or else the call of its
    /// function, and what has led to a call that is none of the program's own, such as that of a handler.
    fn reasons(&self, event: EventId) -> Vec<Dependence> {
        if let Some(decision) = self.omission.governor(event) {
            let kind = DependenceKind::Control;
            return vec![Dependence { from: event, to: decision, kind, name: String::new() }];
        }
        self.calls(event)
    }

    fn calls(&self, event: EventId) -> Vec<Dependence> {
        let trace = self.recorded.trace;
        let activation = trace.activation(event);
        let entry = trace.entry(activation);
        let has_led = |entry: &EventId| *entry != event && !self.data.of(*entry).is_empty();
        let calls = trace.caller(activation).into_iter().chain(Some(entry).filter(has_led));
        let call = |to| Dependence { from: event, to, kind: DependenceKind::Call, name: String::new() };
        calls.map(call).collect()
    }

    /// The backward slice: all that these events depend on, directly or not.
    pub fn backward(&self, criterion: &BTreeSet<EventId>, kind: SliceKind) -> DynamicSlice {
        self.closure(criterion, kind.into()).into_slice(criterion, (kind, Direction::Backward))
    }

    /// The events that these depend on where the trace states the control flow: by data, and because a function
    /// must be called. In order.
    pub fn effects(&self, criterion: &BTreeSet<EventId>) -> Vec<EventId> {
        self.closure(criterion, Reasons::Calls).events().collect()
    }

    fn closure(&self, criterion: &BTreeSet<EventId>, followed: Reasons) -> Closure {
        let mut found = Closure::of(criterion, self.recorded.trace.len());
        // The limit up to which each event has been followed: `None` to its end.
        let mut limits: HashMap<EventId, Option<EventId>> =
            criterion.iter().map(|&event| (event, None)).collect();
        let mut open: Vec<EventId> = criterion.iter().copied().collect();
        while let Some(event) = open.pop() {
            for dependence in self.before(event, limits[&event], followed) {
                let limit = self.limit(event, dependence.to);
                let known = limits.get(&dependence.to).copied();
                let is_news = match (known, limit) {
                    (None, _) => true,
                    (Some(None), _) => false,
                    (Some(Some(_)), None) => true,
                    (Some(Some(known)), Some(limit)) => known < limit,
                };
                if is_news {
                    limits.insert(dependence.to, limit);
                    open.push(dependence.to);
                }
                found.add(dependence.to, dependence);
            }
        }
        found
    }

    /// The forward slice: all that depends on these events, directly or not.
    pub fn forward(&self, criterion: &BTreeSet<EventId>, kind: SliceKind) -> DynamicSlice {
        let trace = self.recorded.trace;
        let mut dependents: Vec<Vec<EventId>> = vec![Vec::new(); trace.len()];
        for event in trace.events() {
            for dependence in self.of(event, kind) {
                dependents[dependence.to.0 as usize].push(event);
            }
        }
        let mut found = Closure::of(criterion, trace.len());
        let mut open: Vec<EventId> = criterion.iter().copied().collect();
        while let Some(event) = open.pop() {
            for &from in &dependents[event.0 as usize] {
                for dependence in self.of(from, kind).into_iter().filter(|found| found.to == event) {
                    if found.add(from, dependence) {
                        open.push(from);
                    }
                }
            }
        }
        found.into_slice(criterion, (kind, Direction::Forward))
    }
}

/// The transitive closure of dependences, while it grows.
struct Closure {
    events: FixedBitSet,
    by_data: FixedBitSet,
    dependences: BTreeSet<Dependence>,
}

impl Closure {
    fn of(criterion: &BTreeSet<EventId>, events: usize) -> Closure {
        let mut found = FixedBitSet::with_capacity(events);
        criterion.iter().for_each(|event| found.insert(event.0 as usize));
        Closure { by_data: found.clone(), events: found, dependences: BTreeSet::new() }
    }

    /// Adds an event to which a dependence leads; returns whether it is a new one.
    fn add(&mut self, event: EventId, dependence: Dependence) -> bool {
        if dependence.kind == DependenceKind::Data {
            self.by_data.insert(event.0 as usize);
        }
        self.dependences.insert(dependence);
        !self.events.put(event.0 as usize)
    }

    fn events(&self) -> impl Iterator<Item = EventId> + '_ {
        self.events.ones().map(|event| EventId(event as u32))
    }

    fn into_slice(
        self,
        criterion: &BTreeSet<EventId>,
        (kind, direction): (SliceKind, Direction),
    ) -> DynamicSlice {
        DynamicSlice {
            kind,
            direction,
            criterion: criterion.iter().copied().collect(),
            events: self.events().collect(),
            by_data: self.by_data,
            dependences: self.dependences.into_iter().collect(),
        }
    }
}
