//! The starter: it starts programs from within a sandbox.
//!
//! The starter is a small process that is forked from this one while it is small, confines itself, and forks a child
//! for each order; what it inherits once need not be done for each run. After the fork nothing is allocated, because
//! another thread may have held the lock for that; only system calls are made.
//!
//! The handshake: an order brings a socket along. The child says a word on it, with which the kernel tells its number,
//! and waits until it is seized; at end of file, because the tracer has died in between, it exits. So does the starter.
//! No signal takes part: one that is sent to attach can be lost, and the first process of a namespace ignores SIGSTOP.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, UnixCredentials,
    recvmsg, sendmsg, setsockopt, socketpair, sockopt::PassCred,
};
use nix::unistd::Pid;
use seccompiler::BpfProgram;

use super::extent::RunExtent;
use super::{filter, landlock};
use crate::process::launch::{Attachments, Launcher, Prepared, STEPS, StartRequest};
use crate::process::texts::Texts;
use crate::process::{Launch, ProcessError, patiently};

/// The capabilities by which root could undo the sandbox or harm the machine: CAP_LINUX_IMMUTABLE, CAP_NET_ADMIN,
/// CAP_NET_RAW, CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_SYS_CHROOT, CAP_SYS_PTRACE, CAP_SYS_PACCT,
/// CAP_SYS_ADMIN, CAP_SYS_BOOT, CAP_SYS_NICE, CAP_SYS_RESOURCE, CAP_SYS_TIME, CAP_SYS_TTY_CONFIG,
/// CAP_MKNOD, CAP_AUDIT_WRITE, CAP_AUDIT_CONTROL, CAP_MAC_OVERRIDE, CAP_MAC_ADMIN, CAP_SYSLOG, CAP_WAKE_ALARM,
/// CAP_BLOCK_SUSPEND, CAP_AUDIT_READ, CAP_PERFMON, CAP_BPF, CAP_CHECKPOINT_RESTORE.
const DROPPED: [libc::c_int; 26] =
    [9, 12, 13, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 29, 30, 32, 33, 34, 35, 36, 37, 38, 39, 40];
/// The parts of a confinement, for messages.
const WALLS: [&str; 3] = ["no new privileges", "Landlock", "seccomp"];
/// The first byte that a child says.
const HERE: u8 = 0xff;

/// The confinement of runs: Landlock rules and a seccomp filter.
pub(super) struct Confinement {
    rule_sets: Vec<OwnedFd>,
    filter: Vec<BpfProgram>,
    privileges: Privileges,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Privileges {
    Kept,
    Dropped,
}

impl Confinement {
    /// The empty confinement.
    pub(super) fn none() -> Confinement {
        Confinement { rule_sets: Vec::new(), filter: Vec::new(), privileges: Privileges::Kept }
    }

    /// A confinement by a seccomp filter, and by Landlock's limits for signals where the kernel has them.
    pub(super) fn new(extent: &RunExtent, scope: Option<OwnedFd>) -> io::Result<Confinement> {
        let filter = filter::programs(extent).map_err(io::Error::other)?;
        let rule_sets = scope.into_iter().collect();
        Ok(Confinement { rule_sets, filter, privileges: Privileges::Dropped })
    }

    /// The same as [`Confinement::new`], and files are changed below these places only.
    pub(super) fn basic(
        extent: &RunExtent,
        scope: Option<OwnedFd>,
        places: &[PathBuf],
    ) -> io::Result<Confinement> {
        let mut walls = Confinement::new(extent, scope)?;
        let files = landlock::writing_only_below(places)?;
        walls.rule_sets.extend(files);
        Ok(walls)
    }

    /// Confines the calling process; otherwise tells which of [`WALLS`] the kernel has refused.
    fn raise(&self) -> Result<(), (usize, Errno)> {
        if self.privileges == Privileges::Kept {
            return Ok(());
        }
        let refused = |wall| move |errno| (wall, errno);
        // SAFETY: prctl with plain numbers. Who has no privileges need not drop them.
        unsafe {
            for capability in DROPPED {
                libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
            }
            inherit_no_capabilities();
            Errno::result(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)).map_err(refused(0))?;
        }
        for rules in &self.rule_sets {
            // SAFETY: landlock_restrict_self with an open descriptor and a plain number.
            let restricted = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) };
            Errno::result(restricted).map_err(refused(1))?;
        }
        for program in &self.filter {
            seccompiler::apply_filter(program).map_err(|_| refused(2)(Errno::last()))?;
        }
        Ok(())
    }
}

