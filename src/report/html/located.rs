//! Write a located fault as a page: the ranked lines beside the source, and a sign at each execution where a change
//! makes the output right or brings it nearer, with the difference that it makes.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use tracer::program::FileId;
use tracer::trace::EventId;

use crate::locate::{CandidateKind, Granule, LineRank};
use crate::session::located::Located;
use crate::subject::Recorded;

use super::super::executions::{self, Mark};
use super::super::located::{
    change_in_words, experiment, outcome, shown, value_word, values, verdict, what_came,
};
use super::super::rows::{Code, Row, Rows};
use super::super::sections;
use super::super::source::Sources;
use super::data::Output;
use super::frame::Frame;
use super::outputs::OutputTable;

pub(super) const FRAME: Frame = Frame {
    kind: "located",
    about: "where a change makes it right",
    heading: r#"Where one change makes <code id="title"></code> right"#,
    skip: ("source", "the source"),
    main: include_str!("located.html"),
    style: include_str!("located.css"),
    scripts: &[include_str!("signs.js"), include_str!("difference.js"), include_str!("located.js")],
};

/// The number of source lines that are shown in all.
const MOST_ROWS: usize = 4000;

/// The number of executions up to which all of a line are shown; of more only those with a sign.
const MOST_DOTS: u64 = 60;

#[derive(Serialize)]
struct LocatedPage<'a> {
    title: &'a str,
    verdict: String,
    warnings: &'a [String],
    command_line: &'a str,
    ranking: Vec<Ranked<'a>>,
    /// The number of further ranked lines that are not shown.
    more: usize,
    sections: Vec<LocatedPart<'a>>,
    changes: Vec<ChangeDocument>,
    outputs: Vec<Output>,
    note: String,
}

/// A line of the ranking.
#[derive(Serialize)]
struct Ranked<'a> {
    rank: usize,
    ties: usize,
    file: &'a str,
    line: u32,
    text: String,
    /// The experiments that speak for it, the best first.
    experiments: Vec<String>,
}

/// A part of the source: lines that are shown together.
#[derive(Serialize)]
struct LocatedPart<'a> {
    file: &'a str,
    functions: String,
    rows: Vec<LocatedRow>,
}

/// A row: a line of the source; without a number for several that were never executed.
#[derive(Default, Serialize)]
struct LocatedRow {
    number: Option<u32>,
    text: String,
    /// The number of executions; null for a line without statements.
    executed: Option<u64>,
    /// The rank; null for a line that was not executed.
    rank: Option<usize>,
    /// The changes at all executions that help, by their numbers in `changes`.
    all: Vec<usize>,
    dots: Vec<Dot>,
    /// True if executions without a sign are not shown.
    is_folded: bool,
}

/// An execution of a line.
#[derive(Clone, Serialize)]
struct Dot {
    execution: usize,
    event: u32,
    /// The changes of this execution that help.
    changes: Vec<usize>,
    /// True if any change of it was tried.
    is_tried: bool,
}

/// A change that helps.
#[derive(Serialize)]
struct ChangeDocument {
    told: String,
    /// The outcome: `right`, `undefined` or `nearer`.
    outcome: &'static str,
    effect: &'static str,
    /// The options of `stripe replay` that make it.
    replay: String,
    /// The index of the run's output in `outputs`; null if that is not shown.
    output: Option<usize>,
}

/// Writes the page. `command_line` is the command that repeats the experiment, as typed into a shell.
pub fn page(
    recorded: Recorded<'_>,
    found: &Located,
    (title, command_line): (&str, &str),
    is_full: bool,
) -> String {
    FRAME.page(title, &document(recorded, found, (title, command_line), is_full))
}

fn document<'a>(
    recorded: Recorded<'a>,
    found: &'a Located,
    (title, command_line): (&'a str, &'a str),
    is_full: bool,
) -> LocatedPage<'a> {
    let mut outputs = OutputTable::new(&found.unchanged);
    let helping: Vec<usize> = found.ranking.lines.iter().flat_map(|line| line.repairs.clone()).collect();
    let changes = helping.iter().map(|&number| change(recorded, found, number, &mut outputs)).collect();
    let mut sources = Sources::new(recorded.program);
    let most = shown(is_full);
    let all = &found.ranking.lines;
    let (sections, left_out) = parts(recorded, found, &helping);
    let note = match left_out {
        0 => String::new(),
        more => format!("The first {MOST_ROWS} lines are shown, {more} more are not. "),
    };
    LocatedPage {
        title,
        verdict: verdict(found),
        warnings: &found.warnings,
        command_line,
        ranking: all.iter().take(most).map(|line| ranked(recorded, found, line, &mut sources)).collect(),
        more: all.len().saturating_sub(most),
        sections,
        changes,
        note: note + &outputs.note(),
        outputs: outputs.into_shown(),
    }
}

fn ranked<'a>(
    recorded: Recorded<'a>,
    found: &Located,
    line: &LineRank,
    sources: &mut Sources<'_>,
) -> Ranked<'a> {
    Ranked {
        rank: line.rank,
        ties: line.ties,
        file: &recorded.program.file(line.file).shown,
        line: line.line,
        text: sources.line(line.file, line.line).unwrap_or_default().trim().to_owned(),
        experiments: line.repairs.iter().map(|&number| experiment(recorded, found, number, line)).collect(),
    }
}

