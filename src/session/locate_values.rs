//! Read the values at executions where a change helps: they say what the change was about.

use std::collections::{BTreeMap, BTreeSet};

use tracer::observation::{Observation, Seen};
use tracer::schedule::{Control, Schedule};
use tracer::trace::EventId;
use tracer::{Preference, Tracer};

use super::error::SessionError;
use crate::baseline::Baseline;
use crate::locate::{Candidate, Granule, Ranking};
use crate::subject::Target;

/// The numbers of ranked lines, of changes of each, and of values of an execution that are told.
const MOST_LINES: usize = 10;
const MOST_CHANGES: usize = 3;
const MOST_VALUES: usize = 4;
/// The number of events after which no values are read: the way there costs some ten microseconds for each.
const FARTHEST: u32 = 100_000;

/// The values that executions have read whose change helps, such as `n = 8, max = 8`: those of the first changes of the
/// first lines. They explain a result and are no part of it, so that it is none the worse if they cannot be read.
pub(super) fn values_read(
    (target, baseline): (&Target, &Baseline),
    candidates: &[Candidate],
    ranking: &Ranking,
) -> BTreeMap<EventId, String> {
    let changes =
        ranking.lines.iter().take(MOST_LINES).flat_map(|line| line.repairs.iter().take(MOST_CHANGES));
    let events = changes.filter_map(|&number| match candidates[number].granule {
        Granule::Execution(_, event) => Some(event),
        Granule::Statement => None,
    });
    let events: BTreeSet<EventId> = events.filter(|event| event.time() <= FARTHEST).collect();
    let seen = observed(target, baseline, &events).unwrap_or_default().seen;
    let told = seen.into_iter().map(|(event, seen)| (event, in_words(&seen)));
    told.filter(|(event, values)| events.contains(event) && !values.is_empty()).collect()
}

fn observed(
    target: &Target,
    baseline: &Baseline,
    events: &BTreeSet<EventId>,
) -> Result<Observation, SessionError> {
    if events.is_empty() {
        return Ok(Observation::default());
    }
    let trace = &baseline.recording.trace;
    let everything = Schedule::everything(trace, Control::Program);
    let events: Vec<EventId> = events.iter().copied().collect();
    let mut tracer = Tracer::new(&target.program, &target.invocation, Preference::Breakpoint)?;
    Ok(tracer.observe(trace, &everything, &events, &target.conditions)?)
}

fn in_words(seen: &Seen) -> String {
    let reads = seen.reads.iter().take(MOST_VALUES);
    reads.map(|read| format!("{} = {}", read.name, read.value.text)).collect::<Vec<_>>().join(", ")
}
