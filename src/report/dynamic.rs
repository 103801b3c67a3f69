//! Write dynamic slices: as annotated source text, as a document, as a graph of dependences.

use std::fmt::Write;

use serde::Serialize;
use tracer::trace::EventId;

use super::executions::{self, Mark};
use super::extent::{self, Detail};
use super::listing::{self, Listed};
use super::markers;
use super::rows::{Row, Rows};
use super::schema::VERSION;
use super::sections;
use super::source::printable;
use super::style::{Style, wrap};
use super::words::{count, duration};
use crate::dynamic::{Dependence, DependenceKind, Direction, DynamicSlice, SliceKind};
use crate::session::dynamic::{FollowedRun, SliceStart};
use crate::subject::{Ordinals, Recorded};

/// The name and version of the document.
const DYNAMIC: &str = "stripe.dynamic/1";

/// The largest number of events that are drawn: Graphviz takes minutes for more.
const MOST_EVENTS: usize = 500;

/// A dynamic slice with its criterion and its run.
pub struct SliceReport<'r> {
    /// The recorded run.
    pub recorded: Recorded<'r>,
    /// The dynamic slice.
    pub slice: &'r DynamicSlice,
    /// The slicing criterion.
    pub start: &'r SliceStart,
    /// The run whose dependences were followed.
    pub followed: &'r FollowedRun<'r>,
}

impl SliceReport<'_> {
    /// The mark of an event: its relation to the slice.
    pub(super) fn mark(&self, event: EventId) -> Mark {
        match (self.slice.has(event), self.slice.has_by_data(event)) {
            (false, _) => Mark::Unneeded,
            (true, true) => Mark::Effect,
            (true, false) => Mark::Decision,
        }
    }

    /// Whether it is no entry or epilogue of a function.
    pub(super) fn is_statement(&self, event: EventId) -> bool {
        let Recorded { program, trace } = self.recorded;
        !program.leader(trace.leader(event)).kind.is_structural()
    }
}

/// The slice for people: the source with the executions of each line, what the markers mean, the criterion and a
/// verdict.
pub fn text(report: &SliceReport<'_>, is_full: bool, style: Style) -> String {
    let recorded = report.recorded;
    let (lines, statements) = executions::counted(recorded, |event| report.mark(event));
    let mut rows = Rows::new(recorded.program, &lines, &statements);
    let sections = sections::of_events(recorded, &report.slice.events).into_iter();
    let parts: Vec<Listed<'_>> = sections.map(|section| (section.clone(), rows.of(&section))).collect();
    let verdict = verdict(report, style);
    if parts.is_empty() {
        return verdict;
    }
    let (parts, note) = extent::shown(recorded.program, parts, Detail { is_full, ..Detail::default() });
    let listing = listing::write_as(recorded.program, &parts, "in slice", style);
    let note = note.map(|note| format!("\n\n{}", wrap(&note, style.width))).unwrap_or_default();
    format!("{listing}{note}\n\n{}\n\n{verdict}", legend(&parts, style))
}

