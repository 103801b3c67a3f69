//! Show on standard error how the search goes on, and end it when its time is over.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use super::interrupt::Interrupt;
use super::options::OutputOptions;
use crate::dd::{Configuration, Counts, Observer, Outcome};
use crate::investigation::Watcher;
use crate::report::{Style, bullets, words};
use crate::slice::Evidence;

/// How often a line on a terminal is drawn again.
const INTERVAL: Duration = Duration::from_millis(100);

/// What the user wants to see.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Nothing,
    /// A line on a terminal that is drawn again and again.
    Live,
    /// A line for each improvement.
    Improvements,
    /// A line for each test.
    Tests,
}

/// Watches a search.
pub(super) struct Progress {
    detail: Detail,
    style: Style,
    interrupt: Interrupt,
    started: Instant,
    deadline: Option<Instant>,
    drawn: Option<Instant>,
    smallest: Option<usize>,
    tests: u64,
}

impl Progress {
    pub(super) fn new(
        options: &OutputOptions,
        style: Style,
        interrupt: Interrupt,
        max_time: Option<Duration>,
    ) -> Progress {
        let detail = match (options.quiet, options.verbose, stderr().is_terminal()) {
            (true, ..) => Detail::Nothing,
            (_, true, _) => Detail::Tests,
            (_, _, true) => Detail::Live,
            _ => Detail::Improvements,
        };
        let started = Instant::now();
        Progress {
            detail,
            style,
            interrupt,
            started,
            deadline: max_time.map(|time| started + time),
            drawn: None,
            smallest: None,
            tests: 0,
        }
    }

    /// So many tests were made by an earlier search.
    pub(super) fn after(mut self, tests: u64) -> Progress {
        self.tests = tests;
        self
    }

    /// Takes the live line away, so that what follows stands alone.
    pub(super) fn finish(&mut self) {
        if self.drawn.take().is_some() {
            say("\r\x1b[K");
        }
    }

    fn draw(&mut self) {
        let due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= INTERVAL);
        if self.detail == Detail::Live && due {
            let left = self.smallest.map_or_else(String::new, |left| {
                format!("{} left, ", words::count(left as u64, "execution"))
            });
            say(&format!(
                "\r\x1b[K{left}{}, {:.0} s",
                words::count(self.tests, "test"),
                self.started.elapsed().as_secs_f64()
            ));
            self.drawn = Some(Instant::now());
        }
    }
}

/// What cannot be shown is not worth an error.
pub(super) fn say(text: &str) {
    let mut stderr = stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

impl Observer<Evidence> for Progress {
    fn tested(&mut self, configuration: &Configuration, outcome: Outcome, _: &Evidence, _: Counts) {
        self.tests += 1;
        if self.detail == Detail::Tests {
            say(&format!("{}\n", bullets::row(self.tests, configuration, outcome, self.style)));
        }
        self.draw();
    }

    fn improved(&mut self, smaller: &Configuration) {
        self.smallest = Some(smaller.len());
        if self.detail == Detail::Improvements {
            let elapsed = self.started.elapsed().as_secs_f64();
            let left = words::count(smaller.len() as u64, "execution");
            let tests = words::count(self.tests, "test");
            say(&format!("{left} left after {tests}, {elapsed:.1} s\n"));
        }
    }

    fn should_stop(&mut self) -> bool {
        self.interrupt.signal().is_some() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Watcher for Progress {}
