//! Write a run into its folder, and read it again.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use tracer::program::Program;
use tracer::trace::Trace;
use tracer::trace_file::{self, Identity};

use super::convert;
use super::documents::{FileDocument, RESULT, RUN, ResultDocument, RunDocument};
use super::error::ArchiveError;
use super::files::{hash, read_document, write_document};
use super::folder::RunFolder;
use super::journal::{Journal, JournalContent};
use super::kept::KeptRun;
use crate::slice::{CriticalSlice, Question, Status};

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It has ended.
    Ended(Status),
    /// Another process is at work on it.
    Running,
    /// It was ended from outside before it could say so.
    Unfinished,
}

/// What a search has found so far, in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The name of its criterion, if there are several.
    pub name: Option<String>,
    /// How far it has come.
    pub stage: Stage,
    /// Executions that are kept; `None` before the first improvement.
    pub kept: Option<usize>,
    /// Tests that were made.
    pub tests: u64,
}

/// A run in a list.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When it was begun.
    pub started: SystemTime,
    /// The command line, without the name of this program.
    pub line: Vec<OsString>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The criterion in words; of several, their names.
    pub criterion: String,
    /// One for each criterion.
    pub progress: Vec<Progress>,
}

impl RunFolder {
    /// Writes everything that is known before the search begins, and makes this the latest run.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn record(&self, run: &KeptRun, program: &Program, trace: &Trace) -> Result<(), ArchiveError> {
        let mut files = Vec::new();
        for (name, content) in convert::contents(run) {
            let path = self.path.join(name);
            fs::write(&path, content).map_err(ArchiveError::unwritable(&path))?;
            files.push(FileDocument { name: name.to_owned(), hash: format!("{:x}", hash(content)) });
        }
        let path = self.path.join("trace");
        let written = File::create(&path).and_then(|file| {
            trace_file::write(&file, program, &run.identity, trace)?;
            file.sync_all()
        });
        written.map_err(ArchiveError::unwritable(&path))?;
        let path = self.path.join("run.json");
        let written = write_document(&path, RUN, &convert::run_document(run, files));
        written.and_then(|()| self.make_latest()).map_err(ArchiveError::unwritable(&path))
    }

    /// What was written before the search began.
    ///
    /// # Errors
    /// If there is nothing, or not what was written.
    pub fn load(&self) -> Result<KeptRun, ArchiveError> {
        let path = self.path.join("run.json");
        let document = self.document()?;
        let mut contents = Vec::new();
        for file in &document.files {
            contents.push((file.name.clone(), self.checked(file)?));
        }
        let mut content = |name: &str| {
            let at = contents.iter().position(|(known, _)| known == name)?;
            Some(contents.swap_remove(at).1)
        };
        convert::kept_run(document, &mut content).map_err(|what| ArchiveError::damaged(&path, what))
    }

    fn document(&self) -> Result<RunDocument, ArchiveError> {
        let path = self.path.join("run.json");
        if !path.exists() {
            return Err(ArchiveError::Empty(self.path.clone()));
        }
        read_document(&path, RUN)
    }

    fn checked(&self, file: &FileDocument) -> Result<Vec<u8>, ArchiveError> {
        let path = self.path.join(&file.name);
        let content = fs::read(&path).map_err(ArchiveError::unreadable(&path))?;
        match format!("{:x}", hash(&content)) == file.hash {
            true => Ok(content),
            false => Err(ArchiveError::damaged(&path, "its checksum is wrong")),
        }
    }

    /// The trace of the kept run, if `program` is still what was recorded.
    ///
    /// # Errors
    /// If it is another program, or the trace cannot be read.
    pub fn trace(&self, run: &KeptRun, program: &Program) -> Result<Trace, ArchiveError> {
        let path = &program.executable().path;
        let now = Identity::of(program).map_err(ArchiveError::unreadable(path))?;
        if let Some(how) = run.identity.difference(&now) {
            return Err(ArchiveError::OtherProgram { program: path.clone(), how });
        }
        let file = self.path.join("trace");
        let trace = trace_file::read(&file, program, &now)?;
        match trace.len() == run.events {
            true => Ok(trace),
            false => Err(ArchiveError::damaged(&file, "it is the trace of another run")),
        }
    }

    /// A new journal for this run, or for one of its criteria.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin_journal(&self, part: Option<&str>) -> Result<Journal, ArchiveError> {
        let folder = self.part(part);
        fs::create_dir_all(&folder).map_err(ArchiveError::unwritable(&folder))?;
        Journal::create(&folder.join("journal"))
    }

    /// The journal of this run, to go on with it. A result is taken away: there will be another.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn resume_journal(
        &self,
        run: &KeptRun,
        part: Option<&str>,
    ) -> Result<(Journal, JournalContent), ArchiveError> {
        let folder = self.part(part);
        fs::create_dir_all(&folder).map_err(ArchiveError::unwritable(&folder))?;
        Journal::resume(&folder.join("journal"), run.events)
    }

    /// What the journal holds.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn journal(&self, run: &KeptRun, part: Option<&str>) -> Result<JournalContent, ArchiveError> {
        JournalContent::read(&self.part(part).join("journal"), run.events)
    }

    /// Writes the result.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn conclude(&self, part: Option<&str>, slice: &CriticalSlice) -> Result<(), ArchiveError> {
        let path = self.result_path(part);
        let written = write_document(&path, RESULT, &convert::result_document(slice));
        written.map_err(ArchiveError::unwritable(&path))
    }

    /// Takes the result away, because the search goes on.
    ///
    /// # Errors
    /// If it cannot be taken away.
    pub fn reopen(&self, part: Option<&str>) -> Result<(), ArchiveError> {
        let path = self.result_path(part);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(ArchiveError::unwritable(&path)(error))
            }
            _ => Ok(()),
        }
    }

    /// The result with which the search has ended; `None` if it has not.
    ///
    /// # Errors
    /// If there is one that is not what was written.
    pub fn result(
        &self,
        part: Option<&str>,
        question: Question,
    ) -> Result<Option<CriticalSlice>, ArchiveError> {
        Ok(self.result_document(part)?.map(|document| convert::slice(document, question)))
    }

    fn result_document(&self, part: Option<&str>) -> Result<Option<ResultDocument>, ArchiveError> {
        let path = self.result_path(part);
        if path.exists() { read_document(&path, RESULT).map(Some) } else { Ok(None) }
    }

    fn result_path(&self, part: Option<&str>) -> PathBuf {
        self.part(part).join("result.json")
    }

    /// The run as it stands in a list.
    ///
    /// # Errors
    /// If the folder holds no run, or not what was written.
    pub fn entry(&self) -> Result<Entry, ArchiveError> {
        let document = self.document()?;
        let (several, events) = (&document.criterion.several, document.recorded.events);
        let parts: Vec<Option<&str>> = match several.is_empty() {
            true => vec![None],
            false => several.iter().map(|part| Some(&part.name[..])).collect(),
        };
        let progress = parts.into_iter().map(|part| self.progress(part, events));
        Ok(Entry {
            started: convert::started(&document),
            progress: progress.collect::<Result<_, _>>()?,
            criterion: document.criterion.described,
            line: convert::os_strings(document.command_line),
            command: document.command,
        })
    }

    /// How far the search has come.
    ///
    /// # Errors
    /// If its files are not what was written.
    pub fn progress(&self, part: Option<&str>, events: usize) -> Result<Progress, ArchiveError> {
        let (name, journal) = (part.map(str::to_owned), self.part(part).join("journal"));
        if let Some(result) = self.result_document(part)? {
            let tests = &result.tests;
            let tests = tests.reproduced + tests.not_reproduced + tests.unresolved;
            let (stage, kept) = (Stage::Ended(result.status), Some(result.needed.len()));
            return Ok(Progress { name, stage, kept, tests });
        }
        let content = JournalContent::read(&journal, events)?;
        let stage = if Journal::is_locked(&journal) { Stage::Running } else { Stage::Unfinished };
        let kept = content.phases.first().map(|phase| phase.best.len());
        Ok(Progress { name, stage, kept, tests: content.tests() as u64 })
    }
}
