//! How to search, and what is traced.

mod support;

use std::collections::BTreeSet;

use serde_json::Value;
use support::command::{BOTH, events, kept};
use support::tiny::{assert_says, tiny};
use support::{Fixture, GCC, Program, sample};

#[test]
fn control_decides_what_is_needed() {
    let program = sample(GCC, "");
    let [both, decided, stated] = ["both", "program", "trace"]
        .map(|control| program.slice(&[&BOTH[..], &["--control", control]].concat(), 0));
    assert_eq!([&both["control"], &decided["control"], &stated["control"]], ["both", "program", "trace"]);
    assert_eq!((events(&both).len(), events(&stated).len()), (22, 15));
    assert_eq!(events(&both), events(&decided));
    assert_eq!(both["events"]["kept_for_effect"], 15);
}

#[test]
fn both_algorithms_find_the_slice() {
    let program = sample(GCC, "");
    let slices = ["sweep", "ddmin"].map(|algorithm| {
        let slice =
            program.slice(&[&BOTH[..], &["--algorithm", algorithm, "--control", "trace"]].concat(), 0);
        assert_eq!(slice["algorithm"], algorithm);
        events(&slice)
    });
    assert_eq!(slices[0], slices[1]);
}

#[test]
fn granularity_line_has_one_event_for_a_line() {
    let program = Fixture::named("one_line").build(GCC);
    let (statements, lines) = (program.events(&[]), program.events(&["--granularity", "line"]));
    assert!(lines.len() < statements.len(), "{} and {}", lines.len(), statements.len());
    assert!(lines.iter().all(|event| event["column"] == 0), "lines have no columns");
    assert_eq!(program.slice(&["--granularity", "line"], 0)["granularity"], "line");
}

/// The functions and files in which events happened.
fn traced(program: &Program, scope: &[&str]) -> (BTreeSet<String>, BTreeSet<String>) {
    let options: Vec<&str> = scope.iter().flat_map(|pattern| ["--scope", pattern]).collect();
    let events = program.events(&options);
    let all = |key: &str| -> BTreeSet<String> {
        events.iter().map(|event| event[key].as_str().expect("text").to_owned()).collect()
    };
    (all("function"), all("file"))
}

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[test]
fn scope_narrows_and_excludes() {
    let program = Fixture::named("several_files").build(GCC);
    let (functions, files) = traced(&program, &[]);
    assert_eq!(files, names(["main.c", "stack.c"]));
    assert!(functions.is_superset(&names(["main", "push", "pop", "depth"])), "{functions:?}");
    assert_eq!(traced(&program, &["stack.c"]).1, names(["stack.c"]));
    assert_eq!(traced(&program, &["p*"]).0, names(["push", "pop"]));
    assert_eq!(traced(&program, &["main", "push"]).0, names(["main", "push"]));
    assert_eq!(traced(&program, &["!stack.c"]).1, names(["main.c"]));
    let without_push = traced(&program, &["!push"]).0;
    assert!(!without_push.contains("push") && without_push.contains("pop"), "{without_push:?}");
    assert_eq!(traced(&program, &["*.c", "!main.c"]).1, names(["stack.c"]));
}

#[test]
fn a_shared_library_is_in_scope_if_it_is_named() {
    let program = Fixture::named("shared_library").build(GCC);
    assert_eq!(traced(&program, &[]).1, names(["main.c"]));
    assert_eq!(traced(&program, &["libtax.so"]).1, names(["main.c", "libtax.c"]));
    let slice = program.slice(&["--scope", "libtax.so"], 0);
    let in_library = |event: &Value| event["file"] == "libtax.c";
    assert!(slice["slice"].as_array().expect("events").iter().any(in_library), "{slice}");
}

#[test]
fn undefined_values_can_be_left_alone() {
    let program = Fixture::named("poison_stack").build(GCC);
    let (with, without) = (program.slice(&[], 0), program.slice(&["--poison", "off"], 0));
    assert!(kept(&without) < kept(&with), "{} and {}", kept(&without), kept(&with));
}

#[test]
fn a_program_that_other_undefined_values_would_keep_busy_is_warned_about() {
    let source = "#include <stdio.h>\nvoid wipe(void) { volatile int zero[64] = {0};\n}\n\
                  int count(void) { int i = 0, limit;\nwhile (i < limit)\ni++;\nreturn i;\n}\n\
                  int main(void) { wipe();\nint sum = count();\nprintf(\"%d\\n\", sum);\nreturn 0;\n}\n";
    let slice = tiny("undefined", source).slice(&["--control", "trace"], 0);
    let warnings = slice["warnings"].to_string();
    assert_says(&warnings, &["reads uninitialised memory", "this may well be the fault"]);
}
