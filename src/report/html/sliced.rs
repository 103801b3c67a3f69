//! Write a dynamic slice as a page: the source with a sign for each execution, and at each of them what it depends on and
//! what depends on it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use tracer::program::FileId;
use tracer::trace::EventId;

use crate::dynamic::{Dependence, Direction};
use crate::subject::Ordinals;

use super::super::dynamic::{SliceReport, kind_name, remarks, told};
use super::super::executions::{self, Mark};
use super::super::rows::{Code, Row, Rows};
use super::super::sections;
use super::super::source::Sources;
use super::frame::Frame;
use super::shown::letter;

pub(super) const FRAME: Frame = Frame {
    kind: "sliced",
    about: "dynamic slice",
    heading: r#"<span id="direction"></span> of <code id="title"></code>"#,
    skip: ("source", "the source"),
    main: include_str!("sliced.html"),
    style: include_str!("sliced.css"),
    scripts: &[include_str!("signs.js"), include_str!("sliced.js")],
};

/// Lines of source in all.
const MOST_ROWS: usize = 4000;

/// Of a line with more executions only those in the slice are shown, and no more of them than this.
const MOST_DOTS: usize = 60;

/// Dependences in all: a browser has to hold them.
const MOST_DEPENDENCES: usize = 20_000;

/// Executions in the table below the source.
const MOST_LISTED: usize = 500;

#[derive(Serialize)]
struct SlicedPage<'a> {
    title: &'a str,
    criterion: &'a str,
    verdict: String,
    direction: &'static str,
    warnings: Vec<String>,
    command_line: &'a str,
    start: Vec<u32>,
    sections: Vec<SlicedPart<'a>>,
    note: String,
    dependences: Vec<Edge<'a>>,
    dependences_note: String,
    /// The names of the events that dependences refer to.
    names: BTreeMap<u32, String>,
    /// The source of those.
    texts: BTreeMap<u32, String>,
    most_listed: usize,
}

/// Lines that are shown together.
#[derive(Serialize)]
struct SlicedPart<'a> {
    file: &'a str,
    functions: String,
    rows: Vec<SlicedRow>,
}

/// A line of the source; without a number for several that were never executed.
#[derive(Default, Serialize)]
struct SlicedRow {
    number: Option<u32>,
    text: String,
    /// Null for a line without statements.
    executed: Option<u64>,
    in_slice: Option<u64>,
    dots: Vec<SlicedExecution>,
    /// Whether executions are not shown.
    is_folded: bool,
}

/// An execution of a line.
#[derive(Clone, Serialize)]
struct SlicedExecution {
    execution: usize,
    event: u32,
    mark: char,
}

/// An event depends on another one.
#[derive(Serialize)]
struct Edge<'a> {
    from: u32,
    to: u32,
    kind: &'static str,
    name: &'a str,
}

/// The page. `command_line` is what does it again, as typed into a shell.
pub fn page(report: &SliceReport<'_>, (title, command_line): (&str, &str)) -> String {
    FRAME.page(title, &document(report, (title, command_line)))
}

fn document<'a>(report: &'a SliceReport<'a>, (title, command_line): (&'a str, &'a str)) -> SlicedPage<'a> {
    let slice = report.slice;
    // What the criterion depends on most directly stands last.
    let left_out = slice.dependences.len().saturating_sub(MOST_DEPENDENCES);
    let shown = &slice.dependences[left_out..];
    let named: BTreeSet<EventId> = shown.iter().flat_map(|one| [one.from, one.to]).collect();
    let (sections, rows_left_out) = parts(report);
    SlicedPage {
        title,
        criterion: &report.start.words,
        verdict: told(report),
        direction: match slice.direction {
            Direction::Backward => "backward",
            Direction::Forward => "forward",
        },
        warnings: remarks(report),
        command_line,
        start: slice.criterion.iter().map(|event| event.time()).collect(),
        sections,
        note: match rows_left_out {
            0 => String::new(),
            more => format!("The first {MOST_ROWS} lines are shown, {more} more are not."),
        },
        dependences: shown.iter().map(edge).collect(),
        dependences_note: match left_out {
            0 => String::new(),
            more => format!(
                "{more} dependences of earlier executions are not on this page; --format json has all."
            ),
        },
        names: names(report, &named),
        texts: texts(report, &named),
        most_listed: MOST_LISTED,
    }
}

