//! Take a kept run up again: the program, the recorded run, the question.

use std::path::Path;
use std::sync::Arc;

use tracer::Conditions;
use tracer::poison::Poison;
use tracer::program::{Program, Scope};
use tracer::run::Recording;
use tracer::schedule::Control as Rule;

use super::exit::{Exit, Failure};
use super::interrupt::Interrupt;
use super::keeping::{self, past, shelf};
use super::questions::{Inquiry, questions};
use super::run::limits;
use super::search::{Answer, Case, Subject};
use super::shell;
use super::target::{Target, load_failure};
use crate::archive::{KeptRun, RunFolder};
use crate::baseline::{Baseline, recording_limits};
use crate::history::History;
use crate::investigation::{Nobody, Plan, Watcher};
use crate::slice::{CriticalSlice, Evidence, Question};
use dd::Configuration;

/// A kept run with everything that questions about it need.
pub(super) struct Reopened {
    pub(super) folder: RunFolder,
    pub(super) run: KeptRun,
    pub(super) target: Target,
    pub(super) questions: Vec<Inquiry>,
    baseline: Baseline,
}

impl Reopened {
    /// Finds the run that the user names; the program is loaded but not started.
    pub(super) fn open(name: Option<&Path>, interrupt: &Interrupt) -> Result<Reopened, Failure> {
        let folder = shelf().find(name).map_err(keeping::failure)?;
        let mut run = folder.load().map_err(keeping::failure)?;
        run.criterion.check = run.criterion.check.map(|check| check.until(interrupt.flag()));
        let target = target(&run, interrupt)?;
        let trace = folder.trace(&run, &target.program).map_err(keeping::failure)?;
        let patterns = if run.poisoned { Poison::PATTERNS.to_vec() } else { vec![Poison::Off] };
        let recording = Recording { run: run.run.clone(), trace };
        let untouched = Arc::new(run.untouched.clone());
        let baseline = Baseline { recording, patterns, untouched, warnings: run.warnings.clone() };
        let questions = questions(&run.criterion, &run.criteria, &run.run, &target.program)?;
        Ok(Reopened { folder, run, target, questions, baseline })
    }

    /// The recorded run.
    pub(super) fn subject(&self) -> Subject<'_> {
        let search = &self.run.search;
        Subject {
            target: &self.target,
            baseline: &self.baseline,
            manner: &self.run.manner,
            plan: Plan { control: search.control, algorithm: search.algorithm, max_tests: None },
            limits: limits(&self.baseline, self.run.timeout),
        }
    }

    /// Why the program may not go the recorded way here: another processor or other libraries.
    pub(super) fn estrangement(&self) -> Option<String> {
        let how = self.run.surroundings.difference()?;
        let consequence = "so that the program may take another way than was recorded";
        Some(format!("run {}: {how}, {consequence}", self.folder.name()))
    }

    /// Refuses to run the program elsewhere: it might not go the recorded way, and every outcome would be in doubt.
    pub(super) fn require_same_surroundings(&self) -> Result<(), Failure> {
        let remedy = "go on where it was begun, or begin anew with `stripe run`";
        match self.estrangement() {
            None => Ok(()),
            Some(how) => Err(Failure::new(Exit::Failed, format!("{how}; {remedy}"))),
        }
    }

    /// The command that has made the run, as typed into a shell.
    pub(super) fn command_line(&self) -> String {
        shell::stripe(self.run.line.iter().cloned())
    }

    /// Whether there are several criteria.
    pub(super) fn has_several(&self) -> bool {
        self.run.criteria.len() > 1
    }

    /// The result with which the search for an answer has ended, if it has; with its history if that is
    /// of use, because it takes some time to find the way again.
    pub(super) fn result(&self, question: &Inquiry, with_history: bool) -> Result<Option<Answer>, Failure> {
        let manner = self.run.manner.clone();
        let asked = super::run::question(&self.target, &question.oracle, self.subject().plan, manner);
        let result = self.folder.result(question.name.as_deref(), asked).map_err(keeping::failure)?;
        let Some(mut slice) = result else { return Ok(None) };
        let mut history = History::default();
        if with_history {
            history = self.best_so_far(question)?.history;
            if history.tests().len() as u64 != slice.tests.total {
                slice
                    .warnings
                    .push("the journal of the search does not tell of all its tests any more".into());
            }
        }
        Ok(Some(Answer { slice, history }))
    }

    /// What the search for an answer has seen in its test of this effective set, if it has made one.
    pub(super) fn tested(
        &self,
        question: &Inquiry,
        rule: Rule,
        effective: &Configuration,
    ) -> Result<Option<Evidence>, Failure> {
        let content = self.folder.journal(&self.run, question.name.as_deref()).map_err(keeping::failure)?;
        let phase = content.phases.into_iter().find(|phase| phase.rule == rule && phase.is_understood);
        let test = phase.and_then(|mut phase| phase.outcomes.remove(&effective.fingerprint()));
        Ok(test.map(|(_, evidence)| evidence))
    }

    /// What a search that has not ended has found so far.
    pub(super) fn best_so_far(&self, question: &Inquiry) -> Result<Answer, Failure> {
        self.watched(question, &mut Nobody)
    }

    /// The same; `watcher` sees the search find the way again.
    pub(super) fn watched(&self, question: &Inquiry, watcher: &mut dyn Watcher) -> Result<Answer, Failure> {
        let content = self.folder.journal(&self.run, question.name.as_deref()).map_err(keeping::failure)?;
        Case { subject: self.subject(), question, memo: None }
            .remember(&past(&self.run.version, content), watcher)
    }
}

/// The results of a run with the names of their criteria, without a look at the program; none of those whose
/// search has not ended.
pub(super) fn results(name: Option<&Path>) -> Result<Vec<(Option<String>, CriticalSlice)>, Failure> {
    let folder = shelf().find(name).map_err(keeping::failure)?;
    let run = folder.load().map_err(keeping::failure)?;
    let question = Question {
        command: run.command.clone(),
        criterion: run.described.clone(),
        control: run.search.control,
        granularity: run.granularity,
        algorithm: run.search.algorithm,
        manner: run.manner.clone(),
    };
    let names: Vec<Option<String>> = match &run.criteria[..] {
        [] => vec![None],
        several => several.iter().map(|(name, _)| Some(name.clone())).collect(),
    };
    let mut results = Vec::new();
    for name in names {
        let result = folder.result(name.as_deref(), question.clone()).map_err(keeping::failure)?;
        results.extend(result.map(|slice| (name, slice)));
    }
    Ok(results)
}

fn target(run: &KeptRun, interrupt: &Interrupt) -> Result<Target, Failure> {
    let scope = Scope::new(&run.scope).map_err(Failure::of(Exit::Usage))?;
    let path = &run.invocation.program;
    let program = Program::load(path, &run.libraries, &scope, run.granularity).map_err(load_failure)?;
    let conditions = Conditions {
        poison: Poison::Off,
        untouched: Default::default(),
        limits: recording_limits(),
        stop: interrupt.flag(),
    };
    Ok(Target {
        program,
        invocation: run.invocation.clone(),
        granularity: run.granularity,
        command: run.command.clone(),
        conditions,
        withheld: Vec::new(),
    })
}
