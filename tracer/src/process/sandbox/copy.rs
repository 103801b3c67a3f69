//! A copy of the working directory for runs, where they cannot have a view of their own.
//!
//! The copy lies in the directory for temporary files. It is made anew before a run, if the latest one
//! has changed anything in it. It is without what stripe keeps of runs in that directory, which may be much,
//! and grows while runs are made. A copy that was left by a program that has been killed is removed by the
//! next one: whoever holds the lock of a copy is alive.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::statvfs::statvfs;
use nix::sys::time::TimeSpec;

use super::watch::{Watch, WatchReport};
use crate::invocation::SHELF;

/// The largest working directory that is copied, in bytes and in files.
const MOST_BYTES: u64 = 1 << 30;
const MOST_FILES: usize = 100_000;
/// The most that may be taken of the disk by a run, in bytes and in files.
const DISK: u64 = 1 << 30;
const FILES: u64 = 200_000;
/// The space on the disk without which nothing is left of it, in bytes.
const LEAST_FREE: u64 = 1 << 20;
const PREFIX: &str = "stripe-sandbox-";
/// A file in the folder of a copy that its owner holds locked.
const LOCK: &str = "lock";

/// The folder in which copies are made.
pub(super) fn base() -> PathBuf {
    std::env::temp_dir()
}

/// A copy of a working directory.
pub(super) struct Copied {
    original: PathBuf,
    /// The temporary folder that holds the copy and its lock.
    folder: tempfile::TempDir,
    /// The lock file. Closed at the end, which unlocks it: an unlock that is refused would be a panic.
    _lock: File,
    copy: PathBuf,
    contents: Vec<Item>,
    /// The watch for changes; `None` where the copy cannot be watched, and has to be looked through.
    watch: Option<Watch>,
    /// The most that a run may take of the disk: bytes and files.
    most: (u64, u64),
}

/// The attributes of a file that tell that it has not been changed.
#[derive(PartialEq, Eq)]
struct Item {
    path: PathBuf,
    is_folder: bool,
    inode: u64,
    changed: (i64, i64),
}

impl Copied {
    pub(super) fn new(original: &Path) -> io::Result<Copied> {
        measure(&TreePlace::new(original), &mut Budget::default())?;
        let base = base();
        sweep(&base);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&base)?;
        // Nobody must find it before it is locked.
        let unlocked = folder.path().join("unlocked");
        let lock = File::create(&unlocked)?;
        lock.try_lock()?;
        fs::rename(&unlocked, folder.path().join(LOCK))?;
        let world = folder.path().join("world");
        fs::create_dir(&world)?;
        let copy = world.join("run");
        let mut copied = Copied {
            original: original.into(),
            folder,
            _lock: lock,
            copy,
            contents: Vec::new(),
            watch: None,
            most: (DISK, FILES),
        };
        copied.make()?;
        Ok(copied)
    }

    /// The folder that holds the copy, and stays when that is made anew.
    pub(super) fn place(&self) -> PathBuf {
        self.folder.path().join("world")
    }

    /// The path of the copy.
    pub(super) fn directory(&self) -> &Path {
        &self.copy
    }

    /// Makes the copy anew if it was changed; returns true if it was. `has_hidden_changes`: flags of its files may have
    /// been changed, of which a watch does not tell.
    pub(super) fn refresh(&mut self, has_hidden_changes: bool) -> io::Result<bool> {
        let is_changed = match self.watch.as_ref().map_or(WatchReport::Perhaps, Watch::news) {
            WatchReport::Change => true,
            WatchReport::Nothing if !has_hidden_changes => false,
            _ => inventory(&self.place()).map_or(true, |contents| contents != self.contents),
        };
        if is_changed {
            self.clear()?;
            self.make()?;
        }
        Ok(is_changed)
    }

    /// Whether the run has taken more of the disk than it may, or nothing is left of it.
    pub(super) fn is_full(&self) -> bool {
        // What is free says nothing about the run: others take and give back space meanwhile.
        let is_touched = self.watch.as_ref().is_none_or(Watch::has_news);
        free(self.folder.path()) < LEAST_FREE
            || is_touched && taken(&self.place()).is_none_or(|(b, f)| b > self.most.0 || f > self.most.1)
    }

    /// Removes what runs have left, beside the copy as well.
    fn clear(&self) -> io::Result<()> {
        fs::read_dir(self.place())?.try_for_each(|entry| {
            let entry = entry?;
            if entry.file_type()?.is_dir() { remove(&entry.path()) } else { fs::remove_file(entry.path()) }
        })
    }

    fn make(&mut self) -> io::Result<()> {
        copy(&TreePlace::new(&self.original), &TreePlace::new(&self.copy), &mut Budget::default())?;
        self.contents = inventory(&self.place())?;
        let folders = self.contents.iter().filter(|item| item.is_folder);
        self.watch = Watch::over(folders.map(|folder| folder.path.as_path()));
        Ok(())
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        // The run may have left folders that nobody may look into.
        let _ = self.clear();
    }
}