fn edge(dependence: &Dependence) -> Edge<'_> {
    let Dependence { from, to, kind, name } = dependence;
    Edge { from: from.time(), to: to.time(), kind: kind_name(*kind), name }
}

/// `11#3`, or what there is instead where a function begins or ends.
fn names(report: &SliceReport<'_>, events: &BTreeSet<EventId>) -> BTreeMap<u32, String> {
    let ordinals = Ordinals::new(report.recorded);
    let trace = report.recorded.trace;
    let name = |&event: &EventId| {
        let function = &report.recorded.program.function_of(trace.leader(event)).name;
        let name = match ordinals.number(event) {
            Some(_) => ordinals.name(event),
            None if trace.entry(trace.activation(event)) == event => format!("call of {function}"),
            None => format!("end of {function}"),
        };
        (event.time(), name)
    };
    events.iter().map(name).collect()
}

fn texts(report: &SliceReport<'_>, events: &BTreeSet<EventId>) -> BTreeMap<u32, String> {
    let ordinals = Ordinals::new(report.recorded);
    let mut sources = Sources::new(report.recorded.program);
    let mut text = |&event: &EventId| {
        let statement = ordinals.statement(event);
        let text = sources.line(statement.file, statement.line)?.trim().to_owned();
        Some((event.time(), text))
    };
    events.iter().filter_map(&mut text).collect()
}

/// The source of all functions in the slice, and how many lines there was no room for.
fn parts<'a>(report: &'a SliceReport<'a>) -> (Vec<SlicedPart<'a>>, usize) {
    let recorded = report.recorded;
    let (lines, _) = executions::counted(recorded, |event| report.mark(event));
    let none = executions::Statements::new();
    let mut rows = Rows::new(recorded.program, &lines, &none);
    let dots = dots(report);
    let (mut room, mut left_out) = (MOST_ROWS, 0);
    let sections = sections::of_events(recorded, &report.slice.events).into_iter();
    let part = |section: sections::Section| {
        let all = rows.of(&section);
        let shown = all.len().min(room);
        room -= shown;
        left_out += all.len() - shown;
        SlicedPart {
            file: &recorded.program.file(section.file).shown,
            functions: section.names(recorded.program),
            rows: all.into_iter().take(shown).map(|row| sliced_row(section.file, row, &dots)).collect(),
        }
    };
    let parts = sections.map(part).collect();
    (parts, left_out)
}

/// The executions of each line, in order.
type Dots = HashMap<(FileId, u32), Vec<SlicedExecution>>;

fn dots(report: &SliceReport<'_>) -> Dots {
    let mut all = Dots::new();
    for event in report.recorded.trace.events().filter(|&event| report.is_statement(event)) {
        let leader = report.recorded.program.leader(report.recorded.trace.leader(event));
        let of_line = all.entry((leader.statement.file, leader.statement.line)).or_default();
        let execution = of_line.len() + 1;
        of_line.push(SlicedExecution { execution, event: event.time(), mark: letter(report.mark(event)) });
    }
    all
}

fn sliced_row(file: FileId, row: Row<'_>, dots: &Dots) -> SlicedRow {
    let Row::Line { number, text, code, .. } = row else { return SlicedRow::default() };
    let (executed, in_slice) = match code {
        Code::None => (None, None),
        Code::Unexecuted => (Some(0), Some(0)),
        Code::Executed(all) => (Some(all.executed()), Some(all.needed())),
    };
    let all = dots.get(&(file, number)).map(Vec::as_slice).unwrap_or_default();
    let is_folded = all.len() > MOST_DOTS;
    let is_shown = |dot: &&SlicedExecution| !is_folded || dot.mark != letter(Mark::Unneeded);
    let dots = all.iter().filter(is_shown).take(MOST_DOTS).cloned().collect();
    SlicedRow { number: Some(number), text, executed, in_slice, dots, is_folded }
}
