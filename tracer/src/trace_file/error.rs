//! Errors of trace files: why one cannot be used, and what to do about it.

use std::io;
use std::path::PathBuf;

/// The reason why a trace cannot be read from a file. Each message names the file, the cause and the remedy.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum TraceFileError {
    #[error("{}: {source}; name a trace file that can be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}: is not a trace file: name one that stripe has written", .0.display())]
    Foreign(PathBuf),
    #[error("{}: is a trace file of version {version}, and this is a stripe for version 1: record the run again", path.display())]
    Version { path: PathBuf, version: String },
    #[error("{}: is damaged ({what}): record the run again", path.display())]
    Damaged { path: PathBuf, what: &'static str },
    #[error("{}: belongs to another program: {how}; restore the program as it was, or record the run again", path.display())]
    OtherProgram { path: PathBuf, how: String },
}
