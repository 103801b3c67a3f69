//! What is printed, and files that are written.

mod support;

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;
use serde_json::Value;
use support::command::{BOTH, assert_status, sample_in, sample_with, slow_run, status, string};
use support::tiny::{assert_says, message};
use support::{Fixture, GCC, sample, scratch, stripe, text};

#[test]
fn verbose_prints_a_line_of_bullets_for_each_test() {
    let output = sample(GCC, "").stripe("run", &["-v", "--format", "json", "--control", "trace"]);
    assert_status(&output, 0);
    let slice: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let told = text(&output.stderr);
    let rows: Vec<Vec<&str>> =
        told.lines().map(|line| line.splitn(3, "  ").map(str::trim).collect()).collect();
    assert_eq!(rows.len() as u64, slice["tests"]["total"], "{told}");
    let mut reproduced = 0;
    for (number, line) in told.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[0], (number + 1).to_string(), "{line}");
        assert_eq!(words[1].chars().count(), 34, "{line}");
        assert!(words[1].chars().all(|c| "●·".contains(c)), "{line}");
        let outcome = words[2..].join(" ");
        assert!(["reproduced", "not reproduced", "unresolved"].contains(&&outcome[..]), "{line}");
        reproduced += u64::from(outcome == "reproduced");
    }
    assert_eq!(slice["tests"]["reproduced"], reproduced);
}

#[test]
fn quiet_prints_nothing_but_the_result() {
    let output = sample(GCC, "").stripe("run", &["-q"]);
    assert_status(&output, 0);
    assert_eq!(text(&output.stderr), "");
    assert!(!output.stdout.is_empty());
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn words(words: &str) -> BTreeSet<&str> {
    words.split_whitespace().collect()
}

#[test]
fn the_values_in_json_have_exactly_the_documented_keys() {
    let slice = sample(GCC, "").slice(&[&BOTH[..], &["--values"]].concat(), 0);
    for needed in slice["slice"].as_array().expect("events") {
        let values = &needed["values"];
        assert_eq!(keys(values), words("told reads writes fed_by"));
        for (list, of_each) in
            [("reads", "name value"), ("writes", "name before after"), ("fed_by", "event name")]
        {
            for one in values[list].as_array().expect("a list") {
                assert_eq!(keys(one), words(of_each), "{list}");
            }
        }
    }
}

#[test]
fn json_has_exactly_the_documented_keys() {
    let program = sample(GCC, "");
    let slice = program.slice(&[&BOTH[..], &["--no-values"]].concat(), 0);
    let top = "schema version command program criterion control granularity algorithm engine engine_reason containment \
               containment_reason status level effects_tried events tests seconds slice slice_omitted needed lines warnings by_products";
    assert_eq!(keys(&slice), words(top));
    assert_eq!(keys(&slice["program"]), words("path build_id"));
    assert_eq!(keys(&slice["events"]), words("recorded omittable kept kept_for_effect"));
    let tests = &slice["tests"];
    assert_eq!(keys(tests), words("total reproduced not_reproduced unresolved cached runs"));
    let event = "event file line column function occurrence time needed without values";
    for needed in slice["slice"].as_array().expect("events") {
        assert_eq!(keys(needed), words(event));
        assert_eq!(keys(&needed["without"]), words("outcome why"));
        assert_eq!(needed["values"], Value::Null);
        assert!(["effect", "decision"].contains(&needed["needed"].as_str().expect("text")));
        assert_eq!(needed["event"], needed["time"]);
        assert!(
            ["not_reproduced", "unresolved"].contains(&needed["without"]["outcome"].as_str().expect("text"))
        );
    }
    for line in slice["lines"].as_array().expect("lines") {
        assert_eq!(keys(line), words("file line executed needed needed_for_effect fixed"));
    }
    assert_eq!(slice["schema"], "stripe.slice/1");
    assert_eq!([&slice["engine"], &slice["engine_reason"]], [&Value::from("jump"), &Value::Null]);
    assert_eq!(slice["events"]["recorded"], 36);
    assert_eq!(slice["events"]["omittable"], 34);
    let count = |key: &str| tests[key].as_u64().expect("a number");
    assert_eq!(count("total"), count("reproduced") + count("not_reproduced") + count("unresolved"));
    assert!(count("runs") >= count("total"));
    let trace = program.events(&[]);
    for needed in slice["slice"].as_array().expect("events") {
        let event = &trace[usize::try_from(needed["event"].as_u64().expect("a number")).expect("small") - 1];
        for key in ["event", "file", "line", "column", "function", "occurrence", "time"] {
            assert_eq!(event[key], needed[key], "{key}");
        }
        assert_eq!(event["omittable"], true);
    }
}

fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let files = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    // What stripe keeps of its runs is for the tests of that.
    files.filter(|file| !file.ends_with(".stripe")).collect()
}

#[test]
fn results_can_be_written_to_files_as_well() {
    let program = sample_in("emit");
    let emit =
        ["--emit", "json=s.json", "--emit", "text=s.txt", "--emit", "trace=t.json", "--color", "always"];
    let output = program.stripe("run", &[&emit[..], &["-q"]].concat());
    assert_status(&output, 0);
    let read = |name: &str| fs::read(program.directory.join(name)).expect("a file");
    let slice: Value = serde_json::from_slice(&read("s.json")).expect("JSON");
    assert_eq!(slice["schema"], "stripe.slice/1");
    let trace: Value = serde_json::from_slice(&read("t.json")).expect("JSON");
    assert_eq!(trace["events"].as_array().expect("events").len(), 36);
    let (shown, written) = (text(&output.stdout), text(&read("s.txt")));
    assert!(shown.contains('\x1b') && !written.contains('\x1b'), "files have no colours");
    assert_says(&written, &["sum-mul.c: main", "1-minimal"]);
    assert_eq!(files(&program.directory).len(), 3);
}

