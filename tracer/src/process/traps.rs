//! The program's disposition of SIGTRAP, which the tracer's own traps make the kernel forget.
//!
//! A trap has to be delivered. Where the program blocks or ignores the signal, the kernel unblocks it and resets its
//! action to the default one. Afterwards nothing tells what they were. So the filter stops the program at the calls
//! that change them, and after a trap the kernel is told again.
//!
//! Source: sigaction(2), sigprocmask(2), sigreturn(2), and `force_sig_info_to_task` of the kernel.

use libc::{SIG_DFL, SIG_IGN, SIGTRAP, siginfo_t};

/// The action of a program for a signal: the kernel's `struct sigaction`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SignalAction {
    pub(super) handler: u64,
    pub(super) flags: u64,
    pub(super) restorer: u64,
    pub(super) mask: u64,
}

/// The disposition of SIGTRAP in a program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traps {
    pub(super) action: SignalAction,
    pub(super) is_blocked: bool,
    /// The signals during whose handlers SIGTRAP is blocked.
    blocking: u64,
    /// The signals whose handlers run once.
    once: u64,
    /// A SIGTRAP that was sent while it was blocked, and in whose place a trap of the tracer's was let in.
    pub(super) postponed: Option<Details>,
}

/// The description of a signal, `siginfo_t`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Details(pub(super) siginfo_t);

// SAFETY: its pointers are addresses in another process.
unsafe impl Send for Details {}

impl Traps {
    /// Notes that from now on the program has this action for a signal.
    pub(super) fn act(&mut self, signal: i32, action: SignalAction) {
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

    /// Whether the program blocks or ignores SIGTRAP, which the kernel forgets when a trap comes.
    pub(super) fn keep_out(&self) -> bool {
        self.is_blocked || self.action.handler == SIG_IGN as u64
    }

    /// Notes that a signal is delivered.
    pub(super) fn deliver(&mut self, signal: i32) {
        self.is_blocked |= self.blocking & bit(signal) != 0;
        if self.once & bit(signal) != 0 {
            let action = if signal == SIGTRAP { self.action } else { SignalAction::default() };
            self.act(signal, SignalAction { handler: SIG_DFL as u64, ..action });
        }
    }
}

/// The bit of a signal in a set.
pub(super) fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}
