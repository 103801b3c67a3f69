//! Write the three slices of one run in one listing: what was executed, what of it the failure depends on, what of
//! that it needs.

use std::collections::BTreeMap;

use tracer::program::FileId;
use tracer::trace::EventId;

use super::executions::{self, Mark};
use super::extent::{self, Detail};
use super::listing::{self, Listed};
use super::markers;
use super::rows::{Row, Rows};
use super::schema::{LayersDocument, WithoutDocument};
use super::sections;
use super::source::printable;
use super::spelling;
use super::style::{Style, wrap};
use super::words::count;
use crate::session::layers::Layers;
use crate::subject::{Ordinals, Recorded, stretches};

/// The number of lines with inferred executions that are shown, and the number of holes.
const MOST_LINES: usize = 20;
const MOST_HOLES: usize = 10;

/// Writes the slices of all criteria, one after the other.
pub fn text(recorded: Recorded<'_>, all: &[Layers<'_>], detail: Detail, style: Style) -> String {
    all.iter().map(|layers| of_one(recorded, layers, detail, style)).collect()
}

/// The executions of a criterion, with their places in its slices.
pub(super) struct LayeredExecutions {
    /// The mark of each execution.
    marks: BTreeMap<EventId, Mark>,
    executed: usize,
    dynamic: usize,
    needed: usize,
    inferred: Vec<EventId>,
    holes: Vec<EventId>,
    /// The executions in the dynamic slice that cannot be left out.
    fixed: Vec<EventId>,
}

impl LayeredExecutions {
    pub(super) fn of(recorded: Recorded<'_>, layers: &Layers<'_>) -> LayeredExecutions {
        let known = executions::marks(recorded, layers.critical);
        let mark = |(event, mark): (EventId, Mark)| {
            let depends = layers.dynamic.has(event);
            let mark = match mark {
                Mark::Effect | Mark::Decision if !depends => Mark::Hole,
                Mark::Unneeded if depends => Mark::Inferred,
                mark => mark,
            };
            (event, mark)
        };
        let marks: BTreeMap<EventId, Mark> = known.into_iter().map(mark).collect();
        let of = |wanted: Mark| -> Vec<EventId> {
            marks.iter().filter(|(_, mark)| **mark == wanted).map(|(event, _)| *event).collect()
        };
        LayeredExecutions {
            executed: marks.len(),
            dynamic: marks.keys().filter(|event| layers.dynamic.has(**event)).count(),
            needed: layers.critical.needed.len(),
            inferred: of(Mark::Inferred),
            holes: of(Mark::Hole),
            fixed: of(Mark::Fixed).into_iter().filter(|&event| layers.dynamic.has(event)).collect(),
            marks,
        }
    }

    /// The mark of an execution.
    pub(super) fn mark(&self, event: EventId) -> Mark {
        self.marks.get(&event).copied().unwrap_or(Mark::Unneeded)
    }

    /// The executions that are in one of the slices, in order.
    pub(super) fn told(&self) -> Vec<EventId> {
        let is_told = |mark: Mark| !matches!(mark, Mark::Unneeded | Mark::Fixed);
        let fixed = |event: &EventId| self.fixed.binary_search(event).is_ok();
        (self.marks.iter())
            .filter(|(event, mark)| is_told(**mark) || fixed(event))
            .map(|(event, _)| *event)
            .collect()
    }

    /// The document of the comparison.
    pub(super) fn document(&self, layers: &Layers<'_>) -> LayersDocument {
        let events = |events: &[EventId]| spelling::events(stretches(events.iter().copied()));
        let without = |&event: &EventId| WithoutDocument {
            event: event.time(),
            test: layers.without.get(&event).copied(),
        };
        let dynamic: Vec<EventId> =
            self.marks.keys().copied().filter(|&event| layers.dynamic.has(event)).collect();
        LayersDocument {
            executed: self.executed,
            dynamic: self.dynamic,
            dynamic_events: events(&dynamic),
            not_needed: self.inferred.iter().map(without).collect(),
            not_inferred: events(&self.holes),
            criterion: layers.start.words.clone(),
            warnings: layers.start.remarks.clone(),
        }
    }
}

