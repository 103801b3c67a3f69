//! Decision about a system call that was held up: it is made, or fails, or ends the run.

use std::time::Duration;

use libc::user_regs_struct;
use nix::unistd::Pid;

use super::sandbox::{Answer, HeldCall};
use super::{ProcessError, Tracee};
use crate::termination::Cut;

/// The pause before a call that has had to wait is tried again.
const PAUSE: Duration = Duration::from_millis(1);

impl Tracee {
    /// Decides about a system call that was held up. If the run has other processes which could change what the call
    /// names, they are held until it is made.
    pub(super) fn decide(&mut self, who: Pid) {
        let Ok(registers) = nix::sys::ptrace::getregs(who) else {
            return;
        };
        if who == self.pid() {
            self.hear(&registers);
        }
        let if_waiting = self.guard.can_be_misled(&registers).filter(|_| self.family().len() > 1);
        let Some(if_waiting) = if_waiting else {
            self.answer(who, &registers);
            return;
        };
        let Some(held) = self.hold_others(who) else { return };
        let is_allowed = self.answer(who, &registers) == Answer::Allowed;
        let is_taken_back = is_allowed && self.carry_out(who, if_waiting);
        self.let_go(held);
        if is_taken_back {
            std::thread::sleep(PAUSE);
        }
    }

    fn answer(&mut self, who: Pid, registers: &user_regs_struct) -> Answer {
        let respondent = &self.respondent;
        let family = || self.family().into_iter().filter_map(|pid| respondent.number(pid)).collect();
        let (parent, memory) = (respondent.parent(), self.limits.memory);
        let call = HeldCall { by: who, registers, family: &family, parent, memory };
        let answer = self.guard.answer(&call);
        match answer {
            Answer::Allowed => {}
            // Another thread has ended the process meanwhile, so that there was nothing to be found out.
            Answer::Denied(_) if nix::sys::ptrace::getregs(who).is_err() => {}
            Answer::TooMuch => self.cut = Some(Cut::Memory),
            Answer::Denied(action) => {
                self.denied.insert(action);
                if !self.limits.tolerated.contains(action) {
                    self.cut = Some(Cut::Escaped(action));
                }
                // No call is made, and this is its result.
                let rax = -i64::from(libc::EPERM) as u64;
                let denied = user_regs_struct { orig_rax: u64::MAX, rax, ..*registers };
                let _ = nix::sys::ptrace::setregs(who, denied);
            }
        }
        answer
    }

    /// The processes of the run, as far as they are known.
    pub(super) fn family(&self) -> Vec<Pid> {
        self.others.iter().copied().chain([self.pid()]).collect()
    }

    /// Notes an error because of which the run cannot be traced any further.
    pub(super) fn fail(&mut self, error: ProcessError) {
        self.trouble = Some(error);
    }
}
