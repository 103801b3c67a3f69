//! Bound what a recording may use up.

use std::time::Duration;

use tracer::invocation::Limits;

use super::target_options::TargetOptions;
use crate::baseline::{Ending, recording_limits};
use crate::oracle::Criterion;
use crate::session::recording::ending;

/// A program that never ends is recorded for so long, and no longer than for so many statements.
const ENDLESS_TIME: Duration = Duration::from_secs(5);
const ENDLESS_ARRIVALS: u64 = 10_000_000;

/// What the recorded run may use up.
pub(super) fn bounds(options: &TargetOptions, criterion: &Criterion) -> Limits {
    let limits = Limits { trace: super::memory::for_trace(options.memory), ..recording_limits() };
    let timed = |time: Duration| Limits { cpu: time, wall: time, idle: time, ..limits };
    match (ending(criterion), options.world.timeout) {
        (Ending::Itself, None) => limits,
        (_, Some(timeout)) => patient(timed(timeout)),
        (Ending::Never, None) => patient(Limits { arrivals: ENDLESS_ARRIVALS, ..timed(ENDLESS_TIME) }),
    }
}

/// On a busy machine a program uses little of its time: what counts is the processor's, or that it sleeps.
fn patient(limits: Limits) -> Limits {
    Limits { wall: 2 * limits.wall + Duration::from_secs(2), ..limits }
}
