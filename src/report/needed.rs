//! List the needed events with their places, for all reports that go through them one by one.

use serde::{Serialize, Serializer};
use tracer::observation::{Flow, Observation, Reading, Seen, Writing};
use tracer::trace::EventId;

use crate::oracle::Evidence;
use crate::slice::CriticalSlice;
use crate::subject::Recorded;

use super::happening::text;
use super::places::Places;
use super::schema::{Fed, NeededEvent, Read, Values, Without, Written};
use super::spelling;
use super::style::Style;
use super::values::ValueWriter;

/// The needed events in order, the first `most` of them. They come one by one: a long run may need millions.
pub(super) struct NeededEvents<'a> {
    pub(super) recorded: Recorded<'a>,
    pub(super) slice: &'a CriticalSlice,
    pub(super) most: usize,
}

impl Serialize for NeededEvents<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(events(self.recorded, self.slice).take(self.most))
    }
}

/// The needed events in full, in order.
pub(super) fn events<'a>(
    recorded: Recorded<'a>,
    slice: &'a CriticalSlice,
) -> impl Iterator<Item = NeededEvent<'a>> {
    let mut places = Places::new(recorded);
    let mut needed = slice.needed.iter().peekable();
    let mut teller = slice.values.as_ref().map(|values| ValueWriter::new(recorded, values, Style::default()));
    let needed_event = move |event| {
        let place = places.next(event);
        let needed = needed.next_if(|needed| needed.event == event)?;
        Some(NeededEvent {
            place,
            needed: spelling::necessity(needed.necessity),
            without: needed.without.as_deref().map(without),
            values: slice
                .values
                .as_ref()
                .zip(teller.as_mut())
                .and_then(|(all, teller)| values(all, event, teller)),
        })
    };
    recorded.trace.events().filter_map(needed_event)
}

fn without(evidence: &Evidence) -> Without<'_> {
    Without { outcome: spelling::outcome(evidence.outcome), why: &evidence.why }
}

/// The values that an event read and wrote; `None` if it was not observed.
fn values<'a>(all: &'a Observation, event: EventId, teller: &mut ValueWriter<'_>) -> Option<Values<'a>> {
    let Seen { reads, writes } = all.seen.get(&event)?;
    let written = |Writing { name, before, after }: &'a Writing| Written {
        name,
        before: text(before),
        after: text(after),
    };
    let fed = |flow: &'a Flow| Fed { event: flow.from.time(), name: &flow.name };
    Some(Values {
        told: teller.told(event).unwrap_or_default(),
        reads: reads.iter().map(|Reading { name, value, .. }| Read { name, value: &value.text }).collect(),
        writes: writes.iter().map(written).collect(),
        fed_by: feeding(all, event).iter().map(fed).collect(),
    })
}

/// The flows of values into an event.
pub(super) fn feeding(all: &Observation, event: EventId) -> &[Flow] {
    let start = all.flows.partition_point(|flow| flow.to < event);
    let end = all.flows.partition_point(|flow| flow.to <= event);
    &all.flows[start..end]
}
