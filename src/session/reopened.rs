//! Take a kept run up again: the program, the recorded run, the question.

use std::path::Path;
use std::sync::Arc;

use tracer::Conditions;
use tracer::poison::Poison;
use tracer::program::{Program, Scope};
use tracer::run::Recording;

use super::case::{Case, Plan, Subject};
use super::driver::Strategy;
use super::error::{Cause, SessionError};
use super::history::History;
use super::interrupt::Interrupt;
use super::keeping::archive;
use super::past::past;
use super::questions::{NamedCriterion, questions};
use super::recording::limits;
use super::search::Answer;
use super::watcher::{NoWatcher, Watcher};
use crate::archive::{KeptRun, RunFolder};
use crate::baseline::{Baseline, recording_limits};
use crate::circumstances::PhaseId;
use crate::oracle::Evidence;
use crate::slice::{CriticalSlice, Question};
use crate::subject::{Recorded, Target};
use dd::Configuration;

/// A kept run with everything that questions about it need.
pub struct Reopened {
    /// The folder in which it is kept.
    pub folder: RunFolder,
    /// The kept run, but for the trace.
    pub run: KeptRun,
    /// The program.
    pub target: Target,
    /// The questions about it.
    pub questions: Vec<NamedCriterion>,
    baseline: Baseline,
}

impl Reopened {
    /// Finds the run that the user names; the program is loaded but not started.
    pub fn open(name: Option<&Path>, interrupt: &Interrupt) -> Result<Reopened, SessionError> {
        let folder = archive().find_search(name)?;
        if folder.is_located() {
            let name = folder.name();
            let why = format!(
                "run {name} is one of `stripe locate`: `stripe report {name}` shows it, `stripe explain {name}` tells what was \
                 tried, `stripe reduce {name}` goes on; name another run, or make one with `stripe run`"
            );
            return Err(SessionError::new(Cause::Request, why));
        }
        Reopened::of(folder, None, interrupt)
    }

    /// Loads the run in a folder; its program may lie elsewhere now.
    pub fn of(
        folder: RunFolder,
        program: Option<&Path>,
        interrupt: &Interrupt,
    ) -> Result<Reopened, SessionError> {
        let RecordedRun { run, target, baseline } = recorded_run(&folder, program, interrupt)?;
        let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
        let questions = questions(&run.criterion, &run.criteria, &run.run, recorded)?;
        Ok(Reopened { folder, run, target, questions, baseline })
    }

    /// The recorded run.
    pub fn subject(&self) -> Subject<'_> {
        let search = &self.run.search;
        Subject {
            target: &self.target,
            baseline: &self.baseline,
            method: &self.run.method,
            plan: Plan {
                control: search.control,
                strategy: Strategy { algorithm: search.algorithm, max_tests: None },
            },
            limits: limits(&self.baseline, self.run.timeout),
        }
    }

    /// The reason why the program may not go the recorded way here: another processor or other libraries.
    pub fn other_surroundings(&self) -> Option<String> {
        let how = self.run.surroundings.difference()?;
        let consequence = "so that the program may take another way than was recorded";
        Some(format!("run {}: {how}, {consequence}", self.folder.name()))
    }

    /// Refuses to run the program elsewhere: it might not go the recorded way, and every outcome would be in doubt.
    pub fn require_same_surroundings(&self) -> Result<(), SessionError> {
        let remedy = "go on where it was begun, or begin anew with `stripe run`";
        match self.other_surroundings() {
            None => Ok(()),
            Some(how) => Err(SessionError::new(Cause::Failed, format!("{how}; {remedy}"))),
        }
    }

    /// True if there are several criteria.
    pub fn has_several(&self) -> bool {
        self.run.criteria.len() > 1
    }

    /// The result with which the search for an answer has ended, if it has; with its history if that is
    /// wanted, because it takes some time to replay the search.
    pub fn result(
        &self,
        question: &NamedCriterion,
        with_history: bool,
    ) -> Result<Option<Answer>, SessionError> {
        let asked = self.subject().question(&question.oracle, self.run.method.clone());
        let result = self.folder.result(question.name.as_deref(), asked)?;
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
        Ok(Some(Answer { slice, is_trivial: false, history }))
    }

    /// The evidence of the test of this effective configuration in the search for an answer, if it was made.
    pub fn tested(
        &self,
        question: &NamedCriterion,
        phase: PhaseId,
        effective: &Configuration,
    ) -> Result<Option<Evidence>, SessionError> {
        let content = self.folder.journal(&self.run, question.name.as_deref())?;
        let known = content.phases.into_iter().find(|known| known.phase == phase && known.is_understood);
        let test = known.and_then(|mut known| known.outcomes.remove(&effective.fingerprint()));
        Ok(test.map(|(_, evidence)| evidence))
    }

    /// The best result so far of a search that has not ended.
    pub fn best_so_far(&self, question: &NamedCriterion) -> Result<Answer, SessionError> {
        self.watched(question, &mut NoWatcher)
    }

    /// The best result so far; `watcher` watches the search being replayed.
    pub fn watched(
        &self,
        question: &NamedCriterion,
        watcher: &mut dyn Watcher,
    ) -> Result<Answer, SessionError> {
        let content = self.folder.journal(&self.run, question.name.as_deref())?;
        Case { subject: self.subject(), question, memo: None, guess: None }
            .remember(&past(&self.run.version, content), watcher)
    }
}

