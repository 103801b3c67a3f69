//! Resolution of a path of a run: from the root and the directory of its process, and through the links that it would
//! go through.
//!
//! The resolved file counts, not the path as written: a link in a folder of the run's own may lead anywhere, and
//! `/proc/self` is another folder for each process. What was found is held open by a descriptor that can be
//! looked at only (`O_PATH`), so that nothing happens to it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat, openat2, readlinkat};
use nix::sys::stat::Mode;
use nix::sys::statfs::{FsType, PROC_SUPER_MAGIC, fstatfs};
use nix::unistd::Pid;

use crate::process::status::number_inside;

/// The largest number of symbolic links that are followed, path_resolution(7).
const MOST_LINKS: usize = 40;
/// The inode number of the root of a procfs.
const PROC_ROOT: u64 = 1;

/// A path as a process names it.
#[derive(Clone, Copy)]
pub(super) struct Route<'r> {
    pub(super) process: Pid,
    /// The descriptor of the folder where a relative path begins; the working directory, if there is none.
    pub(super) folder: Option<i32>,
    /// The path. If it is empty, the folder itself is meant.
    pub(super) path: &'r Path,
    /// Whether a symbolic link at its end is followed.
    pub(super) follows: bool,
    /// Whether the folder counts as the root, `RESOLVE_IN_ROOT`.
    pub(super) is_rooted: bool,
}

/// Opens what a path leads to; `None` if it leads nowhere, or where the process may not go, so that the kernel will
/// refuse what the process wants of it.
///
/// # Errors
/// If that cannot be found out.
pub(super) fn reach(route: &Route<'_>) -> io::Result<Option<File>> {
    let root = held(&format!("/proc/{}/root", route.process))?;
    let starts_at_root = route.path.is_absolute() && !route.is_rooted;
    let base = if starts_at_root { Some(root.try_clone()?) } else { base(route)? };
    let Some(base) = base else { return Ok(None) };
    if route.path.as_os_str().is_empty() {
        return Ok(Some(base));
    }
    if route.is_rooted {
        let root = base.try_clone()?;
        return found(Walk::new(route, root, base).finish());
    }
    // What the kernel finds at once needs no walk. It refuses what leads to another place by a link of procfs.
    let within = match starts_at_root {
        true => ResolveFlag::RESOLVE_IN_ROOT,
        false => ResolveFlag::RESOLVE_BENEATH,
    };
    let follow = if route.follows { OFlag::empty() } else { OFlag::O_NOFOLLOW };
    let how = OpenHow::new().flags(OFlag::O_PATH | OFlag::O_CLOEXEC | follow).resolve(within);
    match openat2(&base, route.path, how) {
        Ok(file) => Ok(Some(file.into())),
        Err(_) => found(Walk::new(route, root, base).finish()),
    }
}

/// The folder where relative paths begin; `None` if there is no such descriptor.
fn base(route: &Route<'_>) -> io::Result<Option<File>> {
    let path = match route.folder {
        Some(descriptor) if descriptor != libc::AT_FDCWD => {
            format!("/proc/{}/fd/{descriptor}", route.process)
        }
        _ => format!("/proc/{}/cwd", route.process),
    };
    match held(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        held => held.map(Some),
    }
}

/// Maps the errors of a path that a process cannot reach to `None`; what is not known stays an error.
fn found(result: nix::Result<File>) -> io::Result<Option<File>> {
    match result {
        Ok(file) => Ok(Some(file)),
        Err(Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP | Errno::ENAMETOOLONG | Errno::EACCES) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// Opens the file at a path of this process, only to be looked at.
fn held(path: &str) -> io::Result<File> {
    Ok(openat(AT_FDCWD, path, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty())?.into())
}

/// The path of a file that was reached.
pub(super) fn path_of(file: &File) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// A walk along a path, name by name.
struct Walk {
    process: Pid,
    root: File,
    here: File,
    /// The names that are left, the next one last.
    left: Vec<OsString>,
    follows: bool,
    links: usize,
}

impl Walk {
    fn new(route: &Route<'_>, root: File, here: File) -> Walk {
        let Route { process, follows, .. } = *route;
        let mut walk = Walk { process, root, here, left: Vec::new(), follows, links: 0 };
        walk.push(route.path);
        walk
    }

    fn push(&mut self, path: &Path) {
        let bytes = path.as_os_str().as_bytes();
        // A link whose name ends with a slash is followed.
        let end: &[u8] = if bytes.ends_with(b"/") { b"." } else { b"" };
        let names = bytes.split(|&byte| byte == b'/').chain([end]).filter(|name| !name.is_empty());
        self.left.extend(names.rev().map(|name| OsString::from_vec(name.to_vec())));
    }

    fn finish(mut self) -> nix::Result<File> {
        while let Some(name) = self.left.pop() {
            match name.as_bytes() {
                b"." => {}
                b".." => self.climb()?,
                _ => self.enter(&name)?,
            }
        }
        Ok(self.here)
    }

    /// Goes to the folder above, of which the root has none.
    fn climb(&mut self) -> nix::Result<()> {
        if identity(&self.here)? != identity(&self.root)? {
            self.here = self.open(Path::new(".."), OFlag::empty())?;
        }
        Ok(())
    }

    fn enter(&mut self, name: &OsString) -> nix::Result<()> {
        let next = self.open(Path::new(name), OFlag::O_NOFOLLOW)?;
        let is_link = next.metadata().is_ok_and(|data| data.is_symlink());
        if !is_link || self.left.is_empty() && !self.follows {
            self.here = next;
            return Ok(());
        }
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Errno::ELOOP);
        }
        let is_of_processes = file_system(&self.here)? == PROC_SUPER_MAGIC;
        if is_of_processes && identity(&self.here)?.1 != PROC_ROOT {
            // The text of a link of a process says less than the kernel knows.
            self.here = self.open(Path::new(name), OFlag::empty())?;
            return Ok(());
        }
        let target = match name.as_bytes() {
            b"self" if is_of_processes => self.number()?.into(),
            b"thread-self" if is_of_processes => format!("{0}/task/{0}", self.number()?).into(),
            _ => readlinkat(&next, "")?,
        };
        if Path::new(&target).is_absolute() {
            self.here = self.root.try_clone().map_err(|_| Errno::EMFILE)?;
        }
        self.push(Path::new(&target));
        Ok(())
    }

    /// The number of the process in its own `/proc`.
    fn number(&self) -> nix::Result<String> {
        number_inside(self.process).map(|number| number.to_string()).map_err(|_| Errno::ESRCH)
    }

    fn open(&self, name: &Path, follow: OFlag) -> nix::Result<File> {
        let flags = OFlag::O_PATH | OFlag::O_CLOEXEC | follow;
        Ok(openat(self.here.as_fd(), name, flags, Mode::empty())?.into())
    }
}

fn identity(file: &File) -> nix::Result<(u64, u64)> {
    let data = file.metadata().map_err(|_| Errno::EIO)?;
    Ok((data.dev(), data.ino()))
}

/// The kind of file system in which a file lies, statfs(2). Asked once more if there is no answer, because what is not
/// known is denied, and a run must not be judged by that.
pub(super) fn file_system(file: &File) -> nix::Result<FsType> {
    Ok(fstatfs(file).or_else(|_| fstatfs(file))?.filesystem_type())
}
