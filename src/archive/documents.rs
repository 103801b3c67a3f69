//! Define the documents of a run's folder: every key that is written.
//!
//! A change that an older program would misread needs a new version of the format.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tracer::invocation::Answers;
use tracer::program::Granularity;
use tracer::schedule::Control as Rule;
use tracer::{Containment, Engine, Preference};

use dd::{Algorithm, Counts, Outcome};

use super::contents::FileDocument;
use super::crashes::CrashDocument;
use super::observed::ValuesDocument;
use super::texts::TextDocument;
use super::words::{
    AlgorithmWord, AnswersWord, ContainmentWord, ControlWord, EngineWord, EvidenceKindWord, GranularityWord,
    LevelWord, NecessityWord, OutcomeWord, PreferenceWord, RuleWord, StatusWord,
};
use crate::circumstances::Status;
use crate::circumstances::events::Control;
use crate::oracle::{Evidence, EvidenceKind, InnerCriterion, InnerQuestion};
use crate::slice::{Level, Necessity};

/// The format of `run.json`. In version 1 a line of a criterion was a text that could stand anywhere, and `^`
/// in some expressions the beginning of the output: its outcomes mean something else.
pub(super) const RUN: &str = "stripe.run/2";
/// The same where `stripe locate` has made the run: an older program would take it for a search.
pub(super) const LOCATE_RUN: &str = "stripe.locate-run/1";
/// The format of `result.json`.
pub(super) const RESULT: &str = "stripe.result/2";
/// The format of earlier versions, which list each needed execution.
pub(super) const LISTED_RESULT: &str = "stripe.result/1";

