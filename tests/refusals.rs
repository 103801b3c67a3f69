//! What cannot be done is refused before any reduction, with a message that names the thing, the cause
//! and the remedy.

mod support;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use support::tiny::{assert_says, file, message, message_with_diff, tiny};
use support::{Fixture, GCC, Program, sample, scratch, stripe, text};

/// The sample, made into something else.
fn changed(name: &str, change: impl FnOnce(&Path)) -> Program {
    let original = sample(GCC, "");
    let folder = scratch(&format!("changed-{name}"));
    let path = folder.join(name);
    fs::copy(&original.path, &path).expect("copied");
    change(&path);
    Program { path, directory: folder, ..original }
}

/// The sample with other bytes from `offset` on.
fn patched(name: &str, offset: usize, bytes: &[u8]) -> Program {
    changed(name, |path| {
        let mut content = fs::read(path).expect("readable");
        content[offset..offset + bytes.len()].copy_from_slice(bytes);
        fs::write(path, content).expect("writable");
    })
}

// What is no program for this machine.

#[test]
fn a_program_that_is_not_there_is_a_matter_of_usage() {
    let folder = scratch("nothing");
    let output = stripe().args(["run", "./prog"]).current_dir(&folder).output().expect("started");
    assert_says(&message(&output, 2), &["./prog: No such file", "name an executable"]);
}

#[test]
fn a_directory_is_no_program() {
    let folder = scratch("directory");
    let output = stripe().args(["run", "."]).current_dir(&folder).output().expect("started");
    assert_says(&message(&output, 2), &["is a directory", "name the program in it"]);
}

#[test]
fn a_file_without_the_right_to_execute_it_is_no_program() {
    let program = changed("locked", |path| {
        fs::set_permissions(path, Permissions::from_mode(0o644)).expect("changed");
    });
    assert_says(&message(&program.stripe("run", &[]), 2), &["locked: is not executable", "chmod +x"]);
}

#[test]
fn a_script_is_refused_with_the_name_of_its_interpreter() {
    let program = changed("script", |path| {
        fs::write(path, "#!/usr/bin/env python3\nprint(1)\n").expect("written");
    });
    for verb in ["run", "trace", "replay"] {
        let told = message(&program.stripe(verb, &[]), 1);
        assert_says(
            &told,
            &["script: is not an ELF file", "a script for `", "/usr/bin/env", "name the native program"],
        );
        assert_says(&told, &["can be reduced: stripe simplify ", "/script -- ARGUMENTS"]);
    }
}

#[test]
fn a_file_that_is_no_elf_is_refused() {
    let program = changed("text", |path| fs::write(path, "echo no magic\n").expect("written"));
    assert_says(&message(&program.stripe("run", &[]), 1), &["text: is not an ELF file", "x86-64"]);
}

#[test]
fn an_empty_file_is_refused() {
    let program = changed("empty", |path| fs::write(path, "").expect("written"));
    assert_says(&message(&program.stripe("run", &[]), 1), &["empty: is not an ELF file"]);
}

#[test]
fn a_32_bit_program_is_refused() {
    let (class, machine_386) = (patched("narrow", 4, &[1]), patched("i386", 18, &[3, 0]));
    for program in [class, machine_386] {
        let told = message(&program.stripe("run", &[]), 1);
        assert_says(&told, &["is not an x86-64 program", "compile it for x86-64"]);
    }
}

#[test]
fn a_program_for_another_processor_is_refused() {
    const AARCH64: u8 = 183;
    let program = patched("arm", 18, &[AARCH64, 0]);
    let told = message(&program.stripe("run", &[]), 1);
    assert_says(&told, &["arm: is not an x86-64 program", "compile it for x86-64"]);
    assert_says(&told, &["another processor", "183"]);
}

#[test]
fn a_truncated_program_is_refused() {
    let whole = fs::read(sample(GCC, "").path).expect("readable").len();
    for length in [5, 20, 63, 64, 200, 1000, whole / 2, whole - 1] {
        let program = changed("cut", |path| {
            let content = fs::read(path).expect("readable");
            fs::write(path, &content[..length]).expect("written");
        });
        assert_says(&message(&program.stripe("run", &[]), 1), &["cut: "]);
    }
}

#[test]
fn a_set_uid_program_is_refused() {
    let program = changed("privileged", |path| {
        fs::set_permissions(path, Permissions::from_mode(0o4755)).expect("changed");
    });
    let output = program.stripe("run", &[]);
    fs::remove_file(&program.path).expect("removed");
    assert_says(&message(&output, 1), &["privileged: is set-uid", "copy the file"]);
}

// What has nothing to trace.

