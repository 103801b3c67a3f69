//! Report the status of long work, when the user asks: by `t` on a terminal, or by SIGUSR1.
//!
//! The answer comes at once, whatever the work is busy with: a thread of its own waits for the question.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use signal_hook::consts::SIGUSR1;
use tracer::{Keyboard, patiently};

use super::exit::{Exit, Failure};
use super::terminal::Verbosity;
use super::terminal::{self, say};
use crate::report::{printable, words};

/// The longest time until an answer comes, in milliseconds.
const PATIENCE: u8 = 100;

/// The interval at which a line on a terminal is drawn again before the search.
const REDRAWN: Duration = Duration::from_millis(300);

/// The interval between lines elsewhere.
pub(super) const REPEATED: Duration = Duration::from_secs(10);

/// The status of the work.
#[derive(Clone, Debug)]
pub(super) struct WorkProgress {
    /// The phase of the work, in words.
    pub(super) phase: String,
    /// The criterion, if it has a name.
    pub(super) criterion: Option<String>,
    /// The number of circumstances at the beginning of the search, and of those that are left.
    pub(super) units: Option<(usize, usize)>,
    /// The number of tests of this search and of those that it continues.
    pub(super) tests: u64,
    /// The number of tests since `since`.
    pub(super) tests_now: u64,
    pub(super) since: Instant,
}

/// The shared status of the work: written by the thread that works, read by the one that answers (the key
/// t, a signal).
#[derive(Clone, Debug)]
pub(super) struct SharedStatus {
    stand: Arc<Mutex<WorkProgress>>,
    started: Instant,
    /// The time at which something was shown last.
    shown: Arc<Mutex<Instant>>,
}

impl SharedStatus {
    pub(super) fn new(phase: &str) -> SharedStatus {
        let started = Instant::now();
        let stand = WorkProgress {
            phase: phase.to_owned(),
            criterion: None,
            units: None,
            tests: 0,
            tests_now: 0,
            since: started,
        };
        SharedStatus { stand: Arc::new(Mutex::new(stand)), started, shown: Arc::new(Mutex::new(started)) }
    }

