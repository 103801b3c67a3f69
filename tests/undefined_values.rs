//! Undefined values do not help: what only lucky garbage makes superfluous is needed.

mod support;

use serde_json::Value;
use support::tiny::tiny;
use support::{Fixture, GCC, Program, text};

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

/// Reads what `choose` has never set, which goes another way for large values but does not matter; and leaves
/// `sum = 0` on line 7 to be replaced by what `wipe` has left on the stack. Or, likewise, what `fresh` has allocated.
const LUCKY_ELSEWHERE: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    int wipe(void) { int slots[64];\n    memset(slots, 0, sizeof slots);\n    return slots[9]; }\n\
    int sum_to(int n) { int product = 1; int sum; sum = 0;\n\
    \x20   for (int i = 1; i < n; i++) { sum += i; product *= i; }\n    return product ? sum : -1; }\n\
    int outer(int n) { int result = sum_to(n);\n    return result; }\n\
    int choose(int n) { int hint; if (n > 100) hint = n;\n\
    \x20   if (hint > 1000000 || hint < -1000000 || hint == 0) n = n + 1 - 1;\n    return n; }\n\
    int fresh(int n) { int *hints = malloc(400);\n\
    \x20   if (hints[60] > 1000000 || hints[60] < -1000000) n = n + 1 - 1;\n    return n; }\n\
    int main(void) { int n = READER(5); int sum = wipe();\n    sum = outer(n);\n    printf(\"sum = %d\\n\", sum);\n    return 0; }\n";

/// The program that runs this function first, built for one test.
fn lucky_elsewhere(test: &str, reader: &str) -> Program {
    tiny(&format!("lucky-{test}-{reader}"), &LUCKY_ELSEWHERE.replace("READER", reader))
}

/// The line of `sum = 0`, and a column before it and after the statements before.
fn place_of_the_zero() -> (u64, u64) {
    let mut lines = LUCKY_ELSEWHERE.lines().zip(1..);
    let found = lines.find_map(|(text, line)| Some((line, text.find("sum = 0;")? as u64)));
    found.expect("a line")
}

/// Whether `sum = 0` of [`LUCKY_ELSEWHERE`] is in a slice.
fn needs_the_zero(slice: &Value) -> bool {
    let (line, column) = place_of_the_zero();
    let mut events = slice["slice"].as_array().expect("events").iter();
    events.any(|event| event["line"] == line && event["column"].as_u64() > Some(column))
}

fn told(slice: &Value) -> String {
    let warnings = slice["warnings"].as_array().expect("warnings").iter();
    let mut about = warnings.filter_map(Value::as_str).filter(|told| told.contains("uninitialised"));
    about.next().unwrap_or_default().to_owned()
}

#[test]
fn what_the_recorded_run_reads_undefined_stays_as_it_is_and_all_else_is_filled() {
    for (reader, named, other) in
        [("choose", "`choose`", "allocated memory"), ("fresh", " of allocated memory are", "`")]
    {
        let program = lucky_elsewhere("filled", reader);
        let slices =
            ["jump", "breakpoint"].map(|engine| program.slice(&["--no-save", "--engine", engine], 0));
        for slice in &slices {
            assert!(needs_the_zero(slice), "{reader}: {slice}");
            let told = told(slice);
            assert!(told.contains("undefined values of") && told.contains(named), "{reader}: {told}");
            assert!(!told.contains(other) && !told.contains("`sum_to`"), "{reader}: {told}");
        }
        assert_eq!(slices[0]["slice"], slices[1]["slice"], "{reader}");
    }
}

#[test]
fn a_search_that_goes_on_leaves_the_same_undefined() {
    let program = lucky_elsewhere("later", "choose");
    program.slice(&["--max-tests", "3", "-j1"], 5);
    let output = support::stripe()
        .args(["reduce", "--format", "json", "-q", "--max-tests", "1000"])
        .current_dir(&program.directory)
        .output();
    let output = output.expect("stripe can be started");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let slice: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(needs_the_zero(&slice) && told(&slice).contains("`choose`"), "{slice}");
    assert_eq!(slice["slice"], program.slice(&["--no-save"], 0)["slice"]);
}

#[test]
fn a_replay_without_what_only_luck_replaces_does_not_reproduce_although_the_program_reads_undefined_memory() {
    let program = lucky_elsewhere("replayed", "choose");
    let events = program.events(&[]);
    let (line, column) = place_of_the_zero();
    let zero = events.iter().find(|event| event["line"] == line && event["column"].as_u64() > Some(column));
    let number = zero.expect("the statement")["event"].to_string();
    let outcome = |poison| program.stripe("replay", &["--omit", &number, "--poison", poison]).status.code();
    assert_eq!((outcome("off"), outcome("auto")), (Some(0), Some(1)));
}
