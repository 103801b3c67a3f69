//! Keep the outcomes of the tests of a simplification, so that it can go on after it was ended.
//!
//! The file is `.stripe/simplify-<question>`, where the question is a hash of all that outcomes depend
//! on. It begins with `stripe outcomes 2` and a newline; each further line is an outcome: a checksum, the hash
//! of what the program was given, and what that has shown, as JSON. A line that is not complete is the last
//! one, torn when its writer died. The file is removed when nothing is left to do.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::claim::lock;
use super::documents::SeenDocument;
use super::error::ArchiveError;
use super::files::{hash, private, read_whole};
use super::folder::Archive;
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
    /// If the file cannot be written, or another process works on the same question.
    pub fn begin(archive: &Archive, question: u128) -> Result<OutcomeJournal, ArchiveError> {
        let path = archive.make_file(&name(question))?;
        let file = private().create(true).truncate(false).open(&path);
        let mut file = lock(file.map_err(ArchiveError::unwritable(&path))?, &path)?;
        let begun = file.set_len(0).and_then(|()| file.write_all(MAGIC.as_bytes()));
        begun.map_err(ArchiveError::unwritable(&path))?;
        Ok(OutcomeJournal { path, file: Mutex::new(Some(file)) })
    }

    /// Reopens the journal of a question, and returns the outcomes that it holds.
    ///
    /// # Errors
    /// If there is none for this question, or it cannot be read or written, or another process works on it.
    pub fn resume(
        archive: &Archive,
        question: u128,
    ) -> Result<(OutcomeJournal, HashMap<u128, Evidence>), ArchiveError> {
        let path = archive.file(&name(question));
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
    pub fn note(&self, given: u128, evidence: &Evidence) -> Result<(), ArchiveError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = file.as_mut() else { return Ok(()) };
        // At once, without a buffer: a process that is killed can go on from here.
        let written = open.write_all(line(given, evidence).as_bytes());
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

fn name(question: u128) -> String {
    format!("simplify-{question:032x}")
}

fn line(given: u128, evidence: &Evidence) -> String {
    let seen = serde_json::to_string(&SeenDocument::of(evidence)).expect("a document has text keys only");
    let content = format!("{given:032x} {seen}");
    format!("{:032x} {content}\n", hash(content.as_bytes()))
}

/// Reads the outcomes in a file; with the length of its undamaged beginning.
fn read(text: &[u8], path: &Path) -> Result<(HashMap<u128, Evidence>, usize), ArchiveError> {
    let mut outcomes = HashMap::new();
    if !text.starts_with(MAGIC.as_bytes()) {
        let format = String::from_utf8_lossy(&text[..text.len().min(40)]).escape_default().to_string();
        return Err(ArchiveError::Format { path: path.into(), format, expected: "stripe outcomes 2" });
    }
    let mut length = MAGIC.len();
    for line in text[length..].split_inclusive(|&byte| byte == b'\n') {
        let Some((given, evidence)) = outcome(line) else { break };
        outcomes.insert(given, evidence);
        length += line.len();
    }
    Ok((outcomes, length))
}

/// Parses the outcome in a line, if its checksum is right.
fn outcome(line: &[u8]) -> Option<(u128, Evidence)> {
    let line = str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (check, content) = line.split_once(' ')?;
    if check != format!("{:032x}", hash(content.as_bytes())) {
        return None;
    }
    let (given, seen) = content.split_once(' ')?;
    let seen: SeenDocument = serde_json::from_str(seen).ok()?;
    Some((u128::from_str_radix(given, 16).ok()?, seen.evidence()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dd::Outcome;

    #[test]
    fn outcomes_are_read_as_they_were_written_up_to_a_torn_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = Archive::of(folder.path());
        assert!(matches!(OutcomeJournal::resume(&archive, 7), Err(ArchiveError::NoOutcomes(_))));
        let journal = OutcomeJournal::begin(&archive, 7).expect("begun");
        let some = [
            (1, Evidence::new(Outcome::Fail, "a \"reason\"\nin two lines")),
            (u128::MAX, Evidence::new(Outcome::Pass, "")),
            (3, Evidence::new(Outcome::Unresolved, "é")),
            (4, Evidence::other_failure("crashed", "SIGSEGV at a.c:3".into())),
        ];
        some.iter().for_each(|(given, evidence)| journal.note(*given, evidence).expect("written"));
        drop(journal);
        let path = archive.file(&name(7));
        let whole = fs::read(&path).expect("written");
        for cut in MAGIC.len()..=whole.len() {
            fs::write(&path, &whole[..cut]).expect("torn");
            let (journal, outcomes) = OutcomeJournal::resume(&archive, 7).expect("resumed");
            let complete = whole[MAGIC.len()..cut].iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(outcomes.len(), complete);
            assert!(some[..complete].iter().all(|(given, evidence)| outcomes.get(given) == Some(evidence)));
            // What comes next stands after what is complete.
            journal.note(9, &some[0].1).expect("written");
            drop(journal);
            assert_eq!(OutcomeJournal::resume(&archive, 7).expect("resumed").1.len(), complete + 1);
        }
        let mut damaged = whole.clone();
        damaged[MAGIC.len() + 40] ^= 1;
        fs::write(&path, &damaged).expect("damaged");
        assert!(OutcomeJournal::resume(&archive, 7).expect("resumed").1.is_empty());
        fs::write(&path, "something else").expect("replaced");
        assert!(matches!(OutcomeJournal::resume(&archive, 7), Err(ArchiveError::Format { .. })));
    }
}
