//! Keep a run in a folder, unless that cannot be done or is not wanted; and find it again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tracer::Untouched;
use tracer::program::Program;
use tracer::surroundings::Surroundings;
use tracer::trace_file::Identity;

use super::case::Subject;
use super::error::{Cause, SessionError};
use super::listener::Listener;
use super::questions::described;
use super::recording::Recording;
use super::request::{Keep, Request};
use crate::archive::{Archive, ArchiveError, Claim, Entry, Journal, KeptRun, KeptSearch, RunFolder, Stage};
use crate::circumstances::Status;
use crate::slice::CriticalSlice;

/// The number of kept runs that are searched for one that the same command line has begun.
const LOOKED_AT: usize = 20;

/// The folder in which a run is kept, if any.
pub struct Keeping<'l> {
    folder: Option<RunFolder>,
    listener: &'l dyn Listener,
    /// The lock that keeps other processes from the run.
    claim: Option<Claim>,
}

/// The archive of the working directory.
pub fn archive() -> Archive {
    Archive::of(Path::new("."))
}

impl<'l> Keeping<'l> {
    /// Creates a folder before anything is recorded, because a program that looks around must see the
    /// same in all its runs. One that the user names must be there; otherwise going without one is no error.
    ///
    /// # Errors
    /// If the folder that the user names cannot be created.
    pub fn reserve(request: &Request, listener: &'l dyn Listener) -> Result<Keeping<'l>, SessionError> {
        if let Keep::InArchive = request.keep {
            mention_unfinished(&archive(), &request.line, listener);
        }
        let folder = reserve(&request.keep, &request.target.invocation.program, listener)?;
        Ok(Keeping { folder, listener, claim: None })
    }

    /// Uses the folder of a kept run.
    pub fn of(folder: RunFolder, listener: &'l dyn Listener) -> Keeping<'l> {
        Keeping { folder: Some(folder), listener, claim: None }
    }

    /// Records what is known before the search.
    pub fn record(&mut self, recording: &Recording<'_>) {
        let Some(folder) = &self.folder else { return };
        let subject = recording.subject();
        let program = &subject.target.program;
        let kept = identity(program).and_then(|identity| {
            let run = kept_run(recording, identity);
            folder.record(&run, program, &subject.baseline.recording.trace)?;
            folder.claim()
        });
        match kept {
            Ok(claim) => self.claim = Some(claim),
            Err(error) => {
                self.warn(&format!("{error}: this run is not kept"));
                self.folder = None;
            }
        }
    }

    /// Begins a journal for the search.
    pub fn journal(&mut self, part: Option<&str>) -> Option<Journal> {
        match self.folder.as_ref()?.begin_journal(part) {
            Ok(journal) => Some(journal),
            Err(error) => {
                self.warn(&format!("{error}: this run is not kept"));
                self.folder = None;
                None
            }
        }
    }

    /// Writes the result.
    pub fn conclude(&self, part: Option<&str>, slice: &CriticalSlice) {
        let Some(folder) = &self.folder else { return };
        if let Err(error) = folder.conclude(part, slice) {
            self.warn(&format!("{error}: its result is not kept"));
        }
    }

    /// The name of the run for commands, if it is kept.
    pub fn name(&self) -> Option<String> {
        self.folder.as_ref().map(RunFolder::name)
    }

    /// Warns about what keeps the run from being kept.
    pub fn warn(&self, message: &str) {
        self.tell(&format!("stripe: warning: {message}"));
    }

    /// Tells the listener a line.
    pub fn tell(&self, line: &str) {
        self.listener.tell(line);
    }
}

/// A folder for a run; none if that is not wanted, or the archive has no room.
///
/// # Errors
/// If the folder that the user names cannot be made.
pub(super) fn reserve(
    keep: &Keep,
    program: &Path,
    listener: &dyn Listener,
) -> Result<Option<RunFolder>, SessionError> {
    let warn = |error| listener.tell(&format!("stripe: warning: {error}: this run is not kept"));
    Ok(match keep {
        Keep::Nowhere => None,
        Keep::In(folder) => Some(RunFolder::create(folder).map_err(SessionError::of(Cause::Request))?),
        Keep::InArchive => archive().reserve(program).map_err(warn).ok(),
    })
}

/// Whoever gives the same command again may not know that the work could go on.
pub(super) fn mention_unfinished(archive: &Archive, line: &[OsString], listener: &dyn Listener) {
    let runs = archive.runs().unwrap_or_default();
    let same = |run: &&RunFolder| run.entry().is_ok_and(|entry| entry.line == line && is_unfinished(&entry));
    if let Some(run) = runs.iter().rev().take(LOOKED_AT).find(same) {
        listener.tell(&format!(
            "stripe: run {0} of the same command is not finished: `stripe reduce {0}` would go on with it",
            run.name()
        ));
    }
}

impl Drop for Keeping<'_> {
    /// Removes the folder of a run that was not recorded.
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            folder.discard();
        }
    }
}

fn is_unfinished(entry: &Entry) -> bool {
    let unfinished = |stage| !matches!(stage, Stage::Running | Stage::Ended(Status::Minimal));
    entry.progress.iter().any(|progress| unfinished(progress.stage))
}

/// Writes a recorded run into an empty folder, for whoever takes it up there.
///
/// # Errors
/// If that cannot be written.
pub(super) fn lay_down(recording: &Recording<'_>, folder: &Path) -> Result<RunFolder, ArchiveError> {
    let folder = RunFolder::create(folder)?;
    let program = &recording.request.target.program;
    let identity = identity(program)?;
    folder.record(&kept_run(recording, identity), program, &recording.baseline.recording.trace)?;
    Ok(folder)
}

fn identity(program: &Program) -> Result<Identity, ArchiveError> {
    let path = || program.executable().path.clone();
    Identity::of(program).map_err(|source| ArchiveError::Unreadable { path: path(), source })
}

fn kept_run(recording: &Recording<'_>, identity: Identity) -> KeptRun {
    let Subject { target, baseline, method, plan, .. } = recording.subject();
    let wrong = recording.questions.iter().filter(|question| question.is_wrong);
    let images = &target.program.images()[1..];
    let request = recording.request;
    KeptRun {
        started: SystemTime::now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        line: request.line.clone(),
        command: target.command.clone(),
        invocation: target.invocation.clone(),
        timeout: request.timeout,
        scope: request.scope.clone(),
        libraries: images.iter().map(|image| image.path.clone()).collect::<Vec<PathBuf>>(),
        granularity: target.granularity,
        identity,
        surroundings: Surroundings::of(&baseline.recording.run),
        criterion: recording.criterion.clone(),
        described: described(&recording.questions),
        criteria: recording.parts.clone(),
        wrong: wrong.filter_map(|question| question.name.clone()).collect(),
        search: KeptSearch {
            control: plan.control,
            algorithm: plan.strategy.algorithm,
            max_tests: request.max_tests,
            max_time: request.max_time,
            jobs: request.jobs,
            preference: request.preference,
        },
        locate: None,
        method: method.clone(),
        run: baseline.recording.run.clone(),
        events: baseline.recording.trace.len(),
        endless: baseline.recording.trace.endless().cloned(),
        poisoned: baseline.patterns.len() > 1,
        untouched: Untouched::clone(&baseline.untouched),
        warnings: baseline.warnings.clone(),
    }
}
