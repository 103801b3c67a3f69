//! The results folder: a document for each fault and technique, each there as a whole or not at all.
//!
//! ```text
//! OUT/study.json               what is compared on what
//! OUT/manifest.toml            a copy of the manifest
//! OUT/runs/FAULT/WORK.json     work that was done, with what it has printed
//! OUT/items/FAULT/TECHNIQUE.json  what a technique makes of it
//! OUT/builds/FAULT/            where the fault is built
//! OUT/locks/FAULT              held by whoever works on it
//! ```

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::documents::{ItemDocument, StudyDocument, WorkDocument};
use crate::technique::Work;

/// A folder with the results of a study.
#[derive(Clone, Debug)]
pub struct ResultsFolder(PathBuf);

/// The reason why results cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum FolderError {
    #[error("{0}: {1}; name a folder that can be read and written")]
    Io(String, io::Error),
    #[error("{0}: is no document of a study: {1}; remove it, and `stripe study run` makes it again")]
    Document(String, serde_json::Error),
    #[error("{0}: is no folder of results, study.json is missing; name the folder that was given to --out")]
    NoStudy(String),
}

/// A claim: the right to work on a fault, while it is held.
#[derive(Debug)]
pub struct FaultClaim(File);

impl ResultsFolder {
    /// Opens the folder at this place, which is made if it does not exist.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn at(path: &Path) -> Result<ResultsFolder, FolderError> {
        fs::create_dir_all(path).map_err(|error| failed(path, error))?;
        path.canonicalize().map(ResultsFolder).map_err(|error| failed(path, error))
    }

    /// Opens a folder that holds a study.
    ///
    /// # Errors
    /// If it holds none.
    pub fn open(path: &Path) -> Result<(ResultsFolder, StudyDocument), FolderError> {
        let folder = ResultsFolder(path.canonicalize().map_err(|error| failed(path, error))?);
        match folder.study()? {
            Some(study) => Ok((folder, study)),
            None => Err(FolderError::NoStudy(path.display().to_string())),
        }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The folder in which a fault is built; made if it does not exist.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn build(&self, fault: &str) -> Result<PathBuf, FolderError> {
        let folder = self.0.join("builds").join(fault);
        fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
        Ok(folder)
    }

    /// Reads the study, if there is one.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn study(&self) -> Result<Option<StudyDocument>, FolderError> {
        read(&self.0.join("study.json"))
    }

    /// Writes the study and its manifest.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn keep_study(&self, study: &StudyDocument, manifest: &str) -> Result<(), FolderError> {
        let ending = Path::new(&study.manifest).extension().unwrap_or_default();
        let copy = self.0.join("manifest").with_extension(ending);
        replace(&copy, manifest.as_bytes())?;
        write(&self.0.join("study.json"), study)
    }

    /// Keeps which results of other tools were taken in.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn keep_imports(&self, study: &StudyDocument) -> Result<(), FolderError> {
        write(&self.0.join("study.json"), study)
    }

    /// Keeps a copy of a file, under a name from the folder.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn keep_copy(&self, name: &str, file: &Path) -> Result<(), FolderError> {
        let bytes = fs::read(file).map_err(|error| failed(file, error))?;
        replace(&self.0.join(name), &bytes)
    }

    /// The path of the document of some work, relative to the folder.
    pub fn work_file(fault: &str, work: Work) -> String {
        format!("runs/{fault}/{}.json", work.name())
    }

    /// The path of the document of a result, relative to the folder.
    pub fn item_file(fault: &str, technique: &str) -> String {
        format!("items/{fault}/{technique}.json")
    }

    /// Reads work that was done, if it was.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn work(&self, fault: &str, work: Work) -> Result<Option<WorkDocument>, FolderError> {
        read(&self.0.join(ResultsFolder::work_file(fault, work)))
    }

    /// Writes work that was done.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_work(&self, work: Work, document: &WorkDocument) -> Result<(), FolderError> {
        write(&self.0.join(ResultsFolder::work_file(&document.fault, work)), document)
    }

    /// Reads a result, if it is there.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn item(&self, fault: &str, technique: &str) -> Result<Option<ItemDocument>, FolderError> {
        read(&self.0.join(ResultsFolder::item_file(fault, technique)))
    }

    /// Writes a result.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_item(&self, item: &ItemDocument) -> Result<(), FolderError> {
        write(&self.0.join(ResultsFolder::item_file(&item.fault, &item.technique)), item)
    }

    /// Claims a fault, to work on it; `None` if somebody else has it. The kernel gives it back when its holder ends,
    /// however that happens.
    ///
    /// # Errors
    /// If the folder has no locks.
    pub fn claim(&self, fault: &str) -> Result<Option<FaultClaim>, FolderError> {
        let path = self.0.join("locks").join(fault);
        let file = fs::create_dir_all(self.0.join("locks"))
            .and_then(|()| File::options().read(true).write(true).create(true).truncate(false).open(&path));
        let file = file.map_err(|error| failed(&path, error))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(FaultClaim(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(&path, error)),
        }
    }
}

