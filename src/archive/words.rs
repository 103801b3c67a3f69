//! Define the words that documents have for values of the program: a type of its own for each.

use serde::{Deserialize, Serialize};
use tracer::invocation::Answers;
use tracer::program::Granularity;
use tracer::schedule::Control as Rule;
use tracer::{Containment, Engine, Preference};

use dd::{Algorithm, Outcome};

use crate::circumstances::Status;
use crate::circumstances::events::Control;
use crate::oracle::EvidenceKind;
use crate::slice::{Level, Necessity};

#[derive(Serialize, Deserialize)]
#[serde(remote = "Granularity", rename_all = "snake_case")]
pub(super) enum GranularityWord {
    Line,
    Statement,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Answers", rename_all = "snake_case")]
pub(super) enum AnswersWord {
    Constant,
    Real,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Preference", rename_all = "snake_case")]
pub(super) enum PreferenceWord {
    Auto,
    Jump,
    Breakpoint,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Engine", rename_all = "snake_case")]
pub(super) enum EngineWord {
    Jump,
    /// Breakpoints; with the reason, if jumps would have been preferred.
    Breakpoint(Option<String>),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Containment", rename_all = "snake_case")]
pub(super) enum ContainmentWord {
    Full,
    /// Basic containment, with the reason why it is not better.
    Basic(String),
    None,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Control", rename_all = "snake_case")]
pub(super) enum ControlWord {
    Both,
    Program,
    Trace,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Rule", rename_all = "snake_case")]
pub(super) enum RuleWord {
    Program,
    Trace,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Algorithm", rename_all = "snake_case")]
pub(super) enum AlgorithmWord {
    Sweep,
    Ddmin,
    Halve,
    #[serde(rename = "dd+")]
    DdPlus,
    Prune,
    Pairs,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Status", rename_all = "snake_case")]
pub(super) enum StatusWord {
    Minimal,
    Budget,
    Interrupted,
    Unconfirmed,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Level", rename_all = "snake_case")]
pub(super) enum LevelWord {
    Statement,
    History,
    Execution,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Necessity", rename_all = "snake_case")]
pub(super) enum NecessityWord {
    Effect,
    Decision,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "EvidenceKind", rename_all = "snake_case")]
pub(super) enum EvidenceKindWord {
    Plain,
    OtherFailure(String),
    Ambiguous,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Outcome", rename_all = "snake_case")]
pub(super) enum OutcomeWord {
    #[serde(rename = "reproduced")]
    Fail,
    #[serde(rename = "not_reproduced")]
    Pass,
    Unresolved,
}
