//! `stripe run --value` and `--decision`: what an answer inside of a run needs. The values are gdb's, and what is needed
//! is what the answer depends on.

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use stripe::subject::{Ordinals, PlaceFound, Recorded, Where};
use support::engine::{in_two_threads, invocation, load, record};
use support::tiny::{assert_says, compiled, message, tiny};
use support::{Fixture, GCC, Program, sample, scratch, stripe, text};
use tracer::program::Granularity;
use tracer::trace::EventId;
use tracer::{Preference, Tracer};

fn asked(program: &Program, words: &[&str]) -> Value {
    let (status, slice) = ended(program, words);
    assert_eq!(status, Some(0), "{words:?}");
    slice
}

/// A result with the exit status.
fn ended(program: &Program, words: &[&str]) -> (Option<i32>, Value) {
    let output = program.stripe("run", &[words, &["--format", "json", "-q", "--no-save"]].concat());
    let slice = serde_json::from_slice(&output.stdout);
    (output.status.code(), slice.unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr))))
}

/// What a command prints as it is typed into a shell.
fn typed(command: &str, directory: &Path) -> Output {
    let folder = Path::new(env!("CARGO_BIN_EXE_stripe")).parent().expect("a folder").display();
    let command = format!("PATH={folder}:$PATH; {command}");
    Command::new("sh").args(["-c", &command]).current_dir(directory).output().expect("a shell starts")
}

/// The events of a slice, critical or dynamic.
fn events(slice: &Value) -> BTreeSet<u64> {
    let events = slice["slice"].as_array().expect("events").iter();
    events.map(|event| event["event"].as_u64().expect("a number")).collect()
}

fn told(slice: &Value) -> (Vec<u64>, &str, &str) {
    let words = |key: &str| slice[key].as_str().expect("words");
    (events(slice).into_iter().collect(), words("criterion"), words("status"))
}

#[test]
fn why_has_a_variable_its_value_and_why_does_a_decision_go_its_way() {
    let program = sample(GCC, "");
    let value = asked(&program, &["--value", "sum@11#3"]);
    // sum = 0, a is read, b is read so that the loop goes on, a + 1, and the second sum.
    assert_eq!(told(&value), (vec![2, 5, 7, 11, 13], "sum is 1 where 11#3 begins", "minimal"));
    let for_effect = asked(&program, &["--value", "sum@11#3", "--control", "trace"]);
    assert_eq!(told(&for_effect).0, [2, 5, 11, 13]);
    let decision = asked(&program, &["--decision", "10#4"]);
    assert_eq!(told(&decision), (vec![5, 7], "after 10#4 control goes to sum-mul.c:11", "minimal"));
    let last = asked(&program, &["--decision", "10#7"]);
    assert_eq!(told(&last).1, "after 10#7 control goes to sum-mul.c:15");
    assert!(told(&last).0.len() > 2, "it has to count up to b: {last}");
    assert_eq!(last["warnings"].as_array().map(Vec::len), Some(0), "{last}");
}

/// Variables of fixtures where an execution begins.
const QUESTIONS: [(&str, &str, &str); 5] = [
    ("bubble_sort", "data[2]", "22#1"),
    ("factorial", "rest", "10#2"),
    ("bubble_sort", "passes", "22#1"),
    ("nested_loops", "c[1][0]", "15#1"),
    ("mutual_recursion", "even", "11#2"),
];

