//! Where the machine gives too little, there is a message or a right result, and never a panic.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};
use serde_json::Value;
use support::engine::in_two_threads;
use support::hardened::{compiled, run_without};
use support::tiny::{message, tiny};
use support::{GCC, Program, sample, scratch, stripe, text};

/// `stripe run` on the sample by a shell that has set limits.
fn limited(program: &Program, limits: &str) -> Output {
    let script = format!("{limits}; exec \"$0\" run \"$1\" --stdin \"$2\" --no-save -q -j2");
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).arg(stripe().get_program()).arg(&program.path).arg(&program.stdin);
    shell.current_dir(&program.directory).stdin(Stdio::null()).output().expect("a shell")
}

/// A right result, or a message that says more than what has failed.
fn assert_told(what: &str, output: &Output) {
    let (said, status) = (text(&output.stderr), output.status.code());
    match status {
        Some(0) => assert!(text(&output.stdout).contains("1-minimal"), "{what}: {}", text(&output.stdout)),
        Some(1) => assert!(said.starts_with("stripe: ") && said.lines().count() == 1, "{what}: {said}"),
        // Not even the loader could start stripe.
        Some(127) if said.contains("error while loading shared libraries") => {}
        _ => panic!("{what}: {status:?}: {said}"),
    }
    assert!(!said.contains("panicked") && !said.contains("internal error"), "{what}: {said}");
}

/// `stripe run` on the sample by a shell that has changed its view of the file system.
fn elsewhere(program: &Program, changes: &str, options: &str) -> Output {
    elsewhere_and_then(program, changes, options, "true")
}

/// The same, where namespaces are refused to stripe, so that it copies the working directory.
fn elsewhere_with_a_copy(program: &Program, changes: &str, options: &str) -> Output {
    let refusal = format!("{} namespaces", compiled("hardened").display());
    within_view(program, changes, &format!("{refusal} \"$0\" run \"$1\" --stdin \"$2\" -q {options}"), "true")
}

/// As `elsewhere`; something is done afterwards in that view.
fn elsewhere_and_then(program: &Program, changes: &str, options: &str, then: &str) -> Output {
    within_view(program, changes, &format!("\"$0\" run \"$1\" --stdin \"$2\" -q {options}"), then)
}

fn within_view(program: &Program, changes: &str, run: &str, then: &str) -> Output {
    let script = format!("mount -t proc proc /proc && {changes} && {{ {run}; it=$?; {then}; exit $it; }}");
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--pid", "--fork"]);
    if !is_root() {
        unshare.arg("--map-root-user");
    }
    unshare.args(["sh", "-c", &script]).arg(stripe().get_program()).arg(&program.path).arg(&program.stdin);
    unshare.current_dir(&program.directory).stdin(Stdio::null()).output().expect("unshare is there")
}

fn is_root() -> bool {
    Uid::effective().is_root()
}

#[test]
fn few_descriptors_are_told_of() {
    let program = sample(GCC, "");
    for count in [3, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 128, 256] {
        assert_told(&format!("{count} descriptors"), &limited(&program, &format!("ulimit -n {count}")));
    }
    assert_eq!(limited(&program, "ulimit -n 256").status.code(), Some(0));
}

#[test]
fn little_memory_is_told_of() {
    let program = sample(GCC, "");
    for megabytes in [128, 192, 256, 384, 512, 1024] {
        let limits = format!("ulimit -v {}", megabytes << 10);
        assert_told(&format!("{megabytes} MiB"), &limited(&program, &limits));
    }
}

#[test]
fn a_refused_process_is_told_of() {
    let program = sample(GCC, "");
    // The limit does not hold for root.
    let other = if is_root() { "setpriv --reuid=65534 --regid=65534 --clear-groups" } else { "" };
    let limits = format!("exec {other} prlimit --nproc=0 \"$0\" run \"$1\" --stdin \"$2\" --no-save -q -j2");
    let output = limited(&program, &limits);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_told("no processes", &output);
}

