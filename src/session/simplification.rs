//! Keep a simplification in a folder, unless that cannot be done; and find it again.

use std::time::SystemTime;

use super::command_keeping::{CommandKeeping, not_ended, unfinished};
use super::error::SessionError;
use super::listener::Listener;
use super::simplify_request::SimplifyRequest;
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
    let earlier = unfinished(UntracedSearch::Simplification, question, request.keeping);
    let name = &request.invocation.program;
    CommandKeeping::reserve(UntracedSearch::Simplification, kept, (earlier, name), listener)
}

/// Writes down the result.
pub(super) fn conclude(keeping: &mut CommandKeeping<'_>, found: &mut Simplified) {
    keeping.conclude(|folder| folder.conclude_simplification(found));
    found.kept_as = keeping.name();
}

/// Reads a kept simplification: its command and its result.
///
/// # Errors
/// If the folder holds something else than was written, or the search has not ended.
pub fn reopened(folder: &RunFolder) -> Result<(KeptCommand, Simplified), SessionError> {
    let (name, kept) = (folder.name(), folder.kept_command(UntracedSearch::Simplification)?);
    match folder.simplified()? {
        Some(found) => Ok((kept, Simplified { kept_as: Some(name), ..found })),
        None => Err(not_ended(&name, "simplification")),
    }
}
