//! The guard of a sandbox: it decides about the system calls that the filter has held up.
//!
//! The program is stopped meanwhile, so that what is read of its memory stays, and so are other processes of the same
//! run, which could change it, or the links that it names ([`Guard::can_be_misled`], `exclusion.rs`). Where files
//! are concerned, what is reached counts, not what is written (`reach.rs`). What cannot be found out is denied:
//! a process can hide its memory and its folders from who traces it (`PR_SET_DUMPABLE`).

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nix::sys::statfs::FsType;
use nix::sys::statvfs::{FsFlags, fstatvfs};
use nix::unistd::Pid;

use super::extent::{Attributes, Ipc, RunExtent, SocketNames};
use super::filter::{CallSubject, F_SETOWN_EX, OWNERS, follows_links, hides, reads_only, subject};
use super::reach::{Route, file_system, path_of, reach};
use super::sockets::{abstract_sockets, holds};
use crate::denial::Action;

/// The file systems of POSIX message queues, of the kernel's own log of events, where to read may be to take away,
/// and of pipes without a name.
const MESSAGE_QUEUES: FsType = FsType(0x1980_0202);
const KERNEL_EVENTS: [FsType; 2] = [FsType(0x7472_6163), FsType(0x6462_6720)];
const PIPES: FsType = FsType(0x5049_5045);
/// The numbers of devices that do nothing lasting: null, zero, full, random, urandom, and the terminal of the
/// session, of which a run has none.
const HARMLESS: [(u64, u64); 6] = [(1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (5, 0)];

/// The decision about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::process) enum Answer {
    /// The call is made.
    Allowed,
    /// The call fails.
    Denied(Action),
    /// The call asks for more memory than the run may have, which ends the run.
    TooMuch,
}

/// What becomes of a call that is allowed and has to wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::process) enum Waiting {
    /// It goes on while others run: what it names has been looked up.
    Goes,
    /// It is tried again from the beginning: the kernel may look up later what it names.
    Repeated,
}

/// A system call that has been held up.
pub(in crate::process) struct HeldCall<'c> {
    /// The process that makes it.
    pub(in crate::process) by: Pid,
    /// Its registers.
    pub(in crate::process) registers: &'c libc::user_regs_struct,
    /// The processes of its run, by the numbers that the kernel tells them.
    pub(in crate::process) family: &'c dyn Fn() -> Vec<i32>,
    /// The number by which the run's processes name the one that has started them.
    pub(in crate::process) parent: i32,
    /// The address space that the process may have, in bytes.
    pub(in crate::process) memory: Option<u64>,
}

impl HeldCall<'_> {
    fn argument(&self, number: usize) -> u64 {
        let r = self.registers;
        [r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9][number]
    }

    /// Reads as many of these bytes as there are.
    ///
    /// # Errors
    /// If the process hides its memory.
    fn read(&self, address: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let memory = File::open(format!("/proc/{}/mem", self.by))?;
        let read = memory.read_at(&mut bytes, address).unwrap_or(0);
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Reads the `i32` at an address; 0 if there is none.
    fn number(&self, address: u64) -> io::Result<i32> {
        Ok(self.read(address, 4)?.try_into().map_or(0, i32::from_ne_bytes))
    }

    /// Reads the `u64` at an address; 0 if there is none.
    fn word(&self, address: u64) -> io::Result<u64> {
        Ok(self.read(address, 8)?.try_into().map_or(0, u64::from_ne_bytes))
    }

    /// The owner that a `struct f_owner_ex` names, in the way of kill(2).
    fn owner(&self, address: u64) -> io::Result<i32> {
        const GROUP: i32 = 2;
        let kind = u64::from(self.number(address)? == GROUP);
        Ok(whom(kind, self.number(address.wrapping_add(4))?))
    }

    /// Reads the text up to a zero byte; `None` if there is none that the kernel would take for a path.
    fn text(&self, address: u64) -> io::Result<Option<PathBuf>> {
        let mut bytes = self.read(address, libc::PATH_MAX as usize)?;
        let Some(end) = bytes.iter().position(|&byte| byte == 0) else { return Ok(None) };
        bytes.truncate(end);
        Ok(Some(PathBuf::from(std::ffi::OsString::from_vec(bytes))))
    }

    /// The descriptor in an argument, as a route to what is open there.
    fn descriptor(&self, argument: usize) -> Route<'static> {
        let folder = Some(self.argument(argument) as i32);
        Route { process: self.by, folder, path: Path::new(""), follows: true, is_rooted: false }
    }
}

