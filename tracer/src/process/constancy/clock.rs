//! The emulated clock: it moves only when somebody looks at it, or waits.

/// The time of day at the start of the program: midnight of 1 January 2026, UTC, in nanoseconds since 1970.
const EPOCH: u64 = 1_767_225_600 * SECOND;
/// The time since boot at the start of the program: a day, in nanoseconds.
const UPTIME: u64 = 86_400 * SECOND;
/// The step by which the clock moves on when it is asked, in nanoseconds: programs that wait for a moment get there.
const STEP: u64 = 1_000_000;
/// A second in nanoseconds.
pub(super) const SECOND: u64 = 1_000_000_000;

/// The emulated clock of a process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    /// The time since the start of the program, in nanoseconds.
    elapsed: u64,
    /// The lead of the processor's cycle counter over the clock, in nanoseconds. It is counted apart, because the
    /// loader
    /// reads it at the start, one version more often than another.
    ahead: u64,
}

impl Clock {
    /// Reads the clock with this number, clock_gettime(2), in nanoseconds, after moving it on; `None` for one that is
    /// not kept here.
    pub(super) fn ask(&mut self, which: i32) -> Option<u64> {
        let offset = offset(which)?;
        self.elapsed = self.elapsed.saturating_add(STEP);
        Some(offset.saturating_add(self.elapsed))
    }

    /// The time left until `deadline` by the clock with this number, in nanoseconds.
    pub(super) fn until(&self, which: i32, deadline: u64) -> Option<u64> {
        Some(deadline.saturating_sub(offset(which)?.saturating_add(self.elapsed)))
    }

    /// Advances the clock by so many nanoseconds.
    pub(super) fn pass(&mut self, nanoseconds: u64) {
        self.elapsed = self.elapsed.saturating_add(nanoseconds);
    }

    /// The processor time used, in nanoseconds.
    pub(super) fn used(&mut self) -> u64 {
        self.ask(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or(0)
    }

    /// The processor's cycle counter (`rdtsc`): one cycle for each nanosecond.
    pub(super) fn cycles(&mut self) -> u64 {
        self.ahead = self.ahead.saturating_add(STEP);
        UPTIME.saturating_add(self.elapsed).saturating_add(self.ahead)
    }
}

/// The reading of a clock at the start of the program, in nanoseconds.
fn offset(which: i32) -> Option<u64> {
    match which {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_REALTIME_ALARM | libc::CLOCK_TAI => {
            Some(EPOCH)
        }
        libc::CLOCK_MONOTONIC
        | libc::CLOCK_MONOTONIC_RAW
        | libc::CLOCK_MONOTONIC_COARSE
        | libc::CLOCK_BOOTTIME
        | libc::CLOCK_BOOTTIME_ALARM => Some(UPTIME),
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID => Some(0),
        // A negative number is the clock of a process.
        which if which < 0 => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_moves_on_when_it_is_asked_and_when_somebody_waits() {
        let mut clock = Clock::default();
        let first = clock.ask(libc::CLOCK_REALTIME).expect("a time");
        assert_eq!(first, EPOCH + STEP);
        assert_eq!(clock.until(libc::CLOCK_REALTIME, first + 5), Some(5));
        clock.pass(10 * SECOND);
        assert_eq!(clock.ask(libc::CLOCK_REALTIME), Some(first + 10 * SECOND + STEP));
        assert_eq!(clock.ask(libc::CLOCK_MONOTONIC), Some(UPTIME + 10 * SECOND + 3 * STEP));
    }

    #[test]
    fn the_count_of_cycles_moves_on_by_itself_and_with_the_clock() {
        let mut clock = Clock::default();
        let first = clock.cycles();
        assert_eq!(clock.cycles(), first + STEP);
        assert_eq!(clock.ask(libc::CLOCK_REALTIME), Some(EPOCH + STEP));
        clock.pass(SECOND);
        assert_eq!(clock.cycles(), first + 3 * STEP + SECOND);
    }

    #[test]
    fn a_clock_that_is_not_kept_is_left_to_the_kernel() {
        assert_eq!(Clock::default().ask(77), None);
    }
}
