//! Keep a search for changes: its folder and the outcomes of its tests, until it has come to its end.

use std::ffi::OsString;
use std::path::Path;
use std::time::SystemTime;

use super::change_question::question;
use super::change_request::ChangesRequest;
use super::command_keeping::{CommandKeeping, not_ended, unfinished};
use super::error::{Cause, SessionError};
use super::keeping::archive;
use super::kept_outcomes::KeptOutcomes;
use super::listener::Listener;
use super::request::Keep;
use super::versions::Versions;
use crate::archive::{KeptCommand, RunFolder, UntracedSearch};
use crate::circumstances::change::Examination;
use crate::guilty::GuiltyChanges;

/// The name of the folder of the kept run, after its number.
const NAME: &str = "changes";

/// The kept state of a search for changes: its outcomes and its command.
pub(super) struct KeptChanges<'l> {
    pub(super) outcomes: KeptOutcomes<Examination>,
    pub(super) keeping: CommandKeeping<'l>,
}

impl<'l> KeptChanges<'l> {
    /// Opens both; the folder is one that an earlier search for the same has left, if it is gone on with.
    pub(super) fn open(
        request: &ChangesRequest,
        versions: &Versions,
        listener: &'l dyn Listener,
    ) -> Result<KeptChanges<'l>, SessionError> {
        let question = question(request, versions);
        let is_kept = !matches!(request.keep, Keep::Nowhere);
        let outcomes = match is_kept {
            true => KeptOutcomes::open(UntracedSearch::Changes, question, request.keeping, listener)?,
            false => KeptOutcomes::nowhere(question),
        };
        let kept = KeptCommand {
            started: SystemTime::now(),
            line: request.line.clone(),
            command: told(&request.line),
            criterion: String::new(),
            question,
        };
        let earlier = unfinished(UntracedSearch::Changes, question, request.keeping);
        let folder = match (&request.keep, earlier) {
            (_, Some(folder)) => folder.reopen_changes().map(|()| Some(folder)),
            (Keep::Nowhere, None) => Ok(None),
            (Keep::In(folder), None) => {
                Ok(Some(RunFolder::create(folder).map_err(SessionError::of(Cause::Request))?))
            }
            (Keep::InArchive, None) => archive().reserve(Path::new(NAME)).map(Some),
        };
        let keeping = CommandKeeping::within(UntracedSearch::Changes, kept, folder, listener);
        Ok(KeptChanges { outcomes, keeping })
    }

    /// Learns how the search has ended: keeps its result, and its outcomes if it can go on.
    pub(super) fn end(
        mut self,
        found: Result<GuiltyChanges, SessionError>,
        listener: &dyn Listener,
    ) -> Result<GuiltyChanges, SessionError> {
        let found = found.map(|mut found| {
            self.keeping.conclude(|folder| folder.conclude_changes(&found));
            found.kept_as = self.keeping.name();
            found
        });
        let is_unfinished = match &found {
            Ok(found) => found.status.is_early(),
            Err(error) => matches!(error.cause, Cause::Failed | Cause::Interrupted(_)),
        };
        if self.outcomes.end(is_unfinished) && found.is_ok() {
            listener.tell("stripe: the same command with --resume goes on from here");
        }
        found
    }
}

/// The words of the command, as they stand in a list.
fn told(line: &[OsString]) -> Vec<String> {
    line.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// Reads a kept search: its command and its result.
///
/// # Errors
/// If the folder holds something else than was written, or the search has not ended.
pub fn reopened(folder: &RunFolder) -> Result<(KeptCommand, GuiltyChanges), SessionError> {
    let (name, kept) = (folder.name(), folder.kept_command(UntracedSearch::Changes)?);
    match folder.guilty_changes()? {
        Some(found) => Ok((kept, GuiltyChanges { kept_as: Some(name), ..found })),
        None => Err(not_ended(&name, "search")),
    }
}
