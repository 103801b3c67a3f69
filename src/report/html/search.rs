//! Draw the search: the matrix of its tests (Cleve and Zeller, AADEBUG 2000, Figure 5), and the curve of
//! the events that were left over.
//!
//! The columns of the matrix are the events that can be left out. Where there are too many of them, a
//! column stands for several. Of a long search not every test has its row.

use std::ops::Range;

use tracer::schedule::{Control as Rule, Omission};
use tracer::trace::EventId;

use crate::dd::{Configuration, Outcome};
use crate::history::{History, TestMade};
use crate::slice::{Control, Recorded};

use super::super::spelling;
use super::super::words;
use super::Case;
use super::data::{Phase, Search, Test};
use super::source::LONGEST_REASON;

const MOST_COLUMNS: usize = 400;

const MOST_POINTS: usize = 400;

/// The search of a result.
pub(super) fn drawing(case: &Case<'_>) -> Search {
    let control = case.slice.question.control;
    let axis = Axis::new(case.recorded, control);
    let phases: Vec<Choice> =
        rules(control).iter().map(|&rule| Choice::new(case.recorded, rule, &axis)).collect();
    let rows = case.history.tests().iter().enumerate().filter_map(|(position, test)| {
        let cells = phases.get(test.phase)?.cells(test.configuration.as_ref()?, &axis)?;
        Some(row(position, test, cells))
    });
    Search {
        rows: rows.collect(),
        columns: axis.columns(case.recorded),
        is_exact: axis.is_exact(),
        phases: phases_of(case.history, control),
        curve: thinned(curve(case.history.tests())),
        note: note(case.history, &axis),
    }
}

/// What makes a statement be executed, phase by phase.
fn rules(control: Control) -> &'static [Rule] {
    match control {
        Control::Both => &[Rule::Program, Rule::Trace],
        Control::Program => &[Rule::Program],
        Control::Trace => &[Rule::Trace],
    }
}

fn omittable(recorded: Recorded<'_>, rule: Rule) -> Vec<EventId> {
    Omission::new(recorded.program, recorded.trace, rule).omittable().collect()
}

/// The events across the matrix.
struct Axis {
    events: Vec<EventId>,
    columns: usize,
}

impl Axis {
    /// The last phase has the most to choose from.
    fn new(recorded: Recorded<'_>, control: Control) -> Axis {
        let rule = *rules(control).last().expect("there is a phase");
        let events = omittable(recorded, rule);
        Axis { columns: events.len().min(MOST_COLUMNS), events }
    }

    fn is_exact(&self) -> bool {
        self.columns == self.events.len()
    }

    /// The positions of the events of a column.
    fn range(&self, column: usize) -> Range<usize> {
        let start = |column: usize| column * self.events.len() / self.columns;
        start(column)..start(column + 1)
    }

    fn columns(&self, recorded: Recorded<'_>) -> Vec<(u32, u32, u32)> {
        let column = |column| {
            let events = &self.events[self.range(column)];
            let (first, last) = (events[0], events[events.len() - 1]);
            let line = recorded.program.leader(recorded.trace.leader(first)).statement.line;
            (first.time(), last.time(), line)
        };
        (0..self.columns).map(column).collect()
    }
}

/// What a phase can choose from: the column of each of its circumstances.
struct Choice {
    columns: Vec<usize>,
    /// How many circumstances each column has.
    all: Vec<usize>,
}

impl Choice {
    fn new(recorded: Recorded<'_>, rule: Rule, axis: &Axis) -> Choice {
        let mut of_position = vec![0; axis.events.len()];
        for column in 0..axis.columns {
            of_position[axis.range(column)].fill(column);
        }
        let column = |event: EventId| Some(of_position[axis.events.binary_search(&event).ok()?]);
        let columns: Vec<usize> = omittable(recorded, rule).into_iter().filter_map(column).collect();
        let mut all = vec![0; axis.columns];
        columns.iter().for_each(|&column| all[column] += 1);
        Choice { columns, all }
    }

    /// A sign for each column; `None` if the configuration is not one of this phase.
    fn cells(&self, configuration: &Configuration, axis: &Axis) -> Option<String> {
        if configuration.universe() != self.columns.len() {
            return None;
        }
        let mut chosen = vec![0; axis.columns];
        configuration.iter().for_each(|circumstance| chosen[self.columns[circumstance]] += 1);
        Some(chosen.into_iter().zip(&self.all).map(|(chosen, &all)| sign(chosen, all)).collect())
    }
}

fn sign(chosen: usize, all: usize) -> char {
    match (chosen, all) {
        (_, 0) => '-',
        (0, _) => '0',
        (chosen, all) if chosen == all => '9',
        _ => char::from(b'1' + (chosen * 8 / all) as u8),
    }
}

