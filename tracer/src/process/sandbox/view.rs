//! The view of the file system that runs have, built inside of the namespaces.
//!
//! Everything is read-only, without set-uid programs and device files. `/dev` holds the harmless devices, `/proc` knows
//! the run's processes. The working directory and those for temporary files are overlays, whose changes share one file
//! system in memory. An overlay over `/` fails inside a namespace of users, as over any folder with mounts below it,
//! see `trunk.rs`; a read-only mount does not protect device files.
//!
//! The archive of runs that stripe keeps in the working directory is hidden: it grows while runs are made.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sys::stat::Mode;

use super::mounts::{copy_mount, move_mount, set_attributes, set_attributes_of_one};
use super::numbered::{first_free, hold_as, open_as};
use super::starter::{self, retire};
use super::trunk::{Cover, Entry, Kind, Piece, Planner};
use crate::invocation::SHELF;

/// The folders whose changes a run may see, but nobody else; the working directory is one more.
const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];
/// The folder for shared memory, which begins empty.
const SHARED_MEMORY: &CStr = c"/dev/shm";
/// The mount options of the memory for changes: how much they may take, and in how many files.
const ROOM: &str = "size=1g,nr_inodes=200k,mode=0755";
/// The devices that do nothing lasting.
const DEVICES: [&CStr; 6] =
    [c"/dev/null", c"/dev/zero", c"/dev/full", c"/dev/random", c"/dev/urandom", c"/dev/tty"];
/// The symbolic links in `/dev`.
const LINKS: [(&CStr, &CStr); 5] = [
    (c"/proc/self/fd", c"/dev/fd"),
    (c"/proc/self/fd/0", c"/dev/stdin"),
    (c"/proc/self/fd/1", c"/dev/stdout"),
    (c"/proc/self/fd/2", c"/dev/stderr"),
    (c"pts/ptmx", c"/dev/ptmx"),
];
/// The number of further descriptors that the first process opens for a moment; one more for each directory that may be
/// written to.
const BRIEF_FDS: usize = DEVICES.len() + 2;
const NONE: Option<&str> = None;

/// The plan of a view: everything that the first process needs, made before it.
pub(super) struct ViewPlan {
    /// The number of the descriptor for the memory for changes; others follow.
    pub(super) first: RawFd,
    /// The changes to [`SHARED_MEMORY`], by descriptor.
    shared: CString,
    pub(super) overlays: Vec<Overlay>,
    /// The directories in which changes are real.
    writable: Vec<CString>,
}

/// A folder whose changes go to memory.
pub(super) struct Overlay {
    place: CString,
    cover: Cover,
    options: CString,
    /// The path of the original folder.
    original: CString,
    /// The name of the folder for a trunk.
    trunk: CString,
    /// The names of the folders for its changes and of its own working folder.
    names: [CString; 2],
    /// The number of the descriptor of the first of these folders.
    number: RawFd,
    hidden: Option<Hidden>,
}

/// The folder of kept runs in a folder below a place.
struct Hidden {
    name: CString,
    /// The names of the folders on the way there, and their paths.
    way: Vec<(CString, CString)>,
}

/// The steps of the first process's work.
pub(super) const STEPS: [&str; 9] = [
    "making the mounts private",
    "taking hold of devices",
    "making the file system read-only",
    "making /dev",
    "mounting /proc",
    "mounting memory for changes",
    "mounting an overlay",
    "mounting a directory that may be written to",
    "starting a process in them",
];

/// A failed step and its error.
struct Failed(usize, Errno);

/// Makes an error say which step it belongs to.
fn at(step: usize) -> impl Fn(Errno) -> Failed {
    move |errno| Failed(step, errno)
}

