//! Watch a search and write it to its journal.
//!
//! A write error is reported once; the search goes on all the same.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::watcher::Watcher;
use crate::archive::Journal;
use crate::circumstances::{PhaseTitle, Status};
use crate::oracle::Evidence;
use dd::{Configuration, Counts, Level, Observer, Outcome};

/// A watcher that keeps a journal and hands everything on to another watcher.
pub(super) struct Keeper<'k> {
    journal: Option<Journal>,
    inner: &'k mut dyn Watcher,
    runs: &'k AtomicU64,
    started: Instant,
    before: Duration,
    trouble: &'k dyn Fn(&str),
}

impl<'k> Keeper<'k> {
    /// Writes into `journal`, if there is one, and hands everything on to `inner`. `runs` counts the
    /// replays; `trouble` is called with a write error.
    pub(super) fn new(
        journal: Option<Journal>,
        inner: &'k mut dyn Watcher,
        runs: &'k AtomicU64,
        trouble: &'k dyn Fn(&str),
    ) -> Keeper<'k> {
        Keeper { journal, inner, runs, started: Instant::now(), before: Duration::ZERO, trouble }
    }

    /// Sets when the work was begun, and the time that an earlier search has taken which it continues.
    pub(super) fn since(mut self, started: Instant, before: Duration) -> Keeper<'k> {
        (self.started, self.before) = (started, before);
        self
    }

    /// Writes the effort, and syncs the journal. Returns the replays and the time, as they are
    /// written.
    pub(super) fn finish(mut self) -> (u64, Duration) {
        let spent = self.spent();
        self.write(Journal::sync);
        spent
    }

    fn spent(&mut self) -> (u64, Duration) {
        let elapsed = (self.before + self.started.elapsed()).as_millis() as u64;
        let (runs, elapsed) = (self.runs.load(Ordering::Relaxed), Duration::from_millis(elapsed));
        self.write(|journal| journal.spent(runs, elapsed));
        (runs, elapsed)
    }

    /// Writes to the journal; after an error nothing more. `None` if nothing was written.
    fn write<T>(&mut self, act: impl FnOnce(&mut Journal) -> io::Result<T>) -> Option<T> {
        let journal = self.journal.as_mut()?;
        match act(journal) {
            Ok(written) => Some(written),
            Err(error) => {
                let path = journal.path().display().to_string();
                (self.trouble)(&format!("{path}: {error}; make room: this run is no longer kept"));
                self.journal = None;
                None
            }
        }
    }
}

impl Observer<Evidence> for Keeper<'_> {
    fn tested(&mut self, configuration: &Configuration, outcome: Outcome, seen: &Evidence, counts: Counts) {
        self.write(|journal| journal.tested(configuration.fingerprint(), outcome, seen));
        self.inner.tested(configuration, outcome, seen, counts);
    }

    fn recalled(&mut self, configuration: &Configuration, outcome: Outcome, seen: &Evidence, counts: Counts) {
        self.inner.recalled(configuration, outcome, seen, counts);
    }

    fn improved(&mut self, smaller: &Configuration) {
        // A search that goes on passes what it has found before.
        if self.journal.as_ref().is_some_and(|journal| !journal.is_news(smaller)) {
            return;
        }
        self.spent();
        self.write(|journal| journal.improved(smaller));
        self.inner.improved(smaller);
    }

    fn should_stop(&mut self) -> bool {
        self.inner.should_stop()
    }

    fn goes_finer(&mut self, level: Level, tests: u64) -> bool {
        self.inner.goes_finer(level, tests)
    }
}

impl Watcher for Keeper<'_> {
    fn begins(&mut self, phase: &PhaseTitle, start: &Configuration) {
        self.write(|journal| journal.phase(phase.id, start));
        self.inner.begins(phase, start);
    }

    fn guesses(&mut self, guess: &Configuration) {
        self.write(|journal| journal.guessed(guess));
        self.inner.guesses(guess);
    }

    fn reason(&self) -> Status {
        self.inner.reason()
    }
}
