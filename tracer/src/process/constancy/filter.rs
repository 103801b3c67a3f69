//! The seccomp filter that stops a program at the questions whose answers differ from run to run.
//!
//! The filter of system calls (seccomp(2)) hands these calls, and no others, to the tracer. Programs that
//! the program starts inherit it.

use std::collections::BTreeMap;

use agent::session::OWN_CALL;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

use super::LIMITED;
use super::questions::F_GETOWN_EX;
use crate::invocation::{Answers, Constancy};

/// The condition under which a system call is a question.
#[derive(Clone, Copy)]
enum When {
    /// Always.
    Always,
    /// This argument is not 0.
    Given(u8),
    /// This argument is another one than that, by which the agent's own calls are known.
    Unlike(u8, u64),
    /// This argument has none of these bits, by which the agent's own calls are known.
    Without(u8, u64),
    /// This argument equals this value.
    Is(u8, u64),
    /// This argument is one of the [`LIMITED`] resources.
    Limited(u8),
    /// One of these conditions holds.
    Any(&'static [When]),
}

use When::{Always, Any, Given, Is, Limited, Unlike, Without};

/// Calls for the identity of a process (numbers, host, terminal) and for what it may use up.
const IDENTITY: [(i64, When); 40] = [
    (libc::SYS_getpid, Always),
    (libc::SYS_gettid, Always),
    (libc::SYS_getppid, Always),
    (libc::SYS_getpgrp, Always),
    (libc::SYS_getpgid, Always),
    (libc::SYS_getsid, Always),
    (libc::SYS_setsid, Unlike(0, OWN_CALL)),
    (libc::SYS_setpgid, Always),
    (libc::SYS_fork, Always),
    (libc::SYS_vfork, Always),
    (libc::SYS_clone, Without(0, libc::CLONE_PTRACE as u64)),
    (libc::SYS_clone3, Always),
    (libc::SYS_wait4, Without(2, libc::__WALL as u64)),
    (libc::SYS_waitid, Always),
    (libc::SYS_kill, Always),
    (libc::SYS_tkill, Always),
    (libc::SYS_tgkill, Always),
    (libc::SYS_rt_sigqueueinfo, Always),
    (libc::SYS_rt_tgsigqueueinfo, Always),
    (libc::SYS_pidfd_open, Always),
    (libc::SYS_ptrace, Given(1)),
    (libc::SYS_getpriority, Given(1)),
    (libc::SYS_setpriority, Given(1)),
    (libc::SYS_ioprio_get, Given(1)),
    (libc::SYS_ioprio_set, Given(1)),
    (libc::SYS_fcntl, Any(&[Is(1, libc::F_SETOWN as u64), Is(1, F_GETOWN_EX as u64)])),
    (libc::SYS_prlimit64, Any(&[Given(0), Limited(1)])),
    (libc::SYS_getrlimit, Limited(0)),
    (libc::SYS_setrlimit, Limited(0)),
    (libc::SYS_sched_setparam, Given(0)),
    (libc::SYS_sched_getparam, Given(0)),
    (libc::SYS_sched_setscheduler, Given(0)),
    (libc::SYS_sched_getscheduler, Given(0)),
    (libc::SYS_sched_setaffinity, Given(0)),
    (libc::SYS_sched_rr_get_interval, Given(0)),
    (libc::SYS_process_vm_readv, Given(0)),
    (libc::SYS_process_vm_writev, Given(0)),
    (libc::SYS_sched_getaffinity, Always),
    (libc::SYS_getcpu, Always),
    (libc::SYS_rseq, Always),
];

/// Calls for the time, for the processor time used, and those that let time pass.
const TIME: [(i64, When); 20] = [
    (libc::SYS_clock_gettime, Always),
    (libc::SYS_gettimeofday, Always),
    (libc::SYS_time, Always),
    (libc::SYS_times, Always),
    (libc::SYS_getrusage, Always),
    (libc::SYS_sysinfo, Always),
    (libc::SYS_nanosleep, Always),
    (libc::SYS_clock_nanosleep, Always),
    (libc::SYS_poll, Given(2)),
    (libc::SYS_ppoll, Given(2)),
    (libc::SYS_select, Given(4)),
    (libc::SYS_pselect6, Given(4)),
    (libc::SYS_epoll_wait, Given(3)),
    (libc::SYS_epoll_pwait, Given(3)),
    (libc::SYS_epoll_pwait2, Given(3)),
    (libc::SYS_rt_sigtimedwait, Given(2)),
    (libc::SYS_futex, Given(3)),
    (libc::SYS_restart_syscall, Always),
    (libc::SYS_timer_settime, Always),
    (libc::SYS_timerfd_settime, Always),
];

/// Calls for random numbers, some of which are read from a file.
const CHANCE: [(i64, When); 4] = [
    (libc::SYS_getrandom, Always),
    (libc::SYS_open, Always),
    (libc::SYS_openat, Always),
    (libc::SYS_openat2, Always),
];

/// Calls that change what the program does about signals, and that set timers. Nobody asks, but the tracer must know:
/// see `traps`, and `fork_safety` for the timers.
const SIGNALS: [(i64, When); 5] = [
    (libc::SYS_rt_sigaction, Given(1)),
    (libc::SYS_rt_sigprocmask, Unlike(4, OWN_CALL)),
    (libc::SYS_rt_sigreturn, Always),
    (libc::SYS_alarm, Given(0)),
    (libc::SYS_setitimer, Given(1)),
];

/// A seccomp filter, ready to be installed.
pub(in super::super) struct Filter(BpfProgram);

impl Filter {
    /// The filter for what is to be the same in each run.
    pub(in super::super) fn new(constancy: Constancy) -> Filter {
        let wanted = |answers, questions: &'static [(i64, When)]| match answers {
            Answers::Constant => questions,
            Answers::Real => &[],
        };
        let questions =
            [&IDENTITY[..], &SIGNALS, wanted(constancy.time, &TIME), wanted(constancy.chance, &CHANCE)];
        let rules = questions.into_iter().flatten().map(|&(number, when)| (number, rule(when)));
        let rules: Option<BTreeMap<i64, Vec<SeccompRule>>> =
            rules.map(|(number, rule)| Some((number, rule?))).collect();
        let filter = rules.and_then(|rules| {
            let (others, these) = (SeccompAction::Allow, SeccompAction::Trace(0));
            SeccompFilter::new(rules, others, these, TargetArch::x86_64).ok()
        });
        let program = filter.and_then(|filter| BpfProgram::try_from(filter).ok());
        let mut program = program.expect("the tables above make a filter");
        // Programs for 32 bits, which would be killed, go without answers.
        let kills = (libc::BPF_RET as u16, libc::SECCOMP_RET_KILL_PROCESS);
        let kills = program.iter_mut().filter(|step| (step.code, step.k) == kills);
        kills.for_each(|step| step.k = libc::SECCOMP_RET_ALLOW);
        Filter(program)
    }

