//! Keep versions on the disk, in private folders, so that builds and tests find them there.
//!
//! The version that works lies there once as it is; each worker has a tree of its own, in which what builds make
//! stays from test to test. From one version to the next only the files that differ are written, and each of them
//! gets a time that is later than that of anything built before: `make` and the like build anew what depends on them,
//! and nothing else.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::tree::{EntryMode, Overlay, Tree, TreeEntry, is_gone, named};

/// The beginning of the names of stripe's folders.
const PREFIX: &str = "stripe-changes-";

/// The lock file, which is locked as long as the folder is used.
const LOCK: &str = "lock";

/// The version that works, on the disk.
pub struct BaseVersion {
    /// Its files, whose contents are read from there.
    pub tree: Tree,
    /// The folders that are always there.
    folders: BTreeSet<PathBuf>,
    place: TempDir,
    _lock: File,
}

impl BaseVersion {
    /// Writes a version into a new temporary folder. Empty folders of the other version are
    /// there as well.
    ///
    /// # Errors
    /// If there is no room for it.
    pub fn new(tree: &Tree, other: &Tree) -> io::Result<BaseVersion> {
        remove_abandoned();
        let place = tempfile::Builder::new().prefix(PREFIX).tempdir()?;
        let lock = File::create(place.path().join(LOCK))?;
        lock.lock()?;
        let root = place.path().canonicalize()?.join("base");
        fs::create_dir(&root)?;
        let mut kept = tree.clone();
        for (path, entry) in &mut kept.entries {
            put(&root, path, entry)?;
            if entry.mode != EntryMode::Link {
                entry.content = entry.content.kept_in(root.join(path));
            }
        }
        let folders = tree.empty_folders.union(&other.empty_folders).cloned().collect();
        Ok(BaseVersion { tree: kept, folders, place, _lock: lock })
    }

    /// The files that hold the contents, by the keys of these.
    pub(super) fn files(&self) -> HashMap<u128, PathBuf> {
        let root = self.place.path().join("base");
        let files = self.tree.entries.iter().filter(|(_, entry)| entry.mode != EntryMode::Link);
        files.map(|(path, entry)| (entry.content.key(), root.join(path))).collect()
    }

    /// Creates a tree of this number, with the files of this version.
    ///
    /// # Errors
    /// If there is no room for it.
    pub fn work_tree(&self, number: usize) -> io::Result<WorkTree<'_>> {
        let root = self.place.path().canonicalize()?.join(format!("tree-{number}"));
        fs::create_dir_all(&root)?;
        let mut tree = WorkTree {
            base: self,
            root,
            current: Overlay::new(),
            stamps: HashMap::new(),
            has_lost: false,
            is_clean: true,
        };
        tree.renew()?;
        Ok(tree)
    }
}

/// Removes the folders of processes that were killed.
fn remove_abandoned() {
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().as_bytes().starts_with(PREFIX.as_bytes());
        let lock = is_ours.then(|| File::open(entry.path().join(LOCK)).ok()).flatten();
        if lock.is_some_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A tree in which versions are built and tested, one after the other.
pub struct WorkTree<'b> {
    base: &'b BaseVersion,
    root: PathBuf,
    /// The overlay of the base that the tree has.
    current: Overlay,
    /// The stamps of the files as they were written.
    stamps: HashMap<PathBuf, Stamp>,
    /// True if files have gone since the tree was clean: what was built from them may still be there.
    has_lost: bool,
    is_clean: bool,
}

/// The stamp of a file, which shows that it was changed.
type Stamp = (u64, i64, i64, u64);

fn stamp(data: &fs::Metadata) -> Stamp {
    (data.ino(), data.ctime(), data.ctime_nsec(), data.size())
}

/// The report on bringing a tree to a version.
#[derive(Debug, Default)]
pub struct Brought {
    /// The files of the version before that a build or a test has changed or removed.
    pub tampered: Vec<PathBuf>,
}

