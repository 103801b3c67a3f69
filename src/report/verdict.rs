//! Write the verdict of a reduction in sentences, and what its answer is worth.

use std::time::Duration;

use crate::circumstances::Status;
use crate::circumstances::events::Control;
use crate::slice::{CriticalSlice, Effects, Level};

use super::words::{contained, count, duration, one_or_more};

/// The verdict: the number of executions and their purpose, whether fewer would do, and at what cost.
pub(super) fn verdict(slice: &CriticalSlice) -> String {
    format!("{}{}; {}. {}.", kept(slice), purposes(slice), minimality(slice), effort(slice))
}

fn kept(slice: &CriticalSlice) -> String {
    let kept = slice.needed.len() as u64;
    let number = if kept == 0 { "None".to_owned() } else { kept.to_string() };
    let omittable = count(slice.omittable as u64, "statement execution");
    let what = match slice.status {
        Status::Minimal => "needed",
        Status::Budget | Status::Interrupted | Status::Unconfirmed => "kept",
    };
    format!("{number} of {omittable} {} {what}", one_or_more(kept, "is", "are"))
}

/// The numbers of effects and decisions, where the control rule tells them apart.
fn purposes(slice: &CriticalSlice) -> String {
    let effects = slice.kept_for_effect();
    let decisions = slice.needed.len() - effects;
    if slice.effects == Effects::Untried {
        return untried(slice, decisions as u64);
    }
    let only_decisions = one_or_more(decisions as u64, "only as a decision", "only as decisions");
    match (slice.question.control, effects, decisions) {
        (Control::Trace, ..) | (_, 0, 0) => String::new(),
        (_, 1, 0) => " (for its effect)".to_owned(),
        (_, _, 0) => " (all for their effect)".to_owned(),
        (_, 0, 1) => format!(" ({only_decisions})"),
        (_, 0, _) => format!(" (all {only_decisions})"),
        _ => {
            let their = one_or_more(effects as u64, "its", "their");
            // Executions that have not been tried may turn out to be needed as a decision only, or not at all.
            let at_most = if slice.status == Status::Minimal { "" } else { "at most " };
            format!(" ({at_most}{effects} for {their} effect, {decisions} {only_decisions})")
        }
    }
}

/// The numbers of decisions, as long as effects have not been tried.
fn untried(slice: &CriticalSlice, decisions: u64) -> String {
    let number = match decisions {
        0 => String::new(),
        _ => format!("{} among them", count(decisions, "decision")),
    };
    let effects = match slice.question.control {
        Control::Both if !slice.needed.is_empty() => "effects have not been tried",
        _ => "",
    };
    let told: Vec<&str> = [&number[..], effects].into_iter().filter(|part| !part.is_empty()).collect();
    if told.is_empty() { String::new() } else { format!(" ({})", told.join("; ")) }
}

fn minimality(slice: &CriticalSlice) -> String {
    let words = match (slice.needed.len(), slice.status) {
        (_, Status::Unconfirmed) => {
            "not minimal: replayed once more from the beginning, they did not reproduce the failure"
        }
        (0, _) if slice.crashed_at.is_some() => "the crash needs nothing but that the run gets there",
        (0, _) => "the failure is there without any of them",
        (_, Status::Minimal) if slice.level != Level::Execution => return by_groups(slice),
        (1, Status::Minimal) => "1-minimal: without it the failure is gone",
        (_, Status::Minimal) => "1-minimal: without any single one of them the failure is gone",
        (_, Status::Budget) => "not 1-minimal: the search was ended by its budget, fewer may do",
        (_, Status::Interrupted) => "not 1-minimal: the search was interrupted, fewer may do",
    };
    words.to_owned()
}

/// The level at which the result is minimal, and what it would take to go on: a test for each execution at least.
fn by_groups(slice: &CriticalSlice) -> String {
    let (what, left_out) = match slice.level {
        Level::Statement => ("statements", "no statement can be left out as a whole"),
        _ => (
            "statements by caller and history",
            "no statement can be left out wherever it has the same caller, or the same statements before it",
        ),
    };
    let tests = slice.needed.len() as u64;
    let each = slice.elapsed.as_secs_f64() / slice.tests.total.max(1) as f64;
    let time = duration(Duration::from_secs_f64(each * tests as f64));
    format!(
        "minimal by {what}: {left_out}; single executions were not tried one by one, which takes at least {}, some \
         {time}: --level execution, or `stripe reduce`, goes on",
        count(tests, "test")
    )
}

