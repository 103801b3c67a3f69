//! Write a run into its folder, and read it again.

use std::path::PathBuf;

use tracer::program::Program;
use tracer::trace::Trace;
use tracer::trace_file::{self, Identity};

use super::contents::{read_if_there, remove};
use super::documents::{EndDocument, LISTED_RESULT, LOCATE_RUN, RESULT, RUN, ResultDocument, RunDocument};
use super::error::ArchiveError;
use super::files::{create, read_document, write_document};
use super::folder::{RunFolder, make_private};
use super::journal::{Journal, JournalContent};
use super::kept::KeptRun;
use super::{convert, results};
use crate::slice::{CriticalSlice, Question};

impl RunFolder {
    /// Writes everything that is known before the search begins, and marks this as the latest run.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn record(&self, run: &KeptRun, program: &Program, trace: &Trace) -> Result<(), ArchiveError> {
        let contents = convert::contents(run).into_iter();
        let files =
            contents.map(|(name, content)| self.keep_content(name, content)).collect::<Result<_, _>>()?;
        let path = self.path.join("trace");
        let written = create(&path).and_then(|file| {
            trace_file::write(&file, program, &run.identity, trace)?;
            file.sync_all()
        });
        written.map_err(ArchiveError::unwritable(&path))?;
        let path = self.path.join("run.json");
        let format = if run.locate.is_some() { LOCATE_RUN } else { RUN };
        let written = write_document(&path, format, &convert::run_document(run, files));
        written.and_then(|()| self.make_latest()).map_err(ArchiveError::unwritable(&path))
    }

    /// Reads the run as it was written before the search began.
    ///
    /// # Errors
    /// If there is none, or not what was written.
    pub fn load(&self) -> Result<KeptRun, ArchiveError> {
        let path = self.path.join("run.json");
        let document = self.document()?;
        if let EndDocument::Crashed(_) = document.recorded.end {
            return Err(ArchiveError::OldCrash(path));
        }
        let mut contents = self.contents(&document.files)?;
        let mut content = |name: &str| {
            let at = contents.iter().position(|(known, _)| known == name)?;
            Some(contents.swap_remove(at).1)
        };
        convert::kept_run(document, &mut content).map_err(|what| ArchiveError::damaged(&path, what))
    }

    pub(super) fn document(&self) -> Result<RunDocument, ArchiveError> {
        let path = self.path.join("run.json");
        if let Some(kind) = self.untraced() {
            return Err(ArchiveError::Untraced { run: self.name(), what: kind.noun() });
        }
        if !path.exists() {
            return Err(ArchiveError::Empty(self.path.clone()));
        }
        read_document(&path, if self.is_located() { LOCATE_RUN } else { RUN })
    }

    /// Reads the trace of the kept run, if `program` is still what was recorded.
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
        match (trace.len() == run.events, &run.endless, trace.events().next_back()) {
            (true, Some(endless), Some(last)) => Ok(trace.that_never_ends(last, endless.clone())),
            (true, ..) => Ok(trace),
            (false, ..) => Err(ArchiveError::damaged(&file, "it is the trace of another run")),
        }
    }

    /// Creates a new journal for this run, or for one of its criteria.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn begin_journal(&self, part: Option<&str>) -> Result<Journal, ArchiveError> {
        let folder = self.part(part);
        make_private(&folder).map_err(ArchiveError::unwritable(&folder))?;
        Journal::create(&folder.join("journal"))
    }

    /// Reopens the journal of this run, to go on with it. A result is removed: there will be another.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn resume_journal(
        &self,
        run: &KeptRun,
        part: Option<&str>,
    ) -> Result<(Journal, JournalContent), ArchiveError> {
        let folder = self.part(part);
        make_private(&folder).map_err(ArchiveError::unwritable(&folder))?;
        Journal::resume(&folder.join("journal"), run.events)
    }

    /// Reads the journal.
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
        let written = write_document(&path, RESULT, &results::result_document(slice));
        written.map_err(ArchiveError::unwritable(&path))
    }

    /// Removes the result, because the search goes on.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn reopen(&self, part: Option<&str>) -> Result<(), ArchiveError> {
        remove(&self.result_path(part))
    }

    /// Reads the result with which the search has ended; `None` if it has not.
    ///
    /// # Errors
    /// If there is one that is not what was written.
    pub fn result(
        &self,
        part: Option<&str>,
        question: Question,
    ) -> Result<Option<CriticalSlice>, ArchiveError> {
        let Some(document) = self.result_document(part)? else { return Ok(None) };
        let damaged =
            || ArchiveError::damaged(&self.result_path(part), "it names executions that the run has not");
        results::slice(document, question).ok_or_else(damaged).map(Some)
    }

    pub(super) fn result_document(&self, part: Option<&str>) -> Result<Option<ResultDocument>, ArchiveError> {
        read_if_there(&self.result_path(part), &[RESULT, LISTED_RESULT])
    }

    fn result_path(&self, part: Option<&str>) -> PathBuf {
        self.part(part).join("result.json")
    }
}