impl WorkTree<'_> {
    /// The folder of the tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// True if files have gone since the tree was clean, so that what was built from them may disturb.
    pub fn has_lost(&self) -> bool {
        self.has_lost
    }

    /// True if nothing was built in it.
    pub fn is_clean(&self) -> bool {
        self.is_clean
    }

    /// Marks the tree as not clean: something is going to be built in it.
    pub fn soil(&mut self) {
        self.is_clean = false;
    }

    /// Makes it a clean tree of the base. The folder itself stays: sandboxes refer to it.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn renew(&mut self) -> io::Result<()> {
        for entry in fs::read_dir(&self.root).map_err(|error| named(&self.root, &error))? {
            remove(&entry?.path())?;
        }
        (self.current, self.has_lost, self.is_clean) = (Overlay::new(), false, true);
        self.stamps.clear();
        for (path, entry) in &self.base.tree.entries {
            put(&self.root, path, entry)?;
            self.note(path)?;
        }
        for folder in &self.base.folders {
            fs::create_dir_all(self.root.join(folder))?;
        }
        Ok(())
    }

    fn note(&mut self, path: &Path) -> io::Result<()> {
        let file = self.root.join(path);
        let data = fs::symlink_metadata(&file).map_err(|error| named(&file, &error))?;
        self.stamps.insert(path.to_owned(), stamp(&data));
        Ok(())
    }

    /// Brings the tree to another version: the base with this overlay.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn bring(&mut self, overlay: &Overlay) -> io::Result<Brought> {
        let tampered = self.tampered()?;
        let base = &self.base.tree.entries;
        let wanted = |overlay: &Overlay, path: &PathBuf| -> Option<TreeEntry> {
            overlay.get(path).cloned().unwrap_or_else(|| base.get(path).cloned())
        };
        let paths: BTreeSet<&PathBuf> = self.current.keys().chain(overlay.keys()).chain(&tampered).collect();
        let differs = |path: &&PathBuf| {
            tampered.contains(*path) || wanted(&self.current, path) != wanted(overlay, path)
        };
        let steps: Vec<(PathBuf, Option<TreeEntry>)> =
            paths.into_iter().filter(differs).map(|path| (path.clone(), wanted(overlay, path))).collect();
        if !steps.is_empty() && !self.is_clean {
            self.await_later_time()?;
        }
        for (path, _) in steps.iter().filter(|(_, entry)| entry.is_none()) {
            self.take_away(path)?;
        }
        for (path, entry) in &steps {
            if let Some(entry) = entry {
                put(&self.root, path, entry)?;
                self.note(path)?;
            }
        }
        self.current = overlay.clone();
        Ok(Brought { tampered })
    }

    /// The files that are not as they were written.
    fn tampered(&self) -> io::Result<Vec<PathBuf>> {
        let mut tampered = Vec::new();
        for (path, known) in &self.stamps {
            match fs::symlink_metadata(self.root.join(path)) {
                Ok(data) if stamp(&data) == *known => {}
                Ok(_) => tampered.push(path.clone()),
                Err(error) if is_gone(&error) => tampered.push(path.clone()),
                Err(error) => return Err(named(&self.root.join(path), &error)),
            }
        }
        tampered.sort();
        Ok(tampered)
    }

    fn take_away(&mut self, path: &Path) -> io::Result<()> {
        remove(&self.root.join(path))?;
        // In a clean tree nothing was built from it.
        self.has_lost |= self.stamps.remove(path).is_some() && !self.is_clean;
        // A folder that is left without a file would be seen.
        for folder in path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
            if self.base.folders.contains(folder) || fs::remove_dir(self.root.join(folder)).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Waits until new files get a later time than all that are there: times of files go by ticks, of some
    /// milliseconds, or of seconds on some file systems.
    fn await_later_time(&self) -> io::Result<()> {
        let probe = self.root.with_extension("time");
        let time = || -> io::Result<SystemTime> {
            fs::write(&probe, b"?")?;
            fs::metadata(&probe)?.modified()
        };
        let first = time().map_err(|error| named(&probe, &error))?;
        while time().map_err(|error| named(&probe, &error))? <= first {
            sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// Removes a file or a folder, if it is there.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if is_gone(&error) => Ok(()),
        removed => removed.map_err(|error| named(path, &error)),
    }
}

/// Writes an entry, as a new file.
fn put(root: &Path, path: &Path, entry: &TreeEntry) -> io::Result<()> {
    let file = root.join(path);
    let failed = |error: io::Error| named(&file, &error);
    let folder = file.parent().unwrap_or(root);
    if let Err(error) = fs::create_dir_all(folder) {
        // Something that a build has made stands in the way.
        let in_the_way = folder
            .ancestors()
            .take_while(|above| *above != root)
            .find(|above| !above.is_dir() && above.symlink_metadata().is_ok());
        remove(in_the_way.ok_or(error)?)?;
        fs::create_dir_all(folder).map_err(failed)?;
    }
    remove(&file)?;
    let content = entry.content.read().map_err(failed)?;
    if entry.mode == EntryMode::Link {
        return symlink(std::ffi::OsStr::from_bytes(&content), &file).map_err(failed);
    }
    fs::write(&file, &content).map_err(failed)?;
    let mode = if entry.mode == EntryMode::Executable { 0o755 } else { 0o644 };
    fs::set_permissions(&file, Permissions::from_mode(mode)).map_err(failed)
}

/// Writes a version into a new folder.
///
/// # Errors
/// If it exists, or there is no room.
pub fn write_tree(tree: &Tree, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.parent().unwrap_or(Path::new("."))).map_err(|error| named(folder, &error))?;
    fs::create_dir(folder).map_err(|error| named(folder, &error))?;
    tree.entries.iter().try_for_each(|(path, entry)| put(folder, path, entry))
}

