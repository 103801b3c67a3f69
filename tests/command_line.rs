//! The command line as a user meets it: exit statuses, options, streams.

mod support;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use support::tiny::{assert_says, file, message, message_with_diff, tiny};
use support::{Fixture, GCC, Program, sample, scratch, stripe, text};

/// The paper's criterion: both results.
const BOTH: [&str; 2] = ["--expect-match", r"sum = 15\nmul = 0\n"];

/// The standard output of the sample.
const OUTPUT: &str = "a? b? sum = 15\nmul = 0\n";

/// The slowest machine is faster.
const PATIENCE: Duration = Duration::from_secs(120);

fn status(output: &Output) -> Option<i32> {
    output.status.code()
}

fn assert_status(output: &Output, expected: i32) {
    assert_eq!(status(output), Some(expected), "{}\n{}", text(&output.stderr), text(&output.stdout));
}

fn string(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// The sample in a working directory of its own.
fn sample_in(name: &str) -> Program {
    Program { directory: scratch(name), ..sample(GCC, "") }
}

/// The sample in a working directory of its own that holds these files.
fn sample_with(name: &str, files: &[(&str, &str)]) -> Program {
    let program = sample_in(name);
    for (name, content) in files {
        file(&program, name, content);
    }
    program
}

fn kept(slice: &Value) -> u64 {
    slice["events"]["kept"].as_u64().expect("a number")
}

/// The lines of the needed events, each once.
fn lines(slice: &Value) -> BTreeSet<u64> {
    let events = slice["slice"].as_array().expect("events");
    events.iter().map(|event| event["line"].as_u64().expect("a line")).collect()
}

/// The numbers of the needed events.
fn events(slice: &Value) -> Vec<u64> {
    let events = slice["slice"].as_array().expect("events");
    events.iter().map(|event| event["event"].as_u64().expect("a number")).collect()
}

// Exit statuses.

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
        (&["word"], &["'word'", "behind --"]),
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

// The user's wish to end.

/// Stripe in a process group of its own, killed at the end of the test with all that it started.
struct Group(Child);

impl Group {
    fn start(command: &mut Command) -> Group {
        let command = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        Group(command.spawn().expect("started"))
    }

    fn leader(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.0.id()).expect("small"))
    }

    fn signal(&self, signal: Signal) {
        let _ = kill(self.leader(), signal);
    }

    fn signal_all(&self, signal: Signal) {
        let _ = kill(Pid::from_raw(-self.leader().as_raw()), signal);
    }

    fn has_children(&self) -> bool {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.leader())).expect("it runs");
        tasks.flatten().any(|task| {
            fs::read_to_string(task.path().join("children")).is_ok_and(|children| !children.trim().is_empty())
        })
    }

    fn end(mut self) -> Output {
        let mut read = (Vec::new(), Vec::new());
        let mut stderr = self.0.stderr.take().expect("piped");
        let stderr = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).expect("readable");
            bytes
        });
        self.0.stdout.take().expect("piped").read_to_end(&mut read.0).expect("readable");
        read.1 = stderr.join().expect("no panic");
        let status = self.0.wait().expect("it ends");
        Output { status, stdout: read.0, stderr: read.1 }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal_all(Signal::SIGKILL);
        let _ = self.0.wait();
    }
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < PATIENCE, "{what} does not happen");
        sleep(Duration::from_millis(10));
    }
}

/// A check that judges the first runs at once, and then takes as good as for ever.
const SLOW_CHECK: &str = "echo >> count; if [ $(wc -l < count) -gt 12 ]; then : > slow; exec sleep 600; fi; \
                          grep -q 'sum = 15'";

fn slow_run(program: &Program, options: &[&str]) -> Group {
    slow_run_by(stripe(), program, options)
}

fn slow_run_by(mut command: Command, program: &Program, options: &[&str]) -> Group {
    command.arg("run").arg(&program.path).arg("--stdin").arg(&program.stdin).args(options);
    command.args(["-j1", "--check", SLOW_CHECK]).current_dir(&program.directory);
    let group = Group::start(&mut command);
    wait_until("the slow check", || program.directory.join("slow").exists());
    group
}