impl ViewPlan {
    pub(super) fn new(directory: &Path, writable: &[PathBuf]) -> io::Result<ViewPlan> {
        let mut places: Vec<PathBuf> = Vec::new();
        let directory = &directory.canonicalize()?;
        let mut planner = Planner::new(directory)?;
        for place in TEMPORARY.iter().map(Path::new).chain([directory.as_path()]) {
            let Ok(place) = place.canonicalize() else { continue };
            let covered =
                |outer: &PathBuf| place.starts_with(outer) && device(outer).ok() == device(&place).ok();
            if place != Path::new("/") && !planner.covers(&place) && !places.iter().any(covered) {
                planner.cover(&place)?;
                places.push(place);
            }
        }
        let pieces = planner.finish();
        let count = (3 * (pieces.len() + 2) + writable.len()) as RawFd;
        let first = first_free(count, BRIEF_FDS + writable.len())?;
        let overlays = pieces.into_iter().zip(1..).map(|(piece, number)| Overlay::new(first, number, piece));
        let mut overlays = overlays.collect::<io::Result<Vec<_>>>()?;
        // Where a place lies in another one, the last one shows what is in the directory.
        let around = overlays.iter_mut().rev().filter_map(|overlay| {
            let way = directory.strip_prefix(overlay.place()).ok()?.to_owned();
            Some((overlay, way))
        });
        if let Some((overlay, way)) = around.min_by_key(|(_, way)| way.as_os_str().len()) {
            overlay.hide_in(&way)?;
        }
        let writable = writable.iter().map(|path| text(path.as_os_str().as_bytes().to_vec()));
        let writable = writable.collect::<io::Result<_>>()?;
        let shared = text(format!("/proc/self/fd/{}", first + 1).into_bytes())?;
        Ok(ViewPlan { first, shared, overlays, writable })
    }

    /// The descriptor under which the first process keeps the folder for the changes of an overlay; number 0 is that of
    /// [`SHARED_MEMORY`]. The next two are those of its working folder and of its original.
    pub(super) fn changes_fd(&self, number: RawFd) -> RawFd {
        self.first + 1 + 3 * number
    }

    /// The descriptor under which the first process keeps the folder for trunks: [`SHARED_MEMORY`] has no working
    /// folder.
    fn trunks_fd(&self) -> RawFd {
        self.changes_fd(0) + 1
    }

    /// Runs the first process.
    pub(super) fn be_first(&self, line: &UnixStream, plan: &starter::Plan<'_>) -> isize {
        retire();
        let mut go = [0];
        let told = nix::unistd::read(line, &mut go) == Ok(1);
        let built = if told { self.build() } else { Err(Failed(0, Errno::EPIPE)) };
        if built.is_ok() {
            // SAFETY: the child makes only system calls and never returns.
            match unsafe { starter::fork() } {
                Ok(0) => plan.serve(),
                Ok(_) => {}
                Err(errno) => report(line, Err(Failed(8, errno))),
            }
            self.close_all_but(line.as_raw_fd());
        }
        report(line, built);
        while told && nix::unistd::read(line, &mut go) == Ok(1) {
            report(line, self.clear().and_then(|()| self.put()));
        }
        // SAFETY: ends the process without running the parent's destructors.
        unsafe { libc::_exit(0) }
    }

    /// Closes the descriptors for whose end other processes wait.
    fn close_all_but(&self, line: RawFd) {
        for descriptor in 0..3 {
            // SAFETY: closes a descriptor of this process.
            unsafe { libc::close(descriptor) };
        }
        // SAFETY: close_range with plain numbers.
        unsafe { libc::syscall(libc::SYS_close_range, self.first_writable(), u32::MAX, 0) };
        for descriptor in (3..self.first).filter(|&descriptor| descriptor != line) {
            // SAFETY: closes a descriptor of this process.
            unsafe { libc::close(descriptor) };
        }
    }

    /// Builds the view.
    fn build(&self) -> Result<(), Failed> {
        mount(NONE, c"/", NONE, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NONE).map_err(at(0))?;
        let mut kept = [-1; DEVICES.len()];
        for (kept, device) in kept.iter_mut().zip(DEVICES) {
            *kept = match copy_mount(device) {
                Err(Errno::ENOENT) => continue,
                copied => copied.map_err(at(1))?,
            };
            let attributes = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;
            set_attributes(*kept, c"", attributes).map_err(at(1))?;
        }
        self.keep_writable().map_err(at(7))?;
        let closed = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
        set_attributes(libc::AT_FDCWD, c"/", closed).map_err(at(2))?;
        make_devices(kept).map_err(at(3))?;
        let plain = MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        mount(Some("proc"), c"/proc", Some("proc"), plain, NONE).map_err(at(4))?;
        self.make_trunks().map_err(at(5))?;
        self.put()?;
        self.put_writable().map_err(at(7))
    }

