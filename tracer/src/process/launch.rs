//! The start of runs: what every run of a program starts with, and the way from a process to the program.
//!
//! Everything that a freshly forked process needs is made before the fork, because only system calls are safe after it.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;

use agent::poison::Poison;
use nix::errno::Errno;
use nix::sys::resource::Resource;

use super::constancy::Filter;
use super::descriptions::FileState;
use super::sealed::Sealed;
use super::texts::{MappedTexts, Texts};
use super::{Output, ProcessError, limits};
use crate::invocation::{Answers, Constancy, Invocation, Limits};
use crate::program::is_loaded_by_glibc;

/// The steps from the fork to the program, for messages.
pub(super) const STEPS: [&str; 6] =
    ["fork", "setsid", "chdir", "redirecting its output", "setrlimit", "exec"];
/// The largest number of files that a program may bring along.
pub(super) const MOST_FILES: usize = 8;
/// The patterns with which undefined memory can be filled.
const POISONS: [Poison; 4] = [Poison::Off, Poison::Negative, Poison::Zero, Poison::Positive];

/// The start parameters that all runs of an invocation share.
pub(super) struct Launcher {
    /// The program's path and arguments, and an environment for each of [`POISONS`].
    texts: Texts,
    stdin: Stdin,
    name: String,
    constancy: Constancy,
    cycles: Cycles,
    filter: Filter,
}

/// The standard input of runs. All have one file, which is sealed, and each has a description of its own.
struct Stdin {
    file: Sealed,
    /// The file's state when it was made.
    made: FileState,
}

/// Whether the processor's cycle counter is trapped from the start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cycles {
    /// Not trapped yet: the C library asks for something once everything is in memory, and then it is decided.
    Counted,
    Trapped,
}

/// One run to be started.
pub(crate) struct Launch<'a> {
    /// The files for its output.
    pub(crate) output: &'a Output,
    /// The resource limits of the run.
    pub(crate) limits: &'a Limits,
    /// The pattern with which fresh memory is filled.
    pub(crate) poison: Poison,
    /// The files and the address space that it brings along.
    pub(crate) attachments: Attachments<'a>,
}

/// The attachments of a program: files and address space that are not its own.
#[derive(Clone, Copy, Default)]
pub(crate) struct Attachments<'a> {
    /// Descriptors of this process that the program inherits under the same numbers.
    pub(crate) files: &'a [BorrowedFd<'a>],
    /// The size of the address space for them, in bytes.
    pub(crate) size: u64,
}

impl Launcher {
    /// Prepares for runs of `invocation`.
    pub(super) fn new(invocation: &Invocation) -> Result<Launcher, ProcessError> {
        let is_real = invocation.constancy.time == Answers::Real;
        let cycles = match is_real || is_loaded_by_glibc(&invocation.program) {
            true => Cycles::Counted,
            false => Cycles::Trapped,
        };
        Ok(Launcher {
            texts: texts(invocation)?,
            stdin: Stdin::new(&invocation.stdin)?,
            name: invocation.program.display().to_string(),
            constancy: invocation.constancy,
            cycles,
            filter: Filter::new(invocation.constancy),
        })
    }

    /// Takes over the arguments, the environment and the standard input of this invocation, which is of the same
    /// program, for the runs from now on.
    pub(super) fn take_over(&mut self, invocation: &Invocation) -> Result<(), ProcessError> {
        self.texts = texts(invocation)?;
        self.stdin = Stdin::new(&invocation.stdin)?;
        Ok(())
    }

    /// The constancy of answers: what runs are told about time, chance and processes.
    pub(super) fn constancy(&self) -> Constancy {
        self.constancy
    }

    /// The program's name, for messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Opens the standard input from its beginning.
    pub(super) fn stdin(&self) -> Result<File, ProcessError> {
        let failed = |source| ProcessError::System { what: "opening the standard input", source };
        let descriptor = self.stdin.file.file().as_raw_fd();
        File::open(format!("/proc/self/fd/{descriptor}")).map_err(failed)
    }

    /// Makes the file of the standard input anew if a run has changed its mode, owner, times or attributes; returns
    /// true if one had.
    pub(super) fn renew_stdin(&mut self) -> Result<bool, ProcessError> {
        if FileState::of(self.stdin.file.file()) == self.stdin.made {
            return Ok(false);
        }
        self.stdin = Stdin::new(&self.stdin.content()?)?;
        Ok(true)
    }

