//! Draw the course of the search: its tests as rows of a `matrix`, and the curve of the events that were left
//! over. Of a long search not every test has its row.

use crate::circumstances::events::Control;
use crate::session::history::{History, TestMade};
use dd::Outcome;

use super::super::spelling;
use super::super::words;
use super::ChapterSource;
use super::data::{Phase, Search, Subset, Test};
use super::matrix::{Axis, Choice};
use super::outputs::OutputTable;
use super::source::LONGEST_REASON;

const MOST_POINTS: usize = 400;

/// The data of the search of a result.
pub(super) fn drawing(case: &ChapterSource<'_>) -> Search {
    let control = case.slice.question.control;
    let axis = Axis::new(case.recorded, control);
    let phases: Vec<Choice> = control.rules().map(|rule| Choice::new(case.recorded, rule, &axis)).collect();
    let mut outputs = OutputTable::new(case.run);
    let tests = case.history.tests().iter().enumerate();
    let rows = tests.filter_map(|(position, test)| {
        let subset = phases.get(test.phase)?.subset(test.configuration.as_ref()?, &axis)?;
        Some(row(position, test, subset, outputs.number(test.printed.as_deref())))
    });
    let rows = rows.collect();
    Search {
        rows,
        columns: axis.columns(case.recorded),
        is_exact: axis.is_exact(),
        phases: phases_of(case.history, control),
        curve: thinned(curve(case.history.tests())),
        note: [note(case.history, &axis), outputs.note()].join(" ").trim().to_owned(),
        outputs: outputs.into_shown(),
    }
}

fn row(position: usize, test: &TestMade, subset: Subset, output: Option<usize>) -> Test {
    Test {
        number: position + 1,
        outcome: spelling::outcome(test.outcome),
        size: test.size,
        of: test.universe,
        why: test.why.chars().take(LONGEST_REASON).collect(),
        subset,
        output,
    }
}

fn phases_of(history: &History, control: Control) -> Vec<Phase> {
    let tests = history.tests();
    let first = |phase: usize| Some(tests.iter().position(|test| test.phase == phase)? + 1);
    let phases = control.rules().enumerate();
    phases
        .filter_map(|(phase, rule)| Some(Phase { control: spelling::rule(rule), first: first(phase)? }))
        .collect()
}

/// The curve: the number of each test that left over fewer events than those before in its phase, and how many.
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

/// A note about what the matrix does not show one by one.
fn note(history: &History, axis: &Axis) -> String {
    let mut sentences = Vec::new();
    if !axis.is_exact() {
        let events = words::count(axis.len() as u64, "event");
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
    use super::super::matrix;
    use super::*;

    fn search(control: Control, tests: &[(usize, &[usize], Outcome)]) -> Search {
        let sample = Sample::sum_mul();
        let mut slice = sample.slice(&sample.omittable(11), &[]);
        slice.question.control = control;
        let history = sample::history(tests);
        drawing(&sample.case(&slice, &history))
    }

    #[test]
    fn a_small_run_has_a_column_for_each_event() {
        let drawn = search(Control::Trace, &[(34, &[0, 2], Outcome::Fail), (34, &[33], Outcome::Pass)]);
        assert!(drawn.is_exact);
        assert_eq!((drawn.columns.len(), drawn.columns[0]), (34, (2, 2, 6)));
        assert_eq!(drawn.rows[0].subset.cells, format!("9090{}", "0".repeat(30)));
        assert_eq!(drawn.rows[1].subset.cells, format!("{}9", "0".repeat(33)));
        let told = |row: &Test| (row.subset.control, row.subset.events.clone(), row.output);
        assert_eq!(told(&drawn.rows[0]), ("trace", "2,4".to_owned(), None));
        assert_eq!(told(&drawn.rows[1]).1, "35");
        let note = "The outputs of 2 tests are not shown: so much was printed that not all of it was kept.";
        assert_eq!(drawn.note, note);
    }

    #[test]
    fn what_a_phase_cannot_choose_has_a_sign_of_its_own() {
        let choices =
            matrix::omittable(Sample::sum_mul().recorded(), tracer::schedule::Control::Program).len();
        let drawn = search(Control::Both, &[(choices, &[0], Outcome::Fail)]);
        assert_eq!(drawn.rows[0].subset.cells.matches('-').count(), 34 - choices);
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
