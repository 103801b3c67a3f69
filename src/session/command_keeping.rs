//! Keep a search in which no statement is traced in a folder, unless that cannot be done; and find it again.

use std::path::Path;

use super::error::{Cause, SessionError};
use super::keeping::archive;
use super::listener::Listener;
use super::simplify_request::OutcomeKeeping;
use crate::archive::{ArchiveError, Claim, KeptCommand, RunFolder, UntracedSearch};

/// As many folders are looked at for one whose search is gone on with.
const LOOKED_AT: usize = 20;

/// The kept run of a search without a trace: its folder and its command.
pub(super) struct CommandKeeping<'l> {
    kind: UntracedSearch,
    folder: Option<RunFolder>,
    kept: KeptCommand,
    listener: &'l dyn Listener,
    /// Keeps others from the folder.
    claim: Option<Claim>,
}

impl<'l> CommandKeeping<'l> {
    /// Makes a folder of this name before anything is run, or takes that of the search that is gone on with. None is no
    /// misfortune.
    pub(super) fn reserve(
        kind: UntracedSearch,
        kept: KeptCommand,
        (earlier, name): (Option<RunFolder>, &Path),
        listener: &'l dyn Listener,
    ) -> CommandKeeping<'l> {
        let folder = match earlier {
            Some(folder) => Ok(folder),
            None => archive().reserve(name),
        };
        CommandKeeping::within(kind, kept, folder.map(Some), listener)
    }

    /// Keeps the search in this folder; or nowhere.
    pub(super) fn within(
        kind: UntracedSearch,
        kept: KeptCommand,
        folder: Result<Option<RunFolder>, ArchiveError>,
        listener: &'l dyn Listener,
    ) -> CommandKeeping<'l> {
        let mut keeping = CommandKeeping { kind, folder: None, kept, listener, claim: None };
        keeping.keep(|_| folder);
        keeping
    }

    /// Writes down what is known before the search.
    pub(super) fn begin(&mut self, criterion: &str) {
        self.kept.criterion = criterion.to_owned();
        self.keep(|keeping| {
            let Some(folder) = keeping.folder.clone() else { return Ok(None) };
            folder.begin_untraced(keeping.kind, &keeping.kept)?;
            keeping.claim = Some(folder.claim()?);
            Ok(Some(folder))
        });
    }

    /// Writes down the result.
    pub(super) fn conclude(&mut self, write: impl FnOnce(&RunFolder) -> Result<(), ArchiveError>) {
        self.keep(|keeping| {
            let Some(folder) = keeping.folder.clone() else { return Ok(None) };
            write(&folder)?;
            Ok(Some(folder))
        });
    }

    /// The word by which commands name it, if it is kept.
    pub(super) fn name(&self) -> Option<String> {
        self.folder.as_ref().map(RunFolder::name)
    }

    /// Does something with the folder; what cannot be kept is told once.
    fn keep(&mut self, act: impl FnOnce(&mut Self) -> Result<Option<RunFolder>, ArchiveError>) {
        self.folder = act(self).unwrap_or_else(|error| {
            self.listener.tell(&format!("stripe: warning: {error}: this {} is not kept", self.kind.noun()));
            None
        });
    }
}

impl Drop for CommandKeeping<'_> {
    /// Nothing is left of one that has not begun.
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            folder.discard();
        }
    }
}

/// The newest folder whose search for the same was ended early, if that is gone on with.
pub(super) fn unfinished(kind: UntracedSearch, question: u128, keeping: OutcomeKeeping) -> Option<RunFolder> {
    if keeping != OutcomeKeeping::Resumed {
        return None;
    }
    let folders = archive().runs().unwrap_or_default().into_iter().rev();
    folders.filter(|folder| folder.untraced() == Some(kind)).take(LOOKED_AT).find(|folder| {
        folder.kept_command(kind).is_ok_and(|kept| kept.question == question) && folder.is_unfinished(kind)
    })
}

/// The search in a folder has not come to a result yet.
pub(super) fn not_ended(name: &str, what: &str) -> SessionError {
    let message =
        format!("run {name}: the {what} has not ended; the same command with --resume goes on with it");
    SessionError::new(Cause::Failed, message)
}
