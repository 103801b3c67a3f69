//! Choose the source that the page shows: lines, and their executions one by one or folded.

use std::collections::{BTreeMap, HashSet};

use tracer::observation::Flow;
use tracer::program::{FileId, Program};
use tracer::trace::EventId;

use crate::session::layers::Layers;
use crate::slice::CriticalSlice;
use crate::subject::Recorded;

use super::super::executions::{self, Executions};
use super::super::folding;
use super::super::layers::LayeredExecutions;
use super::super::needed;
use super::super::rows::{Code, Row, Rows};
use super::super::sections::{self, Section};
use super::super::spelling;
use super::super::style::Style;
use super::super::values::ValueWriter;
use super::data::{Listing, PagePart, RowDocument, Told};
use super::shown::{Shown, letter, runs};

/// The number of source lines in all.
const MOST_ROWS: usize = 4000;

/// The number of executions above which a line is folded.
const MOST_DOTS_OF_A_LINE: u64 = 60;

/// The number of executions that are shown one by one, in all; the lines after them are folded.
const MOST_DOTS: u64 = 6000;

/// The number of characters at which a reason is cut.
pub(super) const LONGEST_REASON: usize = 400;

/// The source of all functions with a needed execution, or one that is in the dynamic slice beside it.
pub(super) fn listing(recorded: Recorded<'_>, slice: &CriticalSlice, beside: Option<&Layers<'_>>) -> Listing {
    let layered = beside.map(|layers| LayeredExecutions::of(recorded, layers));
    let lines = match &layered {
        Some(all) => executions::counted(recorded, |event| all.mark(event)).0,
        None => executions::count(recorded, slice),
    };
    let none = executions::Statements::new();
    let mut rows = Rows::new(recorded.program, &lines, &none);
    let mut budget = Budget::default();
    let sections = match &layered {
        Some(all) => sections::of_events(recorded, &all.told()),
        None => sections::find(recorded, slice),
    };
    let mut parts: Vec<PagePart> =
        sections.iter().map(|section| part(recorded.program, section, &mut rows, &mut budget)).collect();
    let shown = Shown::new(recorded, &lines, &budget.dotted);
    for (section, part) in sections.iter().zip(&mut parts) {
        part.rows.iter_mut().for_each(|row| shown.fill(section.file, row));
    }
    let evidence = evidence(slice, &parts);
    let values = values(recorded, slice, &parts);
    Listing { sections: parts, evidence, values, note: budget.note() }
}

/// The room that is left.
#[derive(Default)]
struct Budget {
    rows: usize,
    rows_left_out: usize,
    dots: u64,
    /// The lines whose executions are shown one by one.
    dotted: HashSet<(FileId, u32)>,
}

impl Budget {
    fn has_room_for_row(&mut self) -> bool {
        let has_room = self.rows < MOST_ROWS;
        self.rows += usize::from(has_room);
        self.rows_left_out += usize::from(!has_room);
        has_room
    }

    fn has_room_for_dots(&mut self, line: (FileId, u32), executed: u64) -> bool {
        let has_room = executed <= MOST_DOTS_OF_A_LINE && self.dots + executed <= MOST_DOTS;
        if has_room {
            self.dots += executed;
            self.dotted.insert(line);
        }
        has_room
    }

    fn note(&self) -> String {
        match self.rows_left_out {
            0 => String::new(),
            more => format!("The first {MOST_ROWS} lines are shown, {more} more are not."),
        }
    }
}

fn part(program: &Program, section: &Section, rows: &mut Rows<'_>, budget: &mut Budget) -> PagePart {
    let found = rows.of(section);
    let rows = found.iter().filter(|_| budget.has_room_for_row()).count();
    PagePart {
        file: program.file(section.file).shown.clone(),
        functions: section.names(program),
        rows: found.into_iter().take(rows).map(|found| row(section.file, found, budget)).collect(),
    }
}