/// The guard of a sandbox, which decides about the calls of its runs.
pub(in crate::process) struct Guard {
    /// The permissions of runs; `None` where no filter holds up calls.
    extent: Option<RunExtent>,
    /// See [`Guard::take_hidden_changes`].
    has_hidden_changes: AtomicBool,
    /// The shared memory that runs have asked for, in bytes.
    shared: AtomicU64,
}

impl Guard {
    pub(super) fn new(extent: Option<RunExtent>) -> Guard {
        Guard { extent, has_hidden_changes: AtomicBool::new(false), shared: AtomicU64::new(0) }
    }

    /// Whether a run may have changed, since this was asked last, what the place for its changes does not tell: it may
    /// have left IPC objects in its namespace, or set flags of files in its copy.
    pub(super) fn take_hidden_changes(&self) -> bool {
        self.has_hidden_changes.swap(false, Ordering::Relaxed)
    }

    /// Whether a call asks for more shared memory than a run may have together, shmget(2). It stays until the
    /// namespace goes, so that none is given back.
    fn shares_too_much(&self, call: &HeldCall<'_>) -> bool {
        let Some(limit) = call.memory.filter(|_| call.registers.orig_rax == libc::SYS_shmget as u64) else {
            return false;
        };
        let size = call.argument(1).min(u64::from(u32::MAX) << 12);
        self.shared.fetch_add(size, Ordering::Relaxed) + size > limit
    }

    /// Whether other processes of the run could make the kernel see something else than the guard has seen, because the
    /// call names it in memory, by a path or by a descriptor; and what is to be done if an allowed call waits.
    pub(in crate::process) fn can_be_misled(&self, registers: &libc::user_regs_struct) -> Option<Waiting> {
        self.extent.as_ref()?;
        match subject(registers.orig_rax as i64, registers.rsi)? {
            // The kernel may look for the address anew when the other side has room again.
            CallSubject::Address(..) | CallSubject::Message(..) => Some(Waiting::Repeated),
            CallSubject::Owner
            | CallSubject::Descriptor
            | CallSubject::Control
            | CallSubject::Path(..)
            | CallSubject::File
            | CallSubject::Open(..)
            | CallSubject::Lock => Some(Waiting::Goes),
            CallSubject::Always(_)
            | CallSubject::Start(_)
            | CallSubject::Process(..)
            | CallSubject::Kind(_)
            | CallSubject::Ipc
            | CallSubject::Memory(_) => None,
        }
    }

    /// Decides about a call.
    pub(in crate::process) fn answer(&self, call: &HeldCall<'_>) -> Answer {
        if self.extent.is_some() && self.shares_too_much(call) {
            return Answer::TooMuch;
        }
        self.extent.as_ref().map_or(Answer::Allowed, |extent| extent.answer(call, &self.has_hidden_changes))
    }
}

