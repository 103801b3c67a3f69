//! Summarise kept runs in numbers, for a list.

use std::ffi::OsString;
use std::time::SystemTime;

use super::commands::UntracedSearch;
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

/// The size of the kept result of a search, in its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptSize {
    /// Statement executions.
    Executions(usize),
    /// Bytes of what the program is given.
    Bytes(usize),
    /// Changes between two versions.
    Changes(usize),
    /// Changes of a failing run that make it right: what `stripe locate` has found.
    Repairs(usize),
}

/// The progress of a search, in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchProgress {
    /// The name of its criterion, if there are several.
    pub name: Option<String>,
    /// The state of the search.
    pub stage: Stage,
    /// The size of the result; `None` before the first improvement.
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
}

impl RunFolder {
    /// Summarises the run for a list.
    ///
    /// # Errors
    /// If the folder holds no run, or not what was written.
    pub fn entry(&self) -> Result<Entry, ArchiveError> {
        if let Some(kind) = self.untraced() {
            return self.untraced_entry(kind);
        }
        let document = self.document()?;
        let (several, events) = (&document.criterion.several, document.recorded.events);
        let parts: Vec<Option<&str>> = match several.is_empty() {
            true => vec![None],
            false => several.iter().map(|part| Some(&part.name[..])).collect(),
        };
        let progress = match document.locate.is_some() {
            true => vec![self.progress_of_attempts()?],
            false => parts.into_iter().map(|part| self.progress(part, events)).collect::<Result<_, _>>()?,
        };
        Ok(Entry {
            started: convert::started(&document),
            progress,
            criterion: document.criterion.described,
            line: texts::os_strings(document.command_line),
            command: document.command,
        })
    }

    /// The progress of `stripe locate`.
    fn progress_of_attempts(&self) -> Result<SearchProgress, ArchiveError> {
        if let Some(LocatedEnd { status, right, runs, .. }) = self.located_end()? {
            return Ok(SearchProgress {
                name: None,
                stage: Stage::Ended(status),
                kept: Some(KeptSize::Repairs(right)),
                tests: runs,
            });
        }
        let attempts = self.attempts_made()?.attempts;
        let right =
            attempts.iter().filter(|(key, seen)| key.run == 0 && seen.effect.kind == EffectKind::Right);
        let stage = if self.is_claimed() { Stage::Running } else { Stage::Unfinished };
        let kept = Some(KeptSize::Repairs(right.count()));
        Ok(SearchProgress { name: None, stage, kept, tests: attempts.len() as u64 })
    }

    /// The end of a search in which no statement is traced: its status, what is left, and the number of tests; `None` if it
    /// has not ended.
    fn untraced_end(&self, kind: UntracedSearch) -> Result<Option<(Status, KeptSize, u64)>, ArchiveError> {
        Ok(match kind {
            UntracedSearch::Simplification => self
                .simplification_progress()?
                .map(|found| (found.status, KeptSize::Bytes(found.bytes), found.tests)),
            UntracedSearch::Changes => self
                .changes_progress()?
                .map(|found| (found.status, KeptSize::Changes(found.left), found.tests)),
        })
    }

    /// True if a search in which no statement is traced has more to do, as far as can be read.
    pub fn is_unfinished(&self, kind: UntracedSearch) -> bool {
        self.untraced_end(kind).is_ok_and(|end| end.is_none_or(|(status, ..)| status.is_early()))
    }

    /// The entry of a search in which no statement is traced.
    fn untraced_entry(&self, kind: UntracedSearch) -> Result<Entry, ArchiveError> {
        let kept = self.kept_command(kind)?;
        let found = self.untraced_end(kind)?;
        let stage = match &found {
            Some((status, ..)) => Stage::Ended(*status),
            None if self.is_claimed() => Stage::Running,
            None => Stage::Unfinished,
        };
        let progress = SearchProgress {
            name: None,
            stage,
            kept: found.map(|(_, kept, _)| kept),
            tests: found.map_or(0, |(.., tests)| tests),
        };
        Ok(Entry {
            started: kept.started,
            line: kept.line,
            command: kept.command,
            criterion: kept.criterion,
            progress: vec![progress],
        })
    }

    /// The progress of the search.
    ///
    /// # Errors
    /// If its files are not what was written.
    pub fn progress(&self, part: Option<&str>, events: usize) -> Result<SearchProgress, ArchiveError> {
        let (name, journal) = (part.map(str::to_owned), self.part(part).join("journal"));
        if let Some(result) = self.result_document(part)? {
            let tests = result.tests.made();
            let kept = Some(KeptSize::Executions(result.needed.len() + result.untried.count));
            let stage = Stage::Ended(result.status);
            return Ok(SearchProgress { name, stage, kept, tests });
        }
        let content = JournalContent::read(&journal, events)?;
        let stage = if Journal::is_locked(&journal) { Stage::Running } else { Stage::Unfinished };
        let kept = content.phases.first().map(|phase| KeptSize::Executions(phase.best.len()));
        Ok(SearchProgress { name, stage, kept, tests: content.tests() as u64 })
    }
}