#[test]
fn a_process_for_which_there_is_no_room_is_waited_for_wherever_it_is_started() {
    let program = sample(GCC, "");
    let found = |refused: &str, options: &[&str]| -> Value {
        let usual = ["--control", "trace", "--check", "exec grep -q 'sum = 15'", "--format", "json"];
        let options = [&usual, options].concat();
        let output = run_without(refused, &program, &options).output().expect("started");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let whole = found("none", &["-j1"]);
    // Two attempts of three are refused, of all: workers, sandboxes, starters, programs, their copies, checks.
    let engines = [("jump", "-j2"), ("breakpoint", "-j1")];
    in_two_threads(&engines, |(engine, jobs)| {
        let crowded = found("crowded", &["--engine", engine, jobs]);
        assert_eq!((&crowded["slice"], &crowded["containment"]), (&whole["slice"], &"full".into()));
        assert_eq!(crowded["engine"], *engine);
    });
}

#[test]
fn where_there_is_no_room_for_a_process_any_more_that_is_told() {
    let program = sample(GCC, "");
    let start = |room: u32| {
        let mut command = run_without(&format!("full={room}"), &program, &["-j1"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        (room, command.spawn().expect("started"))
    };
    // All at once, because they do nothing but wait.
    let waiting: Vec<(u32, Child)> = [0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 30].map(start).into();
    for (room, child) in waiting {
        let told = message(&child.wait_with_output().expect("ended"), 1);
        assert!(
            told.contains(": Resource temporarily unavailable") || told.contains(": Try again"),
            "{told}"
        );
        assert!(told.contains("process slots") && told.contains("try again"), "{room}: {told}");
    }
}

#[test]
fn no_directory_for_temporary_files_is_told_of_only_where_it_is_needed() {
    let program = sample(GCC, "");
    let output = limited(&program, "export TMPDIR=/nowhere");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!Path::new("/nowhere").exists());
}

#[test]
fn a_small_directory_for_temporary_files_is_told_of_only_where_it_is_needed() {
    let program = Program { directory: scratch("small-tmp-run"), ..sample(GCC, "") };
    let folder = scratch("small-tmp");
    let small = format!("mount -t tmpfs -o size=8k,noexec none {0} && export TMPDIR={0}", folder.display());
    let output = elsewhere(&program, &small, "--no-save --no-sandbox");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    // With namespaces nothing is copied, whatever is mounted below.
    fs::create_dir_all(program.directory.join("mounted")).expect("made");
    let output = elsewhere(&program, &format!("{small} && mount -t tmpfs none mounted"), "--no-save");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let output = elsewhere_with_a_copy(&program, &small, "--no-save");
    assert_told("8 KiB", &output);
    // There is room for an empty directory, but not for what a run would write.
    let said = text(&output.stderr);
    assert!(said.contains("wrote too much into files") && said.contains("set TMPDIR"), "{said}");
    fs::write(program.directory.join("large"), [1; 64 << 10]).expect("written");
    let output = elsewhere_with_a_copy(&program, &small, "--no-save");
    let said = text(&output.stderr);
    assert_told("8 KiB", &output);
    assert!(said.contains("cannot be copied") && said.contains("set TMPDIR"), "{said}");
}

#[test]
fn a_disk_that_is_full_leaves_whole_files_or_none() {
    let program = sample(GCC, "");
    let folder = scratch("full-disk");
    let disk = folder.join("disk");
    fs::create_dir(&disk).expect("made");
    let (mut lost, mut written) = (0, 0);
    // With less and less room left: the run, its result and the other files take about 60 KiB.
    for kilobytes in [4, 8, 16, 24, 32, 48, 256] {
        let copy = folder.join(format!("copy-{kilobytes}"));
        let disk = disk.display();
        let small = format!("mount -t tmpfs -o size={kilobytes}k none {disk}");
        let options = format!("-j1 --out {disk}/run --emit json={disk}/json --emit html={disk}/html");
        let then = format!("cp -a {disk} {}", copy.display());
        let output = elsewhere_and_then(&program, &small, &options, &then);
        let told = text(&output.stderr);
        assert!(text(&output.stdout).contains("1-minimal"), "{kilobytes} KiB: {told}");
        let is_there = ["json", "html"].map(|name| copy.join(name).exists());
        match output.status.code() {
            Some(0) => assert_eq!(is_there, [true, true], "{kilobytes} KiB: {told}"),
            status => {
                assert_eq!(status, Some(1), "{kilobytes} KiB: {told}");
                let lost = if is_there[0] { "html" } else { "json" };
                let line = format!("stripe: {disk}/{lost}: No space left on device (os error 28); make room");
                assert!(told.lines().any(|told| told.starts_with(&line)), "{told}");
                assert!(told.lines().all(|line| line.starts_with("stripe: ")), "{told}");
            }
        }
        lost += is_there.iter().filter(|there| !*there).count();
        if is_there[0] {
            let whole = fs::read(copy.join("json")).expect("readable");
            serde_json::from_slice::<Value>(&whole).expect("all of it");
        }
        if is_there[1] {
            assert!(fs::read_to_string(copy.join("html")).expect("readable").trim_end().ends_with("</html>"));
        }
        // What has a name of its own is whole: nothing is damaged, and nothing is left over.
        let report = stripe().arg("report").arg(copy.join("run")).current_dir(&folder).output();
        let report = report.expect("started");
        let told = text(&report.stderr);
        let holds_none = told.contains("holds no run") || told.contains("there is no");
        assert!(report.status.success() || holds_none, "{kilobytes} KiB: {told}");
        written += usize::from(report.status.success());
        for place in [copy.clone(), copy.join("run")].iter().filter(|place| place.exists()) {
            let names = fs::read_dir(place).expect("readable").map(|entry| entry.expect("readable").path());
            let left: Vec<_> = names.filter(|name| name.extension().is_some_and(|e| e == "new")).collect();
            assert!(left.is_empty(), "{kilobytes} KiB: {left:?}");
        }
    }
    assert!(lost > 4 && written > 1, "{lost}, {written}");
}

#[test]
fn a_working_directory_that_cannot_be_written_is_no_obstacle() {
    let program = sample(GCC, "");
    let fixed = "mount --bind . . && mount -o remount,ro,bind . && cd \"$PWD\" && ! touch file 2>/dev/null";
    let output = elsewhere(&program, fixed, "--no-save");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("1-minimal"), "{}", text(&output.stdout));
    // Where the run cannot be kept either, the result is still printed.
    let output = elsewhere(&program, fixed, "");
    assert!(text(&output.stdout).contains("1-minimal"), "{}", text(&output.stderr));
}

#[test]
fn no_proc_is_told_of_and_one_that_hides_others_is_enough() {
    let program = sample(GCC, "");
    let output = elsewhere(&program, "mount -t tmpfs none /proc", "--no-save");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        text(&output.stderr),
        "stripe: /proc is not what it should be: mount it (mount -t proc proc /proc)\n"
    );
    let output = elsewhere(&program, "mount -t proc -o hidepid=2 proc /proc", "--no-save");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

/// Starts children, each of which asks whether it may signal itself.
const CHILDREN: &str = r#"#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) { int refused = 0, status;
    for (int i = 0; i < 24; i++) {
        if (fork() == 0) _exit(kill(getpid(), 0) != 0);
        wait(&status);
        refused += status != 0;
    }
    printf("refused: %d\n", refused);
    return 0;
}
"#;

