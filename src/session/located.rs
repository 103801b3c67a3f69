//! Say what `stripe locate` is asked, and what it finds.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::time::Duration;

use tracer::Containment;
use tracer::run::Run;
use tracer::trace::EventId;

use super::request::Keep;
use crate::baseline::{Baseline, Ending};
use crate::circumstances::Status;
use crate::locate::{
    Candidate, Correct, Effect, EffectKind, FurtherTests, Granule, LocateTest, OnTests, Ranking, Spacing,
    ValueChoice,
};
use crate::printed::Printed;
use crate::subject::Target;

/// A request to locate a fault.
pub struct LocateRequest {
    /// The program with its invocation.
    pub target: Target,
    /// The correct output, or a command that judges it; `None` if the run under study is the first test that fails.
    pub correct: Option<Correct>,
    /// Further tests, failing and passing.
    pub tests: Vec<LocateTest>,
    /// Whether white space counts in outputs.
    pub spacing: Spacing,
    /// Whether other values are tried.
    pub values: ValueChoice,
    /// The expected end of the run: whether the failure is that it does not end.
    pub ending: Ending,
    /// The limits of the work, and the number of parallel runs.
    pub effort: LocateEffort,
    /// The limit of time of a run; `None`: ten times what the recorded one has taken.
    pub timeout: Option<Duration>,
    /// The choice whether and where the run is kept.
    pub keep: Keep,
    /// The command line, without the name of this program.
    pub line: Vec<OsString>,
    /// The scope: the functions to be traced, as the user said.
    pub scope: Vec<String>,
}

/// The limits of the work, and the number of parallel runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocateEffort {
    /// The largest number of further runs with changes.
    pub max_tests: Option<u64>,
    /// The limit of time.
    pub max_time: Option<Duration>,
    /// The number of runs at the same time; `None`: one for each processor.
    pub jobs: Option<u16>,
}

/// The result of locating a fault.
pub struct Located {
    /// The status: whether all changes were tried.
    pub status: Status,
    /// The recorded run.
    pub baseline: Baseline,
    /// The candidates: all changes that can be tried.
    pub candidates: Vec<Candidate>,
    /// The effect of each change that was tried.
    pub effects: Vec<Option<Effect>>,
    /// The output of the run with each change that helps, by its number.
    pub printed: HashMap<usize, Printed>,
    /// The run without a change, and without a tracer.
    pub unchanged: Run,
    /// The test that is the run under study, by its name, if it is one.
    pub studied: Option<String>,
    /// The effect of each change on further tests; `None` for those that were not tried on any.
    pub on_tests: Vec<Option<OnTests>>,
    /// The further tests.
    pub tests: FurtherTests,
    /// The number of runs with changes that were made.
    pub runs: u64,
    /// The ranking of the executed lines.
    pub ranking: Ranking,
    /// The values that executions have read whose change helps, as far as they are known.
    pub values: BTreeMap<EventId, String>,
    /// The number of different outputs.
    pub outputs: usize,
    /// The word by which commands name the run, if it is kept.
    pub kept_as: Option<String>,
    /// The time from the first run to the end.
    pub elapsed: Duration,
    /// The containment of the runs.
    pub containment: Containment,
    /// Warnings that weaken the result; each one sentence.
    pub warnings: Vec<String>,
}

impl Located {
    /// The numbers of changes that were tried, that made the run right, and that brought it nearer.
    pub fn counts(&self) -> (usize, usize, usize) {
        let of = |kind| self.effects.iter().flatten().filter(|effect| effect.kind == kind).count();
        (self.effects.iter().flatten().count(), of(EffectKind::Right), of(EffectKind::Nearer))
    }

    /// The number of changes that make the run right but for white space.
    pub fn only_space(&self) -> usize {
        let is_changed = |effect: &&Effect| effect.only_space && effect.kind != EffectKind::Unchanged;
        self.effects.iter().flatten().filter(is_changed).count()
    }

    /// The number of changes that make the run right only with what happens to lie in undefined memory.
    pub fn by_undefined_memory(&self) -> usize {
        self.effects.iter().flatten().filter(|effect| effect.kind == EffectKind::Undefined).count()
    }

    /// The number of the execution, if a change is about a single one of several.
    pub fn execution(&self, number: usize) -> Option<u32> {
        match self.candidates[number].granule {
            Granule::Statement => None,
            Granule::Execution(execution, _) => Some(execution),
        }
    }
}
