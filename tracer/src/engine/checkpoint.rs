//! Checkpoints: replays held at an event, so that others which agree with it up to there need not begin anew.
//!
//! Everything that a replay does up to an event depends on which events up to there are kept, and on nothing after it:
//! the rules only look ahead as far as the next kept event. So a process that is held where it has just reached an
//! event can fork the rest of any replay that keeps the same events up to and including that one.

use agent::calls::Call;
use agent::lockstep::{Expectation, Frame, Position};
use agent::pace::Pace;
use agent::session::{Session, StackArea};

use super::inside::{Channel, nothing_expected, offset};
use crate::process::{Tracee, Written};
use crate::schedule::Schedule;
use crate::trace::{EventId, Trace};

/// The most checkpoints of a server: each halves the way to where tests begin to differ.
pub(super) const MOST: usize = 12;

/// The state of a replay: what the agent knows of it, and what it has written.
pub(super) struct ReplayState {
    pace: Pace,
    position: Position,
    expectation: Expectation,
    /// The lowest address of the stack that is known to be mapped.
    floor: u64,
    calls: Vec<Call<Frame>>,
    /// The output of the program so far.
    pub(super) written: Written,
}

impl ReplayState {
    /// The state before the first event.
    pub(super) fn first(talk: &Channel, trace: &Trace, written: Written) -> ReplayState {
        ReplayState {
            pace: Pace::new(0),
            position: Position::start(trace.tape()),
            expectation: nothing_expected(trace.len()),
            floor: talk.session.stack.floor,
            calls: Vec::new(),
            written,
        }
    }

    /// The state now.
    pub(super) fn now(talk: &Channel, written: Written) -> ReplayState {
        let memory = &talk.memory;
        ReplayState {
            pace: memory.get(offset::PACE),
            position: memory.get(offset::POSITION),
            expectation: memory.get(offset::EXPECTATION),
            floor: memory.get(offset::FLOOR),
            calls: talk.calls(),
            written,
        }
    }

    /// Writes the state back: returns the session in which the agent takes it for now, with at most `limit` arrivals
    /// from the first event on, and puts the open calls where the agent finds them.
    pub(super) fn put(&self, talk: &Channel, limit: u64) -> Session {
        talk.memory.put(Channel::REST, &self.calls);
        Session {
            pace: Pace { limit, ..self.pace },
            position: self.position,
            expectation: self.expectation,
            depth: self.calls.len() as u32,
            stack: StackArea { floor: self.floor, ..talk.session.stack },
            ..talk.session
        }
    }
}

/// A checkpoint: a process that waits where it has reached an event.
pub(super) struct Checkpoint {
    pub(super) tracee: Tracee,
    pub(super) moment: ReplayState,
    /// The event at which it waits.
    pub(super) event: EventId,
    /// The schedule by which it has come there.
    pub(super) schedule: Schedule,
}

impl Checkpoint {
    /// Whether a replay of the schedule passes the checkpoint.
    pub(super) fn is_on_the_way_of(&self, schedule: &Schedule) -> bool {
        self.schedule.agrees_before(schedule) > self.event.0
    }
}

/// The event where a replay of `schedule` is to be held: in the middle between `from`, where it begins, and where it
/// differs from the replay before it. Later ones will differ from it there or earlier, because delta debugging goes from
/// the end of the trace to its beginning.
///
/// `None` if that saves them less than `distance` events.
pub(super) fn place(schedule: &Schedule, before: &Schedule, from: u32, distance: u32) -> Option<EventId> {
    let end = schedule.agrees_before(before);
    let half = end.saturating_sub(from) / 2;
    let mut later = (from + half.max(1)..end).map(EventId);
    later.find(|&event| schedule.keeps(event)).filter(|_| half >= distance)
}