impl FaultClaim {
    /// An empty standard input for a process that works on the fault. The claim lasts as long as the process has it,
    /// even if whoever has made it is killed: what a build still writes then is written before the next one begins.
    ///
    /// # Errors
    /// If there are too many open files.
    pub fn stdin(&self) -> io::Result<Stdio> {
        self.0.try_clone().map(Stdio::from)
    }
}

fn failed(path: &Path, error: io::Error) -> FolderError {
    FolderError::Io(path.display().to_string(), error)
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, FolderError> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| FolderError::Document(path.display().to_string(), error)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, error)),
    }
}

fn write<T: Serialize>(path: &Path, document: &T) -> Result<(), FolderError> {
    replace(path, to_json(document).as_bytes())
}

/// Writes a document as text.
pub fn to_json<T: Serialize>(document: &T) -> String {
    serde_json::to_string_pretty(document).expect("a document has text keys only") + "\n"
}

/// Writes a file by renaming: it is there as a whole or not at all, also for who reads it now.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), FolderError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder).and_then(|()| {
        let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
        file.write_all(bytes)?;
        // A file that is renamed before its content is on the disk may be empty after a crash of the machine.
        file.as_file().sync_data()?;
        file.persist(path).map(drop).map_err(|error| error.error)
    });
    written.map_err(|error| failed(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_has_one_worker_at_a_time_and_is_free_again_after_it() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = ResultsFolder::at(place.path()).expect("made");
        let first = folder.claim("one").expect("locks").expect("free");
        assert!(folder.claim("one").expect("locks").is_none());
        assert!(folder.claim("two").expect("locks").is_some());
        drop(first);
        assert!(folder.claim("one").expect("locks").is_some());
    }

    #[test]
    fn a_claim_lasts_as_long_as_a_process_has_it() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = ResultsFolder::at(place.path()).expect("made");
        let first = folder.claim("one").expect("locks").expect("free");
        let mut command = std::process::Command::new("sleep");
        let mut build = command.arg("60").stdin(first.stdin().expect("a copy")).spawn().expect("it starts");
        drop((first, command));
        assert!(folder.claim("one").expect("locks").is_none());
        build.kill().and_then(|()| build.wait()).expect("a child");
        assert!(folder.claim("one").expect("locks").is_some());
    }

    #[test]
    fn a_folder_without_a_study_and_a_damaged_document_are_told() {
        let place = tempfile::tempdir().expect("a folder");
        let error = ResultsFolder::open(place.path()).expect_err("no study").to_string();
        assert!(error.contains("study.json is missing"), "{error}");
        let folder = ResultsFolder::at(place.path()).expect("made");
        replace(&folder.path().join(ResultsFolder::item_file("f", "t")), b"{").expect("written");
        let error = folder.item("f", "t").expect_err("damaged").to_string();
        assert!(error.contains("items/f/t.json: is no document") && error.contains("remove it"), "{error}");
    }
}
