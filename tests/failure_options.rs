//! What shows the failure: each option about it decides.

mod support;

use std::collections::BTreeSet;
use std::process::Command;

use support::command::{assert_status, events, kept, sample_in, sample_with};
use support::tiny::{assert_says, file, message, message_with_diff, tiny};
use support::{Fixture, GCC, Program, sample, scratch, stripe, text};

/// An option with a case that holds (exit status 0) and one that does not.
struct Case {
    option: &'static str,
    fixture: &'static str,
    holds: &'static [&'static str],
    fails: &'static [&'static str],
}

const CASES: [Case; 11] = [
    Case {
        option: "--expect-output",
        fixture: "exit_status",
        holds: &["--expect-output", "output"],
        fails: &["--expect-output", "errors"],
    },
    Case {
        option: "--expect-stderr",
        fixture: "exit_status",
        holds: &["--expect-stderr", "errors"],
        fails: &["--expect-stderr", "output"],
    },
    Case {
        option: "--expect-exit",
        fixture: "exit_status",
        holds: &["--expect-exit", "3"],
        fails: &["--expect-exit", "0"],
    },
    Case {
        option: "--expect-signal",
        fixture: "crash_null",
        holds: &["--expect-signal", "SEGV"],
        fails: &["--expect-signal", "ABRT"],
    },
    Case {
        option: "--expect-match",
        fixture: "exit_status",
        holds: &["--expect-match", "^3 errors", "--expect-match", "(?m)lines$"],
        fails: &["--expect-match", "^3 errors", "--expect-match", "^lines"],
    },
    Case {
        option: "--reject-match",
        fixture: "exit_status",
        holds: &["--reject-match", "^0", "--expect-match", "lines"],
        fails: &["--reject-match", "^0", "--reject-match", "lines"],
    },
    Case {
        option: "--expect-stderr-match",
        fixture: "exit_status",
        holds: &["--expect-stderr-match", "^error in line 4$"],
        fails: &["--expect-stderr-match", "^error", "--expect-stderr-match", "fatal"],
    },
    Case {
        option: "--reject-stderr-match",
        fixture: "exit_status",
        holds: &["--reject-stderr-match", "fatal", "--expect-exit", "3"],
        fails: &["--reject-stderr-match", "^warning"],
    },
    Case {
        option: "--only-lines",
        fixture: "exit_status",
        holds: &["--expect-output", "longer", "--only-lines", "errors"],
        fails: &["--expect-output", "longer", "--only-lines", "."],
    },
    Case {
        option: "--check",
        fixture: "exit_status",
        holds: &["--check", "grep -q '^3' && [ $STRIPE_EXIT = 3 ] && cmp -s errors $STRIPE_STDERR"],
        fails: &["--check", "! cmp -s output $STRIPE_STDOUT"],
    },
    Case {
        option: "--reference",
        fixture: "exit_status",
        holds: &["--reference", "errors"],
        fails: &["--reference", "output"],
    },
];

#[test]
fn every_option_about_the_failure_decides() {
    for case in &CASES {
        let original = Fixture::named(case.fixture).build(GCC);
        let program = Program { directory: scratch(case.option), ..original };
        let run = Command::new(&program.path).output().expect("started");
        file(&program, "output", &run.stdout);
        file(&program, "errors", &run.stderr);
        file(&program, "longer", [b"a line before\n", &run.stdout[..]].concat());
        let slice = program.slice(case.holds, 0);
        assert!(kept(&slice) > 0, "{}: {slice}", case.option);
        message_with_diff(&program.stripe("run", case.fails), 3);
    }
}

#[test]
fn every_option_about_the_failure_that_help_names_has_a_case() {
    let help = text(&stripe().args(["run", "--help"]).output().expect("started").stdout);
    let group = help.lines().skip_while(|line| !line.starts_with("The failure")).skip(1);
    let group = group.take_while(|line| line.is_empty() || line.starts_with(' '));
    let options: BTreeSet<&str> = group
        .filter_map(|line| line.trim().split(' ').next().filter(|word| word.starts_with("--")))
        .collect();
    // What never ends has tests of its own: tests/endless.rs.
    let cases = CASES.iter().map(|case| case.option).chain(["--expect-timeout"]);
    assert_eq!(options, cases.collect());
}

#[test]
fn only_lines_alone_compares_with_the_recorded_run() {
    let slice = sample(GCC, "").slice(&["--only-lines", "^mul", "--control", "trace"], 0);
    assert_eq!(events(&slice).len(), 3, "{slice}");
    assert_says(slice["criterion"].as_str().expect("text"), &["lines of output that match `^mul`"]);
}

#[test]
fn a_reference_makes_the_first_wrong_line_the_failure() {
    let program = sample_with("reference", &[("good", "a? b? sum = 15\nmul = 120\n")]);
    let slice = program.slice(&["--reference", "good", "--control", "trace"], 0);
    assert_eq!(events(&slice).len(), 3, "{slice}");
    assert_says(slice["criterion"].as_str().expect("text"), &["`mul = 0`", "line 2"]);
}

#[test]
fn a_check_judges_by_its_exit_status() {
    let program = sample_in("check");
    let check = |script: &str| program.stripe("run", &["-q", "--control", "trace", "--check", script]);
    assert_status(&check("grep -q 'mul = 0'"), 0);
    for (status, told) in [(1, "exited with 1"), (124, "exited with 124"), (125, "exited with 125")] {
        let output = check(&format!("exit {status}"));
        assert_says(&message(&output, 3), &["the check", told]);
    }
    for status in [126, 127, 200] {
        assert_says(&message(&check(&format!("exit {status}")), 1), &["failed: exit status", "let it exit"]);
    }
    // Judged not by what the runs print, but by which of them the check is asked about.
    let unsure = program.slice(&["--check", "grep -q 'sum = 15' || exit 125"], 0);
    assert_eq!(unsure["tests"]["not_reproduced"], 0);
    assert!(unsure["tests"]["unresolved"].as_u64() > Some(0));
}

#[test]
fn output_is_compared_byte_for_byte() {
    let source =
        "#include <stdio.h>\nint main(void) { fwrite(\"a\\0b\\r\\n\\xff\", 1, 6, stdout);\nreturn 0;\n}\n";
    let program = tiny("binary", source);
    file(&program, "same", b"a\0b\r\n\xff");
    file(&program, "newline", b"a\0b\r\n\xff\n");
    file(&program, "line-end", b"a\0b\n\xff");
    file(&program, "byte", b"a\0b\r\n\xfe");
    file(&program, "empty", b"");
    program.slice(&["--expect-output", "same"], 0);
    for (other, difference) in [
        ("newline", "differs in its last newline"),
        ("line-end", r"`a\u{0}b\r` instead of `a\u{0}b`"),
        ("byte", r"`\xff` instead of `\xfe`"),
        ("empty", "a further line 1"),
    ] {
        let told = program.stripe("run", &["--expect-output", other]);
        assert_says(&message_with_diff(&told, 3)[0], &[difference]);
    }
}

#[test]
fn a_time_limit_ends_runs_that_wait_for_ever() {
    let slice = Fixture::named("endless_wait").build(GCC).slice(&["--timeout", "200ms"], 0);
    assert!(slice["tests"]["unresolved"].as_u64() > Some(0), "{slice}");
}
