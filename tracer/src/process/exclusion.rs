//! Exclusion of the other processes of a run while the guard decides about a call of one of them.
//!
//! What a call names lies in memory, in links and folders, and behind descriptors. Another process or thread of the
//! run could change it after the decision and before the kernel looks (time of check to time of use). So from before the
//! decision until the call is made, or waits for something, no other one executes instructions of its own: those that run
//! are held, and of those that sleep in a call nothing is to be feared, because only others of the run could wake them.
//! Time can wake some as well, so that these are held too; the kernel goes on with their calls afterwards.
//!
//! To be held is not to be noticed: a call that it has ended early is made again (`EINTR`) or completed
//! (`transfer.rs`).
//!
//! Source: ptrace(2), signal(7), proc_pid_syscall(5).

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs;

use nix::unistd::Pid;

use super::children::{end, wait_a_moment, wait_now};
use super::transfer::Transfer;
use super::{ProcessError, status};

/// The calls in which a process waits for one that it has started, or for its own threads to end, and cannot be
/// interrupted. It stops before it goes on.
const CANNOT_STOP: [i64; 5] =
    [libc::SYS_vfork, libc::SYS_clone, libc::SYS_clone3, libc::SYS_execve, libc::SYS_execveat];
/// The calls that end at a time, and with which the kernel goes on after an interruption without a change of that time;
/// read(2) may be of a timer.
const BY_TIME: [i64; 9] = [
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_select,
    libc::SYS_pselect6,
    libc::SYS_futex,
    libc::SYS_restart_syscall,
    libc::SYS_read,
];

/// The bookkeeping of a run whose processes exclude one another.
#[derive(Default)]
pub(super) struct Exclusion {
    /// What processes have told while another one was waited for.
    pub(super) told: VecDeque<(Pid, i32)>,
    /// The processes whose calls were allowed, and wait. Each stops at the end of its call.
    pub(super) waiting: HashSet<Pid>,
    /// The transfers that are being completed.
    pub(super) transfers: HashMap<Pid, Transfer>,
}

impl Exclusion {
    /// Forgets a process that has ended.
    pub(super) fn forget(&mut self, process: Pid) {
        self.waiting.remove(&process);
        self.transfers.remove(&process);
    }

    /// Whether the process has stopped or ended, and that has not been looked at yet.
    pub(super) fn has_told(&self, process: Pid) -> bool {
        self.told.iter().any(|&(who, _)| who == process)
    }

    pub(super) fn has_ended(&self, process: Pid) -> bool {
        self.told.iter().any(|&(who, status)| who == process && end(status).is_some())
    }

    /// Whether a process stops before it executes an instruction of its own.
    pub(super) fn will_stop(&self, process: Pid) -> bool {
        self.has_told(process) || self.waiting.contains(&process) || self.transfers.contains_key(&process)
    }
}

/// Whether a process has stopped because it was interrupted, and for no other reason.
pub(super) fn is_interruption(status: i32) -> bool {
    status >> 16 == libc::PTRACE_EVENT_STOP && libc::WSTOPSIG(status) == libc::SIGTRAP
}

pub(super) fn is_end_of_call(status: i32) -> bool {
    status >> 16 == 0 && libc::WSTOPSIG(status) == libc::SIGTRAP | 0x80
}

/// Makes a process stop; false if it has stopped or ended.
pub(super) fn interrupt(process: Pid) -> bool {
    nix::sys::ptrace::interrupt(process).is_ok()
}

/// Waits for any child, but only until a call that does not wait should have been made.
pub(super) fn soon() -> Result<Option<(Pid, i32)>, ProcessError> {
    const TRIES: usize = 16;
    for _ in 0..TRIES {
        let found = wait_now()?;
        if found.is_some() {
            return Ok(found);
        }
        std::thread::yield_now();
    }
    wait_a_moment()
}

/// Whether a process that was interrupted will do nothing but end, or wait for others, before it stops.
pub(super) fn stays_in_kernel(process: Pid) -> bool {
    let state = status::field(process, "State:").unwrap_or_default();
    state.is_empty()
        || state.starts_with(['Z', 'X'])
        || !state.starts_with('R') && call_of(process).is_some_and(|call| CANNOT_STOP.contains(&call))
}

/// Whether a process that has not been stopped may execute instructions of its own before others of the run do.
pub(super) fn may_go_on(process: Pid) -> bool {
    let state = status::field(process, "State:").unwrap_or_default();
    match call_of(process) {
        Some(call) if CANNOT_STOP.contains(&call) => false,
        Some(call) => !state.starts_with('S') || BY_TIME.contains(&call),
        None => true,
    }
}

/// Whether a process sleeps, in a call that was allowed.
pub(super) fn is_asleep(process: Pid) -> bool {
    status::field(process, "State:").is_some_and(|state| state.starts_with('S'))
}

/// The call in which a process sleeps; `None` if it does not, or has no page of memory that it waits for.
fn call_of(process: Pid) -> Option<i64> {
    let told = fs::read_to_string(format!("/proc/{process}/syscall")).ok()?;
    told.split(' ').next()?.trim().parse().ok().filter(|&call: &i64| call >= 0)
}
