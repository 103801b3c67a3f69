//! Programs that never end: what is said of them, and what they need to get into their loops.

mod support;

use serde_json::Value;
use support::tiny::{assert_says, message, tiny};
use support::{Program, how_many, scratch, stripe, text};

const GCD: &str = "#include <stdio.h>\n#include <stdlib.h>\n\
    int gcd(int a, int b) { while (a != b) {\n        if (a > b) a = a - b;\n        else b = b - a;\n    }\n\
    \x20   return a;\n}\n\
    int main(int argc, char **argv) { int n = argc;\n    int a = atoi(argv[1]);\n    int b = atoi(argv[2]);\n\
    \x20   n = n + 1;\n    printf(\"%d\\n\", gcd(a, b));\n    return 0;\n}\n";

const LIST: &str = "#include <stdio.h>\nstruct node { int value; struct node *next; };\n\
    int main(void) { struct node nodes[3];\n    int sum = 0, unused = 7;\n    nodes[0].next = &nodes[1];\n\
    \x20   nodes[1].next = &nodes[2];\n    nodes[2].next = &nodes[1];\n    unused = unused * 2;\n\
    \x20   for (struct node *p = &nodes[0]; p; p = p->next)\n        sum++;\n\
    \x20   printf(\"%d %d\\n\", sum, unused);\n    return 0;\n}\n";

const INCREMENT: &str = "#include <stdio.h>\nint main(void) { int a[5] = {3, 1, 4, 1, 5};\n    int i = 0, sum = 0;\n\
    \x20   int other = 2;\n    other += 2;\n    while (i < 5) {\n        sum += a[i];\n    }\n\
    \x20   printf(\"%d\\n\", sum + other);\n    return 0;\n}\n";

/// The second loop ends only after the first one has.
const FINITE_FIRST: &str = "#include <stdio.h>\nint main(void) { int step = 1, n = 0, m = 0;\n\
    \x20   while (n < 100) { n++;\n    }\n    step = 0;\n    while (m < 3) { m += step;\n    }\n\
    \x20   printf(\"%d\\n\", m);\n    return 0;\n}\n";

const SPIN: &str = "int main(void) { volatile int stop = 1;\n    int other = 3;\n    stop = 0;\n    other++;\n\
    \x20   while (!stop);\n    return other;\n}\n";

const WAIT: &str = "#include <unistd.h>\nint main(void) { int ends[2] = {-1, -1}, other = 1;\n    char c;\n\
    \x20   if (pipe(ends)) return 1;\n    other++;\n    read(ends[0], &c, 1);\n    return other;\n}\n";

const ENDS: &str = "#include <stdio.h>\nint main(void) { int n = 3;\n    while (n > 0) n--;\n\
    \x20   printf(\"%d\\n\", n);\n    return 0;\n}\n";

fn gcd(name: &str) -> Program {
    Program { arguments: vec!["6".into(), "0".into()], ..tiny(name, GCD) }
}

/// The lines of the needed executions, and where the program still runs.
fn needed(program: &Program, engine: &str) -> (Vec<u64>, String) {
    // So short that a program that waits until its events are taken down could be taken for one that sleeps.
    let limit = ["--timeout", "200ms"];
    let result =
        program.slice(&[&["--expect-timeout", "--engine", engine, "--no-save"], &limit[..]].concat(), 0);
    let events = result["slice"].as_array().expect("events").iter();
    let mut lines: Vec<u64> = events.map(|event| event["line"].as_u64().expect("a line")).collect();
    lines.dedup();
    (lines, words(&result))
}

fn words(result: &Value) -> String {
    result["criterion"].as_str().expect("a criterion").to_owned()
}

#[test]
fn what_leads_into_a_loop_that_never_ends_is_found_by_both_engines() {
    let cases = [
        (
            gcd("endless_gcd"),
            vec![10, 11],
            "it does not end: it still runs at endless_gcd.c:3 in gcd, called from endless_gcd.c:13",
        ),
        (
            tiny("endless_list", LIST),
            vec![5, 6, 7, 9],
            "it does not end: it still runs at endless_list.c:9 in main",
        ),
        (
            tiny("endless_increment", INCREMENT),
            vec![3],
            "it does not end: it still runs at endless_increment.c:6 in main",
        ),
        (
            tiny("endless_second", FINITE_FIRST),
            vec![2, 5],
            "it does not end: it still runs at endless_second.c:6 in main",
        ),
    ];
    for (number, (program, lines, place)) in cases.into_iter().enumerate() {
        // By breakpoints, the same events take a hundred times as long.
        let engines: &[&str] =
            if number < how_many(1, 4) as usize { &["jump", "breakpoint"] } else { &["jump"] };
        for &engine in engines {
            let found = needed(&program, engine);
            assert_eq!(found, (lines.clone(), place.to_owned()), "{} by {engine}", program.path.display());
        }
    }
}

