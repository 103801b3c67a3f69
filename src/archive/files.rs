//! Write files atomically, and check them when they are read.

use std::fs::{self, File, OpenOptions};
use std::hash::Hasher;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use siphasher::sip128::{Hasher128, SipHasher13};
use tracer::Bytes;

use super::error::ArchiveError;

/// A hash of these bytes.
pub(super) fn hash(bytes: &[u8]) -> u128 {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes);
    hasher.finish128().as_u128()
}

/// The envelope of a document: its format and a checksum.
#[derive(Serialize, Deserialize)]
struct Envelope {
    /// The name and version of the content.
    format: String,
    /// The checksum of the content, in hexadecimal.
    check: String,
    content: Value,
}

/// Writes a document with its format and a checksum.
pub(super) fn write_document<T: Serialize>(path: &Path, format: &str, content: &T) -> io::Result<()> {
    let content = serde_json::to_value(content)?;
    let check = check(&content);
    let envelope = Envelope { format: format.to_owned(), check, content };
    let mut text = serde_json::to_vec_pretty(&envelope)?;
    text.push(b'\n');
    write_whole(path, &text)
}

/// Reads a document that must have this format.
pub(super) fn read_document<T: DeserializeOwned>(
    path: &Path,
    format: &'static str,
) -> Result<T, ArchiveError> {
    read_document_of(path, &[format])
}

/// Reads a document that must have one of these formats, the present one first.
pub(super) fn read_document_of<T: DeserializeOwned>(
    path: &Path,
    formats: &[&'static str],
) -> Result<T, ArchiveError> {
    let text = read_whole(path).map_err(ArchiveError::unreadable(path))?;
    let envelope: Envelope = serde_json::from_slice(&text).map_err(|e| ArchiveError::damaged(path, e))?;
    if !formats.contains(&&envelope.format[..]) {
        return Err(ArchiveError::Format {
            path: path.into(),
            format: envelope.format.escape_default().to_string(),
            expected: formats[0],
        });
    }
    if check(&envelope.content) != envelope.check {
        return Err(ArchiveError::damaged(path, "its checksum is wrong"));
    }
    serde_json::from_value(envelope.content).map_err(|error| ArchiveError::damaged(path, error))
}

/// The length, in bytes, of the longest file that is read.
const LONGEST: u64 = 8 << 30;

/// Reads a whole file of a kept run. Others may have put a pipe or a device there, which has no end.
pub(super) fn read_whole(path: &Path) -> io::Result<Bytes> {
    match fs::metadata(path)? {
        data if !data.is_file() => Err(io::Error::other("is no file")),
        _ => Bytes::read_at_most(File::open(path)?, LONGEST),
    }
}

/// The checksum of a document. Keys are in the order of the alphabet, so that equal contents have equal checksums.
fn check(content: &Value) -> String {
    format!("{:032x}", hash(content.to_string().as_bytes()))
}

/// Creates a file that nobody else may read, whatever the folder allows: the environment may hold secrets,
/// the output anything.
pub(super) fn create(path: &Path) -> io::Result<File> {
    private().create(true).truncate(true).open(path)
}

/// The options to open files of kept runs; new ones are for their owner alone.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    options
}

/// Replaces a file atomically: at any time either the old or the new one is there, even after a power cut.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("new");
    let write = || {
        let mut file = create(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().inspect_err(|_| drop(fs::remove_file(&temporary)))
}
