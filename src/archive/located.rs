//! Keep what `stripe locate` was asked, and how its work has ended.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tracer::Containment;
use tracer::invocation::Input;
use tracer::trace::EventId;

use super::contents::{read_if_there, remove};
use super::documents::{LocateDocument, LocateTestDocument};
use super::error::ArchiveError;
use super::files::write_document;
use super::folder::RunFolder;
use super::words::{ContainmentWord, StatusWord};
use crate::circumstances::Status;
use crate::locate::{LocateTest, OnTests, Spacing, ValueChoice};

/// The format of `located.json`.
const LOCATED: &str = "stripe.located/1";

/// The settings of `stripe locate` besides those that every run has.
#[derive(Clone, Debug)]
pub struct KeptLocate {
    /// Whether white space counts.
    pub spacing: Spacing,
    /// Whether other values are tried.
    pub values: ValueChoice,
    /// The test that is the run under study, if it is one.
    pub studied: Option<String>,
    /// The further tests.
    pub tests: Vec<LocateTest>,
}

/// The end of a located fault's work: its status, and its result in numbers.
#[derive(Clone, Debug)]
pub struct LocatedEnd {
    /// Whether all changes were tried.
    pub status: Status,
    /// The containment of the runs.
    pub containment: Containment,
    /// The number of changes that make the run right.
    pub right: usize,
    /// The number of runs with changes that were made.
    pub runs: u64,
    /// The time that the work has taken.
    pub elapsed: Duration,
    /// The effects of changes on further tests, by the numbers of the changes.
    pub on_tests: Vec<(usize, OnTests)>,
    /// The values that executions have read whose change helps.
    pub values: BTreeMap<EventId, String>,
}

#[derive(Serialize, Deserialize)]
struct EndedDocument {
    #[serde(with = "StatusWord")]
    status: Status,
    #[serde(with = "ContainmentWord")]
    containment: Containment,
    right: usize,
    runs: u64,
    elapsed_ms: u64,
    /// A change, how many failing tests it repairs, and how many passing ones it breaks.
    on_tests: Vec<(usize, usize, usize)>,
    /// The number of an event, and the values that it has read.
    #[serde(default)]
    values: Vec<(u32, String)>,
}

impl RunFolder {
    fn located_path(&self) -> PathBuf {
        self.path.join("located.json")
    }

    /// Writes how the work has ended.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn conclude_located(&self, end: &LocatedEnd) -> Result<(), ArchiveError> {
        let LocatedEnd { status, right, runs, elapsed, .. } = *end;
        let containment = end.containment.clone();
        let elapsed_ms = elapsed.as_millis() as u64;
        let on_tests = end.on_tests.iter().map(|(change, with)| (*change, with.repaired, with.broken));
        let on_tests = on_tests.collect();
        let values = end.values.iter().map(|(event, values)| (event.0, values.clone())).collect();
        let document = EndedDocument { status, containment, right, runs, elapsed_ms, on_tests, values };
        let path = self.located_path();
        write_document(&path, LOCATED, &document).map_err(ArchiveError::unwritable(&path))
    }

    /// Reads the end of the work; `None` if it has not ended.
    ///
    /// # Errors
    /// If what is kept is not what was written.
    pub fn located_end(&self) -> Result<Option<LocatedEnd>, ArchiveError> {
        let Some(document) = read_if_there(&self.located_path(), &[LOCATED])? else { return Ok(None) };
        let EndedDocument { status, containment, right, runs, elapsed_ms, on_tests, values } = document;
        let elapsed = Duration::from_millis(elapsed_ms);
        let with = |(change, repaired, broken)| (change, OnTests { repaired, broken });
        let on_tests = on_tests.into_iter().map(with).collect();
        let values = values.into_iter().map(|(event, values)| (EventId(event), values)).collect();
        Ok(Some(LocatedEnd { status, containment, right, runs, elapsed, on_tests, values }))
    }

    /// Takes away how the work has ended, because it goes on.
    ///
    /// # Errors
    /// If it cannot be taken away.
    pub fn reopen_located(&self) -> Result<(), ArchiveError> {
        remove(&self.located_path())
    }
}

pub(super) fn locate_document(kept: &KeptLocate) -> LocateDocument {
    let test = |test: &LocateTest| LocateTestDocument {
        name: test.name.clone(),
        arguments: test.arguments.clone(),
        input: test.stdin.to_vec(),
        reference: test.reference.as_ref().map(|text| text.to_vec()),
        passes: test.passes,
    };
    LocateDocument {
        ignore_space: kept.spacing == Spacing::Ignored,
        values: kept.values == ValueChoice::Tried,
        studied: kept.studied.clone(),
        tests: kept.tests.iter().map(test).collect(),
    }
}

pub(super) fn kept_locate(document: LocateDocument) -> KeptLocate {
    let test = |test: LocateTestDocument| LocateTest {
        name: test.name,
        arguments: test.arguments,
        stdin: Input::new(test.input),
        reference: test.reference.map(Into::into),
        passes: test.passes,
    };
    KeptLocate {
        spacing: if document.ignore_space { Spacing::Ignored } else { Spacing::Exact },
        values: if document.values { ValueChoice::Tried } else { ValueChoice::None },
        studied: document.studied,
        tests: document.tests.into_iter().map(test).collect(),
    }
}
