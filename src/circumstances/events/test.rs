//! Test configurations of statement executions.
//!
//! A test replays the recorded run without the events that are not chosen, and lets the oracle judge.
//! Undefined values are set to one pattern; only if the failure shows, the test is repeated under the
//! others, because a failure that needs lucky garbage is not the one under study.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tracer::invocation::Limits;
use tracer::poison::Poison;
use tracer::run::Run;
use tracer::schedule::Schedule;
use tracer::{Conditions, ProcessError, Tracer, Untouched};

use dd::{Cancellation, Configuration, Outcome, Test};

use super::memo::RunMemo;
use super::universe::{Draft, Universe};
use crate::circumstances::run_lock::{RunLock, confirmation};
use crate::circumstances::{TestError, Trial};
use crate::oracle::{Evidence, Oracle};
use crate::printed::Outputs;
use crate::subject::Recorded;

/// The setup that all tests of a reduction share.
#[derive(Clone)]
pub struct EventTestSetup<'a> {
    /// The recorded run.
    pub recorded: Recorded<'a>,
    /// The oracle, which judges the runs.
    pub oracle: &'a Oracle,
    /// The patterns for undefined values, in the order in which a test uses them.
    pub patterns: &'a [Poison],
    /// The undefined memory that no pattern is written to.
    pub untouched: &'a Arc<Untouched>,
    /// The variable whose value is asked for where a run ends.
    pub asked: &'a Option<Arc<str>>,
    /// The limits of time and other resources of a run.
    pub limits: Limits,
    /// The counter of all replays.
    pub runs: &'a AtomicU64,
    /// The cache of replays that other questions about the same run have made.
    pub memo: Option<&'a RunMemo>,
    /// The store of what the tests print, if it is wanted.
    pub outputs: Option<&'a Outputs<'a>>,
    /// The lock that says which runs may go on at the same time.
    pub turns: RunLock,
}

/// One worker's testing function.
pub struct EventTest<'a, 't, 'p> {
    setup: &'a EventTestSetup<'a>,
    draft: Draft<'a>,
    tracer: &'t mut Tracer<'p>,
    stop: Arc<AtomicBool>,
    /// The cache of replays that need not be made again.
    memo: Option<&'a RunMemo>,
}

impl<'a, 't, 'p> EventTest<'a, 't, 'p> {
    /// Creates a testing function that replays with `tracer`.
    pub fn new(setup: &'a EventTestSetup<'a>, universe: &'a Universe, tracer: &'t mut Tracer<'p>) -> Self {
        EventTest { setup, draft: Draft::new(universe), tracer, stop: Arc::default(), memo: setup.memo }
    }

    /// The number of circumstances.
    pub fn circumstances(&self) -> usize {
        self.draft.circumstances()
    }

    /// Replays under each pattern as long as the failure shows; returns the last run with its evidence. A run
    /// that was out of time says nothing, whatever the pattern is: it might have shown the failure.
    ///
    /// # Errors
    /// If the test setup is broken.
    pub fn examine(&mut self, schedule: &Schedule) -> Result<(Run, Evidence), TestError> {
        let mut examined = None;
        for (number, &poison) in self.setup.patterns.iter().enumerate() {
            let run = self.replay(schedule, poison)?;
            let mut evidence = self.setup.oracle.judge(&run, self.setup.recorded)?;
            let reproduced = evidence.outcome == Outcome::Fail;
            if !reproduced && number > 0 && confirmation(&run).is_none() {
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

    /// Replays once, unless the run is in the cache.
    fn replay(&mut self, schedule: &Schedule, poison: Poison) -> Result<Run, ProcessError> {
        let memo = self.memo;
        if let Some(run) = memo.and_then(|memo| memo.recall(schedule, poison)) {
            return Ok(run);
        }
        let run = self.replay_anew(schedule, poison)?;
        memo.inspect(|memo| memo.remember(schedule, poison, &run));
        Ok(run)
    }

    /// Replays once. One time-out proves nothing, because all limits of time can be reached by a machine that
    /// is busy enough: it is confirmed by a run that has ten times as much, and that no other worker
    /// disturbs.
    fn replay_anew(&mut self, schedule: &Schedule, poison: Poison) -> Result<Run, ProcessError> {
        let EventTestSetup { limits, turns, .. } = self.setup;
        let conditions = self.conditions(poison);
        let run = turns.beside_others(|| self.replay_once(schedule, &conditions))?;
        let Some(times) = confirmation(&run) else { return Ok(run) };
        let conditions = Conditions { limits: limits.with_time(times), ..conditions };
        turns.alone(|| self.replay_once(schedule, &conditions))
    }

    fn conditions(&self, poison: Poison) -> Conditions {
        let EventTestSetup { untouched, asked, limits, .. } = *self.setup;
        let (untouched, stop) = (Arc::clone(untouched), Arc::clone(&self.stop));
        Conditions { poison, untouched, limits, stop, asked: asked.clone() }
    }

    fn replay_once(&mut self, schedule: &Schedule, conditions: &Conditions) -> Result<Run, ProcessError> {
        self.setup.runs.fetch_add(1, Ordering::Relaxed);
        self.tracer.replay(self.setup.recorded.trace, schedule, conditions)
    }
}

impl Test for EventTest<'_, '_, '_> {
    type Evidence = Evidence;
    type Error = TestError;

    fn test(
        &mut self,
        configuration: &Configuration,
        cancellation: &Cancellation,
    ) -> Result<(Outcome, Evidence), TestError> {
        self.stop = Arc::clone(cancellation.flag());
        let schedule = self.draft.schedule(configuration);
        let (run, evidence) = self.examine(&schedule)?;
        let printed = self.setup.outputs.and_then(|outputs| outputs.keep(&run));
        Ok((evidence.outcome, Evidence { printed, ..evidence }))
    }
}

impl Trial for EventTest<'_, '_, '_> {
    fn rehearse(&mut self, configuration: &Configuration) -> Result<Evidence, TestError> {
        let schedule = self.draft.schedule(configuration);
        Ok(self.examine(&schedule)?.1)
    }

    fn confirm(&mut self, configuration: &Configuration) -> Result<Evidence, TestError> {
        for &poison in self.setup.patterns {
            self.tracer.start_anew(&self.conditions(poison));
        }
        self.memo = None;
        self.rehearse(configuration)
    }
}
