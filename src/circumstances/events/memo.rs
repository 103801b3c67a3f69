//! Cache the runs of replays, so that several criteria can judge the same one.
//!
//! The result of a replay depends on its schedule and on the pattern for undefined values alone. The cache is
//! limited in bytes; the least recently used run goes first.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use siphasher::sip128::{Hasher128, SipHasher13};
use tracer::poison::Poison;
use tracer::run::Run;
use tracer::schedule::Schedule;
use tracer::termination::Termination;

/// The limit of the cache in bytes.
const LIMIT: usize = 256 << 20;

/// The size of a run in memory besides its output, in bytes.
const OVERHEAD: usize = 512;

/// A cache of finished replays.
#[derive(Debug, Default)]
pub struct RunMemo(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    runs: HashMap<u128, Arc<Run>>,
    /// The keys, the least recently used first.
    order: VecDeque<u128>,
    bytes: usize,
}

impl RunMemo {
    /// The run of the replay, if it is in the cache.
    pub fn recall(&self, schedule: &Schedule, poison: Poison) -> Option<Run> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.runs.get(&key(schedule, poison)).map(|run| Run::clone(run))
    }

    /// Stores a replay, unless the tracer has ended it: another time it might not.
    pub fn remember(&self, schedule: &Schedule, poison: Poison, run: &Run) {
        if let Termination::Cut(_) = run.termination {
            return;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = key(schedule, poison);
        if known.runs.insert(key, Arc::new(run.clone())).is_none() {
            known.order.push_back(key);
            known.bytes += size(run);
        }
        known.forget_beyond(LIMIT);
    }
}

impl Known {
    fn forget_beyond(&mut self, limit: usize) {
        while self.bytes > limit {
            let Some(oldest) = self.order.pop_front() else { return };
            if let Some(run) = self.runs.remove(&oldest) {
                self.bytes -= size(&run);
            }
        }
    }
}

fn size(run: &Run) -> usize {
    run.stdout.len() + run.stderr.len() + OVERHEAD
}

fn key(schedule: &Schedule, poison: Poison) -> u128 {
    let mut hasher = SipHasher13::new();
    (schedule, poison).hash(&mut hasher);
    hasher.finish128().as_u128()
}

#[cfg(test)]
mod tests {
    use tracer::schedule::Control;
    use tracer::termination::Cut;
    use tracer::trace::Trace;

    use super::*;

    fn run(termination: Termination) -> Run {
        Run { termination, ..Run::with_output(b"so", b"") }
    }

    #[test]
    fn a_replay_is_remembered_by_schedule_and_pattern_unless_it_was_ended() {
        let memo = RunMemo::default();
        let schedule = |control| Schedule::everything(&Trace::default(), control);
        memo.remember(&schedule(Control::Trace), Poison::Zero, &run(Termination::Exited(0)));
        let recalled = memo.recall(&schedule(Control::Trace), Poison::Zero).unwrap();
        assert_eq!(*recalled.stdout, *b"so");
        assert!(memo.recall(&schedule(Control::Trace), Poison::Negative).is_none());
        assert!(memo.recall(&schedule(Control::Program), Poison::Zero).is_none());
        memo.remember(&schedule(Control::Program), Poison::Zero, &run(Termination::Cut(Cut::Interrupted)));
        assert!(memo.recall(&schedule(Control::Program), Poison::Zero).is_none());
    }

    #[test]
    fn no_more_is_remembered_than_fits() {
        let memo = RunMemo::default();
        let everything = Schedule::everything(&Trace::default(), Control::Trace);
        memo.remember(&everything, Poison::Zero, &run(Termination::Exited(0)));
        memo.remember(&everything, Poison::Negative, &run(Termination::Exited(0)));
        let mut known = memo.0.lock().unwrap();
        let bytes = known.bytes;
        known.forget_beyond(bytes - 1);
        assert_eq!((known.runs.len(), known.order.len(), known.bytes), (1, 1, bytes / 2));
    }
}
