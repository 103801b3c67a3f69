//! See to a held program's signals: what the latest was about, and what the program does about them.

use super::{ProcessError, Tracee, status};
use crate::address::RuntimeAddress;

/// What a program does about a signal: the kernel's `struct sigaction`.
pub(crate) type SignalAction = [u8; 32];
/// The size of the kernel's sets of signals.
const SIZE_OF_MASK: u64 = 8;
/// Requests of ptrace(2) that the crate libc does not name.
const PTRACE_GETSIGMASK: libc::c_uint = 0x420a;
const PTRACE_SETSIGMASK: libc::c_uint = 0x420b;

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

    /// Whether the program handles the signal.
    pub(crate) fn handles(&self, signal: i32) -> bool {
        self.signals("SigCgt:") >> (signal - 1) & 1 == 1
    }

    /// A set of signals that proc(5) tells of, the first in the lowest bit.
    fn signals(&self, field: &str) -> u64 {
        let mask = status::field(self.pid(), field);
        mask.and_then(|mask| u64::from_str_radix(&mask, 16).ok()).unwrap_or(0)
    }

    /// What the program does about a signal, in the form of the kernel.
    pub(crate) fn signal_action(&mut self, signal: i32) -> Result<SignalAction, ProcessError> {
        self.with_scratch(|tracee, scratch| {
            let arguments = [signal as u64, 0, scratch.0, SIZE_OF_MASK, 0, 0];
            tracee.system_call(libc::SYS_rt_sigaction, arguments)?;
            let bytes = tracee.read(scratch, size_of::<SignalAction>()).unwrap_or_default();
            Ok(bytes.try_into().unwrap_or_default())
        })
    }

    /// Makes the program do this about a signal, and blocks the signal.
    pub(crate) fn restore_signal(&mut self, signal: i32, action: &SignalAction) -> Result<(), ProcessError> {
        self.with_scratch(|tracee, scratch| {
            tracee.write(scratch, action);
            let arguments = [signal as u64, scratch.0, 0, SIZE_OF_MASK, 0, 0];
            tracee.system_call(libc::SYS_rt_sigaction, arguments).map(drop)
        })?;
        let mut mask = 0_u64;
        let (pid, size) = (self.pid().as_raw(), size_of_val(&mask));
        // SAFETY: the requests read and write the eight bytes of the mask.
        unsafe {
            if libc::ptrace(PTRACE_GETSIGMASK, pid, size, &raw mut mask) == 0 {
                mask |= 1 << (signal - 1);
                libc::ptrace(PTRACE_SETSIGMASK, pid, size, &raw const mask);
            }
        }
        Ok(())
    }

    /// Lends a piece of the program's stack that nobody uses.
    fn with_scratch<T>(
        &mut self,
        act: impl FnOnce(&mut Tracee, RuntimeAddress) -> Result<T, ProcessError>,
    ) -> Result<T, ProcessError> {
        const BELOW_RED_ZONE: u64 = 512;
        let sp = self.location().map_or(0, |location| location.sp);
        let scratch = RuntimeAddress(sp.saturating_sub(BELOW_RED_ZONE));
        let original = self.read(scratch, size_of::<SignalAction>());
        let result = act(self, scratch);
        if let Some(original) = original {
            self.write(scratch, &original);
        }
        result
    }
}