/// Keeps what this process has been given to hand on, capabilities(7), from the programs that it will be: for
/// them these sets count besides the bounding set, as under older versions of Docker.
fn inherit_no_capabilities() {
    const VERSION: u32 = 0x2008_0522;
    let mut header = [VERSION, 0];
    // Effective, permitted and inheritable ones: the lower halves, then the upper ones.
    let mut sets = [[0_u32; 3]; 2];
    // SAFETY: both calls are told of a header and of sets of the lengths that this version has; prctl with plain
    // numbers.
    unsafe {
        libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        if libc::syscall(libc::SYS_capget, header.as_mut_ptr(), sets.as_mut_ptr()) == 0 {
            sets.iter_mut().for_each(|[_, _, inheritable]| *inheritable = 0);
            libc::syscall(libc::SYS_capset, header.as_mut_ptr(), sets.as_ptr());
        }
    }
}

/// A process in the sandbox that starts programs.
pub(super) struct Starter {
    control: OwnedFd,
}

/// The parameters of a starter, made before it is forked.
pub(super) struct Plan<'l> {
    prepared: Prepared<'l>,
    directory: CString,
    walls: &'l Confinement,
    /// The socket from which the starter reads orders.
    control: OwnedFd,
    nothing: File,
}

/// A run to be started.
pub(in crate::process) struct Order<'o> {
    pub(in crate::process) launch: &'o Launch<'o>,
    pub(in crate::process) stdin: File,
    pub(in crate::process) texts: &'o Texts,
    /// The program's name, for messages.
    pub(in crate::process) name: &'o str,
}

/// A child that is seized and about to execute the program.
pub(in crate::process) struct Started {
    pub(in crate::process) pid: Pid,
    /// The program's standard input: the same description.
    pub(in crate::process) stdin: File,
    /// The other end reports which step failed, and is closed by a successful exec.
    socket: UnixStream,
    program: String,
}

impl Started {
    /// The error by which it has ended before it had become the program.
    pub(in crate::process) fn failure(mut self) -> ProcessError {
        let mut report = Vec::new();
        let _ = self.socket.read_to_end(&mut report);
        failure(&self.program, &report)
    }
}

/// The error that the report of a failed step tells.
fn failure(program: &str, report: &[u8]) -> ProcessError {
    let number = |range: std::ops::Range<usize>| {
        report.get(range).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes)
    };
    let step = number(0..4).map(|step| step as usize);
    let source = number(4..8)
        .map_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof), io::Error::from_raw_os_error);
    if step == Some(FORK) {
        // The starter's own failure has nothing to do with the program.
        return ProcessError::System { what: "starting a process", source };
    }
    let step = step.and_then(|step| STEPS.get(step).copied()).unwrap_or("start");
    ProcessError::Start { program: program.to_owned(), step, source }
}

impl Starter {
    /// A starter's two ends: the tracer's, and the parameters for the starter.
    pub(super) fn plan<'l>(
        launcher: &'l Launcher,
        directory: &Path,
        walls: &'l Confinement,
    ) -> io::Result<(Starter, Plan<'l>)> {
        let (control, theirs) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        let directory = CString::new(directory.as_os_str().as_bytes()).map_err(io::Error::other)?;
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        let plan = Plan { prepared: launcher.prepare(), directory, walls, control: theirs, nothing };
        Ok((Starter { control }, plan))
    }

    /// Waits until the starter is ready.
    ///
    /// # Errors
    /// If the kernel has refused a part of the confinement, which is named.
    pub(super) fn wait(&self) -> io::Result<()> {
        let mut said = [0; REPORT];
        match nix::unistd::read(&self.control, &mut said)? {
            REPORT => reported(&said, &WALLS),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Forks a starter that is no deeper in namespaces than this process. It is not ready yet.
    pub(super) fn outside(
        launcher: &Launcher,
        directory: &Path,
        walls: &Confinement,
    ) -> Result<Starter, ProcessError> {
        let failed = |source| ProcessError::System { what: "preparing to start programs", source };
        let (starter, plan) = Starter::plan(launcher, directory, walls).map_err(failed)?;
        // SAFETY: the child makes only system calls and never returns.
        if unsafe { fork() }.map_err(|errno| failed(errno.into()))? == 0 {
            plan.serve();
        }
        Ok(starter)
    }

    /// Has a child forked, and seizes it.
    pub(super) fn start(&self, order: Order<'_>, options: i32) -> Result<Started, ProcessError> {
        let failed = |source| ProcessError::System { what: "starting the program", source };
        let (mut socket, theirs) = UnixStream::pair().map_err(failed)?;
        setsockopt(&socket, PassCred, &true).map_err(|errno| failed(errno.into()))?;
        self.send(&order, theirs.as_fd()).map_err(failed)?;
        drop(theirs);
        let mut word = [0; 8];
        let (length, pid) = hear(&socket, &mut word).map_err(|errno| failed(errno.into()))?;
        let Some(pid) = pid.filter(|_| word[..length] == [HERE]) else {
            return Err(failure(order.name, &word[..length]));
        };
        // SAFETY: PTRACE_SEIZE takes no pointer here.
        if unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid.as_raw(), 0, options as usize) } != 0 {
            return Err(ProcessError::of_ptrace(io::Error::last_os_error()));
        }
        socket.write_all(&[1]).map_err(failed)?;
        Ok(Started { pid, stdin: order.stdin, socket, program: order.name.to_owned() })
    }

    fn send(&self, order: &Order<'_>, socket: BorrowedFd<'_>) -> io::Result<()> {
        let Launch { output, attachments: Attachments { files, .. }, .. } = order.launch;
        let request = StartRequest::new(order.launch, order.texts)?;
        let mut descriptors = vec![socket.as_raw_fd(), order.texts.file().as_raw_fd()];
        descriptors.extend([
            order.stdin.as_raw_fd(),
            output.stdout().as_raw_fd(),
            output.stderr().as_raw_fd(),
        ]);
        descriptors.extend(files.iter().map(AsRawFd::as_raw_fd));
        let message = [IoSlice::new(request.bytes())];
        let control = [ControlMessage::ScmRights(&descriptors)];
        sendmsg::<()>(self.control.as_raw_fd(), &message, &control, MsgFlags::MSG_NOSIGNAL, None)?;
        Ok(())
    }
}

