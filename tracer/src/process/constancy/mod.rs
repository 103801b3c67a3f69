//! Emulation of answers: what a program asks about time, chance and itself has the same answer in each run.
//!
//! The [filter](filter::Filter) makes the kernel stop the program, and all that it starts, at these system
//! calls; the program is held by ptrace at that moment whatever the engine, so that there is one place
//! for all answers: this one. Some are given at once, and the kernel hears nothing of the call. Others
//! are the kernel's, with the numbers of processes translated on the way there and back. What the
//! kernel would answer without a call is taken away at the start (its functions in the program's
//! memory, see `start`) or trapped (the instructions of `readings`).
//!
//! Each process has a [clock](clock::Clock) that moves by what it does, and random
//! [numbers](random_source::RandomSource) of its own, so that neither depends on what others do meanwhile.

mod clock;
mod filter;
mod memory;
mod numbers;
mod questions;
mod random_source;
mod readings;
mod returns;
mod start;

use std::collections::HashMap;

use libc::{c_uint, user_regs_struct};
use nix::sys::resource::Resource;
use nix::unistd::Pid;

use crate::invocation::{Answers, Constancy};
use clock::Clock;
pub(super) use filter::Filter;
use memory::TaskMemory;
use numbers::{Numbers, PARENT};
use questions::{Asked, Call, Reply, ResultRewrite, Wait};
use random_source::RandomSource;
use readings::Replaced;

/// The size of `struct rusage`.
const SIZE_OF_USAGE: usize = 144;
/// The offset of the sender's process number in the description of a signal, `siginfo_t`.
const PLACE_OF_SENDER: u64 = std::mem::offset_of!(Sender, process) as u64;

/// The resources, getrlimit(2), of which the tracer sets limits, and not the same ones for each run.
const LIMITED: [Resource; 3] = [Resource::RLIMIT_FSIZE, Resource::RLIMIT_CORE, Resource::RLIMIT_AS];

/// The emulator of system calls for the processes of a run.
#[derive(Debug)]
pub(super) struct CallEmulator {
    constancy: Constancy,
    numbers: Numbers,
    tasks: HashMap<Pid, Task>,
}

/// A process or thread of a run.
#[derive(Clone, Debug)]
struct Task {
    /// The numbers by which it knows itself: process and thread.
    process: i32,
    thread: i32,
    clock: Clock,
    chance: RandomSource,
    /// The instructions of its libraries that are replaced.
    replaced: Replaced,
    /// The soft and hard limits that it has set itself, for each of the [`LIMITED`] resources.
    limits: [Option<(u64, u64)>; LIMITED.len()],
    /// A wait that a signal has interrupted, and that the kernel may go on with.
    interrupted: Option<Wait>,
    /// Whether it has set a timer, which goes by the kernel's clock.
    has_timer: bool,
    /// A call that the kernel is answering: the registers as the program has set them, and the change to be made to
    /// the result.
    amended: Option<(user_regs_struct, ResultRewrite)>,
}

impl CallEmulator {
    /// An emulator for a run that `program` begins: whose number is `inside` for itself, and which reaches its parent
    /// by the number `parent`.
    pub(super) fn new(program: Pid, inside: u32, parent: i32, constancy: Constancy) -> CallEmulator {
        let numbers = Numbers::new(inside, parent);
        let number = numbers.first();
        let task = Task {
            process: number,
            thread: number,
            clock: Clock::default(),
            chance: RandomSource::default(),
            replaced: Replaced::default(),
            limits: [None; LIMITED.len()],
            interrupted: None,
            has_timer: false,
            amended: None,
        };
        CallEmulator { constancy, numbers, tasks: HashMap::from([(program, task)]) }
    }

    /// An emulator for a run that goes on, as `copy`, where that of `program` is now. The copy has this number for
    /// itself.
    pub(super) fn go_on_as(&self, program: Pid, copy: Pid, inside: u32) -> CallEmulator {
        let tasks = self.tasks.get(&program).map(|task| (copy, Task { amended: None, ..task.clone() }));
        let numbers = self.numbers.go_on_as(inside);
        CallEmulator { constancy: self.constancy, numbers, tasks: tasks.into_iter().collect() }
    }

    /// Prepares a program that is about to execute its first instruction (after exec).
    pub(super) fn executed(&self, program: Pid) {
        if let Ok(registers) = nix::sys::ptrace::getregs(program) {
            start::fix(TaskMemory(program), registers.rsp, self.constancy.time);
        }
    }

    /// Registers `new`, a process or a thread that `parent` has started and whose number is this for itself.
    pub(super) fn started(&mut self, parent: Pid, (new, inside): (Pid, u32), is_thread: bool) {
        let number = self.numbers.add(inside);
        let Some(parent) = self.tasks.get_mut(&parent) else { return };
        let process = if is_thread { parent.process } else { number };
        let chance = RandomSource::new(parent.chance.seed());
        let task =
            Task { process, thread: number, chance, interrupted: None, amended: None, ..parent.clone() };
        self.tasks.insert(new, task);
    }

    /// The number of a process of the run as the kernel tells it.
    pub(super) fn number(&self, pid: Pid) -> Option<i32> {
        self.tasks.get(&pid).map(|task| self.numbers.real(task.thread))
    }

    /// Whether a process of the run has ever set a timer, which those that it forks do not inherit.
    pub(super) fn has_set_timer(&self, pid: Pid) -> bool {
        self.tasks.get(&pid).is_some_and(|task| task.has_timer)
    }

