//! The tracee: a running program, held by ptrace; start it, wait for it, resume it, end it.
//!
//! Processes that the program starts are held too, run freely without breakpoints, and die with the run.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::sync::Arc;

use nix::unistd::Pid;

use super::children::{
    Stop, end, is_there, is_thread, kill_held, passed_on, restart, wait_a_moment, wait_any,
};
use super::constancy::CallEmulator;
use super::exclusion::{Exclusion, is_interruption};
use super::handle::Handle;
use super::sandbox::Guard;
use super::status::{auxiliary_vector, number_inside};
use super::traps::Traps;
use super::{Launch, ProcessError, Sandbox};
use crate::denial::Actions;
use crate::invocation::Limits;
use crate::termination::Cut;

const OPTIONS: i32 = libc::PTRACE_O_EXITKILL
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEVFORKDONE
    | QUESTIONS;

/// The ptrace options for stops at questions.
const QUESTIONS: i32 = libc::PTRACE_O_TRACESECCOMP | libc::PTRACE_O_TRACESYSGOOD;
/// The signal of a stop at entry or exit of a system call.
const RETURN: i32 = libc::SIGTRAP | 0x80;

/// The number of failed waits for a program that is being ended, before that is given up.
const PATIENCE: u32 = 3;

/// A tracee: a running program that is held by ptrace.
pub(crate) struct Tracee {
    pid: Pid,
    /// Its memory, opened where it is needed.
    memory: OnceCell<Option<File>>,
    /// The standard input of a program that was started, which its forks have as well.
    pub(super) stdin: Option<File>,
    /// The auxiliary vector at its start: kinds and values.
    auxiliary: Vec<(u64, u64)>,
    /// The processes that the program has started and that live.
    pub(super) others: HashSet<Pid>,
    /// New processes whose first stop came before their parent's word of them.
    held: HashSet<Pid>,
    /// The resource limits; of the processes that it may start, those that are left.
    pub(super) limits: Limits,
    pub(super) guard: Arc<Guard>,
    /// The actions that it wanted to do and was denied.
    pub(super) denied: Actions,
    /// The reason for which the run is to be ended.
    pub(super) cut: Option<Cut>,
    /// The error because of which it cannot be traced any further.
    pub(super) trouble: Option<ProcessError>,
    /// The handle of a program that nobody waits for while it runs.
    handle: Option<Handle>,
    /// The end of the program itself.
    gone: Option<Stop>,
    /// The emulator that answers what it asks.
    pub(super) respondent: CallEmulator,
    /// The ptrace request by which it was resumed last.
    pub(super) request: libc::c_uint,
    /// Whether its end is recorded: a stop at its exit was asked for.
    pub(super) tells_exit: bool,
    /// The actions of the program about SIGTRAP.
    pub(super) traps: Traps,
    pub(super) exclusion: Exclusion,
}

