//! Keep what is known from the beginning of a search in which no statement is traced.
//!
//! Such a search has a folder like a run, `.stripe/<number>-<name>`, with a document of the command in place of that of
//! the run: `simplification.json` or `changes.json`. Its result has a document as well, once it has come to one.

use std::ffi::OsString;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::error::ArchiveError;
use super::files::{read_document, write_document};
use super::folder::RunFolder;
use super::texts::{TextDocument, os_strings, texts};

/// The kind of a search that traces no statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UntracedSearch {
    /// The inputs of a program.
    Simplification,
    /// The changes between two versions.
    Changes,
}

impl UntracedSearch {
    /// All.
    pub const ALL: [UntracedSearch; 2] = [UntracedSearch::Simplification, UntracedSearch::Changes];

    /// The document that is written when the search begins, and its format.
    fn document(self) -> (&'static str, &'static str) {
        match self {
            UntracedSearch::Simplification => ("simplification.json", "stripe.simplification/1"),
            UntracedSearch::Changes => ("changes.json", "stripe.changes-search/1"),
        }
    }

    /// The prefix of the names of its files of outcomes.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            UntracedSearch::Simplification => "simplify",
            UntracedSearch::Changes => "changes",
        }
    }

    /// The noun for such a search, in the singular.
    pub fn noun(self) -> &'static str {
        match self {
            UntracedSearch::Simplification => "simplification",
            UntracedSearch::Changes => "search for changes",
        }
    }
}

/// The command of such a search, which is kept from its beginning on.
#[derive(Clone, Debug)]
pub struct KeptCommand {
    /// When it was begun.
    pub started: SystemTime,
    /// The command line, without the name of this program.
    pub line: Vec<OsString>,
    /// The command in words, as the user gave it.
    pub command: Vec<String>,
    /// The failure in words.
    pub criterion: String,
    /// Stands for all that the outcomes of its tests depend on.
    pub question: u128,
}

#[derive(Serialize, Deserialize)]
struct CommandDocument {
    /// The version of the program that wrote it.
    stripe: String,
    /// Seconds since 1970.
    started: u64,
    command_line: Vec<TextDocument>,
    command: Vec<String>,
    criterion: String,
    /// In hexadecimal.
    question: String,
}

impl RunFolder {
    /// The kind of the kept search, if no statement was traced.
    pub fn untraced(&self) -> Option<UntracedSearch> {
        UntracedSearch::ALL.into_iter().find(|kind| self.path().join(kind.document().0).exists())
    }

    /// Writes what is known before the search.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin_untraced(&self, kind: UntracedSearch, kept: &KeptCommand) -> Result<(), ArchiveError> {
        let document = CommandDocument {
            stripe: env!("CARGO_PKG_VERSION").to_owned(),
            started: kept.started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            command_line: texts(&kept.line),
            command: kept.command.clone(),
            criterion: kept.criterion.clone(),
            question: format!("{:032x}", kept.question),
        };
        let (name, format) = kind.document();
        let path = self.path().join(name);
        write_document(&path, format, &document).map_err(ArchiveError::unwritable(&path))
    }

    /// Reads the command that was kept before the search.
    ///
    /// # Errors
    /// If it is not what was written.
    pub fn kept_command(&self, kind: UntracedSearch) -> Result<KeptCommand, ArchiveError> {
        let (name, format) = kind.document();
        let path = self.path().join(name);
        let document: CommandDocument = read_document(&path, format)?;
        let question = u128::from_str_radix(&document.question, 16);
        Ok(KeptCommand {
            started: UNIX_EPOCH + Duration::from_secs(document.started),
            line: os_strings(document.command_line),
            command: document.command,
            criterion: document.criterion,
            question: question.map_err(|error| ArchiveError::damaged(&path, error))?,
        })
    }
}
