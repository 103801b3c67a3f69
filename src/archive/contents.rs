//! Keep contents in files of their own, which a document of the folder names with their checksums.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tracer::Bytes;

use super::error::ArchiveError;
use super::files::{create, hash, read_document_of, read_whole};
use super::folder::RunFolder;

/// A file, as a document names it.
#[derive(Serialize, Deserialize)]
pub(super) struct FileDocument {
    pub(super) name: String,
    /// A hash of the content, in hexadecimal.
    hash: String,
}

impl RunFolder {
    /// Writes a content into a file of this name.
    pub(super) fn keep_content(&self, name: &str, content: &[u8]) -> Result<FileDocument, ArchiveError> {
        let path = self.path().join(name);
        let written = create(&path).and_then(|mut file| file.write_all(content));
        written.map_err(ArchiveError::unwritable(&path))?;
        Ok(FileDocument { name: name.to_owned(), hash: format!("{:x}", hash(content)) })
    }

    /// Reads the contents of these files, each with its name.
    pub(super) fn contents(&self, files: &[FileDocument]) -> Result<Vec<(String, Bytes)>, ArchiveError> {
        files.iter().map(|file| Ok((file.name.clone(), self.checked(file)?))).collect()
    }

    fn checked(&self, file: &FileDocument) -> Result<Bytes, ArchiveError> {
        let path = self.path().join(&file.name);
        let content = read_whole(&path).map_err(ArchiveError::unreadable(&path))?;
        match format!("{:x}", hash(&content)) == file.hash {
            true => Ok(content),
            false => Err(ArchiveError::damaged(&path, "its checksum is wrong")),
        }
    }
}

/// Reads a document that must have one of these formats; `None` if there is no such file.
pub(super) fn read_if_there<T: DeserializeOwned>(
    path: &Path,
    formats: &[&'static str],
) -> Result<Option<T>, ArchiveError> {
    if path.exists() { read_document_of(path, formats).map(Some) } else { Ok(None) }
}

/// Removes a document, if it is there: the search goes on.
pub(super) fn remove(path: &Path) -> Result<(), ArchiveError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ArchiveError::unwritable(path)(error)),
        _ => Ok(()),
    }
}
