//! Count the executions of each line, and which of them the failure needs.
//!
//! An execution of a line is an event at one of its statements; entry and epilogue of a function do not
//! count. Executions that are alike and follow each other take no more room than one.

use std::collections::{BTreeMap, HashMap};

use tracer::program::{FileId, Statement};
use tracer::schedule::{Omission, Schedule};
use tracer::trace::EventId;

use crate::circumstances::events::Control;
use crate::slice::{CriticalSlice, Necessity};
use crate::subject::Recorded;

/// The mark of an execution: its part in the failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Needed for its effect.
    Effect,
    /// Needed as a decision only.
    Decision,
    /// Not needed.
    Unneeded,
    /// Cannot be left out: its call ends with it, or it leads the way to such an end.
    Fixed,
    /// In the dynamic slice, but not in the critical slice.
    Inferred,
    /// In the critical slice, but not in the dynamic one.
    Hole,
}

impl From<Necessity> for Mark {
    fn from(necessity: Necessity) -> Mark {
        match necessity {
            Necessity::Effect => Mark::Effect,
            Necessity::Decision => Mark::Decision,
        }
    }
}

/// A run of executions that are alike and follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) mark: Mark,
    pub(super) count: u64,
}

/// The executions of a line in order; none where only entry or epilogue of a function were executed.
#[derive(Debug, Default)]
pub(super) struct Executions(Vec<Run>);

impl Executions {
    pub(super) fn push(&mut self, mark: Mark) {
        match self.0.last_mut() {
            Some(run) if run.mark == mark => run.count += 1,
            _ => self.0.push(Run { mark, count: 1 }),
        }
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.0
    }

    pub(super) fn executed(&self) -> u64 {
        self.0.iter().map(|run| run.count).sum()
    }

    pub(super) fn needed(&self) -> u64 {
        self.count(|mark| matches!(mark, Mark::Effect | Mark::Decision | Mark::Hole))
    }

    pub(super) fn needed_for_effect(&self) -> u64 {
        self.count(|mark| mark == Mark::Effect)
    }

    pub(super) fn fixed(&self) -> u64 {
        self.count(|mark| mark == Mark::Fixed)
    }

    fn count(&self, counts: impl Fn(Mark) -> bool) -> u64 {
        self.0.iter().filter(|run| counts(run.mark)).map(|run| run.count).sum()
    }
}

/// The executions of each executed line.
pub(super) type Lines = BTreeMap<(FileId, u32), Executions>;

/// Counts the executions of the lines in a trace.
pub(super) fn count(recorded: Recorded<'_>, slice: &CriticalSlice) -> Lines {
    let mut lines = Lines::new();
    for_each(recorded, slice, |statement, mark| {
        let executions = lines.entry((statement.file, statement.line)).or_default();
        mark.into_iter().for_each(|mark| executions.push(mark));
    });
    lines
}

/// The executions of each executed statement.
pub(super) type Statements = BTreeMap<Statement, Executions>;

/// Counts the executions of the lines and of the statements in a trace; `mark` returns the mark of each.
pub(super) fn counted(recorded: Recorded<'_>, mark: impl Fn(EventId) -> Mark) -> (Lines, Statements) {
    let Recorded { program, trace } = recorded;
    let (mut lines, mut statements) = (Lines::new(), Statements::new());
    for event in trace.events() {
        let leader = program.leader(trace.leader(event));
        let statement = leader.statement;
        let executions = lines.entry((statement.file, statement.line)).or_default();
        if !leader.kind.is_structural() {
            executions.push(mark(event));
            statements.entry(statement).or_default().push(mark(event));
        }
    }
    (lines, statements)
}

/// Counts the executions of the statements in a trace.
pub(super) fn by_statement(recorded: Recorded<'_>, slice: &CriticalSlice) -> Statements {
    let mut statements = Statements::new();
    for_each(recorded, slice, |statement, mark| {
        mark.into_iter().for_each(|mark| statements.entry(statement).or_default().push(mark));
    });
    statements
}

/// The mark of each event; entries and epilogues have none.
pub(super) fn marks(recorded: Recorded<'_>, slice: &CriticalSlice) -> HashMap<EventId, Mark> {
    let mut events = recorded.trace.events();
    let mut marks = HashMap::new();
    for_each(recorded, slice, |_, mark| marks.extend(events.next().zip(mark)));
    marks
}

/// Calls `tell` with the statement of each event and its mark; entries and epilogues have no mark.
fn for_each(recorded: Recorded<'_>, slice: &CriticalSlice, mut tell: impl FnMut(Statement, Option<Mark>)) {
    let Recorded { program, trace } = recorded;
    let kept = final_schedule(recorded, slice);
    let mut needed = slice.needed.iter().peekable();
    for event in trace.events() {
        let leader = program.leader(trace.leader(event));
        let needed = needed.next_if(|needed| needed.event == event);
        let otherwise = if kept.keeps(event) { Mark::Fixed } else { Mark::Unneeded };
        let mark = needed.map_or(otherwise, |needed| needed.necessity.into());
        tell(leader.statement, (!leader.kind.is_structural()).then_some(mark));
    }
}

/// The schedule of a replay of the slice: more than the slice, because not everything can be left out.
fn final_schedule(recorded: Recorded<'_>, slice: &CriticalSlice) -> Schedule {
    let control = match slice.question.control {
        Control::Trace => tracer::schedule::Control::Trace,
        Control::Both | Control::Program => tracer::schedule::Control::Program,
    };
    let is_needed = |event| slice.find(event).is_some();
    Omission::new(recorded.program, recorded.trace, control).schedule(is_needed)
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

    #[test]
    fn each_statement_of_a_line_counts_and_entries_and_epilogues_do_not() {
        let sample = Sample::sum_mul();
        let additions = sample.omittable(11);
        let lines = count(sample.recorded(), &sample.slice(&additions[1..], &sample.omittable(10)));
        let counts: Vec<_> =
            lines.iter().map(|((_, line), all)| (*line, all.executed(), all.needed())).collect();
        let before = [(4, 0, 0), (6, 1, 0), (7, 1, 0), (8, 2, 0), (9, 2, 0)];
        let behind = [(10, 7, 7), (11, 6, 5), (12, 6, 0), (13, 6, 0), (15, 1, 0), (16, 1, 0), (17, 1, 0)];
        assert_eq!(counts, [&before[..], &behind, &[(18, 0, 0)]].concat());
    }

    #[test]
    fn executions_that_are_alike_make_one_run() {
        let mut executions = Executions::default();
        for mark in [Mark::Effect, Mark::Effect, Mark::Unneeded, Mark::Effect] {
            executions.push(mark);
        }
        let runs = [(Mark::Effect, 2), (Mark::Unneeded, 1), (Mark::Effect, 1)];
        assert_eq!(executions.runs(), runs.map(|(mark, count)| Run { mark, count }));
    }
}