fn of_one(recorded: Recorded<'_>, layers: &Layers<'_>, detail: Detail, style: Style) -> String {
    let executions = LayeredExecutions::of(recorded, layers);
    let mark = |event: EventId| executions.mark(event);
    let (lines, statements) = executions::counted(recorded, mark);
    let mut rows = Rows::new(recorded.program, &lines, &statements);
    let sections = sections::of_events(recorded, &executions.told()).into_iter();
    let parts: Vec<Listed<'_>> = sections.map(|section| (section.clone(), rows.of(&section))).collect();
    let (parts, note) = extent::shown(recorded.program, parts, detail);
    let heading = match layers.name {
        "" => "Three slices of this run".to_owned(),
        name => format!("Three slices of this run, {name}"),
    };
    let mut paragraphs = vec![style.bold(&printable(&heading))];
    if !parts.is_empty() {
        paragraphs.push(listing::write(recorded.program, &parts, style));
    }
    paragraphs.extend(note.map(|note| wrap(&note, style.width)));
    paragraphs.push(legend(&parts, style));
    paragraphs.push(numbers(&executions, style));
    paragraphs.extend(inferred(recorded, layers, &executions, style));
    paragraphs.extend(holes(recorded, layers, &executions, style));
    let remarks = layers.start.remarks.iter();
    paragraphs.extend(remarks.map(|remark| wrap(&printable(&format!("warning: {remark}")), style.width)));
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    format!("\n{}\n", paragraphs.join("\n\n"))
}

fn legend(parts: &[Listed<'_>], style: Style) -> String {
    let occurs = |mark: Mark| {
        let rows = parts.iter().flat_map(|(_, rows)| rows);
        rows.filter_map(Row::executions).flat_map(|all| all.runs()).any(|run| run.mark == mark)
    };
    let all = [
        (Mark::Effect, "needed for its effect"),
        (Mark::Decision, "needed only as a decision"),
        (Mark::Hole, "needed, but not in the dynamic slice"),
        (Mark::Inferred, "in the dynamic slice, but not needed"),
        (Mark::Unneeded, "executed, in neither"),
        (Mark::Fixed, "cannot be left out"),
    ];
    let told = all.into_iter().filter(|&(mark, _)| occurs(mark));
    let told = told.map(|(mark, meaning)| format!("{} {meaning}", markers::glyph(mark, style)));
    wrap(&told.collect::<Vec<_>>().join(", "), style.width)
}

fn numbers(executions: &LayeredExecutions, style: Style) -> String {
    let LayeredExecutions { executed, dynamic, needed, inferred, holes, .. } = executions;
    let holes = match holes.len() {
        0 => String::new(),
        holes => format!(", {holes} of them outside of the dynamic slice"),
    };
    let sentence = format!(
        "{} in all; the failure depends on {dynamic} of them (dynamic slice: inferred); it needs {needed}{holes} (critical \
         slice: tried). Of those in the dynamic slice {} can be left out.",
        count(*executed as u64, "statement execution"),
        inferred.len()
    );
    wrap(&sentence, style.width)
}

/// Lists, for each line with executions in the dynamic slice that are not needed, the tests that showed it.
fn inferred(
    recorded: Recorded<'_>,
    layers: &Layers<'_>,
    executions: &LayeredExecutions,
    style: Style,
) -> Option<String> {
    let ordinals = Ordinals::new(recorded);
    let mut lines: BTreeMap<(FileId, u32), Vec<EventId>> = BTreeMap::new();
    for &event in &executions.inferred {
        let statement = ordinals.statement(event);
        lines.entry((statement.file, statement.line)).or_default().push(event);
    }
    if lines.is_empty() {
        return None;
    }
    let mut told = vec!["In the dynamic slice, and the failure was there without:".to_owned()];
    for events in lines.values().take(MOST_LINES) {
        let shown = |&event: &EventId| match layers.without.get(&event) {
            Some(test) => format!("{} (test {test})", ordinals.name(event)),
            None => ordinals.name(event),
        };
        let names: Vec<String> = events.iter().map(shown).collect();
        told.push(wrap(&format!("  {}", printable(&names.join(", "))), style.width));
    }
    if lines.len() > MOST_LINES {
        told.push(format!(
            "  and executions of {}",
            count((lines.len() - MOST_LINES) as u64, "further line")
        ));
    }
    Some(told.join("\n"))
}

/// Lists the holes: needed events that are not in the dynamic slice, with what was seen without each.
fn holes(
    recorded: Recorded<'_>,
    layers: &Layers<'_>,
    executions: &LayeredExecutions,
    style: Style,
) -> Option<String> {
    if executions.holes.is_empty() {
        return None;
    }
    let ordinals = Ordinals::new(recorded);
    let why = |event: EventId| {
        let evidence = layers.critical.find(event).and_then(|needed| needed.without.as_ref());
        evidence.map_or_else(String::new, |evidence| format!(": without it, {}", evidence.why))
    };
    let intro = "Needed, and no dependence leads there. Either an earlier value has taken the place of one that was left \
                 out, so that one of the two is needed and it does not matter which; or a dependence is not seen: through \
                 the books of the allocator, an address, what another process does:";
    let mut told = vec![wrap(intro, style.width)];
    for &event in executions.holes.iter().take(MOST_HOLES) {
        let line = format!("  {}{}", ordinals.name(event), why(event));
        told.push(wrap(&printable(&line), style.width));
    }
    if executions.holes.len() > MOST_HOLES {
        told.push(format!("  and {} more", executions.holes.len() - MOST_HOLES));
    }
    Some(told.join("\n"))
}
