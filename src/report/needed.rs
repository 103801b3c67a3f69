//! List the needed events with their places, for all reports that go through them one by one.

use crate::slice::{CriticalSlice, Evidence, Recorded};

use super::places::Places;
use super::schema::{NeededEvent, Without};
use super::spelling;

/// The needed events in order.
pub(super) fn events<'a>(recorded: Recorded<'a>, slice: &'a CriticalSlice) -> Vec<NeededEvent<'a>> {
    let mut places = Places::new(recorded);
    let mut needed = slice.needed.iter().peekable();
    let needed_event = |event| {
        let place = places.next(event);
        let needed = needed.next_if(|needed| needed.event == event)?;
        Some(NeededEvent {
            place,
            needed: spelling::necessity(needed.necessity),
            without: needed.without.as_ref().map(without),
        })
    };
    recorded.trace.events().filter_map(needed_event).collect()
}

fn without(evidence: &Evidence) -> Without<'_> {
    Without { outcome: spelling::outcome(evidence.outcome), why: &evidence.why }
}
