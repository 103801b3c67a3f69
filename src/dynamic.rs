//! Find what a criterion depends on in a recorded run: the *dynamic slice*, inferred from dependences.
//!
//! Unlike a critical slice, no execution in it was seen to be needed, and none was tried. An event depends on those
//! that have written what it reads (data), on the latest decision that has led to it (control), and, where no
//! decision has, on the event that called its function (call).
//!
//! Sources: Korel and Laski, "Dynamic Program Slicing", 1988; Agrawal and Horgan, "Dynamic Program Slicing", PLDI
//! 1990; for control Xin and Zhang, "Efficient Online Detection of Dynamic Control Dependence", ISSTA 2007.

use std::collections::BTreeSet;

use fixedbitset::FixedBitSet;
use tracer::dependence::Dependences;
use tracer::schedule::{Control, Omission};
use tracer::trace::EventId;

use crate::subject::Recorded;

/// Which dependences are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SliceKind {
    /// Those of data.
    Data,
    /// Those of data and of control, and calls.
    #[default]
    Full,
}

/// Why an event depends on another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DependenceKind {
    /// It has read what that one has written.
    Data,
    /// That one is the decision that has led to it.
    Control,
    /// That one has called its function.
    Call,
}

/// An event depends on another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependence {
    /// The event that depends.
    pub from: EventId,
    /// The event that it depends on.
    pub to: EventId,
    /// Why.
    pub kind: DependenceKind,
    /// What the source calls the value; empty if it has no name, or there is none.
    pub name: String,
}

/// Which way dependences are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From what depends to what it depends on.
    Backward,
    /// The other way.
    Forward,
}

/// What a criterion depends on.
#[derive(Clone, Debug)]
pub struct DynamicSlice {
    /// Which dependences were followed.
    pub kind: SliceKind,
    /// Which way.
    pub direction: Direction,
    /// The events that the criterion is about, in order.
    pub criterion: Vec<EventId>,
    /// All events, in order.
    pub events: Vec<EventId>,
    /// Those of them to which dependences of data lead, or that the criterion is about.
    by_data: FixedBitSet,
    /// The dependences between them, by the event that depends.
    pub dependences: Vec<Dependence>,
}

impl DynamicSlice {
    /// Whether the event is in the slice.
    pub fn has(&self, event: EventId) -> bool {
        self.events.binary_search(&event).is_ok()
    }

    /// Whether it is there for what it writes, and not only because it leads to others.
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
    /// Adds to the dependences of data those of control.
    pub fn new(recorded: Recorded<'g>, data: &'g Dependences) -> DependenceGraph<'g> {
        let omission = Omission::new(recorded.program, recorded.trace, Control::Program);
        DependenceGraph { data, recorded, omission }
    }

    /// What an event depends on.
    pub fn of(&self, event: EventId, kind: SliceKind) -> Vec<Dependence> {
        let data = self.data.of(event).into_iter().map(|found| Dependence {
            from: event,
            to: found.writer,
            kind: DependenceKind::Data,
            name: found.name.to_owned(),
        });
        let reasons = if kind == SliceKind::Full { self.reasons(event) } else { Vec::new() };
        data.chain(reasons).collect()
    }

    /// Why the event took place: the decision that has led to it, or else the call of its function, and what has
    /// led to a call that is none of the program's own, such as that of a handler.
    fn reasons(&self, event: EventId) -> Vec<Dependence> {
        let trace = self.recorded.trace;
        let reason = |to, kind| Dependence { from: event, to, kind, name: String::new() };
        if let Some(decision) = self.omission.governor(event) {
            return vec![reason(decision, DependenceKind::Control)];
        }
        let activation = trace.activation(event);
        let entry = trace.entry(activation);
        let has_led = |entry: &EventId| *entry != event && !self.data.of(*entry).is_empty();
        let calls = trace.caller(activation).into_iter().chain(Some(entry).filter(has_led));
        calls.map(|to| reason(to, DependenceKind::Call)).collect()
    }

    /// All that these events depend on, directly or not.
    pub fn backward(&self, criterion: &BTreeSet<EventId>, kind: SliceKind) -> DynamicSlice {
        self.closed(criterion, kind, Direction::Backward, |event| self.of(event, kind))
    }

    /// All that depends on these events, directly or not.
    pub fn forward(&self, criterion: &BTreeSet<EventId>, kind: SliceKind) -> DynamicSlice {
        let mut dependents: Vec<Vec<EventId>> = vec![Vec::new(); self.recorded.trace.len()];
        for event in self.recorded.trace.events() {
            for dependence in self.of(event, kind) {
                dependents[dependence.to.0 as usize].push(event);
            }
        }
        self.closed(criterion, kind, Direction::Forward, |event| {
            let of = |&from: &EventId| self.of(from, kind).into_iter().filter(|found| found.to == event);
            dependents[event.0 as usize].iter().flat_map(of).collect()
        })
    }

    fn closed(
        &self,
        criterion: &BTreeSet<EventId>,
        kind: SliceKind,
        direction: Direction,
        next: impl Fn(EventId) -> Vec<Dependence>,
    ) -> DynamicSlice {
        let mut found = FixedBitSet::with_capacity(self.recorded.trace.len());
        criterion.iter().for_each(|event| found.insert(event.0 as usize));
        let mut by_data = found.clone();
        let mut open: Vec<EventId> = criterion.iter().copied().collect();
        let mut dependences = Vec::new();
        while let Some(event) = open.pop() {
            for dependence in next(event) {
                let other = match direction {
                    Direction::Backward => dependence.to,
                    Direction::Forward => dependence.from,
                };
                if dependence.kind == DependenceKind::Data {
                    by_data.insert(other.0 as usize);
                }
                if !found.put(other.0 as usize) {
                    open.push(other);
                }
                dependences.push(dependence);
            }
        }
        dependences.sort();
        dependences.dedup();
        let events = found.ones().map(|event| EventId(event as u32)).collect();
        DynamicSlice {
            kind,
            direction,
            criterion: criterion.iter().copied().collect(),
            events,
            by_data,
            dependences,
        }
    }
}
