//! `stripe run --workers`: tests made elsewhere give the result of one process, whoever is lost on the way.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use support::command::{assert_status, sample_in};
use support::tiny::assert_says;
use support::{Program, scratch, stripe, text};

/// A search without what differs between any two of them: how many replays were made beside each other, and the time.
fn search(program: &Program, options: &[&str]) -> (Output, Value) {
    let mut command = stripe();
    command.args(["run", &program.path.display().to_string(), "--stdin"]).arg(&program.stdin);
    command.args(["--each-line", "--no-save", "--format", "json"]).args(options);
    let output = command
        .current_dir(&program.directory)
        .env("XDG_CACHE_HOME", program.directory.join("cache"))
        .output()
        .expect("stripe starts");
    let mut document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    for criterion in document["criteria"].as_array_mut().into_iter().flatten() {
        criterion["slice"]["seconds"] = Value::Null;
        criterion["slice"]["tests"]["runs"] = Value::Null;
    }
    (output, document)
}

/// A launcher: a script that is started with the worker's command.
fn launcher(program: &Program, name: &str, script: &str) -> String {
    let file = program.directory.join(name);
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("executable");
    file.display().to_string()
}

#[test]
fn workers_find_what_one_process_finds_and_are_handed_each_file_once() {
    let program = sample_in("workers");
    let (output, alone) = search(&program, &["-j", "1", "-q"]);
    assert_status(&output, 0);
    // What a login shell greets with is no answer.
    let greeting = launcher(&program, "greet", "echo Welcome; exec \"$@\"");
    let (output, by_workers) = search(&program, &["--workers", "3", "--launcher", &greeting]);
    assert_status(&output, 0);
    assert_says(&text(&output.stderr), &["3 workers are ready, runs are"]);
    assert_eq!(by_workers, alone);
    let counting = launcher(&program, "count", "tee asked | \"$@\"");
    search(&program, &["--workers", "1", "--launcher", &counting, "-q"]);
    let asked = fs::read_to_string(program.directory.join("asked")).expect("the worker's lines");
    // The program lies where it lay, and the trace and the input are known: only what tells of this run is new.
    assert_eq!(asked.matches("\"ask\":\"file\"").count(), 1, "{asked}");
}

#[test]
fn the_tests_of_a_lost_worker_are_made_by_others() {
    let program = sample_in("lost-workers");
    let (_, alone) = search(&program, &["-j", "1", "-q"]);
    // Whoever comes first is gone after some tests.
    let script = "if mkdir first 2>/dev/null; then sed -u 20q | \"$@\"; echo down >&2; else exec \"$@\"; fi";
    let one_dies = launcher(&program, "one-dies", script);
    let (output, by_workers) = search(&program, &["--workers", "2", "--launcher", &one_dies]);
    assert_status(&output, 0);
    assert_eq!(by_workers, alone);
    assert_says(&text(&output.stderr), &["is lost: it has", "others have made its tests"]);
    let all_die = launcher(&program, "all-die", "sed -u 20q | \"$@\"");
    let (output, _) = search(&program, &["--workers", "2", "--launcher", &all_die, "-q"]);
    assert_status(&output, 1);
    assert_says(&text(&output.stderr), &["is lost: it has", "no worker is left: start it again"]);
}

/// A program with a library of its own.
fn with_library(name: &str) -> Program {
    let directory = scratch(name);
    for (file, content) in [
        ("lib.c", "int two(void) { return 2; }\n"),
        ("other.c", "int two(void) { return 1 + 1; }\nint three;\n"),
        (
            "main.c",
            "#include <stdio.h>\nint two(void);\nint main(void) {\n  int n = two();\n  printf(\"%d\\n\", n);\n}\n",
        ),
    ] {
        fs::write(directory.join(file), content).expect("written");
    }
    let build = "cc -shared -fPIC -o libtwo.so lib.c && cc -shared -fPIC -o other.so other.c && \
                 cc -g -O0 -o prog main.c ./libtwo.so";
    let status = Command::new("sh").args(["-c", build]).current_dir(&directory).status().expect("a shell");
    assert!(status.success());
    fs::write(directory.join("empty"), "").expect("written");
    let (path, stdin) = (directory.join("prog"), directory.join("empty"));
    Program { path, directory, stdin, arguments: Vec::new() }
}

#[test]
fn a_worker_with_another_library_or_another_stripe_is_refused_with_the_difference() {
    let program = with_library("refused-workers");
    // From the first line on: what comes before belongs to the recording.
    let swapped =
        launcher(&program, "swap", "read line; cp other.so libtwo.so; { echo \"$line\"; cat; } | \"$@\"");
    let (output, _) = search(&program, &["--workers", "1", "--launcher", &swapped]);
    assert_status(&output, 1);
    assert_says(
        &text(&output.stderr),
        &["worker 1 is refused: ", "libtwo.so has another content: take machines of one kind"],
    );
    let older =
        launcher(&program, "older", "sed -u 's/\"version\":\"[^\"]*\"/\"version\":\"0.0.1\"/' | \"$@\"");
    let (output, _) = search(&program, &["--workers", "1", "--launcher", &older]);
    assert_says(&text(&output.stderr), &["the search is made by 0.0.1: install the same"]);
    let (output, _) = search(&program, &["--workers", "2", "--launcher", "no-such-launcher"]);
    assert_status(&output, 1);
    assert_says(
        &text(&output.stderr),
        &["worker 1 is lost: it has", "no-such-launcher: not found", "there is no worker"],
    );
}

#[test]
fn a_search_that_was_ended_goes_on_with_workers() {
    let program = sample_in("workers-go-on");
    let run = |words: &[&str]| {
        let mut command = stripe();
        command.args(words).current_dir(&program.directory);
        command.env("XDG_CACHE_HOME", program.directory.join("cache")).output().expect("stripe starts")
    };
    let executable = program.path.display().to_string();
    let stdin: PathBuf = program.stdin.clone();
    let first = ["run", &executable, "--stdin", &stdin.display().to_string(), "--max-tests", "30", "-q"];
    assert_status(&run(&first), 5);
    let on = run(&["reduce", "--workers", "2", "--max-tests", "100000", "--format", "json"]);
    assert_status(&on, 0);
    assert_says(&text(&on.stderr), &["2 workers are ready", "going on with run 1 after 30 tests"]);
    let (whole, at_once): (Value, Value) = (
        serde_json::from_slice(&on.stdout).expect("JSON"),
        serde_json::from_slice(
            &run(&["run", &executable, "--stdin", &stdin.display().to_string(), "-q", "--format", "json"])
                .stdout,
        )
        .expect("JSON"),
    );
    assert_eq!(whole["slice"], at_once["slice"]);
    assert!(whole["slice"].is_array());
}
