//! Choose the rows of a section: its lines, with long stretches that were never executed folded.
//!
//! Does not know how a row is written.

use std::collections::HashSet;

use tracer::program::{FileId, LeaderKind, Program, Statement};

use super::executions::{Executions, Lines, Statements};
use super::pieces;
use super::sections::Section;
use super::source::Sources;

/// The number of lines up to which a stretch that was never executed is shown.
const LONGEST_STRETCH: usize = 8;

/// The code of a line, and whether it was executed.
#[derive(Clone, Copy)]
pub(super) enum Code<'a> {
    /// No statement, or only entry and epilogue of its function were executed.
    None,
    /// Statements, none of which was executed.
    Unexecuted,
    /// Statements that were executed.
    Executed(&'a Executions),
}

/// A row of the listing.
pub(super) enum Row<'a> {
    /// A line of the source; its text is empty where the source is missing.
    Line {
        /// The line number, from 1.
        number: u32,
        /// The text, without tabs and control characters.
        text: String,
        /// Its code.
        code: Code<'a>,
        /// Its statements, if there are several and not all of their executions are alike.
        statements: Vec<(String, &'a Executions)>,
    },
    /// Several lines that were never executed.
    Fold,
}

impl Row<'_> {
    /// The executions of the row's line, if there were any.
    pub(super) fn executions(&self) -> Option<&Executions> {
        match self {
            Row::Line { code: Code::Executed(executions), .. } => Some(executions),
            Row::Line { .. } | Row::Fold => None,
        }
    }
}

/// Makes the rows of sections.
pub(super) struct Rows<'a> {
    lines: &'a Lines,
    executed: &'a Statements,
    statements: HashSet<(FileId, u32)>,
    sources: Sources<'a>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(program: &'a Program, lines: &'a Lines, executed: &'a Statements) -> Rows<'a> {
        let statements = program.leaders().iter().filter(|leader| leader.kind == LeaderKind::Statement);
        let statements = statements.map(|leader| (leader.statement.file, leader.statement.line)).collect();
        Rows { lines, executed, statements, sources: Sources::new(program) }
    }

    /// The rows of a section.
    pub(super) fn of(&mut self, section: &Section) -> Vec<Row<'a>> {
        let lines = self.lines;
        let is_executed = |number: u32| lines.contains_key(&(section.file, number));
        let numbers: Vec<u32> = section.lines.clone().collect();
        let mut rows = Vec::new();
        for stretch in numbers.chunk_by(|&one, &next| is_executed(one) == is_executed(next)) {
            if stretch.len() > LONGEST_STRETCH && !is_executed(stretch[0]) {
                rows.push(Row::Fold);
            } else {
                rows.extend(stretch.iter().filter_map(|&number| self.line(section.file, number)));
            }
        }
        rows
    }

    /// The row of a line; none if nothing is known of the line.
    fn line(&mut self, file: FileId, number: u32) -> Option<Row<'a>> {
        let code = match self.lines.get(&(file, number)) {
            Some(executions) if executions.executed() > 0 => Some(Code::Executed(executions)),
            None if self.statements.contains(&(file, number)) => Some(Code::Unexecuted),
            entered => entered.map(|_| Code::None),
        };
        let text = self.sources.line(file, number).map(str::to_owned);
        let statements = self.statements_of(file, number, text.as_deref().unwrap_or_default());
        if code.is_none() && text.is_none() {
            return None;
        }
        Some(Row::Line {
            number,
            text: text.unwrap_or_default(),
            code: code.unwrap_or(Code::None),
            statements,
        })
    }

    /// The executed statements of a line in their order, if it has several and their signs have to be told apart.
    fn statements_of(&self, file: FileId, number: u32, text: &str) -> Vec<(String, &'a Executions)> {
        let is_alike = self.lines.get(&(file, number)).is_none_or(|all| all.runs().len() < 2);
        if is_alike || text.is_empty() {
            return Vec::new();
        }
        let place = |column| Statement { file, line: number, column };
        let of_line = self.executed.range(place(0)..=place(u32::MAX));
        let all: Vec<_> = of_line.map(|(statement, all)| (pieces::at(text, statement.column), all)).collect();
        let is_clear = all.len() > 1 && all.iter().all(|(piece, _)| !piece.is_empty());
        let repeated = |piece: &str| all.iter().filter(|(other, _)| *other == piece).count() > 1;
        if !is_clear || all.iter().any(|(piece, _)| repeated(piece)) {
            return Vec::new();
        }
        all.into_iter().map(|(piece, all)| (piece.to_owned(), all)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::executions;
    use super::super::sample::{Folder, Sample};
    use super::super::sections;
    use super::*;

    /// The rows of a program that does not take a branch of so many lines: numbers with their code.
    fn rows(dead: usize) -> Vec<String> {
        let folder = Folder::new();
        let branch = "        x = 2;\n".repeat(dead);
        let source = format!(
            "int main(void) {{ int x = 1;\n    if (x > 5) {{\n{branch}    }}\n    return x - 1;\n}}\n"
        );
        let sample = Sample::of(&folder, &source);
        let slice = sample.slice(&sample.omittable(1), &[]);
        let lines = executions::count(sample.recorded(), &slice);
        let statements = executions::by_statement(sample.recorded(), &slice);
        let section = &sections::find(sample.recorded(), &slice)[0];
        Rows::new(sample.recorded().program, &lines, &statements).of(section).iter().map(word).collect()
    }

    fn word(row: &Row<'_>) -> String {
        match row {
            Row::Fold => "...".to_owned(),
            Row::Line { number, code: Code::None, .. } => number.to_string(),
            Row::Line { number, code: Code::Unexecuted, .. } => format!("{number}:0"),
            Row::Line { number, code: Code::Executed(all), .. } => format!("{number}:{}", all.executed()),
        }
    }

    #[test]
    fn lines_that_were_never_executed_are_shown_with_the_others() {
        assert_eq!(rows(3), ["1:1", "2:1", "3:0", "4:0", "5:0", "6", "7:1", "8"]);
    }

    #[test]
    fn a_stretch_of_more_than_eight_of_them_is_folded() {
        assert_eq!(rows(7).len(), 7 + 5);
        assert_eq!(rows(8), ["1:1", "2:1", "...", "12:1", "13"]);
    }
}
