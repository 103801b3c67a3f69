//! State what is asked of a search for the changes that break a program.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use regex::bytes::Regex;
use tracer::invocation::Invocation;

use super::driver::Strategy;
use super::request::Keep;
use super::simplify_request::OutcomeKeeping;
use crate::circumstances::change::{ChangeGroup, Resolution, Separation};
use crate::oracle::Criterion;

/// What is asked.
pub struct ChangesRequest {
    /// The version that works.
    pub good: OsString,
    /// The one that does not.
    pub bad: OsString,
    /// Where the user is.
    pub folder: PathBuf,
    /// How a version is built, with a directory within its tree; `None`: not at all.
    pub build: Option<Invocation>,
    /// How it is tested.
    pub test: Invocation,
    /// What the test shows.
    pub judgement: Judgement,
    /// How fine the answer is.
    pub granularity: ChangeGranularity,
    /// Whether commits are looked at first.
    pub history: HistoryUse,
    /// Changes are separated by so many unchanged lines.
    pub separation: Separation,
    /// What is tried together.
    pub groups: Vec<ChangeGroup>,
    /// Whether the messages of failed builds lead to further changes.
    pub resolution: Resolution,
    /// Finds names in these messages.
    pub error_pattern: Option<Regex>,
    /// What is in no version.
    pub excluded: Option<Regex>,
    /// Each version is tested so often.
    pub repeat: u32,
    /// Whether each build begins with a clean tree.
    pub is_always_clean: bool,
    /// The command line, without the name of this program.
    pub line: Vec<OsString>,
    /// Where the search is kept.
    pub keep: Keep,
    /// Whether it goes on with the tests of an earlier search.
    pub keeping: OutcomeKeeping,
    /// How many versions may be tested.
    pub strategy: Strategy,
    /// For at most this time.
    pub max_time: Option<Duration>,
    /// How many tests are made at the same time; `None`: one for each processor.
    pub jobs: Option<u16>,
    /// When a test is ended; `None`: after some times what it has taken for the two versions.
    pub timeout: Option<Duration>,
    /// When a build is ended; `None`: the same.
    pub build_timeout: Option<Duration>,
}

/// What the test of a version shows.
#[derive(Clone, Debug)]
pub enum Judgement {
    /// A command says by its exit status whether the version works.
    Command,
    /// A program shows the failure; `None`: what it shows in the version that does not work.
    Program(Box<Option<Criterion>>),
}

/// How fine the answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeGranularity {
    /// Commits, then textual changes, then lines if they are few.
    Auto,
    /// Commits only.
    Commits,
    /// All changes of a file together.
    Files,
    /// All changes of a function together.
    Functions,
    /// Textual changes.
    Hunks,
    /// Lines, however many they are.
    Lines,
}

/// What the history is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryUse {
    /// First the commit is looked for, then its changes.
    First,
    /// All changes are looked at together.
    Ignored,
}
