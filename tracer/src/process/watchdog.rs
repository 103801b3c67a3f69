//! The watchdog: it ends runs that take too long or hold too much memory, from a thread of its own, because the tracer
//! sleeps in `waitpid`.
//!
//! The thread looks at the clocks every few milliseconds. It kills through a pidfd, so that a reused
//! process number cannot be hit. All clocks are monotonic.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use super::handle::Handle;
use super::{ProcessError, family, holding, patiently, status};
use crate::invocation::Limits;
use crate::termination::Cut;

/// The interval at which the clocks are looked at.
const INTERVAL: Duration = Duration::from_millis(10);

/// The watchdog of one tracer, for one run at a time.
pub(crate) struct Watchdog {
    watched: Arc<Mutex<Option<Watched>>>,
    attendance: WaitingWork,
}

/// The work of a thread of the tracer that a program under watch waits for: its processor time counts as the
/// program's, and while it is done the program does not sleep.
#[derive(Clone, Default)]
pub(crate) struct WaitingWork(Arc<Service>);

#[derive(Default)]
struct Service {
    is_under_way: AtomicBool,
    /// The processor time of the work, in nanoseconds.
    used: AtomicU64,
}

/// The processes whose time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The process alone; it may wait for those that it has started.
    Process,
    /// The process and all that it has started, together.
    Family,
}

struct Watched {
    process: Handle,
    subject: Subject,
    clock: libc::clockid_t,
    attendance: WaitingWork,
    /// The time that the waiting work had used before this run.
    attended: Duration,
    deadline: Instant,
    rest: Rest,
    cpu: Duration,
    /// The limit of the memory that it and those that it has started may hold together, in bytes.
    memory: Option<u64>,
    stop: Arc<AtomicBool>,
    bitten: Option<Cut>,
}

/// A run under watch; the watch ends with it. The run may be killed until then, even if it has stopped.
pub(crate) struct Alarm<'a> {
    watchdog: &'a Watchdog,
}

impl Watchdog {
    /// Starts the watchdog's thread, which ends with it.
    pub(crate) fn new() -> Result<Watchdog, ProcessError> {
        let watched = Arc::new(Mutex::new(None));
        let thread = patiently(|| {
            let weak = Arc::downgrade(&watched);
            std::thread::Builder::new().name("watchdog".into()).spawn(move || patrol(&weak))
        });
        thread.map_err(|source| ProcessError::System { what: "starting a thread", source })?;
        Ok(Watchdog { watched, attendance: WaitingWork::default() })
    }

    /// The waiting work of a thread that serves the programs under watch.
    pub(crate) fn attendance(&self) -> WaitingWork {
        self.attendance.clone()
    }

    /// Kills the process `pid` once it is over its limits, or once `stop` is set.
    pub(crate) fn watch(
        &self,
        pid: Pid,
        subject: Subject,
        limits: &Limits,
        stop: &Arc<AtomicBool>,
    ) -> Result<Alarm<'_>, ProcessError> {
        let process = Handle::new(pid)?;
        let mut clock = 0;
        // SAFETY: `clock` outlives the call, which only writes to it.
        if unsafe { libc::clock_getcpuclockid(pid.as_raw(), &raw mut clock) } != 0 {
            return Err(ProcessError::last("reading the program's clock"));
        }
        let watched = Watched {
            process,
            subject,
            clock,
            attendance: self.attendance(),
            attended: self.attendance.used(),
            deadline: Instant::now() + limits.wall,
            rest: Rest { pid, subject, used: Duration::ZERO, since: Instant::now(), longest: limits.idle },
            cpu: limits.cpu,
            memory: limits.memory.map(holding::most),
            stop: Arc::clone(stop),
            bitten: None,
        };
        *self.slot() = Some(watched);
        Ok(Alarm { watchdog: self })
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingWork {
    /// Runs `work`, and counts its processor time as that of waiting work.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.is_under_way.store(true, Ordering::Relaxed);
        let before = time_on(libc::CLOCK_THREAD_CPUTIME_ID);
        let result = work();
        let used = time_on(libc::CLOCK_THREAD_CPUTIME_ID).saturating_sub(before);
        self.0.used.fetch_add(used.as_nanos() as u64, Ordering::Relaxed);
        self.0.is_under_way.store(false, Ordering::Relaxed);
        result
    }

    /// The processor time of the work since the watchdog exists.
    fn used(&self) -> Duration {
        Duration::from_nanos(self.0.used.load(Ordering::Relaxed))
    }

    fn is_under_way(&self) -> bool {
        self.0.is_under_way.load(Ordering::Relaxed)
    }
}

