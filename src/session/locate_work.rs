//! Make the changes of a failing run, all that are not known yet, and rank the lines by what came of them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hasher;
use std::ops::Range;
use std::time::{Duration, Instant};

use siphasher::sip::SipHasher13;
use tracer::Processors;
use tracer::intervention::Alterations;
use tracer::invocation::Limits;
use tracer::plain::Runner;
use tracer::run::Run;
use tracer::termination::Termination;

use super::error::{Cause, SessionError};
use super::interrupt::Interrupt;
use super::listener::Listener;
use super::locate_attempts::{Attempt, Attempts, Patterns, Studied, changed_limits};
use super::locate_further::{Chosen, leave_out_unsteady};
use super::locate_suite::Suite;
use super::locate_values::values_read;
use super::located::{LocateEffort, Located};
use crate::archive::{AttemptContent, AttemptJournal, AttemptSetting};
use crate::baseline::Baseline;
use crate::circumstances::Status;
use crate::locate::{
    Candidate, EffectKind, Experiments, Granule, ORDER, Trials, ValueChoice, candidates, ranking,
};
use crate::printed::Printed;
use crate::subject::{Recorded, Target};

/// A failing run that is recorded, with what would be right.
pub(super) struct FailingRun<'r> {
    pub(super) target: &'r Target,
    pub(super) suite: Suite,
    pub(super) baseline: Baseline,
    /// Whether other values are tried.
    pub(super) values: ValueChoice,
    /// When a run is ended, if the user has said so.
    pub(super) timeout: Option<Duration>,
}

/// The work, once it is known that changes of the run mean something.
pub(super) struct LocateWork<'r> {
    pub(super) failing: FailingRun<'r>,
    effort: LocateEffort,
    processors: &'r Processors,
    interrupt: &'r Interrupt,
    runners: Vec<Runner<'r>>,
    unchanged: Run,
    limits: Limits,
    patterns: Patterns,
    candidates: Vec<Candidate>,
}

impl<'r> LocateWork<'r> {
    /// Runs the program as it is.
    ///
    /// # Errors
    /// If that is right, or differs from the recorded run.
    pub(super) fn prepare(
        mut failing: FailingRun<'r>,
        effort: LocateEffort,
        processors: &'r Processors,
        (interrupt, listener): (&'r Interrupt, &dyn Listener),
    ) -> Result<LocateWork<'r>, SessionError> {
        let FailingRun { target, ref baseline, timeout, .. } = failing;
        let limits = free_limits(baseline, timeout);
        let jobs = effort.jobs.map_or(processors.count(), usize::from);
        let runners = (0..jobs).map(|_| Runner::new(&target.program, &target.invocation));
        let mut runners = runners.collect::<Result<Vec<_>, _>>()?;
        let (first, stop) = (&mut runners[0], interrupt.flag());
        let unchanged = first.run_changed(&target.invocation, &Alterations::of(&[]), &limits, &stop)?;
        let Suite { correct, tests, warnings, .. } = &mut failing.suite;
        warnings.extend(must_be_wrong(&Trials::new(correct, &unchanged), &unchanged, &failing.baseline)?);
        leave_out_unsteady(tests, first, &stop, warnings)?;
        let baseline = &failing.baseline;
        let limits_of = |run: &Run| changed_limits(run, is_endless(baseline), baseline.limits(), timeout);
        let (patterns, warning) = Patterns::new((target, baseline), (first, &stop), &unchanged, limits_of)?;
        warnings.extend(warning);
        let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
        let candidates = candidates(recorded, failing.values);
        listener.tell(&format!("{} changes can be tried", candidates.len()));
        Ok(LocateWork {
            failing,
            effort,
            processors,
            interrupt,
            runners,
            unchanged,
            limits,
            patterns,
            candidates,
        })
    }

    /// The setting that the effects of changes depend on.
    pub(super) fn setting(&self) -> AttemptSetting {
        let FailingRun { suite, baseline, .. } = &self.failing;
        AttemptSetting {
            changes: fingerprint(&self.candidates),
            unchanged: Printed::of(&self.unchanged, &baseline.recording.run),
            first_wrong: Trials::new(&suite.correct, &self.unchanged).first_wrong(),
            tests: Chosen::new(&suite.tests).further(self.recorded(), &suite.tests),
            warnings: suite.warnings.clone(),
        }
    }