/// A kept run, its program, and what was recorded.
pub(super) struct RecordedRun {
    pub(super) run: KeptRun,
    pub(super) target: Target,
    pub(super) baseline: Baseline,
}

/// Reads a kept run; the program, which may lie elsewhere now, is loaded but not started.
///
/// # Errors
/// If what is kept is not what was written, or the program is another one.
pub(super) fn recorded_run(
    folder: &RunFolder,
    program: Option<&Path>,
    interrupt: &Interrupt,
) -> Result<RecordedRun, SessionError> {
    let mut run = folder.load()?;
    if let Some(program) = program {
        run.move_program(program);
    }
    run.criterion.check = run.criterion.check.map(|check| check.until(interrupt.flag()));
    let target = target(&run, interrupt)?;
    let trace = folder.trace(&run, &target.program)?;
    let patterns = if run.poisoned { Poison::PATTERNS.to_vec() } else { vec![Poison::Off] };
    let recording = Recording { run: run.run.clone(), trace };
    let untouched = Arc::new(run.untouched.clone());
    let baseline = Baseline { recording, patterns, untouched, warnings: run.warnings.clone() };
    Ok(RecordedRun { run, target, baseline })
}

/// The results of a run with the names of their criteria, without loading the program; none of those whose
/// search has not ended.
pub fn results(name: Option<&Path>) -> Result<Vec<(Option<String>, CriticalSlice)>, SessionError> {
    let folder = archive().find_search(name)?;
    let run = folder.load()?;
    let question = Question {
        command: run.command.clone(),
        criterion: run.described.clone(),
        control: run.search.control,
        granularity: run.granularity,
        algorithm: run.search.algorithm,
        method: run.method.clone(),
    };
    let names: Vec<Option<String>> = match &run.criteria[..] {
        [] => vec![None],
        several => several.iter().map(|(name, _)| Some(name.clone())).collect(),
    };
    let mut results = Vec::new();
    for name in names {
        let result = folder.result(name.as_deref(), question.clone())?;
        results.extend(result.map(|slice| (name, slice)));
    }
    Ok(results)
}

fn target(run: &KeptRun, interrupt: &Interrupt) -> Result<Target, SessionError> {
    let scope = Scope::new(&run.scope).map_err(SessionError::of(Cause::Request))?;
    let path = &run.invocation.program;
    let program = Program::load(path, &run.libraries, &scope, run.granularity)?;
    let conditions = Conditions {
        poison: Poison::Off,
        untouched: Default::default(),
        limits: recording_limits(),
        stop: interrupt.flag(),
        asked: run.criterion.asked(),
    };
    Ok(Target {
        program,
        invocation: run.invocation.clone(),
        granularity: run.granularity,
        command: run.command.clone(),
        conditions,
    })
}