impl Alarm<'_> {
    /// The reason for which the run was killed, if it was.
    pub(crate) fn raised(&self) -> Option<Cut> {
        self.watchdog.slot().as_ref().and_then(|watched| watched.bitten)
    }

    /// Ends the watch; returns the reason for which the run was killed, if it was. From now on it will not be.
    pub(crate) fn end(self) -> Option<Cut> {
        self.watchdog.slot().take().and_then(|watched| watched.bitten)
    }
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        *self.watchdog.slot() = None;
    }
}

fn patrol(watched: &Weak<Mutex<Option<Watched>>>) {
    loop {
        std::thread::sleep(INTERVAL);
        let Some(watched) = watched.upgrade() else {
            return;
        };
        let mut slot = watched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(watched) = slot.as_mut().filter(|watched| watched.bitten.is_none()) {
            watched.check();
        }
    }
}

impl Watched {
    fn check(&mut self) {
        let used = match self.subject {
            Subject::Process => time_on(self.clock),
            Subject::Family => family::used(self.rest.pid),
        };
        let used = used + self.attendance.used().saturating_sub(self.attended);
        self.bitten = if self.stop.load(Ordering::Relaxed) {
            Some(Cut::Interrupted)
        } else if used > self.cpu {
            Some(Cut::CpuTime)
        } else if Instant::now() > self.deadline {
            Some(Cut::WallTime)
        } else if self.memory.is_some_and(|most| holding::exceeds(self.rest.pid, most)) {
            Some(Cut::Memory)
        } else if self.rest.is_too_long(used, self.attendance.is_under_way()) {
            Some(Cut::Asleep)
        } else {
            None
        };
        if self.bitten.is_some() {
            self.process.kill();
        }
    }
}

/// The time on a clock; zero if the clock is gone, with its process or thread.
fn time_on(clock: libc::clockid_t) -> Duration {
    nix::time::clock_gettime(clock.into()).map_or(Duration::ZERO, Duration::from)
}

/// The period for which a process has done nothing.
struct Rest {
    pid: Pid,
    subject: Subject,
    /// The processor time that it had used when it was looked at last.
    used: Duration,
    /// The time at which it was seen to do something.
    since: Instant,
    longest: Duration,
}

impl Rest {
    /// Whether the process, which has used so much processor time, has slept for too long. A process that is held by
    /// the tracer does not sleep, nor does one that waits for a thread of the tracer that works for it; one that has
    /// children may wait for them.
    fn is_too_long(&mut self, used: Duration, is_attended: bool) -> bool {
        if used != self.used || is_attended || !self.is_asleep() {
            (self.used, self.since) = (used, Instant::now());
        }
        self.since.elapsed() > self.longest
    }

    fn is_asleep(&self) -> bool {
        if self.subject == Subject::Family {
            return family::is_asleep(self.pid);
        }
        let children = fs::read(format!("/proc/{0}/task/{0}/children", self.pid));
        status::field(self.pid, "State:").is_some_and(|state| state.starts_with('S'))
            && children.is_ok_and(|children| children.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};
    use std::thread::sleep;

    use super::*;
    use crate::invocation::tests::limits;

    const SOON: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(60);

    fn watched(watchdog: &Watchdog, wall: Duration) -> (Child, Alarm<'_>) {
        let child = Command::new("sleep").arg("60").spawn().expect("sleep is there");
        let pid = Pid::from_raw(child.id() as i32);
        let alarm =
            watchdog.watch(pid, Subject::Process, &limits(wall), &Arc::default()).expect("it is there");
        (child, alarm)
    }

    #[test]
    fn who_was_killed_is_known_when_the_watch_ends() {
        let watchdog = Watchdog::new().expect("a thread");
        let (mut child, alarm) = watched(&watchdog, SOON);
        assert!(!child.wait().expect("ended").success());
        assert_eq!(alarm.end(), Some(Cut::WallTime));
    }

    #[test]
    fn nobody_is_killed_behind_the_end_of_the_watch() {
        let watchdog = Watchdog::new().expect("a thread");
        let (mut child, alarm) = watched(&watchdog, LONG);
        watchdog.slot().as_mut().expect("under watch").deadline = Instant::now() + SOON;
        let cut = alarm.end();
        sleep(2 * SOON);
        let is_alive = child.try_wait().expect("a child").is_none();
        child.kill().expect("a child");
        child.wait().expect("ended");
        // On a machine that is busy enough it may have been killed before.
        assert_eq!(is_alive, cut.is_none());
    }
}