impl RunExtent {
    fn answer(&self, call: &HeldCall<'_>, hides_changes: &AtomicBool) -> Answer {
        let Some(subject) = subject(call.registers.orig_rax as i64, call.argument(1)) else {
            return Answer::Allowed;
        };
        let unless = |action, allowed: io::Result<bool>| match allowed {
            Ok(true) => Answer::Allowed,
            Ok(false) | Err(_) => Answer::Denied(action),
        };
        let if_own_file = |is_own: io::Result<bool>| {
            hides_changes.fetch_or(matches!(is_own, Ok(true)), Ordering::Relaxed);
            unless(Action::Attributes, is_own)
        };
        match subject {
            CallSubject::Always(action) => Answer::Denied(action),
            CallSubject::Start(flags) => unless(Action::Namespace, Ok(!hides(call.argument(flags)))),
            CallSubject::Address(pointer, length) => {
                let (address, length) = (call.argument(pointer), call.argument(length));
                unless(Action::Network, self.is_own_socket(call, address, length as u32))
            }
            CallSubject::Message(pointer) => {
                unless(Action::Network, self.goes_to_own_socket(call, call.argument(pointer)))
            }
            CallSubject::Process(action, argument) => {
                unless(action, Ok(is_own(call, call.argument(argument) as i32)))
            }
            CallSubject::Kind(process) => {
                let kind = call.argument(0).wrapping_sub(process);
                unless(Action::Processes, Ok(is_own(call, whom(kind, call.argument(1) as i32))))
            }
            CallSubject::Owner => unless(Action::Signal, owner(call).map(|owner| is_own(call, owner))),
            CallSubject::Descriptor => unless(Action::Signal, names_no_folder(call)),
            CallSubject::Control if OWNERS.contains(&(call.argument(1) & u64::from(u32::MAX))) => {
                let owner = call.number(call.argument(2));
                unless(Action::Signal, owner.map(|owner| is_own(call, owner)))
            }
            CallSubject::Control if reads_only(call.argument(1)) => Answer::Allowed,
            CallSubject::Control => if_own_file(self.is_own_descriptor(call)),
            CallSubject::Ipc => match self.ipc {
                Ipc::Apart => {
                    hides_changes.store(true, Ordering::Relaxed);
                    Answer::Allowed
                }
                Ipc::Shared => Answer::Denied(Action::Ipc),
            },
            CallSubject::Memory(argument) => {
                let wanted = call.argument(argument).saturating_add(address_space(call.by));
                match call.memory {
                    Some(limit) if wanted > limit => Answer::TooMuch,
                    _ => Answer::Allowed,
                }
            }
            CallSubject::Path(folder, path) => if_own_file(self.is_own_path(call, folder, path)),
            CallSubject::File => if_own_file(self.is_own_descriptor(call)),
            CallSubject::Open(folder, path) => match self.opened(call, folder, path) {
                Ok(None) => Answer::Allowed,
                Ok(Some(action)) => Answer::Denied(action),
                Err(_) => Answer::Denied(Action::Pipe),
            },
            CallSubject::Lock => unless(Action::Lock, self.is_own_lock(call)),
        }
    }

    /// Whether nobody but the run itself can listen at the address of a socket.
    fn is_own_socket(&self, call: &HeldCall<'_>, address: u64, length: u32) -> io::Result<bool> {
        let address = call.read(address, (length as usize).min(size_of::<libc::sockaddr_un>()))?;
        let family = address.get(..2).and_then(|family| family.try_into().ok()).map(u16::from_ne_bytes);
        if family.map(i32::from) != Some(libc::AF_UNIX) {
            return Ok(false);
        }
        let path: Vec<u8> = address[2..].iter().copied().take_while(|&byte| byte != 0).collect();
        if path.is_empty() {
            return match self.names {
                SocketNames::Apart => Ok(true),
                SocketNames::Shared => holds_abstract(call, &address[2..]),
            };
        }
        let path = PathBuf::from(std::ffi::OsString::from_vec(path));
        let route = Route { process: call.by, folder: None, path: &path, follows: true, is_rooted: false };
        // At a path that leads nowhere nobody listens, and nobody is harmed.
        let Some(reached) = reach(&route)? else { return Ok(true) };
        Ok(!reached.metadata()?.file_type().is_socket()
            || self.is_own(&reached)? && !shows_through(&reached)?)
    }

    /// Whether the address in a `struct msghdr`, if there is one, is that of the run's own socket.
    fn goes_to_own_socket(&self, call: &HeldCall<'_>, header: u64) -> io::Result<bool> {
        let name = call.word(header)?;
        let length = call.number(header.wrapping_add(8))?;
        if name == 0 { Ok(true) } else { self.is_own_socket(call, name, length as u32) }
    }