/// What gdb prints where an event begins.
fn printed_by_gdb(program: &Program, variable: &str, place: &str) -> String {
    let loaded = load(&program.path, Granularity::Statement);
    let input = std::fs::read(&program.stdin).expect("an input");
    let start = invocation(&program.path, &program.directory, &[], input);
    let trace = record(&mut Tracer::new(&loaded, &start, Preference::Auto).expect("a tracer"), place).trace;
    let recorded = Recorded { program: &loaded, trace: &trace };
    let found = Where::parse(place).and_then(|place| place.find(recorded, &Ordinals::new(recorded)));
    let Ok(PlaceFound::Executions(found)) = found else { panic!("{place}") };
    let [event] = found[..] else { panic!("{place}: {found:?}") };
    let leader = trace.leader(event);
    let before = (0..event.0).filter(|&earlier| trace.leader(EventId(earlier)) == leader).count();
    let output = Command::new("gdb")
        .args(["-batch", "-nx", "-ex", "set debuginfod enabled off", "-ex", "starti"])
        .args(["-ex", &format!("break *(0x555555554000 + {:#x})", loaded.leader(leader).address.0)])
        .args(["-ex", &format!("ignore 1 {before}"), "-ex", "continue", "-ex", &format!("print {variable}")])
        .arg(&program.path)
        .stdin(std::fs::File::open(&program.stdin).expect("an input"))
        .current_dir(&program.directory)
        .output()
        .expect("gdb starts");
    let told = text(&output.stdout);
    let value = told.lines().find_map(|line| line.strip_prefix("$1 = "));
    value.unwrap_or_else(|| panic!("{told}{}", text(&output.stderr))).to_owned()
}

#[test]
fn values_are_those_that_gdb_prints_and_their_needs_lie_in_their_dynamic_slices() {
    in_two_threads(&QUESTIONS, |&(name, variable, place)| {
        let program = Fixture::named(name).build(GCC);
        let question = format!("{variable}@{place}");
        let needed = asked(&program, &["--value", &question, "--control", "trace"]);
        let value = printed_by_gdb(&program, variable, place);
        assert_eq!(told(&needed).1, format!("{variable} is {value} where {place} begins"), "{name}");
        let output = program.stripe("slice", &["--value", &question, "--format", "json", "-q"]);
        let inferred: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let (needed, inferred) = (events(&needed), events(&inferred));
        assert!(needed.is_subset(&inferred), "{name}: {needed:?} in {inferred:?}");
    });
}

#[test]
fn engines_and_workers_agree_on_decisions() {
    let needing = AtomicUsize::new(0);
    let names = ["factorial", "nested_loops", "short_circuit", "switch_chain", "mutual_recursion"];
    in_two_threads(&names, |name| {
        let program = Fixture::named(name).build(GCC);
        let loaded = load(&program.path, Granularity::Statement);
        let input = std::fs::read(&program.stdin).expect("an input");
        let start = invocation(&program.path, &program.directory, &[], input);
        let trace =
            record(&mut Tracer::new(&loaded, &start, Preference::Auto).expect("a tracer"), name).trace;
        let decides =
            |event: &EventId| loaded.leader(trace.leader(*event)).decides && trace.next(*event).is_some();
        let all: Vec<EventId> = trace.events().filter(decides).collect();
        let some = [all.len() - 1, all.len() / 2].map(|number| all[number].time().to_string());
        for decision in some {
            let of = |more: &[&str]| ended(&program, &[&["--decision", &decision], more].concat());
            let (status, one) = of(&["--engine", "jump", "-j", "1"]);
            assert!(matches!(status, Some(0 | 6)), "{name}: {status:?}");
            needing.fetch_add(usize::from(status == Some(0)), Ordering::Relaxed);
            for (other_status, other) in
                [of(&["--engine", "breakpoint"]), of(&["--engine", "jump", "-j", "3"])]
            {
                assert_eq!((status, told(&one)), (other_status, told(&other)), "{name}, {decision}");
            }
        }
    });
    assert!(needing.into_inner() > 2);
}

