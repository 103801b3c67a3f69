//! The files whose code runs execute; a change of one is noticed.
//!
//! Runs can only be compared if all execute the same code. The executable and its libraries may be built anew, or
//! be replaced, at any moment of a search.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The files whose code runs execute, as they were when they were seen first.
#[derive(Debug, Default)]
pub(crate) struct CodeFiles(Mutex<BTreeMap<PathBuf, Stamp>>);

/// The attributes of a file that change if it is replaced or written, stat(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device: u64,
    number: u64,
    size: u64,
    written: (i64, i64),
}

impl CodeFiles {
    /// Adds a file, unless it is known; one that does not exist is left out.
    pub(crate) fn add(&self, path: &Path) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if files.contains_key(path) {
            return;
        }
        if let Some(stamp) = Stamp::of(path) {
            files.insert(path.to_owned(), stamp);
        }
    }

    /// A file that is not as it was at first, if there is any.
    pub(crate) fn changed(&self) -> Option<PathBuf> {
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.iter().find(|(path, stamp)| Stamp::of(path) != Some(**stamp)).map(|(path, _)| path.clone())
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let stamp = |data: Metadata| Stamp {
            device: data.dev(),
            number: data.ino(),
            size: data.size(),
            written: (data.mtime(), data.mtime_nsec()),
        };
        fs::metadata(path).ok().map(stamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_replaced_or_written_is_not_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        let known = || {
            fs::write(&one, "first").expect("written");
            fs::write(&other, "other").expect("written");
            let files = CodeFiles::default();
            files.add(&one);
            assert_eq!(files.changed(), None);
            files
        };
        let files = known();
        fs::rename(&other, &one).expect("replaced");
        // What is added again is still what it was at first.
        files.add(&one);
        assert_eq!(files.changed(), Some(one.clone()));
        let files = known();
        fs::write(&one, "longer than it was").expect("written");
        assert_eq!(files.changed(), Some(one.clone()));
        let files = known();
        fs::remove_file(&one).expect("removed");
        assert_eq!(files.changed(), Some(one.clone()));
    }
}
