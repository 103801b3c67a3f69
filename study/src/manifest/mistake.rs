//! Mistakes in a manifest: where, what, and what to do.

use std::fmt;
use std::path::{Path, PathBuf};

/// A mistake in a manifest, or in a file that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The file.
    pub file: PathBuf,
    /// The line in it, from 1.
    pub line: usize,
    /// The mistake, and what to do.
    pub what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.what)
    }
}

/// The remedy for a file that does not exist.
pub(crate) fn remedy(path: &str) -> &'static str {
    match Path::new(path).is_absolute() {
        true => "it may be a path of another machine; write it relative to the manifest",
        false => "paths begin where the manifest lies, those of a fault in its `directory`",
    }
}
