//! Exclusive calls: one process of a run makes a call that was allowed, while the others are held (`exclusion.rs`).

use std::collections::VecDeque;

use nix::unistd::Pid;

use super::children::{restart, wait_any};
use super::exclusion::{
    interrupt, is_asleep, is_end_of_call, is_interruption, may_go_on, soon, stays_in_kernel,
};
use super::sandbox::Waiting;
use super::transfer::{Transfer, rewound};
use super::{ProcessError, Tracee};

impl Tracee {
    /// Waits until a process has something to tell.
    pub(super) fn next_told(&mut self) -> Result<(Pid, i32), ProcessError> {
        self.exclusion.told.pop_front().map_or_else(wait_any, Ok)
    }

    /// Takes what processes have told and nobody has looked at.
    pub(super) fn take_told(&mut self) -> VecDeque<(Pid, i32)> {
        std::mem::take(&mut self.exclusion.told)
    }

    /// Whether a process that has been answered is not to be resumed: its call goes on, it has stopped again, or the run
    /// has ended.
    pub(super) fn goes_on_itself(&self, who: Pid) -> bool {
        let exclusion = &self.exclusion;
        let is_over = exclusion.has_ended(self.pid()) || self.trouble.is_some();
        is_over || exclusion.waiting.contains(&who) || exclusion.has_told(who)
    }

    /// Handles the stop of a process at the entry or the end of a call, if it was asked for here.
    pub(super) fn ends_call(&mut self, who: Pid) -> bool {
        if let Some(transfer) = self.exclusion.transfers.get_mut(&who) {
            if transfer.proceed(who) {
                self.exclusion.transfers.remove(&who);
            }
            return true;
        }
        self.exclusion.waiting.remove(&who)
    }

    /// Handles a signal that comes before the rest of a transfer: the call ends with what it has transferred.
    pub(super) fn ends_transfer(&mut self, who: Pid) {
        if let Some(transfer) = self.exclusion.transfers.remove(&who) {
            transfer.finish(who);
        }
    }

    /// The ptrace request by which a process is to be resumed instead of `request`.
    pub(super) fn request_of(&self, who: Pid, request: libc::c_uint) -> libc::c_uint {
        match self.exclusion.transfers.contains_key(&who) {
            true => libc::PTRACE_SYSCALL,
            false => self.respondent.request(who, request),
        }
    }

    /// Holds all other processes of the run; returns those that have to be let go, or `None` if the run has ended
    /// meanwhile.
    pub(super) fn hold_others(&mut self, who: Pid) -> Option<Vec<Pid>> {
        let all = self.family().into_iter().filter(|&other| other != who);
        let mut running: Vec<Pid> =
            all.filter(|&other| self.may_interfere(other) && interrupt(other)).collect();
        let mut held = Vec::new();
        while !running.is_empty() && !self.exclusion.has_ended(self.pid()) {
            match soon() {
                Ok(Some((other, status))) => {
                    let is_running = running.contains(&other);
                    running.retain(|&process| process != other);
                    match is_running && is_interruption(status) {
                        true => held.push(other),
                        false => self.exclusion.told.push_back((other, status)),
                    }
                }
                Ok(None) => running.retain(|&process| !stays_in_kernel(process)),
                Err(error) => {
                    self.fail(error);
                    return None;
                }
            }
        }
        (!self.exclusion.has_ended(self.pid())).then_some(held)
    }

    fn may_interfere(&self, other: Pid) -> bool {
        let will_stop = self.exclusion.will_stop(other) || self.respondent.request(other, 0) != 0;
        !will_stop && may_go_on(other)
    }

    /// Lets a process make the call that was allowed, until it is made or waits; returns true if it has had to be taken
    /// back.
    pub(super) fn carry_out(&mut self, who: Pid, if_waiting: Waiting) -> bool {
        restart(who, libc::PTRACE_SYSCALL, 0);
        while !self.exclusion.has_ended(self.pid()) {
            match soon() {
                Ok(Some((other, status))) if other == who && is_end_of_call(status) => {
                    self.respondent.amend(who);
                    return false;
                }
                Ok(Some((other, status))) => {
                    self.exclusion.told.push_back((other, status));
                    if other == who {
                        return false;
                    }
                }
                Ok(None) if is_asleep(who) => {
                    self.exclusion.waiting.insert(who);
                    return if_waiting == Waiting::Repeated && interrupt(who) && self.take_back(who);
                }
                Ok(None) => {}
                Err(error) => {
                    self.fail(error);
                    return false;
                }
            }
        }
        false
    }

    /// Takes back the call of a process that was interrupted in it, so that it is made anew; false if it has ended.
    fn take_back(&mut self, who: Pid) -> bool {
        while !self.exclusion.has_told(who) && !self.exclusion.has_ended(self.pid()) {
            match wait_any() {
                Ok((other, status)) if other == who && is_end_of_call(status) => {
                    self.exclusion.waiting.remove(&who);
                    return rewound(who);
                }
                Ok(told) => self.exclusion.told.push_back(told),
                Err(error) => {
                    self.fail(error);
                    return false;
                }
            }
        }
        false
    }

    /// Lets processes go on that were held.
    pub(super) fn let_go(&mut self, held: Vec<Pid>) {
        for process in held {
            self.resume_interrupted(process);
        }
    }

    /// Resumes a process that has been interrupted, so that it does not notice.
    pub(super) fn resume_interrupted(&mut self, process: Pid) {
        if let Some(transfer) = Transfer::interrupted(process) {
            self.exclusion.transfers.insert(process, transfer);
        }
        let usual = if process == self.pid() { self.request } else { libc::PTRACE_CONT };
        restart(process, self.request_of(process, usual), 0);
    }
}