fn row(position: usize, test: &TestMade, cells: String) -> Test {
    Test {
        number: position + 1,
        outcome: spelling::outcome(test.outcome),
        size: test.size,
        of: test.universe,
        why: test.why.chars().take(LONGEST_REASON).collect(),
        cells,
    }
}

fn phases_of(history: &History, control: Control) -> Vec<Phase> {
    let tests = history.tests();
    let first = |phase: usize| Some(tests.iter().position(|test| test.phase == phase)? + 1);
    let name = |rule: &Rule| match rule {
        Rule::Program => "program",
        Rule::Trace => "trace",
    };
    let phases = rules(control).iter().enumerate();
    phases.filter_map(|(phase, rule)| Some(Phase { control: name(rule), first: first(phase)? })).collect()
}

/// The number of each test that left over less than those before in its phase, and how much.
fn curve(tests: &[TestMade]) -> Vec<(usize, usize)> {
    let mut points = Vec::new();
    let mut smallest = None;
    for (position, test) in tests.iter().enumerate() {
        let improves = smallest.is_none_or(|(phase, size)| phase != test.phase || test.size < size);
        if test.outcome == Outcome::Fail && improves {
            smallest = Some((test.phase, test.size));
            points.push((position + 1, test.size));
        }
    }
    points
}

/// At most [`MOST_POINTS`] of the points, the last one among them.
fn thinned(points: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let stride = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    let kept = |&(position, _): &(usize, _)| position.is_multiple_of(stride) || position == last;
    points.into_iter().enumerate().filter(kept).map(|(_, point)| point).collect()
}

/// What the matrix does not show one by one.
fn note(history: &History, axis: &Axis) -> String {
    let mut sentences = Vec::new();
    if !axis.is_exact() {
        let events = words::count(axis.events.len() as u64, "event");
        sentences.push(format!("{events} share {} columns.", axis.columns));
    }
    if history.stride() > 1 {
        let tests = words::count(history.tests().len() as u64, "test");
        sentences.push(format!("Of {tests} one in {} is drawn.", history.stride()));
    }
    sentences.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::{self, Sample};
    use super::*;

    fn search(control: Control, tests: &[(usize, &[usize], Outcome)]) -> Search {
        let sample = Sample::sum_mul();
        let mut slice = sample.slice(&sample.omittable(11), &[]);
        slice.question.control = control;
        let history = sample::history(tests);
        let recorded = sample.recorded();
        drawing(&Case { recorded, slice: &slice, history: &history, command_line: "", remark: "" })
    }

    #[test]
    fn a_small_run_has_a_column_for_each_event() {
        let drawn = search(Control::Trace, &[(34, &[0, 2], Outcome::Fail), (34, &[33], Outcome::Pass)]);
        assert!(drawn.is_exact);
        assert_eq!((drawn.columns.len(), drawn.columns[0]), (34, (2, 2, 6)));
        assert_eq!(drawn.rows[0].cells, format!("9090{}", "0".repeat(30)));
        assert_eq!(drawn.rows[1].cells, format!("{}9", "0".repeat(33)));
        assert_eq!(drawn.note, "");
    }

    #[test]
    fn what_a_phase_cannot_choose_has_a_sign_of_its_own() {
        let choices = omittable(Sample::sum_mul().recorded(), Rule::Program).len();
        let drawn = search(Control::Both, &[(choices, &[0], Outcome::Fail)]);
        assert_eq!(drawn.rows[0].cells.matches('-').count(), 34 - choices);
    }

    #[test]
    fn a_column_tells_how_many_of_its_events_are_chosen() {
        assert_eq!(
            [(0, 5), (1, 100), (4, 8), (99, 100), (7, 7), (0, 0)].map(|(n, all)| sign(n, all)),
            ['0', '1', '5', '8', '9', '-']
        );
    }

    #[test]
    fn the_curve_goes_down_in_each_phase() {
        let all: Vec<usize> = (0..9).collect();
        let tests =
            [(9, &all[..], Outcome::Fail), (9, &all[..2], Outcome::Pass), (9, &all[..5], Outcome::Fail)];
        assert_eq!(curve(sample::history(&tests).tests()), [(1, 9), (3, 5)]);
    }

    #[test]
    fn a_long_curve_keeps_its_ends() {
        let points: Vec<(usize, usize)> = (0..1001).map(|n| (n, 2000 - n)).collect();
        let thinned = thinned(points.clone());
        assert!(thinned.len() <= MOST_POINTS + 1);
        assert_eq!((thinned[0], thinned[thinned.len() - 1]), (points[0], points[1000]));
    }
}
