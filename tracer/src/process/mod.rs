//! The door to the operating system: every fork, ptrace request, wait and signal goes through here.
//!
//! The only place with unsafe code. It knows processes, memory and registers, and nothing of leaders or traces. The
//! traps it guards against are told in the comments after ptrace(2) and the source of rr and GDB.

mod available;
mod bytes;
mod children;
mod constancy;
mod decision;
mod descriptions;
mod exclusion;
mod exclusive_calls;
mod family;
mod fork_safety;
mod handle;
mod holding;
mod inspection;
mod keyboard;
mod launch;
mod limits;
mod mapped;
mod output;
mod patience;
mod sandbox;
mod sealed;
mod shared;
mod signals;
mod status;
mod system_calls;
mod texts;
mod tracee;
mod transfer;
mod trap_delivery;
mod traps;
mod watchdog;

pub use available::available_memory;
pub use bytes::Bytes;
pub(crate) use children::Stop;
pub(crate) use descriptions::FileState;
pub use inspection::OpenFile;
pub use keyboard::{Keyboard, ending_signals};
pub(crate) use launch::{Attachments, Launch};
pub use limits::{raise_limits, with_room};
pub(crate) use mapped::Mapped;
pub(crate) use output::{Output, Written};
pub use patience::{Refusal, patiently, start_thread};
pub use sandbox::Containment;
pub(crate) use sandbox::Sandbox;
pub(crate) use sealed::Sealed;
pub(crate) use shared::Shared;
pub(crate) use signals::{Cause, SignalSubject};
pub(crate) use system_calls::{CallEffect, FileAction, KernelState, MemoryRange, SystemCall};
pub(crate) use tracee::Tracee;
pub(crate) use watchdog::{Alarm, Subject, WaitingWork, Watchdog};

/// The constants and types of libc that engines get from here.
pub(crate) use libc::{
    AT_BASE, AT_ENTRY, MAP_ANONYMOUS, MAP_FIXED_NOREPLACE, MAP_PRIVATE, MAP_SHARED, PROT_EXEC, PROT_READ,
    PROT_WRITE, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSTOP, SIGTRAP, SIGXFSZ, SYS_close, SYS_mmap,
    user_regs_struct as Registers,
};

use std::io;
use std::sync::OnceLock;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
pub(crate) use nix::unistd::Pid;

/// A refusal by the machine of what a run needs. Each message names what was tried and the remedy.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum ProcessError {
    #[error(
        "cannot start {program}: {step} failed: {source}; {}",
        remedy(source, "check the program, its arguments and its environment")
    )]
    Start { program: String, step: &'static str, source: io::Error },
    #[error(
        "ptrace is refused ({source}): allow it with `sysctl kernel.yama.ptrace_scope=1`, or run the container with --cap-add=SYS_PTRACE"
    )]
    Ptrace { source: io::Error },
    #[error(
        "ptrace is refused: this program is traced itself, with all that it starts, by process {tracer}; start it \
         without that one, or have it follow no children (strace without -f)"
    )]
    TracedItself { tracer: String },
    #[error("/proc is not what it should be: mount it (mount -t proc proc /proc)")]
    NoProc,
    #[error(
        "the working directory cannot be copied to {to}: {source}; {}",
        remedy(
            source,
            "set TMPDIR to a directory with room, or start the program in a smaller one with --cwd"
        )
    )]
    Copy { to: String, source: io::Error },
    #[error(
        "{} was changed while runs of it were compared, which needs the same code in each: start anew, and leave the \
         file as it is until the end",
        path.display()
    )]
    Changed { path: std::path::PathBuf },
    #[error("the agent cannot be put into the program: {reason}; take --engine breakpoint or auto")]
    Agent { reason: String },
    #[error(
        "programs cannot be contained here: not fully ({full}), nor at the basic level ({basic}); allow user \
         namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0) and seccomp \
         (in a container --security-opt seccomp=unconfined), or give up all protection with --no-sandbox"
    )]
    Uncontained { full: String, basic: String },
    #[error(
        "the shell allows {files} open files, and {needed} are needed: raise that with `ulimit -n {needed}`, and the hard limit where it is lower"
    )]
    TooFewFiles { files: u64, needed: u64 },
    #[error(
        "{} cannot be replaced for a run: {source}; put it into the working directory of the program, or into /tmp",
        path.display()
    )]
    NotReplaced { path: std::path::PathBuf, source: io::Error },
    #[error("forking the program failed: {source}: {}", remedy(source, ROOM))]
    NotForked { source: io::Error },
    #[error("{what} failed: {source}: {}", remedy(source, ROOM))]
    System { what: &'static str, source: io::Error },
}

/// The remedy where the machine has run out of something.
const ROOM: &str = "free memory, disk space or process slots and try again";

