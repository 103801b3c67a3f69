//! Start the program under the tracer.
//!
//! The handshake (traps 4 to 6): the child asks to die with its tracer, then waits on a socket until
//! it is seized; at end of file, because the tracer has died in between, it exits. No signal takes
//! part. Everything that the child needs is made before the fork, because only system calls are safe
//! behind it.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;

use agent::poison::Poison;
use nix::unistd::{ForkResult, Pid};

use super::constancy::Filter;
use super::output::memory_file;
use super::{Output, ProcessError, Sandbox};
use crate::invocation::{Answers, Constancy, Invocation, Limits};

/// The steps of the child between fork and exec, for messages.
const STEPS: [&str; 6] =
    ["setsid", "entering the sandbox", "chdir", "redirecting its output", "setrlimit", "exec"];

/// What all runs have in common, in the form that execve(2) takes.
pub(crate) struct Launcher {
    program: CString,
    arguments: Vec<CString>,
    /// For each kind of poison.
    environments: Vec<(Poison, Vec<CString>)>,
    directory: CString,
    stdin: File,
    name: String,
    constancy: Constancy,
    filter: Filter,
}

/// One run to be started.
pub(crate) struct Launch<'a> {
    /// The view of the world that it gets.
    pub(crate) sandbox: &'a Sandbox,
    /// Where its output goes.
    pub(crate) output: &'a Output,
    /// What it may use up.
    pub(crate) limits: &'a Limits,
    /// What fresh memory is filled with.
    pub(crate) poison: Poison,
    /// What it brings along.
    pub(crate) luggage: Luggage<'a>,
}

/// What a program brings along that is not its own.
#[derive(Clone, Copy, Default)]
pub(crate) struct Luggage<'a> {
    /// Descriptors of this program that it finds under the same numbers.
    pub(crate) files: &'a [BorrowedFd<'a>],
    /// Address space, in bytes.
    pub(crate) size: u64,
}

/// A child that is seized and about to execute the program.
pub(super) struct Started {
    pub(super) pid: Pid,
    /// The other end reports which step failed, and is closed by a successful exec.
    socket: UnixStream,
}

impl Launcher {
    /// Prepares for runs of `invocation`.
    pub(crate) fn new(invocation: &Invocation) -> Result<Launcher, ProcessError> {
        let name = invocation.program.display().to_string();
        let text = |bytes: Vec<u8>| {
            CString::new(bytes).map_err(|error| ProcessError::Start {
                program: name.clone(),
                step: "passing a text with a zero byte",
                source: error.into(),
            })
        };
        let plain = |text_: &OsStr| text(text_.as_bytes().to_vec());
        let variable =
            |(name, value): &(OsString, OsString)| text([name.as_bytes(), b"=", value.as_bytes()].concat());
        let environment = |poison| {
            let variables = invocation.environment_under(poison);
            Ok((poison, variables.iter().map(variable).collect::<Result<_, _>>()?))
        };
        let kinds = Poison::PATTERNS.into_iter().chain([Poison::Off]);
        let failed = |source| ProcessError::System { what: "keeping the standard input", source };
        let mut stdin = memory_file()?;
        stdin.write_all(&invocation.stdin).and_then(|()| stdin.rewind()).map_err(failed)?;
        Ok(Launcher {
            program: plain(invocation.program.as_os_str())?,
            arguments: invocation
                .arguments
                .iter()
                .map(|argument| plain(argument))
                .collect::<Result<_, _>>()?,
            environments: kinds.map(environment).collect::<Result<_, _>>()?,
            directory: plain(invocation.directory.as_os_str())?,
            stdin,
            name,
            constancy: invocation.constancy,
            filter: Filter::new(invocation.constancy),
        })
    }

    /// What runs are told.
    pub(super) fn constancy(&self) -> Constancy {
        self.constancy
    }

