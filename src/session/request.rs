//! Say what a session is asked: plain data, from any caller.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tracer::Preference;

use super::case::Plan;
use super::questions::Several;
use crate::baseline::PoisonChoice;
use crate::oracle::Criterion;
use crate::subject::Target;

/// What a session is asked: which executions of a failing run the failure needs.
pub struct Request {
    /// The program and how it is started.
    pub target: Target,
    /// What the user has named as in scope.
    pub scope: Vec<String>,
    /// What the failure is.
    pub criterion: Criterion,
    /// Several criteria instead of that one.
    pub several: Several,
    /// How the program is to be run.
    pub preference: Preference,
    /// Whether undefined values are set to patterns.
    pub poison: PoisonChoice,
    /// How the run is searched.
    pub plan: Plan,
    /// At most so many tests in all.
    pub max_tests: Option<u64>,
    /// At most this time for all searches.
    pub max_time: Option<Duration>,
    /// How many tests are made at the same time; `None`: one for each processor.
    pub jobs: Option<u16>,
    /// What the user says that a run may take.
    pub timeout: Option<Duration>,
    /// Where the run is kept.
    pub keep: Keep,
    /// The command line that has asked, without the name of this program: kept with the run.
    pub line: Vec<OsString>,
}

/// Where a run is kept.
#[derive(Clone, Debug)]
pub enum Keep {
    /// Nowhere.
    Nowhere,
    /// In this folder, which must be empty or not there.
    In(PathBuf),
    /// In a new folder in the archive of the working directory.
    InArchive,
}
