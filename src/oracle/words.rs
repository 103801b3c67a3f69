//! Put into words how a run ended.

use tracer::lockstep::Deviation;
use tracer::program::LeaderId;
use tracer::termination::Termination;
use tracer::trace::EventId;

use super::crashes::crash;
use crate::slice::{Evidence, Recorded};
use dd::Outcome;

/// What the reason begins with if a run has failed in another way than the recorded one. The words are all
/// that is kept of a test, so that they have to tell.
pub(super) const OTHER_CRASH: &str = "crashed in another way: ";
pub(super) const OTHER_REPORT: &str = "reported another error: ";

/// What happened, if a test has failed in another way than the recorded run.
pub fn other_failure(evidence: &Evidence) -> Option<&str> {
    let why = evidence.why.strip_prefix(OTHER_CRASH).or(evidence.why.strip_prefix(OTHER_REPORT));
    why.filter(|_| evidence.outcome == Outcome::Unresolved)
}

/// How a run ended, in words.
pub fn termination(termination: &Termination, recorded: Recorded<'_>) -> String {
    match termination {
        Termination::Exited(status) => format!("exit status {status}"),
        Termination::Crashed(how) => crash(how, recorded.program),
        Termination::Left(how) => deviation(how, recorded),
        Termination::Cut(cut) => format!("the run {cut}"),
    }
}

/// How a replay left the recorded path.
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
