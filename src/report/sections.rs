//! Choose the parts of the source that a report shows: those of functions with a needed execution.
//!
//! Functions whose lines overlap share a section, so that no line is shown twice: a lambda and the
//! function around it, the instances of a template.

use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};

use tracer::program::{FileId, FunctionId, Leader, Program};
use tracer::trace::EventId;

use super::names::short;
use crate::slice::CriticalSlice;
use crate::subject::Recorded;

/// A section: successive lines of a file that are shown together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) file: FileId,
    pub(super) lines: RangeInclusive<u32>,
    /// The functions whose lines these are.
    pub(super) functions: Vec<FunctionId>,
}

impl Section {
    /// The names of its functions for a heading, shortened; each once.
    pub(super) fn names(&self, program: &Program) -> String {
        let names = self.functions.iter().map(|&function| short(&program.function(function).name));
        let mut names: Vec<String> = names.collect();
        names.dedup();
        names.join(", ")
    }

    fn overlaps(&self, other: &Section) -> bool {
        self.file == other.file
            && self.lines.start() <= other.lines.end()
            && other.lines.start() <= self.lines.end()
    }

    fn absorb(&mut self, other: Section) {
        let start = *self.lines.start().min(other.lines.start());
        let end = *self.lines.end().max(other.lines.end());
        self.lines = start..=end;
        self.functions.extend(other.functions);
    }
}

/// The sections with needed executions, that with the last of them first: what was needed last is nearest to the
/// failure.
pub(super) fn find(recorded: Recorded<'_>, slice: &CriticalSlice) -> Vec<Section> {
    let told: Vec<EventId> = slice.told().collect();
    of_events(recorded, &told)
}

/// The sections of any events, in order.
pub(super) fn of_events(recorded: Recorded<'_>, told: &[EventId]) -> Vec<Section> {
    let mut seen = HashSet::new();
    let mut sections = Vec::new();
    for &event in told.iter().rev() {
        let leader = recorded.program.leader(recorded.trace.leader(event));
        let (function, file) = (leader.function, leader.statement.file);
        if seen.insert((function, file))
            && let Some(lines) = lines(recorded.program, function, file)
        {
            add(&mut sections, Section { file, lines, functions: vec![function] });
        }
    }
    sections
}

/// Adds a section; unites it with all that it overlaps, at the place of the first of them.
fn add(sections: &mut Vec<Section>, section: Section) {
    let Some(first) = sections.iter().position(|other| other.overlaps(&section)) else {
        sections.push(section);
        return;
    };
    let connected: Vec<Section> =
        sections.extract_if(first + 1.., |other| other.overlaps(&section)).collect();
    connected.into_iter().chain([section]).for_each(|other| sections[first].absorb(other));
}

/// The lines of a file from the first to the last of a function's code.
fn lines(program: &Program, function: FunctionId, file: FileId) -> Option<RangeInclusive<u32>> {
    let statements = leaders(program, function).iter().map(|leader| leader.statement);
    let lines = statements.filter(|statement| statement.file == file && statement.line > 0);
    let lines = lines.map(|statement| statement.line);
    Some(lines.clone().min()?..=lines.max()?)
}

fn leaders(program: &Program, function: FunctionId) -> &[Leader] {
    let Range { start, end } = program.function(function).leaders;
    &program.leaders()[start as usize..end as usize]
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Folder, Sample};
    use super::*;

    fn section(file: u32, lines: RangeInclusive<u32>, function: u32) -> Section {
        Section { file: FileId(file), lines, functions: vec![FunctionId(function)] }
    }

    #[test]
    fn functions_that_overlap_share_a_section() {
        let mut sections = vec![section(0, 1..=4, 0), section(0, 10..=14, 1), section(0, 20..=24, 2)];
        add(&mut sections, section(1, 1..=9, 3));
        add(&mut sections, section(0, 14..=20, 4));
        let functions = vec![FunctionId(1), FunctionId(2), FunctionId(4)];
        let united = Section { file: FileId(0), lines: 10..=24, functions };
        assert_eq!(sections, [section(0, 1..=4, 0), united, section(1, 1..=9, 3)]);
    }

    #[test]
    fn functions_come_in_the_order_in_which_they_were_needed_last_and_only_with_something_needed() {
        let source = [
            "int f(int x) { x = x + 1;",
            "    return x;",
            "}",
            "int g(int x) { x = x + 2;",
            "    return x;",
            "}",
            "int main(void) { int x = g(1);",
            "    x = f(x);",
            "    return x - 4;",
            "}",
        ];
        let sample = Sample::of(&Folder::new(), &source.join("\n"));
        let (f, g) = (sample.omittable(1), sample.omittable(4));
        let shown = |effects: &[EventId]| -> Vec<_> {
            let sections = find(sample.recorded(), &sample.slice(effects, &[]));
            sections.into_iter().map(|section| section.lines).collect()
        };
        assert_eq!(shown(&[g[0], f[0]]), [1..=3, 4..=6]);
        assert_eq!(shown(&f), [1..=3]);
        assert_eq!(shown(&[]), []);
    }
}
