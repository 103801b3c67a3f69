//! Keep the changed runs of a located fault, so that the work can go on, and be reported without running the program.
//!
//! The file `attempts` begins with `stripe attempts 1` and a newline. Each further line is a record: a checksum, and
//! JSON. The first one is the setting, all that outcomes depend on besides the run; then come outputs, each once, and
//! attempts. A line that is not complete is the last one, torn when its writer died: it is cut off before anything is
//! appended.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tracer::program::FileId;

use super::error::ArchiveError;
use super::files::{create, hash, private, read_whole};
use super::folder::RunFolder;
use crate::locate::{Effect, EffectKind, FurtherTests, TestCoverage};
use crate::printed::{Edit, Printed, Rest};

const MAGIC: &str = "stripe attempts 1\n";

/// The key of an attempt in the journal: the run, and the change that is made in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AttemptKey {
    /// The run: 0 is the one under study.
    pub run: usize,
    /// The change, by its number.
    pub change: usize,
}

/// The recorded result of an attempt, which is a run with a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptSeen {
    /// The effect of the change.
    pub effect: Effect,
    /// Tells outputs apart.
    pub output: u64,
    /// The output of the run, if it is worth keeping.
    pub printed: Option<Printed>,
}

/// All that attempts depend on besides the recorded run; with another setting they mean something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptSetting {
    /// Stands for all changes in their order.
    pub changes: u64,
    /// The output of the run without a change and without a tracer.
    pub unchanged: Printed,
    /// The number of bytes of that before the first wrong one.
    pub first_wrong: Option<usize>,
    /// The further tests.
    pub tests: FurtherTests,
    /// Warnings that weaken the result; each one sentence.
    pub warnings: Vec<String>,
}

/// The content of the journal of attempts.
#[derive(Clone, Debug, Default)]
pub struct AttemptContent {
    /// Nothing if its writer has died before.
    pub setting: Option<AttemptSetting>,
    /// The attempts.
    pub attempts: HashMap<AttemptKey, AttemptSeen>,
    /// The time that the work has taken in all.
    pub elapsed: Duration,
    /// As many bytes hold complete records.
    length: u64,
}

/// The file, which is being written.
#[derive(Debug)]
pub struct AttemptJournal {
    path: PathBuf,
    open: Mutex<OpenFile>,
}

#[derive(Debug)]
struct OpenFile {
    /// `None` after a failure.
    file: Option<File>,
    /// The outputs that are written.
    outputs: HashSet<u128>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RecordDocument {
    Setting(SettingDocument),
    Output(PrintedDocument),
    Attempt(AttemptDocument),
}

#[derive(Serialize, Deserialize)]
struct SettingDocument {
    changes: u64,
    unchanged: PrintedDocument,
    first_wrong: Option<usize>,
    failing: usize,
    passing: usize,
    coverage: Vec<CoverageDocument>,
    warnings: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct CoverageDocument {
    fails: bool,
    /// Files by their numbers in the program, and lines.
    lines: Vec<(u32, u32)>,
}

#[derive(Serialize, Deserialize)]
struct AttemptDocument {
    run: usize,
    change: usize,
    #[serde(with = "EffectWord")]
    effect: EffectKind,
    common: usize,
    only_space: bool,
    output: u64,
    /// The number among the outputs of the file.
    printed: Option<u128>,
    elapsed_ms: u64,
}

#[derive(Serialize, Deserialize)]
struct PrintedDocument {
    stdout: EditDocument,
    stderr: EditDocument,
}

/// An output as a difference from the recorded text: the number of its bytes that come first, the bytes that follow
/// in hexadecimal, and the end.
#[derive(Serialize, Deserialize)]
struct EditDocument {
    start: usize,
    middle: String,
    #[serde(with = "RestWord")]
    rest: Rest,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "EffectKind", rename_all = "snake_case")]
enum EffectWord {
    Right,
    Undefined,
    Nearer,
    Changed,
    Unchanged,
    Crash,
    Cut,
    Untried,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Rest", rename_all = "snake_case")]
enum RestWord {
    Recorded(usize),
    Lost(usize),
}

impl RunFolder {
    fn attempts(&self) -> PathBuf {
        self.path.join("attempts")
    }

    /// Whether changes were tried in this run, and no search was made.
    pub fn is_located(&self) -> bool {
        self.attempts().exists()
    }

    /// A new, empty journal of changed runs.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin_attempts(&self) -> Result<AttemptJournal, ArchiveError> {
        let path = self.attempts();
        let file = create(&path).and_then(|mut file| file.write_all(MAGIC.as_bytes()).map(|()| file));
        let file = file.map_err(ArchiveError::unwritable(&path))?;
        let open = OpenFile { file: Some(file), outputs: HashSet::new() };
        Ok(AttemptJournal { path, open: Mutex::new(open) })
    }

