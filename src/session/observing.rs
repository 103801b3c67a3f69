//! Observe the values that events of a recorded run read and wrote, by running the program again.

use std::collections::BTreeSet;

use tracer::Tracer;
use tracer::observation::{Limit, Observation};
use tracer::schedule::{Control, Schedule};
use tracer::trace::EventId;

use super::case::Subject;
use super::error::SessionError;
use crate::slice::CriticalSlice;

/// The number of events up to which a run is observed as a whole.
const MOST_OF_ALL: usize = 2_000;
/// The number of needed events that are observed of a longer one...
const MOST_NEEDED: usize = 5_000;
/// ...and of events before and after one in particular.
const MOST_AROUND: usize = 500;

/// The number of events after which nothing is observed without being asked for: each costs some ten microseconds.
const FARTHEST: u32 = 1_000_000;

/// The part of a run from which values are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The first million events, which takes some ten seconds.
    Near,
    /// All of it.
    Whole,
}

impl Reach {
    fn holds(self, event: EventId) -> bool {
        self == Reach::Whole || event.time() <= FARTHEST
    }
}

/// The events to observe: all of a short run; else the needed ones, as many as are worth the time, and those
/// around the event that is asked about.
pub fn worth_seeing(
    subject: &Subject<'_>,
    needed: &BTreeSet<EventId>,
    asked: Option<EventId>,
    reach: Reach,
) -> Vec<EventId> {
    let trace = subject.recorded().trace;
    if trace.len() <= MOST_OF_ALL {
        return trace.events().collect();
    }
    let Some(asked) = asked else {
        return needed.iter().copied().filter(|&event| reach.holds(event)).take(MOST_NEEDED).collect();
    };
    let before = needed.range(..asked).rev().take(MOST_AROUND);
    let behind = needed.range(asked..).take(MOST_AROUND);
    before.chain(behind).copied().chain([asked]).collect()
}

/// Runs the program as it was recorded, and observes these events. For no events there is no run.
pub fn observe(
    subject: &Subject<'_>,
    tracer: &mut Tracer<'_>,
    events: &[EventId],
) -> Result<Observation, SessionError> {
    if events.is_empty() {
        return Ok(Observation::default());
    }
    let trace = subject.recorded().trace;
    let everything = Schedule::everything(trace, Control::Program);
    Ok(tracer.observe(trace, &everything, events, &subject.target.conditions)?)
}

/// Adds the observed values to a result.
pub fn tell(slice: &mut CriticalSlice, seen: &Observation, reach: Reach) {
    let told: BTreeSet<EventId> = slice.told().collect();
    let is_needed = |event| told.contains(&event);
    let own = seen.of(is_needed);
    let left_out = slice.needed.iter().filter(|needed| !own.seen.contains_key(&needed.event)).count();
    // The reason why observing ended matters only where something is missing for it.
    let is_cut = left_out > 0 || matches!(own.limit, Some(Limit::Event(_)));
    match limit(&own).filter(|_| is_cut) {
        Some(sentence) => slice.warnings.push(sentence),
        None if left_out > 0 => slice.warnings.push(untold(slice, &own, reach)),
        None => {}
    }
    slice.values = Some(own);
}

/// A sentence about the executions that were not observed.
fn untold(slice: &CriticalSlice, seen: &Observation, reach: Reach) -> String {
    if slice.needed.iter().all(|needed| reach.holds(needed.event)) {
        return format!("values are told of the first {} needed executions only", seen.seen.len());
    }
    format!(
        "values of needed executions after event {FARTHEST} are not told: the program would run for long with \
         breakpoints to get there; --values lets it"
    )
}

/// The reason why not everything was observed, as a sentence without its end.
pub fn limit(values: &Observation) -> Option<String> {
    Some(match values.limit? {
        Limit::Event(event) => {
            format!("event {} has too many instructions to be looked at to its end", event.time())
        }
        Limit::Instructions(event) => {
            format!("values were looked at up to event {} only: more would have taken too long", event.time())
        }
        Limit::LeftPath(behind) => {
            let place =
                behind.map_or_else(|| "its first event".into(), |event| format!("event {}", event.time()));
            format!(
                "the program did not go on as recorded after {place}, so that values are known up to there only; \
                 are all files as they were?"
            )
        }
        Limit::Time => "the program took too long or was interrupted while its values were looked at".into(),
    })
}
