//! Wait for the children of this thread, let them go on, kill them.
//!
//! All waits are for any child and never for one alone: if the first thread of a process has ended before the
//! others, or another one has called exec, a wait for that process alone would hang. A request that fails because
//! the process has just died is no error: the next wait tells.

use std::fs;
use std::io;
use std::time::Duration;

use nix::unistd::Pid;

use super::ProcessError;
use crate::termination::Cut;

/// The reason why a tracee has stopped, or its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A SIGTRAP: it has executed an `int3` or a single step.
    Trap,
    /// A signal is about to be delivered; [`Tracee::go_on`](super::Tracee::go_on) passes it on or suppresses it.
    Signal(i32),
    /// System call entry or exit (or a seccomp event): for [`Tracee::system_call`](super::Tracee::system_call).
    Call,
    /// exec: it is another program now, and its first instruction is next.
    Executed,
    /// vfork or the like: it shares its memory with this new process until that executes another program or ends.
    SharedMemory,
    /// End of a vfork: the memory is no longer shared.
    OwnMemoryAgain,
    /// fork: it has started this process, which has a copy of its memory.
    Forked(Pid),
    /// clone: it has started a thread.
    Thread,
    /// Exit event: it is about to end, and can still be looked at.
    Exiting,
    /// Group-stop: a signal such as SIGSTOP has stopped it.
    Stopped,
    /// It, or one of its children, has done what ends a run.
    Cut(Cut),
    /// Exited, with this exit status.
    Exited(i32),
    /// Killed, by this signal.
    Killed(i32),
}

/// Waits for any child of this thread.
pub(super) fn wait_any() -> Result<(Pid, i32), ProcessError> {
    loop {
        if let Some(found) = wait_with(0)? {
            return Ok(found);
        }
    }
}

/// Finds a child of this thread that has something to tell by now.
pub(super) fn wait_now() -> Result<Option<(Pid, i32)>, ProcessError> {
    wait_with(libc::WNOHANG)
}

/// Waits for any child of this thread that has something to tell, but only for a moment.
pub(super) fn wait_a_moment() -> Result<Option<(Pid, i32)>, ProcessError> {
    const MOMENT: Duration = Duration::from_micros(100);
    let found = wait_now()?;
    if found.is_none() {
        std::thread::sleep(MOMENT);
    }
    Ok(found)
}

/// Waits for a child of this thread by waitpid(2) with these flags.
fn wait_with(flags: libc::c_int) -> Result<Option<(Pid, i32)>, ProcessError> {
    let mut status = 0;
    // SAFETY: `status` outlives the call.
    let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL | libc::__WNOTHREAD | flags) };
    let error = io::Error::last_os_error();
    match pid {
        0 => Ok(None),
        1.. => Ok(Some((Pid::from_raw(pid), status))),
        _ if error.kind() == io::ErrorKind::Interrupted => Ok(None),
        _ => Err(ProcessError::System { what: "waiting for the program", source: error }),
    }
}

/// Whether a process with this number exists, if only as a zombie.
pub(super) fn is_there(pid: Pid) -> bool {
    nix::sys::signal::kill(pid, None).is_ok()
}

/// The end of a process, if this wait status says that it has ended.
pub(super) fn end(status: i32) -> Option<Stop> {
    if libc::WIFEXITED(status) {
        Some(Stop::Exited(libc::WEXITSTATUS(status)))
    } else if libc::WIFSIGNALED(status) {
        Some(Stop::Killed(libc::WTERMSIG(status)))
    } else {
        None
    }
}

/// Resumes a stopped child by this request of ptrace(2); `signal` is delivered to it, 0 for none.
pub(super) fn restart(pid: Pid, request: libc::c_uint, signal: i32) {
    // SAFETY: the request takes a number; that the process may be gone is no error here.
    insist(|| unsafe { libc::ptrace(request, pid.as_raw(), 0, signal as usize) } != -1);
}

/// Kills a child by SIGKILL, whatever it does.
pub(super) fn kill(pid: Pid) {
    insist(|| nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).is_ok());
}

/// Kills a child that may be held: the kernel drops signals to one that is about to exit, which waits there for the
/// tracer.
pub(super) fn kill_held(pid: Pid) {
    kill(pid);
    restart(pid, libc::PTRACE_CONT, 0);
}

/// Repeats a request that the kernel refuses, unless the process is gone: whoever asks waits for what follows, and
/// would wait for ever.
pub(super) fn insist(ask: impl Fn() -> bool) {
    const TRIES: usize = 3;
    let is_gone = || nix::errno::Errno::last() == nix::errno::Errno::ESRCH;
    let _ = (0..TRIES).any(|_| ask() || is_gone());
}

/// The signal of a stop that has to be delivered for the process to go on as if it were not traced.
pub(super) fn passed_on(status: i32) -> i32 {
    let signal = libc::WSTOPSIG(status);
    if status >> 16 == 0 { signal } else { 0 }
}

/// Whether `new` is a thread of the process `of`.
pub(super) fn is_thread(new: Pid, of: Pid) -> bool {
    fs::metadata(format!("/proc/{of}/task/{new}")).is_ok()
}
