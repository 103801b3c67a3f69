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

/// What an execution is needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Necessity {
    /// For its effect: without it the failure is gone even where the trace states the control flow.
    Effect,
    /// Only to steer control.
    Decision,
}

/// Whether effects were told from decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effects {
    /// Where the trace states the control flow, executions were left out.
    Tried,
    /// Not yet, or not at all: what needs no decision only seems to be needed for its effect.
    Untried,
}

/// An execution that the failure needs.
#[derive(Clone, Debug)]
pub struct Needed {
    /// Which.
    pub event: EventId,
    /// What for.
    pub necessity: Necessity,
    /// What was seen without it. `None` if the search ended before this was tried.
    pub without: Option<Evidence>,
}

/// What was left out, as a whole, to show that a result is minimal: the coarser, the less is known.
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

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Question {
    /// The program and its arguments, as the user gave them.
    pub command: Vec<String>,
    /// When a run shows the failure, in words.
    pub criterion: String,
    /// What makes a statement be executed again.
    pub control: Control,
    /// What counts as a statement.
    pub granularity: Granularity,
    /// How subsets were chosen.
    pub algorithm: Algorithm,
    /// How the program was run.
    pub method: RunMethod,
}

/// How programs are run.
#[derive(Clone, Debug)]
pub struct RunMethod {
    /// How control comes from their statements.
    pub engine: Engine,
    /// How well they are contained.
    pub containment: Containment,
}

/// The result of a reduction.
#[derive(Clone, Debug)]
pub struct CriticalSlice {
    /// What was asked for.
    pub question: Question,
    /// How the search ended.
    pub status: Status,
    /// Of which level the result is minimal, if it is.
    pub level: Level,
    /// Whether it has come to what is needed for its effect.
    pub effects: Effects,
    /// How many events the recorded run has, structural ones included.
    pub recorded: usize,
    /// How many of them can be omitted at all.
    pub omittable: usize,
    /// The omittable events that are needed, in order.
    pub needed: Vec<Needed>,
    /// The tests by outcome.
    pub tests: Counts,
    /// All replays, confirmations under further patterns included.
    pub runs: u64,
    /// From the first recording to the end.
    pub elapsed: Duration,
    /// Everything that weakens the answer; each one sentence.
    pub warnings: Vec<String>,
    /// The event in which the recorded run crashed, if the crash is the failure and nothing is needed for it
    /// but getting there.
    pub crashed_at: Option<EventId>,
    /// What the needed events read and wrote in the recorded run. `None` if nobody has looked.
    pub values: Option<Observation>,
    /// Other failures that came up on the way, those that came up most often first.
    pub by_products: Vec<ByProduct>,
    /// The word by which commands name the run; `None` if it is not kept.
    pub kept_as: Option<String>,
}

/// A failure other than the one under study, in which tests have ended: those tests are unresolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByProduct {
    /// What happened, in words: a part of a sentence such as `SIGSEGV at sum.c:12 in main`.
    pub what: String,
    /// How many tests have ended so.
    pub tests: u64,
    /// What made a statement be executed in the smallest of them.
    pub rule: Rule,
    /// Which events that one has executed, in order.
    pub executed: Vec<EventId>,
}

impl CriticalSlice {
    /// The events that a report is about: those that are needed, or else the one that crashes.
    pub fn told(&self) -> impl Iterator<Item = EventId> {
        self.needed.iter().map(|needed| needed.event).chain(self.crashed_at)
    }

    /// What is known of this event, if it is needed.
    pub fn find(&self, event: EventId) -> Option<&Needed> {
        let at = self.needed.binary_search_by_key(&event, |needed| needed.event).ok()?;
        Some(&self.needed[at])
    }

    /// How many executions are needed for their effect; where that has not been tried, how many are no decisions.
    pub fn kept_for_effect(&self) -> usize {
        self.needed.iter().filter(|needed| needed.necessity == Necessity::Effect).count()
    }
}
