//! Work in a process of its own: a fault of it, or a program that never ends, takes nothing else along.

use std::convert::Infallible;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use study::folder::FaultClaim;

use super::super::exit::Failure;
use super::words::Words;
use crate::session::interrupt::Interrupt;

/// The interval at which a running process is checked.
const INTERVAL: Duration = Duration::from_millis(20);
/// The first interval after it has closed its output.
const LEAST_INTERVAL: Duration = Duration::from_micros(100);

/// A process that has ended.
pub(super) struct Finished {
    /// Its exit status; `None` if a signal has ended it.
    pub(super) status: Option<i32>,
    /// Its standard output.
    pub(super) stdout: Vec<u8>,
    /// The last line of its standard error.
    pub(super) message: String,
    /// The time that it took.
    pub(super) elapsed: Duration,
    /// The most memory that it was seen to hold, in KiB.
    pub(super) memory_kib: u64,
    /// True if it was ended because it took too long.
    pub(super) is_hung: bool,
}

/// Ends this process when the one that has started it ends, however that ends: then the other end of
/// the standard input is closed.
pub(in crate::cli) fn end_with_parent() -> io::Result<()> {
    let watch = || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(1);
    };
    thread::Builder::new().name("parent".into()).spawn(watch).map(drop)
}

/// Runs this program with `words` in a new process.
pub(super) fn stripe(
    words: &Words,
    directory: &Path,
    most: Duration,
    interrupt: &Interrupt,
) -> Result<Finished, Failure> {
    // Not by its name: under that, another version may have been installed since.
    let mut command = Command::new("/proc/self/exe");
    command.args(["study", "child", "--"]).args(words).current_dir(directory).stdin(Stdio::piped());
    run(&mut command, most, interrupt)
}

/// The time after which a build counts as hung.
pub(super) const BUILD_TIME: Duration = Duration::from_secs(3600);

/// Builds a fault in the folder `build`, by the shell.
pub(super) fn shell(
    text: &str,
    directory: &Path,
    build: &Path,
    claim: Option<&FaultClaim>,
    interrupt: &Interrupt,
) -> Result<Finished, Failure> {
    let stdin = claim.map_or_else(|| Ok(Stdio::null()), FaultClaim::stdin)?;
    let mut command = Command::new("/bin/sh");
    command.args(["-c", text]).current_dir(directory).env("STRIPE_BUILD", build).stdin(stdin);
    run(&mut command, BUILD_TIME, interrupt)
}

fn run(command: &mut Command, most: Duration, interrupt: &Interrupt) -> Result<Finished, Failure> {
    let started = Instant::now();
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let stdin = child.stdin.take();
    let (open, closed) = mpsc::channel();
    let (stdout, stderr) = (gathered(child.stdout.take(), open.clone()), gathered(child.stderr.take(), open));
    let (mut memory_kib, mut is_hung, mut pause) = (0, false, LEAST_INTERVAL);
    let status = loop {
        memory_kib = memory_kib.max(high_water(&child));
        if let Some(status) = child.try_wait()? {
            break status;
        }
        is_hung |= started.elapsed() > most;
        if is_hung || interrupt.is_asked() {
            child.kill()?;
        }
        // Most processes end when they have closed what they write to: nothing is gained by waiting longer.
        if closed.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Disconnected) {
            thread::sleep(pause);
            pause = INTERVAL.min(pause * 2);
        }
    };
    drop(stdin);
    // Processes that a killed process has started may still hold the pipes.
    let was_killed = is_hung || interrupt.is_asked();
    let [stdout, stderr] = [stdout, stderr]
        .map(|reader| if was_killed { Vec::new() } else { reader.join().unwrap_or_default() });
    Ok(Finished {
        status: status.code(),
        message: last_line(&stderr),
        stdout,
        elapsed: started.elapsed(),
        memory_kib,
        is_hung,
    })
}

/// Reads a stream to its end, on a thread, so that no process waits for a full pipe. `open` is dropped at the end.
fn gathered(
    stream: Option<impl Read + Send + 'static>,
    open: mpsc::Sender<Infallible>,
) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let _open = open;
        let mut bytes = Vec::new();
        // What was read until an error is kept.
        let _ = stream.map(|mut stream| stream.read_to_end(&mut bytes));
        bytes
    })
}

fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.strip_prefix("stripe: ").unwrap_or(line).to_owned()
}

/// The peak of a process's memory so far, in KiB, by proc(5).
fn high_water(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
