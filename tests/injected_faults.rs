//! System calls that fail once: a message or the right slice, and never a panic, a hang or another slice.
//!
//! strace makes one call of stripe's main thread fail, in a run with one worker. It cannot look into the
//! other threads, nor into the processes that stripe traces itself: a process has one tracer. There a filter of system
//! calls does it (`hostile/faults.c`), in a run with two workers.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::engine::in_two_threads;
use support::hardened::compiled;
use support::random::Random;
use support::{GCC, how_many, sample, scratch, text};

const ERRORS: [&str; 5] = ["EINTR", "ENOMEM", "EAGAIN", "EPERM", "ENOSPC"];

/// What cannot fail, or only before the program begins; and the random numbers for hash tables, without which
/// Rust's library panics, so that an internal error is told. brk tells where the memory ends: the C library
/// takes an error number for an address.
const BEYOND_REACH: [&str; 6] = ["execve", "exit_group", "exit", "restart_syscall", "getrandom", "brk"];

/// Whether a call may fail this way. To errors that are not documented for futex(2) and close(2) the C library
/// and Rust's answer by ending the program.
fn is_possible(call: &str, error: &str) -> bool {
    match call {
        "futex" => ["EINTR", "EAGAIN"].contains(&error),
        "close" => ["EINTR", "ENOSPC"].contains(&error),
        _ => true,
    }
}

/// A folder in which runs are made.
struct Bench {
    folder: PathBuf,
    program: PathBuf,
    stdin: PathBuf,
}

/// A system call that fails: its name, which one of them, and how.
#[derive(Clone, Debug)]
struct Fault {
    call: String,
    number: u64,
    error: &'static str,
}

impl Bench {
    fn new(name: &str) -> Bench {
        let sample = sample(GCC, "");
        Bench { folder: scratch(name), program: sample.path, stdin: sample.stdin }
    }

    /// stripe under strace; the group is killed after a minute.
    fn strace(&self, options: &[&str], words: &[&str]) -> Output {
        Command::new("timeout")
            .args(["-k", "2", "60", "strace", "-qq", "-o", "log"])
            .args(options)
            .arg(env!("CARGO_BIN_EXE_stripe"))
            .args(words)
            .stdin(Stdio::null())
            .current_dir(&self.folder)
            .output()
            .expect("strace is installed")
    }

    /// `stripe run` under strace with these options, and further words of its own.
    fn run(&self, options: &[&str], further: &[&str]) -> Output {
        let _ = fs::remove_dir_all(self.folder.join("kept"));
        let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        let (program, stdin) = (path(&self.program), path(&self.stdin));
        let words = ["run", &program, "--stdin", &stdin, "--expect-match", "mul = 0", "--control", "trace"];
        let more = ["-q", "-j1", "--format", "json", "--clear-env", "--out", "kept"];
        self.strace(options, &[&words[..], &more, further].concat())
    }

    /// How often each system call is made.
    fn calls(&self) -> BTreeMap<String, u64> {
        let mut calls = BTreeMap::new();
        for line in fs::read_to_string(self.folder.join("log")).expect("written by strace").lines() {
            let name = line.split('(').next().unwrap_or_default();
            if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                *calls.entry(name.to_owned()).or_default() += 1;
            }
        }
        calls
    }

    /// A run in which this call fails.
    fn fail(&self, Fault { call, number, error }: &Fault, further: &[&str]) -> Output {
        let inject = format!("inject={call}:error={error}:when={number}");
        self.run(&["-e", &format!("trace={call}"), "-e", &inject], further)
    }

    /// What is wrong about a run in which this call fails.
    fn complaint(&self, fault: &Fault, expected: &Value) -> Option<String> {
        complaint(&format!("{fault:?}"), &self.fail(fault, &[]), |found| is_same(found, expected))
    }
}

/// What is wrong about a run in which a call has failed.
fn complaint(fault: &str, output: &Output, is_right: impl Fn(&Value) -> bool) -> Option<String> {
    let told = text(&output.stderr);
    let fine = match output.status.code() {
        Some(0) => {
            let found = serde_json::from_slice::<Value>(&output.stdout).ok();
            found.is_some_and(|found| is_right(&found))
        }
        Some(1..=6) => told.starts_with("stripe: ") && told.lines().count() == 1,
        _ => false,
    };
    (!fine || told.contains("panicked")).then(|| format!("{fault}: {}: {told}", output.status))
}

