//! Say what `stripe locate` is asked, and what it finds.

use std::collections::HashMap;
use std::ffi::OsString;
use std::time::Duration;

use tracer::Containment;
use tracer::run::Run;

use super::request::Keep;
use crate::baseline::{Baseline, Ending};
use crate::circumstances::Status;
use crate::locate::{
    Candidate, Correct, Effect, EffectKind, FurtherTests, Granule, LocateTest, OnTests, Ranking, Spacing,
    ValueChoice,
};
use crate::printed::Printed;
use crate::subject::Target;

/// What is asked.
pub struct LocateRequest {
    /// The program and how it is started.
    pub target: Target,
    /// What would be right; `None` if the run under study is the first test that fails.
    pub correct: Option<Correct>,
    /// Further tests, failing and passing.
    pub tests: Vec<LocateTest>,
    /// Whether white space counts in them.
    pub spacing: Spacing,
    /// Whether other values are tried.
    pub values: ValueChoice,
    /// Whether the failure is that it does not end.
    pub ending: Ending,
    /// What it may take.
    pub effort: LocateEffort,
    /// When a run is ended; `None`: after ten times what the recorded one has taken.
    pub timeout: Option<Duration>,
    /// Where the run is kept.
    pub keep: Keep,
    /// The command line, without the name of this program.
    pub line: Vec<OsString>,
    /// Which functions are traced, as the user said.
    pub scope: Vec<String>,
}

/// What the work may take.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocateEffort {
    /// At most so many further runs with changes.
    pub max_tests: Option<u64>,
    /// For at most this time.
    pub max_time: Option<Duration>,
    /// How many runs are made at the same time; `None`: one for each processor.
    pub jobs: Option<u16>,
}

/// What was found.
pub struct Located {
    /// Whether all changes were tried.
    pub status: Status,
    /// The recorded run.
    pub baseline: Baseline,
    /// All changes that can be tried.
    pub candidates: Vec<Candidate>,
    /// What came of each that was tried.
    pub effects: Vec<Option<Effect>>,
    /// What the run has printed with each change that helps, by its number.
    pub printed: HashMap<usize, Printed>,
    /// The run without a change, and without a tracer.
    pub unchanged: Run,
    /// The test that is the run under study, by its name, if it is one.
    pub studied: Option<String>,
    /// What each does to further tests; of those that were not tried on any nothing.
    pub on_tests: Vec<Option<OnTests>>,
    /// The further tests.
    pub tests: FurtherTests,
    /// How many runs with changes were made.
    pub runs: u64,
    /// The executed lines.
    pub ranking: Ranking,
    /// How many different outputs there were.
    pub outputs: usize,
    /// The word by which commands name the run, if it is kept.
    pub kept_as: Option<String>,
    /// From the first run to the end.
    pub elapsed: Duration,
    /// How well the runs were contained.
    pub containment: Containment,
    /// What weakens the result; each one sentence.
    pub warnings: Vec<String>,
}

impl Located {
    /// How many changes were tried, made the run right, and brought it nearer.
    pub fn counts(&self) -> (usize, usize, usize) {
        let of = |kind| self.effects.iter().flatten().filter(|effect| effect.kind == kind).count();
        (self.effects.iter().flatten().count(), of(EffectKind::Right), of(EffectKind::Nearer))
    }

    /// How many changes make the run right but for white space.
    pub fn only_space(&self) -> usize {
        let is_changed = |effect: &&Effect| effect.only_space && effect.kind != EffectKind::Unchanged;
        self.effects.iter().flatten().filter(is_changed).count()
    }

    /// How many changes make the run right only with what happens to lie in undefined memory.
    pub fn by_undefined_memory(&self) -> usize {
        self.effects.iter().flatten().filter(|effect| effect.kind == EffectKind::Undefined).count()
    }

    /// Whether a change is about a single execution of several.
    pub fn execution(&self, number: usize) -> Option<u32> {
        match self.candidates[number].granule {
            Granule::Statement => None,
            Granule::Execution(execution, _) => Some(execution),
        }
    }
}
