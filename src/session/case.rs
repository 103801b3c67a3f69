//! Hold a recorded run, the plan of its search, and a question about it.

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

/// A recorded run, with the plan of its search.
#[derive(Clone, Copy)]
pub struct Subject<'c> {
    /// The program.
    pub target: &'c Target,
    /// The recorded run.
    pub baseline: &'c Baseline,
    /// The run method of the recording.
    pub method: &'c RunMethod,
    /// The plan of the search.
    pub plan: Plan,
    /// The limits of time and other resources of a replay.
    pub limits: Limits,
}

/// The plan of a search.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The control rule: what makes a statement be executed again.
    pub control: Control,
    /// The strategy: how subsets are chosen, and how many may be tested.
    pub strategy: Strategy,
}

/// A recorded run with a question about it.
#[derive(Clone, Copy)]
pub struct Case<'c> {
    /// The recorded run.
    pub subject: Subject<'c>,
    /// The question.
    pub question: &'c NamedCriterion,
    /// The cache of replays that other questions about the run have made.
    pub memo: Option<&'c RunMemo>,
    /// The guess: what may well be enough, to be tried first.
    pub guess: Option<&'c EventGuess>,
}

impl<'c> Subject<'c> {
    /// The program with its recorded run.
    pub fn recorded(&self) -> Recorded<'c> {
        Recorded { program: &self.target.program, trace: &self.baseline.recording.trace }
    }

    /// The question about the run with this oracle and this run method.
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
    /// The setup that the tests of the search share; `runs` counts the replays.
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

/// The run method of a tracer.
pub fn method(tracer: &Tracer<'_>) -> RunMethod {
    RunMethod { engine: tracer.engine(), containment: tracer.containment() }
}