    /// Whether the kernel lets a process install a seccomp filter. Asked without doing it.
    pub(in super::super) fn is_possible() -> bool {
        let action = libc::SECCOMP_RET_TRACE;
        let asks = libc::SECCOMP_GET_ACTION_AVAIL;
        // SAFETY: the call reads the action, which outlives it.
        unsafe { libc::syscall(libc::SYS_seccomp, asks, 0, &raw const action) == 0 }
    }

    /// Installs the filter on the calling process, for ever. Makes system calls only. A kernel that refuses leaves
    /// the answers as they are: what then differs from run to run is found when runs are compared.
    pub(in super::super) fn put_on(&self) {
        let _ = seccompiler::apply_filter(&self.0);
    }
}

fn rule(when: When) -> Option<Vec<SeccompRule>> {
    let (argument, length, operator, value) = match when {
        Always => return Some(Vec::new()),
        Any(all) => return any(all.iter().copied()),
        Limited(argument) => return any(LIMITED.map(|resource| Is(argument, resource as u64))),
        Given(argument) => (argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0),
        Unlike(argument, value) => (argument, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, value),
        Without(argument, bits) => (argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bits), 0),
        Is(argument, value) => (argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value),
    };
    let condition = SeccompCondition::new(argument, length, operator, value).ok()?;
    Some(vec![SeccompRule::new(vec![condition]).ok()?])
}

/// The seccomp rules of all these conditions, of which one is enough.
fn any(all: impl IntoIterator<Item = When>) -> Option<Vec<SeccompRule>> {
    all.into_iter().map(rule).collect::<Option<Vec<_>>>().map(|rules| rules.concat())
}