#[test]
fn a_process_of_a_run_may_have_the_number_that_stripe_has_outside() {
    let program = tiny("children", CHILDREN);
    // As in a container: low numbers for stripe, and for the processes of a run in their own namespace.
    let started_before = "for i in 1 2 3 4 5 6 7 8; do sh -c :; done";
    let output = elsewhere(&program, started_before, "--no-save --check \"grep -q 'refused: 0'\"");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("1-minimal"), "{}", text(&output.stdout));
}

/// `stripe run` on the sample, started.
fn started(program: &Program) -> Child {
    let mut command = stripe();
    command.arg("run").arg(&program.path).arg("--stdin").arg(&program.stdin);
    command.args(["--no-save", "-q", "-j1"]).current_dir(&program.directory);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started")
}

/// The slice that it has found in the end, without what that took.
fn slice(run: Child) -> String {
    let output = run.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout).split("Failure:").next().expect("a slice").to_owned()
}

#[test]
fn two_at_the_same_time_find_the_same() {
    let program = sample(GCC, "");
    let running: Vec<Child> = (0..4).map(|_| started(&program)).collect();
    let slices: Vec<String> = running.into_iter().map(slice).collect();
    assert!(slices.iter().all(|slice| *slice == slices[0]), "{slices:?}");
}

