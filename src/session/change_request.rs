//! Define the request of a search for the changes that break a program.

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

/// A request to find the changes that break a program.
pub struct ChangesRequest {
    /// The version that works.
    pub good: OsString,
    /// The version that does not.
    pub bad: OsString,
    /// The user's working directory.
    pub folder: PathBuf,
    /// The invocation that builds a version, with a directory within its tree; `None`: it is not built.
    pub build: Option<Invocation>,
    /// The invocation that tests a version.
    pub test: Invocation,
    /// The meaning of the test.
    pub judgement: Judgement,
    /// The granularity of the answer.
    pub granularity: ChangeGranularity,
    /// Whether commits are searched first.
    pub history: HistoryUse,
    /// The number of unchanged lines that separate changes.
    pub separation: Separation,
    /// The criteria by which changes are grouped.
    pub groups: Vec<ChangeGroup>,
    /// Failure resolution: whether the messages of failed builds lead to further changes.
    pub resolution: Resolution,
    /// A pattern that finds names in these messages.
    pub error_pattern: Option<Regex>,
    /// A pattern of paths that belong to no version.
    pub excluded: Option<Regex>,
    /// The number of tests of each version.
    pub repeat: u32,
    /// True if each build begins with a clean tree.
    pub is_always_clean: bool,
    /// The command line, without the name of this program.
    pub line: Vec<OsString>,
    /// The choice whether and where the search is kept.
    pub keep: Keep,
    /// Whether it goes on with the tests of an earlier search.
    pub keeping: OutcomeKeeping,
    /// The strategy: the algorithm, and how many versions may be tested.
    pub strategy: Strategy,
    /// The limit of time.
    pub max_time: Option<Duration>,
    /// The number of tests at the same time; `None`: one for each processor.
    pub jobs: Option<u16>,
    /// The limit of time of a test; `None`: a multiple of what the two versions have taken.
    pub timeout: Option<Duration>,
    /// The limit of time of a build; `None`: a multiple of what the two versions have taken.
    pub build_timeout: Option<Duration>,
}

/// The meaning of the test of a version.
#[derive(Clone, Debug)]
pub enum Judgement {
    /// A command tells by its exit status whether the version works.
    Command,
    /// A program shows the failure; `None`: the one that it shows in the version that does not work.
    Program(Box<Option<Criterion>>),
}

/// The granularity of the answer.
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

/// The use of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryUse {
    /// First the commit is searched for, then its changes.
    First,
    /// All changes are searched together.
    Ignored,
}