#[test]
fn ctrl_c_in_a_long_reduction_prints_the_best_so_far_and_ends_with_130() {
    for (name, signal, expected) in [
        ("interrupted", Signal::SIGINT, 130),
        ("terminated", Signal::SIGTERM, 143),
        ("hung-up", Signal::SIGHUP, 129),
    ] {
        let group = slow_run(&sample_in(name), &[]);
        group.signal_all(signal);
        let output = group.end();
        assert_status(&output, expected);
        assert_says(&text(&output.stdout), &["the search was interrupted", "sum-mul.c: main", "warning:"]);
    }
}

#[test]
fn a_signal_that_was_ignored_when_stripe_began_stays_ignored() {
    for ignored in [Signal::SIGINT, Signal::SIGHUP] {
        let program = sample_in(&format!("ignored-{ignored}"));
        let mut command = Command::new("env");
        command.arg(format!("--ignore-signal={}", ignored.as_ref())).arg(stripe().get_program());
        let group = slow_run_by(command, &program, &[]);
        group.signal(ignored);
        group.signal_all(Signal::SIGTERM);
        let output = group.end();
        assert_status(&output, 143);
        assert_says(&text(&output.stdout), &["the search was interrupted", "sum-mul.c: main"]);
    }
}

#[test]
fn a_check_that_takes_long_is_ended_by_the_first_ctrl_c() {
    let mut group = slow_run(&sample_in("impatient"), &[]);
    // Only stripe: who has started the check ends it.
    group.signal(Signal::SIGINT);
    wait_until("the end", || group.0.try_wait().expect("it can be waited for").is_some());
    assert_eq!(group.0.wait().expect("it has ended").code(), Some(130));
    group.signal_all(Signal::SIGKILL);
    assert_says(&text(&group.end().stdout), &["the search was interrupted", "sum-mul.c: main"]);
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    // More than a pipe holds, and nobody reads it: stripe is busy with writing after the first signal.
    let source = "int main(void) { int s = 0;\n    for (int i = 0; i < 2000; i++)\n        s += i;\n    return 0;\n}\n";
    let program = tiny("patient-reader", source);
    let mut command = stripe();
    command.arg("run").arg(&program.path).args([
        "--expect-exit",
        "0",
        "--max-tests",
        "1",
        "--format",
        "trace",
    ]);
    let mut group = Group::start(command.arg("--no-save").current_dir(&program.directory));
    let mut stdout = group.0.stdout.take().expect("piped");
    stdout.read_exact(&mut [0]).expect("it writes");
    let mut signals = 0;
    wait_until("the end", || {
        group.signal(Signal::SIGINT);
        signals += 1;
        sleep(Duration::from_millis(50));
        group.0.try_wait().expect("it can be waited for").is_some()
    });
    assert_eq!((group.0.wait().expect("it has ended").code(), signals), (Some(130), 2));
}

#[test]
fn ctrl_c_while_recording_is_told() {
    let program = tiny("busy", "int main(void) { for (;;) ;\n}\n");
    for verb in ["run", "trace"] {
        let mut command = stripe();
        command.arg(verb).arg(&program.path).current_dir(&program.directory);
        let group = Group::start(&mut command);
        wait_until("the recording", || group.has_children());
        group.signal(Signal::SIGINT);
        assert_says(&message(&group.end(), 130), &["interrupted"]);
    }
}

#[test]
fn ctrl_c_while_input_is_awaited_ends_at_once() {
    let program = sample(GCC, "");
    let mut command = stripe();
    command.arg("run").arg(&program.path).stdin(Stdio::piped());
    let mut group = Group::start(&mut command);
    let input = group.0.stdin.take();
    sleep(Duration::from_millis(200));
    group.signal(Signal::SIGINT);
    let output = group.end();
    drop(input);
    assert_eq!(output.status.signal(), Some(2), "{}", text(&output.stderr));
}

// Where options stand, and what goes to the program.

const ECHO: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char directory[4096];
    for (int i = 1; i < argc; i++) {
        printf("arg");
        for (char *c = argv[i]; *c; c++) printf(" %02x", (unsigned char)*c);
        printf("\n");
    }
    printf("variable");
    for (char *c = getenv("VARIABLE"); c && *c; c++) printf(" %02x", (unsigned char)*c);
    printf("\nhome %s\n", getenv("HOME") ? "set" : "unset");
    printf("directory %s\n", getcwd(directory, sizeof directory));
    printf("stdout %s\n", isatty(1) ? "terminal" : "file");
    return 0;
}
"#;

