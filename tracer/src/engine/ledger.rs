//! The ledger of what events read and write, which tells who has written what an event reads.
//!
//! Pure: what happens is told from outside. Memory is known byte by byte: the event that was last seen to
//! write a byte has written it, if it still holds what that event left there; otherwise somebody else has,
//! who was not looked at.

use std::collections::{BTreeSet, HashMap};

use crate::observation::{Flow, Observation, Reading, Writing};
use crate::program::variables::Value;
use crate::trace::EventId;

/// The reads and writes so far.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) observation: Observation,
    flows: BTreeSet<Flow>,
    /// The writer of a byte and what it wrote, by address.
    writers: HashMap<u64, (EventId, u8)>,
}

impl Ledger {
    /// Adds an event that is looked at.
    pub(crate) fn begin(&mut self, event: EventId) {
        self.observation.seen.entry(event).or_default();
    }

    /// Notes that an event reads a value; what it has written itself does not count.
    pub(crate) fn reads(&mut self, event: EventId, name: &str, value: impl FnOnce() -> Option<Value>) {
        let seen = self.observation.seen.entry(event).or_default();
        let is_known = seen.reads.iter().any(|reading| reading.name == name);
        let is_own = seen.writes.iter().any(|writing| writing.name == name);
        if let Some(value) = (!is_known && !is_own).then(value).flatten() {
            seen.reads.push(Reading { name: name.to_owned(), is_returned: false, value });
        }
    }

    /// Notes that an event takes what a function has returned; `name` is that of the call, `f()`.
    pub(crate) fn takes(&mut self, event: EventId, name: &str, value: Value) {
        let reads = &mut self.observation.seen.entry(event).or_default().reads;
        if !reads.iter().any(|reading| reading.name == name) {
            reads.push(Reading { name: name.to_owned(), is_returned: true, value });
        }
    }

    /// Notes that an event is about to write a value, which is `before` now; returns true if that was not known.
    pub(crate) fn writes(
        &mut self,
        event: EventId,
        name: &str,
        before: impl FnOnce() -> Option<Value>,
    ) -> bool {
        let seen = self.observation.seen.entry(event).or_default();
        if seen.writes.iter().any(|writing| writing.name == name) {
            return false;
        }
        seen.writes.push(Writing { name: name.to_owned(), before: before(), after: None });
        true
    }

    /// Forgets what the event has written under this name: a larger value holds it.
    pub(crate) fn forget(&mut self, event: EventId, name: &str) {
        if let Some(seen) = self.observation.seen.get_mut(&event) {
            seen.writes.retain(|writing| writing.name != name);
        }
    }

    /// Notes what a value that the event has written is now.
    pub(crate) fn leaves(&mut self, event: EventId, name: &str, after: Option<Value>) {
        let seen = self.observation.seen.get_mut(&event);
        let writing = seen.and_then(|seen| seen.writes.iter_mut().find(|writing| writing.name == name));
        if let Some(writing) = writing {
            writing.after = after;
        }
    }

    /// Notes that the bytes from `address` on have just been written by `event`.
    pub(crate) fn wrote(&mut self, event: EventId, address: u64, bytes: &[u8]) {
        for (&byte, at) in bytes.iter().zip(address..) {
            self.writers.insert(at, (event, byte));
        }
    }

    /// Notes that the bytes from `address` on, which the source calls `name`, are read by `event`.
    pub(crate) fn read(&mut self, event: EventId, address: u64, bytes: &[u8], name: &str) {
        let sources: BTreeSet<EventId> = self.sources(address, bytes).collect();
        for from in sources.into_iter().filter(|&from| from != event) {
            self.flows.insert(Flow { from, to: event, name: name.to_owned() });
        }
    }

    /// The events that have written these bytes, as far as that was seen.
    fn sources(&self, address: u64, bytes: &[u8]) -> impl Iterator<Item = EventId> {
        // The bytes first: a value without any may have the highest address, which has no next one.
        bytes.iter().zip(address..).filter_map(|(&byte, at)| {
            let &(from, written) = self.writers.get(&at)?;
            (written == byte).then_some(from)
        })
    }

    /// Whether an event was seen to write these bytes.
    pub(crate) fn is_written(&self, address: u64, bytes: &[u8]) -> bool {
        self.sources(address, bytes).next().is_some()
    }

    /// Notes that a value went from one event to another in a register.
    pub(crate) fn hands_over(&mut self, from: EventId, to: EventId, name: &str) {
        self.flows.insert(Flow { from, to, name: name.to_owned() });
    }

    /// The observation of all that was noted.
    pub(crate) fn finish(mut self) -> Observation {
        self.observation.flows = self.flows.into_iter().collect();
        self.observation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: EventId = EventId(1);
    const TWO: EventId = EventId(2);
    const THREE: EventId = EventId(3);

    fn flows(ledger: Ledger) -> Vec<(u32, u32, String)> {
        let flows = ledger.finish().flows.into_iter();
        flows.map(|flow| (flow.from.0, flow.to.0, flow.name)).collect()
    }

    #[test]
    fn who_wrote_last_feeds_who_reads() {
        let mut ledger = Ledger::default();
        ledger.wrote(ONE, 0x100, &[1, 0, 0, 0]);
        ledger.wrote(TWO, 0x100, &[2, 0, 0, 0]);
        ledger.read(THREE, 0x100, &[2, 0, 0, 0], "x");
        assert_eq!(flows(ledger), [(2, 3, "x".into())]);
    }

    #[test]
    fn a_value_that_somebody_else_has_changed_meanwhile_comes_from_nobody_known() {
        let mut ledger = Ledger::default();
        ledger.wrote(ONE, 0x100, &[1]);
        ledger.read(TWO, 0x100, &[7], "x");
        assert_eq!(flows(ledger), []);
    }

    #[test]
    fn each_part_of_a_value_may_come_from_another_event() {
        let mut ledger = Ledger::default();
        ledger.wrote(ONE, 0x100, &[1]);
        ledger.wrote(TWO, 0x101, &[2]);
        ledger.read(THREE, 0x100, &[1, 2], "pair");
        assert_eq!(flows(ledger), [(1, 3, "pair".into()), (2, 3, "pair".into())]);
    }

    #[test]
    fn an_event_does_not_feed_itself() {
        let mut ledger = Ledger::default();
        ledger.wrote(ONE, 0x100, &[1]);
        ledger.read(ONE, 0x100, &[1], "x");
        assert_eq!(flows(ledger), []);
    }

    #[test]
    fn the_first_value_is_the_old_one_and_the_last_value_is_the_new_one() {
        let mut ledger = Ledger::default();
        let value = |byte| Some(Value { bytes: vec![byte], ..Value::default() });
        assert!(ledger.writes(ONE, "i", || value(1)));
        assert!(!ledger.writes(ONE, "i", || value(2)));
        ledger.leaves(ONE, "i", value(2));
        ledger.leaves(ONE, "i", value(3));
        ledger.reads(ONE, "i", || value(2));
        let seen = &ledger.finish().seen[&ONE];
        assert_eq!((&seen.writes[0].before, &seen.writes[0].after), (&value(1), &value(3)));
        assert!(seen.reads.is_empty(), "what it has written itself is no news to it");
    }
}