    /// The arguments of execve(2).
    pub(super) fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The data that a process needs on the way to the program.
    pub(super) fn prepare(&self) -> Prepared<'_> {
        Prepared { cycles: self.cycles, filter: &self.filter }
    }
}

/// The arguments of execve(2), with the environment under each of [`POISONS`].
fn texts(invocation: &Invocation) -> Result<Texts, ProcessError> {
    let text = |bytes: Vec<u8>| {
        CString::new(bytes).map_err(|error| ProcessError::Start {
            program: invocation.program.display().to_string(),
            step: "passing a text with a zero byte",
            source: error.into(),
        })
    };
    let plain = |part: &OsStr| text(part.as_bytes().to_vec());
    let variable =
        |(name, value): &(OsString, OsString)| text([name.as_bytes(), b"=", value.as_bytes()].concat());
    let program = plain(invocation.program.as_os_str())?;
    let arguments =
        invocation.arguments.iter().map(|argument| plain(argument)).collect::<Result<Vec<_>, _>>()?;
    let under = |poison| invocation.environment_under(poison).iter().map(variable).collect();
    let environments = POISONS.into_iter().map(under).collect::<Result<Vec<_>, _>>()?;
    Texts::new(&program, &arguments, &environments)
}

impl Stdin {
    fn new(content: &[u8]) -> Result<Stdin, ProcessError> {
        let file = Sealed::holding(content)?;
        let made = FileState::of(file.file());
        Ok(Stdin { file, made })
    }

    fn content(&self) -> Result<Vec<u8>, ProcessError> {
        let mut content = vec![0; self.file.length() as usize];
        let read = self.file.file().read_exact_at(&mut content, 0);
        let failed = |source| ProcessError::System { what: "reading the standard input", source };
        read.map(|()| content).map_err(failed)
    }
}

/// The message that starts one run: what that has of its own.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct StartRequest {
    /// The length of the file with the program's path, arguments and environments.
    texts: u64,
    /// The index of its environment.
    environment: u32,
    /// The number of files it brings along.
    files: u32,
    file_size: u64,
    /// The limit of its address space, in bytes; `u64::MAX` for no limit.
    memory: u64,
    /// The numbers under which it finds these files.
    numbers: [RawFd; MOST_FILES],
    processors: libc::cpu_set_t,
}

impl StartRequest {
    pub(super) fn new(launch: &Launch<'_>, texts: &Texts) -> io::Result<StartRequest> {
        let Launch { limits, poison, attachments, .. } = launch;
        let mut numbers = [0; MOST_FILES];
        assert!(attachments.files.len() <= MOST_FILES, "more files than a program may bring along");
        for (number, file) in numbers.iter_mut().zip(attachments.files) {
            *number = file.as_raw_fd();
        }
        // SAFETY: a set of bits; the call fills it.
        let mut processors: libc::cpu_set_t = unsafe { std::mem::zeroed() };
        // SAFETY: the set is as long as the call is told, and outlives it.
        unsafe { libc::sched_getaffinity(0, size_of_val(&processors), &raw mut processors) };
        Ok(StartRequest {
            texts: texts.length(),
            environment: POISONS.iter().position(|known| known == poison).unwrap_or(0) as u32,
            files: attachments.files.len() as u32,
            file_size: limits.file_size,
            memory: limits.memory.map_or(u64::MAX, |memory| memory.saturating_add(attachments.size)),
            numbers,
            processors,
        })
    }

    /// The message as bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: numbers only, without gaps between them, and as long as is said.
        unsafe { std::slice::from_raw_parts((&raw const *self).cast(), size_of::<StartRequest>()) }
    }

    /// Binds the calling process to the processors of the one that sends the message.
    pub(super) fn choose_processors(&self) {
        // SAFETY: the set is as long as the call is told, and outlives it.
        unsafe {
            libc::sched_setaffinity(0, size_of_val(&self.processors), &raw const self.processors);
        }
    }
}

/// The data that a process needs on the way to the program.
pub(super) struct Prepared<'l> {
    cycles: Cycles,
    filter: &'l Filter,
}

