//! Hold what a test has shown.

use std::sync::Arc;

use crate::printed::Printed;
use dd::Outcome;

/// What a test has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Whether the failure was reproduced.
    pub outcome: Outcome,
    /// The reason, in words: a part of a sentence such as ``output line 1: `sum = 14` instead of
    /// `sum = 15` ``.
    pub why: String,
    /// What the test has printed, if that is kept.
    pub printed: Option<Arc<Printed>>,
}

impl Evidence {
    /// An outcome with its reason.
    pub fn new(outcome: Outcome, why: impl Into<String>) -> Evidence {
        Evidence { outcome, why: why.into(), printed: None }
    }
}