/// A row without its events.
fn row(file: FileId, found: Row<'_>, budget: &mut Budget) -> RowDocument {
    let Row::Line { number, text, code, .. } = found else {
        return RowDocument::default();
    };
    let row = RowDocument { number: Some(number), text, ..RowDocument::default() };
    match code {
        Code::None => row,
        Code::Unexecuted => RowDocument { executed: Some(0), needed: Some(0), ..row },
        Code::Executed(all) => {
            let row = RowDocument { executed: Some(all.executed()), needed: Some(all.needed()), ..row };
            if budget.has_room_for_dots((file, number), all.executed()) {
                return RowDocument { marks: Some(marks(all)), ..row };
            }
            RowDocument { runs: runs(all), sentence: folding::sentence(all), ..row }
        }
    }
}

fn marks(executions: &Executions) -> String {
    let runs = executions.runs().iter();
    runs.flat_map(|run| std::iter::repeat_n(letter(run.mark), run.count as usize)).collect()
}

fn evidence(slice: &CriticalSlice, parts: &[PagePart]) -> BTreeMap<u32, (&'static str, String)> {
    let events = parts.iter().flat_map(|part| &part.rows).flat_map(|row| &row.events);
    let mut evidence = BTreeMap::new();
    for &event in events {
        let found = slice.needed.binary_search_by_key(&event, |needed| needed.event.time());
        if let Some(seen) = found.ok().and_then(|position| slice.needed[position].without.as_ref()) {
            let why = seen.why.chars().take(LONGEST_REASON).collect();
            evidence.insert(event, (spelling::outcome(seen.outcome), why));
        }
    }
    evidence
}

fn values(recorded: Recorded<'_>, slice: &CriticalSlice, parts: &[PagePart]) -> BTreeMap<u32, Told> {
    let Some(all) = &slice.values else { return BTreeMap::new() };
    let mut teller = ValueWriter::new(recorded, all, Style::default());
    let line = |event| recorded.program.leader(recorded.trace.leader(event)).statement.line;
    let source = |flow: &Flow| (flow.from.time(), line(flow.from), flow.name.clone());
    let shown = parts.iter().flat_map(|part| &part.rows).flat_map(|row| &row.events);
    let told = |&time: &u32| {
        let event = EventId(time - 1);
        let text = teller.told(event).filter(|text| !text.is_empty())?;
        Some((time, (text, needed::feeding(all, event).iter().map(source).collect())))
    };
    shown.filter_map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::sample::{Folder, Sample};
    use super::*;

    #[test]
    fn each_execution_of_a_line_has_a_mark_and_its_event() {
        let sample = Sample::sum_mul();
        let listing = listing(sample.recorded(), &sample.slice(&sample.omittable(11)[1..], &[]), None);
        let row = listing.sections[0].rows.iter().find(|row| row.number == Some(11)).unwrap();
        assert_eq!(row.marks.as_deref(), Some("ueeeee"));
        assert_eq!(row.events, [9, 13, 17, 21, 25, 29]);
        assert_eq!((row.executed, row.needed), (Some(6), Some(5)));
        assert_eq!(listing.evidence.len(), 5);
    }

    #[test]
    fn a_line_with_very_many_executions_is_folded() {
        let source = "int main(void) { int x = 0;\n    for (int i = 0; i < 99; i++)\n        x = 1;\n    return x;\n}\n";
        let sample = Sample::of(&Folder::new(), source);
        let listing = listing(sample.recorded(), &sample.slice(&sample.omittable(3)[98..], &[]), None);
        let row = listing.sections[0].rows.iter().find(|row| row.number == Some(3)).unwrap();
        assert_eq!((&row.marks, row.runs.as_slice()), (&None, &[('u', 1, 98), ('e', 99, 99)][..]));
        assert_eq!(row.sentence, "executions 1 to 98: not; 99: needed");
        assert_eq!(row.events.len(), 2);
        assert!(listing.evidence.contains_key(&row.events[1]));
    }
}
