//! Hold a recorded run, how it is searched, and a question about it.

use std::sync::atomic::AtomicU64;

use tracer::Tracer;
use tracer::invocation::Limits;

use super::driver::Strategy;
use super::questions::NamedCriterion;
use crate::baseline::Baseline;
use crate::circumstances::RunLock;
use crate::circumstances::events::{Control, EventGuess, EventTestSetup, RunMemo};
use crate::oracle::Oracle;
use crate::slice::{Question, RunMethod};
use crate::subject::{Recorded, Target};

/// A recorded run, and how it is searched.
#[derive(Clone, Copy)]
pub struct Subject<'c> {
    /// The program.
    pub target: &'c Target,
    /// The recorded run.
    pub baseline: &'c Baseline,
    /// How it was recorded.
    pub method: &'c RunMethod,
    /// How it is searched.
    pub plan: Plan,
    /// What a replay may use up.
    pub limits: Limits,
}

/// How a recorded run is searched.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// What makes a statement be executed again.
    pub control: Control,
    /// How subsets are chosen, and how many may be tested.
    pub strategy: Strategy,
}

/// A recorded run with a question about it.
#[derive(Clone, Copy)]
pub struct Case<'c> {
    /// The recorded run.
    pub subject: Subject<'c>,
    /// The question.
    pub question: &'c NamedCriterion,
    /// The replays that other questions about the run have made.
    pub memo: Option<&'c RunMemo>,
    /// What may well be enough, to be tried first.
    pub guess: Option<&'c EventGuess>,
}

impl<'c> Subject<'c> {
    /// The program with its recorded run.
    pub fn recorded(&self) -> Recorded<'c> {
        Recorded { program: &self.target.program, trace: &self.baseline.recording.trace }
    }

    /// What is asked about the run with this oracle, if programs are run in this method.
    pub fn question(&self, oracle: &Oracle, method: RunMethod) -> Question {
        Question {
            command: self.target.command.clone(),
            criterion: oracle.describe(),
            control: self.plan.control,
            granularity: self.target.granularity,
            algorithm: self.plan.strategy.algorithm,
            method,
        }
    }
}

impl Case<'_> {
    /// What the tests of the search share; `runs` counts the replays.
    pub fn setup<'l>(&'l self, runs: &'l AtomicU64) -> EventTestSetup<'l> {
        EventTestSetup {
            recorded: self.subject.recorded(),
            oracle: &self.question.oracle,
            patterns: &self.subject.baseline.patterns,
            untouched: &self.subject.baseline.untouched,
            asked: &self.subject.target.conditions.asked,
            limits: self.subject.limits,
            runs,
            memo: self.memo,
            outputs: None,
            turns: RunLock::default(),
        }
    }
}

/// How a tracer runs programs.
pub fn method(tracer: &Tracer<'_>) -> RunMethod {
    RunMethod { engine: tracer.engine(), containment: tracer.containment() }
}