/// The remedy for this error: raise the limit of the shell that it comes from, or else what is usual.
fn remedy(source: &io::Error, usual: &'static str) -> &'static str {
    match source.raw_os_error() {
        Some(libc::EMFILE) => "raise the limit of open files with `ulimit -n`, or take fewer --jobs",
        Some(libc::EFBIG) => "raise the limit of file sizes with `ulimit -f`",
        Some(libc::EAGAIN) => {
            "free memory or process slots, or raise their limits with `ulimit -v` and `ulimit -u`, and try again"
        }
        Some(libc::ENOMEM) => "free memory, or raise its limit with `ulimit -v`, and try again",
        _ => usual,
    }
}

impl ProcessError {
    /// The error of the latest system call (`errno`), for the step `what`.
    fn last(what: &'static str) -> ProcessError {
        ProcessError::System { what, source: io::Error::last_os_error() }
    }

    /// The error of a request to ptrace(2) that has been refused.
    fn of_ptrace(source: io::Error) -> ProcessError {
        match status::field(Pid::this(), "TracerPid:").filter(|tracer| tracer != "0") {
            Some(tracer) => ProcessError::TracedItself { tracer },
            None => ProcessError::Ptrace { source },
        }
    }

    fn from_errno(what: &'static str) -> impl Fn(nix::errno::Errno) -> ProcessError {
        move |errno| ProcessError::System { what, source: errno.into() }
    }
}

/// Whether this machine lets system calls be emulated: what programs ask about time, chance and processes. Where a
/// sandbox is possible, it does.
pub fn can_answer() -> bool {
    constancy::Filter::is_possible()
}

/// An empty vector with capacity for so many things, as far as the machine gives it: address space, which becomes
/// memory only where something is put, and then in large pages.
pub(crate) fn roomy<T>(count: usize) -> Vec<T> {
    let mut things = Vec::new();
    if things.try_reserve_exact(count).is_ok() {
        let (start, length) = (things.as_mut_ptr() as usize, count * size_of::<T>());
        let first_page = start.next_multiple_of(4096);
        let length = (start + length).saturating_sub(first_page);
        // SAFETY: the advice does not change what is in memory; a refusal is as good.
        unsafe { libc::madvise(first_page as *mut libc::c_void, length, libc::MADV_HUGEPAGE) };
    }
    things
}

/// The limit of a program's stack, in bytes.
pub(crate) fn stack_limit() -> u64 {
    use nix::sys::resource::{Resource, getrlimit};
    const MOST: u64 = 1 << 30;
    getrlimit(Resource::RLIMIT_STACK).map_or(MOST, |(limit, _)| limit.min(MOST))
}

/// The processors that this program may use, beginning with the one that it was started on: the kernel has chosen one
/// with little to do, and several of these programs do not all share the first one of the machine.
#[derive(Clone, Debug)]
pub struct Processors(Vec<usize>);

impl Processors {
    /// Asks the kernel, once. Call it before [`Processors::bind`], which leaves only one.
    pub fn available() -> Processors {
        static AVAILABLE: OnceLock<Processors> = OnceLock::new();
        let ask = || {
            let allowed = sched_getaffinity(Pid::from_raw(0));
            let is_set = |cpu: &usize| allowed.is_ok_and(|allowed| allowed.is_set(*cpu).unwrap_or(false));
            let mut processors: Vec<usize> = (0..CpuSet::count()).filter(is_set).collect();
            let own = nix::sched::sched_getcpu().ok();
            let first = processors.iter().position(|&cpu| Some(cpu) == own).unwrap_or(0);
            processors.rotate_left(first);
            Processors(processors)
        };
        AVAILABLE.get_or_init(ask).clone()
    }

    /// No processor to choose: nothing is bound. For programs that use several themselves, such as builds.
    pub fn any() -> Processors {
        Processors(Vec::new())
    }

    /// Lets the calling thread use all of them, after [`Processors::bind`] or in a thread that was started by one that
    /// is bound.
    pub(crate) fn release(&self) {
        let mut all = CpuSet::new();
        if self.0.iter().all(|&cpu| all.set(cpu).is_ok()) && !self.0.is_empty() {
            let _ = sched_setaffinity(Pid::from_raw(0), &all);
        }
    }

    /// The number of processors; at least one.
    pub fn count(&self) -> usize {
        self.0.len().max(1)
    }

    /// Binds the calling thread, and the programs that it will start, to one processor.
    ///
    /// A stop then costs a fourth: tracer and tracee hand over without waking another processor.
    /// Without effect where the processor may not be chosen.
    pub fn bind(&self, worker: usize) {
        let mut one = CpuSet::new();
        if !self.0.is_empty() && one.set(self.0[worker % self.0.len()]).is_ok() {
            let _ = sched_setaffinity(Pid::from_raw(0), &one);
        }
    }
}