/// `run.json`.
#[derive(Serialize, Deserialize)]
pub(super) struct RunDocument {
    /// The version of stripe that wrote it.
    pub(super) stripe: String,
    /// The time at which the run was begun, in seconds since 1970.
    pub(super) started: u64,
    pub(super) command_line: Vec<TextDocument>,
    pub(super) command: Vec<String>,
    pub(super) program: ProgramDocument,
    pub(super) start: StartDocument,
    pub(super) criterion: CriterionDocument,
    pub(super) search: SearchDocument,
    /// Only of `stripe locate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) locate: Option<LocateDocument>,
    pub(super) surroundings: SurroundingsDocument,
    pub(super) recorded: RecordedDocument,
    /// The other files of the folder, with their hashes.
    pub(super) files: Vec<FileDocument>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ProgramDocument {
    pub(super) path: TextDocument,
    pub(super) scope: Vec<String>,
    pub(super) libraries: Vec<TextDocument>,
    #[serde(with = "GranularityWord")]
    pub(super) granularity: Granularity,
    pub(super) images: Vec<ImageDocument>,
    pub(super) leaders: u32,
    /// A hash of the layout, in hexadecimal.
    pub(super) layout: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SurroundingsDocument {
    pub(super) processor: String,
    pub(super) objects: Vec<ObjectDocument>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ObjectDocument {
    pub(super) path: TextDocument,
    pub(super) size: u64,
    /// A hash of the file, in hexadecimal.
    pub(super) hash: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ImageDocument {
    pub(super) build_id: Option<String>,
    pub(super) size: u64,
    /// A hash of the file, in hexadecimal.
    pub(super) hash: String,
}

#[derive(Serialize, Deserialize)]
pub(super) struct StartDocument {
    pub(super) arguments: Vec<TextDocument>,
    pub(super) environment: Vec<(TextDocument, TextDocument)>,
    pub(super) directory: TextDocument,
    pub(super) terminal: bool,
    /// The answers that the program gets about the time and for random numbers.
    #[serde(with = "AnswersWord")]
    pub(super) time: Answers,
    #[serde(with = "AnswersWord")]
    pub(super) chance: Answers,
    pub(super) timeout_ms: Option<u64>,
    pub(super) sandbox: bool,
    pub(super) network: bool,
    /// Directories in which changes are real.
    pub(super) writable: Vec<TextDocument>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct CriterionDocument {
    /// The criterion in words.
    pub(super) described: String,
    pub(super) exit: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) matches: Vec<String>,
    pub(super) rejects: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) stderr_matches: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) stderr_rejects: Vec<String>,
    pub(super) only_lines: Option<String>,
    pub(super) check: Option<String>,
    /// The place where it still runs, if it never ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) endless: Option<String>,
    /// The question inside of the run, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) inner: Option<InnerDocument>,
    /// The criteria, if there are several in one run.
    pub(super) several: Vec<PartDocument>,
}

/// One of several criteria: either a regular expression or a line.
#[derive(Serialize, Deserialize)]
pub(super) struct PartDocument {
    pub(super) name: String,
    pub(super) matching: Option<String>,
    /// The line's number in the recorded output, from 0.
    pub(super) line: Option<usize>,
    /// True if it is known that a correct output would not meet it.
    pub(super) wrong: bool,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SearchDocument {
    #[serde(with = "ControlWord")]
    pub(super) control: Control,
    #[serde(with = "AlgorithmWord")]
    pub(super) algorithm: Algorithm,
    pub(super) max_tests: Option<u64>,
    pub(super) max_time_ms: Option<u64>,
    pub(super) jobs: Option<u16>,
    /// The user's preference for jumps or breakpoints.
    #[serde(with = "PreferenceWord")]
    pub(super) preference: Preference,
}

/// The further settings of a run of `stripe locate`.
#[derive(Serialize, Deserialize)]
pub(super) struct LocateDocument {
    pub(super) ignore_space: bool,
    pub(super) values: bool,
    pub(super) studied: Option<String>,
    pub(super) tests: Vec<LocateTestDocument>,
}

/// A test. Texts are bytes, because they need not be UTF-8.
#[derive(Serialize, Deserialize)]
pub(super) struct LocateTestDocument {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    pub(super) input: Vec<u8>,
    pub(super) reference: Option<Vec<u8>>,
    pub(super) passes: Option<bool>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct RecordedDocument {
    #[serde(with = "EngineWord")]
    pub(super) engine: Engine,
    #[serde(with = "ContainmentWord")]
    pub(super) containment: Containment,
    /// The actions that it was denied: a bit for each kind.
    pub(super) denied: u16,
    pub(super) end: EndDocument,
    pub(super) cpu_us: u64,
    pub(super) wall_us: u64,
    pub(super) memory: u64,
    /// An upper bound of the length of the files that it wrote, in bytes; 0 in runs of earlier versions.
    #[serde(default)]
    pub(super) longest_file: u64,
    pub(super) arrivals: u64,
    pub(super) events: usize,
    pub(super) poisoned: bool,
    /// The functions whose frames stay undefined, by their numbers. None in runs of earlier versions.
    #[serde(default)]
    pub(super) untouched_frames: Vec<u32>,
    /// True if allocated memory stays undefined, too.
    #[serde(default)]
    pub(super) untouched_heap: bool,
    pub(super) warnings: Vec<String>,
}

/// The end of the recorded run; one that the tracer has ended is not kept.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum EndDocument {
    Exited(i32),
    CrashedAt(CrashDocument),
    /// The form of earlier versions, when crashes were known by their statements: too little to compare them.
    Crashed(Value),
    /// The run never ends.
    Endless(EndlessDocument),
    /// The run was ended where a value was asked for.
    Reached {
        value: Option<ValueDocument>,
    },
    /// The run was ended where a decision was asked about: its event, and the leader to which control went.
    Decided {
        after: u32,
        reached: u32,
    },
}

/// A value that was asked for.
#[derive(Serialize, Deserialize)]
pub(super) struct ValueDocument {
    pub(super) told: String,
    pub(super) whole: String,
}

/// A question about a value, or without a variable about a decision.
#[derive(Serialize, Deserialize)]
pub(super) struct InnerDocument {
    pub(super) variable: Option<String>,
    pub(super) place: String,
}

impl InnerDocument {
    pub(super) fn new(criterion: &InnerCriterion) -> InnerDocument {
        let variable = match &criterion.question {
            InnerQuestion::Value(variable) => Some(variable.clone()),
            InnerQuestion::Decision => None,
        };
        InnerDocument { variable, place: criterion.place.clone() }
    }

    pub(super) fn criterion(self) -> InnerCriterion {
        let question = self.variable.map_or(InnerQuestion::Decision, InnerQuestion::Value);
        InnerCriterion { question, place: self.place }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct EndlessDocument {
    pub(super) cut: CutDocument,
    pub(super) leaders: Vec<u32>,
    pub(super) enough: u32,
    pub(super) arrivals: u64,
    pub(super) events: u64,
    pub(super) silence_us: u64,
}

/// `result.json`.
#[derive(Serialize, Deserialize)]
pub(super) struct ResultDocument {
    /// The engine that was used in the end: it may turn out during the search that jumps will not do.
    #[serde(with = "EngineWord")]
    pub(super) engine: Engine,
    #[serde(with = "ContainmentWord")]
    pub(super) containment: Containment,
    #[serde(with = "StatusWord")]
    pub(super) status: Status,
    /// The level of the result. Missing in results of earlier versions, which knew single executions only.
    #[serde(default, with = "LevelWord")]
    pub(super) level: Level,
    /// True if effects were distinguished from decisions; missing in results of earlier versions.
    #[serde(default)]
    pub(super) effects_tried: Option<bool>,
    pub(super) recorded: usize,
    pub(super) omittable: usize,
    /// The needed executions with evidence; in earlier versions all.
    pub(super) needed: Vec<NeededDocument>,
    /// Those that were not tried alone; missing in results of earlier versions.
    #[serde(default)]
    pub(super) untried: UntriedDocument,
    pub(super) tests: CountsDocument,
    pub(super) runs: u64,
    pub(super) elapsed_ms: u64,
    pub(super) warnings: Vec<String>,
    pub(super) by_products: Vec<ByProductDocument>,
    /// The values of the needed events; missing if they were not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) values: Option<ValuesDocument>,
    /// The event in which the run crashed, if it needs nothing, from 0.
    #[serde(default)]
    pub(super) crashed_at: Option<u32>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct ByProductDocument {
    pub(super) what: String,
    pub(super) tests: u64,
    #[serde(with = "RuleWord")]
    pub(super) rule: Rule,
    /// Stretches of executed events, first and last, from 0.
    pub(super) executed: Vec<(u32, u32)>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct NeededDocument {
    /// The number of the event, from 0.
    pub(super) event: u32,
    #[serde(with = "NecessityWord")]
    pub(super) necessity: Necessity,
    pub(super) without: Option<SeenDocument>,
}

/// Kept executions without evidence: of a search that has ended early these may be millions, so that they are written as
/// ranges, in base64.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct UntriedDocument {
    pub(super) effects: String,
    pub(super) decisions: String,
    /// The number of both.
    pub(super) count: usize,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SeenDocument {
    #[serde(with = "OutcomeWord")]
    pub(super) outcome: Outcome,
    pub(super) why: String,
    /// The kind of the reason; missing if it is plain.
    #[serde(with = "EvidenceKindWord", default, skip_serializing_if = "is_plain")]
    pub(super) kind: EvidenceKind,
}

impl SeenDocument {
    /// Creates the document of a test's evidence, without its output.
    pub(super) fn of(seen: &Evidence) -> SeenDocument {
        SeenDocument { outcome: seen.outcome, why: seen.why.clone(), kind: seen.kind.clone() }
    }

    /// Restores the evidence.
    pub(super) fn evidence(self) -> Evidence {
        Evidence { kind: self.kind, ..Evidence::new(self.outcome, self.why) }
    }
}

fn is_plain(kind: &EvidenceKind) -> bool {
    *kind == EvidenceKind::Plain
}

#[derive(Serialize, Deserialize)]
pub(super) struct CountsDocument {
    pub(super) reproduced: u64,
    pub(super) not_reproduced: u64,
    pub(super) unresolved: u64,
    pub(super) cached: u64,
}

impl CountsDocument {
    /// Creates the document of counts, without those that need no document: the total, and predictions.
    pub(super) fn of(counts: &Counts) -> CountsDocument {
        CountsDocument {
            reproduced: counts.fail,
            not_reproduced: counts.pass,
            unresolved: counts.unresolved,
            cached: counts.cached,
        }
    }

    /// Restores the counts, whose total is told apart.
    pub(super) fn counts(&self, total: u64) -> Counts {
        let &CountsDocument { reproduced: fail, not_reproduced: pass, unresolved, cached } = self;
        Counts { total, fail, pass, unresolved, cached, predicted: 0 }
    }

    /// The number of tests that were made.
    pub(super) fn made(&self) -> u64 {
        self.reproduced + self.not_reproduced + self.unresolved
    }
}

/// The reason why a run was ended that never ends.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CutDocument {
    CpuTime,
    WallTime,
    Asleep,
    Arrivals,
    Trace,
    FileSize,
    Output,
    Disk,
}
