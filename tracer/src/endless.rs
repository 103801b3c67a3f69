//! The loop of a recorded run that was cut because it did not end.
//!
//! The endless loop is in an activation: the innermost one that was open for a large part of the recording and
//! has come to the same leaders again and again. Millions of turns tell no more than the first, so that the
//! trace ends where the loop is reached for the second time. Where nothing was reached for a long time, it is
//! the statement of the last event that does not end. Pure: knows traces, no process.

use std::time::Duration;

use agent::names::{ActivationId, EventId, LeaderId};
use fixedbitset::FixedBitSet;

use crate::termination::Cut;
use crate::trace::{Endless, Trace};

/// The end of a recording that was cut.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cutoff {
    /// The reason.
    pub(crate) cut: Cut,
    /// The time without an event before the end.
    pub(crate) silence: Duration,
    /// The duration of the run.
    pub(crate) wall: Duration,
    /// The time since the first event.
    pub(crate) since_first: Duration,
}

/// The shares of the recorded events (a half, and so on) that the loop may have taken at least; the largest that fits.
const SHARES: [usize; 3] = [2, 4, 8];

/// The number of arrivals, added to that of all before the loop, after which a replay has shown not to end.
const LEAST_ENOUGH: usize = 10_000;

/// The least number of turns of the recorded run, counted in events of the loop.
const LEAST_TURNS: usize = 3;

/// The trace of a run that never ends, of the events that were recorded before it was cut; `None` if they
/// show no loop.
pub(crate) fn endless(trace: Trace, cutoff: Cutoff) -> Option<Trace> {
    let is_silent = |whole| cutoff.cut.is_time() && 2 * cutoff.silence >= whole;
    let last = trace.events().next_back()?;
    let found = || SHARES.iter().find_map(|share| loops(&trace, trace.len() - trace.len() / share, cutoff));
    let silent = || (last, stuck(&trace, last, cutoff));
    let (last, endless) = if is_silent(cutoff.wall) {
        silent()
    } else {
        // On a busy machine, to start the program may take longer than all the rest.
        found().or_else(|| is_silent(cutoff.since_first).then(silent))?
    };
    Some(trace.that_never_ends(last, endless))
}

/// The account of a run whose last event's statement never ends.
fn stuck(trace: &Trace, last: EventId, Cutoff { cut, silence, .. }: Cutoff) -> Endless {
    let (leaders, events) = (vec![trace.leader(last)], trace.len() as u64);
    Endless { cut, leaders, enough: 0, arrivals: 0, events, silence }
}

/// The loop in the innermost activation that was open all the time since the event at position `from`; and the
/// event with which its second turn begins.
fn loops(trace: &Trace, from: usize, Cutoff { cut, silence, .. }: Cutoff) -> Option<(EventId, Endless)> {
    let activation = open_since(trace, from)?;
    let mut leaders = FixedBitSet::new();
    let in_window = events_of(trace, activation).filter(|event| event.0 as usize >= from);
    in_window.for_each(|event| leaders.grow_and_insert(trace.leader(event).0 as usize));
    let second = second_turn(trace, activation, &leaders)?;
    let later: Vec<EventId> = std::iter::successors(trace.next(second), |&event| trace.next(event))
        .take(second.0 as usize + LEAST_ENOUGH)
        .collect();
    let enough = later.last().filter(|_| later.len() >= LEAST_TURNS)?;
    let endless = Endless {
        cut,
        leaders: leaders.ones().map(|leader| LeaderId(leader as u32)).collect(),
        enough: later.len() as u32,
        arrivals: u64::from(enough.0 - second.0),
        events: trace.len() as u64,
        silence,
    };
    Some((second, endless))
}

/// The innermost activation of the last event's that was entered before the event at position `from`.
fn open_since(trace: &Trace, from: usize) -> Option<ActivationId> {
    let last = trace.events().next_back()?;
    let own = trace.activation(last);
    let mut open = std::iter::once(own).chain(trace.callers(last).map(|caller| trace.activation(caller)));
    open.find(|&activation| (trace.entry(activation).0 as usize) < from)
}

fn events_of(trace: &Trace, activation: ActivationId) -> impl Iterator<Item = EventId> {
    std::iter::successors(Some(trace.entry(activation)), |&event| trace.next(event))
}

/// The event at which the activation, which from some event on reaches only these leaders, reaches one of them again.
fn second_turn(trace: &Trace, activation: ActivationId, leaders: &FixedBitSet) -> Option<EventId> {
    let is_outside = |event: &EventId| !leaders.contains(trace.leader(*event).0 as usize);
    let before = events_of(trace, activation).filter(is_outside).last();
    let mut turns = events_of(trace, activation).skip_while(|&event| Some(event) <= before);
    let mut seen = FixedBitSet::new();
    turns.find(|&event| {
        let leader = trace.leader(event).0 as usize;
        let again = seen.contains(leader);
        seen.grow_and_insert(leader);
        again
    })
}