    /// Forks and seizes. The program is executed once the returned child is continued.
    pub(super) fn start(&self, launch: &Launch<'_>, options: i32) -> Result<Started, ProcessError> {
        let failed = |source| ProcessError::System { what: "starting the program", source };
        let stdin = File::open(format!("/proc/self/fd/{}", self.stdin.as_raw_fd())).map_err(failed)?;
        let pointers = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).collect::<Vec<_>>();
        let mut arguments = pointers(&self.arguments);
        arguments.push(std::ptr::null());
        let environment = self.environments.iter().find(|(poison, _)| *poison == launch.poison);
        let mut environment = environment.map(|(_, variables)| pointers(variables)).unwrap_or_default();
        environment.push(std::ptr::null());
        let (mut socket, theirs) = UnixStream::pair().map_err(failed)?;
        // SAFETY: the child makes only system calls and never returns.
        match unsafe { nix::unistd::fork() }.map_err(ProcessError::from_errno("fork"))? {
            ForkResult::Child => {
                // Or else it would wait for its own end of the pair to be closed.
                drop(socket);
                let theirs = OwnedFd::from(theirs);
                let error = self.become_program(launch, &stdin, &theirs, &arguments, &environment);
                let report = [error.0 as i32, error.1 as i32].map(i32::to_ne_bytes).concat();
                let _ = nix::unistd::write(&theirs, &report);
                // SAFETY: ends the process without running the parent's destructors.
                unsafe { libc::_exit(127) }
            }
            ForkResult::Parent { child } => {
                drop(theirs);
                // SAFETY: PTRACE_SEIZE takes no pointer here.
                let seized = unsafe { libc::ptrace(libc::PTRACE_SEIZE, child.as_raw(), 0, options as usize) };
                if seized != 0 {
                    let source = std::io::Error::last_os_error();
                    drop(socket);
                    let _ = nix::sys::wait::waitpid(child, None);
                    return Err(ProcessError::Ptrace { source });
                }
                socket.write_all(&[1]).map_err(failed)?;
                Ok(Started { pid: child, socket })
            }
        }
    }

    /// Turns this freshly forked process into the program; returns only the step that failed.
    fn become_program(
        &self,
        launch: &Launch<'_>,
        stdin: &File,
        socket: &OwnedFd,
        arguments: &[*const libc::c_char],
        environment: &[*const libc::c_char],
    ) -> (usize, nix::errno::Errno) {
        // SAFETY: prctl with plain numbers.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
        // A session of its own: no terminal to read from, no group of processes to signal.
        if let Err(errno) = nix::unistd::setsid() {
            return (0, errno);
        }
        if !matches!(nix::unistd::read(socket, &mut [0]), Ok(1)) {
            // SAFETY: ends the process without running the parent's destructors.
            unsafe { libc::_exit(127) };
        }
        if let Err(errno) = launch.sandbox.enter() {
            return (1, errno);
        }
        if let Err(errno) = nix::unistd::chdir(self.directory.as_c_str()) {
            return (2, errno);
        }
        if let Err(errno) =
            redirect([stdin.as_raw_fd(), raw(launch.output.stdout()), raw(launch.output.stderr())])
        {
            return (3, errno);
        }
        for descriptor in launch.luggage.files {
            // SAFETY: fcntl with plain numbers.
            unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFD, 0) };
        }
        if let Err(errno) = limit(launch.limits, launch.luggage.size) {
            return (4, errno);
        }
        reset_signals();
        if self.constancy.time == Answers::Constant {
            // SAFETY: prctl with plain numbers. Where it is refused, the processor answers.
            unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV, 0, 0, 0) };
        }
        self.filter.put_on();
        // SAFETY: all pointers are to C strings that outlive the call, and both lists end with null.
        unsafe {
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            libc::execve(self.program.as_ptr(), arguments.as_ptr(), environment.as_ptr());
        }
        (5, nix::errno::Errno::last())
    }

    /// Why a child ended before it had become the program.
    pub(super) fn failure(&self, mut started: Started) -> ProcessError {
        let mut report = [0; 8];
        let (step, source) = match started.socket.read_exact(&mut report) {
            Ok(()) => {
                let number = |bytes: &[u8]| bytes.try_into().map_or(0, i32::from_ne_bytes);
                let step = STEPS.get(number(&report[..4]) as usize).copied().unwrap_or("start");
                (step, std::io::Error::from_raw_os_error(number(&report[4..])))
            }
            Err(source) => ("start", source),
        };
        ProcessError::Start { program: self.name.clone(), step, source }
    }
}

fn raw(fd: BorrowedFd<'_>) -> i32 {
    fd.as_raw_fd()
}

/// Makes these the descriptors 0, 1 and 2, and all others close at exec.
fn redirect(descriptors: [i32; 3]) -> nix::Result<()> {
    for (number, descriptor) in descriptors.into_iter().enumerate() {
        // SAFETY: dup2 on open descriptors; this process will be another program at once. None of the
        // sources can be below 3: the standard library keeps these open.
        nix::errno::Errno::result(unsafe { libc::dup2(descriptor, number as i32) })?;
    }
    // SAFETY: close_range with plain numbers.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    Ok(())
}

fn limit(limits: &Limits, guests: u64) -> nix::Result<()> {
    use nix::sys::resource::{Resource, setrlimit};
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    setrlimit(Resource::RLIMIT_FSIZE, limits.file_size, limits.file_size)?;
    if let Some(memory) = limits.memory.map(|memory| memory.saturating_add(guests)) {
        setrlimit(Resource::RLIMIT_AS, memory, memory)?;
    }
    Ok(())
}

/// Every signal has its default action and none is blocked, whatever this program's own parents like.
fn reset_signals() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: SIG_DFL is a valid disposition; numbers that cannot be set are refused.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let _ = nix::sys::signal::SigSet::empty().thread_set_mask();
}
