//! Define the request of a session: plain data, from any caller.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tracer::Preference;

use super::case::Plan;
use super::questions::Several;
use crate::baseline::PoisonChoice;
use crate::oracle::Criterion;
use crate::subject::Target;

/// A request: which executions of a failing run does the failure need?
pub struct Request {
    /// The program with its invocation.
    pub target: Target,
    /// The scope: the files and functions that the user has named.
    pub scope: Vec<String>,
    /// The failure criterion.
    pub criterion: Criterion,
    /// Several criteria instead of that one.
    pub several: Several,
    /// The preference for jumps or breakpoints.
    pub preference: Preference,
    /// The choice whether undefined values are set to patterns.
    pub poison: PoisonChoice,
    /// The plan of the search.
    pub plan: Plan,
    /// The largest number of tests in all.
    pub max_tests: Option<u64>,
    /// The limit of time for all searches.
    pub max_time: Option<Duration>,
    /// The number of tests at the same time; `None`: one for each processor.
    pub jobs: Option<u16>,
    /// The limit of time of a run, if the user has set one.
    pub timeout: Option<Duration>,
    /// The folder in which the run is kept.
    pub keep: Keep,
    /// The command line that has asked, without the name of this program: kept with the run.
    pub line: Vec<OsString>,
}

/// The folder in which a run is kept.
#[derive(Clone, Debug)]
pub enum Keep {
    /// Nowhere.
    Nowhere,
    /// In this folder, which must be empty or not there.
    In(PathBuf),
    /// In a new folder in the archive of the working directory.
    InArchive,
}