#[test]
fn nothing_that_is_needed_can_be_left_out() {
    let program = sample(GCC, "");
    for (number, question) in [["--value", "sum@11#3"], ["--decision", "10#4"]].into_iter().enumerate() {
        let folder = scratch(&format!("needed-{number}")).join("run");
        let folder = folder.to_str().expect("a path");
        let options = ["--control", "program", "--format", "json", "--out", folder];
        let output = program.stripe("run", &[&question[..], &options].concat());
        let slice: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let needed = events(&slice);
        let replayed = |events: &BTreeSet<u64>| {
            let events: Vec<String> = events.iter().map(u64::to_string).collect();
            let run = stripe()
                .args(["replay", folder, "--control", "program", "--keep", &events.join(",")])
                .current_dir(&program.directory)
                .output();
            run.expect("stripe starts").status.code()
        };
        assert_eq!(replayed(&needed), Some(0));
        for event in &needed {
            let mut without = needed.clone();
            without.remove(event);
            assert_ne!(replayed(&without), Some(0), "{question:?} without {event}");
        }
    }
}

/// The rows' pointer is null where it is used.
const CRASH: &str = r#"
#include <stdlib.h>
struct row { int cells; struct row *next; };
int main(void) {
    struct row *rows = malloc(sizeof *rows);
    rows->cells = 3;
    rows->next = 0;
    int sum = rows->cells;
    struct row *row = rows->next;
    sum += row->cells;
    return sum;
}
"#;

#[test]
fn a_pointer_is_asked_for_where_it_makes_the_program_crash() {
    let slice = asked(&tiny("null_row", CRASH), &["--value", "row@10#1"]);
    assert_eq!(told(&slice).1, "row is 0x0 where 10#1 begins");
    let lines: Vec<u64> = slice["slice"]
        .as_array()
        .expect("events")
        .iter()
        .filter_map(|event| event["line"].as_u64())
        .collect();
    assert_eq!(lines, [5, 7, 9]);
}

/// A list, a text and what a reference leads to.
const LEADING: &str = r#"
#include <stdlib.h>
struct node { int value; struct node *next; const char *name; };
static struct node *push(struct node *rest, int value, const char *name) {
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = rest;
    node->name = name;
    return node;
}
int main(void) {
    char text[8] = "one";
    struct node *list = push(0, 1, text);
    list = push(list, 2, "two");
    text[0] = 'O';
    return list->next->value;
}
"#;

#[test]
fn what_a_pointer_leads_to_depends_on_the_pointer() {
    let program = tiny("leading", LEADING);
    for (question, lines) in [
        ("list->next->value@16#1", &[5, 6, 7, 9, 13, 14][..]),
        ("list->next->name@16#1", &[12, 15]),
        ("*list@16#1", &[6, 7, 9, 14]),
    ] {
        let needed = asked(&program, &["--value", question, "--control", "trace"]);
        let output = program.stripe("slice", &["--value", question, "--format", "json", "-q"]);
        let inferred: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(events(&needed).is_subset(&events(&inferred)), "{question}: {needed}\n{inferred}");
        let executed: BTreeSet<u64> = inferred["slice"]
            .as_array()
            .expect("events")
            .iter()
            .filter_map(|it| it["line"].as_u64())
            .collect();
        assert!(lines.iter().all(|line| executed.contains(line)), "{question}: {executed:?}");
    }
}

/// What differs in the list stands far from its beginning.
const LONG: &str = r#"
int list[1000];
int main(void) {
    for (int i = 0; i < 20; i++) list[i] = 1;
    list[900] = 7;
    return list[0];
}
"#;

#[test]
fn all_of_a_long_value_counts() {
    let slice = asked(&tiny("long_value", LONG), &["--value", "list@6#1"]);
    let lines = slice["slice"].as_array().expect("events").iter().map(|event| &event["line"]);
    assert!(lines.clone().any(|line| *line == 5), "{slice}");
    let last = slice["slice"].as_array().and_then(|events| events.last()).expect("an event");
    assert_says(&last["without"]["why"].to_string(), &["list differs in a part that is not shown"]);
}

/// Four references, each to the whole again.
const CIRCLE: &str = r#"
struct Circle { Circle &a, &b, &c, &d; int number; };
int main() {
    int ten = 10;
    Circle circle{circle, circle, circle, circle, ten};
    return circle.number;
}
"#;

