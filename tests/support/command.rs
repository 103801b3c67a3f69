//! Start stripe as a user does, and look at how it ends.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::tiny::file;
use super::{GCC, Program, sample, scratch, stripe, text};

/// The paper's criterion: both results.
pub const BOTH: [&str; 2] = ["--expect-match", r"sum = 15\nmul = 0\n"];

/// The standard output of the sample.
pub const OUTPUT: &str = "a? b? sum = 15\nmul = 0\n";

/// The slowest machine is faster.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub fn status(output: &Output) -> Option<i32> {
    output.status.code()
}

pub fn assert_status(output: &Output, expected: i32) {
    assert_eq!(status(output), Some(expected), "{}\n{}", text(&output.stderr), text(&output.stdout));
}

pub fn string(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

/// The sample in a working directory of its own.
pub fn sample_in(name: &str) -> Program {
    Program { directory: scratch(name), ..sample(GCC, "") }
}

/// The sample in a working directory of its own that holds these files.
pub fn sample_with(name: &str, files: &[(&str, &str)]) -> Program {
    let program = sample_in(name);
    for (name, content) in files {
        file(&program, name, content);
    }
    program
}

pub fn kept(slice: &Value) -> u64 {
    slice["events"]["kept"].as_u64().expect("a number")
}

/// The lines of the needed events, each once.
pub fn lines(slice: &Value) -> BTreeSet<u64> {
    let events = slice["slice"].as_array().expect("events");
    events.iter().map(|event| event["line"].as_u64().expect("a line")).collect()
}

/// The numbers of the needed events.
pub fn events(slice: &Value) -> Vec<u64> {
    let events = slice["slice"].as_array().expect("events");
    events.iter().map(|event| event["event"].as_u64().expect("a number")).collect()
}

/// Stripe in a process group of its own, killed at the end of the test with all that it started.
pub struct Group(pub Child);

impl Group {
    pub fn start(command: &mut Command) -> Group {
        let command = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        Group(command.spawn().expect("started"))
    }

    pub fn leader(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.0.id()).expect("small"))
    }

    pub fn signal(&self, signal: Signal) {
        let _ = kill(self.leader(), signal);
    }

    pub fn signal_all(&self, signal: Signal) {
        let _ = kill(Pid::from_raw(-self.leader().as_raw()), signal);
    }

    pub fn has_children(&self) -> bool {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.leader())).expect("it runs");
        tasks.flatten().any(|task| {
            fs::read_to_string(task.path().join("children")).is_ok_and(|children| !children.trim().is_empty())
        })
    }

    pub fn end(mut self) -> Output {
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

pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < PATIENCE, "{what} does not happen");
        sleep(Duration::from_millis(10));
    }
}

/// A check that judges the first runs at once, and then takes as good as for ever.
pub const SLOW_CHECK: &str = "echo >> count; if [ $(wc -l < count) -gt 12 ]; then : > slow; exec sleep 600; fi; \
                          grep -q 'sum = 15'";

pub fn slow_run(program: &Program, options: &[&str]) -> Group {
    slow_run_by(stripe(), program, options)
}

pub fn slow_run_by(mut command: Command, program: &Program, options: &[&str]) -> Group {
    command.arg("run").arg(&program.path).arg("--stdin").arg(&program.stdin).args(options);
    command.args(["-j1", "--check", SLOW_CHECK]).current_dir(&program.directory);
    let group = Group::start(&mut command);
    wait_until("the slow check", || program.directory.join("slow").exists());
    group
}
