//! Write a critical slice as annotated source text with a verdict.

use crate::slice::{Control, CriticalSlice, Recorded};

use super::executions::{self, Mark};
use super::listing::{self, Part};
use super::markers;
use super::rows::{Row, Rows};
use super::sections;
use super::source::printable;
use super::style::{Style, wrap};
use super::verdict::verdict;

/// How far the second and further lines of a sentence are moved in.
const INDENT: usize = 2;

/// The slice for people: the source of all functions with a needed execution, with the executions of
/// each line; what the markers mean; the criterion, the verdict and the warnings.
///
/// What is counted are the executions of a line, from 1: each event at one of its statements.
pub fn slice(recorded: Recorded<'_>, slice: &CriticalSlice, style: Style) -> String {
    let lines = executions::count(recorded, slice);
    let mut rows = Rows::new(recorded.program, &lines);
    let sections = sections::find(recorded, slice).into_iter();
    let parts: Vec<Part<'_>> = sections.map(|section| (section.clone(), rows.of(&section))).collect();
    let conclusion = conclusion(slice, style);
    if parts.is_empty() {
        return conclusion;
    }
    let listing = listing::write(recorded.program, &parts, style);
    let legend = legend(&parts, slice.question.control, style);
    format!("{listing}\n\n{legend}\n\n{conclusion}")
}

/// What the markers that occur mean.
fn legend(parts: &[Part<'_>], control: Control, style: Style) -> String {
    let occurs = |mark: &Mark| {
        let rows = parts.iter().flat_map(|(_, rows)| rows);
        rows.filter_map(Row::executions).flat_map(|all| all.runs()).any(|run| run.mark == *mark)
    };
    let meaning = |mark| match (mark, control) {
        (Mark::Effect, Control::Program) => "needed",
        (Mark::Effect, Control::Both | Control::Trace) => "needed for its effect",
        (Mark::Decision, _) => "needed only as a decision",
        (Mark::Unneeded, _) => "executed but not needed",
    };
    let explained = |mark| format!("{} {}", markers::glyph(mark, style), meaning(mark));
    let all: Vec<String> = markers::ALL.into_iter().filter(occurs).map(explained).collect();
    wrap(&all.join(", "), style.width, 0)
}

/// The criterion, the verdict and the warnings.
fn conclusion(slice: &CriticalSlice, style: Style) -> String {
    let criterion = format!("Failure: {}", slice.question.criterion);
    let warnings = slice.warnings.iter().map(|warning| format!("warning: {warning}"));
    let sentences = [criterion, verdict(slice)].into_iter().chain(warnings);
    sentences.map(|sentence| paragraph(&sentence, style) + "\n").collect()
}

/// A sentence in lines; what comes from outside may hold anything.
fn paragraph(sentence: &str, style: Style) -> String {
    let words: Vec<String> = sentence.lines().map(printable).collect();
    wrap(&words.join(" "), style.width, INDENT)
}