#[test]
fn to_be_stopped_for_longer_than_a_test_may_take_changes_nothing() {
    let program = sample(GCC, "");
    let undisturbed = slice(started(&program));
    for before in [40, 80, 120, 160] {
        let run = started(&program);
        let signal = |signal| kill(Pid::from_raw(run.id() as i32), signal).expect("it lives");
        sleep(Duration::from_millis(before));
        signal(Signal::SIGSTOP);
        sleep(Duration::from_millis(1500));
        signal(Signal::SIGCONT);
        assert_eq!(slice(run), undisturbed, "stopped after {before} ms");
    }
}

#[test]
fn a_time_of_day_that_is_set_back_and_forth_changes_nothing() {
    let program = sample(GCC, "");
    let folder = scratch("unsteady");
    let found = |name: &str, preloaded: &str| -> (Value, u64) {
        let kept = folder.join(name);
        let mut command = stripe();
        command.arg("run").arg(&program.path).arg("--stdin").arg(&program.stdin).arg("--out").arg(&kept);
        command.args(["--max-time", "1h", "-q", "-j1", "--format", "json"]).env("LD_PRELOAD", preloaded);
        let output = command.current_dir(&folder).output().expect("started");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let kept = fs::read(kept.join("run.json")).expect("kept");
        let kept: Value = serde_json::from_slice(&kept).expect("JSON");
        let started = kept["content"]["started"].as_u64().expect("seconds");
        (serde_json::from_slice(&output.stdout).expect("JSON"), started)
    };
    let (steady, began) = found("steady", "");
    let library = compiled("unsteady");
    let (unsteady, believed) = found("unsteady", library.to_str().expect("UTF-8"));
    assert!(began.abs_diff(believed) > 3600, "the library was not asked: {began}, {believed}");
    for key in ["slice", "status", "tests", "warnings"] {
        assert_eq!(unsteady[key], steady[key], "{key}");
    }
    assert!(unsteady["seconds"].as_f64().is_some_and(|seconds| (0.0..600.0).contains(&seconds)));
}

/// Prints so many megabytes, and then what is wrong.
const TALKER: &str = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    int megabytes = atoi(argv[1]);
    int unused = 0;
    for (int i = 0; i < megabytes; i++) {
        for (int j = 0; j < 16384; j++) printf("%63d\n", i);
    }
    unused++;
    printf("wrong %d\n", megabytes);
    return 0;
}
"#;

/// The most memory of its own that a program has while it runs, in kilobytes.
fn peak_memory(run: &mut Child) -> u64 {
    let mut peak = 0;
    while run.try_wait().expect("it can be waited for").is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap_or_default();
        let own = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        peak = peak.max(own.map_or(0, |own| own.trim().trim_end_matches(" kB").parse().expect("a number")));
        sleep(Duration::from_millis(5));
    }
    peak
}