/// What a run has found that has ended well.
fn found(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Whether the same executions are needed for the same reasons, whatever depends on a fault: times, how the program
/// was run. Values may be missing where a warning says so.
fn is_same(found: &Value, expected: &Value) -> bool {
    let warnings = found["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut expected = expected["slice"].clone();
    if warnings.into_iter().any(|warning| warning.starts_with("values ")) {
        for needed in expected.as_array_mut().into_iter().flatten() {
            needed["values"] = Value::Null;
        }
    }
    found["slice"] == expected
}

#[test]
fn a_system_call_that_fails_once_is_told_or_does_not_matter() {
    let bench = Bench::new("faults");
    bench.strace(&[], &["--version"]);
    // The loader and the runtime library of the language are no part of this program.
    let start = bench.calls();
    let expected = found(&bench.run(&[], &[]));
    let faults = faults(&start, &bench.calls());
    assert!(faults.len() as u64 > how_many(40, 150), "{}", faults.len());
    let half = faults.len().div_ceil(2);
    let complaints = std::thread::scope(|scope| {
        let threads: Vec<_> = faults
            .chunks(half)
            .enumerate()
            .map(|(number, faults)| {
                let expected = &expected;
                scope.spawn(move || {
                    let bench = Bench::new(&format!("faults-{number}"));
                    faults.iter().filter_map(|fault| bench.complaint(fault, expected)).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    assert!(complaints.is_empty(), "of {} faults: {complaints:#?}", faults.len());
}

#[test]
fn a_thread_that_is_refused_is_asked_for_again() {
    let (bench, pty) = (Bench::new("refused-threads"), ["--pty"]);
    let expected = found(&bench.run(&[], &pty));
    let threads = bench.calls()["clone3"];
    assert!(threads > 20, "each run on a terminal has a reader: {threads}");
    for number in (1..=threads).step_by(how_many(threads / 4, 1) as usize) {
        let fault = Fault { call: "clone3".into(), number, error: "EAGAIN" };
        let found = found(&bench.fail(&fault, &pty));
        assert!(is_same(&found, &expected), "thread {number}: {found:#?}");
    }
}

/// Each call with each error, or with two in turn, at places all over the run.
fn faults(start: &BTreeMap<String, u64>, whole: &BTreeMap<String, u64>) -> Vec<Fault> {
    let mut random = Random::new("faults");
    let mut faults = Vec::new();
    let calls = whole.iter().filter(|(call, _)| !BEYOND_REACH.contains(&&call[..]));
    for (place, (call, &count)) in calls.enumerate() {
        let before = start.get(call).copied().filter(|_| call != "write").unwrap_or(0);
        let possible: Vec<&str> = ERRORS.into_iter().filter(|error| is_possible(call, error)).collect();
        let errors = possible.iter().cycle().skip(place).take(possible.len().min(how_many(1, 5) as usize));
        for &error in errors.filter(|_| before < count) {
            // At other places of the run.
            for _ in 0..how_many(1, 10) {
                let number = before + 1 + random.below(count - before);
                faults.push(Fault { call: call.clone(), number, error });
            }
        }
    }
    faults
}

/// By whom, and by their numbers.
type Counts = BTreeMap<(String, u64), u64>;

/// Calls that cannot fail, by their numbers: rt_sigreturn, exit, restart_syscall and exit_group. And brk, whose error
/// the C library takes for an address; in threads getrandom, for hash tables, and rseq, without which the C library begins
/// none.
const NEVER: [u64; 7] = [12, 15, 60, 219, 231, 318, 334];

/// Whether Rust's library has ended the program because it could not begin a thread, which nothing of the program can
/// prevent: without a stack for the handlers of signals (mmap, mprotect) there is nobody yet to be told.
fn is_end_of_library(who: &str, call: &str, output: &Output) -> bool {
    let is_for_stack = who == "thread" && ["9", "10"].contains(&call);
    is_for_stack
        && output.status.code().is_none()
        && text(&output.stderr).contains("failed to initiate panic")
}

/// Whether a call, by its number, may fail this way: see [`is_possible`].
fn is_possible_number(call: u64, error: i32) -> bool {
    let name = match call as i64 {
        nix::libc::SYS_futex => "futex",
        nix::libc::SYS_close => "close",
        _ => "",
    };
    let errors = ERRORS.iter().zip(ERROR_NUMBERS);
    errors.into_iter().any(|(text, number)| number == error && is_possible(name, text))
}

const ERROR_NUMBERS: [i32; 5] =
    [nix::libc::EINTR, nix::libc::ENOMEM, nix::libc::EAGAIN, nix::libc::EPERM, nix::libc::ENOSPC];

/// stripe under the injector of faults.
fn injected(injector: &[&str]) -> Command {
    let mut command = Command::new("timeout");
    command.args(["-k", "2", "120"]).arg(compiled("faults")).args(injector).arg(env!("CARGO_BIN_EXE_stripe"));
    command
}

/// A search that is disturbed.
#[derive(Clone, Copy, Debug)]
enum Search {
    Run,
    Simplify,
    Changes,
}

impl Search {
    /// It with two workers under the injector of faults.
    fn everywhere(self, bench: &Bench, injector: &[&str]) -> Output {
        let mut command = injected(injector);
        match self {
            Search::Run => command.arg("run").arg(&bench.program).arg("--stdin").arg(&bench.stdin).args([
                "--expect-match",
                "mul = 0",
                "--control",
                "trace",
                "-j2",
                "--no-save",
            ]),
            // A result of its own for each.
            Search::Simplify => command
                .args(["simplify", "sort", "--stdin", "text", "--by", "lines"])
                .args(["--expect-match", "wrong", "-j2", "--output", "/dev/null", "--force"]),
            Search::Changes => command.args(["changes", "--good", "good", "--bad", "bad", "--no-save"]),
        };
        command.args(["-q", "--format", "json", "--clear-env"]);
        if let Search::Changes = self {
            command.args(["--expect-match", "wrong", "--", "/usr/bin/sort", "text"]);
        }
        command.stdin(Stdio::null()).current_dir(&bench.folder).output().expect("a timeout")
    }

    /// What of a result does not depend on a fault.
    fn is_same(self, found: &Value, expected: &Value) -> bool {
        match self {
            Search::Run => is_same(found, expected),
            Search::Simplify => found["parts"] == expected["parts"],
            Search::Changes => found["changes"] == expected["changes"],
        }
    }
}

/// Who makes how many calls while something is done, by their numbers.
fn counts(file: &Path, act: impl FnOnce(&[&str])) -> Counts {
    act(&["count", file.to_str().expect("UTF-8")]);
    let deadline = Instant::now() + Duration::from_secs(60);
    while !file.exists() {
        assert!(Instant::now() < deadline, "nobody has counted");
        std::thread::sleep(Duration::from_millis(5));
    }
    let told = fs::read_to_string(file).expect("written");
    let line = |line: &str| {
        let mut words = line.split(' ');
        let by = (words.next()?.to_owned(), words.next()?.parse().ok()?);
        Some((by, words.next()?.parse().ok()?))
    };
    told.lines().filter_map(line).collect()
}

#[test]
fn a_system_call_that_fails_once_in_any_process_of_a_run_is_told_or_does_not_matter() {
    let bench = Bench::new("faults-everywhere");
    fails_anywhere(Search::Run, &bench, &["main", "thread", "fork", "agent"], how_many(28, 2000));
}

#[test]
fn a_system_call_that_fails_once_in_a_search_without_a_trace_is_told_or_does_not_matter() {
    let bench = Bench::new("faults-without-trace");
    let lines = |bad: &[usize]| {
        let line = |number| format!("{number} {}\n", if bad.contains(&number) { "wrong" } else { "right" });
        (0..12).map(line).collect::<String>()
    };
    for (file, text) in [("text", lines(&[5])), ("good/text", lines(&[])), ("bad/text", lines(&[5]))] {
        let path = bench.folder.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    fs::write(bench.folder.join("bad/further"), "text\n").expect("written");
    for search in [Search::Simplify, Search::Changes] {
        fails_anywhere(search, &bench, &["main", "fork"], how_many(8, 500));
    }
}

/// Lets so many calls fail in the processes of a search, those of these kinds among them.
fn fails_anywhere(search: Search, bench: &Bench, kinds: &[&str], count: u64) {
    let expected = found(&search.everywhere(bench, &["main", "0", "0", "0"]));
    // The loader and the runtime library of the language are no part of this program.
    let start = counts(&bench.folder.join(format!("start-{search:?}")), |injector| {
        injected(injector).arg("--version").output().expect("started");
    });
    let whole = counts(&bench.folder.join(format!("whole-{search:?}")), |injector| {
        drop(search.everywhere(bench, injector));
    });
    let before = |by: &(String, u64)| start.get(by).copied().unwrap_or(0);
    let counts: Vec<_> = whole
        .into_iter()
        .filter(|(by, count)| !NEVER.contains(&by.1) && *count > before(by))
        .map(|(by, count)| (before(&by), by, count))
        .collect();
    for &who in kinds {
        let calls = counts.iter().filter(|(_, by, _)| by.0 == who).count();
        assert!(calls > 5, "{who}: {calls} calls");
    }
    let mut random = Random::new(&format!("faults-everywhere-{search:?}"));
    // All of one kind after the other, so that a part of them has something of everything.
    let all: Vec<_> = counts
        .iter()
        .flat_map(|count| ERROR_NUMBERS.map(|error| (count, error)))
        .filter(|((_, by, _), error)| is_possible_number(by.1, *error))
        .collect();
    let cases: Vec<(String, [String; 3])> = (0..count)
        .map(|number| {
            let ((before, (who, call), count), error) = all[(number * 37) as usize % all.len()];
            let place = before + 1 + random.below(count - before);
            (who.clone(), [call.to_string(), error.to_string(), place.to_string()])
        })
        .collect();
    let complaints = Mutex::new(Vec::new());
    in_two_threads(&cases, |(who, [call, error, number])| {
        let output = search.everywhere(bench, &[who, call, error, number]);
        let what = format!("{search:?}, {who}, call {call}, error {error}, the {number}th");
        if !is_end_of_library(who, call, &output) {
            complaints
                .lock()
                .expect("no panic")
                .extend(complaint(&what, &output, |found| search.is_same(found, &expected)));
        }
    });
    let complaints = complaints.into_inner().expect("no panic");
    assert!(complaints.is_empty(), "of {} faults: {complaints:#?}", cases.len());
}
