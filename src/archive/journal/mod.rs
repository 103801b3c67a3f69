//! Write a journal of a search, so that every prefix of it can be read.
//!
//! The file begins with `stripe journal 2` and a newline. Records follow, each with its length, a kind,
//! its content and a checksum that is keyed by the record's place. A record that is not complete is the
//! last one, torn when its writer died: it is ignored, and cut off before anything is appended.
//!
//! Kinds: `P` a phase begins or goes on, `G` this set is tried first, `S` the search goes on from this set, `I` it goes
//! on from the last one without these, `W`, `A` (ambiguous) and `F` (another failure) a reason and `O` an output that
//! tests refer to by their numbers, `T` a test, `E` what has been spent so far. Each reason and each output is written
//! once.

mod content;
mod record;
mod writer;

pub use content::{JournalContent, PhaseContent};
pub use writer::Journal;

/// The first line of every journal, with its version.
pub(super) const MAGIC: &[u8] = b"stripe journal 2\n";
