//! Run a program with less than it was given.
//!
//! A test assembles the chosen input, runs the program with it, and lets the oracle judge. Outcomes are remembered by
//! input, so that no phase tests what an earlier one has tested in other units.

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

use super::kept_path::KeptPath;
use super::part::Given;
use super::step::Step;
use crate::circumstances::{RunLock, TestError, Trial};
use crate::oracle::{CANNOT_TELL, Evidence, Oracle};
use crate::subject::Recorded;

/// The largest number of other failures that are kept.
const MOST_OTHER_FAILURES: usize = 20;

/// The setup that all tests of a simplification share.
pub struct InputTestSetup<'a> {
    /// The program, of which nothing is traced.
    pub program: &'a Program,
    /// The invocation of the program, with its whole input.
    pub invocation: &'a Invocation,
    /// Another program with the same input: the failure is that it does something else.
    pub other: Option<Invocation>,
    /// The oracle, which judges the runs.
    pub oracle: &'a Oracle,
    /// The statements that have to lead to the failure, if that is asked for.
    pub path: Option<KeptPath<'a>>,
    /// The limits of a run.
    pub limits: Limits,
    /// True if a run that takes too long shows the failure.
    pub hangs: bool,
    /// True if the program judges its input: [`CANNOT_TELL`] is an answer of its own.
    pub judges: bool,
    /// The outcome that the search looks for.
    pub wanted: Wanted,
    /// The counter of all runs.
    pub runs: AtomicU64,
    /// The lock that says which runs may go on at the same time.
    pub turns: RunLock,
    /// The known evidence of inputs, by fingerprints.
    pub known: Mutex<HashMap<u128, Evidence>>,
    /// The evidence of an earlier search for the same, of which nothing was used yet.
    pub recalled: HashMap<u128, Evidence>,
    /// The number of tests that were not known from an earlier search.
    pub fresh: AtomicU64,
    /// A listener for each test that was made.
    pub keep: Option<&'a OutcomeListener<'a>>,
    /// The failures of another kind that came up.
    pub other_failures: Mutex<Vec<OtherInput>>,
}

/// A listener that is called with the evidence of a test and the fingerprint of its input.
pub type OutcomeListener<'a> = dyn Fn(u128, &Evidence) + Sync + 'a;

/// The outcome that a search looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The failure shows.
    Failure,
    /// The failure does not show, in a run that ends by itself; with this exit status, unless a check judges.
    Prevention(i32),
}

/// An input that makes the program fail in another way.
#[derive(Clone, Debug)]
pub struct OtherInput {
    /// A description of the failure.
    pub what: String,
    /// The smallest such input that is known.
    pub given: Given,
    /// The number of tests in which it happened.
    pub tests: u64,
}

/// A worker's sandboxes, in which it makes its runs.
pub struct InputWorker<'p> {
    program: Runner<'p>,
    other: Option<Runner<'p>>,
}

impl<'p> InputWorker<'p> {
    /// Creates a worker, prepared for runs.
    ///
    /// # Errors
    /// If the system refuses what they need.
    pub fn new(
        program: &'p Program,
        invocation: &Invocation,
        other: Option<&Invocation>,
    ) -> Result<InputWorker<'p>, ProcessError> {
        let other = other.map(|other| Runner::new(program, other)).transpose()?;
        Ok(InputWorker { program: Runner::new(program, invocation)?, other })
    }

    /// Whether runs of the program tell which files were open at their end.
    pub fn note_open_files(&mut self, is_wanted: bool) {
        self.program.note_open_files(is_wanted);
    }

    /// The containment of the runs.
    pub fn containment(&self) -> Containment {
        self.program.containment()
    }
}