#[test]
fn a_program_without_a_line_table_is_refused() {
    let program = changed("stripped", |path| {
        let stripped = Command::new("strip").arg(path).status().expect("strip can be started");
        assert!(stripped.success());
    });
    for verb in ["run", "trace", "replay"] {
        let told = message(&program.stripe(verb, &[]), 1);
        assert_says(&told, &["stripped: has no line table", "compile it with -g -O0"]);
    }
}

#[test]
fn a_scope_in_which_nothing_is_is_refused() {
    let told = message(&sample(GCC, "").stripe("run", &["--scope", "other.c"]), 1);
    assert_says(&told, &["sum-mul: has a line table", "none of its functions is in scope", "--scope"]);
}

#[test]
fn a_run_that_executes_nothing_in_scope_is_refused() {
    let source =
        "#include <stdio.h>\nvoid never(void) { puts(\"never\");\n}\nint main(void) { puts(\"a\");\n}\n";
    let told = message(&tiny("unused", source).stripe("run", &["--scope", "never"]), 1);
    assert_says(&told, &["executed none of the functions in scope", "--scope"]);
}

#[test]
fn a_pattern_of_scope_that_is_none_is_a_matter_of_usage() {
    assert_says(&message(&sample(GCC, "").stripe("run", &["--scope", "["]), 2), &["`[`", "pattern"]);
}

// What would mean nothing.

#[test]
fn a_program_that_starts_a_thread_is_refused_with_the_place_of_the_call() {
    let program = Fixture::named("thread").build(GCC);
    for verb in ["run", "trace", "replay"] {
        let told = message(&program.stripe(verb, &[]), 1);
        assert_says(
            &told,
            &[
                "starts a thread",
                "thread.c:16",
                "on its first thread",
                "OMP_NUM_THREADS=1",
                "RAYON_NUM_THREADS=1",
            ],
        );
    }
}

#[test]
fn what_starts_threads_is_named_as_programmers_call_it() {
    let cpp = "#include <thread>\nint main() { std::thread other([] {});\n    other.join();\n}\n";
    let c = "int main(void) {\n    #pragma omp parallel num_threads(2)\n    {}\n    return 0;\n}\n";
    for (name, compiler, source) in [("std::thread", "g++", cpp), ("OpenMP", "gcc", c)] {
        let folder = scratch(&format!("threads-by-{compiler}"));
        fs::write(folder.join("program.c"), source).expect("written");
        let mut command = Command::new(compiler);
        command.args(["-g", "-O0", "-fopenmp", "-o", "program", "program.c"]).current_dir(&folder);
        assert!(command.status().expect("a compiler").success());
        let path = folder.join("program");
        let doctor = stripe().arg("doctor").arg(&path).output().expect("started");
        assert_says(&text(&doctor.stdout), &[&format!("uses {name}")]);
        let run = stripe().arg("run").arg(&path).current_dir(&folder).output().expect("started");
        assert_says(&message(&run, 1), &[&format!("starts a thread ({name}, called at ")]);
    }
}

#[test]
fn a_program_that_takes_too_long_to_record_is_refused() {
    let program = tiny("endless", "int main(void) { for (;;) ;\n}\n");
    let told = message(&program.stripe("run", &["--timeout", "200ms"]), 1);
    assert_says(&told, &["while it was recorded", "--timeout"]);
}

#[test]
fn two_recordings_that_differ_in_the_output_are_refused_with_the_difference() {
    let program = Fixture::named("asks_urandom").build(GCC);
    for verb in ["run", "replay"] {
        let told = message(&program.stripe(verb, &["--real-random"]), 4);
        assert_says(&told, &["two runs of the program differ", "output line 1: `key ", "`key "]);
        assert_says(&told, &["usual causes", "--real-time", "--real-random", "timers", "files", "processes"]);
        assert_says(&told, &["make them constant", "--only-lines"]);
        assert!(!told.contains("at event"), "the traces are the same: {told}");
    }
}

#[test]
fn two_recordings_that_differ_in_the_trace_are_refused_with_the_first_event() {
    let program = Fixture::named("time_dependent").build(GCC);
    let told = message(&program.stripe("run", &["--real-time"]), 4);
    assert_says(&told, &["two runs of the program differ", "it uses clock_gettime"]);
    // Two runs may take the same path by chance: one in 17.
    if told.contains("at event") {
        assert_says(&told, &["one is at time_dependent.c:", "the other at time_dependent.c:"]);
        assert!(!told.contains("--only-lines"), "that would not help: {told}");
    }
}

