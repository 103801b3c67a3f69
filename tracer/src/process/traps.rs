//! Keep what a program does about SIGTRAP, which the tracer's own traps make the kernel forget.
//!
//! A trap has to be delivered. Where the program blocks or ignores the signal, the kernel lets it in and
//! makes its action the default one (trap 10). Afterwards nothing tells what they were. So the filter
//! stops the program at the calls that change them, and after a trap the kernel is told again.
//!
//! Source: sigaction(2), sigprocmask(2), sigreturn(2), and `force_sig_info_to_task` of the kernel.

use libc::{SIG_DFL, SIG_IGN, SIGTRAP, siginfo_t, user_regs_struct};

use super::{ProcessError, Tracee};
use crate::address::RuntimeAddress;

/// The size of the kernel's sets of signals.
const SIZE_OF_MASK: u64 = 8;
/// Requests of ptrace(2) that the crate libc does not name.
const PTRACE_GETSIGMASK: libc::c_uint = 0x420a;
const PTRACE_SETSIGMASK: libc::c_uint = 0x420b;

/// What a program does about a signal: the kernel's `struct sigaction`.
#[derive(Clone, Copy, Debug, Default)]
struct Action {
    handler: u64,
    flags: u64,
    restorer: u64,
    mask: u64,
}

/// What a program does about SIGTRAP.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traps {
    action: Action,
    is_blocked: bool,
    /// The signals while whose handlers run SIGTRAP is blocked.
    blocking: u64,
    /// The signals whose handlers run once.
    once: u64,
    /// One that was sent while it was blocked, and in whose place a trap of the tracer's was let in.
    postponed: Option<Details>,
}

/// What the kernel has to say of a signal.
#[derive(Clone, Copy, Debug)]
struct Details(siginfo_t);

// SAFETY: its pointers are addresses in another process.
unsafe impl Send for Details {}

impl Traps {
    /// From now on the program does this about a signal.
    fn act(&mut self, signal: i32, action: Action) {
        let has = |flag: i32| action.flags & flag as u64 != 0;
        let is_handled = ![SIG_DFL as u64, SIG_IGN as u64].contains(&action.handler);
        let blocks = action.mask & bit(SIGTRAP) != 0 || signal == SIGTRAP && !has(libc::SA_NODEFER);
        let set = |signals: &mut u64, whether| match whether {
            true => *signals |= bit(signal),
            false => *signals &= !bit(signal),
        };
        set(&mut self.blocking, is_handled && blocks);
        set(&mut self.once, is_handled && has(libc::SA_RESETHAND));
        if signal == SIGTRAP {
            self.action = action;
        }
    }

    /// Whether the program lets no trap in, so that the kernel forgets that when one comes.
    fn keep_out(&self) -> bool {
        self.is_blocked || self.action.handler == SIG_IGN as u64
    }

    /// A signal is delivered.
    fn deliver(&mut self, signal: i32) {
        self.is_blocked |= self.blocking & bit(signal) != 0;
        if self.once & bit(signal) != 0 {
            let action = if signal == SIGTRAP { self.action } else { Action::default() };
            self.act(signal, Action { handler: SIG_DFL as u64, ..action });
        }
    }
}

/// A signal in a set.
fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

/// Whether somebody has sent the signal. A trap in a system call comes as if sent by nobody.
fn is_sent(details: &siginfo_t) -> bool {
    // SAFETY: the first field for signals that are sent; any bits are a number.
    details.si_code < 0 || details.si_code == libc::SI_USER && unsafe { details.si_pid() } != 0
}

impl Tracee {
    /// The program is about to make this system call. Those that fail change nothing, as their arguments tell.
    pub(super) fn hear(&mut self, call: &user_regs_struct) {
        let &user_regs_struct { orig_rax, rdi, rsi, r10, rsp, .. } = call;
        match orig_rax as i64 {
            libc::SYS_rt_sigaction if r10 == SIZE_OF_MASK => {
                if let (1..=64, Some([handler, flags, restorer, mask])) = (rdi, self.words(rsi)) {
                    self.traps.act(rdi as i32, Action { handler, flags, restorer, mask });
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

    /// So many words of its memory; `None` where none is mapped.
    fn words<const N: usize>(&self, at: u64) -> Option<[u64; N]> {
        let bytes = self.read(RuntimeAddress(at), N * size_of::<u64>())?;
        let words = bytes.chunks_exact(size_of::<u64>()).map(|word| word.try_into().map(u64::from_ne_bytes));
        words.collect::<Result<Vec<u64>, _>>().ok()?.try_into().ok()
    }

    /// The program is stopped by a trap of the tracer's, which it does not get: makes what it does about
    /// such signals again what it was.
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

    /// A step has ended by a trap: the tracer's, unless the instruction is one of the program's own that traps.
    pub(super) fn end_step(&mut self) -> Result<(), ProcessError> {
        let is_of_code = |details: siginfo_t| details.si_code == libc::SI_KERNEL;
        if self.traps.keep_out() && !self.signal_details().is_some_and(is_of_code) {
            self.take_trap()?;
        }
        Ok(())
    }

    /// A signal is about to be delivered. One that was postponed is shown as it was when it was sent.
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

    fn set_trap_action(&mut self, action: Action) -> Result<(), ProcessError> {
        const BELOW_RED_ZONE: u64 = 512;
        let sp = self.location().map_or(0, |location| location.sp);
        let scratch = RuntimeAddress(sp.saturating_sub(BELOW_RED_ZONE));
        let original = self.read(scratch, size_of::<Action>());
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