#[test]
fn a_large_output_lies_on_disk_and_not_in_memory() {
    let program = tiny("talker", TALKER);
    let mut lines = String::new();
    for i in 0..64 {
        lines += &format!("{i:63}\n").repeat(16384);
    }
    let expected = program.directory.join("expected");
    fs::write(&expected, lines + "wrong 64\n").expect("room");
    let run = |options: &[&str]| {
        let mut command = stripe();
        command.arg("run").arg(&program.path).args([
            "--format",
            "json",
            "--granularity",
            "line",
            "-q",
            "-j1",
        ]);
        command.args(options).args(["--", "64"]).current_dir(&program.directory).stdout(Stdio::piped());
        let mut run = command.spawn().expect("started");
        let peak = peak_memory(&mut run);
        assert!(peak < 40 << 10, "{peak} kB");
        let output = run.wait_with_output().expect("ended");
        (output.status.code(), serde_json::from_slice::<Value>(&output.stdout).expect("JSON"))
    };
    let expected = expected.to_str().expect("UTF-8");
    let (status, found) = run(&["--expect-output", expected, "--max-tests", "2", "--no-save"]);
    assert_eq!((status, &found["tests"]["not_reproduced"]), (Some(5), &Value::from(1)), "{found}");
    // What is kept of it, too.
    let (status, _) = run(&["--expect-match", "wrong 64", "--max-tests", "1", "--out", "kept"]);
    assert_eq!(status, Some(5));
    assert_eq!(fs::metadata(program.directory.join("kept/output")).expect("kept").len(), (64 << 20) + 9);
}

const ROUNDS: &str = r#"#include <stdio.h>
int main(void) {
    unsigned sum = 1;
    for (int i = 0; i < 100000; i++)
        sum = sum * 7 + i;
    printf("%u\n", sum);
    return 0;
}
"#;

#[test]
fn all_events_are_written_one_by_one() {
    let program = tiny("rounds", ROUNDS);
    let listed = |options: &[&str], file: &str| {
        let mut command = stripe();
        command.arg("run").arg(&program.path).args(["-q", "-j1", "--no-save", "--max-tests", "0"]);
        command.args(["--force", "--emit", file]).args(options);
        let mut run = command.current_dir(&program.directory).stdout(Stdio::null()).spawn().expect("started");
        let peak = peak_memory(&mut run);
        assert_eq!(run.wait().expect("ended").code(), Some(5));
        let path = program.directory.join(file.split_once('=').expect("a file").1);
        (peak, fs::metadata(path).expect("written").len() >> 10)
    };
    let (least, _) = listed(&[], "lcov=lines");
    for emission in ["json=events.json", "csv=events.csv"] {
        let (peak, size) = listed(&["--all-events"], emission);
        assert!(size > 8 << 10, "{emission}: {size} kB");
        assert!(peak < least + size / 2, "{emission}: {peak} kB instead of {least} for a text of {size}");
    }
}

#[test]
fn a_run_that_writes_a_long_file_has_replays_that_may() {
    let program = tiny(
        "long_file",
        r#"#include <stdio.h>
#include <unistd.h>
int main(void) {
    int unused = truncate("data", 100 << 20);
    unused += truncate("data", 0);
    FILE *file = fopen("data", "w");
    unused += ftruncate(fileno(file), 100 << 20);
    printf("%ld\n", lseek(fileno(file), 0, SEEK_END) >> 20);
    return 0;
}
"#,
    );
    let found = program.slice(&["--expect-match", "100", "--no-save"], 0);
    assert_eq!(found["status"], "minimal", "{found}");
}

/// What is kept of 300,000 executions, a third of them decisions, was an object of JSON for each: 30 MB on the disk,
/// 90 in memory, and each later `stripe run` of the same command read it.
#[test]
fn what_a_search_keeps_that_has_ended_early_is_small() {
    let program = tiny("rounds_kept", ROUNDS);
    let run = |options: &[&str]| {
        let mut command = stripe();
        command.arg("run").arg(&program.path).args(["-q", "-j1", "--max-tests", "1"]).args(options);
        let mut run = command.current_dir(&program.directory).stdout(Stdio::null()).spawn().expect("started");
        let peak = peak_memory(&mut run);
        assert_eq!(run.wait().expect("ended").code(), Some(5));
        peak
    };
    let alone = run(&["--no-save"]);
    let [first, second] = [(); 2].map(|()| run(&[]));
    let kept = fs::metadata(program.directory.join(".stripe/1-rounds_kept/result.json")).expect("kept").len();
    assert!(kept < 2 << 20, "{kept} bytes");
    for peak in [first, second] {
        assert!(peak < alone + (16 << 10), "{peak} kB, without a kept run {alone}");
    }
}