fn effort(slice: &CriticalSlice) -> String {
    let tests = &slice.tests;
    let outcomes = match tests.total {
        0 => String::new(),
        _ => format!(
            ": {} reproduced the failure, {} did not, {} told neither (unresolved)",
            tests.fail, tests.pass, tests.unresolved
        ),
    };
    let (total, runs) = (count(tests.total, "test"), count(slice.runs, "run"));
    let contained = contained(&slice.question.method.containment);
    format!("{total}{outcomes}; {runs} in {}, {contained}", duration(slice.elapsed))
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;
    use dd::Counts;

    #[test]
    fn nobody_speaks_of_effects_that_have_not_been_tried() {
        let sample = Sample::sum_mul();
        let told = |control, decisions: usize| {
            let mut slice = sample.slice(&sample.omittable(11), &sample.omittable(10)[..decisions]);
            (slice.question.control, slice.effects) = (control, Effects::Untried);
            purposes(&slice)
        };
        assert_eq!(told(Control::Both, 2), " (2 decisions among them; effects have not been tried)");
        assert_eq!(told(Control::Both, 0), " (effects have not been tried)");
        assert_eq!(told(Control::Program, 1), " (1 decision among them)");
        assert_eq!(told(Control::Program, 0), "");
    }

    /// The first sentence about a slice of so many effects and decisions.
    fn finding(effects: usize, decisions: usize, control: Control, status: Status) -> String {
        let sample = Sample::sum_mul();
        let (sums, tests) = (sample.omittable(11), sample.omittable(10));
        let mut slice = sample.slice(&sums[..effects], &tests[..decisions]);
        slice.question.control = control;
        slice.effects = if control == Control::Program { Effects::Untried } else { Effects::Tried };
        slice.status = status;
        verdict(&slice).split_inclusive('.').next().unwrap().to_owned()
    }

    #[test]
    fn a_minimal_slice_tells_effects_from_decisions() {
        let both = |effects, decisions| finding(effects, decisions, Control::Both, Status::Minimal);
        let gone = "1-minimal: without any single one of them the failure is gone.";
        let needed = "of 34 statement executions are needed";
        assert_eq!(both(5, 7), format!("12 {needed} (5 for their effect, 7 only as decisions); {gone}"));
        assert_eq!(both(1, 1), format!("2 {needed} (1 for its effect, 1 only as a decision); {gone}"));
        assert_eq!(both(2, 0), format!("2 {needed} (all for their effect); {gone}"));
        assert_eq!(both(0, 2), format!("2 {needed} (all only as decisions); {gone}"));
    }

    #[test]
    fn where_the_trace_states_the_control_flow_nobody_speaks_of_decisions() {
        let found = finding(2, 0, Control::Trace, Status::Minimal);
        assert!(found.starts_with("2 of 34 statement executions are needed; 1-minimal: "), "{found}");
    }

    #[test]
    fn a_single_execution_and_none_have_sentences_of_their_own() {
        assert_eq!(
            finding(1, 0, Control::Both, Status::Minimal),
            "1 of 34 statement executions is needed (for its effect); \
             1-minimal: without it the failure is gone."
        );
        assert_eq!(
            finding(0, 0, Control::Both, Status::Minimal),
            "None of 34 statement executions are needed; the failure is there without any of them."
        );
    }

    #[test]
    fn a_search_that_was_cut_short_claims_neither_need_nor_minimality() {
        let found = finding(5, 3, Control::Both, Status::Budget);
        assert!(
            found.contains("are kept (at most 5 for their effect, 3 only as decisions); not 1-min"),
            "{found}"
        );
        let found = finding(5, 0, Control::Program, Status::Budget);
        let budget = "not 1-minimal: the search was ended by its budget, fewer may do.";
        assert_eq!(found, format!("5 of 34 statement executions are kept; {budget}"));
        let found = finding(5, 0, Control::Program, Status::Interrupted);
        assert!(found.ends_with("not 1-minimal: the search was interrupted, fewer may do."), "{found}");
    }

    #[test]
    fn the_effort_is_told_by_outcome() {
        let mut slice = Sample::sum_mul().slice(&[], &[]);
        assert_eq!(
            effort(&slice),
            "120 tests: 11 reproduced the failure, 80 did not, 29 told neither (unresolved); 142 runs in 0.2 s, fully contained"
        );
        slice.tests = Counts { total: 1, fail: 0, pass: 0, unresolved: 1, ..Counts::default() };
        slice.runs = 1;
        assert_eq!(
            effort(&slice),
            "1 test: 0 reproduced the failure, 0 did not, 1 told neither (unresolved); 1 run in 0.2 s, fully contained"
        );
        slice.tests = Counts::default();
        assert_eq!(effort(&slice), "0 tests; 1 run in 0.2 s, fully contained");
    }
}