#[test]
fn references_in_a_circle_come_to_an_end() {
    let slice = asked(&compiled("circle.cpp", CIRCLE), &["--value", "circle@6#1"]);
    let lines: Vec<_> = slice["slice"].as_array().expect("events").iter().map(|it| &it["line"]).collect();
    assert_eq!(lines, [4, 5]);
}

const UNDEFINED: &str =
    "int main(void) {\n    int x;\n    int y = 2;\n    y += x & 1;\n    return y > 5;\n}\n";

#[test]
fn a_value_that_is_undefined_is_told_as_such() {
    let program = tiny("undefined_value", UNDEFINED);
    let output = program.stripe("run", &["--value", "x@4#1", "--no-save", "-q"]);
    let told = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&told, &["reads uninitialised memory", "the value is"]);
    // It needs nothing, because nothing has written it.
    assert_eq!(output.status.code(), Some(6));
    assert_says(&text(&output.stderr), &["the same whatever is left out"]);
}

#[test]
fn a_question_goes_on_where_it_was_ended_and_offers_the_next_one() {
    let (program, folder) = (sample(GCC, ""), scratch("question").join("run"));
    let folder = folder.to_str().expect("a path");
    let json = |output: Output| -> Value { serde_json::from_slice(&output.stdout).expect("JSON") };
    let question = ["--value", "sum@11#4", "--format", "json", "-q"];
    let ended = program.stripe("run", &[&question[..], &["--max-tests", "5", "--out", folder]].concat());
    assert_eq!(ended.status.code(), Some(5), "{}", text(&ended.stderr));
    let stripe = |words: &[&str]| {
        let mut command = stripe();
        command.args(words).current_dir(&program.directory).output().expect("stripe starts")
    };
    let whole = json(stripe(&["reduce", folder, "--max-tests", "1000", "--format", "json", "-q"]));
    assert_eq!(told(&whole), told(&asked(&program, &question[..2])));
    assert_eq!(whole["status"], "minimal");
    let explained = text(&stripe(&["explain", folder, "11#3"]).stdout);
    assert_says(&explained, &["not reproduced: sum is", "Ask further", "why a is 2:"]);
    assert!(!explained.contains("warning"), "{explained}");
    let offered = explained.lines().find(|line| line.contains("--value 'a@11#3'")).expect("a command");
    let answered = typed(offered.trim(), &program.directory);
    assert_says(&text(&answered.stdout), &["a is 2 where 11#3 begins"]);
}

#[test]
fn what_cannot_be_asked_is_refused_with_what_can() {
    let program = sample(GCC, "");
    let refused =
        |words: &[&str], status| message(&program.stripe("run", &[words, &["--no-save"]].concat()), status);
    assert_says(&refused(&["--value", "nix@11#3"], 3), &["no variable of this name", "sum, p->next"]);
    assert_says(
        &refused(&["--value", "sum@sum-mul.c:11"], 2),
        &["11 was executed 6 times", "name one, as in"],
    );
    assert_says(&refused(&["--value", "sum@1"], 2), &["is the call of a function"]);
    assert_says(&refused(&["--value", "sum"], 2), &["names no place", "sum@13#3"]);
    assert_says(&refused(&["--value", "sum@14#1"], 2), &["was not executed", "nearest lines"]);
    assert_says(&refused(&["--value", "sum@11#3", "--engine", "jump"], 2), &["leave --engine jump out"]);
    assert_says(&refused(&["--decision", "11#1"], 2), &["decides nothing"]);
    assert_says(&refused(&["--decision", "last"], 2), &["not known before the search"]);
    assert_says(&refused(&["--decision", "10#1", "--expect-exit", "0"], 2), &["cannot be used with"]);
    assert_says(&refused(&["--decision", "10#1", "--each-line"], 2), &["cannot be used with"]);
}
