//! Look at what events of a recorded run did with values, by running the program again.

use std::collections::BTreeSet;

use tracer::Tracer;
use tracer::observation::{Limit, Observation};
use tracer::schedule::{Control, Schedule};
use tracer::trace::EventId;

use super::case::Subject;
use super::error::SessionError;
use crate::slice::CriticalSlice;

/// A run of as many events is looked at as a whole.
const MOST_OF_ALL: usize = 2_000;
/// Of a longer one, as many needed events...
const MOST_NEEDED: usize = 5_000;
/// ...and as many before and behind one in particular.
const MOST_AROUND: usize = 500;

/// Behind as many events nothing is looked at without being asked for: each costs some ten microseconds.
const FARTHEST: u32 = 1_000_000;

/// How long a run may be for values to be read from it.
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

/// The events to look at: all of a short run; else the needed ones, as many as are worth the time, and those
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

/// Runs the program as it was recorded, and looks at these events. Of none nothing is to be seen, without a run.
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

/// Adds to a result what its events did.
pub fn tell(slice: &mut CriticalSlice, seen: &Observation, reach: Reach) {
    let told: BTreeSet<EventId> = slice.told().collect();
    let is_needed = |event| told.contains(&event);
    let own = seen.of(is_needed);
    let left_out = slice.needed.iter().filter(|needed| !own.seen.contains_key(&needed.event)).count();
    // What ended the look matters only where something is missing for it.
    let is_cut = left_out > 0 || matches!(own.limit, Some(Limit::Event(_)));
    match limit(&own).filter(|_| is_cut) {
        Some(sentence) => slice.warnings.push(sentence),
        None if left_out > 0 => slice.warnings.push(untold(slice, &own, reach)),
        None => {}
    }
    slice.values = Some(own);
}

/// Of which executions nothing is told that were not looked at.
fn untold(slice: &CriticalSlice, seen: &Observation, reach: Reach) -> String {
    if slice.needed.iter().all(|needed| reach.holds(needed.event)) {
        return format!("values are told of the first {} needed executions only", seen.seen.len());
    }
    format!(
        "values of needed executions behind event {FARTHEST} are not told: the program would run for long with \
         breakpoints to get there; --values lets it"
    )
}

/// Why not everything was seen, as a sentence without its end.
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
                "the program did not go on as recorded behind {place}, so that values are known up to there only; \
                 are all files as they were?"
            )
        }
        Limit::Time => "the program took too long or was interrupted while its values were looked at".into(),
    })
}