    /// The number by which the kernel knows the parent of the program.
    pub(super) fn parent(&self) -> i32 {
        self.numbers.real(PARENT)
    }

    /// Forgets a process that has ended.
    pub(super) fn ended(&mut self, pid: Pid) {
        self.tasks.remove(&pid);
    }

    /// Answers the question at which a process is stopped.
    pub(super) fn answer(&mut self, pid: Pid) {
        let Ok(registers) = nix::sys::ptrace::getregs(pid) else { return };
        let user_regs_struct { rdi, rsi, rdx, r10, r8, r9, orig_rax, .. } = registers;
        let call = Call { number: orig_rax as i64, arguments: [rdi, rsi, rdx, r10, r8, r9] };
        let constancy = self.constancy;
        let Some(mut asked) = self.asked(pid) else { return };
        if call.number == libc::SYS_rseq {
            // The C library asks for this once, when all that the program needs is in memory.
            asked.task.replaced = readings::replace(pid, constancy);
        }
        match asked.reply(call) {
            Reply::Kernel => {}
            Reply::Is(result) => {
                let answered = user_regs_struct { orig_rax: u64::MAX, rax: result as u64, ..registers };
                let _ = nix::sys::ptrace::setregs(pid, answered);
            }
            Reply::Amended(other, amendment) => {
                if other.number != call.number || other.arguments != call.arguments {
                    let [rdi, rsi, rdx, r10, r8, r9] = other.arguments;
                    let orig_rax = other.number as u64;
                    let asked = user_regs_struct { rdi, rsi, rdx, r10, r8, r9, orig_rax, ..registers };
                    let _ = nix::sys::ptrace::setregs(pid, asked);
                }
                asked.task.amended = Some((registers, amendment));
            }
        }
    }

    /// Amends the answer that a process has got from the kernel; false if there was nothing to amend.
    pub(super) fn amend(&mut self, pid: Pid) -> bool {
        let Some(mut asked) = self.asked(pid) else { return false };
        let Some((original, amendment)) = asked.task.amended.take() else { return false };
        let Ok(answered) = nix::sys::ptrace::getregs(pid) else { return true };
        let result = asked.amend(answered.rax as i64, amendment) as u64;
        let user_regs_struct { rdi, rsi, rdx, r10, r8, r9, orig_rax, .. } = original;
        let amended = user_regs_struct { rdi, rsi, rdx, r10, r8, r9, orig_rax, rax: result, ..answered };
        let _ = nix::sys::ptrace::setregs(pid, amended);
        true
    }

    fn asked(&mut self, pid: Pid) -> Option<Asked<'_>> {
        let task = self.tasks.get_mut(&pid)?;
        let Constancy { time, chance } = self.constancy;
        Some(Asked { task, numbers: &mut self.numbers, memory: TaskMemory(pid), time, chance })
    }

    /// The ptrace request by which a process is to be resumed instead of `request`: up to the kernel's answer, if
    /// that is to be amended.
    pub(super) fn request(&self, pid: Pid, request: c_uint) -> c_uint {
        let waits = self.tasks.get(&pid).is_some_and(|task| task.amended.is_some());
        if waits { libc::PTRACE_SYSCALL } else { request }
    }

    /// Looks at a signal that a process is about to get. If it was a question (a trapped instruction), it is answered
    /// now, and the result is true.
    pub(super) fn takes(&mut self, pid: Pid, signal: i32) -> bool {
        if self.reads(pid, signal) {
            return true;
        }
        self.show_sender(pid, signal);
        false
    }

    /// Executes the trapped instruction that has caused a signal; false if there was none.
    fn reads(&mut self, pid: Pid, signal: i32) -> bool {
        let constant = self.constancy.time == Answers::Constant;
        if signal != libc::SIGILL && !(signal == libc::SIGSEGV && constant) {
            return false;
        }
        let (Ok(registers), Some(task)) = (nix::sys::ptrace::getregs(pid), self.tasks.get_mut(&pid)) else {
            return false;
        };
        let reading = match signal {
            libc::SIGILL => task.replaced.get(&registers.rip).copied(),
            _ => readings::at(TaskMemory(pid), registers.rip),
        };
        if let Some(reading) = reading {
            let _ = nix::sys::ptrace::setregs(pid, readings::execute(&reading, task, registers));
        }
        reading.is_some()
    }

    /// Puts the known number of its sender into a signal, and forgets what an ended process has used up.
    fn show_sender(&mut self, pid: Pid, signal: i32) {
        let Ok(mut info) = nix::sys::ptrace::getsiginfo(pid) else { return };
        let is_sent = matches!(info.si_code, libc::SI_USER | libc::SI_TKILL | libc::SI_QUEUE);
        if !is_sent && signal != libc::SIGCHLD {
            return;
        }
        // SAFETY: `Sender` is how the kernel fills the beginning of the structure for these signals, and
        // any bits are valid for it.
        let sender = unsafe { &mut *(&raw mut info).cast::<Sender>() };
        sender.process = self.numbers.shown(sender.process);
        if signal == libc::SIGCHLD && self.constancy.time == Answers::Constant {
            (sender.user_time, sender.system_time) = (0, 0);
        }
        let _ = nix::sys::ptrace::setsiginfo(pid, &info);
    }
}

/// The description of a signal that a process has caused, `siginfo_t`.
#[repr(C)]
struct Sender {
    signal: i32,
    error: i32,
    code: i32,
    unused: i32,
    process: i32,
    user: u32,
    status: i32,
    unused_too: i32,
    user_time: i64,
    system_time: i64,
}