const FORK: usize = 0;

/// The result of these steps, as a [report] tells it.
pub(super) fn reported(report: &[u8; REPORT], steps: &[&str]) -> io::Result<()> {
    let [step, errno] =
        [&report[..4], &report[4..]].map(|half| half.try_into().map_or(0, i32::from_ne_bytes));
    match errno {
        0 => Ok(()),
        errno => {
            Err(explained(steps.get(step as usize).copied().unwrap_or("a step"), Errno::from_raw(errno)))
        }
    }
}

/// The error that names what was refused, and why.
pub(super) fn explained(what: &str, errno: Errno) -> io::Error {
    io::Error::other(format!("{what}: {}", errno.desc()))
}

/// Receives the first word on a socket: its length, and who has said it.
fn hear(socket: &UnixStream, word: &mut [u8; 8]) -> nix::Result<(usize, Option<Pid>)> {
    let mut space = nix::cmsg_space!(UnixCredentials);
    let mut parts = [IoSliceMut::new(word)];
    let message = loop {
        match recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), MsgFlags::empty()) {
            Err(Errno::EINTR) => continue,
            heard => break heard?,
        }
    };
    let pid = message.cmsgs()?.find_map(|message| match message {
        ControlMessageOwned::ScmCredentials(credentials) => Some(Pid::from_raw(credentials.pid())),
        _ => None,
    });
    Ok((message.bytes, pid))
}

/// Forks by the system call and not the C library, which would ask for locks that another thread may have held. Waits
/// for a while where there is no room for another process.
///
/// # Safety
/// The child makes only system calls, and does not return from the caller.
pub(super) unsafe fn fork() -> nix::Result<libc::pid_t> {
    patiently(|| {
        // SAFETY: clone(2) with plain numbers is fork(2); the caller takes care of the child.
        let pid = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
        Errno::result(pid).map(|pid| pid as libc::pid_t)
    })
}

