//! The JSON documents of a results folder: every key, in the order in which it is written.
//!
//! Keys are stable: a version in `schema` promises that none goes away or changes its meaning; more may be added.

use serde::{Deserialize, Serialize};

use crate::source_line::SourceLine;

/// The name and version of [`WorkDocument`].
pub const WORK: &str = "stripe.study.run/1";
/// The name and version of [`SpectraDocument`].
pub const SPECTRA: &str = "stripe.study.spectra/1";
/// The name and version of [`ItemDocument`].
pub const ITEM: &str = "stripe.study.item/1";
/// The name and version of [`StudyDocument`].
pub const STUDY: &str = "stripe.study/1";

/// The document of the whole study: its techniques and faults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StudyDocument {
    /// The schema, [`STUDY`].
    pub schema: String,
    /// The version of stripe that has begun the study.
    pub version: String,
    /// The file name of the manifest; a copy lies beside this document.
    pub manifest: String,
    /// The folder where the paths of the manifest begin, absolute.
    pub folder: String,
    /// The names of the techniques.
    pub techniques: Vec<String>,
    /// The names of results of other tools, which were taken in.
    #[serde(default)]
    pub imported: Vec<String>,
    /// The faults, in the order of the manifest.
    pub faults: Vec<FaultDocument>,
    /// The faults that were left out, and why: a mistake of the manifest each.
    pub left_out: Vec<String>,
    /// The first line that `cc --version` prints; empty where there is none.
    pub compiler: String,
    /// The processor and the kernel of the machine that has begun the study; each run names its own.
    #[serde(default)]
    pub machine: String,
}

/// A fault of the study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FaultDocument {
    /// Its name.
    pub name: String,
    /// The group of faults to which it belongs.
    pub group: String,
    /// A hash of what the manifest says about it: results with another one are made again.
    pub key: String,
    /// The techniques that are not for it, also as parts of others.
    #[serde(default)]
    pub without: Vec<String>,
}

impl FaultDocument {
    /// Whether a technique of this name is for it.
    pub fn asks(&self, technique: &str) -> bool {
        let is_named = |part: &str| self.without.iter().any(|one| part.split(':').next() == Some(one));
        !technique.split('+').any(is_named)
    }
}

/// One piece of work on a fault, as it was done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkDocument {
    /// The schema, [`WORK`].
    pub schema: String,
    /// The version of stripe.
    pub version: String,
    /// The name of the fault.
    pub fault: String,
    /// `spectra`, `slice`, `dynamic`, `locate` and the like, with the budget of its own.
    pub work: String,
    /// The key of the fault, as in [`FaultDocument`].
    pub key: String,
    /// The command line.
    pub command: Vec<String>,
    /// The status: `complete`, `budget`, `unconfirmed` or `failed`.
    pub status: String,
    /// The reason why it has failed.
    pub why: Option<String>,
    /// The wall time in seconds, to the millisecond.
    pub seconds: f64,
    /// The most memory that stripe itself has held, as far as seen, in KiB.
    pub memory_kib: u64,
    /// The processor and the kernel.
    pub machine: String,
    /// The output of the command: a document of its own schema.
    pub document: Option<serde_json::Value>,
}

/// The spectra: the statements that the tests have executed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpectraDocument {
    /// The schema, [`SPECTRA`].
    pub schema: String,
    /// The name of the fault.
    pub fault: String,
    /// The build id of the executable, in hexadecimal.
    pub build_id: Option<String>,
    /// The compilers with their options, as the debug information names them.
    #[serde(default)]
    pub compilers: Vec<String>,
    /// The shared libraries that the tests had in memory.
    #[serde(default)]
    pub libraries: Vec<LibraryDocument>,
    /// The test that is the run under study, by its number from 0.
    pub failing_run: usize,
    /// The tests.
    pub tests: Vec<TestDocument>,
    /// Tests that could not be used, with the reason.
    pub left_out: Vec<String>,
    /// All statements that can be executed.
    pub statements: Vec<StatementDocument>,
}

/// A shared library.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryDocument {
    /// The path.
    pub path: String,
    /// The build id, in hexadecimal; null if the linker left none.
    pub build_id: Option<String>,
}

