//! The user's wish to end is heeded, soon and without loss.

mod support;

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nix::sys::signal::Signal;
use support::command::{Group, assert_status, sample_in, slow_run, slow_run_by, wait_until};
use support::tiny::{assert_says, message, tiny};
use support::{GCC, sample, stripe, text};

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