fn free(place: &Path) -> u64 {
    statvfs(place).map_or(u64::MAX, |space| space.blocks_available() * space.fragment_size())
}

/// The bytes and files on the disk below a folder; `None` if that cannot be found out.
fn taken(folder: &Path) -> Option<(u64, u64)> {
    const BLOCK: u64 = 512;
    let (mut bytes, mut files) = (0, 0);
    let mut open = vec![TreePlace::new(folder)];
    while let Some(spot) = open.pop() {
        let folder = spot.anchored().ok()?;
        for entry in fs::read_dir(&folder.short).ok()? {
            let (name, data) = entry.and_then(|entry| Ok((entry.file_name(), entry.metadata()?))).ok()?;
            (bytes, files) = (bytes + data.blocks() * BLOCK, files + 1);
            if data.is_dir() {
                open.push(folder.below(&name));
            }
        }
    }
    Some((bytes, files))
}

/// Removes copies whose owners are gone.
fn sweep(base: &Path) {
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let is_left = match File::open(entry.path().join(LOCK)) {
            Ok(lock) => lock.try_lock().is_ok(),
            // Not locked yet, or killed just then.
            Err(_) => entry.metadata().and_then(|folder| folder.modified()).is_ok_and(is_old),
        };
        if is_left {
            let _ = remove(&entry.path());
        }
    }
}

/// Whether a folder of that time should have a lock by now.
fn is_old(time: SystemTime) -> bool {
    const MINUTE: Duration = Duration::from_secs(60);
    time.elapsed().is_ok_and(|age| age > MINUTE)
}

/// The deepest nesting of folders: each takes about a kilobyte of the stack, of which there are 8 MiB.
const DEEPEST: u32 = 4000;

struct Budget {
    bytes: u64,
    files: usize,
    /// The number of levels that may still lie below the folder at hand.
    depth: u32,
    /// The device and inode number of the folder in which copies lie, which may be below what is copied.
    copies: Option<(u64, u64)>,
}

impl Default for Budget {
    fn default() -> Budget {
        let copies = fs::metadata(base()).ok().map(|folder| (folder.dev(), folder.ino()));
        Budget { bytes: MOST_BYTES, files: MOST_FILES, depth: DEEPEST, copies }
    }
}

impl Budget {
    fn spend(&mut self, bytes: u64) -> io::Result<()> {
        let rest = self.bytes.checked_sub(bytes).zip(self.files.checked_sub(1));
        let Some((bytes, files)) = rest else {
            return Err(io::Error::other("it holds more than 1 GiB or 100,000 files"));
        };
        (self.bytes, self.files) = (bytes, files);
        Ok(())
    }

    /// Calls `act` one level deeper, with what is in a folder.
    fn within(&mut self, act: impl FnOnce(&mut Budget) -> io::Result<()>) -> io::Result<()> {
        let rest = self.depth.checked_sub(1);
        self.depth = rest.ok_or_else(|| io::Error::other("it holds folders more than 4,000 deep"))?;
        let done = act(self);
        self.depth += 1;
        done
    }

    /// The beginning of the names of other copies, which are left out, if this is the folder in which they lie.
    fn foreign(&self, folder: &Metadata) -> Option<&'static str> {
        (self.copies == Some((folder.dev(), folder.ino()))).then_some(PREFIX)
    }
}

/// A file or folder in a tree. The kernel walks a path from its beginning each time, so that deep ones are
/// reached by way of an open folder.
#[derive(Clone)]
struct TreePlace {
    path: PathBuf,
    /// A path that leads there in a few steps.
    short: PathBuf,
    steps: u32,
    _anchor: Option<Arc<File>>,
}

impl TreePlace {
    fn new(path: &Path) -> TreePlace {
        TreePlace { path: path.into(), short: path.into(), steps: 0, _anchor: None }
    }

    fn below(&self, name: &OsStr) -> TreePlace {
        TreePlace {
            path: self.path.join(name),
            short: self.short.join(name),
            steps: self.steps + 1,
            _anchor: self._anchor.clone(),
        }
    }

    /// The same folder; what is below it can be reached in a few steps.
    fn anchored(&self) -> io::Result<TreePlace> {
        const MOST_STEPS: u32 = 64;
        if self.steps < MOST_STEPS {
            return Ok(self.clone());
        }
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let folder = File::options().read(true).custom_flags(flags).open(&self.short)?;
        let short = format!("/proc/self/fd/{}", folder.as_raw_fd()).into();
        Ok(TreePlace { path: self.path.clone(), short, steps: 0, _anchor: Some(Arc::new(folder)) })
    }
}

