//! What is written for people fits into 80 columns, and needs neither colours nor UTF-8.
//!
//! Messages on standard error are one line each, however long, so that they can be looked for; and `stripe runs`
//! cuts its rows on a terminal only.

mod support;

use std::process::Output;

use support::{CLANG, Fixture, GCC, Program, sample, scratch, stripe, text};

fn assert_fits(command: &[&str], locale: &str, written: &str) {
    for line in written.lines() {
        assert!(line.chars().count() <= 80, "{command:?}: {line}");
        assert!(!line.contains('\x1b'), "{command:?}: {line}");
        assert!(locale == "C.UTF-8" || line.is_ascii(), "{command:?}: {line}");
    }
}

/// What a command writes in a folder, under both locales.
fn written(program: &Program, command: &[&str]) -> Vec<(&'static str, Output)> {
    ["C.UTF-8", "C"]
        .map(|locale| {
            let mut stripe = stripe();
            stripe.args(command).env("LC_ALL", locale).current_dir(&program.directory);
            (locale, stripe.output().expect("started"))
        })
        .into()
}

#[test]
fn every_subcommand_and_every_help_text_fits_80_columns_without_utf_8() {
    let sample = Program { directory: scratch("widths"), ..sample(GCC, "") };
    let (path, stdin) = (&*sample.path.to_string_lossy(), &*sample.stdin.to_string_lossy());
    let target = [path, "--stdin", stdin];
    let run = [&["run"], &target[..]].concat();
    let criteria = ["--criterion", "sum=^sum", "--criterion", "mul=^mul"];
    let commands = [
        run.clone(),
        [&run[..], &["-v", "--no-save"]].concat(),
        [&run[..], &["--max-tests", "9"]].concat(),
        [&run[..], &criteria].concat(),
        [&run[..], &["--each-line", "--control", "program"]].concat(),
        vec!["report"],
        vec!["report", "1"],
        vec!["reduce"],
        vec!["doctor"],
        [&["trace"], &target[..]].concat(),
        [&["trace"], &target[..], &["--format", "compact"]].concat(),
        [&["replay"], &target[..], &["--omit", "8-12"]].concat(),
    ];
    for command in commands {
        for (locale, output) in written(&sample, &command) {
            assert_fits(&command, locale, &text(&output.stdout));
            assert!(!text(&output.stderr).contains('\x1b'), "{command:?}");
        }
    }
    let subcommands =
        ["run", "reduce", "report", "runs", "trace", "replay", "demo", "doctor", "completions", "man"];
    for subcommand in subcommands {
        for option in ["-h", "--help"] {
            let command = [subcommand, option];
            written(&sample, &command).iter().for_each(|(locale, output)| {
                assert_fits(&command, locale, &text(&output.stdout));
            });
        }
    }
    for command in [&["--help"][..], &["help"], &["-h"]] {
        written(&sample, command).iter().for_each(|(locale, output)| {
            assert_fits(command, locale, &text(&output.stdout));
        });
    }
}

#[test]
fn slices_of_all_languages_fit_80_columns_without_utf_8() {
    for (name, build) in
        [("containers", GCC), ("trait_objects", GCC), ("mutual_recursion", CLANG), ("crash_null", GCC)]
    {
        let program = Fixture::named(name).build(build);
        let path = &*program.path.to_string_lossy();
        for command in [&["run", path, "--no-save"][..], &["trace", path], &["doctor", path]] {
            for (locale, output) in written(&program, command) {
                assert!(!output.stdout.is_empty(), "{}", text(&output.stderr));
                // A path of the test's own stands in it.
                let told = text(&output.stdout).replace(&*program.path.to_string_lossy(), "./program");
                assert_fits(command, locale, &told);
            }
        }
    }
}

#[test]
fn the_demo_explains_itself_without_utf_8() {
    let folder = scratch("widths-demo");
    let output =
        stripe().args(["demo", "d"]).env("LC_ALL", "C").current_dir(&folder).output().expect("started");
    let told = text(&output.stdout);
    // Commands are there to be copied.
    let read = told.lines().filter(|line| !line.starts_with("$ ")).collect::<Vec<_>>().join("\n");
    assert_fits(&["demo"], "C", &read);
    assert!(read.contains("is marked o."), "{read}");
}
