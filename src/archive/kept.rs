//! Hold what is kept of a run, in the types of the rest of the program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tracer::invocation::Invocation;
use tracer::program::Granularity;
use tracer::run::Run;
use tracer::surroundings::Surroundings;
use tracer::trace::Endless;
use tracer::trace_file::Identity;
use tracer::{Preference, Untouched};

use super::located::KeptLocate;

use crate::circumstances::events::Control;
use crate::oracle::{Criterion, Part};
use crate::slice::RunMethod;
use dd::Algorithm;

/// A kept run: all that a later report or search needs besides the trace.
#[derive(Clone, Debug)]
pub struct KeptRun {
    /// The time at which it was begun.
    pub started: SystemTime,
    /// The version of stripe that has written it.
    pub version: String,
    /// The command line, without the name of this program.
    pub line: Vec<OsString>,
    /// The command in words, as the user gave it.
    pub command: Vec<String>,
    /// The invocation of the program.
    pub invocation: Invocation,
    /// The limit of time for each run, if the user has set one.
    pub timeout: Option<Duration>,
    /// The scope: which functions are traced, as the user said.
    pub scope: Vec<String>,
    /// The traced shared libraries.
    pub libraries: Vec<PathBuf>,
    /// The granularity: what counts as a statement.
    pub granularity: Granularity,
    /// The identity of the program at that time.
    pub identity: Identity,
    /// The surroundings of the recorded run: the machine and the libraries.
    pub surroundings: Surroundings,
    /// The failure criterion.
    pub criterion: Criterion,
    /// The criterion in words.
    pub described: String,
    /// Several criteria by their names, each a part of the output that must stay.
    pub criteria: Vec<(String, Part)>,
    /// The names of those that are about wrong output, as far as that is known.
    pub wrong: Vec<String>,
    /// The settings of the search.
    pub search: KeptSearch,
    /// The settings of `stripe locate`, if it has made the run.
    pub locate: Option<KeptLocate>,
    /// The recorded run.
    pub run: Run,
    /// The run method of the recording.
    pub method: RunMethod,
    /// The number of its events.
    pub events: usize,
    /// The loop in which it has not ended, if it never ends.
    pub endless: Option<Endless>,
    /// True if undefined values are set to patterns.
    pub poisoned: bool,
    /// The undefined memory that is not set to patterns.
    pub untouched: Untouched,
    /// The warnings that weaken every answer; each one sentence.
    pub warnings: Vec<String>,
}

impl KeptRun {
    /// Its program, the same file, lies elsewhere now.
    pub fn move_program(&mut self, program: &Path) {
        let before = std::mem::replace(&mut self.invocation.program, program.to_owned());
        let objects = self.surroundings.objects.iter_mut();
        objects.filter(|object| object.path == before).for_each(|object| object.path = program.to_owned());
    }
}

/// The settings of a search, as far as they are kept.
#[derive(Clone, Copy, Debug)]
pub struct KeptSearch {
    /// The control rule: what makes a statement be executed.
    pub control: Control,
    /// The algorithm that chooses subsets.
    pub algorithm: Algorithm,
    /// The largest number of tests, if the user has set a limit.
    pub max_tests: Option<u64>,
    /// The limit of time, if the user has set one.
    pub max_time: Option<Duration>,
    /// The number of workers, if the user has set it.
    pub jobs: Option<u16>,
    /// The preference for jumps or breakpoints.
    pub preference: Preference,
}