#[test]
fn no_file_is_overwritten_unless_the_user_says_so() {
    let program = sample_with("force", &[("s.json", "precious")]);
    let emit = ["--emit", "json=s.json", "-q", "--max-tests", "3"];
    assert_says(&message(&program.stripe("run", &emit), 2), &["s.json: exists", "--force"]);
    let file = program.directory.join("s.json");
    assert_eq!(fs::read(&file).expect("readable"), b"precious");
    assert_status(&program.stripe("run", &[&emit[..], &["--force"]].concat()), 5);
    assert!(fs::read(&file).expect("readable").starts_with(b"{"));
    let own = format!("json={}", program.path.display());
    assert_says(
        &message(&program.stripe("run", &["--emit", &own, "--force"]), 2),
        &["is the program itself"],
    );
    let told = message(&program.stripe("run", &["--out", string(&program.path), "--force"]), 2);
    assert_says(&told, &["sum-mul: File exists", "another folder with --out"]);
    let twice = ["--emit", "json=a", "--emit", "text=./a"];
    assert_says(&message(&program.stripe("run", &twice), 2), &["a: is given twice"]);
    let twice = ["--emit", "json=b", "--emit", "text=b"];
    assert_says(&message(&program.stripe("run", &twice), 2), &["b: is given twice"]);
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_any_work_and_leaves_nothing() {
    let program = sample_in("unwritable");
    for (file, reason) in [("nowhere/s.json", "not found"), (".", "director")] {
        let told = message(&program.stripe("run", &["--emit", &format!("json={file}")]), 2);
        assert_says(&told.to_lowercase(), &[file, reason, "give --emit another file"]);
    }
    assert_eq!(files(&program.directory), BTreeSet::new());
}

#[test]
fn a_pipe_is_written_to_and_not_replaced() {
    let program = sample_in("pipe");
    let pipe = program.directory.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("started").success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).expect("readable")
    });
    assert_status(&program.stripe("run", &["--emit", "json=pipe", "-q", "--max-tests", "3"]), 5);
    assert!(reader.join().expect("no panic").starts_with('{'));
    let kind = fs::symlink_metadata(&pipe).expect("still there").file_type();
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(&kind));
}

#[test]
fn an_interrupted_run_writes_its_files_too() {
    let started = [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGHUP, 129)].map(|ending| {
        let program = sample_in(&format!("interrupted-emit-{}", ending.1));
        let group = slow_run(&program, &["--emit", "json=s.json"]);
        assert!(!program.directory.join("s.json").exists());
        (program, group, ending)
    });
    for (program, group, (signal, expected)) in started {
        group.signal_all(signal);
        assert_status(&group.end(), expected);
        let written = fs::read(program.directory.join("s.json")).expect("a file");
        let slice: Value = serde_json::from_slice(&written).expect("JSON");
        assert_eq!(slice["status"], "interrupted");
        let mut report = stripe();
        report.args(["report", "--format", "json"]).current_dir(&program.directory);
        let kept: Value = serde_json::from_slice(&report.output().expect("started").stdout).expect("JSON");
        assert_eq!(kept["slice"], slice["slice"], "{signal}");
    }
}

/// What prints, and its arguments; the demo has a folder of this name.
fn printing(name: &str) -> Vec<Vec<String>> {
    let program = sample(GCC, "");
    let (path, stdin) = (string(&program.path), string(&program.stdin));
    let demo = scratch(name);
    let lines = [
        vec!["run", path, "--stdin", stdin, "-q", "--max-tests", "5"],
        vec!["run", path, "--stdin", stdin, "-q", "--max-tests", "5", "--format", "json"],
        vec!["trace", path, "--stdin", stdin],
        vec!["trace", path, "--stdin", stdin, "--format", "compact"],
        vec!["trace", path, "--stdin", stdin, "--format", "json"],
        vec!["replay", path, "--stdin", stdin],
        vec!["doctor"],
        vec!["doctor", path],
        vec!["demo", string(&demo)],
        vec!["completions", "bash"],
        vec!["man"],
        vec!["--help"],
        vec!["run", "-h"],
        vec!["--version"],
    ];
    lines.into_iter().map(|line| line.into_iter().map(str::to_owned).collect()).collect()
}

#[test]
fn a_full_standard_output_is_told_and_ends_with_1() {
    for line in printing("demo_full") {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let output = stripe().args(&line).stdout(full).output().expect("started");
        let told = message(&output, 1);
        assert_says(&told, &["standard output: No space left", "make room, or write elsewhere"]);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for line in printing("demo_unread") {
        let mut child =
            stripe().args(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("ended");
        let told = text(&output.stderr);
        let budget = line.iter().any(|word| word == "--max-tests");
        assert_eq!(status(&output), Some(if budget { 5 } else { 0 }), "{line:?}: {told}");
        assert!(!told.contains("panicked") && !told.contains("standard output"), "{line:?}: {told}");
    }
}

#[test]
fn a_reader_may_stop_in_the_middle_of_a_long_trace() {
    let program = Fixture::named("deep_recursion").build(GCC);
    let mut child = stripe()
        .arg("trace")
        .arg(&program.path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut first = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut first).expect("readable");
    assert!(!first.is_empty());
    let output = child.wait_with_output().expect("ended");
    assert_status(&output, 0);
    assert_eq!(text(&output.stderr), "");
}
