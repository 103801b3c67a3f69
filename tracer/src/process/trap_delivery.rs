//! Removal of the tracer's own traps from a program's signals, so that its disposition of SIGTRAP stays as it was.
//!
//! Source: sigaction(2), sigprocmask(2), sigreturn(2).

use libc::{SIG_DFL, SIGTRAP, siginfo_t, user_regs_struct};

use super::traps::{Details, SignalAction, Traps, bit};
use super::{ProcessError, Tracee};
use crate::address::RuntimeAddress;

/// The size of the kernel's sets of signals.
const SIZE_OF_MASK: u64 = 8;
/// Requests of ptrace(2) that the crate libc does not name.
const PTRACE_GETSIGMASK: libc::c_uint = 0x420a;
const PTRACE_SETSIGMASK: libc::c_uint = 0x420b;

/// Whether somebody has sent the signal. A trap in a system call comes as if sent by nobody.
fn is_sent(details: &siginfo_t) -> bool {
    // SAFETY: the first field for signals that are sent; any bits are a number.
    details.si_code < 0 || details.si_code == libc::SI_USER && unsafe { details.si_pid() } != 0
}

impl Tracee {
    /// Notes a system call that the program is about to make. Those that fail change nothing, as their arguments tell.
    pub(super) fn hear(&mut self, call: &user_regs_struct) {
        let &user_regs_struct { orig_rax, rdi, rsi, r10, rsp, .. } = call;
        match orig_rax as i64 {
            libc::SYS_rt_sigaction if r10 == SIZE_OF_MASK => {
                if let (1..=64, Some([handler, flags, restorer, mask])) = (rdi, self.words(rsi)) {
                    self.traps.act(rdi as i32, SignalAction { handler, flags, restorer, mask });
                }
            }
            libc::SYS_rt_sigprocmask if r10 == SIZE_OF_MASK => {
                let Some([set]) = self.words(rsi) else { return };
                let has_trap = set & bit(SIGTRAP) != 0;
                match rdi as i32 {
                    libc::SIG_BLOCK => self.traps.is_blocked |= has_trap,
                    libc::SIG_UNBLOCK => self.traps.is_blocked &= !has_trap,
                    libc::SIG_SETMASK => self.traps.is_blocked = has_trap,
                    _ => {}
                }
            }
            libc::SYS_rt_sigreturn => {
                let at = rsp + std::mem::offset_of!(libc::ucontext_t, uc_sigmask) as u64;
                self.traps.is_blocked = self.words(at).is_some_and(|[mask]| mask & bit(SIGTRAP) != 0);
            }
            _ => {}
        }
    }

    /// Reads so many words of its memory; `None` where none is mapped.
    fn words<const N: usize>(&self, at: u64) -> Option<[u64; N]> {
        let bytes = self.read(RuntimeAddress(at), N * size_of::<u64>())?;
        let words = bytes.chunks_exact(size_of::<u64>()).map(|word| word.try_into().map(u64::from_ne_bytes));
        words.collect::<Result<Vec<u64>, _>>().ok()?.try_into().ok()
    }

    /// Removes a trap of the tracer's by which the program is stopped, and which it does not get: restores what it does
    /// about such signals.
    pub(crate) fn take_trap(&mut self) -> Result<(), ProcessError> {
        if !self.traps.keep_out() {
            return Ok(());
        }
        let Traps { action, is_blocked, .. } = self.traps;
        let sent = self.signal_details().filter(|details| is_blocked && is_sent(details));
        let mask = self.blocked_signals();
        if action.handler != SIG_DFL as u64 {
            // No other signal is to come in between.
            self.block_signals(u64::MAX);
            self.set_trap_action(action)?;
        }
        self.block_signals(if is_blocked { mask | bit(SIGTRAP) } else { mask });
        if let Some(mut details) = sent {
            self.traps.postponed = Some(Details(details));
            self.send(SIGTRAP);
            // The one that has come is the tracer's.
            details.si_code = libc::TRAP_TRACE;
            self.set_signal_details(&details);
        }
        Ok(())
    }

    /// Handles the trap that ends a step: the tracer's, unless the instruction is one of the program's own that traps.
    pub(super) fn end_step(&mut self) -> Result<(), ProcessError> {
        let is_of_code = |details: siginfo_t| details.si_code == libc::SI_KERNEL;
        if self.traps.keep_out() && !self.signal_details().is_some_and(is_of_code) {
            self.take_trap()?;
        }
        Ok(())
    }

    /// Handles a signal that is about to be delivered. One that was postponed is shown as it was when it was sent.
    pub(super) fn deliver(&mut self, signal: i32) {
        self.traps.deliver(signal);
        // Sent by somebody; by the tracer, which is in no number space of the program's, as if by nobody.
        let is_by_a_call = |details: siginfo_t| details.si_code <= libc::SI_USER;
        if signal == SIGTRAP && self.signal_details().is_some_and(is_by_a_call) {
            if let Some(Details(details)) = self.traps.postponed.take() {
                self.set_signal_details(&details);
            }
            self.respondent.takes(self.pid(), signal);
        }
    }

    fn set_trap_action(&mut self, action: SignalAction) -> Result<(), ProcessError> {
        const BELOW_RED_ZONE: u64 = 512;
        let sp = self.location().map_or(0, |location| location.sp);
        let scratch = RuntimeAddress(sp.saturating_sub(BELOW_RED_ZONE));
        let original = self.read(scratch, size_of::<SignalAction>());
        let words = [action.handler, action.flags, action.restorer, action.mask];
        self.write(scratch, words.map(u64::to_ne_bytes).as_flattened());
        let arguments = [SIGTRAP as u64, scratch.0, 0, SIZE_OF_MASK, 0, 0];
        let result = self.system_call(libc::SYS_rt_sigaction, arguments);
        if let Some(original) = original {
            self.write(scratch, &original);
        }
        result.map(drop)
    }

    fn blocked_signals(&self) -> u64 {
        let mut mask = 0_u64;
        let size = size_of_val(&mask);
        // SAFETY: the request writes the eight bytes of the mask.
        unsafe { libc::ptrace(PTRACE_GETSIGMASK, self.pid().as_raw(), size, &raw mut mask) };
        mask
    }

    fn block_signals(&self, mask: u64) {
        // SAFETY: the request reads the eight bytes of the mask.
        unsafe { libc::ptrace(PTRACE_SETSIGMASK, self.pid().as_raw(), size_of_val(&mask), &raw const mask) };
    }
}
