//! Take a kept run up again: the program, the recorded run, the question.

use std::path::Path;

use tracer::Conditions;
use tracer::poison::Poison;
use tracer::program::{Program, Scope};
use tracer::run::Recording;

use super::exit::{Exit, Failure};
use super::interrupt::Interrupt;
use super::keeping::{self, past, shelf};
use super::run::limits;
use super::search::Case;
use super::target::{Target, load_failure};
use crate::archive::{KeptRun, RunFolder};
use crate::baseline::{Baseline, recording_limits};
use crate::investigation::Plan;
use crate::oracle::Oracle;
use crate::slice::CriticalSlice;

/// A kept run with everything that a question about it needs.
pub(super) struct Reopened {
    pub(super) folder: RunFolder,
    pub(super) run: KeptRun,
    pub(super) target: Target,
    baseline: Baseline,
    oracle: Oracle,
}

impl Reopened {
    /// Finds the run that the user names; the program is loaded but not started.
    pub(super) fn open(name: Option<&Path>, interrupt: &Interrupt) -> Result<Reopened, Failure> {
        let folder = shelf().find(name).map_err(keeping::failure)?;
        let run = folder.load().map_err(keeping::failure)?;
        let target = target(&run, interrupt)?;
        let trace = folder.trace(&run, &target.program).map_err(keeping::failure)?;
        let patterns = if run.poisoned { Poison::PATTERNS.to_vec() } else { vec![Poison::Off] };
        let recording = Recording { run: run.run.clone(), trace };
        let baseline = Baseline { recording, patterns, warnings: run.warnings.clone() };
        let oracle = run.criterion.clone().oracle(&run.run).map_err(Failure::of(Exit::NotReproduced))?;
        Ok(Reopened { folder, run, target, baseline, oracle })
    }

    /// The run with its question.
    pub(super) fn case(&self) -> Case<'_> {
        let search = &self.run.search;
        Case {
            target: &self.target,
            baseline: &self.baseline,
            oracle: &self.oracle,
            plan: Plan { control: search.control, algorithm: search.algorithm, max_tests: None },
            limits: limits(&self.baseline, self.run.timeout),
        }
    }

    /// The result with which the search has ended, if it has.
    pub(super) fn result(&self, case: &Case<'_>) -> Result<Option<CriticalSlice>, Failure> {
        let question = super::run::question(case.target, case.oracle, case.plan);
        self.folder.result(None, question).map_err(keeping::failure)
    }

    /// What a search that has not ended has found so far.
    pub(super) fn best_so_far(&self, case: &Case<'_>) -> Result<CriticalSlice, Failure> {
        let content = self.folder.journal(&self.run, None).map_err(keeping::failure)?;
        case.remember(&past(&self.run, content))
    }
}

fn target(run: &KeptRun, interrupt: &Interrupt) -> Result<Target, Failure> {
    let scope = Scope::new(&run.scope).map_err(Failure::of(Exit::Usage))?;
    let path = &run.invocation.program;
    let program = Program::load(path, &run.libraries, &scope, run.granularity).map_err(load_failure)?;
    let conditions = Conditions { poison: Poison::Off, limits: recording_limits(), stop: interrupt.flag() };
    Ok(Target {
        program,
        invocation: run.invocation.clone(),
        granularity: run.granularity,
        command: run.command.clone(),
        conditions,
    })
}
