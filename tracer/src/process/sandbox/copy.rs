//! Give runs a copy of the working directory, where they cannot have a view of their own.
//!
//! The copy lies in the directory for temporary files. It is made anew before a run, if the latest one
//! has changed anything in it. It is without what stripe keeps of runs in that directory, which may be much,
//! and grows while runs are made. A copy that was left by a program that has been killed is removed by the
//! next one: whoever holds the lock of a copy is alive.

use std::fs::{self, DirEntry, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::statvfs::statvfs;
use nix::sys::time::TimeSpec;

use super::watch::{News, Watch};
use crate::invocation::SHELF;

/// How much a working directory may hold.
const MOST_BYTES: u64 = 1 << 30;
const MOST_FILES: usize = 100_000;
/// How much less there may be on the disk than before, in bytes and in files.
const DISK: u64 = 1 << 30;
const FILES: u64 = 200_000;
const PREFIX: &str = "stripe-sandbox-";
/// A file in the folder of a copy that its owner holds locked.
const LOCK: &str = "lock";

/// Where copies are made.
pub(super) fn base() -> PathBuf {
    std::env::temp_dir()
}

/// A copy of a working directory.
pub(super) struct Copied {
    original: PathBuf,
    /// Holds the copy and its lock.
    folder: tempfile::TempDir,
    /// Closed at the end, which unlocks it: an unlock that is refused would be a panic.
    _lock: File,
    copy: PathBuf,
    contents: Vec<Item>,
    /// `None` where it cannot be watched, and has to be looked through.
    watch: Option<Watch>,
    /// What was free before: bytes and files.
    free: (u64, u64),
}

/// What tells that a file has not been changed.
#[derive(PartialEq, Eq)]
struct Item {
    path: PathBuf,
    is_folder: bool,
    inode: u64,
    changed: (i64, i64),
}

impl Copied {
    pub(super) fn new(original: &Path) -> io::Result<Copied> {
        measure(original, &mut Budget::default())?;
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
            free: (0, 0),
        };
        copied.make()?;
        Ok(copied)
    }

    /// The folder that holds the copy, and stays when that is made anew.
    pub(super) fn place(&self) -> PathBuf {
        self.folder.path().join("world")
    }

    /// The copy.
    pub(super) fn directory(&self) -> &Path {
        &self.copy
    }

    /// Makes the copy anew if it was changed; tells whether it was. `has_hidden_changes`: flags of its files
    /// may have been changed, of which a watch does not tell.
    pub(super) fn refresh(&mut self, has_hidden_changes: bool) -> io::Result<bool> {
        let is_changed = match self.watch.as_ref().map_or(News::Perhaps, Watch::news) {
            News::Change => true,
            News::Nothing if !has_hidden_changes => false,
            _ => inventory(&self.copy).map_or(true, |contents| contents != self.contents),
        };
        if is_changed {
            remove(&self.copy)?;
            self.make()?;
        }
        Ok(is_changed)
    }

    /// Whether the run has taken more of the disk than it may.
    pub(super) fn is_full(&self) -> bool {
        let (bytes, files) = free(self.folder.path());
        bytes < 1 << 20
            || bytes.saturating_add(DISK) < self.free.0
            || files.saturating_add(FILES) < self.free.1
    }

    fn make(&mut self) -> io::Result<()> {
        copy(&self.original, &self.copy, &mut Budget::default())?;
        self.contents = inventory(&self.copy)?;
        let folders = self.contents.iter().filter(|item| item.is_folder);
        self.watch = Watch::over(folders.map(|folder| folder.path.as_path()));
        self.free = free(self.folder.path());
        Ok(())
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        // The run may have left folders that nobody may look into.
        let _ = remove(&self.copy);
    }
}

fn free(place: &Path) -> (u64, u64) {
    statvfs(place).map_or((u64::MAX, u64::MAX), |space| {
        (space.blocks_available() * space.fragment_size(), space.files_available())
    })
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

struct Budget {
    bytes: u64,
    files: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { bytes: MOST_BYTES, files: MOST_FILES }
    }
}

impl Budget {
    fn spend(&mut self, bytes: u64) -> io::Result<()> {
        let rest = self.bytes.checked_sub(bytes).zip(self.files.checked_sub(1));
        let Some((bytes, files)) = rest else {
            return Err(io::Error::other("it holds more than 1 GiB or 100,000 files"));
        };
        *self = Budget { bytes, files };
        Ok(())
    }
}

/// Whether a file or a folder can be copied, which for a large one takes long to find out by doing it.
fn measure(path: &Path, budget: &mut Budget) -> io::Result<()> {
    let data = fs::symlink_metadata(path)?;
    budget.spend(if data.is_file() { data.len() } else { 0 })?;
    if data.is_dir() { for_each(path, |entry| measure(&entry.path(), budget)) } else { Ok(()) }
}

/// Does something with all in a folder that belongs into a copy.
fn for_each(folder: &Path, mut act: impl FnMut(&DirEntry) -> io::Result<()>) -> io::Result<()> {
    for entry in fs::read_dir(folder)?.flatten().filter(|entry| entry.file_name() != SHELF) {
        match act(&entry) {
            // What cannot be read now cannot be read by the program either; others may remove their files.
            Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound) => {}
            done => done?,
        }
    }
    Ok(())
}

