//! Run a program with less than it was given.
//!
//! A test assembles what is chosen, runs the program with it, and lets the oracle judge. Outcomes are remembered by
//! what a program is given, so that no phase tests what an earlier one has tested in other units.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dd::{Cancellation, Configuration, Outcome, Test};
use tracer::invocation::{Invocation, Limits};
use tracer::plain::Runner;
use tracer::program::Program;
use tracer::run::Run;
use tracer::termination::{Cut, Termination};
use tracer::trace::Trace;
use tracer::{Containment, ProcessError};

use super::part::Given;
use super::step::Step;
use crate::circumstances::{TestError, Trial, Turns};
use crate::oracle::{CANNOT_TELL, Evidence, Oracle, other_failure};
use crate::subject::Recorded;

/// How many other failures are kept.
const MOST_OTHER_FAILURES: usize = 20;

/// What all tests of a simplification share.
pub struct InputLaboratory<'a> {
    /// The program, of which nothing is traced.
    pub program: &'a Program,
    /// How it is started, with all that it is given.
    pub invocation: &'a Invocation,
    /// A program that is given the same: the failure is that it does something else.
    pub other: Option<Invocation>,
    /// Judges the runs.
    pub oracle: &'a Oracle,
    /// What a run may use up.
    pub limits: Limits,
    /// Whether a run that takes too long shows the failure.
    pub hangs: bool,
    /// Whether the program judges what it is given: [`CANNOT_TELL`] is an answer of its own.
    pub judges: bool,
    /// Counts all runs.
    pub runs: AtomicU64,
    /// Says who may run while another one does.
    pub turns: Turns,
    /// What is known of what the program was given, by fingerprints.
    pub known: Mutex<HashMap<u128, Evidence>>,
    /// The failures of another kind that came up.
    pub other_failures: Mutex<Vec<OtherInput>>,
}

/// Something that makes the program fail in another way.
#[derive(Clone, Debug)]
pub struct OtherInput {
    /// What happens.
    pub what: String,
    /// The smallest that is known.
    pub given: Given,
    /// In how many tests it happened.
    pub tests: u64,
}

/// Where one worker makes its runs.
pub struct InputWorker<'p> {
    program: Runner<'p>,
    other: Option<Runner<'p>>,
}

impl<'p> InputWorker<'p> {
    /// Prepares for runs.
    ///
    /// # Errors
    /// If the machine refuses what they need.
    pub fn new(
        program: &'p Program,
        invocation: &Invocation,
        other: Option<&Invocation>,
    ) -> Result<InputWorker<'p>, ProcessError> {
        let other = other.map(|other| Runner::new(program, other)).transpose()?;
        Ok(InputWorker { program: Runner::new(program, invocation)?, other })
    }

    /// How well the runs are contained.
    pub fn containment(&self) -> Containment {
        self.program.containment()
    }
}

