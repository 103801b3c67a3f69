//! Each way in which stripe ends has its exit status.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;
use support::command::{BOTH, OUTPUT, assert_status, events, kept, sample_in, sample_with};
use support::tiny::{assert_says, message, message_with_diff};
use support::{Fixture, GCC, sample, stripe, text};

#[test]
fn a_finished_reduction_ends_with_0() {
    let output = sample(GCC, "").stripe("run", &[&BOTH[..], &["-q"]].concat());
    assert_status(&output, 0);
    assert_says(&text(&output.stdout), &["1-minimal", "sum-mul.c: main", "●", "○"]);
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn an_operational_error_ends_with_1() {
    let told = message(&sample(GCC, "").stripe("run", &["--check", "exit 126"]), 1);
    assert_says(&told, &["the check `exit 126` failed", "exit status 126", "0 (reproduced)"]);
    let killed = message(&sample(GCC, "").stripe("run", &["--check", "kill -9 $$"]), 1);
    assert_says(&killed, &["SIGKILL", "let it exit with 0"]);
}

#[test]
fn a_command_line_that_cannot_be_used_ends_with_2() {
    let program = sample_with("usage", &[("out.txt", OUTPUT)]);
    let cases: [(&[&str], &[&str]); 23] = [
        (&["--bogus"], &["'--bogus'", "`stripe run --help`"]),
        (&["word"], &["'word'", "after --"]),
        (&["--timeout", "-1"], &["'-1'", "--timeout", "more than nothing"]),
        (&["--timeout", "1180591620717411303424"], &["--timeout", "at most a year"]),
        (&["--timeout", "NaN"], &["'NaN'", "ms, s, m or h"]),
        (&["--timeout", "soon"], &["'soon'", "--timeout"]),
        (&["--max-time", "1180591620717411303424"], &["--max-time", "at most a year"]),
        (&["--max-time", "5 parsecs"], &["ms, s, m or h"]),
        (&["--max-tests", "many"], &["'many'", "--max-tests"]),
        (&["--max-tests", "-1"], &["'-1'", "--max-tests"]),
        (&["-j", "0"], &["'0'", "--jobs"]),
        (&["--expect-exit", "256"], &["256", "--expect-exit"]),
        (&["--expect-signal", "NONSENSE"], &["no such signal"]),
        (&["--expect-match", "a("], &["unclosed group"]),
        (&["--control", "loose"], &["'loose'", "both, program, trace"]),
        (&["--cwd", "nowhere"], &["nowhere: No such file", "--cwd"]),
        (&["--cwd", "out.txt"], &["out.txt: is not a directory", "--cwd"]),
        (&["--expect-output", "nowhere"], &["nowhere: No such file", "name a file"]),
        (&["--expect-output", "."], &[".: Is a directory", "name a file"]),
        (&["--env", "NOVALUE"], &["NAME=VALUE"]),
        (&["--emit", "pdf=x"], &["text, json, html", "or gdb"]),
        (&["--engine", "step"], &["--engine step", "stripe trace"]),
        (&["-q", "-v"], &["--quiet", "--verbose"]),
    ];
    for (options, parts) in cases {
        assert_says(&message(&program.stripe("run", options), 2), parts);
    }
    for (verb, parts) in [
        ("run", ["<PROGRAM>", "`stripe run --help`"]),
        ("rum", ["'rum'", "`stripe --help`"]),
        ("completions", ["<SHELL>", "`stripe completions --help`"]),
    ] {
        assert_says(&message(&stripe().arg(verb).output().expect("started"), 2), &parts);
    }
    let output = program.stripe("run", &["--stdin", "again"]);
    assert_says(&message(&output, 2), &["--stdin", "multiple times"]);
}

/// Where root is nobody special either: its rights over the files of others are left behind.
fn without_privileges(command: &Command) -> Command {
    let mut line = Command::new("setpriv");
    if nix::unistd::Uid::effective().is_root() {
        line.arg("--bounding-set=-dac_override,-dac_read_search");
    }
    line.arg("env").arg(command.get_program()).args(command.get_args());
    line
}

#[test]
fn a_file_that_may_not_be_read_is_named_and_ends_with_2() {
    let program = sample_with("unreadable", &[("secret", OUTPUT)]);
    let secret = program.directory.join("secret");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).expect("changed");
    for option in ["--expect-output", "--expect-stderr", "--reference", "--stdin"] {
        let mut command = stripe();
        command.arg("run").arg(&program.path).args([option, "secret"]);
        let output = without_privileges(&command).current_dir(&program.directory).output();
        assert_says(&message(&output.expect("setpriv"), 2), &["secret: Permission denied", "name a file"]);
    }
}

