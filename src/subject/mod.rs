//! Describe the subject of the study: a program, how it is started, and its recorded run.

mod ordinals;
mod place;
mod recorded;
mod target;

pub use ordinals::Ordinals;
pub use place::{PlaceError, PlaceFound, Where};
pub use recorded::{Recorded, executed, executed_by, reached, step, stretches};
pub use target::{Target, leak_checker};

/// The length, in bytes, of the longest source file whose lines are shown.
pub const LONGEST_SOURCE: u64 = 32 << 20;