/// The output of the program in a replay that leaves nothing out.
fn replayed(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("started");
    assert_status(&output, 0);
    output.stdout
}

#[test]
fn options_may_stand_on_either_side_of_the_program() {
    let program = sample(GCC, "");
    let slices = [true, false].map(|before| {
        let options = [&BOTH[..], &["--control", "trace", "--format", "json", "-q", "--stdin"]].concat();
        let mut command = stripe();
        command.arg("run");
        if before {
            command.args(options).arg(&program.stdin).arg(&program.path);
        } else {
            command.arg(&program.path).args(options).arg(&program.stdin);
        }
        events(&serde_json::from_slice(&replayed(&mut command)).expect("JSON"))
    });
    assert_eq!(slices[0], slices[1]);
    assert_eq!(slices[0].len(), 15);
}

#[test]
fn everything_behind_two_dashes_goes_to_the_program() {
    let program = tiny("arguments", ECHO);
    let mut command = stripe();
    command.arg("replay").arg(&program.path).args(["--", "--help", "-q", "", "--", "a b"]);
    let output = text(&replayed(&mut command));
    let arguments: Vec<&str> = output.lines().filter(|line| line.starts_with("arg")).collect();
    assert_eq!(arguments, ["arg 2d 2d 68 65 6c 70", "arg 2d 71", "arg", "arg 2d 2d", "arg 61 20 62"]);
}

#[test]
fn what_is_no_utf_8_goes_through_byte_for_byte() {
    let strange = OsStr::from_bytes(b"\xff\xfe\x80x");
    let program = tiny("bytes", ECHO);
    let named = program.directory.join(strange);
    fs::copy(&program.path, &named).expect("copied");
    let input = program.directory.join(OsStr::from_bytes(b"in\xff"));
    fs::write(&input, "").expect("written");
    let mut variable = b"VARIABLE=".to_vec();
    variable.extend(strange.as_bytes());
    let mut command = stripe();
    command.arg("replay").arg(&named).arg("--stdin").arg(&input);
    command.arg("--env").arg(OsStr::from_bytes(&variable)).arg("--").arg(strange);
    let output = text(&replayed(&mut command));
    assert_says(&output, &["arg ff fe 80 78\n", "variable ff fe 80 78\n"]);
    let mut emission = b"json=".to_vec();
    let file = program.directory.join(OsStr::from_bytes(b"slice\xff"));
    emission.extend(file.as_os_str().as_bytes());
    let mut command = stripe();
    command.arg("run").arg(&named).args(["-q", "--emit"]).arg(OsStr::from_bytes(&emission));
    assert_status(&command.output().expect("started"), 0);
    assert!(file.is_file());
}

#[test]
fn many_arguments_are_no_problem() {
    let program = tiny(
        "many",
        "int puts(const char *);\nint main(int c, char **v) { puts(c == 10001 ? \"all\" : \"few\");\n}\n",
    );
    let numbers: Vec<String> = (0..10_000).map(|number| number.to_string()).collect();
    let mut command = stripe();
    command.arg("replay").arg(&program.path).arg("--").args(numbers);
    assert_eq!(text(&replayed(&mut command)), "all\n");
}

#[test]
fn an_argument_as_long_as_linux_allows_goes_through() {
    const LONGEST: usize = (128 << 10) - 1;
    let source = "#include <stdio.h>\n#include <string.h>\nint main(int c, char **v) { printf(\"%zu\\n\", strlen(v[1]));\n}\n";
    let program = tiny("long-argument", source);
    let mut command = stripe();
    command.arg("replay").arg(&program.path).arg("--").arg("x".repeat(LONGEST));
    assert_eq!(text(&replayed(&mut command)), format!("{LONGEST}\n"));
}