impl InputTestSetup<'_> {
    /// Runs the program with this input, and judges the run.
    ///
    /// # Errors
    /// If the test setup is broken.
    pub fn examine(
        &self,
        given: &Given,
        worker: &mut InputWorker<'_>,
        stop: &Arc<AtomicBool>,
    ) -> Result<(Run, Evidence), TestError> {
        let (run, evidence) = self.look_for_failure(given, worker, stop)?;
        let evidence = match self.wanted {
            Wanted::Failure => evidence,
            Wanted::Prevention(status) => self.inverted(evidence, &run, status),
        };
        Ok((run, evidence))
    }

    /// The evidence of a run if it is wanted that the failure does not show.
    fn inverted(&self, evidence: Evidence, run: &Run, wanted: i32) -> Evidence {
        const MOST_THAT_DENIES: i32 = CANNOT_TELL - 1;
        let unresolved = |why: String| Evidence::new(Outcome::Unresolved, why);
        match (evidence.outcome, &run.termination) {
            (Outcome::Fail, _) => Evidence::new(Outcome::Pass, "the failure is there"),
            (Outcome::Unresolved, _) => evidence,
            (Outcome::Pass, Termination::Exited(1..=MOST_THAT_DENIES)) if self.judges => {
                Evidence::new(Outcome::Fail, "the failure is not there")
            }
            (Outcome::Pass, Termination::Exited(status)) if *status == wanted && !self.judges => {
                Evidence::new(Outcome::Fail, "the failure is not there")
            }
            (Outcome::Pass, Termination::Exited(status)) if self.judges => {
                unresolved(format!("the check cannot tell: exit status {status}"))
            }
            (Outcome::Pass, Termination::Exited(status)) => {
                unresolved(format!("it failed in another way: exit status {status} instead of {wanted}"))
            }
            (Outcome::Pass, _) => unresolved(format!("it has not ended by itself: {}", evidence.why)),
        }
    }

    fn look_for_failure(
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
        let evidence = match &self.path {
            Some(path) if evidence.outcome == Outcome::Fail => {
                let (invocation, files) = given.apply(self.invocation);
                let departure = path.departure((&invocation, &files), &self.limits, stop);
                departure.map_or(evidence, |why| Evidence::new(Outcome::Unresolved, why))
            }
            _ => evidence,
        };
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
        let Some(what) = evidence.failure() else { return };
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

/// The factor of time of a run that confirms what only a limit of time has shown; `None` if none has. Processor time
/// is that of the run alone.
fn confirmation(termination: &Termination) -> Option<u32> {
    const TIME_OUT: u32 = 3;
    const HANG: u32 = 2;
    match termination {
        Termination::Cut(Cut::WallTime | Cut::Asleep) => Some(TIME_OUT),
        Termination::Endless(_) => Some(HANG),
        _ => None,
    }
}

/// Turns a run that was ended because it took too long into one that does not end.
fn as_hang(run: Run) -> Run {
    match run.termination {
        Termination::Cut(cut) if cut.is_time() => Run { termination: Termination::Endless(cut), ..run },
        _ => run,
    }
}

/// One worker's testing function.
pub struct InputTest<'t, 'p> {
    setup: &'t InputTestSetup<'p>,
    worker: &'t mut InputWorker<'p>,
    /// The step that gives configurations their meaning.
    step: &'t Step,
    given: &'t Given,
    stop: Arc<AtomicBool>,
}

/// The testing functions of these workers.
pub(super) fn input_tests<'t, 'p>(
    setup: &'t InputTestSetup<'p>,
    workers: &'t mut [InputWorker<'p>],
    step: &'t Step,
    given: &'t Given,
) -> Vec<InputTest<'t, 'p>> {
    let test = |worker| InputTest { setup, worker, step, given, stop: Arc::default() };
    workers.iter_mut().map(test).collect()
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
        let known = self.setup.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(evidence) = known.get(&fingerprint) {
            return Ok((evidence.outcome, evidence.clone()));
        }
        drop(known);
        if let Some(evidence) = self.setup.recalled.get(&fingerprint) {
            self.setup.remember(given, fingerprint, evidence);
            return Ok((evidence.outcome, evidence.clone()));
        }
        let (_, evidence) = self.setup.examine(&given, self.worker, cancellation.flag())?;
        // A test that was cancelled says nothing.
        if !cancellation.flag().load(Ordering::Relaxed) {
            self.setup.fresh.fetch_add(1, Ordering::Relaxed);
            if let Some(keep) = self.setup.keep {
                keep(fingerprint, &evidence);
            }
            self.setup.remember(given, fingerprint, &evidence);
        }
        Ok((evidence.outcome, evidence))
    }
}

impl Trial for InputTest<'_, '_> {
    fn rehearse(&mut self, configuration: &Configuration) -> Result<Evidence, TestError> {
        Ok(self.setup.examine(&self.step.choose(self.given, configuration), self.worker, &self.stop)?.1)
    }

    fn confirm(&mut self, configuration: &Configuration) -> Result<Evidence, TestError> {
        let InputTestSetup { program, invocation, other, .. } = self.setup;
        *self.worker = InputWorker::new(program, invocation, other.as_ref())?;
        self.rehearse(configuration)
    }
}