    /// Reads the content of the journal of attempts.
    ///
    /// # Errors
    /// If it cannot be read, or is none.
    pub fn attempts_made(&self) -> Result<AttemptContent, ArchiveError> {
        AttemptContent::read(&self.attempts())
    }

    /// Opens the journal of attempts to resume it, and reads its content.
    ///
    /// # Errors
    /// As of [`RunFolder::attempts_made`], or if it cannot be written.
    pub fn resume_attempts(&self) -> Result<(AttemptJournal, AttemptContent), ArchiveError> {
        let path = self.attempts();
        let content = AttemptContent::read(&path)?;
        let open = || -> io::Result<File> {
            let mut file = private().open(&path)?;
            file.set_len(content.length)?;
            file.seek(io::SeekFrom::End(0))?;
            Ok(file)
        };
        let file = Some(open().map_err(ArchiveError::unwritable(&path))?);
        let printed = content.attempts.values().filter_map(|seen| seen.printed.as_ref());
        let open = OpenFile { file, outputs: printed.map(Printed::key).collect() };
        Ok((AttemptJournal { path, open: Mutex::new(open) }, content))
    }
}

impl AttemptJournal {
    /// Writes what attempts depend on.
    ///
    /// # Errors
    /// If it cannot be written; then nothing more is.
    pub fn set(&self, setting: &AttemptSetting) -> Result<(), ArchiveError> {
        self.append(&[RecordDocument::Setting(setting_document(setting))], None)
    }

    /// Appends an attempt, once `elapsed` has passed since the work was begun.
    ///
    /// # Errors
    /// If it cannot be written; then nothing more is.
    pub fn note(&self, key: AttemptKey, seen: &AttemptSeen, elapsed: Duration) -> Result<(), ArchiveError> {
        let Effect { kind, common, only_space } = seen.effect;
        let attempt = RecordDocument::Attempt(AttemptDocument {
            run: key.run,
            change: key.change,
            effect: kind,
            common,
            only_space,
            output: seen.output,
            printed: seen.printed.as_ref().map(Printed::key),
            elapsed_ms: elapsed.as_millis() as u64,
        });
        match &seen.printed {
            None => self.append(&[attempt], None),
            Some(printed) => {
                let output = RecordDocument::Output(printed_document(printed));
                self.append(&[output, attempt], Some(printed.key()))
            }
        }
    }

    /// Appends records; the first one is left out if it is an output that is there already.
    fn append(&self, records: &[RecordDocument], output: Option<u128>) -> Result<(), ArchiveError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = output.is_some_and(|key| !open.outputs.insert(key));
        let text: String = records.iter().skip(usize::from(is_known)).map(line).collect();
        let Some(file) = &mut open.file else { return Ok(()) };
        // At once, and not through a buffer: whoever kills this process wants to go on from here.
        let written = file.write_all(text.as_bytes());
        written.map_err(|error| {
            open.file = None;
            ArchiveError::unwritable(&self.path)(error)
        })
    }
}

impl AttemptContent {
    fn read(path: &Path) -> Result<AttemptContent, ArchiveError> {
        let bytes = read_whole(path).map_err(ArchiveError::unreadable(path))?;
        if !bytes.starts_with(MAGIC.as_bytes()) {
            let format = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).escape_default().to_string();
            return Err(ArchiveError::Format { path: path.into(), format, expected: "stripe attempts 1" });
        }
        let mut content = AttemptContent { length: MAGIC.len() as u64, ..AttemptContent::default() };
        let mut outputs = HashMap::new();
        for line in bytes[MAGIC.len()..].split_inclusive(|&byte| byte == b'\n') {
            let taken = record(line).and_then(|record| content.take(record, &mut outputs));
            if taken.is_none() {
                break;
            }
            content.length += line.len() as u64;
        }
        Ok(content)
    }

    /// Takes a record; `None` if it does not fit to what came before.
    fn take(&mut self, record: RecordDocument, outputs: &mut HashMap<u128, Printed>) -> Option<()> {
        match record {
            RecordDocument::Setting(document) => self.setting = Some(setting(document)?),
            RecordDocument::Output(document) => {
                let printed = printed(document)?;
                outputs.insert(printed.key(), printed);
            }
            RecordDocument::Attempt(document) => {
                let AttemptDocument { run, change, effect: kind, common, only_space, output, .. } = document;
                let printed = match document.printed {
                    Some(key) => Some(outputs.get(&key)?.clone()),
                    None => None,
                };
                let effect = Effect { kind, common, only_space };
                self.attempts.insert(AttemptKey { run, change }, AttemptSeen { effect, output, printed });
                self.elapsed = Duration::from_millis(document.elapsed_ms);
            }
        }
        Some(())
    }
}

fn line(record: &RecordDocument) -> String {
    let content = serde_json::to_string(record).expect("a record has text keys only");
    format!("{:032x} {content}\n", hash(content.as_bytes()))
}

