//! Replace a file of code while a search runs: that ends it with an error, and never with another result.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use support::tiny::message;
use support::{scratch, stripe};

const MAIN: &str = r#"#include <stdio.h>
int library(int);
int main(void) { int sum = 0;
    for (int i = 0; i < 5; i++)
        sum = sum + library(i);
    printf("%d\n", sum);
    return 0;
}
"#;

const LIBRARY: &str = "int library(int i) { return i; }\n";

/// A program with a library beside it, in a folder of its own.
fn build(name: &str) -> std::path::PathBuf {
    let folder = scratch(&format!("changed-{name}"));
    fs::create_dir_all(folder.join("run")).expect("a working directory");
    fs::write(folder.join("program.c"), MAIN).expect("written");
    fs::write(folder.join("library.c"), LIBRARY).expect("written");
    let script = "gcc -g -O0 -shared -fPIC -o liblibrary.so library.c && \
        gcc -g -O0 -o program program.c -L. -llibrary -Wl,-rpath,$PWD && \
        cp program program.new && cp liblibrary.so liblibrary.so.new";
    let built = Command::new("sh").args(["-c", script]).current_dir(&folder).status();
    assert!(built.expect("a shell").success());
    folder
}

/// Searches; this command is run after each test, and judges it to be the failure if the output is the same.
fn search(folder: &Path, engine: &str, command: &str) -> Output {
    let check =
        format!("grep -qx 10 \"$STRIPE_STDOUT\" || exit 1; cd {}; {command}; exit 0", folder.display());
    let mut run = stripe();
    run.arg("run").arg(folder.join("program")).args([
        "--engine",
        engine,
        "-j1",
        "--no-save",
        "-q",
        "--check",
    ]);
    run.arg(check).current_dir(folder.join("run")).output().expect("started")
}

#[test]
fn a_program_or_a_library_that_changes_during_a_search_ends_it() {
    for engine in ["jump", "breakpoint"] {
        let undisturbed = search(&build("undisturbed"), engine, "true");
        assert_eq!(undisturbed.status.code(), Some(0), "{engine}: {undisturbed:?}");
        for (name, command) in [
            ("program", "mv -f program.new program"),
            ("liblibrary.so", "mv -f liblibrary.so.new liblibrary.so"),
            ("liblibrary.so", "cat liblibrary.so.new > liblibrary.so"),
        ] {
            let folder = build(&format!("{engine}-{}", command.split(' ').next().expect("a word")));
            let told = message(&search(&folder, engine, command), 1);
            let expected =
                format!("{} was changed while runs of it were compared", folder.join(name).display());
            assert!(told.contains(&expected), "{engine}, {command}: {told}");
        }
    }
}
