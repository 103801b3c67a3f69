//! Keep a simplification in a folder, unless that cannot be done; and find it again.

use std::path::Path;
use std::time::SystemTime;

use super::error::{Cause, SessionError};
use super::keeping::archive;
use super::listener::Listener;
use super::simplify_request::{OutcomeKeeping, SimplifyRequest};
use crate::archive::{ArchiveError, Claim, KeptSimplification, RunFolder};
use crate::simplified::Simplified;

/// As many folders are looked at for one whose search is gone on with.
const LOOKED_AT: usize = 20;

/// Where a simplification is kept.
pub(super) struct SimplificationKeeping<'l> {
    folder: Option<RunFolder>,
    kept: KeptSimplification,
    listener: &'l dyn Listener,
    /// Keeps others from the folder.
    claim: Option<Claim>,
}

impl<'l> SimplificationKeeping<'l> {
    /// Makes a folder before anything is run, or takes that of the search that is gone on with. None is no misfortune.
    pub(super) fn reserve(
        request: &SimplifyRequest,
        question: u128,
        listener: &'l dyn Listener,
    ) -> SimplificationKeeping<'l> {
        let kept = KeptSimplification {
            started: SystemTime::now(),
            line: request.line.clone(),
            command: request.command.clone(),
            criterion: String::new(),
            question,
        };
        let earlier = (request.keeping == OutcomeKeeping::Resumed).then(|| unfinished(question)).flatten();
        let folder = match earlier {
            Some(folder) => Ok(folder),
            None => archive().reserve(&request.invocation.program),
        };
        let mut keeping = SimplificationKeeping { folder: None, kept, listener, claim: None };
        keeping.keep(|_| folder.map(Some));
        keeping
    }

    /// Writes down what is known before the search.
    pub(super) fn begin(&mut self, criterion: &str) {
        self.kept.criterion = criterion.to_owned();
        self.keep(|keeping| {
            let Some(folder) = keeping.folder.clone() else { return Ok(None) };
            folder.begin_simplification(&keeping.kept)?;
            keeping.claim = Some(folder.claim()?);
            Ok(Some(folder))
        });
    }

    /// Writes down the result.
    pub(super) fn conclude(&mut self, found: &mut Simplified) {
        self.keep(|keeping| {
            let Some(folder) = keeping.folder.clone() else { return Ok(None) };
            folder.conclude_simplification(found)?;
            Ok(Some(folder))
        });
        found.kept_as = self.folder.as_ref().map(RunFolder::name);
    }

    /// Does something with the folder; what cannot be kept is told once.
    fn keep(&mut self, act: impl FnOnce(&mut Self) -> Result<Option<RunFolder>, ArchiveError>) {
        self.folder = act(self).unwrap_or_else(|error| {
            self.listener.tell(&format!("stripe: warning: {error}: this simplification is not kept"));
            None
        });
    }
}

impl Drop for SimplificationKeeping<'_> {
    /// Nothing is left of one that has not begun.
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            folder.discard();
        }
    }
}

/// The newest folder whose search for the same was ended early.
fn unfinished(question: u128) -> Option<RunFolder> {
    let folders = archive().runs().unwrap_or_default();
    let simplifications = folders.into_iter().rev().filter(RunFolder::is_simplification);
    simplifications.take(LOOKED_AT).find(|folder| {
        let is_same = folder.kept_simplification().is_ok_and(|kept| kept.question == question);
        let progress = folder.simplification_progress();
        is_same && progress.is_ok_and(|found| found.is_none_or(|found| found.status.is_early()))
    })
}

/// A simplification that is kept, with its result if it has one; `None` if the user means a run of another kind.
///
/// # Errors
/// If there is no such folder, or it holds something else than was written.
pub fn reopened(
    name: Option<&Path>,
) -> Result<Option<(String, KeptSimplification, Simplified)>, SessionError> {
    let folder = archive().find(name)?;
    if !folder.is_simplification() {
        return Ok(None);
    }
    let name = folder.name();
    let kept = folder.kept_simplification()?;
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
