//! Keep the load of the machine out of verdicts: decide which runs are made alone, and with how much more time.
//!
//! All limits of time can be reached by a machine that is busy enough, so that one time-out proves nothing.

use std::sync::{Arc, PoisonError, RwLock};

use tracer::run::Run;
use tracer::termination::Termination;

/// A lock by which the runs of all workers go on side by side, or one alone: the others take processors, caches and
/// disks from it, and a limit of time then says nothing about the run itself.
#[derive(Clone, Debug, Default)]
pub struct RunLock(Arc<RwLock<()>>);

impl RunLock {
    /// Makes a run while others may go on.
    pub(super) fn beside_others<T>(&self, run: impl FnOnce() -> T) -> T {
        let _turn = self.0.read().unwrap_or_else(PoisonError::into_inner);
        run()
    }

    /// Makes a run after those under way have ended, and lets none begin before its end.
    pub(super) fn alone<T>(&self, run: impl FnOnce() -> T) -> T {
        let _turn = self.0.write().unwrap_or_else(PoisonError::into_inner);
        run()
    }
}

/// The factor of time of a run that confirms a time-out.
const TIME_OUT: u32 = 10;

/// The factor of time of a run that confirms that it does not end, where that is the failure.
const HANG: u32 = 2;

/// The factor of time of a run that confirms what only a limit of time has shown; `None` if none has.
pub(super) fn confirmation(run: &Run) -> Option<u32> {
    match run.termination {
        Termination::Cut(cut) if cut.is_time() => Some(TIME_OUT),
        Termination::Endless(cut) if cut.is_time() => Some(HANG),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_runs_alone_runs_while_nobody_else_does() {
        let (turns, running) = (RunLock::default(), AtomicUsize::new(0));
        let run = |alone: bool| {
            let others = running.fetch_add(1, Ordering::SeqCst);
            assert!(!alone || others == 0);
            std::thread::sleep(Duration::from_millis(2));
            assert!(!alone || running.load(Ordering::SeqCst) == 1);
            running.fetch_sub(1, Ordering::SeqCst);
        };
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let (turns, run) = (&turns, &run);
                scope.spawn(move || {
                    for round in 0..20 {
                        match (worker + round) % 4 {
                            0 => turns.alone(|| run(true)),
                            _ => turns.beside_others(|| run(false)),
                        }
                    }
                });
            }
        });
    }
}