#[test]
fn a_single_statement_that_never_ends_is_a_failure_too() {
    let program = tiny("endless_spin", SPIN);
    let result = program.slice(&["--expect-timeout", "--timeout", "100ms", "--no-save"], 0);
    let events = result["slice"].as_array().expect("events");
    let lines: Vec<u64> = events.iter().map(|event| event["line"].as_u64().expect("a line")).collect();
    assert_eq!(
        (lines, words(&result)),
        (vec![3], "it does not end: it still runs at endless_spin.c:5 in main".into())
    );
}

#[test]
fn a_program_that_waits_for_ever_needs_nothing_else_than_to_wait() {
    let program = tiny("endless_wait", WAIT);
    let output = program.stripe("run", &["--expect-timeout", "--timeout", "200ms", "--no-save", "-q"]);
    assert_eq!(output.status.code(), Some(6), "{}", text(&output.stderr));
    assert_says(&text(&output.stdout), &["it still waits at endless_wait.c:6 in main"]);
    assert_says(&text(&output.stderr), &["it does not end whatever is left out"]);
}

#[test]
fn a_run_that_ends_does_not_show_that_it_never_ends() {
    let told = message(&tiny("endless_not", ENDS).stripe("run", &["--expect-timeout", "--no-save"]), 3);
    assert_says(&told, &["it ended by itself", "exit status 0"]);
}

#[test]
fn a_loop_that_is_left_does_not_reproduce_and_one_that_goes_on_does() {
    let program = gcd("endless_replayed");
    let events = program.stripe("replay", &["--expect-timeout", "--control", "trace"]);
    assert_eq!(events.status.code(), Some(0), "{}", text(&events.stderr));
    // Without `b = 0` it is left at once, or the numbers that are there by chance come to an end.
    let left = program.stripe("replay", &["--expect-timeout", "--control", "trace", "--omit", "4"]);
    assert_ne!(left.status.code(), Some(0), "{}", text(&left.stderr));
}

#[test]
fn a_kept_run_that_never_ends_is_gone_on_with() {
    let program = gcd("endless_kept");
    let folder = scratch("endless-kept-run").join("kept");
    let out = folder.to_str().expect("plain").to_owned();
    let started = program.stripe("run", &["--expect-timeout", "--max-tests", "4", "--out", &out, "-q"]);
    assert_eq!(started.status.code(), Some(5), "{}", text(&started.stderr));
    let mut command = stripe();
    command.args(["reduce", &out, "--max-tests", "1000", "--format", "json", "-q"]);
    let went_on = command.current_dir(&program.directory).output().expect("stripe can be started");
    assert_eq!(went_on.status.code(), Some(0), "{}", text(&went_on.stderr));
    let result: Value = serde_json::from_slice(&went_on.stdout).expect("JSON");
    assert_eq!(result["slice"], program.slice(&["--expect-timeout", "--no-save"], 0)["slice"]);
}

#[test]
fn a_recording_that_does_not_end_names_the_lines_of_the_loop_and_the_remedies() {
    let program = gcd("endless_named");
    for engine in ["jump", "breakpoint"] {
        let told = message(
            &program.stripe("run", &["--timeout", "200ms", "--no-save", "-q", "--engine", engine]),
            1,
        );
        assert_says(
            &told,
            &["it was still going after ", "endless_named.c:3 (", "endless_named.c:4 (", " times)"],
        );
        assert_says(&told, &["--expect-timeout", "--timeout"]);
    }
}

#[test]
fn a_recording_takes_no_more_memory_than_it_may() {
    let program = gcd("endless_memory");
    for engine in ["jump", "breakpoint"] {
        let told =
            message(&program.stripe("run", &["--memory", "2M", "--no-save", "-q", "--engine", engine]), 1);
        assert_says(
            &told,
            &["executed more statements than there is memory for", "--memory", "--expect-timeout"],
        );
    }
    let told = message(&program.stripe("run", &["--memory", "5X", "--no-save"]), 2);
    assert_says(&told, &["K, M, G and T"]);
}

#[test]
fn the_total_time_ends_a_recording_too() {
    let told = message(&gcd("endless_total").stripe("run", &["--total-time", "1s", "--no-save", "-q"]), 1);
    assert_says(&told, &["--total-time was over before anything was found"]);
}
