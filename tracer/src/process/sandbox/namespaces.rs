//! Namespaces for runs, and in them a private view of the file system (`view.rs`).
//!
//! The first process of the namespaces builds the view, forks the starter and stays: when the tracer has
//! gone, however that happened, it reads the end of a file and exits, and the kernel ends everything in
//! its namespace of processes. It also makes the places for changes anew between runs.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use nix::sched::CloneFlags;
use nix::sys::stat::fstat;
use nix::sys::statvfs::fstatvfs;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use super::starter::{Confinement, REPORT, Starter, explained, reported};
use super::view::{Overlay, STEPS, ViewPlan};
use crate::invocation::{Network, Permissions};
use crate::process::children;
use crate::process::launch::Launcher;
use crate::process::patiently;

/// Namespaces that runs are started in.
pub(super) struct Namespaces {
    /// The first process (pid 1 of the namespace), and the line to it: at its end that process exits.
    first: Pid,
    line: UnixStream,
    plan: ViewPlan,
    /// The file system that holds the changes, and the folders in it.
    memory: OwnedFd,
    changes: Vec<Change>,
}

/// A folder for changes, and its stamp as long as there are none.
struct Change {
    folder: OwnedFd,
    untouched: FolderStamp,
}

/// The attributes of a folder that change when an entry is made or removed, or the folder itself is changed.
#[derive(PartialEq, Eq)]
struct FolderStamp {
    mode: u32,
    owner: (u32, u32),
    written: (i64, i64),
    /// The time of the last change, of attributes and flags as well.
    changed: (i64, i64),
    /// The size, which grows with each entry, tmpfs(5). An overlay that copies a folder into this one puts back the
    /// time.
    size: i64,
}

/// The first processes that have been let go, and whose ends nobody has waited for: runs that are held may keep them
/// alive for a while.
static LEAVING: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

impl Namespaces {
    pub(super) fn new(
        launcher: &Launcher,
        directory: &Path,
        permissions: &Permissions,
        walls: &Confinement,
    ) -> io::Result<(Namespaces, Starter)> {
        reap();
        let (starter, plan) = Starter::plan(launcher, directory, walls)?;
        let (mut line, theirs) = UnixStream::pair()?;
        // Chooses numbers of descriptors beyond those that are open, these among them.
        let layout = ViewPlan::new(directory, &permissions.writable)?;
        let mut flags = CloneFlags::CLONE_NEWUSER
            | CloneFlags::CLONE_NEWNS
            | CloneFlags::CLONE_NEWPID
            | CloneFlags::CLONE_NEWIPC
            | CloneFlags::CLONE_NEWUTS
            | CloneFlags::CLONE_NEWCGROUP;
        if permissions.network == Network::Denied {
            flags |= CloneFlags::CLONE_NEWNET;
        }
        let mut stack = vec![0; 256 << 10];
        let (ours, first) = (line.as_raw_fd(), &layout);
        let be_first = || {
            // Or else it would wait for its own copy of this end.
            // SAFETY: closes a descriptor of this process, which never uses it.
            unsafe { libc::close(ours) };
            first.be_first(&theirs, &plan)
        };
        let first = patiently(|| {
            // SAFETY: the child has a copy of this memory, makes only system calls and never returns.
            unsafe { nix::sched::clone(Box::new(be_first), &mut stack, flags, Some(libc::SIGCHLD)) }
        });
        let first = first.map_err(|errno| explained("making namespaces", errno))?;
        drop((theirs, plan));
        // From here on the first process goes when the line does.
        let mut view = Namespaces {
            first,
            line: line.try_clone()?,
            memory: File::open("/dev/null")?.into(),
            changes: Vec::new(),
            plan: layout,
        };
        identify(first)?;
        nix::unistd::write(&line, &[1])?;
        receive(&mut line)?;
        view.look()?;
        starter.wait()?;
        Ok((view, starter))
    }

    /// Whether a run has changed any file.
    pub(super) fn is_touched(&self) -> bool {
        self.changes
            .iter()
            .any(|change| FolderStamp::of(&change.folder).ok().as_ref() != Some(&change.untouched))
    }

    /// Makes the places for changes anew.
    pub(super) fn renew(&mut self) -> io::Result<()> {
        nix::unistd::write(&self.line, &[1])?;
        receive(&mut self.line)?;
        self.look()
    }