    fn recorded(&self) -> Recorded<'_> {
        let FailingRun { target, baseline, .. } = &self.failing;
        Recorded { program: &target.program, trace: &baseline.recording.trace }
    }

    /// Makes all changes that are not known, writes each down, and ranks the lines.
    ///
    /// # Errors
    /// If the machine refuses, or a check does not judge.
    pub(super) fn make(
        mut self,
        known: &AttemptContent,
        journal: Option<&AttemptJournal>,
        started: Instant,
    ) -> Result<Located, SessionError> {
        let setting = self.setting();
        let mut runners = std::mem::take(&mut self.runners);
        let LocateWork { failing, effort, processors, interrupt, ref candidates, .. } = self;
        let FailingRun { target, suite, baseline, .. } = failing;
        let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
        let trials = Trials::new(&suite.correct, &self.unchanged);
        let own =
            Studied { invocation: &target.invocation, limits: self.limits, trials, patterns: self.patterns };
        let chosen = Chosen::new(&suite.tests);
        let runs: Vec<Studied<'_>> = std::iter::once(own).chain(chosen.studied()).collect();
        let mut attempts = Attempts {
            runs: &runs,
            candidates,
            stop: interrupt.flag(),
            deadline: effort.max_time.map(|time| Instant::now() + time),
            most: effort.max_tests.map_or(u64::MAX, |most| most + known.attempts.len() as u64),
            begun: 0,
            outputs: HashSet::new(),
            printed: HashMap::new(),
            known: &known.attempts,
            journal,
            started: (started, known.elapsed),
        };
        let (mut effects, mut on_tests) = (vec![None; candidates.len()], vec![None; candidates.len()]);
        let mut is_complete = true;
        for phase in phases(candidates) {
            let own: Vec<Attempt> = phase.clone().map(|candidate| Attempt { run: 0, candidate }).collect();
            let made = attempts.make(&own, &mut runners, processors).map_err(|error| interrupt.or(error))?;
            effects[phase.clone()].clone_from_slice(&made);
            let tried = chosen
                .try_repairs(recorded, (phase.clone(), &made), &mut attempts, (&mut runners, processors))
                .map_err(|error| interrupt.or(error))?;
            on_tests[phase].clone_from_slice(&tried.0);
            is_complete &= tried.1;
        }
        let outputs = attempts.outputs.len();
        let tried = effects.iter().flatten().count();
        let status = match tried == candidates.len() && is_complete {
            true => Status::Minimal,
            false if interrupt.signal().is_some() => Status::Interrupted,
            false => Status::Budget,
        };
        let experiments = Experiments {
            candidates,
            effects: &effects,
            first_wrong: setting.first_wrong,
            on_tests: &on_tests,
            tests: &setting.tests,
        };
        let ranking = ranking(recorded, &experiments, &ORDER);
        let values = match interrupt.signal() {
            None => values_read((target, &baseline), candidates, &ranking),
            Some(_) => BTreeMap::new(),
        };
        let warnings = warnings(&setting, &baseline, Some(status));
        let (runs, printed) = (attempts.begun, std::mem::take(&mut attempts.printed));
        Ok(Located {
            status,
            effects,
            printed,
            unchanged: self.unchanged.clone(),
            ranking,
            values,
            outputs,
            on_tests,
            tests: setting.tests,
            studied: suite.studied.clone(),
            runs,
            elapsed: known.elapsed + started.elapsed(),
            containment: runners[0].containment(),
            warnings,
            kept_as: None,
            candidates: self.candidates.clone(),
            baseline,
        })
    }
}

/// The phases of the work: changes of all executions, of single ones, and both with other values. What helps in one is
/// tried on the further tests before the next one begins, so that a budget ends with what says most.
fn phases(candidates: &[Candidate]) -> impl Iterator<Item = Range<usize>> {
    let is_of_statement = |candidate: &Candidate| candidate.granule == Granule::Statement;
    let phases = candidates.chunk_by(move |one, next| is_of_statement(one) == is_of_statement(next));
    phases.scan(0, |begin, phase| {
        let start = std::mem::replace(begin, *begin + phase.len());
        Some(start..*begin)
    })
}

/// The warnings that weaken a result; each one sentence. Without a status the work has not come to an end.
pub(super) fn warnings(setting: &AttemptSetting, baseline: &Baseline, status: Option<Status>) -> Vec<String> {
    let cut = match status {
        Some(Status::Minimal | Status::Unconfirmed) => None,
        Some(Status::Interrupted) => Some("the work was interrupted: not all changes were tried".to_owned()),
        Some(Status::Budget) => Some(
            "a budget ended the work: not all changes were tried; raise --max-tests or --max-time".to_owned(),
        ),
        None => Some("the work has not ended: not all changes were tried".to_owned()),
    };
    setting.warnings.iter().chain(&baseline.warnings).cloned().chain(cut).collect()
}

/// Stands for changes in their order.
pub(super) fn fingerprint(candidates: &[Candidate]) -> u64 {
    let mut hasher = SipHasher13::new();
    for candidate in candidates {
        hasher.write(format!("{candidate:?}").as_bytes());
    }
    hasher.finish()
}

/// The limits of a run with a change.
pub fn free_limits(baseline: &Baseline, timeout: Option<Duration>) -> Limits {
    changed_limits(&baseline.recording.run, is_endless(baseline), baseline.limits(), timeout)
}

fn is_endless(baseline: &Baseline) -> bool {
    baseline.recording.trace.endless().is_some()
}

/// Checks that the unchanged run is wrong, and that it does without the tracer what it does with it.
/// Returns a warning if it is wrong by white space alone.
fn must_be_wrong(
    trials: &Trials<'_>,
    unchanged: &Run,
    baseline: &Baseline,
) -> Result<Option<String>, SessionError> {
    let recorded = &baseline.recording.run;
    let ends = !matches!(recorded.termination, Termination::Endless(_));
    if ends && (unchanged.stdout != recorded.stdout) {
        let why = "the program prints something else when its statements are not traced, so that no change would mean \
                   anything: make constant what it depends on";
        return Err(SessionError::new(Cause::Flaky, why));
    }
    let effect = trials.judge(unchanged)?;
    match (effect.kind, effect.only_space) {
        (EffectKind::Right, true) => {
            let why = "the run is right but for white space, which --ignore-space lets count as right: leave that option \
                       out, or give the input that makes the program fail";
            Err(SessionError::new(Cause::NotReproduced, why))
        }
        (EffectKind::Right, false) => {
            let why = "the run is right: its output is that of --reference, or --check says so; give the input that makes \
                       the program fail";
            Err(SessionError::new(Cause::NotReproduced, why))
        }
        (_, true) => Ok(Some(
            "the output differs from the correct one in white space only; with --ignore-space the run counts as right"
                .to_owned(),
        )),
        _ => Ok(None),
    }
}