    /// Makes the folders for trunks, in memory that everything else will hide.
    fn make_trunks(&self) -> nix::Result<()> {
        let mut trunks = self.overlays.iter().filter_map(Overlay::trunk).peekable();
        if trunks.peek().is_none() {
            return Ok(());
        }
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("tmpfs"), SHARED_MEMORY, Some("tmpfs"), flags, Some(ROOM))?;
        open_as(libc::AT_FDCWD, SHARED_MEMORY, self.trunks_fd())?;
        trunks.try_for_each(|(name, entries)| make_trunk(self.trunks_fd(), name, entries))
    }

    /// Mounts the places for changes.
    fn put(&self) -> Result<(), Failed> {
        let here = SHARED_MEMORY;
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("tmpfs"), here, Some("tmpfs"), flags, Some(ROOM)).map_err(at(5))?;
        open_as(libc::AT_FDCWD, here, self.first).map_err(at(5))?;
        // Each hides the originals of those below it.
        for overlay in &self.overlays {
            overlay.prepare(self.first, self.trunks_fd()).map_err(at(6))?;
        }
        for overlay in &self.overlays {
            overlay.put().map_err(at(6))?;
        }
        make_folder(self.first, c"shm", self.changes_fd(0)).map_err(at(5))?;
        // SAFETY: fchmod on an open descriptor.
        Errno::result(unsafe { libc::fchmod(self.changes_fd(0), 0o1777) }).map_err(at(5))?;
        // Hides the memory itself.
        mount(Some(self.shared.as_c_str()), here, NONE, MsFlags::MS_BIND, NONE).map_err(at(5))
    }

    /// Unmounts the places for changes.
    fn clear(&self) -> Result<(), Failed> {
        let overlays = self.overlays.iter().rev().map(|overlay| overlay.place.as_c_str());
        for place in [SHARED_MEMORY, SHARED_MEMORY].into_iter().chain(overlays) {
            umount2(place, MntFlags::MNT_DETACH).map_err(at(5))?;
        }
        Ok(())
    }

    fn keep_writable(&self) -> nix::Result<()> {
        for (path, number) in self.writable.iter().zip(self.first_writable()..) {
            let copied = copy_mount(path)?;
            set_attributes(copied, c"", libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV)?;
            // SAFETY: dup2 onto a number that nothing else in this process uses.
            Errno::result(unsafe { libc::dup2(copied, number) })?;
        }
        Ok(())
    }

    fn put_writable(&self) -> nix::Result<()> {
        let numbers = self.first_writable()..;
        self.writable.iter().zip(numbers).try_for_each(|(path, number)| move_mount(number, path))
    }

    fn first_writable(&self) -> RawFd {
        self.changes_fd(self.overlays.len() as RawFd + 1)
    }
}

impl Overlay {
    fn new(first: RawFd, number: RawFd, Piece { place, cover }: Piece) -> io::Result<Overlay> {
        let upper = first + 1 + 3 * number;
        // By descriptor, because a path may hold the commas and colons that separate options.
        let fd = "/proc/self/fd";
        let (work, lower) = (upper + 1, upper + 2);
        let options = format!("userxattr,lowerdir={fd}/{lower},upperdir={fd}/{upper},workdir={fd}/{work}");
        let name = |kind: &str| text(format!("{kind}{number}").into_bytes());
        Ok(Overlay {
            place: text(place.as_os_str().as_bytes().to_vec())?,
            cover,
            options: text(options.into_bytes())?,
            original: text(format!("{fd}/{lower}").into_bytes())?,
            trunk: name("trunk")?,
            names: [name("changes")?, name("work")?],
            number: upper,
            hidden: None,
        })
    }

    fn place(&self) -> &Path {
        Path::new(std::ffi::OsStr::from_bytes(self.place.to_bytes()))
    }

    /// Hides what is kept of runs in the folder to which this way leads.
    fn hide_in(&mut self, way: &Path) -> io::Result<()> {
        let mut path = self.place().to_owned();
        let way = way.iter().map(|name| {
            path.push(name);
            Ok((text(name.as_bytes().to_vec())?, text(path.as_os_str().as_bytes().to_vec())?))
        });
        let way = way.collect::<io::Result<_>>()?;
        self.hidden = Some(Hidden { name: text(SHELF.as_bytes().to_vec())?, way });
        Ok(())
    }

