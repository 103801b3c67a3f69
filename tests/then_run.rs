//! `stripe simplify --then-run`: from a failing input to the critical slice with what is left of it.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Output, Stdio};

use serde_json::Value;
use support::tiny::{assert_says, file, message, tiny};
use support::{Program, stripe, text};

/// Crashes in line 6 if there are two brackets, and fails with a message in line 7 if there is a sign of exclamation.
const BOTH: &str = "#include <stdio.h>\n#include <string.h>\nint main(int argc, char **argv) {\n    static char t[4096]; \
    FILE *f = argc > 1 ? fopen(argv[1], \"r\") : stdin;\n    t[fread(t, 1, sizeof t - 1, f)] = 0; int unused = argc * 2;\n    \
    char *p = strchr(t, '['); if (p && strchr(p + 1, '[')) *(int *)0 = 1;\n    \
    p = strchr(t, '!'); if (p) { fprintf(stderr, \"error: at %d\\n\", (int)(p - t)); return 3; }\n    return 0;\n}\n";

fn then_run(program: &Program, words: &[&str]) -> Output {
    let mut command = stripe();
    command.args(["simplify", "--then-run"]).args(words).current_dir(&program.directory);
    command.stdin(Stdio::null()).output().expect("stripe starts")
}

#[test]
fn the_crash_that_is_left_is_traced_as_by_the_line_that_is_printed() {
    let program = tiny("then-crash", BOTH);
    file(&program, "in.txt", "some [text [with] brackets] and words");
    let name = program.path.display().to_string();
    let output = then_run(&program, &[&name, "--stdin", "in.txt"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let out = text(&output.stdout);
    let line = format!("$ stripe run {name} --stdin in.min.txt --expect-signal SIGSEGV\n");
    assert_says(
        &out,
        &["standard input: 2 characters of 37", &line, "1-minimal", "SIGSEGV at then-crash.c:6"],
    );
    // The line does the same by itself.
    let mut again = stripe();
    again.args([
        "run",
        &name,
        "--stdin",
        "in.min.txt",
        "--expect-signal",
        "SIGSEGV",
        "--format",
        "json",
        "-q",
    ]);
    let again = again.current_dir(&program.directory).stdin(Stdio::null()).output().expect("stripe starts");
    let both = then_run(&program, &[&name, "--stdin", "in.txt", "--format", "json", "-q"]);
    let documents = serde_json::Deserializer::from_slice(&both.stdout).into_iter::<Value>();
    let documents: Vec<Value> = documents.map(|document| document.expect("a document")).collect();
    assert_eq!(documents.len(), 2);
    assert_eq!(
        (&documents[0]["schema"], &documents[1]["schema"]),
        (&"stripe.input/1".into(), &"stripe.slice/1".into())
    );
    let alone: Value = serde_json::from_slice(&again.stdout).expect("a document");
    let is_needed = documents[1]["needed"].as_str().is_some_and(|needed| !needed.is_empty());
    assert!(is_needed && documents[1]["needed"] == alone["needed"], "{}", text(&again.stderr));
    // Each is kept: two simplifications, and three searches for a slice.
    let mut runs = stripe();
    let runs = runs.arg("runs").current_dir(&program.directory).output().expect("stripe starts");
    assert_eq!(text(&runs.stdout).matches("minimal").count(), 5, "{}", text(&runs.stdout));
}

#[test]
fn a_message_and_a_file_that_an_argument_names_go_into_the_line() {
    let program = tiny("then-message", BOTH);
    file(&program, "oops.txt", "oops! here");
    let name = program.path.display().to_string();
    let output = then_run(&program, &[&name, "--file", "oops.txt", "--", "./oops.txt"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let out = text(&output.stdout);
    assert_says(&out, &["--expect-exit 3", "'error: at [0-9a-fA-Fx]+'", "-- oops.min.txt\n", "1-minimal"]);
    assert_eq!(fs::read(program.directory.join("oops.min.txt")).expect("written"), b"!");
}

#[test]
fn what_cannot_be_traced_ends_as_the_simplification() {
    let program = tiny("then-nothing", BOTH);
    let script = file(&program, "script", "#!/bin/sh\ngrep -q x || exit 0\necho error >&2\nexit 1\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("changed");
    file(&program, "in.txt", "axb[[");
    let output = then_run(&program, &["./script", "--stdin", "in.txt"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_says(&text(&output.stderr), &["no critical slice: ", "script for `/bin/sh`"]);
    assert!(!text(&output.stdout).contains("stripe run"), "{}", text(&output.stdout));
    let name = program.path.display().to_string();
    // Where nothing is needed, there is nothing to go on with.
    let mut trivial = stripe();
    trivial.args([
        "simplify",
        "--then-run",
        "-q",
        "--file",
        "in.txt",
        "--expect-crash",
        "any",
        "sh",
        "--",
        "-c",
    ]);
    trivial
        .arg(format!("{name} <in.txt; kill -SEGV $$"))
        .current_dir(&program.directory)
        .stdin(Stdio::null());
    assert_eq!(trivial.output().expect("stripe starts").status.code(), Some(6));
    let alone = then_run(&program, &["--file", "in.txt", "--check", "grep -q x in.txt"]);
    assert_says(&message(&alone, 2), &["--then-run", "the check alone"]);
    let differs = then_run(&program, &[&name, "--stdin", "in.txt", "--differs-from", "cat"]);
    assert_says(&message(&differs, 2), &["--differs-from"]);
}
