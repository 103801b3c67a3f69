//! Decide about the system calls that the filter has held up.
//!
//! The program is stopped meanwhile, so that what is read of its memory stays; other processes of the
//! same run could change it, which none does by accident.

use std::fs::{self, File, Metadata};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nix::unistd::Pid;

use super::filter::{F_SETOWN_EX, OWNERS, Subject, hides, subject};
use super::{Extent, Ipc};
use crate::denial::Action;

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::process) enum Answer {
    /// It is made.
    Allowed,
    /// It fails.
    Denied(Action),
    /// It asks for more memory than the run may have.
    TooMuch,
}

/// A system call that has been held up.
pub(in crate::process) struct Call<'c> {
    /// The process that makes it.
    pub(in crate::process) by: Pid,
    /// Its registers.
    pub(in crate::process) registers: &'c libc::user_regs_struct,
    /// The processes of its run, by the numbers that the kernel tells them.
    pub(in crate::process) family: &'c dyn Fn() -> Vec<i32>,
    /// By which number they name the one that has started them.
    pub(in crate::process) parent: i32,
    /// Address space that the process may have, in bytes.
    pub(in crate::process) memory: Option<u64>,
}

impl Call<'_> {
    fn argument(&self, number: usize) -> u64 {
        let r = self.registers;
        [r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9][number]
    }

    fn read(&self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        let memory = File::open(format!("/proc/{}/mem", self.by));
        let read = memory.and_then(|memory| memory.read_at(&mut bytes, address)).unwrap_or(0);
        bytes.truncate(read);
        bytes
    }

    /// The number at an address; 0 if there is none.
    fn number(&self, address: u64) -> i32 {
        self.read(address, 4).try_into().map_or(0, i32::from_ne_bytes)
    }

    /// Whom a `struct f_owner_ex` names, as kill(2) does.
    fn owner(&self, address: u64) -> i32 {
        const GROUP: i32 = 2;
        let kind = u64::from(self.number(address) == GROUP);
        whom(kind, self.number(address.wrapping_add(4)))
    }

    /// The text that ends with a zero byte.
    fn text(&self, address: u64) -> PathBuf {
        let mut bytes = self.read(address, libc::PATH_MAX as usize);
        bytes.truncate(bytes.iter().position(|&byte| byte == 0).unwrap_or(0));
        PathBuf::from(std::ffi::OsString::from_vec(bytes))
    }

    /// An absolute path of the process as the tracer sees it.
    fn outside(&self, path: &Path) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.by));
        root.join(path.strip_prefix("/").unwrap_or(path))
    }
}

/// Decides about the calls of the runs of a sandbox.
pub(in crate::process) struct Guard {
    /// `None` where no filter holds up calls.
    extent: Option<Extent>,
    /// See [`Guard::take_hidden_changes`].
    has_hidden_changes: AtomicBool,
    /// How much shared memory runs have asked for, in bytes.
    shared: AtomicU64,
}

impl Guard {
    pub(super) fn new(extent: Option<Extent>) -> Guard {
        Guard { extent, has_hidden_changes: AtomicBool::new(false), shared: AtomicU64::new(0) }
    }

    /// Whether a run may have changed what the place for its changes does not tell, since this was asked last:
    /// it may have left IPC objects in its namespace, or set flags of files in its copy.
    pub(super) fn take_hidden_changes(&self) -> bool {
        self.has_hidden_changes.swap(false, Ordering::Relaxed)
    }

    /// Whether a call asks for more shared memory than a run may have together, shmget(2). It stays until the
    /// namespace goes, so that none is given back.
    fn shares_too_much(&self, call: &Call<'_>) -> bool {
        let Some(limit) = call.memory.filter(|_| call.registers.orig_rax == libc::SYS_shmget as u64) else {
            return false;
        };
        let size = call.argument(1).min(u64::from(u32::MAX) << 12);
        self.shared.fetch_add(size, Ordering::Relaxed) + size > limit
    }

    /// What becomes of a call.
    pub(in crate::process) fn answer(&self, call: &Call<'_>) -> Answer {
        if self.extent.is_some() && self.shares_too_much(call) {
            return Answer::TooMuch;
        }
        self.extent.as_ref().map_or(Answer::Allowed, |extent| extent.answer(call, &self.has_hidden_changes))
    }
}

