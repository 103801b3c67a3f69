//! Hold what events read and wrote, and which event has written what another one reads.
//!
//! Values are texts, as the language of the program writes them. Only events that were looked at are here;
//! what others did is not known.

use std::collections::BTreeMap;

use crate::trace::EventId;

/// What was seen of some events of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// The events that were looked at, with what they read and wrote.
    pub seen: BTreeMap<EventId, Seen>,
    /// Which event feeds which, in the order of those that are fed; each pair once for each name.
    pub flows: Vec<Flow>,
    /// Why not all events were looked at, or not as long as they took.
    pub limit: Option<Limit>,
}

impl Observation {
    /// As much of it as concerns only these events.
    pub fn of(&self, is_meant: impl Fn(EventId) -> bool) -> Observation {
        let seen = self.seen.iter().filter(|(event, _)| is_meant(**event));
        let flows = self.flows.iter().filter(|flow| is_meant(flow.from) && is_meant(flow.to));
        Observation {
            seen: seen.map(|(event, seen)| (*event, seen.clone())).collect(),
            flows: flows.cloned().collect(),
            limit: self.limit,
        }
    }
}

/// What an event read and wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// In the order in which it read them first.
    pub reads: Vec<Reading>,
    /// In the order in which it wrote them first.
    pub writes: Vec<Writing>,
}

/// A value that an event read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// As the source calls it: `sum`, `p->next`; `f()` for what a function returned.
    pub name: String,
    /// The value.
    pub value: String,
}

/// A value that an event wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writing {
    /// As the source calls it.
    pub name: String,
    /// The value before the event.
    pub before: String,
    /// The value behind it.
    pub after: String,
}

/// An event reads what another one has written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// The event that has read.
    pub to: EventId,
    /// The event that had written.
    pub from: EventId,
    /// As the reading event calls it.
    pub name: String,
}

/// Why not everything was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// This event has too many instructions, and was not looked at to its end.
    Event(EventId),
    /// As many instructions were looked at as are worth the time; this event was the last one.
    Instructions(EventId),
    /// The run did not go as recorded behind this event.
    LeftPath(Option<EventId>),
    /// The run took too long.
    Time,
}
