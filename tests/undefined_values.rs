//! Undefined values do not help: what only lucky garbage makes superfluous is needed.

mod support;

use serde_json::Value;
use support::{Fixture, GCC, text};

/// The fixtures with the statement that leftover memory or registers seem to make superfluous.
const LUCKY: [(&str, &str); 3] = [
    ("poison_stack", "    sum = 0;"),
    ("poison_heap", "    c->hits = 0;"),
    ("poison_register", "    return r;"),
];

fn needed_lines(slice: &Value) -> Vec<u64> {
    let lines = slice["lines"].as_array().expect("lines").iter();
    lines.filter(|line| line["needed"] != 0).map(|line| line["line"].as_u64().expect("a line")).collect()
}

/// The line on which the statement stands in the fixture's source.
fn line_of(fixture: &Fixture, statement: &str) -> u64 {
    let source = std::fs::read_to_string(&fixture.source).expect("readable");
    let line = source.lines().position(|line| line.starts_with(statement));
    line.unwrap_or_else(|| panic!("{} has no `{statement}`", fixture.name)) as u64 + 1
}

#[test]
fn a_statement_that_leftover_values_could_replace_is_needed() {
    for (name, statement) in LUCKY {
        let fixture = Fixture::named(name);
        let program = fixture.build(GCC);
        let line = line_of(&fixture, statement);
        assert!(needed_lines(&program.slice(&[], 0)).contains(&line), "{name}: luck helps");
        // Without patterns it would seem superfluous: leave it out wherever it stands.
        let events = program.events(&[]);
        let executions = events.iter().filter(|event| event["line"] == line && event["omittable"] == true);
        let numbers: Vec<String> = executions.map(|event| event["event"].to_string()).collect();
        let outcome = |poison| {
            program.stripe("replay", &["--omit", &numbers.join(","), "--poison", poison]).status.code()
        };
        assert_eq!((outcome("off"), outcome("auto")), (Some(0), Some(1)), "{name}");
    }
}

#[test]
fn a_program_that_reads_uninitialised_memory_is_told_so_with_the_first_line_that_differs() {
    let output = Fixture::named("uninitialised").build(GCC).stripe("run", &["-q", "--max-tests", "5"]);
    let report = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(report.contains("warning: the program reads uninitialised memory"), "{report}");
    assert!(report.contains("output line 2: `limit = "), "{report}");
}
