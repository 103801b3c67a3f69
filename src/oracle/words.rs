//! Describe the end of a run in words.

use tracer::lockstep::Deviation;
use tracer::program::LeaderId;
use tracer::termination::{Cut, Termination};
use tracer::trace::EventId;

use super::crashes::crash;
use crate::subject::Recorded;

/// The end of a run, in words.
pub fn termination(termination: &Termination, recorded: Recorded<'_>) -> String {
    match termination {
        Termination::Exited(status) => format!("exit status {status}"),
        Termination::Crashed(how) => crash(how, recorded.program),
        Termination::Left(how) => deviation(how, recorded),
        Termination::Cut(cut) => format!("the run {cut}"),
        Termination::Endless(_) => "no end".into(),
        Termination::Reached => "the place that was asked about".into(),
    }
}

/// The number of callers that are named of a place.
const CALLERS: usize = 3;

/// The place where a recorded run goes on for ever: `it still runs at gcd.c:4 in gcd, called from main.c:9`.
/// `None` if it has ended.
pub fn endless(recorded: Recorded<'_>) -> Option<String> {
    let Recorded { program, trace } = recorded;
    let (endless, last) = (trace.endless()?, trace.events().next_back()?);
    let does = if endless.cut == Cut::Asleep { "waits" } else { "runs" };
    let place = |event: EventId| program.place(trace.leader(event)).to_string();
    let function = &program.function_of(trace.leader(last)).name;
    let callers: Vec<String> = trace.callers(last).take(CALLERS).map(place).collect();
    let called = match callers.is_empty() {
        true => String::new(),
        false => format!(", called from {}", callers.join(", from ")),
    };
    Some(format!("it still {does} at {} in {function}{called}", place(last)))
}

/// The place that control went to, if a replay has left the loop in which the recorded run never ends.
pub(super) fn left_loop(deviation: &Deviation, recorded: Recorded<'_>) -> Option<String> {
    let Recorded { program, trace } = recorded;
    let Deviation::RanPastEnd { after, reached } = *deviation else { return None };
    let last = trace.events().next_back()?;
    let is_open = after == last || trace.callers(last).any(|caller| caller == after);
    is_open.then(|| format!("it ended the loop and went on to {}", program.place(reached)))
}

/// The deviation of a replay from the recorded path, in words.
pub fn deviation(deviation: &Deviation, recorded: Recorded<'_>) -> String {
    let Recorded { program, trace } = recorded;
    let at = |event: EventId| format!("{} (event {})", program.place(trace.leader(event)), event.time());
    let name = |leader: LeaderId| &program.function_of(leader).name;
    match *deviation {
        Deviation::Diverged { after, expected, reached } => {
            format!(
                "after {} control went to {} instead of {}",
                at(after),
                program.place(reached),
                program.place(expected)
            )
        }
        Deviation::OtherCall { caller: Some(caller), entered } => {
            format!("{} called {} in addition", at(caller), name(entered))
        }
        Deviation::OtherCall { caller: None, entered } => format!("{} was called in addition", name(entered)),
        Deviation::MissingCall { caller, missing } => {
            format!("{} did not call {}", at(caller), name(trace.leader(missing)))
        }
        Deviation::RanPastEnd { after, reached } => {
            format!(
                "after {} nothing was recorded, but control went on to {}",
                at(after),
                program.place(reached)
            )
        }
        Deviation::NotEntered(leader) => {
            format!("control reached {} in {} without a call", program.place(leader), name(leader))
        }
    }
}
