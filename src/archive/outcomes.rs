//! Keep the outcomes of the tests of a search in which no statement is traced, so that it can go on after it was ended.
//!
//! The file is `.stripe/simplify-<question>` or `.stripe/changes-<question>`, where the question is a hash of all that
//! outcomes depend on. It begins with `stripe outcomes 2` and a newline; each further line is an outcome: a checksum, the
//! hash of what was tested, and what that has shown, as JSON. A line that is not complete is the last one, torn when its
//! writer died. The file is removed when nothing is left to do.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::claim::lock;
use super::commands::UntracedSearch;
use super::documents::SeenDocument;
use super::error::ArchiveError;
use super::files::{hash, private, read_whole};
use super::folder::Archive;
use super::guilty_tests::{OutcomeDocument, examination, examination_document};
use crate::circumstances::change::Examination;
use crate::oracle::Evidence;

const MAGIC: &str = "stripe outcomes 2\n";

/// The journal of a simplification's outcomes, open for writing. The file is locked as long as this lives.
#[derive(Debug)]
pub struct OutcomeJournal {
    path: PathBuf,
    /// The file; `None` after a write has failed.
    file: Mutex<Option<File>>,
}

impl OutcomeJournal {
    /// Creates a new, empty journal.
    ///
    /// # Errors
    /// If the file cannot be written, or another process is at work on the same question.
    pub fn begin(
        archive: &Archive,
        kind: UntracedSearch,
        question: u128,
    ) -> Result<OutcomeJournal, ArchiveError> {
        let path = archive.make_file(&name(kind, question))?;
        let file = private().create(true).truncate(false).open(&path);
        let mut file = lock(file.map_err(ArchiveError::unwritable(&path))?, &path)?;
        let begun = file.set_len(0).and_then(|()| file.write_all(MAGIC.as_bytes()));
        begun.map_err(ArchiveError::unwritable(&path))?;
        Ok(OutcomeJournal { path, file: Mutex::new(Some(file)) })
    }

    /// Reopens the journal of a question, and returns the outcomes that it holds.
    ///
    /// # Errors
    /// If there is none for this question, or it cannot be read or written, or another process is at work on it.
    pub fn resume<T: TestSeen>(
        archive: &Archive,
        kind: UntracedSearch,
        question: u128,
    ) -> Result<(OutcomeJournal, HashMap<u128, T>), ArchiveError> {
        let path = archive.file(&name(kind, question));
        let file = match private().open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ArchiveError::NoOutcomes(path));
            }
            file => file.map_err(ArchiveError::unreadable(&path))?,
        };
        let mut file = lock(file, &path)?;
        let text = read_whole(&path).map_err(ArchiveError::unreadable(&path))?;
        let (outcomes, length) = read(&text, &path)?;
        let cut = file.set_len(length as u64).and_then(|()| file.seek(io::SeekFrom::End(0)));
        cut.map_err(ArchiveError::unwritable(&path))?;
        Ok((OutcomeJournal { path, file: Mutex::new(Some(file)) }, outcomes))
    }

    /// Appends the outcome of the test whose input has this hash. After an error nothing more is written.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn note<T: TestSeen>(&self, tested: u128, seen: &T) -> Result<(), ArchiveError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = file.as_mut() else { return Ok(()) };
        // At once, and not through a buffer: whoever kills this process wants to go on from here.
        let written = open.write_all(line(tested, seen).as_bytes());
        written.map_err(|error| {
            *file = None;
            ArchiveError::unwritable(&self.path)(error)
        })
    }

    /// Removes the file: nothing is left to do.
    pub fn remove(self) {
        // If it cannot be removed, the next search for the same overwrites it.
        let _ = fs::remove_file(&self.path);
    }
}

fn name(kind: UntracedSearch, question: u128) -> String {
    format!("{}-{question:032x}", kind.prefix())
}

fn line<T: TestSeen>(tested: u128, seen: &T) -> String {
    let content = format!("{tested:032x} {}", seen.document());
    format!("{:032x} {content}\n", hash(content.as_bytes()))
}

/// The evidence of a test, as it is kept.
pub trait TestSeen: Sized {
    /// The evidence as a document.
    fn document(&self) -> Value;

    /// The evidence that a document describes; `None` if it describes none.
    fn restored(document: Value) -> Option<Self>;
}

