//! The undefined memory that no pattern is written to.

use std::collections::BTreeSet;

use crate::program::FunctionId;

/// Undefined memory that stays as the run left it, whatever the pattern: what the recorded run reads of it
/// would otherwise change the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Untouched {
    /// The functions whose fresh frames stay as they are.
    pub frames: BTreeSet<FunctionId>,
    /// Whether freshly allocated memory stays as it is.
    pub heap: bool,
}

impl Untouched {
    /// No untouched memory.
    pub const NONE: &'static Untouched = &Untouched { frames: BTreeSet::new(), heap: false };
}
