//! Hold the evidence of a test.

use std::sync::Arc;

use crate::printed::Printed;
use dd::Outcome;

/// The evidence of a test: its outcome and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The outcome: whether the failure was reproduced.
    pub outcome: Outcome,
    /// The reason, in words: a part of a sentence such as ``output line 1: `sum = 14` instead of
    /// `sum = 15` ``.
    pub why: String,
    /// The output of the test, if it is kept.
    pub printed: Option<Arc<Printed>>,
}

impl Evidence {
    /// Creates evidence of an outcome with its reason.
    pub fn new(outcome: Outcome, why: impl Into<String>) -> Evidence {
        Evidence { outcome, why: why.into(), printed: None }
    }
}
