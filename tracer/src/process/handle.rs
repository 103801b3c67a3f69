//! Handles of processes (pidfd): no other process that gets the same number can be hit.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use nix::unistd::Pid;

use super::ProcessError;
use super::children::insist;

/// A descriptor of a process, pidfd_open(2).
pub(super) struct Handle(OwnedFd);

impl Handle {
    /// Opens a descriptor of the process.
    pub(super) fn new(pid: Pid) -> Result<Handle, ProcessError> {
        // SAFETY: takes two integers and returns a new descriptor or an error.
        let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) };
        if descriptor < 0 {
            return Err(ProcessError::last("watching the program"));
        }
        // SAFETY: the kernel has just returned this descriptor, and nobody else owns it.
        Ok(Handle(unsafe { OwnedFd::from_raw_fd(descriptor as i32) }))
    }

    /// Kills the process; one that has ended stays so.
    pub(super) fn kill(&self) {
        let (call, descriptor) = (libc::SYS_pidfd_send_signal, self.0.as_raw_fd());
        // SAFETY: the descriptor is open; the other arguments are plain numbers.
        insist(|| unsafe { libc::syscall(call, descriptor, libc::SIGKILL, 0, 0) } == 0);
    }

    /// Waits until the process has ended.
    pub(super) fn wait(&self) {
        let mut ends = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one structure, which outlives the call.
        while unsafe { libc::poll(&raw mut ends, 1, -1) } < 0 {}
    }
}