/// What stripe adds to the environment, and the longer path, are too much for the program although
/// stripe itself could be started.
#[test]
fn arguments_that_are_too_long_are_told() {
    let folder = scratch("too-long");
    let mut deep = folder.clone();
    for _ in 0..15 {
        deep.push("d".repeat(200));
    }
    fs::create_dir_all(&deep).expect("a deep folder");
    fs::copy(sample(GCC, "").path, deep.join("prog")).expect("copied");
    symlink(deep.join("prog"), folder.join("p")).expect("a link");
    symlink(env!("CARGO_BIN_EXE_stripe"), folder.join("s")).expect("a link");
    let start = |verb: &str, length: usize| {
        let mut arguments = vec!["x".repeat(100_000); length / 100_000];
        arguments.push("x".repeat(length % 100_000));
        let mut command = Command::new("./s");
        command.current_dir(&folder).env_clear().stdin(Stdio::null());
        command.args([verb, "./p", "--"]).args(arguments).output()
    };
    let (mut short, mut long) = (0, 16 << 20);
    while long - short > 256 {
        let middle = (short + long) / 2;
        match start("bad", middle) {
            Ok(_) => short = middle,
            Err(_) => long = middle,
        }
    }
    let told = message(&start("run", short).expect("short enough for stripe"), 1);
    assert_says(&told, &["prog", "Argument list too long"]);
}

#[test]
fn the_environment_and_the_directory_are_what_the_user_says() {
    let program = tiny("world", ECHO);
    let sub = program.directory.join("sub");
    fs::create_dir(&sub).expect("a folder");
    let echo = |options: &[&str]| {
        let mut command = stripe();
        command.arg("replay").arg(&program.path).args(options).current_dir(&program.directory);
        text(&replayed(command.env("HOME", "/home/user").env("VARIABLE", "A")))
    };
    let inherited = echo(&[]);
    let here = format!("directory {}\n", program.directory.canonicalize().expect("there").display());
    assert_says(&inherited, &["variable 41\n", "home set\n", &here, "stdout file\n"]);
    assert_says(&echo(&["--env", "VARIABLE=BC"]), &["variable 42 43\n", "home set\n"]);
    assert_says(&echo(&["--env", "VARIABLE=B", "--env", "VARIABLE=a=b"]), &["variable 61 3d 62\n"]);
    assert_says(&echo(&["--clear-env"]), &["variable\n", "home unset\n"]);
    assert_says(&echo(&["--clear-env", "--env", "VARIABLE=B"]), &["variable 42\n", "home unset\n"]);
    let there = format!("directory {}\n", sub.canonicalize().expect("there").display());
    assert_says(&echo(&["--cwd", "sub"]), &[&there]);
    assert_says(&echo(&["--pty"]), &["stdout terminal\n"]);
}

#[test]
fn a_pseudo_terminal_changes_what_a_run_shows() {
    let source = "#include <stdio.h>\n#include <unistd.h>\nint main(void) { int terminal = isatty(1);\n\
                  if (terminal) puts(\"terminal\");\nelse puts(\"file\");\nreturn 0;\n}\n";
    let program = tiny("isatty", source);
    assert_eq!(lines(&program.slice(&["--expect-match", "^file", "--control", "trace"], 0)), [5].into());
    let terminal = ["--pty", "--expect-match", "^terminal", "--control", "trace"];
    assert_eq!(lines(&program.slice(&terminal, 0)), [4].into());
    message_with_diff(&program.stripe("run", &["--expect-match", "^terminal"]), 3);
}

