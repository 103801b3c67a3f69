//! Show the progress of a search on standard error, and end it when its time is over.

use std::time::{Duration, Instant};

use super::choices::LevelChoice;
use super::status::{REPEATED, SharedStatus};
use super::terminal::{self, Verbosity, say, tell};
use crate::circumstances::{PhaseTitle, Status};
use crate::oracle::Evidence;
use crate::report::{Style, bullets, printable, words};
use crate::session::interrupt::Interrupt;
use crate::session::listener::{Begun, Listener, SearchWatcher};
use crate::session::watcher::Watcher;
use dd::{Configuration, Counts, Observer, Outcome};

/// The interval at which a line on a terminal is drawn again.
const INTERVAL: Duration = Duration::from_millis(100);

/// The number of tests up to which a pass is made, however long it takes.
const ALWAYS: u64 = 10_000;

/// The longest time that a longer pass may take.
const WORTH_WHILE: Duration = Duration::from_secs(180);

/// The detail that the user wants to see.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Nothing,
    /// A line on a terminal that is redrawn.
    Live,
    /// A line for the first improvement, and one each ten seconds.
    Improvements,
    /// A line for each test.
    Tests,
}

/// A listener that shows the user the progress of a session.
pub(super) struct ProgressPrinter {
    detail: Detail,
    style: Style,
    interrupt: Interrupt,
    shared_status: SharedStatus,
    level: LevelChoice,
}

/// A watcher that shows the progress of a search.
struct Progress<'v> {
    printer: &'v ProgressPrinter,
    started: Instant,
    deadline: Option<Instant>,
    drawn: Option<Instant>,
    /// The name of one circumstance.
    unit: &'static str,
    tests: u64,
    /// The number of tests without those of an earlier search.
    tests_now: u64,
}

impl ProgressPrinter {
    pub(super) fn new(
        verbosity: Verbosity,
        style: Style,
        interrupt: &Interrupt,
        shared_status: &SharedStatus,
    ) -> ProgressPrinter {
        let detail = match (verbosity.quiet, verbosity.verbose, terminal::draws_again()) {
            (true, ..) => Detail::Nothing,
            (_, true, _) => Detail::Tests,
            (_, _, true) => Detail::Live,
            _ => Detail::Improvements,
        };
        let (interrupt, shared_status) = (interrupt.clone(), shared_status.clone());
        ProgressPrinter { detail, style, interrupt, shared_status, level: LevelChoice::default() }
    }

    /// Sets the level at which searches end.
    pub(super) fn to(self, level: LevelChoice) -> ProgressPrinter {
        ProgressPrinter { level, ..self }
    }
}

impl Listener for ProgressPrinter {
    fn tell(&self, line: &str) {
        if self.detail != Detail::Nothing {
            tell(line);
        }
    }

    fn search<'l>(&'l self, search: Begun<'_>) -> Box<dyn SearchWatcher + 'l> {
        self.shared_status.begin_search();
        self.shared_status.note(|stand| stand.criterion = search.criterion.map(str::to_owned));
        let started = Instant::now();
        Box::new(Progress {
            printer: self,
            started,
            deadline: search.time.map(|time| started + time),
            drawn: None,
            unit: "circumstance",
            tests: search.known.unwrap_or(0),
            tests_now: 0,
        })
    }
}

impl Progress<'_> {
    fn draw(&mut self) {
        let due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= INTERVAL);
        if self.printer.detail == Detail::Live && due {
            say(&format!("\r\x1b[K{}", terminal::clipped(&printable(&self.printer.shared_status.line()))));
            self.drawn = Some(Instant::now());
        }
    }
}

impl Observer<Evidence> for Progress<'_> {
    fn tested(&mut self, configuration: &Configuration, outcome: Outcome, _: &Evidence, _: Counts) {
        self.tests += 1;
        self.tests_now += 1;
        self.printer.shared_status.note(|stand| {
            stand.tests = self.tests;
            stand.tests_now += 1;
        });
        if self.printer.detail == Detail::Tests {
            say(&format!("{}\n", bullets::row(self.tests, configuration, outcome, self.printer.style)));
            self.printer.shared_status.was_shown(Instant::now());
        }
        self.draw();
    }

    fn improved(&mut self, smaller: &Configuration) {
        self.printer.shared_status.note(|stand| {
            stand.units = stand.units.map(|(all, _)| (all, smaller.len()));
        });
        let now = Instant::now();
        let shared_status = &self.printer.shared_status;
        if self.printer.detail == Detail::Improvements
            && (self.drawn.is_none() || shared_status.is_due(now, REPEATED))
        {
            self.drawn = Some(now);
            shared_status.was_shown(now);
            let elapsed = self.started.elapsed().as_secs_f64();
            let left = words::count(smaller.len() as u64, self.unit);
            let tests = words::count(self.tests, "test");
            say(&format!("{left} left after {tests}, {elapsed:.1} s\n"));
        }
    }

    /// Goes to a finer level as the user says, or else if its pass is short: some minutes at most. The time is
    /// only estimated where it takes many tests, so that results of shorter runs do not depend on the machine.
    fn goes_finer(&mut self, level: dd::Level, tests: u64) -> bool {
        let each = self.started.elapsed().as_secs_f64() / self.tests_now.max(1) as f64;
        let is_short = tests <= ALWAYS || each * tests as f64 <= WORTH_WHILE.as_secs_f64();
        match (self.printer.level, level) {
            (LevelChoice::Auto, _) => is_short,
            (LevelChoice::Execution, _) | (LevelChoice::History, dd::Level::Groups(_)) => true,
            (LevelChoice::History, dd::Level::Members) | (LevelChoice::Statement, _) => false,
        }
    }

    fn should_stop(&mut self) -> bool {
        self.printer.interrupt.is_asked() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Watcher for Progress<'_> {
    fn begins(&mut self, phase: &PhaseTitle, start: &Configuration) {
        self.unit = phase.unit;
        self.printer.shared_status.note(|stand| {
            stand.phase = phase.what.clone();
            stand.units = Some((start.len(), start.len()));
        });
    }

    fn reason(&self) -> Status {
        if self.printer.interrupt.signal().is_some() { Status::Interrupted } else { Status::Budget }
    }
}

impl SearchWatcher for Progress<'_> {
    /// Removes the live line, so that what follows stands alone.
    fn ends(&mut self) {
        if self.drawn.take().is_some() && self.printer.detail == Detail::Live {
            say("\r\x1b[K");
        }
    }
}
