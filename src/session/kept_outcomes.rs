//! Keep the outcomes of a search's tests until it has come to its end, and find those of an earlier one.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::error::SessionError;
use super::keeping::archive;
use super::listener::Listener;
use super::simplify_request::OutcomeKeeping;
use crate::archive::{ArchiveError, OutcomeJournal, TestSeen, UntracedSearch};

/// The journal of the outcomes of a search, and the outcomes of an earlier one.
pub(super) struct KeptOutcomes<T> {
    /// Stands for all that outcomes depend on.
    pub(super) question: u128,
    journal: Option<OutcomeJournal>,
    /// The outcomes of the earlier search, by what was tested.
    pub(super) recalled: HashMap<u128, T>,
    trouble: Mutex<Option<ArchiveError>>,
}

impl<T: TestSeen> KeptOutcomes<T> {
    /// Opens the file of this search. One that cannot be written is no misfortune, unless outcomes are wanted from it.
    pub(super) fn open(
        kind: UntracedSearch,
        question: u128,
        keeping: OutcomeKeeping,
        listener: &dyn Listener,
    ) -> Result<KeptOutcomes<T>, SessionError> {
        let trouble = Mutex::default();
        if keeping == OutcomeKeeping::Resumed {
            let (journal, recalled) = OutcomeJournal::resume(&archive(), kind, question)?;
            let (known, tests) = (recalled.len(), if recalled.len() == 1 { "test" } else { "tests" });
            listener.tell(&format!("stripe: going on after {known} {tests}"));
            return Ok(KeptOutcomes { question, journal: Some(journal), recalled, trouble });
        }
        let journal = OutcomeJournal::begin(&archive(), kind, question);
        let journal = journal.map_err(|error| {
            listener.tell(&format!("stripe: warning: {error}; the tests of this search are not kept"));
        });
        Ok(KeptOutcomes { question, journal: journal.ok(), recalled: HashMap::new(), trouble })
    }

    /// For a search of which nothing is kept.
    pub(super) fn nowhere(question: u128) -> KeptOutcomes<T> {
        KeptOutcomes { question, journal: None, recalled: HashMap::new(), trouble: Mutex::default() }
    }

    /// Keeps an outcome. What goes wrong is told at the end.
    pub(super) fn note(&self, tested: u128, seen: &T) {
        let Some(journal) = &self.journal else { return };
        if let Err(error) = journal.note(tested, seen) {
            *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }

    /// The error for which further outcomes could not be kept, as a sentence; `None` if there was none.
    pub(super) fn trouble(&self) -> Option<String> {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        trouble.as_ref().map(|error| format!("{error}; further tests of this search were not kept"))
    }

    /// Learns how the search has ended. Whether it can go on.
    pub(super) fn end(self, is_unfinished: bool) -> bool {
        let has_trouble = self.trouble().is_some();
        match self.journal {
            Some(_) if is_unfinished => !has_trouble,
            Some(journal) => {
                journal.remove();
                false
            }
            None => false,
        }
    }
}