/// The failure of a process to become the program.
pub(super) struct Failed {
    /// The socket on which the failure is reported.
    pub(super) socket: RawFd,
    /// The step that failed: an index of [`STEPS`].
    pub(super) step: usize,
    pub(super) errno: Errno,
}

impl Prepared<'_> {
    /// Turns this freshly forked process into the program; returns only the step that failed.
    /// `descriptors` are a socket to the tracer, the texts, the standard descriptors, and the attachments.
    pub(super) fn become_program(
        &self,
        request: &StartRequest,
        directory: &CStr,
        descriptors: &[RawFd],
        word: u8,
    ) -> Failed {
        let mut socket = descriptors[0];
        let failed = |socket, step| move |errno| Failed { socket, step, errno };
        // A session of its own: no terminal to read from, no group of processes to signal.
        if let Err(errno) = nix::unistd::setsid() {
            return failed(socket, 1)(errno);
        }
        // SAFETY: reads and writes bytes that outlive the calls.
        unsafe {
            let mut answer = 0_u8;
            libc::write(socket, (&raw const word).cast(), 1);
            if libc::read(socket, (&raw mut answer).cast(), 1) != 1 {
                libc::_exit(127);
            }
        }
        if let Err(errno) = nix::unistd::chdir(directory) {
            return failed(socket, 2)(errno);
        }
        // SAFETY: whoever sends the request sends texts of this length with this environment.
        let texts = match unsafe { MappedTexts::map(descriptors[1], request.texts, request.environment) } {
            Ok(texts) => texts,
            Err(errno) => return failed(socket, 5)(errno),
        };
        if let Err(errno) = redirect(request, descriptors, &mut socket) {
            return failed(socket, 3)(errno);
        }
        if let Err(errno) = limit(request) {
            return failed(socket, 4)(errno);
        }
        reset_signals();
        if self.cycles == Cycles::Trapped {
            // SAFETY: prctl with plain numbers. Where it is refused, the processor answers.
            unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV, 0, 0, 0) };
        }
        self.filter.put_on();
        // SAFETY: all pointers are to C strings that outlive the call, and both lists end with null.
        unsafe {
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            libc::execve(texts.program, texts.arguments, texts.environment);
        }
        failed(socket, 5)(Errno::last())
    }
}

/// Moves the descriptors to where the program expects them, and lets all others close at exec.
fn redirect(request: &StartRequest, descriptors: &[RawFd], socket: &mut RawFd) -> nix::Result<()> {
    let numbers = &request.numbers[..(request.files as usize).min(MOST_FILES)];
    // The texts are mapped already. The others first go out of the way, above all that they could collide with.
    let descriptors = [&descriptors[..1], &descriptors[2..]];
    let descriptors = || descriptors.into_iter().flatten().copied();
    let above = numbers.iter().copied().chain(descriptors()).max().unwrap_or(0) + 1;
    let mut moved = [0; 4 + MOST_FILES];
    for (moved, descriptor) in moved.iter_mut().zip(descriptors()) {
        // SAFETY: fcntl on an open descriptor, with a plain number.
        *moved = Errno::result(unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, above) })?;
    }
    // SAFETY: close_range with plain numbers.
    unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    *socket = moved[0];
    let places = [0, 1, 2].into_iter().chain(numbers.iter().copied());
    for (&descriptor, place) in moved[1..descriptors().count()].iter().zip(places) {
        // SAFETY: dup2 on open descriptors; this process will be another program at once.
        Errno::result(unsafe { libc::dup2(descriptor, place) })?;
    }
    Ok(())
}

fn limit(request: &StartRequest) -> nix::Result<()> {
    limits::put_back();
    limits::limit(Resource::RLIMIT_CORE, 0)?;
    limits::limit(Resource::RLIMIT_FSIZE, request.file_size)?;
    if request.memory == u64::MAX { Ok(()) } else { limits::limit(Resource::RLIMIT_AS, request.memory) }
}

/// Gives every signal its default action and unblocks all, whatever this program's own parents like.
fn reset_signals() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: SIG_DFL is a valid disposition; numbers that cannot be set are refused.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    let _ = nix::sys::signal::SigSet::empty().thread_set_mask();
}