/// The record in a line, if it is as it was written.
fn record(line: &[u8]) -> Option<RecordDocument> {
    let line = str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (check, content) = line.split_once(' ')?;
    let is_whole = check == format!("{:032x}", hash(content.as_bytes()));
    serde_json::from_str(content).ok().filter(|_| is_whole)
}

fn setting_document(setting: &AttemptSetting) -> SettingDocument {
    let coverage = |test: &TestCoverage| CoverageDocument {
        fails: test.fails,
        lines: test.lines.iter().map(|(file, line)| (file.0, *line)).collect(),
    };
    let FurtherTests { failing, passing, .. } = setting.tests;
    SettingDocument {
        changes: setting.changes,
        unchanged: printed_document(&setting.unchanged),
        first_wrong: setting.first_wrong,
        failing,
        passing,
        coverage: setting.tests.coverage.iter().map(coverage).collect(),
        warnings: setting.warnings.clone(),
    }
}

fn setting(document: SettingDocument) -> Option<AttemptSetting> {
    let coverage = |test: CoverageDocument| TestCoverage {
        lines: test.lines.into_iter().map(|(file, line)| (FileId(file), line)).collect(),
        fails: test.fails,
    };
    let SettingDocument { failing, passing, .. } = document;
    let coverage = document.coverage.into_iter().map(coverage).collect();
    Some(AttemptSetting {
        changes: document.changes,
        unchanged: printed(document.unchanged)?,
        first_wrong: document.first_wrong,
        tests: FurtherTests { coverage, failing, passing },
        warnings: document.warnings,
    })
}

fn printed_document(printed: &Printed) -> PrintedDocument {
    let edit = |edit: &Edit| EditDocument {
        start: edit.start,
        middle: edit.middle.iter().map(|byte| format!("{byte:02x}")).collect(),
        rest: edit.rest,
    };
    PrintedDocument { stdout: edit(&printed.stdout), stderr: edit(&printed.stderr) }
}

fn printed(document: PrintedDocument) -> Option<Printed> {
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    let edit = |edit: EditDocument| {
        let middle = edit.middle.as_bytes().chunks(2).map(byte).collect::<Option<Vec<u8>>>()?;
        Some(Edit { start: edit.start, middle, rest: edit.rest })
    };
    Some(Printed::new(edit(document.stdout)?, edit(document.stderr)?))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tracer::run::Run;

    use super::*;

    fn seen(number: usize) -> (AttemptKey, AttemptSeen) {
        let recorded = Run::with_output(b"sum = 15\n", b"");
        let printed = Printed::of(&Run::with_output(b"sum = \xff\n", b"oh"), &recorded);
        let kind = [EffectKind::Right, EffectKind::Undefined, EffectKind::Crash][number % 3];
        let effect = Effect { kind, common: number, only_space: number == 1 };
        let printed = Some(printed).filter(|_| number.is_multiple_of(2));
        let key = AttemptKey { run: number % 2, change: number };
        (key, AttemptSeen { effect, output: u64::MAX - number as u64, printed })
    }

    #[test]
    fn attempts_are_read_as_they_were_written_up_to_a_torn_one() {
        let directory = tempfile::tempdir().expect("a folder");
        let folder = RunFolder { path: directory.path().into(), number: None };
        assert!(!folder.is_located());
        let journal = folder.begin_attempts().expect("begun");
        let coverage = vec![TestCoverage { lines: [(FileId(1), 7)].into(), fails: true }];
        let setting = AttemptSetting {
            changes: u64::MAX,
            unchanged: seen(0).1.printed.expect("kept"),
            first_wrong: Some(3),
            tests: FurtherTests { coverage, failing: 1, passing: 2 },
            warnings: vec!["a \"warning\"".into()],
        };
        journal.set(&setting).expect("written");
        for number in 0..6 {
            let (key, seen) = seen(number);
            journal.note(key, &seen, Duration::from_millis(7)).expect("written");
        }
        drop(journal);
        let whole = fs::read(folder.attempts()).expect("written");
        for cut in MAGIC.len()..=whole.len() {
            fs::write(folder.attempts(), &whole[..cut]).expect("torn");
            let (journal, content) = folder.resume_attempts().expect("resumed");
            assert!(content.setting.is_none_or(|kept| kept == setting));
            let made = content.attempts.len();
            assert!((0..made).all(|number| content.attempts.get(&seen(number).0) == Some(&seen(number).1)));
            // The next record stands after the complete ones.
            let (key, next) = seen(8);
            journal.note(key, &next, Duration::ZERO).expect("written");
            drop(journal);
            let attempts = folder.attempts_made().expect("read").attempts;
            assert_eq!((attempts.len(), attempts.get(&key)), (made + 1, Some(&next)));
        }
        fs::write(folder.attempts(), "something else").expect("replaced");
        assert!(matches!(folder.attempts_made(), Err(ArchiveError::Format { .. })));
    }
}
