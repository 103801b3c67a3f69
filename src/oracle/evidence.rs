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
    /// What the words are about.
    pub kind: EvidenceKind,
    /// What the test has printed, if that is kept.
    pub printed: Option<Arc<Printed>>,
}

/// What the reason of an outcome is about, as far as somebody asks later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum EvidenceKind {
    /// Anything else.
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

    /// That the run has failed in another way: how, as in `crashed in another way`, and with which failure.
    pub fn other_failure(how: &str, failure: String) -> Evidence {
        let why = format!("{how}: {failure}");
        Evidence { kind: EvidenceKind::OtherFailure(failure), ..Evidence::new(Outcome::Unresolved, why) }
    }

    /// The same, of which it cannot be told whether it is about the wanted line or an equal one elsewhere.
    pub(super) fn ambiguous(self) -> Evidence {
        Evidence { kind: EvidenceKind::Ambiguous, ..self }
    }

    /// Which failure there was, if the run has failed in another way than the recorded one.
    pub fn failure(&self) -> Option<&str> {
        match &self.kind {
            EvidenceKind::OtherFailure(failure) => Some(failure),
            EvidenceKind::Plain | EvidenceKind::Ambiguous => None,
        }
    }
}
