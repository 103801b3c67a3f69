//! The observation of events: what they read and wrote, and which event has written what another one reads.
//!
//! A value is its type, its bytes, and the text that the language of the program has for it. Only events that were
//! looked at are here; what others did is not known.

use std::collections::BTreeMap;

pub use crate::program::variables::Value;
use crate::trace::EventId;

/// The observation of some events of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observation {
    /// The events that were looked at, with what they read and wrote.
    pub seen: BTreeMap<EventId, Seen>,
    /// The flows from event to event, in the order of those that read; each pair once for each name.
    pub flows: Vec<Flow>,
    /// The reason why not all events were looked at, or not as long as they took.
    pub limit: Option<Limit>,
}

impl Observation {
    /// The part of it that concerns only these events.
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

/// The values that an event read and wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The values read, in the order of their first reads.
    pub reads: Vec<Reading>,
    /// The values written, in the order of their first writes.
    pub writes: Vec<Writing>,
}

/// A value that an event read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The name in the source: `sum`, `p->next`; of what a function returned, `f()`.
    pub name: String,
    /// Whether a function has returned it, so that it has no place in memory.
    pub is_returned: bool,
    /// The value.
    pub value: Value,
}

/// A value that an event wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writing {
    /// The name in the source.
    pub name: String,
    /// The value before the event; `None` if its memory could not be read then.
    pub before: Option<Value>,
    /// The value after the event; `None` if its memory could not be read then.
    pub after: Option<Value>,
}

/// A flow: an event reads what another one has written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// The event that has read.
    pub to: EventId,
    /// The event that had written.
    pub from: EventId,
    /// The name that the reading event has for it.
    pub name: String,
}

/// The reason why not everything was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// This event has too many instructions, and was not looked at to its end.
    Event(EventId),
    /// The largest number of instructions that is worth the time was looked at; this event was the last one.
    Instructions(EventId),
    /// The run did not go as recorded after this event.
    LeftPath(Option<EventId>),
    /// The run took too long.
    Time,
}
