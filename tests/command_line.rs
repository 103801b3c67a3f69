//! Help, completions and the manual page.

mod support;

use std::fs::File;
use std::process::Command;

use support::command::assert_status;
use support::tiny::assert_says;
use support::{scratch, stripe, text};

#[test]
fn help_begins_with_examples_that_can_be_parsed() {
    for words in [&["--help"][..], &["run", "--help"], &["trace", "-h"], &["replay", "-h"], &["doctor", "-h"]]
    {
        let output = stripe().args(words).output().expect("started");
        assert_status(&output, 0);
        let help = text(&output.stdout);
        assert!(help.starts_with("Examples:\n"), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
    let nothing = stripe().output().expect("started");
    assert_status(&nothing, 2);
    assert_says(&text(&nothing.stderr), &["Examples:", "Usage: stripe", "Commands:"]);
}

#[test]
fn help_names_every_exit_status_of_run() {
    let help = text(&stripe().args(["run", "--help"]).output().expect("started").stdout);
    let table = help.split("Exit status:").nth(1).expect("a table");
    for status in ["0", "1", "2", "3", "4", "5", "6", "70", "130"] {
        assert!(table.split_whitespace().any(|word| word == status), "{status} is missing: {table}");
    }
}

#[test]
fn completions_and_the_manual_page_know_the_options() {
    for shell in ["bash", "zsh", "fish"] {
        let output = stripe().args(["completions", shell]).output().expect("started");
        assert_status(&output, 0);
        assert_says(&text(&output.stdout), &["expect-output", "granularity", "doctor"]);
    }
    let output = stripe().arg("man").output().expect("started");
    assert_status(&output, 0);
    let page = text(&output.stdout);
    assert_says(&page, &[".TH stripe 1", "stripe demo", ".SS EXIT", ".SH \"STRIPE RUN\""]);
    assert_says(&page.replace('\\', ""), &["--expect-output", "--max-tests", "--keep", "--emit"]);
}

#[test]
fn the_bash_completion_is_a_script_that_bash_can_read() {
    let script = scratch("completion").join("stripe.bash");
    let file = File::create(&script).expect("a file");
    assert!(stripe().args(["completions", "bash"]).stdout(file).status().expect("started").success());
    assert!(Command::new("bash").arg("-n").arg(&script).status().expect("bash").success());
}
