//! See to a held program's signals: what the latest was about, and what the program does about them.

use super::{Tracee, status};

impl Tracee {
    /// What the latest signal was about: its code and the address that could not be used.
    pub(crate) fn signal_cause(&self) -> Option<(i32, u64)> {
        let info = nix::sys::ptrace::getsiginfo(self.pid()).ok()?;
        // SAFETY: reads a field of the union as the kernel has filled it for faults; for other signals
        // the bits mean something else, and the code tells.
        Some((info.si_code, unsafe { info.si_addr() } as u64))
    }

    /// All that the kernel has to say of the latest signal.
    pub(crate) fn signal_details(&self) -> Option<libc::siginfo_t> {
        nix::sys::ptrace::getsiginfo(self.pid()).ok()
    }

    /// Makes the signal that is about to be delivered another one.
    pub(crate) fn set_signal_details(&self, details: &libc::siginfo_t) {
        let _ = nix::sys::ptrace::setsiginfo(self.pid(), details);
    }

    /// Sends the program a signal.
    pub(crate) fn send(&self, signal: i32) {
        // SAFETY: plain numbers.
        unsafe { libc::kill(self.pid().as_raw(), signal) };
    }

    /// Whether the signal would end the program: its action is the default one, and that is fatal.
    pub(crate) fn is_fatal(&self, signal: i32) -> bool {
        let has = |field| self.signals(field) >> (signal - 1) & 1 == 1;

        const HARMLESS: [i32; 8] = [
            libc::SIGCHLD,
            libc::SIGCONT,
            libc::SIGURG,
            libc::SIGWINCH,
            libc::SIGSTOP,
            libc::SIGTSTP,
            libc::SIGTTIN,
            libc::SIGTTOU,
        ];
        !HARMLESS.contains(&signal) && !has("SigCgt:") && !has("SigIgn:")
    }

    /// A set of signals that proc(5) tells of, the first in the lowest bit.
    fn signals(&self, field: &str) -> u64 {
        let mask = status::field(self.pid(), field);
        mask.and_then(|mask| u64::from_str_radix(&mask, 16).ok()).unwrap_or(0)
    }
}