/// Checks whether a file or a folder can be copied, which for a large one takes long to find out by doing it.
fn measure(spot: &TreePlace, budget: &mut Budget) -> io::Result<()> {
    let data = fs::symlink_metadata(&spot.short)?;
    budget.spend(if data.is_file() { data.len() } else { 0 })?;
    if !data.is_dir() {
        return Ok(());
    }
    let folder = spot.anchored()?;
    let foreign = budget.foreign(&data);
    budget.within(|budget| for_each(&folder, foreign, |name| measure(&folder.below(name), budget)))
}

/// Calls a function with the name of each entry of a folder that belongs into a copy.
fn for_each(
    folder: &TreePlace,
    foreign: Option<&str>,
    mut act: impl FnMut(&OsStr) -> io::Result<()>,
) -> io::Result<()> {
    let is_foreign = |name: &OsStr| {
        let starts_with = |foreign: &str| name.as_encoded_bytes().starts_with(foreign.as_bytes());
        name == SHELF || foreign.is_some_and(starts_with)
    };
    // Folders within are read after this one is closed: as many as may be open are fewer than may be deep.
    let names: Vec<_> = fs::read_dir(&folder.short)?.flatten().map(|entry| entry.file_name()).collect();
    for name in names.iter().filter(|name| !is_foreign(name)) {
        match act(name) {
            // What cannot be read now cannot be read by the program either; others may remove their files.
            Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound) => {}
            done => done?,
        }
    }
    Ok(())
}

/// Copies a file or a folder with what is in it. Sockets, pipes and devices stay out.
fn copy(from: &TreePlace, to: &TreePlace, budget: &mut Budget) -> io::Result<()> {
    let data = fs::symlink_metadata(&from.short)?;
    let kind = data.file_type();
    if kind.is_dir() {
        budget.spend(0)?;
        fs::create_dir(&to.short)?;
        let (source, copied) = (from.anchored()?, to.anchored()?);
        let foreign = budget.foreign(&data);
        budget.within(|budget| {
            for_each(&source, foreign, |name| copy(&source.below(name), &copied.below(name), budget))
        })?;
    } else if kind.is_symlink() {
        budget.spend(0)?;
        symlink(fs::read_link(&from.short)?, &to.short)?;
    } else if kind.is_file() {
        budget.spend(data.len())?;
        // No more than was measured: somebody may write it meanwhile, faster than it is read.
        io::copy(&mut open_to_copy(&from.short)?.take(data.len()), &mut File::create_new(&to.short)?)?;
    } else {
        return Ok(());
    }
    let to = &to.short;
    let owner = nix::unistd::Uid::effective().is_root().then(|| (data.uid(), data.gid()));
    if let Some((user, group)) = owner {
        std::os::unix::fs::lchown(to, Some(user), Some(group))?;
    }
    if !kind.is_symlink() {
        fs::set_permissions(to, Permissions::from_mode(data.mode() & 0o7777))?;
    }
    let (read, written) =
        (TimeSpec::new(data.atime(), data.atime_nsec()), TimeSpec::new(data.mtime(), data.mtime_nsec()));
    Ok(utimensat(nix::fcntl::AT_FDCWD, to, &read, &written, UtimensatFlags::NoFollowSymlink)?)
}

/// Opens a file without a trace of that in it: when it was read last stays what it was, if the kernel leaves that to this
/// user, as it does for their own files.
fn open_to_copy(path: &Path) -> io::Result<File> {
    let quietly = File::options().read(true).custom_flags(nix::libc::O_NOATIME).open(path);
    quietly.or_else(|_| File::open(path))
}

/// Lists all that is below a folder, in order.
fn inventory(folder: &Path) -> io::Result<Vec<Item>> {
    let mut items = Vec::new();
    let mut open = vec![TreePlace::new(folder)];
    while let Some(spot) = open.pop() {
        let data = fs::symlink_metadata(&spot.short)?;
        if data.is_dir() {
            let folder = spot.anchored()?;
            let names = fs::read_dir(&folder.short)?.map(|entry| entry.map(|entry| entry.file_name()));
            let mut names = names.collect::<io::Result<Vec<_>>>()?;
            names.sort();
            open.extend(names.iter().map(|name| folder.below(name)));
        }
        items.push(Item {
            path: spot.path,
            is_folder: data.is_dir(),
            inode: data.ino(),
            changed: (data.ctime(), data.ctime_nsec()),
        });
    }
    Ok(items)
}

/// Removes a folder with all that is in it, however deep it is and whatever its mode is.
fn remove(folder: &Path) -> io::Result<()> {
    let mut folders = vec![TreePlace::new(folder)];
    let mut emptied = 0;
    while let Some(spot) = folders.get(emptied).cloned() {
        fs::set_permissions(&spot.short, Permissions::from_mode(0o700))?;
        let here = spot.anchored()?;
        for entry in fs::read_dir(&here.short)? {
            let entry = entry?;
            let below = here.below(&entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(below);
            } else {
                fs::remove_file(&below.short)?;
            }
        }
        emptied += 1;
    }
    folders.iter().rev().try_for_each(|folder| fs::remove_dir(&folder.short))
}

#[cfg(test)]
mod tests;