/// Copies a file or a folder with what is in it. Sockets, pipes and devices stay out.
fn copy(from: &Path, to: &Path, budget: &mut Budget) -> io::Result<()> {
    let data = fs::symlink_metadata(from)?;
    let kind = data.file_type();
    if kind.is_dir() {
        budget.spend(0)?;
        fs::create_dir(to)?;
        for_each(from, |entry| copy(&entry.path(), &to.join(entry.file_name()), budget))?;
    } else if kind.is_symlink() {
        budget.spend(0)?;
        symlink(fs::read_link(from)?, to)?;
    } else if kind.is_file() {
        budget.spend(data.len())?;
        fs::copy(from, to)?;
    } else {
        return Ok(());
    }
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

/// All that is below a folder, in order.
fn inventory(folder: &Path) -> io::Result<Vec<Item>> {
    let mut items = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let data = fs::symlink_metadata(&path)?;
        if data.is_dir() {
            let entries = fs::read_dir(&path)?.map(|entry| entry.map(|entry| entry.path()));
            let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
            entries.sort();
            open.extend(entries);
        }
        items.push(Item {
            path,
            is_folder: data.is_dir(),
            inode: data.ino(),
            changed: (data.ctime(), data.ctime_nsec()),
        });
    }
    Ok(items)
}

/// Removes a folder with all that is in it, however deep it is and whatever its mode is.
fn remove(folder: &Path) -> io::Result<()> {
    if fs::remove_dir_all(folder).is_ok() {
        return Ok(());
    }
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        if fs::symlink_metadata(&path)?.is_dir() {
            fs::set_permissions(&path, Permissions::from_mode(0o700))?;
            open.extend(fs::read_dir(&path)?.flatten().map(|entry| entry.path()));
        }
    }
    fs::remove_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::thread::sleep;

    use super::*;

    fn original() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("deep")).expect("made");
        fs::write(folder.path().join("deep/file"), "text").expect("written");
        symlink("deep/file", folder.path().join("link")).expect("made");
        folder
    }

    #[test]
    fn a_copy_is_made_anew_only_after_a_change() {
        is_made_anew_only_after_a_change(|_| ());
        is_made_anew_only_after_a_change(|copied| {
            copied.watch = None;
            // The times of files may be those of the latest tick of the machine's clock.
            sleep(Duration::from_millis(20));
        });
    }

    fn is_made_anew_only_after_a_change(prepare: impl Fn(&mut Copied)) {
        let original = original();
        let mut copied = Copied::new(original.path()).expect("copied");
        prepare(&mut copied);
        assert!(!copied.refresh(false).expect("looked at"));
        let file = copied.directory().join("deep/file");
        // As who writes through a mapping.
        drop(File::options().write(true).open(&file).expect("opened"));
        assert!(!copied.refresh(false).expect("looked at"));
        fs::write(&file, "more").expect("written");
        assert!(copied.refresh(false).expect("made anew"));
        assert!(!copied.refresh(true).expect("looked at"));
        assert_eq!(fs::read_to_string(&file).expect("there"), "text");
        assert_eq!(fs::read_link(copied.directory().join("link")).expect("there"), Path::new("deep/file"));
        assert_eq!(fs::read_to_string(original.path().join("deep/file")).expect("there"), "text");
    }

    #[test]
    fn a_copy_is_without_kept_runs_however_many_there_are() {
        let original = original();
        for shelf in [original.path().join(SHELF), original.path().join("deep").join(SHELF)] {
            fs::create_dir_all(shelf.join("1-program")).expect("made");
            let trace = File::create(shelf.join("1-program/trace")).expect("made");
            trace.set_len(MOST_BYTES).expect("a file with nothing in it");
        }
        let copied = Copied::new(original.path()).expect("copied");
        let found: Vec<_> = copied.contents.iter().map(|item| item.path.file_name()).collect();
        assert_eq!(found, ["run", "link", "deep", "file"].map(|name| Some(OsStr::new(name))));
    }

    #[test]
    fn a_folder_that_is_too_large_is_not_copied() {
        let original = original();
        let large = File::create(original.path().join("deep/large")).expect("made");
        large.set_len(MOST_BYTES).expect("a file with nothing in it");
        let refused = Copied::new(original.path()).err().expect("refused");
        assert!(refused.to_string().contains("more than 1 GiB"), "{refused}");
    }

    #[test]
    fn nothing_stays_of_a_copy_whose_folders_are_locked() {
        let original = original();
        let copied = Copied::new(original.path()).expect("copied");
        let place = copied.directory().to_owned();
        fs::set_permissions(place.join("deep"), Permissions::from_mode(0o0)).expect("set");
        drop(copied);
        assert!(!place.exists());
    }

    #[test]
    fn copies_of_programs_that_were_killed_are_removed() {
        let base = tempfile::tempdir().expect("a folder");
        let left = base.path().join("stripe-sandbox-left");
        fs::create_dir_all(left.join("run")).expect("made");
        fs::write(left.join("lock"), "").expect("written");
        let used = base.path().join("stripe-sandbox-used");
        fs::create_dir(&used).expect("made");
        let lock = File::create(used.join("lock")).expect("made");
        lock.lock().expect("locked");
        sweep(base.path());
        assert!(!left.exists());
        assert!(used.exists());
    }
}