#[cfg(test)]
mod tests {
    use super::super::tree::Content;
    use super::*;

    fn entry(text: &str, mode: EntryMode) -> TreeEntry {
        TreeEntry { mode, content: Content::new(text.as_bytes()) }
    }

    fn tree(files: &[(&str, &str)]) -> Tree {
        let entries = files.iter().map(|(path, text)| (path.into(), entry(text, EntryMode::Plain))).collect();
        Tree { entries, ..Tree::default() }
    }

    #[test]
    fn a_tree_becomes_any_version_and_only_what_differs_is_written() {
        let (old, new) =
            (tree(&[("a", "1"), ("b/c", "2"), ("d", "3")]), tree(&[("a", "1"), ("b", "file"), ("e/f", "4")]));
        let base = BaseVersion::new(&old, &new).expect("written");
        let mut work = base.work_tree(0).expect("written");
        let a = fs::metadata(work.root().join("a")).expect("there");
        work.soil();
        let built = fs::metadata(work.root().join("d")).expect("there").modified().expect("a time");
        for version in [&new, &old, &new] {
            let brought = work.bring(&base.tree.overlay_to(version)).expect("brought");
            assert!(brought.tampered.is_empty(), "{brought:?}");
            assert_eq!(Tree::of_folder(work.root()).expect("read").entries, version.entries);
        }
        let written = fs::metadata(work.root().join("b")).expect("there").modified().expect("a time");
        assert!(written > built, "an older content gets a later time");
        assert_eq!(stamp(&fs::metadata(work.root().join("a")).expect("there")), stamp(&a));
        assert!(work.has_lost());
        work.renew().expect("written");
        work.bring(&base.tree.overlay_to(&new)).expect("brought");
        assert!(!work.has_lost(), "nothing was built of what has gone");
    }

    #[test]
    fn what_a_test_does_to_the_files_is_undone_before_the_next_one() {
        let old = tree(&[("a", "1"), ("b", "2"), ("c/d", "3")]);
        let base = BaseVersion::new(&old, &old).expect("written");
        let mut work = base.work_tree(0).expect("written");
        work.soil();
        fs::write(work.root().join("a"), "x").expect("written");
        fs::remove_file(work.root().join("b")).expect("gone");
        fs::remove_dir_all(work.root().join("c")).expect("gone");
        fs::write(work.root().join("c"), "in the way").expect("written");
        let brought = work.bring(&Overlay::new()).expect("brought");
        assert_eq!(brought.tampered, ["a", "b", "c/d"].map(PathBuf::from));
        assert_eq!(Tree::of_folder(work.root()).expect("read").entries, old.entries);
    }
}