#[test]
fn input_is_the_same_from_a_file_and_from_a_pipe() {
    let program = sample(GCC, "");
    let from_file = program.slice(&BOTH, 0);
    let mut command = stripe();
    command.arg("run").arg(&program.path).args(BOTH).args(["--format", "json", "-q"]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("started");
    child.stdin.take().expect("piped").write_all(b"0 5\n").expect("written");
    let output = child.wait_with_output().expect("ended");
    assert_status(&output, 0);
    let from_pipe: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(from_file["slice"], from_pipe["slice"]);
    assert_eq!(from_file["events"], from_pipe["events"]);
}

#[test]
fn closed_streams_are_no_panic() {
    let program = sample(GCC, "");
    let line = |streams: &str| {
        let shell = format!("exec \"$0\" run \"$1\" -q --max-tests 5 {streams}");
        let mut command = Command::new("sh");
        command.args(["-c", &shell, env!("CARGO_BIN_EXE_stripe")]).arg(&program.path);
        command.output().expect("started")
    };
    for streams in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let output = line(streams);
        assert_eq!(status(&output), Some(5), "{streams}: {}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "", "{streams}");
    }
}

/// Runs stripe on a pseudo-terminal; standard input, output and error are the same.
fn on_a_terminal(environment: &[(&str, &str)], words: &str) -> String {
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{} {words}", env!("CARGO_BIN_EXE_stripe")), "/dev/null"]);
    command.env_remove("NO_COLOR").env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
    let output = command.envs(environment.iter().copied()).stdin(Stdio::null()).output();
    text(&output.expect("`script` of util-linux is installed").stdout)
}

#[test]
fn colours_are_for_terminals_unless_the_user_says_otherwise() {
    const COLOUR: &str = "\x1b[";
    let program = sample(GCC, "");
    let words = format!("run -q {} --stdin {} --max-tests 5", string(&program.path), string(&program.stdin));
    let colour = |environment: &[(&str, &str)], option: &str| {
        let told = on_a_terminal(environment, &format!("{words} {option}"));
        assert_says(&told, &["sum-mul.c", "warning"]);
        told.contains(COLOUR)
    };
    assert!(colour(&[], ""));
    assert!(!colour(&[("NO_COLOR", "1")], ""));
    assert!(colour(&[("NO_COLOR", "")], ""), "an empty NO_COLOR forbids nothing");
    assert!(colour(&[("NO_COLOR", "1")], "--color always"));
    assert!(!colour(&[("TERM", "dumb")], ""));
    assert!(!colour(&[], "--color never"));
    let piped =
        |option: &str| text(&program.stripe("run", &["-q", "--max-tests", "5", "--color", option]).stdout);
    assert!(!piped("auto").contains(COLOUR));
    assert!(piped("always").contains(COLOUR));
}

#[test]
fn a_terminal_is_never_handed_on() {
    let program = Fixture::named("stdin_all").build(GCC);
    let output = on_a_terminal(&[], &format!("replay {}", string(&program.path)));
    assert_says(&output, &["words = 0, lines = 0", "stripe: reproduced"]);
}

#[test]
fn progress_is_a_line_that_is_drawn_again_on_a_terminal_and_a_line_each_ten_seconds_elsewhere() {
    let program = sample(GCC, "");
    let words = format!("run {} --stdin {}", string(&program.path), string(&program.stdin));
    let live = on_a_terminal(&[], &words);
    assert_says(&live, &["\r\x1b[K", " test"]);
    assert!(!live.contains(" left after "), "{live}");
    let plain = text(&program.stripe("run", &[]).stderr);
    assert!(plain.lines().all(|line| line.contains(" left after ")), "{plain}");
    assert_eq!(plain.lines().count(), 1, "{plain}");
}

#[test]
fn a_terminal_shows_something_while_the_run_is_recorded() {
    let source = "#include <stdio.h>\n#include <unistd.h>\nint main(void) { int x = 1;\n    usleep(500000);\n    \
                  printf(\"%d\\n\", x);\n    return 0;\n}\n";
    let program = tiny("slow-to-record", source);
    let options = "--no-save --real-time --max-tests 1";
    let words = format!("run {} --stdin {} {options}", string(&program.path), string(&program.stdin));
    assert_says(&on_a_terminal(&[], &words), &["\r\x1b[Krecording the run, "]);
}

// What shows the failure.

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

// How to search, and what is traced.

#[test]
fn control_decides_what_is_needed() {
    let program = sample(GCC, "");
    let [both, decided, stated] = ["both", "program", "trace"]
        .map(|control| program.slice(&[&BOTH[..], &["--control", control]].concat(), 0));
    assert_eq!([&both["control"], &decided["control"], &stated["control"]], ["both", "program", "trace"]);
    assert_eq!((events(&both).len(), events(&stated).len()), (22, 15));
    assert_eq!(events(&both), events(&decided));
    assert_eq!(both["events"]["kept_for_effect"], 15);
}

#[test]
fn both_algorithms_find_the_slice() {
    let program = sample(GCC, "");
    let slices = ["sweep", "ddmin"].map(|algorithm| {
        let slice =
            program.slice(&[&BOTH[..], &["--algorithm", algorithm, "--control", "trace"]].concat(), 0);
        assert_eq!(slice["algorithm"], algorithm);
        events(&slice)
    });
    assert_eq!(slices[0], slices[1]);
}

#[test]
fn granularity_line_has_one_event_for_a_line() {
    let program = Fixture::named("one_line").build(GCC);
    let (statements, lines) = (program.events(&[]), program.events(&["--granularity", "line"]));
    assert!(lines.len() < statements.len(), "{} and {}", lines.len(), statements.len());
    assert!(lines.iter().all(|event| event["column"] == 0), "lines have no columns");
    assert_eq!(program.slice(&["--granularity", "line"], 0)["granularity"], "line");
}

/// The functions and files in which events happened.
fn traced(program: &Program, scope: &[&str]) -> (BTreeSet<String>, BTreeSet<String>) {
    let options: Vec<&str> = scope.iter().flat_map(|pattern| ["--scope", pattern]).collect();
    let events = program.events(&options);
    let all = |key: &str| -> BTreeSet<String> {
        events.iter().map(|event| event[key].as_str().expect("text").to_owned()).collect()
    };
    (all("function"), all("file"))
}

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[test]
fn scope_narrows_and_excludes() {
    let program = Fixture::named("several_files").build(GCC);
    let (functions, files) = traced(&program, &[]);
    assert_eq!(files, names(["main.c", "stack.c"]));
    assert!(functions.is_superset(&names(["main", "push", "pop", "depth"])), "{functions:?}");
    assert_eq!(traced(&program, &["stack.c"]).1, names(["stack.c"]));
    assert_eq!(traced(&program, &["p*"]).0, names(["push", "pop"]));
    assert_eq!(traced(&program, &["main", "push"]).0, names(["main", "push"]));
    assert_eq!(traced(&program, &["!stack.c"]).1, names(["main.c"]));
    let without_push = traced(&program, &["!push"]).0;
    assert!(!without_push.contains("push") && without_push.contains("pop"), "{without_push:?}");
    assert_eq!(traced(&program, &["*.c", "!main.c"]).1, names(["stack.c"]));
}

#[test]
fn a_shared_library_is_in_scope_if_it_is_named() {
    let program = Fixture::named("shared_library").build(GCC);
    assert_eq!(traced(&program, &[]).1, names(["main.c"]));
    assert_eq!(traced(&program, &["libtax.so"]).1, names(["main.c", "libtax.c"]));
    let slice = program.slice(&["--scope", "libtax.so"], 0);
    let in_library = |event: &Value| event["file"] == "libtax.c";
    assert!(slice["slice"].as_array().expect("events").iter().any(in_library), "{slice}");
}

#[test]
fn undefined_values_can_be_left_alone() {
    let program = Fixture::named("poison_stack").build(GCC);
    let (with, without) = (program.slice(&[], 0), program.slice(&["--poison", "off"], 0));
    assert!(kept(&without) < kept(&with), "{} and {}", kept(&without), kept(&with));
}

#[test]
fn a_program_that_other_undefined_values_would_keep_busy_is_warned_about() {
    let source = "#include <stdio.h>\nvoid wipe(void) { volatile int zero[64] = {0};\n}\n\
                  int count(void) { int i = 0, limit;\nwhile (i < limit)\ni++;\nreturn i;\n}\n\
                  int main(void) { wipe();\nint sum = count();\nprintf(\"%d\\n\", sum);\nreturn 0;\n}\n";
    let slice = tiny("undefined", source).slice(&["--control", "trace"], 0);
    let warnings = slice["warnings"].to_string();
    assert_says(&warnings, &["reads uninitialised memory", "this may well be the fault"]);
}

// What is printed.

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
        assert_eq!(keys(line), words("file line executed needed fixed"));
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

// Files that are written.

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

// Standard output.

/// What prints, and its arguments.
fn printing() -> Vec<Vec<String>> {
    let program = sample(GCC, "");
    let (path, stdin) = (string(&program.path), string(&program.stdin));
    let demo = scratch("demo");
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
    for line in printing() {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let output = stripe().args(&line).stdout(full).output().expect("started");
        let told = message(&output, 1);
        assert_says(&told, &["standard output: No space left", "make room, or write elsewhere"]);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for line in printing() {
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

// Help.

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
