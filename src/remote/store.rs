//! Keep what was handed over, by its content, so that it need not come again: for other workers on this machine, and
//! for other searches.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

use super::messages::HandedFile;
use super::parcel::content_hash;

/// The time after which a file that was not used is removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// The folder of what was handed over.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// A file that is coming.
    coming: Option<(String, NamedTempFile)>,
}

impl Store {
    /// The one of this user. What is old goes away.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn of_user() -> io::Result<Store> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
        Store::at(&caches.unwrap_or_else(std::env::temp_dir).join("stripe/handed-over"))
    }

    /// The one in this folder.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn at(folder: &Path) -> io::Result<Store> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let store = Store { folder: folder.to_owned(), coming: None };
        store.forget_old(SystemTime::now())?;
        Ok(store)
    }

    fn forget_old(&self, now: SystemTime) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            // Another worker may take it away at the same time.
            let used = entry.metadata().and_then(|data| data.modified());
            let is_old = used.is_ok_and(|used| now.duration_since(used).is_ok_and(|age| age > KEPT));
            if is_old {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    fn place(&self, hash: &str) -> PathBuf {
        self.folder.join(hash)
    }

    /// The path of a file with this content: for the program the one on the asking side, else that in this folder;
    /// `None` if there is none.
    pub fn find(&self, file: &HandedFile) -> Option<PathBuf> {
        let is_it = |path: &Path| content_hash(path).is_ok_and(|hash| hash == file.hash);
        let (there, here) = (PathBuf::from(&file.path), self.place(&file.hash));
        if file.name.is_empty() && is_it(&there) {
            return Some(there);
        }
        let found = is_it(&here).then_some(here)?;
        // It is in use: kept for another while.
        let _ = File::options().write(true).open(&found).and_then(|one| one.set_modified(SystemTime::now()));
        Some(found)
    }

    /// Takes a part of a file; with the last one it is there.
    ///
    /// # Errors
    /// If there is no room, or if it is not what it should be.
    pub fn take(&mut self, hash: &str, part: &[u8], last: bool) -> io::Result<()> {
        let is_plain = hash.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        if !is_plain || hash.is_empty() {
            return Err(io::Error::other("the name of a file that was handed over is no number"));
        }
        let (_, mut file) = match self.coming.take().filter(|(coming, _)| coming == hash) {
            Some(coming) => coming,
            None => (hash.to_owned(), tempfile::Builder::new().prefix(".new-").tempfile_in(&self.folder)?),
        };
        file.write_all(part)?;
        if !last {
            self.coming = Some((hash.to_owned(), file));
            return Ok(());
        }
        if content_hash(file.path())? != hash {
            return Err(io::Error::other("a file that was handed over has another content than was said"));
        }
        // It may be a program.
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o700))?;
        file.persist(self.place(hash)).map(drop).map_err(|error| error.error)
    }
}

/// Lays a kept run out in a folder, by links to where its files were found.
///
/// # Errors
/// If a file has a name that leads elsewhere, or if there is no room.
pub fn lay_out(found: &[(HandedFile, PathBuf)], folder: &Path) -> io::Result<()> {
    for (file, path) in found.iter().filter(|(file, _)| !file.name.is_empty()) {
        if Path::new(&file.name).file_name() != Some(file.name.as_ref()) {
            return Err(io::Error::other(format!("{} is no name of a file", file.name)));
        }
        symlink(path, folder.join(&file.name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handed(path: &Path, name: &str) -> HandedFile {
        HandedFile {
            name: name.into(),
            path: "/nowhere".into(),
            hash: content_hash(path).expect("it is there"),
        }
    }

    #[test]
    fn a_file_is_there_after_its_last_part_and_only_with_the_content_that_was_told() {
        let place = tempfile::tempdir().expect("a folder");
        let source = place.path().join("source");
        fs::write(&source, "one two").expect("written");
        let file = handed(&source, "input");
        let mut store = Store::at(&place.path().join("store")).expect("made");
        store.take(&file.hash, b"one ", false).expect("room");
        assert_eq!(store.find(&file), None);
        store.take(&file.hash, b"two", true).expect("room");
        let run = tempfile::tempdir().expect("a folder");
        let found = store.find(&file).expect("found");
        lay_out(&[(file.clone(), found.clone())], run.path()).expect("laid out");
        assert_eq!(fs::read_to_string(run.path().join("input")).expect("there"), "one two");
        // What somebody has changed is not taken for it.
        fs::write(store.place(&file.hash), "one tow").expect("written");
        assert_eq!(store.find(&file), None);
        let error = store.take(&file.hash, b"something", true).expect_err("another content");
        assert!(error.to_string().contains("another content"), "{error}");
        assert!(store.take("../x", b"", true).is_err());
        let outside = HandedFile { name: "../input".into(), ..file.clone() };
        assert!(lay_out(&[(outside, found)], run.path()).is_err());
    }

    #[test]
    fn what_nobody_has_used_for_a_month_goes_away() {
        let place = tempfile::tempdir().expect("a folder");
        let store = Store::at(place.path()).expect("made");
        fs::write(place.path().join("aa-1"), "x").expect("written");
        store.forget_old(SystemTime::now() + KEPT / 2).expect("read");
        assert!(place.path().join("aa-1").exists());
        store.forget_old(SystemTime::now() + 2 * KEPT).expect("read");
        assert!(!place.path().join("aa-1").exists());
    }
}
