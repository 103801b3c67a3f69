//! Define the data of the page's programs. Not stable: a page holds programs and data of one version.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::schema::{EventsDocument, LayersDocument, Tests};

/// A chapter of the page: a result.
#[derive(Serialize)]
pub(super) struct ChapterDocument<'a> {
    pub(super) criterion: &'a str,
    /// True if the criterion is known to be about wrong output.
    pub(super) is_wrong: bool,
    pub(super) control: &'static str,
    /// True if decisions are distinguished from effects.
    pub(super) has_decisions: bool,
    pub(super) effects_tried: bool,
    pub(super) command_line: &'a str,
    /// The name of the run for commands; null if it is not kept.
    pub(super) run: Option<&'a str>,
    pub(super) remark: &'a str,
    pub(super) verdict: String,
    pub(super) warnings: &'a [String],
    pub(super) by_products: Vec<String>,
    pub(super) status: &'static str,
    pub(super) events: EventsDocument,
    pub(super) tests: Tests,
    pub(super) seconds: f64,
    /// The comparison with the dynamic slice; null unless that was asked for.
    pub(super) comparison: Option<LayersDocument>,
    pub(super) source: Listing,
    pub(super) search: Search,
}

/// The listing of the source with its executions.
#[derive(Serialize)]
pub(super) struct Listing {
    pub(super) sections: Vec<PagePart>,
    /// The evidence of the tests without the needed events that are shown one by one: outcome and reason.
    pub(super) evidence: BTreeMap<u32, (&'static str, String)>,
    /// The values that these events read and wrote. Empty if they were not observed.
    pub(super) values: BTreeMap<u32, Told>,
    /// A note about what is not shown; empty if all is.
    pub(super) note: String,
}

/// A description of what an event did with values: in one line, and the events that have written what it read, each
/// with the line of its statement and the name.
pub(super) type Told = (String, Vec<(u32, u32, String)>);

/// A part of the listing: lines that are shown together.
#[derive(Serialize)]
pub(super) struct PagePart {
    pub(super) file: String,
    pub(super) functions: String,
    pub(super) rows: Vec<RowDocument>,
}

/// A row: a line of the source; without a number for several that were never executed.
#[derive(Default, Serialize)]
pub(super) struct RowDocument {
    pub(super) number: Option<u32>,
    pub(super) text: String,
    /// The number of executions; null for a line without statements.
    pub(super) executed: Option<u64>,
    pub(super) needed: Option<u64>,
    /// One letter for each execution: effect, decision, unneeded, fixed, inferred, hole; null where they are folded.
    pub(super) marks: Option<String>,
    /// The events of `marks`, or the first ones of `runs`.
    pub(super) events: Vec<u32>,
    /// Runs of executions that are alike and follow each other: letter, first and last.
    pub(super) runs: Vec<(char, u64, u64)>,
    /// A sentence about the executions, where they are folded.
    pub(super) sentence: String,
}

/// The course of the search.
#[derive(Serialize)]
pub(super) struct Search {
    pub(super) phases: Vec<Phase>,
    /// The number of events left over at each improvement: number of the test and that of the events.
    pub(super) curve: Vec<(usize, usize)>,
    /// The columns of the matrix: first event, last event, line of the first.
    pub(super) columns: Vec<(u32, u32, u32)>,
    /// True if each column is one event.
    pub(super) is_exact: bool,
    pub(super) rows: Vec<Test>,
    /// The outputs of the tests in the rows, each different one once.
    pub(super) outputs: Vec<Output>,
    pub(super) note: String,
}

/// A phase of the search.
#[derive(Serialize)]
pub(super) struct Phase {
    /// The control rule: `program` or `trace`.
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
    /// The index of its output in `outputs`; null if that is not shown.
    pub(super) output: Option<usize>,
}

/// The events that a test has executed.
#[derive(Serialize)]
pub(super) struct Subset {
    /// The control rule: `program` or `trace`.
    pub(super) control: &'static str,
    /// The chosen events, as `stripe replay --keep` takes them.
    pub(super) events: String,
    /// True if these are only the first of them.
    pub(super) is_cut: bool,
    /// A digit for each column: `0` to `9` for none to all of it chosen, `-` for nothing to choose.
    pub(super) cells: String,
}

/// The output of a test.
#[derive(Serialize)]
pub(super) struct Output {
    pub(super) streams: Vec<Stream>,
}

/// One of the output streams of a test.
#[derive(Serialize)]
pub(super) struct Stream {
    pub(super) name: &'static str,
    pub(super) lines: Vec<String>,
    /// A note about what the lines do not show.
    pub(super) note: String,
    /// The difference from the recorded output: lines with ` ` in both, `-` recorded, `+` printed; `~` for
    /// equal ones that are not shown.
    pub(super) difference: Vec<(char, String)>,
    /// A note about what these lines do not show.
    pub(super) difference_note: String,
}