impl InputLaboratory<'_> {
    /// Runs the program with what it is given, and judges the run.
    ///
    /// # Errors
    /// If the set-up is broken.
    pub fn examine(
        &self,
        given: &Given,
        worker: &mut InputWorker<'_>,
        stop: &Arc<AtomicBool>,
    ) -> Result<(Run, Evidence), TestError> {
        let run = self.run(self.invocation, given, &mut worker.program, stop)?;
        if self.judges && run.termination == Termination::Exited(CANNOT_TELL) {
            let why = format!("the check cannot tell: exit status {CANNOT_TELL}");
            return Ok((run, Evidence::new(Outcome::Unresolved, why)));
        }
        let evidence =
            self.oracle.judge(&run, Recorded { program: self.program, trace: &Trace::default() })?;
        if let (Some(other), Some(runner), Outcome::Fail) = (&self.other, &mut worker.other, evidence.outcome)
        {
            let reference = self.run(other, given, runner, stop)?;
            return Ok((run.clone(), self.oracle.compare(&run, &reference)));
        }
        Ok((run, evidence))
    }

    /// Runs a program. A time-out that a busy machine can bring about proves nothing: it is confirmed by a run that
    /// has more time, and that no other worker disturbs.
    fn run(
        &self,
        invocation: &Invocation,
        given: &Given,
        runner: &mut Runner<'_>,
        stop: &Arc<AtomicBool>,
    ) -> Result<Run, ProcessError> {
        let (invocation, files) = given.apply(invocation);
        let mut once = |limits: Limits| {
            self.runs.fetch_add(1, Ordering::Relaxed);
            let run = runner.run(&invocation, &files, &limits, stop)?;
            Ok::<_, ProcessError>(if self.hangs { as_hang(run) } else { run })
        };
        let run = self.turns.beside_others(|| once(self.limits))?;
        match confirmation(&run.termination) {
            Some(times) => self.turns.alone(|| once(self.limits.with_time(times))),
            None => Ok(run),
        }
    }

    fn remember(&self, given: Given, fingerprint: u128, evidence: &Evidence) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(fingerprint, evidence.clone());
        drop(known);
        let Some(what) = other_failure(evidence) else { return };
        let mut failures = self.other_failures.lock().unwrap_or_else(PoisonError::into_inner);
        match failures.iter().position(|failure| failure.what == what) {
            Some(known) => {
                let failure = &mut failures[known];
                failure.tests += 1;
                if given.len() < failure.given.len() {
                    failure.given = given;
                }
            }
            None if failures.len() < MOST_OTHER_FAILURES => {
                failures.push(OtherInput { what: what.to_owned(), given, tests: 1 });
            }
            None => {}
        }
    }
}

/// How much more time a run gets that confirms what only a limit of time has shown; `None` if none has. The
/// processor's time is that of the run alone.
fn confirmation(termination: &Termination) -> Option<u32> {
    const TIME_OUT: u32 = 3;
    const HANG: u32 = 2;
    match termination {
        Termination::Cut(Cut::WallTime | Cut::Asleep) => Some(TIME_OUT),
        Termination::Endless(_) => Some(HANG),
        _ => None,
    }
}

/// A run that was ended because it took too long, as one that does not end.
fn as_hang(run: Run) -> Run {
    match run.termination {
        Termination::Cut(cut) if cut.is_time() => Run { termination: Termination::Endless(cut), ..run },
        _ => run,
    }
}

/// One worker's testing function.
pub struct InputTest<'t, 'p> {
    pub(super) laboratory: &'t InputLaboratory<'p>,
    pub(super) worker: &'t mut InputWorker<'p>,
    /// What a configuration stands for.
    pub(super) step: &'t Step,
    pub(super) given: &'t Given,
    pub(super) stop: Arc<AtomicBool>,
}

impl Test for InputTest<'_, '_> {
    type Evidence = Evidence;
    type Error = TestError;

    fn test(
        &mut self,
        configuration: &Configuration,
        cancellation: &Cancellation,
    ) -> Result<(Outcome, Evidence), TestError> {
        let given = self.step.choose(self.given, configuration);
        let fingerprint = given.fingerprint();
        let known = self.laboratory.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(evidence) = known.get(&fingerprint) {
            return Ok((evidence.outcome, evidence.clone()));
        }
        drop(known);
        let (_, evidence) = self.laboratory.examine(&given, self.worker, cancellation.flag())?;
        // What was ended because nobody needs it any more says nothing.
        if !cancellation.flag().load(Ordering::Relaxed) {
            self.laboratory.remember(given, fingerprint, &evidence);
        }
        Ok((evidence.outcome, evidence))
    }
}

impl Trial for InputTest<'_, '_> {
    fn rehearse(&mut self, configuration: &Configuration) -> Result<Evidence, TestError> {
        Ok(self.laboratory.examine(&self.step.choose(self.given, configuration), self.worker, &self.stop)?.1)
    }

    fn confirm(&mut self, configuration: &Configuration) -> Result<Evidence, TestError> {
        let InputLaboratory { program, invocation, other, .. } = self.laboratory;
        *self.worker = InputWorker::new(program, invocation, other.as_ref())?;
        self.rehearse(configuration)
    }
}