    /// Changes the status.
    pub(super) fn note(&self, change: impl FnOnce(&mut WorkProgress)) {
        change(&mut self.stand.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Begins a search.
    pub(super) fn begin_search(&self) {
        self.note(|stand| {
            (stand.tests, stand.tests_now, stand.units) = (0, 0, None);
            stand.since = Instant::now();
        });
    }

    /// True if nothing was shown for so long; the time of the last showing is then set to `now`.
    pub(super) fn is_due(&self, now: Instant, pause: Duration) -> bool {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = now.saturating_duration_since(*shown) >= pause;
        if is_due {
            *shown = now;
        }
        is_due
    }

    /// Records that something was shown.
    pub(super) fn was_shown(&self, now: Instant) {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// Shows the status: on a terminal, where a search shows itself, in a line that is redrawn;
    /// elsewhere by a line each ten seconds.
    fn show(&self) {
        let is_before = || self.stand.lock().unwrap_or_else(PoisonError::into_inner).units.is_none();
        match terminal::draws_again() {
            true if is_before() && self.is_due(Instant::now(), REDRAWN) => terminal::draw(&self.line()),
            true => {}
            false => self.repeated(Instant::now()).iter().for_each(|line| say(line)),
        }
    }

    /// The line that is shown now where nothing is redrawn, if it is time for one.
    fn repeated(&self, now: Instant) -> Option<String> {
        self.is_due(now, REPEATED).then(|| format!("stripe: {}\n", printable(&self.line())))
    }

    /// The status in a line.
    pub(super) fn line(&self) -> String {
        let stand = self.stand.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parts = vec![stand.phase.clone()];
        if let Some(name) = &stand.criterion {
            parts[0] = format!("{name}: {}", parts[0]);
        }
        parts.extend(stand.units.map(|(all, left)| format!("{left} of {all} left")));
        if stand.units.is_some() {
            parts.push(words::count(stand.tests, "test"));
            let rate = stand.tests_now as f64 / stand.since.elapsed().as_secs_f64().max(0.001);
            parts.push(format!("{rate:.0}/s"));
        }
        parts.push(format!("{:.0} s", self.started.elapsed().as_secs_f64()));
        parts.join(", ")
    }
}

/// A thread that answers questions until this is dropped.
#[derive(Debug)]
pub(super) struct Answers {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// The ways to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Askers {
    /// By SIGUSR1 alone.
    Signals,
    /// By a key at the terminal as well.
    SignalsAndKeys,
}

/// The ways to ask, by the verbosity of the options.
pub(super) fn askers(verbosity: Verbosity) -> Askers {
    if verbosity.quiet { Askers::Signals } else { Askers::SignalsAndKeys }
}

impl Answers {
    /// Starts to answer from `shared_status`. Keys are read only where the standard input and the standard error
    /// are a terminal.
    pub(super) fn begin(shared_status: SharedStatus, askers: Askers) -> Result<Answers, Failure> {
        let failed = |error| {
            let advice = "free memory or process slots and try again";
            Failure::new(Exit::Failed, format!("waiting for questions failed: {error}: {advice}"))
        };
        let asked = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGUSR1, Arc::clone(&asked)).map_err(failed)?;
        let keyboard = match askers {
            Askers::SignalsAndKeys if terminal::is_watched() => Keyboard::open().map_err(failed)?,
            _ => None,
        };
        // Moved into the thread: one that cannot be started drops it, and the terminal is as before.
        let keyboard = Arc::new(Mutex::new(keyboard));
        let over = Arc::new(AtomicBool::new(false));
        let thread = patiently(|| {
            let (keyboard, ended) = (Arc::clone(&keyboard), Arc::clone(&over));
            let (asked, shared_status) = (Arc::clone(&asked), shared_status.clone());
            std::thread::Builder::new().name("answers".into()).spawn(move || {
                let mut keyboard = keyboard.lock().unwrap_or_else(PoisonError::into_inner).take();
                while !ended.load(Ordering::Relaxed) {
                    let pressed = wait(keyboard.as_mut());
                    if askers == Askers::SignalsAndKeys {
                        shared_status.show();
                    }
                    if asked.swap(false, Ordering::Relaxed) || pressed {
                        say(&answer(&shared_status));
                    }
                }
            })
        });
        let thread = thread.map_err(failed)?;
        Ok(Answers { over, thread: Some(thread) })
    }
}

/// Waits for a key; returns whether it was the one that asks.
fn wait(keyboard: Option<&mut Keyboard>) -> bool {
    match keyboard {
        Some(keyboard) => keyboard.key(PATIENCE).is_some_and(|key| key.eq_ignore_ascii_case(&b't')),
        None => {
            std::thread::sleep(Duration::from_millis(PATIENCE.into()));
            false
        }
    }
}

fn answer(shared_status: &SharedStatus) -> String {
    // A line that is redrawn may stand there.
    let clear = if terminal::draws_again() { "\r\x1b[K" } else { "" };
    format!("{clear}stripe: {}\n", printable(&shared_status.line()))
}

impl Drop for Answers {
    /// Ends the thread, and restores the terminal.
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        terminal::undraw();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_is_drawn_again_there_is_a_line_each_ten_seconds_whatever_a_search_removes() {
        let shared_status = SharedStatus::new("recording");
        let at = |seconds| shared_status.started + Duration::from_secs(seconds);
        assert_eq!(
            [9, 10, 19].map(|second| shared_status.repeated(at(second)).is_some()),
            [false, true, false]
        );
        shared_status.note(|stand| stand.units = Some((34, 34)));
        assert_says_left(shared_status.repeated(at(20)));
        // A search reports its improvements itself.
        shared_status.was_shown(at(25));
        assert_eq!(shared_status.repeated(at(30)), None);
        assert_says_left(shared_status.repeated(at(35)));
    }

    fn assert_says_left(line: Option<String>) {
        let line = line.expect("a line");
        assert!(line.starts_with("stripe: recording, 34 of 34 left, 0 tests, "), "{line}");
    }

    #[test]
    fn a_line_tells_phase_criterion_executions_tests_and_time() {
        let shared_status = SharedStatus::new("recording");
        assert_eq!(shared_status.line(), "recording, 0 s");
        shared_status.note(|stand| {
            stand.phase = "branches decide".into();
            stand.criterion = Some("sum".into());
            stand.units = Some((34, 20));
            stand.tests = 100;
        });
        assert_eq!(shared_status.line(), "sum: branches decide, 20 of 34 left, 100 tests, 0/s, 0 s");
    }
}
