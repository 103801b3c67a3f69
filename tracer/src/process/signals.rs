//! The signals of a held program: the cause of the latest one, and what the program does about them.

use super::{Tracee, status};

/// The cause of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    /// The address of the instruction that caused it; `None` if the signal came from elsewhere, at a moment that has
    /// nothing to do with what was being executed.
    pub(crate) instruction: Option<u64>,
    /// The address that it is about, if any.
    pub(crate) subject: SignalSubject,
}

/// The address that a signal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignalSubject {
    /// No address.
    Nothing,
    /// This address, which could not be used.
    Address(u64),
    /// A non-canonical address, or something that is forbidden: the processor does not tell.
    Untold,
}

/// The code of a signal that the kernel sends without saying more.
const SI_KERNEL: i32 = 0x80;

impl Tracee {
    /// The cause of the latest signal, for which the program has stopped.
    pub(crate) fn cause(&self, signal: i32) -> Option<Cause> {
        let (code, address) = self.signal_cause()?;
        let registers = self.registers()?;
        // The instruction before: that one is over, and no longer than this.
        let before = |length: u64| Some(registers.rip.wrapping_sub(length));
        let cause = |instruction, subject| Some(Cause { instruction, subject });
        match (signal, code) {
            (libc::SIGSEGV | libc::SIGBUS, SI_KERNEL) => cause(Some(registers.rip), SignalSubject::Untold),
            (libc::SIGSEGV | libc::SIGBUS, 1..) => {
                cause(Some(registers.rip), SignalSubject::Address(address))
            }
            (libc::SIGILL | libc::SIGFPE, 1..) => cause(Some(registers.rip), SignalSubject::Nothing),
            (libc::SIGTRAP, SI_KERNEL) => cause(before(1), SignalSubject::Nothing),
            _ if asks_for(signal, registers.orig_rax as i64) => cause(before(2), SignalSubject::Nothing),
            _ => cause(None, SignalSubject::Nothing),
        }
    }

    /// The code of the latest signal and the address that could not be used.
    pub(crate) fn signal_cause(&self) -> Option<(i32, u64)> {
        let info = nix::sys::ptrace::getsiginfo(self.pid()).ok()?;
        // SAFETY: reads a field of the union as the kernel has filled it for faults; for other signals
        // the bits mean something else, and the code tells.
        Some((info.si_code, unsafe { info.si_addr() } as u64))
    }

    /// The description (`siginfo_t`) of the latest signal.
    pub(crate) fn signal_details(&self) -> Option<libc::siginfo_t> {
        nix::sys::ptrace::getsiginfo(self.pid()).ok()
    }

    /// Replaces the description of the signal that is about to be delivered.
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

    /// A signal mask that proc(5) tells, the first signal in the lowest bit.
    fn signals(&self, field: &str) -> u64 {
        let mask = status::field(self.pid(), field);
        mask.and_then(|mask| u64::from_str_radix(&mask, 16).ok()).unwrap_or(0)
    }
}

/// Whether a signal comes of the very system call that the program is in: it sends it to itself, or the call cannot be
/// made.
fn asks_for(signal: i32, call: i64) -> bool {
    let sends = [
        libc::SYS_kill,
        libc::SYS_tkill,
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
    ];
    call >= 0 && (sends.contains(&call) || matches!(signal, libc::SIGPIPE | libc::SIGSYS))
}
