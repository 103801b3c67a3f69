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
use crate::circumstances::{RunLock, TestError, Trial};
use crate::oracle::{CANNOT_TELL, Evidence, Oracle, other_failure};
use crate::subject::Recorded;

/// How many other failures are kept.
const MOST_OTHER_FAILURES: usize = 20;

/// What all tests of a simplification share.
pub struct InputTestSetup<'a> {
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
    /// What the search looks for.
    pub wanted: Wanted,
    /// Counts all runs.
    pub runs: AtomicU64,
    /// Says who may run while another one does.
    pub turns: RunLock,
    /// What is known of what the program was given, by fingerprints.
    pub known: Mutex<HashMap<u128, Evidence>>,
    /// The same from an earlier search for the same, of which nothing was used yet.
    pub recalled: HashMap<u128, Evidence>,
    /// How many tests were made that were not known from an earlier search.
    pub fresh: AtomicU64,
    /// Is told of each test that was made.
    pub keep: Option<&'a OutcomeListener<'a>>,
    /// The failures of another kind that came up.
    pub other_failures: Mutex<Vec<OtherInput>>,
}

/// Is told what was seen with what a program was given, which a fingerprint stands for.
pub type OutcomeListener<'a> = dyn Fn(u128, &Evidence) + Sync + 'a;

/// What a search looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// That the failure shows.
    Failure,
    /// That it does not, in a run that ends by itself; with this exit status, unless a check judges.
    Prevention(i32),
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

impl InputTestSetup<'_> {
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
        let (run, evidence) = self.look_for_failure(given, worker, stop)?;
        let evidence = match self.wanted {
            Wanted::Failure => evidence,
            Wanted::Prevention(status) => self.inverted(evidence, &run, status),
        };
        Ok((run, evidence))
    }

    /// What a run means if it is wanted that the failure does not show.
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
    setup: &'t InputTestSetup<'p>,
    worker: &'t mut InputWorker<'p>,
    /// What a configuration stands for.
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
        // What was ended because nobody needs it any more says nothing.
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
