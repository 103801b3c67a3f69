//! Hold the result of a reduction: the critical slice, and all that is needed to judge its worth.
//!
//! Source of the term: Cleve and Zeller, "Finding Failure Causes through Automated Testing", AADEBUG
//! 2000, section 6.

use std::time::Duration;

use tracer::observation::Observation;
use tracer::program::Granularity;
use tracer::schedule::Control as Rule;
use tracer::trace::EventId;
use tracer::{Containment, Engine};

use crate::circumstances::Status;
use crate::circumstances::events::Control;
use crate::oracle::Evidence;
use dd::{Algorithm, Counts};

/// The necessity of an execution: what it is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Necessity {
    /// For its effect: without it the failure is gone even where the trace states the control flow.
    Effect,
    /// Only to steer control.
    Decision,
}

/// The state of effects: whether they were distinguished from decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effects {
    /// Executions were left out where the trace states the control flow.
    Tried,
    /// Not yet, or not at all: an execution that is no decision only seems to be needed for its effect.
    Untried,
}

/// An execution that the failure needs.
#[derive(Clone, Debug)]
pub struct Needed {
    /// The event.
    pub event: EventId,
    /// Its necessity.
    pub necessity: Necessity,
    /// The evidence of the test without it. `None` if the search ended before this was tried; boxed, because that may be
    /// so for millions.
    pub without: Option<Box<Evidence>>,
}

/// The level of a result: what was left out, as a whole, to show that it is minimal. The coarser, the less is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// All executions of a statement.
    Statement,
    /// All executions of a statement with the same caller, or the same statements before them.
    History,
    /// A single execution: 1-minimal.
    #[default]
    Execution,
}

/// The question that a slice answers.
#[derive(Clone, Debug)]
pub struct Question {
    /// The program and its arguments, as the user gave them.
    pub command: Vec<String>,
    /// A description, in words, of the runs that show the failure.
    pub criterion: String,
    /// The control rule: what makes a statement be executed again.
    pub control: Control,
    /// The granularity: what counts as a statement.
    pub granularity: Granularity,
    /// The algorithm that chose subsets.
    pub algorithm: Algorithm,
    /// The run method.
    pub method: RunMethod,
}

/// The run method: how programs are run.
#[derive(Clone, Debug)]
pub struct RunMethod {
    /// The engine, by which control comes from their statements to the tracer.
    pub engine: Engine,
    /// The containment.
    pub containment: Containment,
}

/// The critical slice: the result of a reduction.
#[derive(Clone, Debug)]
pub struct CriticalSlice {
    /// The question.
    pub question: Question,
    /// The status of the search at its end.
    pub status: Status,
    /// The level at which the result is minimal, if it is.
    pub level: Level,
    /// Whether effects were distinguished from decisions.
    pub effects: Effects,
    /// The number of events of the recorded run, structural ones included.
    pub recorded: usize,
    /// The number of events that can be omitted.
    pub omittable: usize,
    /// The omittable events that are needed, in order.
    pub needed: Vec<Needed>,
    /// The tests by outcome.
    pub tests: Counts,
    /// The number of all replays, confirmations under further patterns included.
    pub runs: u64,
    /// The time from the first recording to the end.
    pub elapsed: Duration,
    /// Warnings that weaken the answer; each one sentence.
    pub warnings: Vec<String>,
    /// The event in which the recorded run crashed, if the crash is the failure and nothing is needed for it
    /// but getting there.
    pub crashed_at: Option<EventId>,
    /// The values that the needed events read and wrote in the recorded run. `None` if they were not observed.
    pub values: Option<Observation>,
    /// Other failures that came up on the way, those that came up most often first.
    pub by_products: Vec<ByProduct>,
    /// The name of the run for commands; `None` if it is not kept.
    pub kept_as: Option<String>,
}

/// A failure other than the one under study, in which tests have ended: those tests are unresolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByProduct {
    /// A description of what happened: a part of a sentence such as `SIGSEGV at sum.c:12 in main`.
    pub what: String,
    /// The number of tests that have ended so.
    pub tests: u64,
    /// The control rule of the smallest of them.
    pub rule: Rule,
    /// The events that one has executed, in order.
    pub executed: Vec<EventId>,
}

impl CriticalSlice {
    /// The events that a report is about: those that are needed, or else the one that crashes.
    pub fn told(&self) -> impl Iterator<Item = EventId> {
        self.needed.iter().map(|needed| needed.event).chain(self.crashed_at)
    }

    /// The needed event of this number, if it is needed.
    pub fn find(&self, event: EventId) -> Option<&Needed> {
        let at = self.needed.binary_search_by_key(&event, |needed| needed.event).ok()?;
        Some(&self.needed[at])
    }

    /// The number of executions that are needed for their effect; where that has not been tried, of those that are no
    /// decisions.
    pub fn kept_for_effect(&self) -> usize {
        self.needed.iter().filter(|needed| needed.necessity == Necessity::Effect).count()
    }
}
