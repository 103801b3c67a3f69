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
    /// The kind of the reason.
    pub kind: EvidenceKind,
    /// The output of the test, if it is kept.
    pub printed: Option<Arc<Printed>>,
}

/// The kind of the reason for an outcome, as far as by-products and remarks distinguish them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum EvidenceKind {
    /// Any other reason.
    #[default]
    Plain,
    /// The run has failed in another way than the recorded one: this crash, or this report of a sanitizer.
    OtherFailure(String),
    /// The run has printed what is wanted, but nothing tells it from equal lines elsewhere.
    Ambiguous,
}

impl Evidence {
    /// Creates evidence of an outcome with its reason.
    pub fn new(outcome: Outcome, why: impl Into<String>) -> Evidence {
        Evidence { outcome, why: why.into(), kind: EvidenceKind::Plain, printed: None }
    }

    /// Creates evidence of a run that has failed in another way: how, as in `crashed in another way`, and with which
    /// failure.
    pub fn other_failure(how: &str, failure: String) -> Evidence {
        let why = format!("{how}: {failure}");
        Evidence { kind: EvidenceKind::OtherFailure(failure), ..Evidence::new(Outcome::Unresolved, why) }
    }

    /// Marks the evidence as ambiguous: the wanted text is there, but perhaps as an equal line elsewhere.
    pub(super) fn ambiguous(self) -> Evidence {
        Evidence { kind: EvidenceKind::Ambiguous, ..self }
    }

    /// The failure of the run, if it has failed in another way than the recorded one.
    pub fn failure(&self) -> Option<&str> {
        match &self.kind {
            EvidenceKind::OtherFailure(failure) => Some(failure),
            EvidenceKind::Plain | EvidenceKind::Ambiguous => None,
        }
    }
}