    /// The folders that are there before any run has changed something, besides the one for all changes: the way
    /// to each from that one.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let names = self.hidden.iter().flat_map(|hidden| &hidden.way);
        let join = |way: &mut PathBuf, (name, _): &(CString, CString)| {
            way.push(std::ffi::OsStr::from_bytes(name.to_bytes()));
            Some(way.clone())
        };
        names.scan(PathBuf::new(), join).collect()
    }

    /// The same folders as the program names them.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.folders().into_iter().map(|folder| self.place().join(folder)).collect()
    }

    /// The name of the folder for a trunk and its entries, if it is one.
    fn trunk(&self) -> Option<(&CStr, &[Entry])> {
        match &self.cover {
            Cover::Trunk(entries) => Some((&self.trunk, entries)),
            _ => None,
        }
    }

    /// Opens the original, and makes the folder for changes.
    fn prepare(&self, memory: RawFd, trunks: RawFd) -> nix::Result<()> {
        let [changes, work] = &self.names;
        make_folder(memory, changes, self.number)?;
        make_folder(memory, work, self.number + 1)?;
        if let Some(Hidden { name, way }) = &self.hidden {
            hide(self.number, way, name)?;
        }
        let held = match self.trunk() {
            Some((name, _)) => open_as(trunks, name, self.number + 2),
            None => hold_as(&self.place, self.number + 2),
        };
        match held.and_then(|()| look_like(&self.place, self.number)) {
            Err(errno) if matches!(self.cover, Cover::Overlay) => Err(errno),
            // What lies in a trunk may have been removed meanwhile.
            _ => Ok(()),
        }
    }

    /// Mounts the overlay over the original folder.
    fn put(&self) -> nix::Result<()> {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        let put = || {
            let options = Some(self.options.as_c_str());
            mount(Some("overlay"), self.place.as_c_str(), Some("overlay"), flags, options)
        };
        let bind = |from: &CStr| {
            let flags = MsFlags::MS_BIND | MsFlags::MS_REC;
            mount(Some(from), self.place.as_c_str(), NONE, flags, NONE)
        };
        // Where nothing is left to be shown, the place stays as empty as it is in the trunk.
        let show = || bind(&self.original).or_else(|_| bind(&self.place));
        match self.cover {
            Cover::ReadOnly => show(),
            Cover::OverlayIfPossible => put().or_else(|_| show()),
            Cover::Overlay | Cover::Trunk(_) => put(),
        }
    }
}

/// Makes the folders on the way, and in the last one the mark by which an overlay hides what has this name.
fn hide(folder: RawFd, way: &[(CString, CString)], name: &CStr) -> nix::Result<()> {
    let Some(((next, original), rest)) = way.split_first() else {
        // SAFETY: mknodat with a C string that outlives the call. Kernels that refuse it show what is there.
        unsafe { libc::mknodat(folder, name.as_ptr(), libc::S_IFCHR, 0) };
        return Ok(());
    };
    // SAFETY: calls with C strings that outlive them, on a descriptor that is opened and closed here.
    unsafe {
        Errno::result(libc::mkdirat(folder, next.as_ptr(), 0o700))?;
        let inner = libc::openat(folder, next.as_ptr(), libc::O_DIRECTORY | libc::O_CLOEXEC);
        let made = Errno::result(inner).and_then(|inner| hide(inner, rest, name));
        let alike = made.and_then(|()| look_like(original, inner));
        libc::close(inner);
        alike
    }
}

/// Makes a trunk of copies, links, and entries on which others are mounted.
fn make_trunk(trunks: RawFd, name: &CStr, entries: &[Entry]) -> nix::Result<()> {
    // SAFETY: calls with C strings that outlive them.
    let folder = unsafe {
        Errno::result(libc::mkdirat(trunks, name.as_ptr(), 0o700))?;
        Errno::result(libc::openat(trunks, name.as_ptr(), libc::O_DIRECTORY | libc::O_CLOEXEC))?
    };
    let made = entries.iter().try_for_each(|entry| make_entry(folder, entry));
    // SAFETY: closes what was opened here.
    unsafe { libc::close(folder) };
    made
}