impl Extent {
    fn answer(&self, call: &Call<'_>, hides_changes: &AtomicBool) -> Answer {
        let Some(subject) = subject(call.registers.orig_rax as i64) else {
            return Answer::Allowed;
        };
        let unless = |action, allowed| if allowed { Answer::Allowed } else { Answer::Denied(action) };
        let if_own_file = |is_own| {
            hides_changes.fetch_or(is_own, Ordering::Relaxed);
            unless(Action::Attributes, is_own)
        };
        match subject {
            Subject::Always(action) => Answer::Denied(action),
            Subject::Start(flags) => unless(Action::Namespace, !hides(call.argument(flags))),
            Subject::Address(pointer) => {
                let address = call.read(call.argument(pointer), size_of::<libc::sockaddr_un>());
                unless(Action::Network, self.is_own_socket(call, &address))
            }
            Subject::Message(pointer) => {
                let header = call.read(call.argument(pointer), 12);
                let name =
                    header.get(..8).and_then(|name| name.try_into().ok()).map_or(0, u64::from_ne_bytes);
                let address = call.read(name, size_of::<libc::sockaddr_un>());
                unless(Action::Network, name == 0 || self.is_own_socket(call, &address))
            }
            Subject::Process(action, argument) => {
                unless(action, is_own(call, call.argument(argument) as i32))
            }
            Subject::Kind(process) => {
                let kind = call.argument(0).wrapping_sub(process);
                unless(Action::Processes, is_own(call, whom(kind, call.argument(1) as i32)))
            }
            Subject::Owner => {
                let owner = match call.argument(1) as i32 {
                    F_SETOWN_EX => call.owner(call.argument(2)),
                    _ => call.argument(2) as i32,
                };
                unless(Action::Signal, is_own(call, owner))
            }
            Subject::Descriptor => {
                // Those of processes lead to no file, but folders of processes serve as well.
                let descriptor = format!("/proc/{}/fd/{}", call.by, call.argument(0) as i32);
                let is_folder = fs::read_link(descriptor).is_ok_and(|path| path.is_absolute());
                unless(Action::Signal, !is_folder)
            }
            Subject::Control if OWNERS.contains(&(call.argument(1) & u64::from(u32::MAX))) => {
                let owner = call.number(call.argument(2));
                unless(Action::Signal, is_own(call, owner))
            }
            Subject::Control => if_own_file(self.is_own_descriptor(call, 0)),
            Subject::Ipc => match self.ipc {
                Ipc::Apart => {
                    hides_changes.store(true, Ordering::Relaxed);
                    Answer::Allowed
                }
                Ipc::Shared => Answer::Denied(Action::Ipc),
            },
            Subject::Memory(argument) => {
                let wanted = call.argument(argument).saturating_add(address_space(call.by));
                match call.memory {
                    Some(limit) if wanted > limit => Answer::TooMuch,
                    _ => Answer::Allowed,
                }
            }
            Subject::Path(folder, path) => {
                let path = call.text(call.argument(path));
                let folder = folder.map(|folder| call.argument(folder) as i32);
                if_own_file(self.is_own_file(&place(call.by, folder, &path)))
            }
            Subject::File(descriptor) => if_own_file(self.is_own_descriptor(call, descriptor)),
        }
    }

    /// Whether nobody but the run itself can listen at the address of a socket.
    fn is_own_socket(&self, call: &Call<'_>, address: &[u8]) -> bool {
        let family = address.get(..2).and_then(|family| family.try_into().ok()).map(u16::from_ne_bytes);
        if family.map(i32::from) != Some(libc::AF_UNIX) {
            return false;
        }
        let path: Vec<u8> = address[2..].iter().copied().take_while(|&byte| byte != 0).collect();
        // Abstract ones belong to the namespace of the network, or to the domain of Landlock.
        if path.is_empty() {
            return true;
        }
        let path = place(call.by, None, Path::new(&std::ffi::OsString::from_vec(path)));
        // Where nobody listens nobody is harmed.
        fs::symlink_metadata(call.outside(&path))
            .map_or(true, |seen| self.is_own_file(&path) && !shows_through(&path, &seen))
    }

    fn is_own_descriptor(&self, call: &Call<'_>, argument: usize) -> bool {
        let descriptor = call.argument(argument) as i32;
        self.is_own_file(&place(call.by, Some(descriptor), Path::new("")))
    }

    fn is_own_file(&self, path: &Path) -> bool {
        self.places.iter().any(|place| path.starts_with(place))
    }
}

/// Whether what a run sees at this path is not its own, but what lies there outside of the sandbox, seen
/// through an overlay: that tells another device, and the same time of the last change.
fn shows_through(path: &Path, seen: &Metadata) -> bool {
    let change = |file: &Metadata| (file.ctime(), file.ctime_nsec());
    fs::symlink_metadata(path)
        .is_ok_and(|outside| outside.dev() != seen.dev() && change(&outside) == change(seen))
}

/// Where a path of the process leads, as it sees it; of a descriptor alone, if the path is empty.
fn place(process: Pid, folder: Option<i32>, path: &Path) -> PathBuf {
    let base = match folder {
        Some(descriptor) if descriptor != libc::AT_FDCWD => format!("/proc/{process}/fd/{descriptor}"),
        _ => format!("/proc/{process}/cwd"),
    };
    let base = fs::read_link(base).unwrap_or_default();
    let whole = if path.as_os_str().is_empty() { base } else { base.join(path) };
    // Through symbolic links; of what does not exist the path is as good.
    let parent = whole.parent().and_then(|parent| parent.canonicalize().ok());
    let named = parent.zip(whole.file_name()).map(|(parent, name)| parent.join(name));
    whole.canonicalize().ok().or(named).unwrap_or(whole)
}

/// Names a process, a group or, as everybody, a user as kill(2) does; `kind` counts from a process on.
fn whom(kind: u64, number: i32) -> i32 {
    match kind {
        0 => number,
        1 => number.wrapping_neg(),
        _ => -1,
    }
}

/// Whether this process, or all of this group, belongs to the run, or there is nobody; as kill(2) names them.
fn is_own(call: &Call<'_>, target: i32) -> bool {
    let family = (call.family)();
    let folder = PathBuf::from(format!("/proc/{}/root/proc", call.by));
    match target {
        -1 => false,
        0 => true,
        _ if target.wrapping_abs() == call.parent => false,
        // Whom there is not, or not any more, cannot be harmed.
        1.. => {
            family.contains(&target)
                || Other::read(&folder.join(target.to_string())).is_none_or(|other| other.has_ended)
        }
        // A group may outlive who has founded it.
        _ => members(&folder, -i64::from(target)).is_some_and(|members| {
            members.iter().all(|(number, other)| other.has_ended || family.contains(number))
        }),
    }
}

/// A process that may be signalled.
struct Other {
    /// It only waits for its parent to notice.
    has_ended: bool,
    group: i64,
}

impl Other {
    /// What its folder tells, proc_pid_stat(5); `None` if it is not there.
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