/// Leaves the terminal of this program and its signals alone, and lets children vanish when they end,
/// those included whose parents have ended before.
pub(super) fn retire() {
    let _ = nix::unistd::setsid();
    // SAFETY: prctl with plain numbers.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE, libc::SIGCHLD] {
        // SAFETY: SIG_IGN is a valid disposition.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Closes all descriptors but 0 to 2 and this one.
fn close_all_but(kept: RawFd) {
    // SAFETY: close_range with plain numbers, in a process that uses no other descriptor any more.
    unsafe {
        if kept > 3 {
            libc::syscall(libc::SYS_close_range, 3, kept - 1, 0);
        }
        libc::syscall(libc::SYS_close_range, kept + 1, u32::MAX, 0);
    }
}

impl Plan<'_> {
    /// Runs the starter in a process that has just been forked.
    pub(super) fn serve(&self) -> ! {
        retire();
        let raised = self.walls.raise();
        for descriptor in 0..3 {
            // SAFETY: dup2 on an open descriptor.
            unsafe { libc::dup2(self.nothing.as_raw_fd(), descriptor) };
        }
        close_all_but(self.control.as_raw_fd());
        // SAFETY: prctl with plain numbers. Runs cannot look into the starter.
        unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0) };
        let (wall, errno) = raised.err().unwrap_or((0, Errno::UnknownErrno));
        report(self.control.as_raw_fd(), wall, errno);
        if raised.is_ok() {
            while let Some((request, descriptors)) = self.receive() {
                self.serve_one(&request, &descriptors);
            }
        }
        // SAFETY: ends the process without running the parent's destructors.
        unsafe { libc::_exit(0) }
    }

    fn serve_one(&self, request: &StartRequest, descriptors: &Descriptors) {
        request.choose_processors();
        // SAFETY: the child makes only system calls and never returns.
        match unsafe { fork() } {
            Ok(0) => {
                // SAFETY: prctl with plain numbers.
                unsafe {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
                    libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0);
                }
                let failed = self.prepared.become_program(request, &self.directory, descriptors.all(), HERE);
                report(failed.socket, failed.step, failed.errno);
                // SAFETY: ends the process without running the parent's destructors.
                unsafe { libc::_exit(127) }
            }
            Ok(_) => {}
            Err(errno) => report(descriptors.all()[0], FORK, errno),
        }
        for &descriptor in descriptors.all() {
            // SAFETY: closes what was received for this order.
            unsafe { libc::close(descriptor) };
        }
    }

    /// Receives the next order; `None` if there will be no more.
    fn receive(&self) -> Option<(StartRequest, Descriptors)> {
        let mut request = MaybeUninit::<StartRequest>::zeroed();
        let mut part =
            libc::iovec { iov_base: request.as_mut_ptr().cast(), iov_len: size_of::<StartRequest>() };
        let mut space = ControlSpace([0; CONTROL_SPACE]);
        // SAFETY: a structure of numbers and pointers, all of which may be zero.
        let mut header = unsafe { MaybeUninit::<libc::msghdr>::zeroed().assume_init() };
        header.msg_iov = &raw mut part;
        header.msg_iovlen = 1;
        header.msg_control = space.0.as_mut_ptr().cast();
        header.msg_controllen = CONTROL_SPACE;
        let length = loop {
            // SAFETY: the header points to memory of the lengths it tells, which outlives the call.
            let length =
                unsafe { libc::recvmsg(self.control.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC) };
            if length >= 0 || Errno::last() != Errno::EINTR {
                break length;
            }
        };
        if length as usize != size_of::<StartRequest>() {
            return None;
        }
        let mut descriptors = Descriptors { count: 0, all: [-1; MOST_DESCRIPTORS] };
        // SAFETY: walks what the kernel has just written; the descriptors are copied byte by byte.
        unsafe {
            let message = libc::CMSG_FIRSTHDR(&raw const header);
            if !message.is_null() && (*message).cmsg_type == libc::SCM_RIGHTS {
                let bytes = (*message).cmsg_len - libc::CMSG_LEN(0) as usize;
                descriptors.count = (bytes / size_of::<RawFd>()).min(MOST_DESCRIPTORS);
                let data = libc::CMSG_DATA(message).cast::<RawFd>();
                for (number, descriptor) in descriptors.all.iter_mut().take(descriptors.count).enumerate() {
                    *descriptor = data.add(number).read_unaligned();
                }
            }
            // It consists of numbers, was zeroed and then filled.
            (descriptors.count >= LEAST_DESCRIPTORS).then(|| (request.assume_init(), descriptors))
        }
    }
}

/// The number of descriptors that each order brings along: the socket, the texts, the standard descriptors.
const LEAST_DESCRIPTORS: usize = 5;
const MOST_DESCRIPTORS: usize = LEAST_DESCRIPTORS + crate::process::launch::MOST_FILES;
const CONTROL_SPACE: usize = 128;

#[repr(align(8))]
struct ControlSpace([u8; CONTROL_SPACE]);

/// The descriptors that an order brings along, with the attachments.
struct Descriptors {
    count: usize,
    all: [RawFd; MOST_DESCRIPTORS],
}

impl Descriptors {
    fn all(&self) -> &[RawFd] {
        &self.all[..self.count]
    }
}

/// The length of a report.
pub(super) const REPORT: usize = 8;

/// Writes the report of how a step has ended.
pub(super) fn report(socket: RawFd, step: usize, errno: Errno) {
    let mut text = [0; REPORT];
    text[..4].copy_from_slice(&(step as i32).to_ne_bytes());
    text[4..].copy_from_slice(&(errno as i32).to_ne_bytes());
    // SAFETY: writes bytes that outlive the call.
    unsafe { libc::write(socket, text.as_ptr().cast(), text.len()) };
}
