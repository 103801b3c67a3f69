//! Limit the resources of a recording.

use std::time::Duration;

use tracer::invocation::Limits;

use super::target_options::TargetOptions;
use crate::baseline::{Ending, recording_limits};
use crate::oracle::Criterion;
use crate::session::recording::ending;

/// The limits of time and of arrivals at statements for the recording of a program that never ends.
const ENDLESS_TIME: Duration = Duration::from_secs(5);
const ENDLESS_ARRIVALS: u64 = 10_000_000;

/// The limits of the recorded run.
pub(super) fn bounds(options: &TargetOptions, criterion: &Criterion) -> Limits {
    let limits = Limits { trace: super::memory::for_trace(options.memory), ..recording_limits() };
    let timed = |time: Duration| Limits { cpu: time, wall: time, idle: time, ..limits };
    match (ending(criterion), options.world.timeout) {
        (Ending::Itself, None) => limits,
        (_, Some(timeout)) => patient(timed(timeout)),
        (Ending::Never, None) => patient(Limits { arrivals: ENDLESS_ARRIVALS, ..timed(ENDLESS_TIME) }),
    }
}

/// Extends the limit of wall time. On a busy machine a program uses little of its time: what counts is
/// processor time, or that it sleeps.
fn patient(limits: Limits) -> Limits {
    Limits { wall: 2 * limits.wall + Duration::from_secs(2), ..limits }
}
