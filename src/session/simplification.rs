//! Keep a simplification in a folder, unless that cannot be done; and find it again.

use std::path::Path;
use std::time::SystemTime;

use super::command_keeping::{CommandKeeping, unfinished};
use super::error::{Cause, SessionError};
use super::keeping::archive;
use super::listener::Listener;
use super::simplify_request::{OutcomeKeeping, SimplifyRequest};
use crate::archive::{KeptCommand, RunFolder, UntracedSearch};
use crate::simplified::Simplified;

/// The folder of a simplification.
pub(super) fn reserve<'l>(
    request: &SimplifyRequest,
    question: u128,
    listener: &'l dyn Listener,
) -> CommandKeeping<'l> {
    let kept = KeptCommand {
        started: SystemTime::now(),
        line: request.line.clone(),
        command: request.command.clone(),
        criterion: String::new(),
        question,
    };
    let is_resumed = request.keeping == OutcomeKeeping::Resumed;
    let is_early = |folder: &RunFolder| {
        let progress = folder.simplification_progress();
        progress.is_ok_and(|found| found.is_none_or(|found| found.status.is_early()))
    };
    let earlier =
        is_resumed.then(|| unfinished(UntracedSearch::Simplification, question, is_early)).flatten();
    let name = &request.invocation.program;
    CommandKeeping::reserve(UntracedSearch::Simplification, kept, (earlier, name), listener)
}

/// Writes down the result.
pub(super) fn conclude(keeping: &mut CommandKeeping<'_>, found: &mut Simplified) {
    keeping.conclude(|folder| folder.conclude_simplification(found));
    found.kept_as = keeping.name();
}

/// A simplification that is kept, with its result if it has one; `None` if the user means a run of another kind.
///
/// # Errors
/// If there is no such folder, or it holds something else than was written.
pub fn reopened(name: Option<&Path>) -> Result<Option<(String, KeptCommand, Simplified)>, SessionError> {
    let folder = archive().find(name)?;
    if folder.untraced() != Some(UntracedSearch::Simplification) {
        return Ok(None);
    }
    let name = folder.name();
    let kept = folder.kept_command(UntracedSearch::Simplification)?;
    match folder.simplified()? {
        Some(found) => Ok(Some((name.clone(), kept, Simplified { kept_as: Some(name), ..found }))),
        None => {
            let message = format!(
                "run {name}: the simplification has not ended; the same command with --resume goes on with it"
            );
            Err(SessionError::new(Cause::Failed, message))
        }
    }
}
