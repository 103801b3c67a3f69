//! Say what a worker is handed: the files of a kept run, and the program. Files are told apart by their content.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::messages::{AskDocument, HandedFile, encoded};
use tracer::trace_file::content;

/// A file travels in parts of so many bytes.
const PART: usize = 1 << 20;

/// The files that are handed to a worker, with their paths on this side.
#[derive(Clone, Debug)]
pub struct Parcel(Vec<(HandedFile, PathBuf)>);

/// The hash of the content of a file.
///
/// # Errors
/// If it cannot be read.
pub fn content_hash(path: &Path) -> io::Result<String> {
    let (size, hash) = content(path)?;
    Ok(format!("{hash:032x}-{size}"))
}

impl Parcel {
    /// The run in this folder, and its program.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn of(run: &Path, program: &Path) -> io::Result<Parcel> {
        let handed = |name: String, path: PathBuf| {
            let file = HandedFile { name, path: path.display().to_string(), hash: content_hash(&path)? };
            Ok((file, path))
        };
        let mut files = vec![handed(String::new(), program.to_owned())];
        for entry in fs::read_dir(run)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            // What a search writes is none of the worker's business.
            let is_needed = !["journal", "owner", "result.json"].contains(&&*name);
            if is_needed && entry.file_type()?.is_file() {
                files.push(handed(name, entry.path()));
            }
        }
        files.into_iter().collect::<io::Result<_>>().map(Parcel)
    }

    /// The descriptions of its files.
    pub fn files(&self) -> Vec<HandedFile> {
        self.0.iter().map(|(file, _)| file.clone()).collect()
    }

    /// Sends the files of these contents, part by part.
    ///
    /// # Errors
    /// If one cannot be read any more, or what `send` says.
    pub fn send<E: From<io::Error>>(
        &self,
        wanted: &[String],
        mut send: impl FnMut(&AskDocument) -> Result<(), E>,
    ) -> Result<(), E> {
        for (file, path) in self.0.iter().filter(|(file, _)| wanted.contains(&file.hash)) {
            let mut content = File::open(path)?;
            loop {
                let mut part = Vec::new();
                content.by_ref().take(PART as u64).read_to_end(&mut part)?;
                let last = part.len() < PART;
                send(&AskDocument::File { hash: file.hash.clone(), data: encoded(&part), last })?;
                if last {
                    break;
                }
            }
        }
        Ok(())
    }
}
