//! Leave out statement executions.
//!
//! A test replays the recorded run without the events that are not chosen, and lets the oracle judge.
//! Undefined values are set to one pattern; only if the failure shows, the test is repeated under the
//! others, because a failure that needs lucky garbage is not the one under study.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tracer::invocation::Limits;
use tracer::poison::Poison;
use tracer::run::Run;
use tracer::schedule::Schedule;
use tracer::termination::Termination;
use tracer::{Conditions, ProcessError, Tracer};

use super::memo::RunMemo;
use super::speculation::{Normalise, Worker};
use super::universe::{Draft, Universe};
use crate::dd::{Configuration, Outcome, Test};
use crate::oracle::{Oracle, OracleError};
use crate::printed::Outputs;
use crate::slice::{Evidence, Recorded};

/// Why a test cannot be made: nothing that the program does, but a broken set-up.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum TestError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Oracle(#[from] OracleError),
    #[error("starting a thread failed: {0}: free memory or process slots, or take -j1, and try again")]
    Thread(io::Error),
}

/// What all tests of a reduction share.
pub struct Laboratory<'a> {
    /// The recorded run.
    pub recorded: Recorded<'a>,
    /// Judges the runs.
    pub oracle: &'a Oracle,
    /// The patterns for undefined values, in the order in which a test uses them.
    pub patterns: &'a [Poison],
    /// What a run may use up.
    pub limits: Limits,
    /// Counts all replays.
    pub runs: &'a AtomicU64,
    /// Replays that other questions about the same run have made.
    pub memo: Option<&'a RunMemo>,
    /// Keeps what the tests print, if anybody wants to see it.
    pub outputs: Option<&'a Outputs<'a>>,
}

/// One worker's testing function.
pub struct EventTest<'a, 't, 'p> {
    laboratory: &'a Laboratory<'a>,
    universe: &'a Universe,
    draft: Draft<'a>,
    tracer: &'t mut Tracer<'p>,
    stop: Arc<AtomicBool>,
}

impl<'a, 't, 'p> EventTest<'a, 't, 'p> {
    /// A testing function that replays with `tracer`.
    pub fn new(laboratory: &'a Laboratory<'a>, universe: &'a Universe, tracer: &'t mut Tracer<'p>) -> Self {
        EventTest { laboratory, universe, draft: Draft::new(universe), tracer, stop: Arc::default() }
    }

    /// Replays under each pattern as long as the failure shows; tells the last run with its evidence.
    ///
    /// # Errors
    /// If the set-up is broken.
    pub fn examine(&mut self, schedule: &Schedule) -> Result<(Run, Evidence), TestError> {
        let mut examined = None;
        for (number, &poison) in self.laboratory.patterns.iter().enumerate() {
            let run = self.replay(schedule, poison)?;
            let mut evidence = self.laboratory.oracle.judge(&run, self.laboratory.recorded)?;
            let reproduced = evidence.outcome == Outcome::Fail;
            if !reproduced && number > 0 {
                let why = format!("reproduced only with some values of undefined memory: {}", evidence.why);
                evidence = Evidence::new(Outcome::Pass, why);
            }
            examined = Some((run, evidence));
            if !reproduced {
                break;
            }
        }
        Ok(examined.expect("there is at least one pattern, if only that of no poison"))
    }

    /// Replays once, unless that was done before.
    fn replay(&mut self, schedule: &Schedule, poison: Poison) -> Result<Run, ProcessError> {
        let memo = self.laboratory.memo;
        if let Some(run) = memo.and_then(|memo| memo.recall(schedule, poison)) {
            return Ok(run);
        }
        let run = self.replay_anew(schedule, poison)?;
        memo.inspect(|memo| memo.remember(schedule, poison, &run));
        Ok(run)
    }

    /// Replays once; a run that took too long gets a second chance with twice the time, also where it shows by
    /// that alone not to end.
    fn replay_anew(&mut self, schedule: &Schedule, poison: Poison) -> Result<Run, ProcessError> {
        let limits = self.laboratory.limits;
        let conditions = Conditions { poison, limits, stop: Arc::clone(&self.stop) };
        let run = self.replay_once(schedule, &conditions)?;
        match run.termination {
            Termination::Cut(cut) | Termination::Endless(cut) if cut.is_time() => {
                self.replay_once(schedule, &Conditions { limits: limits.with_time(2), ..conditions })
            }
            _ => Ok(run),
        }
    }

    fn replay_once(&mut self, schedule: &Schedule, conditions: &Conditions) -> Result<Run, ProcessError> {
        self.laboratory.runs.fetch_add(1, Ordering::Relaxed);
        self.tracer.replay(self.laboratory.recorded.trace, schedule, conditions)
    }
}

impl Test for EventTest<'_, '_, '_> {
    type Evidence = Evidence;
    type Error = TestError;

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        self.universe.normalise(configuration)
    }

    fn normalise_without(&self, effective: &Configuration, left_out: &[usize]) -> Configuration {
        self.universe.normalise_without(effective, left_out)
    }

    fn test(&mut self, configuration: &Configuration) -> Result<(Outcome, Evidence), TestError> {
        let schedule = self.draft.schedule(configuration);
        let (run, evidence) = self.examine(&schedule)?;
        let printed = self.laboratory.outputs.and_then(|outputs| outputs.keep(&run));
        Ok((evidence.outcome, Evidence { printed, ..evidence }))
    }
}

impl Worker for EventTest<'_, '_, '_> {
    fn heed(&mut self, stop: Arc<AtomicBool>) {
        self.stop = stop;
    }
}
