//! The language as people write it: each fixture has the trace and the slice that it should.

mod support;

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;
use support::engine::in_two_threads;
use support::{Fixture, GCC, assert_golden, text};

/// Fixtures whose reduction is cut short, because they run long.
const BUDGETS: [(&str, &str); 1] = [("deep_recursion", "10")];

fn traced() -> Vec<Fixture> {
    Fixture::all().into_iter().filter(|fixture| fixture.directive("refused").is_none()).collect()
}

#[test]
fn every_fixture_has_its_trace() {
    in_two_threads(&traced(), |fixture| {
        assert_golden(
            &format!("{}.trace", fixture.name),
            &outline(&fixture.build(GCC).events(&["--clear-env"])),
        );
    });
}

#[test]
fn every_fixture_has_its_slice() {
    in_two_threads(&traced(), |fixture| {
        let program = fixture.build(GCC);
        let budget = BUDGETS.iter().find(|(name, _)| *name == fixture.name);
        let limit = budget.map_or(Vec::new(), |(_, tests)| vec!["--max-tests", tests]);
        let output = program
            .stripe("run", &[&limit[..], &["-q", "-j1", "--clear-env", "--no-save", "--no-values"]].concat());
        let status = if budget.is_some() { 5 } else { 0 };
        assert_eq!(output.status.code(), Some(status), "{}: {}", fixture.name, text(&output.stderr));
        assert_golden(&format!("{}.slice", fixture.name), &without_counts(&text(&output.stdout)));
    });
}

/// The lines of a trace, one row for each stretch in the same call.
fn outline(events: &[Value]) -> String {
    let mut outline = String::new();
    let mut here = None;
    for event in events {
        let place =
            (event["depth"].as_u64().expect("a depth"), event["function"].as_str().expect("a function"));
        if here.replace(place) != Some(place) {
            let indent = usize::try_from(place.0).expect("small").min(40);
            let file = Path::new(event["file"].as_str().expect("a file"))
                .file_name()
                .expect("a name")
                .to_string_lossy();
            let _ = write!(outline, "\n{:indent$}{} ({file}):", "", place.1);
        }
        let _ = write!(outline, " {}", event["line"]);
    }
    format!("{}\n", outline.trim_start())
}

/// The report without the number of tests, of replays, and the time: what an undefined value makes of
/// a partial run may depend on where the program lies.
fn without_counts(report: &str) -> String {
    let Some(verdict) = report.find("statement execution") else {
        return report.to_owned();
    };
    let words: Vec<&str> = report[verdict..].split_whitespace().collect();
    let until = words.iter().position(|word| *word == "tests:").map_or(words.len(), |at| at - 1);
    let rest = report[verdict..].find("warning:").map_or("", |at| &report[verdict + at..]);
    format!("{}{}\n{rest}", &report[..verdict], words[..until].join(" "))
}
