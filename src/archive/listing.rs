//! Summarise kept runs in numbers, for a list.

use std::ffi::OsString;
use std::time::SystemTime;

use super::error::ArchiveError;
use super::folder::RunFolder;
use super::journal::{Journal, JournalContent};
use super::located::LocatedEnd;
use super::{convert, texts};
use crate::circumstances::Status;
use crate::locate::EffectKind;

/// The state of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It has ended.
    Ended(Status),
    /// Another process works on it.
    Running,
    /// It was ended from outside before it could say so.
    Unfinished,
}

/// How much a search has kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptSize {
    /// Statement executions.
    Executions(usize),
    /// Bytes of what the program is given.
    Bytes(usize),
    /// Changes that make the run right.
    Changes(usize),
}

/// The progress of a search, in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchProgress {
    /// The name of its criterion, if there are several.
    pub name: Option<String>,
    /// The state of the search.
    pub stage: Stage,
    /// What is kept; `None` before the first improvement.
    pub kept: Option<KeptSize>,
    /// The number of tests that were made.
    pub tests: u64,
}

/// A run in a list.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The time at which it was begun.
    pub started: SystemTime,
    /// The command line, without the name of this program.
    pub line: Vec<OsString>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The criterion in words; of several, their names.
    pub criterion: String,
    /// The progress, one for each criterion.
    pub progress: Vec<SearchProgress>,
    /// Whether `stripe locate` has made it: then what is kept are the changes that make the run right.
    pub is_located: bool,
}

impl RunFolder {
    /// Summarises the run for a list.
    ///
    /// # Errors
    /// If the folder holds no run, or not what was written.
    pub fn entry(&self) -> Result<Entry, ArchiveError> {
        if self.is_simplification() {
            return self.simplification_entry();
        }
        let document = self.document()?;
        let (several, events) = (&document.criterion.several, document.recorded.events);
        let parts: Vec<Option<&str>> = match several.is_empty() {
            true => vec![None],
            false => several.iter().map(|part| Some(&part.name[..])).collect(),
        };
        let is_located = document.locate.is_some();
        let progress = match is_located {
            true => vec![self.progress_of_attempts()?],
            false => parts.into_iter().map(|part| self.progress(part, events)).collect::<Result<_, _>>()?,
        };
        Ok(Entry {
            started: convert::started(&document),
            progress,
            is_located,
            criterion: document.criterion.described,
            line: texts::os_strings(document.command_line),
            command: document.command,
        })
    }

    /// How far `stripe locate` has come.
    fn progress_of_attempts(&self) -> Result<SearchProgress, ArchiveError> {
        if let Some(LocatedEnd { status, right, runs, .. }) = self.located_end()? {
            return Ok(SearchProgress {
                name: None,
                stage: Stage::Ended(status),
                kept: Some(KeptSize::Changes(right)),
                tests: runs,
            });
        }
        let attempts = self.attempts_made()?.attempts;
        let right =
            attempts.iter().filter(|(key, seen)| key.run == 0 && seen.effect.kind == EffectKind::Right);
        let stage = if self.is_claimed() { Stage::Running } else { Stage::Unfinished };
        Ok(SearchProgress {
            name: None,
            stage,
            kept: Some(KeptSize::Changes(right.count())),
            tests: attempts.len() as u64,
        })
    }

    fn simplification_entry(&self) -> Result<Entry, ArchiveError> {
        let (kept, found) = (self.kept_simplification()?, self.simplification_progress()?);
        let stage = match &found {
            Some(found) => Stage::Ended(found.status),
            None if Journal::is_locked(&self.path().join("owner")) => Stage::Running,
            None => Stage::Unfinished,
        };
        let progress = SearchProgress {
            name: None,
            stage,
            kept: found.map(|found| KeptSize::Bytes(found.bytes)),
            tests: found.map_or(0, |found| found.tests),
        };
        Ok(Entry {
            started: kept.started,
            line: kept.line,
            command: kept.command,
            criterion: kept.criterion,
            progress: vec![progress],
            is_located: false,
        })
    }

    /// The progress of the search.
    ///
    /// # Errors
    /// If its files are not what was written.
    pub fn progress(&self, part: Option<&str>, events: usize) -> Result<SearchProgress, ArchiveError> {
        let (name, journal) = (part.map(str::to_owned), self.part(part).join("journal"));
        if let Some(result) = self.result_document(part)? {
            let tests = &result.tests;
            let tests = tests.reproduced + tests.not_reproduced + tests.unresolved;
            let (stage, kept) =
                (Stage::Ended(result.status), Some(KeptSize::Executions(result.needed.len())));
            return Ok(SearchProgress { name, stage, kept, tests });
        }
        let content = JournalContent::read(&journal, events)?;
        let stage = if Journal::is_locked(&journal) { Stage::Running } else { Stage::Unfinished };
        let kept = content.phases.first().map(|phase| KeptSize::Executions(phase.best.len()));
        Ok(SearchProgress { name, stage, kept, tests: content.tests() as u64 })
    }
}
