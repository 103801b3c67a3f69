//! Look at a program and at the machine without tracing a statement: which shared libraries are loaded, and whether
//! programs can be traced and contained here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent::poison::Poison;

use crate::denial::Actions;
use crate::engine::Conditions;
use crate::invocation::{Invocation, Limits};
use crate::process::{
    Attachments, Containment, Launch, Output, ProcessError, SIGTRAP, Sandbox, Stop, Subject, Tracee, Watchdog,
};

/// Runs the program once, without tracing its statements, and returns the shared libraries that it had loaded at its
/// end.
///
/// # Errors
/// If the program cannot be started.
pub fn survey(invocation: &Invocation, conditions: &Conditions) -> Result<Vec<PathBuf>, ProcessError> {
    let sandbox = Sandbox::new(invocation)?;
    let watchdog = Watchdog::new()?;
    let output = Output::new(invocation.stdout, conditions.limits.file_size)?;
    let launch = Launch {
        output: &output,
        limits: &conditions.limits,
        poison: conditions.heap_poison(),
        attachments: Attachments::default(),
    };
    let mut tracee = Tracee::start(&sandbox, &launch)?;
    let _alarm = watchdog.watch(tracee.pid(), Subject::Process, &conditions.limits, &conditions.stop)?;
    tracee.stop_at_exit();
    let mut libraries = BTreeSet::new();
    let mut signal = 0;
    loop {
        tracee.go_on(signal);
        signal = match tracee.wait()? {
            Stop::Signal(signal) => signal,
            Stop::Trap => SIGTRAP,
            Stop::Exiting => {
                libraries.extend(tracee.mapped_files().into_iter().map(|(_, path)| path));
                0
            }
            Stop::Exited(_) | Stop::Killed(_) | Stop::Stopped | Stop::Cut(_) => break,
            _ => 0,
        };
    }
    libraries.remove(&invocation.program);
    Ok(libraries.into_iter().collect())
}

/// Starts this very program under the tracer in `directory`, and ends it before its first instruction, to see whether
/// the machine allows that, and how well programs are contained.
///
/// # Errors
/// If it does not; the message says what was refused.
pub fn probe(directory: &Path) -> Result<Containment, ProcessError> {
    let failed = |source| ProcessError::System { what: "finding this program", source };
    let invocation = Invocation::new(std::env::current_exe().map_err(failed)?, directory.into());
    let sandbox = Sandbox::new(&invocation)?;
    let limits = Limits {
        cpu: Duration::from_secs(1),
        wall: Duration::from_secs(1),
        idle: Duration::from_secs(1),
        arrivals: 0,
        memory: None,
        trace: 0,
        file_size: 0,
        output: 0,
        tasks: 1,
        tolerated: Actions::NONE,
    };
    let output = Output::new(invocation.stdout, 0)?;
    let launch =
        Launch { output: &output, limits: &limits, poison: Poison::Off, attachments: Attachments::default() };
    Tracee::start(&sandbox, &launch)?;
    Ok(sandbox.containment())
}
