//! Define the errors of kept runs, each with its remedy.

use std::io;
use std::path::{Path, PathBuf};

use tracer::trace_file::TraceFileError;

/// An error: a kept run cannot be found, read or written. Each message names the thing, the cause and the
/// remedy.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum ArchiveError {
    #[error("{}: there are no runs here: make one with `stripe run`, or go to the folder where it was made", .0.display())]
    NoRuns(PathBuf),
    #[error(
        "{}: none of the runs here is one of `stripe run`: `stripe runs` lists them, and a number names one",
        .0.display()
    )]
    NoSearches(PathBuf),
    #[error(
        "{}: no tests of this search are kept: it has come to its end, or the program, its arguments, environment or \
         files, or what the failure is differ; leave --resume out",
        .0.display()
    )]
    NoOutcomes(PathBuf),
    #[error("there is no run {0}: `stripe runs` lists those there are; a folder is named by its path")]
    NoSuchRun(String),
    #[error(
        "run {run} is a {what}, of which no statement was traced: `stripe report {run}` shows it; name another run"
    )]
    Untraced { run: String, what: &'static str },
    #[error("{}: {source}; name a run that can be read", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}: {source}; make room, or name another folder with --out", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("{}: holds no run, it ended before anything was recorded: run the command again", .0.display())]
    Empty(PathBuf),
    #[error("{}: has the format `{format}`, and this stripe reads `{expected}`: use the stripe that wrote it, or run the command again", path.display())]
    Format { path: PathBuf, format: String, expected: &'static str },
    #[error(
        "{}: its crash was kept by a stripe that did not tell which instruction crashed: use that stripe, or run the \
         command again (`stripe runs` shows it)",
        .0.display()
    )]
    OldCrash(PathBuf),
    #[error("{}: is damaged ({what}): run the command again", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("{}: is no longer the program of this run: {how}; restore it as it was, or run the command again", program.display())]
    OtherProgram { program: PathBuf, how: String },
    #[error("{}: another stripe is at work on this run{}: wait for its end, or end it", path.display(), process.map_or_else(String::new, |process| format!(", process {process}")))]
    Busy { path: PathBuf, process: Option<u32> },
    #[error("{}: exists and is not empty: give --out another folder", .0.display())]
    Occupied(PathBuf),
    #[error(transparent)]
    Trace(#[from] TraceFileError),
}

impl ArchiveError {
    /// Creates errors about a file that cannot be read.
    pub(super) fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
        move |source| ArchiveError::Unreadable { path: path.into(), source }
    }

    /// Creates errors about a file that cannot be written.
    pub(super) fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> ArchiveError {
        move |source| ArchiveError::Unwritable { path: path.into(), source }
    }

    /// Creates an error about a file whose content is not what was written.
    pub(super) fn damaged(path: &Path, what: impl ToString) -> ArchiveError {
        ArchiveError::Damaged { path: path.into(), what: what.to_string() }
    }
}