fn make_entry(folder: RawFd, Entry { name, original, kind }: &Entry) -> nix::Result<()> {
    // SAFETY: calls with C strings that outlive them.
    unsafe {
        match kind {
            Kind::Folder => Errno::result(libc::mkdirat(folder, name.as_ptr(), 0o755)).map(drop),
            Kind::Link(target) => {
                Errno::result(libc::symlinkat(target.as_ptr(), folder, name.as_ptr())).map(drop)
            }
            Kind::Copy(length) => copy_file(original, folder, name, *length),
            Kind::Covered => copy_file(original, folder, name, 0),
        }
    }
}

/// Copies so many bytes of a file, and its attributes. Of one that may not be read, or is gone, nothing is copied.
fn copy_file(original: &CStr, folder: RawFd, name: &CStr, length: u64) -> nix::Result<()> {
    let create = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_CLOEXEC;
    let read = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    // SAFETY: calls with C strings that outlive them, on descriptors that are opened and closed here.
    unsafe {
        let to = Errno::result(libc::openat(folder, name.as_ptr(), create, 0o600))?;
        let from = libc::open(original.as_ptr(), read);
        let mut left = if from >= 0 { length as usize } else { 0 };
        let mut copied = Ok(());
        while left > 0 {
            match Errno::result(libc::sendfile(to, from, std::ptr::null_mut(), left)) {
                Ok(0) => break,
                Ok(some) => left = left.saturating_sub(some as usize),
                Err(Errno::EINTR) => {}
                Err(errno) => {
                    copied = Err(errno);
                    break;
                }
            }
        }
        let _ = look_like(original, to);
        libc::close(from);
        libc::close(to);
        copied
    }
}

/// Makes a folder in the memory for changes, opened under this number.
fn make_folder(memory: RawFd, name: &CStr, number: RawFd) -> nix::Result<()> {
    // SAFETY: mkdirat with a C string that outlives the call.
    Errno::result(unsafe { libc::mkdirat(memory, name.as_ptr(), 0o700) })?;
    open_as(memory, name, number)
}

/// Gives a folder the mode, owner and times of another one, as an overlay shows them.
fn look_like(place: &CStr, number: RawFd) -> nix::Result<()> {
    let data = nix::sys::stat::stat(place)?;
    let time = |seconds, nanoseconds| libc::timespec { tv_sec: seconds, tv_nsec: nanoseconds };
    let times = [time(data.st_atime, data.st_atime_nsec), time(data.st_mtime, data.st_mtime_nsec)];
    // SAFETY: calls on an open descriptor; the times outlive the call.
    unsafe {
        // The owner may be nobody whom the namespace knows.
        let _ = libc::fchown(number, data.st_uid, data.st_gid);
        Errno::result(libc::fchmod(number, data.st_mode & 0o7777))?;
        Errno::result(libc::futimens(number, times.as_ptr())).map(drop)
    }
}

/// Makes `/dev` of these devices.
fn make_devices(kept: [RawFd; DEVICES.len()]) -> nix::Result<()> {
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NOEXEC;
    mount(Some("tmpfs"), c"/dev", Some("tmpfs"), flags, Some("size=64k,mode=0755"))?;
    for (device, kept) in DEVICES.into_iter().zip(kept).filter(|(_, kept)| *kept >= 0) {
        let made = nix::fcntl::open(device, OFlag::O_CREAT | OFlag::O_CLOEXEC, Mode::S_IRUSR)?;
        drop(made);
        move_mount(kept, device)?;
    }
    for (target, name) in LINKS {
        nix::unistd::symlinkat(target, nix::fcntl::AT_FDCWD, name)?;
    }
    for folder in [SHARED_MEMORY, c"/dev/pts"] {
        nix::unistd::mkdir(folder, Mode::from_bits_truncate(0o755))?;
    }
    let options = "newinstance,ptmxmode=0666,mode=0620";
    mount(Some("devpts"), c"/dev/pts", Some("devpts"), flags, Some(options))?;
    set_attributes_of_one(c"/dev", libc::MOUNT_ATTR_RDONLY)
}

fn report(line: &UnixStream, done: Result<(), Failed>) {
    let Failed(step, errno) = done.err().unwrap_or(Failed(0, Errno::UnknownErrno));
    starter::report(line.as_raw_fd(), step, errno);
}

fn text(bytes: Vec<u8>) -> io::Result<CString> {
    CString::new(bytes).map_err(io::Error::other)
}

fn device(path: &Path) -> io::Result<u64> {
    Ok(fs::metadata(path)?.dev())
}