    /// The path to the root of the file system that runs see.
    pub(super) fn root(&self) -> PathBuf {
        format!("/proc/{}/root", self.first).into()
    }

    /// Whether there is no more room for changes.
    pub(super) fn is_full(&self) -> bool {
        const LITTLE: u64 = 64 << 10;
        fstatvfs(&self.memory).is_ok_and(|space| {
            space.blocks_available() * space.fragment_size() < LITTLE || space.files_available() == 0
        })
    }

    /// Opens the folders for changes.
    fn look(&mut self) -> io::Result<()> {
        self.memory = File::open(format!("/proc/{}/fd/{}", self.first, self.plan.first))?.into();
        // An overlay notes the origin of a folder of changes when that is looked up for the first time: no run has
        // changed it then.
        for folder in self.plan.overlays.iter().flat_map(Overlay::paths) {
            let _ = fs::metadata(self.root().join(folder.strip_prefix("/").unwrap_or(&folder)));
        }
        let changes = |number| format!("/proc/{}/fd/{}", self.first, self.plan.changes_fd(number));
        let within = self.plan.overlays.iter().zip(1..).flat_map(|(overlay, number)| {
            let folders = overlay.folders().into_iter();
            folders.map(move |folder| PathBuf::from(changes(number)).join(folder))
        });
        let whole = (0..=self.plan.overlays.len() as RawFd).map(|number| PathBuf::from(changes(number)));
        // Only to be looked at: some may not be read by their owners.
        let open = |path| File::options().read(true).custom_flags(libc::O_PATH).open(path).map(OwnedFd::from);
        let folders = whole.chain(within).map(open);
        let change = |folder: io::Result<OwnedFd>| {
            let folder = folder?;
            Ok(Change { untouched: FolderStamp::of(&folder)?, folder })
        };
        self.changes = folders.map(change).collect::<io::Result<_>>()?;
        Ok(())
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        children::kill(self.first);
        LEAVING.lock().unwrap_or_else(PoisonError::into_inner).push(self.first);
        reap();
    }
}

/// Reaps those first processes that have ended.
fn reap() {
    let is_there = |pid: &Pid| {
        matches!(waitpid(*pid, Some(WaitPidFlag::WNOHANG)), Ok(nix::sys::wait::WaitStatus::StillAlive))
    };
    LEAVING.lock().unwrap_or_else(PoisonError::into_inner).retain(is_there);
}

impl FolderStamp {
    fn of(folder: &OwnedFd) -> io::Result<FolderStamp> {
        let data = fstat(folder)?;
        Ok(FolderStamp {
            mode: data.st_mode,
            owner: (data.st_uid, data.st_gid),
            written: (data.st_mtime, data.st_mtime_nsec),
            changed: (data.st_ctime, data.st_ctime_nsec),
            size: data.st_size,
        })
    }
}

/// Writes the maps of users and groups of the first process: root has all that this program knows, others have
/// themselves.
fn identify(first: Pid) -> io::Result<()> {
    let (uid, gid) = (nix::unistd::geteuid(), nix::unistd::getegid());
    let write = |name: &str, text: String| {
        fs::write(format!("/proc/{first}/{name}"), text)
            .map_err(|error| io::Error::other(format!("writing {name}: {error}")))
    };
    if uid.is_root() {
        write("uid_map", same("/proc/self/uid_map")?)?;
        return write("gid_map", same("/proc/self/gid_map")?);
    }
    write("setgroups", "deny".into())?;
    write("uid_map", format!("{uid} {uid} 1"))?;
    write("gid_map", format!("{gid} {gid} 1"))
}

/// The map in which everybody who is known here keeps their number.
fn same(map: &str) -> io::Result<String> {
    let map = fs::read_to_string(map)?;
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (inside, _, count) = (words.next()?, words.next()?, words.next()?);
        Some(format!("{inside} {inside} {count}\n"))
    };
    Ok(map.lines().filter_map(line).collect())
}

/// Receives the report of the first process on a piece of its work.
fn receive(line: &mut UnixStream) -> io::Result<()> {
    let mut report = [0; REPORT];
    line.read_exact(&mut report)
        .map_err(|_| io::Error::other("the first process of the sandbox has ended"))?;
    reported(&report, &STEPS)
}