fn change(
    recorded: Recorded<'_>,
    found: &Located,
    number: usize,
    outputs: &mut OutputTable<'_>,
) -> ChangeDocument {
    ChangeDocument {
        told: change_in_words(recorded, &found.candidates[number]) + &values(found, number),
        outcome: outcome(found, number),
        effect: what_came(found, number),
        replay: replay(recorded, found, number),
        output: outputs.number(found.printed.get(&number)),
    }
}

/// The options of `stripe replay` that make a change.
fn replay(recorded: Recorded<'_>, found: &Located, number: usize) -> String {
    let candidate = &found.candidates[number];
    let option = match candidate.kind {
        CandidateKind::Flip => "--flip",
        CandidateKind::Always => "--always",
        CandidateKind::Never => "--never",
        CandidateKind::Omit => "--omit-line",
        CandidateKind::Value => "--write",
    };
    let statement = candidate.statement(recorded);
    let file = &recorded.program.file(statement.file).shown;
    let place = match (candidate.granule, candidate.kind) {
        (Granule::Execution(_, event), _) => event.time().to_string(),
        (Granule::Statement, CandidateKind::Omit) if statement.column == 0 => {
            format!("{file}:{}", statement.line)
        }
        (Granule::Statement, CandidateKind::Omit) => {
            format!("{file}:{}:{}", statement.line, statement.column)
        }
        (Granule::Statement, _) => candidate.intervention.place.address.to_string(),
    };
    let value =
        value_word(candidate.intervention.change).map_or_else(String::new, |value| format!("={value}"));
    format!("{option} {place}{value}")
}

/// The source of all functions that were executed, and the number of lines there was no room for.
fn parts<'a>(recorded: Recorded<'a>, found: &Located, helping: &[usize]) -> (Vec<LocatedPart<'a>>, usize) {
    let program = recorded.program;
    let (lines, _) = executions::counted(recorded, |_| Mark::Unneeded);
    let none = executions::Statements::new();
    let mut rows = Rows::new(program, &lines, &none);
    let events: Vec<EventId> = recorded.trace.events().collect();
    let signs = Signs::new(recorded, found, helping);
    let (mut room, mut left_out) = (MOST_ROWS, 0);
    let part = |section: &sections::Section| {
        let all = rows.of(section);
        let shown = all.len().min(room);
        room -= shown;
        left_out += all.len() - shown;
        LocatedPart {
            file: &program.file(section.file).shown,
            functions: section.names(program),
            rows: all.into_iter().take(shown).map(|row| signs.row(section.file, row)).collect(),
        }
    };
    let mut sections = sections::of_events(recorded, &events);
    // The section with the first line of the ranking comes first.
    sections.sort_by_key(|section| {
        let ranks = section.lines.clone().filter_map(|line| signs.ranks.get(&(section.file, line)));
        ranks.min().copied().unwrap_or(usize::MAX)
    });
    let parts = sections.iter().map(part).collect();
    (parts, left_out)
}

/// The ranks and executions of lines.
#[derive(Default)]
struct Signs {
    ranks: HashMap<(FileId, u32), usize>,
    /// The executions of each line in order, each with the changes that help.
    executions: HashMap<(FileId, u32), Vec<Dot>>,
    all: HashMap<(FileId, u32), Vec<usize>>,
}

impl Signs {
    fn new(recorded: Recorded<'_>, found: &Located, helping: &[usize]) -> Signs {
        let mut signs = Signs::default();
        let mut of_event: HashMap<EventId, Vec<usize>> = HashMap::new();
        for (at, &number) in helping.iter().enumerate() {
            let candidate = &found.candidates[number];
            let statement = candidate.statement(recorded);
            match candidate.granule {
                Granule::Execution(_, event) => of_event.entry(event).or_default().push(at),
                Granule::Statement => {
                    signs.all.entry((statement.file, statement.line)).or_default().push(at);
                }
            }
        }
        let tried = tried(found);
        for event in recorded.trace.events() {
            let leader = recorded.program.leader(recorded.trace.leader(event));
            if !leader.kind.is_structural() {
                let line = (leader.statement.file, leader.statement.line);
                let changes = of_event.remove(&event).unwrap_or_default();
                let dots = signs.executions.entry(line).or_default();
                let is_tried = tried.contains(&event);
                dots.push(Dot { execution: dots.len() + 1, event: event.time(), changes, is_tried });
            }
        }
        let lines = found.ranking.lines.iter();
        signs.ranks = lines.map(|line| ((line.file, line.line), line.rank)).collect();
        signs
    }

    fn row(&self, file: FileId, row: Row<'_>) -> LocatedRow {
        let Row::Line { number, text, code, .. } = row else { return LocatedRow::default() };
        let line = (file, number);
        let executed = match code {
            Code::None => None,
            Code::Unexecuted => Some(0),
            Code::Executed(all) => Some(all.executed()),
        };
        let is_folded = executed > Some(MOST_DOTS);
        let dots = self.executions.get(&line).into_iter().flatten();
        LocatedRow {
            number: Some(number),
            text,
            executed,
            rank: self.ranks.get(&line).copied(),
            all: self.all.get(&line).cloned().unwrap_or_default(),
            dots: dots.filter(|dot| !is_folded || !dot.changes.is_empty()).cloned().collect(),
            is_folded,
        }
    }
}

/// The executions of which a change was tried.
fn tried(found: &Located) -> HashSet<EventId> {
    let made = found.candidates.iter().zip(&found.effects).filter(|(_, effect)| effect.is_some());
    made.filter_map(|(candidate, _)| match candidate.granule {
        Granule::Execution(_, event) => Some(event),
        Granule::Statement => None,
    })
    .collect()
}
