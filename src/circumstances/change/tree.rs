//! Hold the files of a version of a program: paths, modes, contents.
//!
//! A content is known by its key; whether the bytes are in memory or in a file of stripe's own is hidden.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::Hasher;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use siphasher::sip128::{Hasher128, SipHasher13};

/// Folders that are never a part of a version: those of the version control and of stripe.
const NO_PART: [&str; 2] = [".git", ".stripe"];

/// The files of a version, by their paths below its folder.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Files and symbolic links.
    pub entries: BTreeMap<PathBuf, TreeEntry>,
    /// Folders without files.
    pub empty_folders: BTreeSet<PathBuf>,
    /// Remarks on what could not be taken over, and why; each one sentence.
    pub remarks: Vec<String>,
}

/// The difference from a version, by path: the new entry, or `None` where the path is gone.
pub type Overlay = BTreeMap<PathBuf, Option<TreeEntry>>;

/// A file or a symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// The kind of entry.
    pub mode: EntryMode,
    /// The content of a file; the target of a link.
    pub content: Content,
}

/// The kind of an entry, with its permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryMode {
    /// A file.
    Plain,
    /// A file that can be executed.
    Executable,
    /// A symbolic link.
    Link,
}

/// The bytes of a file.
#[derive(Clone, Debug)]
pub struct Content {
    key: u128,
    bytes: Bytes,
}

#[derive(Clone, Debug)]
enum Bytes {
    Memory(Arc<[u8]>),
    File(PathBuf),
}

impl PartialEq for Content {
    fn eq(&self, other: &Content) -> bool {
        self.key == other.key
    }
}

impl Eq for Content {}

impl Content {
    /// Creates the content of these bytes.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Content {
        let bytes = bytes.into();
        Content { key: key(&bytes), bytes: Bytes::Memory(bytes) }
    }

    /// Returns the same content, to be read from a file that nobody changes.
    pub(super) fn kept_in(&self, file: PathBuf) -> Content {
        Content { key: self.key, bytes: Bytes::File(file) }
    }

    /// A hash of the content.
    pub fn key(&self) -> u128 {
        self.key
    }

    /// The bytes.
    ///
    /// # Errors
    /// If the file that holds them cannot be read.
    pub fn read(&self) -> io::Result<Cow<'_, [u8]>> {
        match &self.bytes {
            Bytes::Memory(bytes) => Ok(Cow::Borrowed(bytes)),
            Bytes::File(file) => fs::read(file).map(Cow::Owned).map_err(|error| named(file, &error)),
        }
    }
}

/// An error with the name of its file.
pub(super) fn named(file: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", file.display()))
}

fn key(bytes: &[u8]) -> u128 {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes);
    hasher.finish128().as_u128()
}

impl Tree {
    /// Creates a tree of plain files with these paths and texts.
    #[cfg(test)]
    pub(super) fn of_texts(files: &[(&str, &str)]) -> Tree {
        let entry = |text: &str| TreeEntry { mode: EntryMode::Plain, content: Content::new(text.as_bytes()) };
        let entries = files.iter().map(|(path, text)| (PathBuf::from(path), entry(text))).collect();
        Tree { entries, ..Tree::default() }
    }

    /// Reads all files in a folder.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn of_folder(folder: &Path) -> io::Result<Tree> {
        let mut tree = Tree::default();
        tree.add_folder(folder, Path::new(""))?;
        Ok(tree)
    }

    /// Reads these files of a folder; missing ones are left out.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn of_files(folder: &Path, files: impl IntoIterator<Item = PathBuf>) -> io::Result<Tree> {
        let mut tree = Tree::default();
        for file in files {
            match fs::symlink_metadata(folder.join(&file)) {
                Ok(data) if data.is_dir() => {
                    tree.remarks.push(format!("{}: a repository of its own, left out", file.display()));
                }
                Ok(data) => tree.add_file(folder, file, &data)?,
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(named(&folder.join(file), &error)),
            }
        }
        Ok(tree)
    }

    fn add_folder(&mut self, root: &Path, below: &Path) -> io::Result<()> {
        let here = root.join(below);
        let mut is_empty = true;
        for entry in fs::read_dir(&here).map_err(|error| named(&here, &error))? {
            let entry = entry.map_err(|error| named(&here, &error))?;
            if NO_PART.iter().any(|name| entry.file_name() == *name) {
                continue;
            }
            is_empty = false;
            let path = below.join(entry.file_name());
            let data = fs::symlink_metadata(entry.path()).map_err(|error| named(&entry.path(), &error))?;
            match data.is_dir() {
                true => self.add_folder(root, &path)?,
                false => self.add_file(root, path, &data)?,
            }
        }
        if is_empty && !below.as_os_str().is_empty() {
            self.empty_folders.insert(below.to_owned());
        }
        Ok(())
    }

    fn add_file(&mut self, root: &Path, path: PathBuf, data: &fs::Metadata) -> io::Result<()> {
        let file = root.join(&path);
        let failed = |error: io::Error| named(&file, &error);
        let (mode, bytes) = if data.is_symlink() {
            (EntryMode::Link, fs::read_link(&file).map_err(failed)?.into_os_string().into_vec())
        } else if data.is_file() {
            let is_executable = data.permissions().mode() & 0o111 != 0;
            let mode = if is_executable { EntryMode::Executable } else { EntryMode::Plain };
            (mode, fs::read(&file).map_err(failed)?)
        } else {
            self.remarks.push(format!("{}: neither a file nor a link, left out", path.display()));
            return Ok(());
        };
        self.entries.insert(path, TreeEntry { mode, content: Content::new(bytes) });
        Ok(())
    }

    /// Removes the paths that are not wanted.
    pub fn retain(&mut self, is_wanted: impl Fn(&Path) -> bool) {
        self.entries.retain(|path, _| is_wanted(path));
        self.empty_folders.retain(|path| is_wanted(path));
    }

    /// The overlay that leads to another version.
    pub fn overlay_to(&self, other: &Tree) -> Overlay {
        let gone = self.entries.keys().filter(|path| !other.entries.contains_key(*path));
        let gone = gone.map(|path| (path.clone(), None));
        let new = other.entries.iter().filter(|(path, entry)| self.entries.get(*path) != Some(entry));
        gone.chain(new.map(|(path, entry)| (path.clone(), Some(entry.clone())))).collect()
    }

    /// Applies an overlay.
    pub fn with(&self, overlay: &Overlay) -> Tree {
        let mut tree = self.clone();
        for (path, entry) in overlay {
            match entry {
                Some(entry) => tree.entries.insert(path.clone(), entry.clone()),
                None => tree.entries.remove(path),
            };
        }
        tree
    }
}

/// A hash of an overlay.
pub(super) fn fingerprint(overlay: &Overlay) -> u128 {
    let mut hasher = SipHasher13::new();
    for (path, entry) in overlay {
        hasher.write(path.as_os_str().as_bytes());
        hasher.write_u8(0);
        match entry {
            Some(TreeEntry { mode, content }) => {
                hasher.write_u8(1 + *mode as u8);
                hasher.write_u128(content.key);
            }
            None => hasher.write_u8(0),
        }
    }
    hasher.finish128().as_u128()
}

/// True for the error that a file is not there.
pub(super) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