    /// The action that opening the file at a path amounts to; `None` if it harms nobody.
    fn opened(&self, call: &HeldCall<'_>, folder: Option<usize>, path: usize) -> io::Result<Option<Action>> {
        /// The offset of `resolve` in a `struct open_how`.
        const RESOLVE: u64 = 16;
        let (mut flags, mut resolve) = (call.argument(path + 1), 0);
        match call.registers.orig_rax as i64 {
            libc::SYS_creat => flags = 0,
            libc::SYS_openat2 => {
                (flags, resolve) = (call.word(flags)?, call.word(flags.wrapping_add(RESOLVE))?);
            }
            _ => {}
        }
        let has = |flag: libc::c_int| flags & flag as u64 != 0;
        let Some(path) = call.text(call.argument(path))?.filter(|_| !has(libc::O_PATH)) else {
            return Ok(None);
        };
        // An empty path is none for open(2).
        if path.as_os_str().is_empty() {
            return Ok(None);
        }
        let route = Route {
            process: call.by,
            folder: folder.map(|folder| call.argument(folder) as i32),
            path: &path,
            follows: !has(libc::O_NOFOLLOW),
            is_rooted: resolve & libc::RESOLVE_IN_ROOT != 0,
        };
        reach(&route)?.map_or(Ok(None), |reached| self.harm_of_opening(&reached))
    }

    fn harm_of_opening(&self, reached: &File) -> io::Result<Option<Action>> {
        let data = reached.metadata()?;
        let kind = data.file_type();
        if kind.is_file() {
            return Ok(match file_system(reached)? {
                MESSAGE_QUEUES => Some(Action::Ipc),
                system if KERNEL_EVENTS.contains(&system) => Some(Action::Machine),
                _ => None,
            });
        }
        if kind.is_fifo() {
            let is_own = file_system(reached)? == PIPES || self.is_own(reached)? && !shows_through(reached)?;
            return Ok((!is_own).then_some(Action::Pipe));
        }
        // In a view of its own there are no others.
        let is_device = kind.is_char_device() || kind.is_block_device();
        let number = (libc::major(data.rdev()).into(), libc::minor(data.rdev()).into());
        let is_harmless = self.attributes == Attributes::Apart || HARMLESS.contains(&number);
        Ok((is_device && !is_harmless).then_some(Action::Device))
    }

    /// Whether a lock keeps nobody out but the run itself.
    fn is_own_lock(&self, call: &HeldCall<'_>) -> io::Result<bool> {
        let is_lease = call.argument(1) as i32 == libc::F_SETLEASE;
        let has_kind_in_memory = call.registers.orig_rax as i64 == libc::SYS_fcntl && !is_lease;
        let is_end = match has_kind_in_memory {
            true => call.number(call.argument(2))? as i16 == libc::F_UNLCK as i16,
            false => is_lease && call.argument(2) as i32 == libc::F_UNLCK,
        };
        if is_end {
            return Ok(true);
        }
        // Nobody else finds what has no name.
        let Some(reached) = reach(&call.descriptor(0))? else { return Ok(true) };
        Ok(reached.metadata()?.nlink() == 0 || self.is_own(&reached)?)
    }

    fn is_own_descriptor(&self, call: &HeldCall<'_>) -> io::Result<bool> {
        reach(&call.descriptor(0))?.map_or(Ok(true), |reached| self.is_own(&reached))
    }

    /// Whether a path leads to a file of the run's own, or nowhere.
    fn is_own_path(&self, call: &HeldCall<'_>, folder: Option<usize>, path: usize) -> io::Result<bool> {
        let address = call.argument(path);
        // Without a path the folder itself is meant, futimens(3).
        let path = if address == 0 { Some(PathBuf::new()) } else { call.text(address)? };
        let Some(path) = path else { return Ok(true) };
        let folder = folder.map(|folder| call.argument(folder) as i32);
        let follows = follows_links(call.registers.orig_rax as i64, |argument| call.argument(argument));
        let route = Route { process: call.by, folder, path: &path, follows, is_rooted: false };
        reach(&route)?.map_or(Ok(true), |reached| self.is_own(&reached))
    }

    /// Whether a file's changes are seen by nobody else, or it has been given to runs to be changed.
    fn is_own(&self, reached: &File) -> io::Result<bool> {
        match self.attributes {
            // What is not the run's own is read-only in its view.
            Attributes::Apart => Ok(!fstatvfs(reached)?.flags().contains(FsFlags::ST_RDONLY)),
            Attributes::OfAllFiles => {
                let path = path_of(reached)?;
                Ok(self.places.iter().any(|place| path.starts_with(place)))
            }
        }
    }
}

