//! Remark on needed executions what their list does not show.

use std::collections::HashSet;

use tracer::trace::EventId;

use crate::oracle::EvidenceKind;
use crate::slice::Needed;
use crate::subject::Recorded;

/// The largest number of places that are named.
const MOST_PLACES: usize = 3;

/// The remarks, each one sentence.
pub fn remarks(recorded: Recorded<'_>, needed: &[Needed]) -> Vec<String> {
    [told_apart(recorded, needed), only_calls(recorded, needed)].into_iter().flatten().collect()
}

/// True if an execution is needed only to tell equal lines of the output apart.
pub fn tells_apart(needed: &Needed) -> bool {
    needed.without.as_ref().is_some_and(|seen| seen.kind == EvidenceKind::Ambiguous)
}

/// A remark on the executions that are needed only to tell equal lines of the output apart.
fn told_apart(recorded: Recorded<'_>, needed: &[Needed]) -> Option<String> {
    let events = || needed.iter().filter(|needed| tells_apart(needed)).map(|needed| needed.event);
    let (number, are) = match events().count() {
        0 => return None,
        1 => ("1 execution".to_owned(), "is"),
        many => (format!("{many} executions"), "are"),
    };
    let places = places(recorded, events());
    Some(format!(
        "{number} ({places}) {are} needed only to tell lines of the output apart: without, the wanted text is there, but \
         perhaps in another line than the wanted one"
    ))
}

/// A remark, if nothing is needed but calls of functions that are not traced, and where decisions were taken before:
/// what matters may be what the run did not do.
fn only_calls(recorded: Recorded<'_>, needed: &[Needed]) -> Option<String> {
    let Recorded { program, trace } = recorded;
    let last = needed.last()?.event;
    let is_call = |needed: &Needed| {
        let leader = program.leader(trace.leader(needed.event));
        leader.only_calls && !leader.decides && trace.tape().first_callee(needed.event).is_none()
    };
    if !needed.iter().all(is_call) {
        return None;
    }
    let decides = |event: &EventId| program.leader(trace.leader(*event)).decides;
    let before = trace.events().rev().skip_while(move |event| *event >= last).filter(decides);
    let mut seen = HashSet::new();
    let nearest = before.filter(|&event| seen.insert(program.leader(trace.leader(event)).statement));
    let nearest = places(recorded, nearest.take(MOST_PLACES));
    let decisions = match nearest.is_empty() {
        true => "no decision was taken before the last of them".to_owned(),
        false => format!("the decisions nearest before the last of them, latest first: {nearest}"),
    };
    let calls = places(recorded, needed.iter().map(|needed| needed.event));
    Some(format!(
        "nothing is needed but calls of functions that are not traced ({calls}), so that the fault is in what was not done; \
         {decisions}"
    ))
}

/// The first of these executions, and the number of the others.
fn places(recorded: Recorded<'_>, events: impl Iterator<Item = EventId>) -> String {
    let Recorded { program, trace } = recorded;
    let name = |event: EventId| format!("{}, event {}", program.place(trace.leader(event)), event.time());
    let mut events = events.fuse();
    let mut named: Vec<String> = events.by_ref().take(MOST_PLACES).map(name).collect();
    match events.count() {
        0 => {}
        more => named.push(format!("and {more} more")),
    }
    named.join("; ")
}
