//! Define what the page's programs read. Not stable: a page holds programs and data of one version.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::schema::{EventsDocument, LayersDocument, Tests};

/// A result.
#[derive(Serialize)]
pub(super) struct ChapterDocument<'a> {
    pub(super) criterion: &'a str,
    /// Whether the criterion is known to be about wrong output.
    pub(super) is_wrong: bool,
    pub(super) control: &'static str,
    /// Whether decisions are told from effects.
    pub(super) has_decisions: bool,
    pub(super) effects_tried: bool,
    pub(super) command_line: &'a str,
    /// The word by which commands name the run; null if it is not kept.
    pub(super) run: Option<&'a str>,
    pub(super) remark: &'a str,
    pub(super) verdict: String,
    pub(super) warnings: &'a [String],
    pub(super) by_products: Vec<String>,
    pub(super) status: &'static str,
    pub(super) events: EventsDocument,
    pub(super) tests: Tests,
    pub(super) seconds: f64,
    /// Null unless the dynamic slice was asked for.
    pub(super) comparison: Option<LayersDocument>,
    pub(super) source: Listing,
    pub(super) search: Search,
}

/// The source with its executions.
#[derive(Serialize)]
pub(super) struct Listing {
    pub(super) sections: Vec<PagePart>,
    /// What was seen without the needed events that are shown one by one: outcome and reason.
    pub(super) evidence: BTreeMap<u32, (&'static str, String)>,
    /// What these events did with values. Empty if nobody has looked.
    pub(super) values: BTreeMap<u32, Told>,
    /// What is not shown, in words; empty if all is.
    pub(super) note: String,
}

/// What an event did with values: in one line, and the events that have written what it read, each with the
/// line of its statement and the name.
pub(super) type Told = (String, Vec<(u32, u32, String)>);

/// Lines that are shown together.
#[derive(Serialize)]
pub(super) struct PagePart {
    pub(super) file: String,
    pub(super) functions: String,
    pub(super) rows: Vec<RowDocument>,
}

/// A line of the source; without a number for several that were never executed.
#[derive(Default, Serialize)]
pub(super) struct RowDocument {
    pub(super) number: Option<u32>,
    pub(super) text: String,
    /// Null for a line without statements.
    pub(super) executed: Option<u64>,
    pub(super) needed: Option<u64>,
    /// One letter for each execution: effect, decision, unneeded, fixed, inferred, hole; null where they are folded.
    pub(super) marks: Option<String>,
    /// The events behind `marks`, or the first ones behind `runs`.
    pub(super) events: Vec<u32>,
    /// Executions that are alike and follow each other: letter, first and last.
    pub(super) runs: Vec<(char, u64, u64)>,
    /// All of them in words, where they are folded.
    pub(super) sentence: String,
}

/// How the search went on.
#[derive(Serialize)]
pub(super) struct Search {
    pub(super) phases: Vec<Phase>,
    /// The events left over: number of the test and how many, at each improvement.
    pub(super) curve: Vec<(usize, usize)>,
    /// The columns of the matrix: first event, last event, line of the first.
    pub(super) columns: Vec<(u32, u32, u32)>,
    /// Whether each column is one event.
    pub(super) is_exact: bool,
    pub(super) rows: Vec<Test>,
    /// What the rows have printed, each different output once.
    pub(super) outputs: Vec<Output>,
    pub(super) note: String,
}

/// A phase of the search.
#[derive(Serialize)]
pub(super) struct Phase {
    /// `program` or `trace`.
    pub(super) control: &'static str,
    /// The number of its first test.
    pub(super) first: usize,
}

/// A row of the matrix.
#[derive(Serialize)]
pub(super) struct Test {
    pub(super) number: usize,
    pub(super) outcome: &'static str,
    pub(super) size: usize,
    pub(super) of: usize,
    pub(super) why: String,
    #[serde(flatten)]
    pub(super) subset: Subset,
    /// Which of the outputs it has printed; null if that is not shown.
    pub(super) output: Option<usize>,
}

/// What a test has executed.
#[derive(Serialize)]
pub(super) struct Subset {
    /// `program` or `trace`.
    pub(super) control: &'static str,
    /// The chosen events, as `stripe replay --keep` takes them.
    pub(super) events: String,
    /// Whether these are only the first of them.
    pub(super) is_cut: bool,
    /// A sign for each column: `0` to `9` for none to all of it chosen, `-` for nothing to choose.
    pub(super) cells: String,
}

/// What a test has printed.
#[derive(Serialize)]
pub(super) struct Output {
    pub(super) streams: Vec<Stream>,
}

/// What a test has printed on one of its streams.
#[derive(Serialize)]
pub(super) struct Stream {
    pub(super) name: &'static str,
    pub(super) lines: Vec<String>,
    /// What the lines do not show, in words.
    pub(super) note: String,
    /// Where it differs from the recorded output: lines with ` ` in both, `-` recorded, `+` printed; `~` for
    /// equal ones that are not shown.
    pub(super) difference: Vec<(char, String)>,
    /// What these lines do not show, in words.
    pub(super) difference_note: String,
}