fn legend(parts: &[Listed<'_>], style: Style) -> String {
    let occurs = |mark: Mark| {
        let rows = parts.iter().flat_map(|(_, rows)| rows);
        rows.filter_map(Row::executions).flat_map(|all| all.runs()).any(|run| run.mark == mark)
    };
    let all = [
        (Mark::Effect, "in the slice for what it writes"),
        (Mark::Decision, "only because it leads there"),
        (Mark::Unneeded, "executed, not in the slice"),
    ];
    let told = all.into_iter().filter(|&(mark, _)| occurs(mark));
    let told = told.map(|(mark, meaning)| format!("{} {meaning}", markers::glyph(mark, style)));
    wrap(&told.collect::<Vec<_>>().join(", "), style.width)
}

fn verdict(report: &SliceReport<'_>, style: Style) -> String {
    let sentences = [format!("Criterion: {}", report.start.words), told(report)];
    let remarks = remarks(report).into_iter().map(|remark| format!("warning: {remark}"));
    sentences
        .into_iter()
        .chain(remarks)
        .map(|sentence| wrap(&printable(&sentence), style.width) + "\n")
        .collect()
}

/// The size of the slice, and the dependences that were followed, in words.
pub(super) fn told(report: &SliceReport<'_>) -> String {
    let SliceReport { recorded, slice, followed, .. } = report;
    let executed = recorded.trace.events().filter(|&event| report.is_statement(event)).count() as u64;
    let found: Vec<EventId> =
        slice.events.iter().copied().filter(|&event| report.is_statement(event)).collect();
    let by_data = found.iter().filter(|&&event| slice.has_by_data(event)).count();
    let followed_by = match slice.kind {
        SliceKind::Data => "dependences of data",
        SliceKind::Full => "dependences of data and control",
        SliceKind::Relevant => "dependences of data and control, and potential ones",
    };
    let relation = match slice.direction {
        Direction::Backward => "in the dynamic slice",
        Direction::Forward => "in the forward slice: they depend on it, or are it",
    };
    let led = match found.len() - by_data {
        0 => String::new(),
        led => format!("; {by_data} of them for what they write, {led} only because they lead there"),
    };
    format!(
        "{} of {} are {relation} ({followed_by}{led}). That is inferred, not tried: `stripe run` tries what is needed. \
         {} followed in {}.",
        found.len(),
        count(executed, "statement execution"),
        count(followed.dependences.instructions, "instruction"),
        duration(followed.elapsed)
    )
}

/// Remarks on what weakens the slice; each one sentence.
pub(super) fn remarks(report: &SliceReport<'_>) -> Vec<String> {
    let FollowedRun { baseline, dependences, .. } = report.followed;
    let all = report.start.remarks.iter().chain(&baseline.warnings).chain(&dependences.remarks);
    all.cloned().collect()
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    kind: &'static str,
    direction: &'static str,
    criterion: &'a str,
    executed: usize,
    instructions: u64,
    start: Vec<u32>,
    slice: Vec<SlicedEvent<'a>>,
    dependences: Vec<DependenceDocument<'a>>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct SlicedEvent<'a> {
    event: u32,
    file: &'a str,
    line: u32,
    column: u32,
    function: &'a str,
    occurrence: Option<u32>,
}

#[derive(Serialize)]
struct DependenceDocument<'a> {
    from: u32,
    to: u32,
    kind: &'static str,
    name: &'a str,
}

/// The slice as a document of the schema `stripe.dynamic/1`.
pub fn json(report: &SliceReport<'_>) -> String {
    let SliceReport { recorded, slice, start, followed } = report;
    let ordinals = Ordinals::new(*recorded);
    let event = |event: &EventId| {
        let statement = ordinals.statement(*event);
        SlicedEvent {
            event: event.time(),
            file: &recorded.program.file(statement.file).shown,
            line: statement.line,
            column: statement.column,
            function: &recorded.program.function_of(recorded.trace.leader(*event)).name,
            occurrence: ordinals.number(*event),
        }
    };
    let document = Document {
        schema: DYNAMIC,
        version: VERSION,
        kind: match slice.kind {
            SliceKind::Data => "data",
            SliceKind::Full => "full",
            SliceKind::Relevant => "relevant",
        },
        direction: match slice.direction {
            Direction::Backward => "backward",
            Direction::Forward => "forward",
        },
        criterion: &start.words,
        executed: recorded.trace.events().filter(|&event| report.is_statement(event)).count(),
        instructions: followed.dependences.instructions,
        start: slice.criterion.iter().map(|event| event.time()).collect(),
        slice: slice.events.iter().map(event).collect(),
        dependences: slice.dependences.iter().map(dependence_document).collect(),
        warnings: remarks(report),
    };
    serde_json::to_string_pretty(&document).expect("a document has text keys only") + "\n"
}

fn dependence_document(dependence: &Dependence) -> DependenceDocument<'_> {
    let Dependence { from, to, kind, name } = dependence;
    DependenceDocument { from: from.time(), to: to.time(), kind: kind_name(*kind), name }
}

/// The word for it in documents.
pub(super) fn kind_name(kind: DependenceKind) -> &'static str {
    match kind {
        DependenceKind::Data => "data",
        DependenceKind::Control => "control",
        DependenceKind::Call => "call",
        DependenceKind::Potential => "potential",
    }
}

/// Draws the dependences in the DOT language of Graphviz: an arrow leads from what was written to the event that has
/// read it, a dashed one from a decision or a call to what depends on it.
pub fn dot(report: &SliceReport<'_>) -> String {
    let SliceReport { recorded, slice, .. } = report;
    let drawn = &slice.events[slice.events.len().saturating_sub(MOST_EVENTS)..];
    let mut text = String::from(
        "digraph dynamic_slice {\n  graph [fontname=\"sans-serif\"];\n  node [shape=box, fontname=\"monospace\"];\n",
    );
    for event in drawn {
        let line = recorded.program.leader(recorded.trace.leader(*event)).statement.line;
        let shape = match (slice.criterion.contains(event), report.mark(*event)) {
            (true, _) => "style=filled, fillcolor=black, fontcolor=white",
            (false, Mark::Effect) => "style=filled, fillcolor=lightgrey",
            (false, _) => "shape=diamond",
        };
        let _ = writeln!(text, "  e{0} [label=\"{line}_{0}\", {shape}];", event.time());
    }
    let is_drawn = |event: &EventId| drawn.binary_search(event).is_ok();
    for Dependence { from, to, kind, name } in
        slice.dependences.iter().filter(|dependence| is_drawn(&dependence.from) && is_drawn(&dependence.to))
    {
        let look = match kind {
            DependenceKind::Data => format!("label=\"{}\"", escaped(name)),
            DependenceKind::Control => "style=dashed".to_owned(),
            DependenceKind::Call => "style=dashed, label=\"calls\"".to_owned(),
            DependenceKind::Potential => format!("style=dotted, label=\"{}\"", escaped(name)),
        };
        let _ = writeln!(text, "  e{} -> e{} [{look}];", to.time(), from.time());
    }
    let left_out = slice.events.len() - drawn.len();
    if left_out > 0 {
        let _ = writeln!(text, "  more [shape=note, label=\"{left_out} earlier events are not drawn\"];");
    }
    text + "}\n"
}

fn escaped(text: &str) -> String {
    printable(text).replace('\\', "\\\\").replace('"', "\\\"")
}