impl Tracee {
    /// Starts the program and waits until its first instruction is next.
    pub(crate) fn start(sandbox: &Sandbox, launch: &Launch<'_>) -> Result<Tracee, ProcessError> {
        let started = sandbox.start(launch, OPTIONS)?;
        let pid = started.pid;
        loop {
            let (who, status) = wait_any()?;
            if who != pid {
                continue;
            }
            if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
                return Err(started.failure());
            }
            if status >> 16 == libc::PTRACE_EVENT_EXEC {
                break;
            }
            restart(pid, libc::PTRACE_CONT, passed_on(status));
        }
        let respondent = CallEmulator::new(pid, number_of(pid)?, sandbox.parent(), sandbox.constancy());
        respondent.executed(pid);
        let memory = launch.limits.memory.map(|memory| memory.saturating_add(launch.attachments.size));
        let mut tracee = Tracee::new(pid, Limits { memory, ..*launch.limits }, sandbox.guard(), respondent);
        tracee.auxiliary = auxiliary_vector(pid);
        tracee.stdin = Some(started.stdin);
        Ok(tracee)
    }

    fn new(pid: Pid, limits: Limits, guard: Arc<Guard>, respondent: CallEmulator) -> Tracee {
        Tracee {
            pid,
            memory: OnceCell::new(),
            stdin: None,
            auxiliary: Vec::new(),
            others: HashSet::new(),
            held: HashSet::new(),
            limits,
            guard,
            denied: Actions::NONE,
            cut: None,
            trouble: None,
            handle: None,
            gone: None,
            respondent,
            request: libc::PTRACE_CONT,
            tells_exit: false,
            traps: Traps::default(),
            exclusion: Exclusion::default(),
        }
    }

    /// Waits for a child that this program forks with CLONE_PTRACE, and that is `expected` when it stops
    /// for the first time, by the number that it has for the program.
    ///
    /// # Errors
    /// [`ProcessError::NotForked`] if it ends, or stops because the kernel has refused; it then goes on and can
    /// be asked again.
    pub(crate) fn forked(
        &mut self,
        expected: impl Fn() -> u32,
        limits: &Limits,
    ) -> Result<Tracee, ProcessError> {
        let refused = |source| ProcessError::NotForked { source };
        // Why a child is being ended of which nothing can be found out.
        let mut unknown = None;
        loop {
            let (who, status) = wait_any()?;
            if who == self.pid && end(status).is_none() && self.answers(who, status) {
                self.go_on(0);
                continue;
            }
            if who == self.pid {
                self.gone = end(status);
                if self.gone.is_some() {
                    return Err(refused(io::Error::other("it has ended")));
                }
                self.go_on(0);
                return Err(refused(io::Error::from_raw_os_error(libc::EAGAIN)));
            }
            if end(status).is_some() {
                match unknown.take() {
                    Some((child, source)) if child == who => return Err(refused(source)),
                    other => unknown = other,
                }
                continue;
            }
            let number = match number_inside(who) {
                Ok(number) => number,
                Err(source) => {
                    // The program waits for its child, and would not fork another one.
                    kill_held(who);
                    unknown = Some((who, source));
                    continue;
                }
            };
            if number == expected() {
                // It has the attachments of this program as well.
                let limits = Limits { memory: self.limits.memory, ..*limits };
                let respondent = self.respondent.go_on_as(self.pid, who, number);
                let mut child = Tracee::new(who, limits, Arc::clone(&self.guard), respondent);
                child.traps = self.traps;
                child.set_options(OPTIONS);
                return Ok(child);
            }
        }
    }

    /// Whether the program has not ended. For one that runs while nobody waits for it.
    pub(crate) fn is_alive(&mut self) -> bool {
        let mut status = 0;
        let flags = libc::__WALL | libc::__WNOTHREAD | libc::WNOHANG;
        // SAFETY: `status` outlives the call.
        let found = unsafe { libc::waitpid(self.pid.as_raw(), &raw mut status, flags) };
        if found == self.pid.as_raw() {
            self.gone = end(status);
        }
        found == 0 && self.gone.is_none()
    }

    /// Lets a program that has just been started come out of execve(2), which would overwrite a register.
    /// Its first instruction is still next.
    pub(crate) fn leave_exec(&mut self) -> Result<(), ProcessError> {
        self.step(0);
        self.wait().map(drop)
    }

    /// Makes the program a server: it tells in its own way of the children that it forks, which are not held.
    pub(crate) fn serves(&mut self) -> Result<(), ProcessError> {
        self.set_options(libc::PTRACE_O_EXITKILL | QUESTIONS);
        self.handle = Some(Handle::new(self.pid)?);
        self.go_on(0);
        Ok(())
    }

    /// The actions that the program and those that it has started wanted to do and were denied.
    pub(crate) fn denied(&self) -> Actions {
        self.denied
    }

    /// Whether processes live that the program has started.
    pub(super) fn has_others(&self) -> bool {
        !self.others.is_empty() || !self.held.is_empty()
    }

    /// The number of the process.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Asks for [`Stop::Exiting`].
    pub(crate) fn stop_at_exit(&mut self) {
        self.tells_exit = true;
        self.set_options(OPTIONS | libc::PTRACE_O_TRACEEXIT);
    }

    fn set_options(&self, options: i32) {
        // SAFETY: the request takes a number.
        unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, self.pid.as_raw(), 0, options as usize) };
    }

    /// Its memory, as a file; `None` if it cannot be opened.
    pub(super) fn memory(&self) -> Option<&File> {
        let open = || File::options().read(true).write(true).open(format!("/proc/{}/mem", self.pid));
        self.memory.get_or_init(|| open().ok()).as_ref()
    }

    /// Waits for the next stop of the program. Its children are served on the way.
    pub(crate) fn wait(&mut self) -> Result<Stop, ProcessError> {
        if let Some(end) = self.gone {
            return Ok(end);
        }
        self.release();
        loop {
            let (who, status) = self.next_told()?;
            let stop = if who == self.pid {
                self.stop(status)
            } else {
                self.serve_other(who, status);
                None
            };
            if let Some(error) = self.trouble.take() {
                return Err(error);
            }
            if let Some(stop) = stop.or(self.cut.map(Stop::Cut)) {
                if stop == Stop::Trap && self.request == libc::PTRACE_SINGLESTEP {
                    self.end_step()?;
                }
                return Ok(stop);
            }
        }
    }

    fn stop(&mut self, status: i32) -> Option<Stop> {
        if let Some(end) = end(status) {
            self.gone = Some(end);
            return Some(end);
        }
        if self.answers(self.pid, status) {
            if self.cut.is_none() && !self.goes_on_itself(self.pid) {
                self.restart(self.request, 0);
            }
            return None;
        }
        let signal = libc::WSTOPSIG(status);
        match status >> 16 {
            0 if signal == libc::SIGTRAP => Some(Stop::Trap),
            0 if signal == RETURN => Some(Stop::Call),
            0 => Some(Stop::Signal(signal)),
            libc::PTRACE_EVENT_EXEC => {
                self.respondent.executed(self.pid);
                Some(Stop::Executed)
            }
            libc::PTRACE_EVENT_VFORK => {
                self.adopt(self.pid);
                Some(Stop::SharedMemory)
            }
            libc::PTRACE_EVENT_VFORK_DONE => Some(Stop::OwnMemoryAgain),
            libc::PTRACE_EVENT_FORK => self.adopt(self.pid).map(Stop::Forked),
            libc::PTRACE_EVENT_CLONE => match self.adopt(self.pid) {
                Some(new) if is_thread(new, self.pid) => Some(Stop::Thread),
                Some(new) => Some(Stop::Forked(new)),
                None => None,
            },
            libc::PTRACE_EVENT_EXIT => Some(Stop::Exiting),
            // A group-stop. SIGTRAP there is the end of one.
            libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => Some(Stop::Stopped),
            _ => {
                self.resume_interrupted(self.pid);
                None
            }
        }
    }

    /// Answers what a process asks, if it is stopped for that.
    fn answers(&mut self, who: Pid, status: i32) -> bool {
        if status >> 16 == 0 && libc::WSTOPSIG(status) != RETURN {
            self.ends_transfer(who);
        }
        match (status >> 16, libc::WSTOPSIG(status)) {
            (libc::PTRACE_EVENT_SECCOMP, _) => {
                // Before the guard decides, so that it sees the numbers of processes that the kernel will hear.
                self.respondent.answer(who);
                self.decide(who);
            }
            (0, RETURN) => return self.ends_call(who) | self.respondent.amend(who),
            // Of the program's traps most are the tracer's.
            (0, signal) if signal != libc::SIGTRAP || who != self.pid => {
                return self.respondent.takes(who, signal);
            }
            _ => return false,
        }
        true
    }

    /// Registers the new process that the event of `parent` is about.
    fn adopt(&mut self, parent: Pid) -> Option<Pid> {
        let mut message: libc::c_ulong = 0;
        // SAFETY: the request writes one long to the address.
        let result = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, parent.as_raw(), 0, &raw mut message) };
        let new = (result == 0).then(|| Pid::from_raw(message as i32))?;
        self.limits.tasks = self.limits.tasks.saturating_sub(1);
        if self.limits.tasks == 0 {
            self.cut = Some(Cut::Tasks);
        }
        self.others.insert(new);
        match number_of(new) {
            Ok(number) => self.respondent.started(parent, (new, number), is_thread(new, parent)),
            Err(error) => self.trouble = Some(error).filter(|_| is_there(new)),
        }
        Some(new)
    }

    fn serve_other(&mut self, who: Pid, status: i32) {
        if end(status).is_some() {
            self.others.remove(&who);
            self.held.remove(&who);
            self.respondent.ended(who);
            self.exclusion.forget(who);
        } else if !self.others.contains(&who) {
            // Its memory may be a copy with breakpoints, which have to go before it runs: it would die of SIGTRAP.
            self.held.insert(who);
        } else {
            if matches!(
                status >> 16,
                libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE
            ) {
                self.adopt(who);
                self.release();
            }
            if status >> 16 == libc::PTRACE_EVENT_EXEC {
                self.respondent.executed(who);
            }
            let signal = if self.answers(who, status) { 0 } else { passed_on(status) };
            if self.cut.is_some() || self.goes_on_itself(who) {
                return;
            }
            if is_interruption(status) {
                self.resume_interrupted(who);
            } else {
                restart(who, self.request_of(who, libc::PTRACE_CONT), signal);
            }
        }
    }

    /// Resumes those held processes whose parents have reported them meanwhile.
    fn release(&mut self) {
        let (others, held) = (&self.others, &mut self.held);
        held.retain(|&pid| {
            let known = others.contains(&pid);
            if known {
                restart(pid, libc::PTRACE_CONT, 0);
            }
            !known
        });
    }

    /// Resumes the program; `signal` is delivered to it, 0 for none.
    pub(crate) fn go_on(&mut self, signal: i32) {
        self.restart(libc::PTRACE_CONT, signal);
    }

    /// Lets the program execute one instruction; `signal` is delivered to it, 0 for none.
    pub(crate) fn step(&mut self, signal: i32) {
        self.restart(libc::PTRACE_SINGLESTEP, signal);
    }

    pub(super) fn restart(&mut self, request: libc::c_uint, signal: i32) {
        self.request = request;
        if signal != 0 {
            self.deliver(signal);
        }
        restart(self.pid, self.request_of(self.pid, request), signal);
    }

    /// A value of the auxiliary vector that the kernel has handed to the program, getauxval(3).
    pub(crate) fn auxiliary(&self, kind: u64) -> Option<u64> {
        self.auxiliary.iter().find(|&&(known, _)| known == kind).map(|&(_, value)| value)
    }

    /// Ends a program that has started nothing that is held. Unlike for all else, any thread may do this:
    /// if the one that has started it has ended, the kernel has killed the program, and its parent in the
    /// sandbox has taken its number away.
    fn end_alone(&mut self) {
        if self.gone.is_none() {
            if let Some(handle) = &self.handle {
                handle.kill();
                handle.wait();
            }
            let flags = libc::__WALL | libc::WNOHANG;
            // SAFETY: asks for no status. Whoever else has this number now is no child of this process.
            unsafe { libc::waitpid(self.pid.as_raw(), std::ptr::null_mut(), flags) };
            self.gone = Some(Stop::Killed(libc::SIGKILL));
        }
    }

    /// Ends the program and all that it has started, and waits until they are gone.
    pub(crate) fn end(&mut self) {
        // A server waits for the end of its child, and if nobody had taken notice of that it would fork no other one.
        let mut patience = PATIENCE;
        let this = self.gone.is_none().then_some(&self.pid);
        this.into_iter().chain(&self.others).chain(&self.held).copied().for_each(kill_held);
        self.take_told().into_iter().for_each(|(who, status)| self.see_off(who, status));
        while self.gone.is_none() || self.has_others() {
            // The program itself tells of its end. Of the others a thread may have vanished: by the exec of another
            // one.
            let next = if self.has_others() { wait_a_moment() } else { wait_any().map(Some) };
            match next {
                Ok(Some((who, status))) => self.see_off(who, status),
                Ok(None) => {
                    self.others.retain(|&pid| is_there(pid));
                    self.held.retain(|&pid| is_there(pid));
                }
                Err(_) if patience > 0 => patience -= 1,
                Err(_) => break,
            }
        }
        self.others.clear();
        self.held.clear();
    }

    /// Notes the end of a process of a run that is being ended, or ends it.
    fn see_off(&mut self, who: Pid, status: i32) {
        match end(status) {
            Some(end) if who == self.pid => self.gone = Some(end),
            Some(_) => {
                self.others.remove(&who);
                self.held.remove(&who);
            }
            None => {
                // One that shows up here for the first time was being forked just now.
                if who != self.pid {
                    self.held.insert(who);
                }
                kill_held(who);
            }
        }
    }
}

impl Drop for Tracee {
    fn drop(&mut self) {
        match self.handle {
            Some(_) => self.end_alone(),
            None => self.end(),
        }
    }
}

/// The number of a stopped process in its own namespace.
fn number_of(process: Pid) -> Result<u32, ProcessError> {
    number_inside(process).map_err(|source| ProcessError::System {
        what: "finding out the number of a process",
        source: io::Error::other(format!("/proc/{process}/status: {source}")),
    })
}