/// A test and what it has executed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TestDocument {
    /// The name of the test.
    pub name: String,
    /// Whether it fails.
    pub fails: bool,
    /// The way in which it ended, in words.
    pub ended: String,
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// The file with its standard input.
    pub input: Option<String>,
    /// The file with the correct output.
    pub reference: Option<String>,
    /// The number of events.
    pub events: usize,
    /// The numbers of the statements that it has executed, from 0: `0-4,7`.
    pub executed: String,
}

/// A statement that can be executed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementDocument {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 where the compiler gives none.
    pub column: u32,
    /// The function.
    pub function: String,
}

/// The result of one technique for one fault.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ItemDocument {
    /// The schema, [`ITEM`].
    pub schema: String,
    /// The version of stripe.
    pub version: String,
    /// The name of the fault.
    pub fault: String,
    /// The group of faults to which it belongs.
    pub group: String,
    /// The name of the technique.
    pub technique: String,
    /// The key of the fault, as in [`FaultDocument`].
    pub key: String,
    /// The status: `complete`, `budget`, `unconfirmed` or `failed`.
    pub status: String,
    /// The reason why there is no result.
    pub why: Option<String>,
    /// Warnings of what weakens the result.
    pub warnings: Vec<String>,
    /// The documents of the work from which it was made, relative to this one.
    pub behind: Vec<String>,
    /// The cost of that work.
    pub cost: CostDocument,
    /// The metrics of the ranking; null if there is no result.
    pub metrics: Option<MetricsDocument>,
    /// The ranking: all lines, the most suspicious ones first.
    pub ranking: Vec<GroupDocument>,
}

impl ItemDocument {
    /// The faulty lines of the fault.
    pub fn faulty(&self) -> Vec<SourceLine> {
        let faulty = self.metrics.iter().flat_map(|metrics| &metrics.faulty);
        faulty.filter_map(|one| SourceLine::parse(&one.line).ok()).collect()
    }
}

/// The cost of the work for a result; the work that several techniques share counts for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostDocument {
    /// The wall time in seconds.
    pub seconds: f64,
    /// The most memory, in KiB.
    pub memory_kib: u64,
    /// The number of runs of the program, recordings included where they are counted.
    pub runs: u64,
    /// The number of tests of a search.
    pub tests: u64,
    /// The number of events of the failing run.
    pub events: u64,
    /// The number of these that a slice keeps; null where none is made.
    pub events_kept: Option<u64>,
}

/// The metrics of a ranking: the places of the faulty lines in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MetricsDocument {
    /// The number of lines that can be executed.
    pub lines: usize,
    /// The number of lines that the failing run has executed.
    pub lines_executed: usize,
    /// The number of lines that the technique names.
    pub suspects: usize,
    /// The number of statements that can be executed; null if the ranking was imported.
    #[serde(default)]
    pub statements: Option<usize>,
    /// The number of statements that the failing run has executed; null likewise.
    #[serde(default)]
    pub statements_executed: Option<usize>,
    /// The number of statements that the technique names; null if it names lines only.
    #[serde(default)]
    pub statements_named: Option<usize>,
    /// Whether a faulty line is among the lines that the technique names.
    pub hit: bool,
    /// The number of lines read up to the first faulty one.
    pub first: PlaceDocument,
    /// The average place of all faulty lines.
    pub mean: PlaceDocument,
    /// The share of lines read up to the first faulty one.
    pub exam: PlaceDocument,
    /// The number of lines read in vain before the first faulty one.
    pub wasted_effort: PlaceDocument,
    /// 1 over the place of the first faulty line.
    pub reciprocal_rank: PlaceDocument,
    /// Each faulty line with its place; null for a line that cannot be executed.
    pub faulty: Vec<FaultyDocument>,
}

/// A faulty line and its place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FaultyDocument {
    /// The line, as the manifest names it.
    pub line: String,
    /// Its place in the ranking.
    pub place: Option<PlaceDocument>,
}

/// A number by the three ways to count ties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlaceDocument {
    /// The best case: the faulty line is read first.
    pub best: f64,
    /// The average over all orders.
    pub average: f64,
    /// The worst case: it is read last.
    pub worst: f64,
}

/// Lines that are tied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GroupDocument {
    /// The place of the first one, from 1.
    pub rank: usize,
    /// Whether the technique names them.
    pub suspect: bool,
    /// The number by which they are ordered; null if there is none, or if it is infinite.
    pub score: Option<f64>,
    /// The lines.
    pub lines: Vec<String>,
}
