//! Keep runs: what was asked, what was recorded, and every test, so that a search can go on later and
//! reports can be made without running the program again.
//!
//! Each run has a folder, `.stripe/<number>-<program>` in the working directory unless the user names
//! another:
//!
//! - `run.json`: the program, its start, the criterion, the search, the end of the recorded run. Written
//!   as the last thing before the search begins; a folder without it holds no run;
//! - `input`, `output`, `errors`: what the program read and wrote; `expected-output`, `expected-errors`
//!   and `reference`, the texts that it is compared with;
//! - `trace`: see [`tracer::trace_file`];
//! - `journal`: every test with its outcome and what it printed, and every improvement, appended as they
//!   come; see `journal`;
//! - `owner`: locked by the process that works on the run, with its number;
//! - `result.json`: the end of the search, and what is needed. Not there while a search is under way.
//!
//! A run of `stripe locate` has no `journal` and no `result.json`, but `attempts`, the changed runs that were made, and
//! `located.json`, how the work has ended; see `attempts` and `located`.
//!
//! A run with several criteria has a `journal` and a `result.json` for each, in `criteria/<name>`.
//!
//! A simplification, and a search for changes, has such a folder with other files, see `commands`, `simplifications` and
//! `guilty`; and beside it a file with the outcomes of its tests as long as it is not at its end, see `outcomes`.
//!
//! Files are written under another name and renamed, the journal is only ever appended to, and
//! everything carries checksums: whenever stripe or the machine dies, what was there before is still
//! there. Documents have types of their own, so that the format does not change with the program.
//! Knows files and formats; decides nothing about searches.

mod attempts;
mod claim;
mod commands;
mod contents;
mod convert;
mod crashes;
mod documents;
mod endless;
mod error;
mod files;
mod folder;
mod guilty;
mod guilty_tests;
mod journal;
mod kept;
mod listing;
mod located;
mod observed;
mod outcomes;
mod ranges;
mod restore;
mod results;
mod simplifications;
#[cfg(test)]
mod tests;
mod texts;
mod words;

pub use attempts::{AttemptContent, AttemptJournal, AttemptKey, AttemptSeen, AttemptSetting};
pub use claim::Claim;
pub use commands::{KeptCommand, UntracedSearch};
pub use error::ArchiveError;
pub use folder::{Archive, RunFolder};
pub use guilty::ChangesProgress;
pub use journal::{Journal, JournalContent, PhaseContent};
pub use kept::{KeptRun, KeptSearch};
pub use listing::{Entry, KeptSize, SearchProgress, Stage};
pub use located::{KeptLocate, LocatedEnd};
pub use outcomes::{OutcomeJournal, TestSeen};
pub use simplifications::SimplificationProgress;