#[test]
fn what_differs_only_now_and_then_is_found_by_five_runs() {
    // One time in two it is the same.
    let source = "#include <stdio.h>\n#include <sys/random.h>\n\
                  int main(void) { unsigned char c = 0;\n    getrandom(&c, 1, 0);\n    printf(\"%d\\n\", c % 2);\n}\n";
    let program = tiny("coin", source);
    let told =
        (0..3).map(|_| program.stripe("run", &["--real-random"])).filter(|run| run.status.code() == Some(4));
    // All five agree one time in 16.
    assert!(told.count() > 0);
}

#[test]
fn a_failure_of_nine_runs_in_ten_is_found_out_whichever_is_the_other_one() {
    // A count that outlives the runs, because the sandbox leaves this folder open.
    let source = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { int runs = 0;\n\
                  \x20   FILE *file = fopen(getenv(\"COUNT\"), \"r+\");\n    fscanf(file, \"%d\", &runs);\n\
                  \x20   rewind(file);\n    fprintf(file, \"%d\\n\", runs + 1);\n    fclose(file);\n\
                  \x20   puts(runs % 10 == atoi(getenv(\"ODD\")) ? \"right\" : \"wrong\");\n    return 0;\n}\n";
    let program = tiny("moody", source);
    let folder = program.directory.join("count");
    fs::create_dir(&folder).expect("made");
    let count = folder.join("count");
    for odd in 0..10 {
        fs::write(&count, "0\n").expect("written");
        let (count, odd) = (format!("COUNT={}", path(&count)), format!("ODD={odd}"));
        let options = ["--allow-write", path(&folder), "--env", &count, "--env", &odd, "-j1", "--no-save"];
        let told = message(&program.stripe("run", &options), 4);
        assert!(told.contains("`wrong` instead of `right`") || told.contains("`right` instead of `wrong`"));
        assert_says(&told, &["make", "constant"]);
    }
}

#[test]
fn a_check_that_changes_its_mind_between_the_phases_is_found_out() {
    let program = sample(GCC, "");
    let judged = program.directory.join("judged");
    let judge = |control: &str, times: usize| {
        let _ = fs::remove_file(&judged);
        let check = format!("echo >> judged; [ $(wc -l < judged) -le {times} ] && grep -q sum.=.15");
        program.stripe("run", &["--no-save", "-q", "-j1", "--control", control, "--check", &check])
    };
    assert_eq!(judge("program", usize::MAX >> 1).status.code(), Some(0));
    let of_the_first_phase = text(&fs::read(&judged).expect("judged")).lines().count();
    // The last of them have confirmed what was found; then it does not show the failure any more.
    let told = message(&judge("both", of_the_first_phase - 6), 4);
    assert_says(&told, &["what was found shows the failure, but the next replay of it does not"]);
    assert_says(&told, &["the check exited with 1", "--timeout", "make that constant"]);
    // When it is to be confirmed the check has changed its mind: the result is shown, and not called minimal.
    let unconfirmed = judge("program", of_the_first_phase - 6);
    let (said, shown) = (text(&unconfirmed.stderr), text(&unconfirmed.stdout));
    assert_eq!(unconfirmed.status.code(), Some(4), "{said}");
    assert_says(&said, &["replayed once more", "--timeout", "make that constant"]);
    assert!(shown.contains("not minimal") && !shown.contains("1-minimal"), "{shown}");
}

#[test]
fn what_differs_from_run_to_run_may_be_left_out_of_the_comparison() {
    let program = Fixture::named("asks_urandom").build(GCC);
    let slice = program.slice(&["--real-random", "--only-lines", "parts"], 0);
    assert_eq!(slice["status"], "minimal");
    assert!(slice["events"]["kept"].as_u64() > Some(0), "{slice}");
}

#[test]
fn an_output_that_the_run_does_not_have_is_refused_with_a_diff() {
    let program = sample(GCC, "");
    let expected = file(&program, "wrong.txt", "a? b? sum = 16\nmul = 0\n");
    let lines = message_with_diff(&program.stripe("run", &["--expect-output", path(&expected)]), 3);
    assert_says(&lines[0], &["the recorded run does not show the failure", "exit status 0"]);
    assert_says(&lines[0], &["output line 1: `a? b? sum = 15` instead of `a? b? sum = 16`", "check"]);
    assert_eq!(lines[1], "expected (-) and actual (+):");
    assert_eq!(lines[2..], ["  - a? b? sum = 16", "  + a? b? sum = 15"]);
}

#[test]
fn a_diff_has_at_most_ten_lines() {
    let program = tiny(
        "long_output",
        "#include <stdio.h>\nint main(void) { for (int i = 0; i < 2000; i++) printf(\"line %d\\n\", i);\n}\n",
    );
    let other: String = (0..2000).map(|number| format!("row {number}\n")).collect();
    let expected = file(&program, "rows.txt", other);
    let lines = message_with_diff(&program.stripe("run", &["--expect-output", path(&expected)]), 3);
    assert_eq!(lines.len(), 12, "{lines:#?}");
}

#[test]
fn an_expression_that_the_output_does_not_match_is_shown_with_the_output() {
    let lines = message_with_diff(&sample(GCC, "").stripe("run", &["--expect-match", "sum = 16"]), 3);
    assert_says(&lines[0], &["output does not match `sum = 16`"]);
    assert_eq!(lines[2..], ["  - sum = 16", "  + a? b? sum = 15", "  + mul = 0"]);
}

#[test]
fn an_exit_status_that_the_run_does_not_have_is_refused() {
    let told = message(&sample(GCC, "").stripe("run", &["--expect-exit", "7"]), 3);
    assert_says(&told, &["does not show the failure", "exit status 0 instead of 7"]);
}

#[test]
fn a_signal_that_does_not_end_the_run_is_refused() {
    let told = message(&sample(GCC, "").stripe("run", &["--expect-signal", "SEGV"]), 3);
    assert_says(&told, &["does not show the failure", "SIGSEGV"]);
    let crashes = Fixture::named("crash_null").build(GCC);
    let told = message(&crashes.stripe("run", &["--expect-signal", "FPE"]), 3);
    assert_says(&told, &["SIGSEGV instead of SIGFPE", "crash_null.c:", "null pointer"]);
}

#[test]
fn a_reference_that_finds_no_fault_is_refused() {
    let program = sample(GCC, "");
    let same = file(&program, "same.txt", "a? b? sum = 15\nmul = 0\n");
    let told = message(&program.stripe("run", &["--reference", path(&same)]), 3);
    assert_says(&told, &["does not show the failure", "equals", "--reference"]);
    let longer = file(&program, "longer.txt", "a? b? sum = 15\nmul = 0\nmore\n");
    let told = message(&program.stripe("run", &["--reference", path(&longer)]), 3);
    assert_says(&told, &["line 3 of the output", "--reference", "--check"]);
}

#[test]
fn a_criterion_that_the_empty_set_meets_is_refused_with_the_empty_slice() {
    let program = sample(GCC, "");
    let weak = ["--reject-match", "nonsense"];
    let output = program.stripe("run", &[&weak[..], &["-q"]].concat());
    assert_eq!(output.status.code(), Some(6), "{}", text(&output.stderr));
    assert_says(&text(&output.stdout), &["None of 34 statement executions"]);
    let told = text(&output.stderr);
    assert_eq!(told.lines().count(), 1, "{told}");
    assert_says(&told, &["stripe: ", "even if nothing is executed", "--expect-output"]);
    let slice = program.slice(&weak, 6);
    assert_eq!((&slice["slice"], &slice["events"]["kept"]), (&Value::Array(Vec::new()), &Value::from(0)));
}

#[test]
fn doctor_tells_the_same_with_the_same_remedies() {
    let doctor = |program: &Program, status: i32| {
        let output = stripe().arg("doctor").arg(&program.path).output().expect("started");
        let told = text(&output.stdout);
        assert_eq!(output.status.code(), Some(status), "{told}{}", text(&output.stderr));
        // Long ones are wrapped.
        told.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let good = doctor(&sample(GCC, ""), 0);
    assert_says(&good, &["line table", "in scope: 1 function with 13 statements, in sum-mul.c", "Ready"]);
    let script = changed("shell-script", |path| fs::write(path, "#!/bin/sh\n").expect("written"));
    assert_says(
        &doctor(&script, 1),
        &["BAD", "is not an ELF file but a script", "-> take a debugger of its language"],
    );
    let threads = doctor(&Fixture::named("thread").build(GCC), 0);
    assert_says(&threads, &["fair uses pthread_create", "->"]);
    let optimised = sample(GCC, "-O2");
    assert_says(&doctor(&optimised, 0), &["fair compiled with -O2", "-> compile with -O0"]);
    let output = stripe().args(["doctor", "./no-such-program"]).output().expect("started");
    assert_says(&message(&output, 2), &["./no-such-program: No such file"]);
}

fn path(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn who_traces_stripe_itself_is_named_with_the_remedy() {
    let program = sample(GCC, "");
    // A process has one tracer: under strace there is no place for another.
    let output = Command::new("timeout")
        .args(["60", "strace", "-f", "-o", "/dev/null", env!("CARGO_BIN_EXE_stripe"), "trace"])
        .arg(&program.path)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("strace is installed");
    assert_says(&message(&output, 1), &["ptrace is refused", "traced itself", "strace without -f"]);
}
