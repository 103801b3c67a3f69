//! Name what is kept of a run, in the words of the rest of the program.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use tracer::invocation::Invocation;
use tracer::program::Granularity;
use tracer::run::Run;
use tracer::surroundings::Surroundings;
use tracer::trace::Endless;
use tracer::trace_file::Identity;
use tracer::{Preference, Untouched};

use crate::circumstances::events::Control;
use crate::oracle::{Criterion, Part};
use crate::slice::RunMethod;
use dd::Algorithm;

/// All that a later report or search needs besides the trace.
#[derive(Clone, Debug)]
pub struct KeptRun {
    /// When it was begun.
    pub started: SystemTime,
    /// The version of stripe that has written it.
    pub version: String,
    /// The command line, without the name of this program.
    pub line: Vec<OsString>,
    /// The command in words, as the user gave it.
    pub command: Vec<String>,
    /// How the program is started.
    pub invocation: Invocation,
    /// The limit of time for each run, if the user has set one.
    pub timeout: Option<Duration>,
    /// Which functions are traced, as the user said.
    pub scope: Vec<String>,
    /// The traced shared libraries.
    pub libraries: Vec<PathBuf>,
    /// What counts as a statement.
    pub granularity: Granularity,
    /// What the program was like.
    pub identity: Identity,
    /// The machine and the libraries of the recorded run.
    pub surroundings: Surroundings,
    /// What shows the failure.
    pub criterion: Criterion,
    /// The same in words.
    pub described: String,
    /// Several criteria by their names, each a part of the output that must stay.
    pub criteria: Vec<(String, Part)>,
    /// The names of those that are about wrong output, as far as that is known.
    pub wrong: Vec<String>,
    /// How to search.
    pub search: KeptSearch,
    /// The recorded run.
    pub run: Run,
    /// How it was recorded.
    pub method: RunMethod,
    /// How many events it has.
    pub events: usize,
    /// The loop in which it has not ended.
    pub endless: Option<Endless>,
    /// Whether undefined values are set to patterns.
    pub poisoned: bool,
    /// The undefined memory to which that is not done.
    pub untouched: Untouched,
    /// What weakens every answer; each one sentence.
    pub warnings: Vec<String>,
}

/// How to search, as far as it is kept.
#[derive(Clone, Copy, Debug)]
pub struct KeptSearch {
    /// What makes a statement be executed.
    pub control: Control,
    /// How subsets are chosen.
    pub algorithm: Algorithm,
    /// At most so many tests, if the user has set a limit.
    pub max_tests: Option<u64>,
    /// At most so much time, if the user has set a limit.
    pub max_time: Option<Duration>,
    /// So many workers, if the user has said so.
    pub jobs: Option<u16>,
    /// How programs are to be run.
    pub preference: Preference,
}