const NO_OTHER_KEYS: &str = "a document has text keys only";

impl TestSeen for Evidence {
    fn document(&self) -> Value {
        serde_json::to_value(SeenDocument::of(self)).expect(NO_OTHER_KEYS)
    }

    fn restored(document: Value) -> Option<Evidence> {
        serde_json::from_value(document).ok().map(SeenDocument::evidence)
    }
}

impl TestSeen for Examination {
    fn document(&self) -> Value {
        let seen = (OutcomeDocument(self.evidence.outcome), examination_document(self, usize::MAX));
        serde_json::to_value(seen).expect(NO_OTHER_KEYS)
    }

    fn restored(document: Value) -> Option<Examination> {
        let (OutcomeDocument(outcome), seen) = serde_json::from_value(document).ok()?;
        Some(examination(outcome, seen))
    }
}

/// The outcomes in a file, and the length of what is as it was written.
fn read<T: TestSeen>(text: &[u8], path: &Path) -> Result<(HashMap<u128, T>, usize), ArchiveError> {
    let mut outcomes = HashMap::new();
    if !text.starts_with(MAGIC.as_bytes()) {
        let format = String::from_utf8_lossy(&text[..text.len().min(40)]).escape_default().to_string();
        return Err(ArchiveError::Format { path: path.into(), format, expected: "stripe outcomes 2" });
    }
    let mut length = MAGIC.len();
    for line in text[length..].split_inclusive(|&byte| byte == b'\n') {
        let Some((tested, seen)) = outcome(line) else { break };
        outcomes.insert(tested, seen);
        length += line.len();
    }
    Ok((outcomes, length))
}

/// The outcome in a line, if it is as it was written.
fn outcome<T: TestSeen>(line: &[u8]) -> Option<(u128, T)> {
    let line = str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (check, content) = line.split_once(' ')?;
    if check != format!("{:032x}", hash(content.as_bytes())) {
        return None;
    }
    let (tested, seen) = content.split_once(' ')?;
    let seen = T::restored(serde_json::from_str(seen).ok()?)?;
    Some((u128::from_str_radix(tested, 16).ok()?, seen))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dd::Outcome;

    const KIND: UntracedSearch = UntracedSearch::Simplification;

    fn resume(archive: &Archive) -> Result<(OutcomeJournal, HashMap<u128, Evidence>), ArchiveError> {
        OutcomeJournal::resume(archive, KIND, 7)
    }

    #[test]
    fn outcomes_are_read_as_they_were_written_up_to_a_torn_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = Archive::of(folder.path());
        assert!(matches!(resume(&archive), Err(ArchiveError::NoOutcomes(_))));
        let journal = OutcomeJournal::begin(&archive, KIND, 7).expect("begun");
        let some = [
            (1, Evidence::new(Outcome::Fail, "a \"reason\"\nin two lines")),
            (u128::MAX, Evidence::new(Outcome::Pass, "")),
            (3, Evidence::new(Outcome::Unresolved, "é")),
            (4, Evidence::other_failure("crashed", "SIGSEGV at a.c:3".into())),
        ];
        some.iter().for_each(|(given, evidence)| journal.note(*given, evidence).expect("written"));
        drop(journal);
        let path = archive.file(&name(KIND, 7));
        let whole = fs::read(&path).expect("written");
        for cut in MAGIC.len()..=whole.len() {
            fs::write(&path, &whole[..cut]).expect("torn");
            let (journal, outcomes) = resume(&archive).expect("resumed");
            let complete = whole[MAGIC.len()..cut].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(outcomes.len(), complete);
            assert!(some[..complete].iter().all(|(given, evidence)| outcomes.get(given) == Some(evidence)));
            // The next record stands after the complete ones.
            journal.note(9, &some[0].1).expect("written");
            drop(journal);
            assert_eq!(resume(&archive).expect("resumed").1.len(), complete + 1);
        }
        let mut damaged = whole.clone();
        damaged[MAGIC.len() + 40] ^= 1;
        fs::write(&path, &damaged).expect("damaged");
        assert!(resume(&archive).expect("resumed").1.is_empty());
        fs::write(&path, "something else").expect("replaced");
        assert!(matches!(resume(&archive), Err(ArchiveError::Format { .. })));
    }
}