#[test]
fn a_run_that_does_not_show_the_failure_ends_with_3() {
    let output = sample(GCC, "").stripe("run", &["--expect-match", "sum = 16"]);
    message_with_diff(&output, 3);
}

#[test]
fn a_program_that_differs_from_run_to_run_ends_with_4() {
    message(&Fixture::named("asks_urandom").build(GCC).stripe("run", &["--real-random"]), 4);
}

#[test]
fn a_failure_that_a_full_replay_does_not_show_ends_with_4() {
    let program = sample_in("moody");
    // The first judgement is that of the recorded run.
    let check = "if [ -e seen ]; then exit 1; fi; : > seen";
    let told = message(&program.stripe("run", &["-j1", "--check", check]), 4);
    assert_says(&told, &["a full replay", "the check exited with 1", "constant"]);
}

#[test]
fn a_budget_of_tests_ends_with_5_and_is_used_exactly() {
    let program = sample(GCC, "");
    for jobs in ["-j1", "-j2"] {
        for tests in [1, 2, 3, 10, 41] {
            let limit = tests.to_string();
            let slice = program.slice(&[&BOTH[..], &["--max-tests", &limit, jobs]].concat(), 5);
            assert_eq!(slice["tests"]["total"], tests, "{jobs}");
            assert_eq!(slice["status"], "budget");
            assert!(kept(&slice) >= 22, "more than the minimum of {slice}");
        }
    }
    let output = program.stripe("run", &["--max-tests", "10", "-q"]);
    assert_status(&output, 5);
    assert_says(&text(&output.stdout), &["not 1-minimal", "10", "warning: a budget ended the search"]);
}

#[test]
fn a_budget_of_time_ends_with_5_and_the_best_so_far() {
    let slice = sample(GCC, "").slice(&["--max-time", "1ms"], 5);
    assert_eq!(slice["status"], "budget");
    assert!(kept(&slice) > 0);
}

#[test]
fn a_criterion_that_nothing_meets_ends_with_6() {
    assert_eq!(sample(GCC, "").slice(&["--reject-match", "nonsense"], 6)["slice"], Value::Array(Vec::new()));
}

#[test]
fn a_replay_ends_with_0_1_or_125() {
    let program = sample(GCC, "");
    let full = program.stripe("replay", &[]);
    assert_status(&full, 0);
    assert_eq!(
        (&text(&full.stdout)[..], &text(&full.stderr)[..]),
        (OUTPUT, "stripe: reproduced (36 of 36 events executed, fully contained)\n")
    );
    let less = program.stripe("replay", &["--omit", "13"]);
    assert_status(&less, 1);
    assert_says(&text(&less.stderr), &["stripe: not reproduced: output", "35 of 36 events"]);
    let unsure = program.stripe("replay", &["--check", "exit 125"]);
    assert_status(&unsure, 125);
    assert_says(&text(&unsure.stderr), &["stripe: unresolved: the check exited with 125"]);
    let astray = program.stripe("replay", &["--control", "program", "--omit", "15"]);
    assert_status(&astray, 125);
    assert_says(&text(&astray.stderr), &["stripe: unresolved: after ", "sum-mul.c:10"]);
    for (option, events, parts) in [
        ("--omit", "99", ["no event 99", "1 to 36"]),
        ("--keep", "1-99", ["no event 99", "stripe trace"]),
        ("--omit", "9-5", ["`9-5` ends before it begins", "--help"]),
        ("--omit", "0", ["events count from 1", "--help"]),
    ] {
        assert_says(&message(&program.stripe("replay", &[option, events]), 2), &parts);
    }
    let empty = program.stripe("replay", &["--keep", ""]);
    assert_status(&empty, 1);
    assert_eq!(text(&empty.stdout), "");
    let needed = events(&program.slice(&[&BOTH[..], &["--control", "trace"]].concat(), 0));
    let needed = needed.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    assert_status(&program.stripe("replay", &[&BOTH[..], &["--keep", &needed]].concat()), 0);
}