/// Whether what a run sees is not its own, but what lies at the same path outside of the sandbox, seen through
/// an overlay: that tells another device, and the same time of the last change.
fn shows_through(reached: &File) -> io::Result<bool> {
    let seen = reached.metadata()?;
    let change = |file: &fs::Metadata| (file.ctime(), file.ctime_nsec());
    Ok(fs::symlink_metadata(path_of(reached)?)
        .is_ok_and(|outside| outside.dev() != seen.dev() && change(&outside) == change(&seen)))
}

/// Returns true if all abstract sockets of a name are the run's, or there is none.
fn holds_abstract(call: &HeldCall<'_>, name: &[u8]) -> io::Result<bool> {
    let sockets = abstract_sockets(call.by, name)?;
    let family = (call.family)();
    Ok(sockets.iter().all(|&socket| family.iter().any(|&process| holds(process, socket))))
}

/// The process or group that fcntl(2) makes the owner of a file, who gets signals, in the numbers of kill(2).
fn owner(call: &HeldCall<'_>) -> io::Result<i32> {
    match call.argument(1) as i32 {
        F_SETOWN_EX => call.owner(call.argument(2)),
        _ => Ok(call.argument(2) as i32),
    }
}

/// Whether a descriptor belongs to no folder: those of processes (pidfds) lead to no file, but folders of `/proc` serve
/// as well.
fn names_no_folder(call: &HeldCall<'_>) -> io::Result<bool> {
    match fs::read_link(format!("/proc/{}/fd/{}", call.by, call.argument(0) as i32)) {
        Ok(path) => Ok(!path.is_absolute()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
    }
}

/// The target as kill(2) names it, a process, a group or, for a user, everybody; `kind` counts from a process on.
fn whom(kind: u64, number: i32) -> i32 {
    match kind {
        0 => number,
        1 => number.wrapping_neg(),
        _ => -1,
    }
}

/// Whether a target in the numbers of kill(2), a process or all of a group, belongs to the run, or does not exist.
fn is_own(call: &HeldCall<'_>, target: i32) -> bool {
    let family = (call.family)();
    let folder = PathBuf::from(format!("/proc/{}/root/proc", call.by));
    // A process that hides what it sees does not tell whether there is nobody.
    let sees_processes = fs::metadata(&folder).is_ok();
    match target {
        -1 => false,
        0 => true,
        _ if target.wrapping_abs() == call.parent => false,
        // A process that does not exist, or not any more, cannot be harmed.
        1.. => {
            family.contains(&target)
                || sees_processes
                    && Other::read(&folder.join(target.to_string())).is_none_or(|other| other.has_ended)
        }
        // A group may outlive its leader.
        _ => members(&folder, -i64::from(target)).is_some_and(|members| {
            members.iter().all(|(number, other)| other.has_ended || family.contains(number))
        }),
    }
}

/// A process that may be signalled.
struct Other {
    /// Whether it is a zombie, which only waits for its parent to notice.
    has_ended: bool,
    group: i64,
}

impl Other {
    /// Reads its state and its group, proc_pid_stat(5); `None` if it does not exist.
    fn read(folder: &Path) -> Option<Other> {
        let told = fs::read(folder.join("stat")).ok()?;
        let told = String::from_utf8_lossy(&told);
        // Its name, which may be anything, ends with the last parenthesis.
        let fields: Vec<&str> = told.rsplit(')').next()?.split_whitespace().collect();
        // The first thread may have ended before the others.
        let has_ended = matches!(*fields.first()?, "Z" | "X") && *fields.get(17)? == "1";
        Some(Other { has_ended, group: fields.get(2)?.parse().ok()? })
    }
}

/// The processes of a group and their numbers; `None` if that cannot be found out.
fn members(processes: &Path, group: i64) -> Option<Vec<(i32, Other)>> {
    let folders = fs::read_dir(processes).ok()?.flatten();
    let numbers = folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok());
    let others =
        numbers.filter_map(|number: i32| Some((number, Other::read(&processes.join(number.to_string()))?)));
    Some(others.filter(|(_, other)| other.group == group).collect())
}

/// The address space that a process has, in bytes.
fn address_space(process: Pid) -> u64 {
    const PAGE: u64 = 4096;
    let numbers = fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    numbers.split(' ').next().and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * PAGE
}
