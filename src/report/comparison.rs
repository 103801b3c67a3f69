//! Write several critical slices of one run side by side, as the papers do.
//!
//! Source: Cleve and Zeller, AADEBUG 2000, Figure 6.

use std::collections::{BTreeMap, BTreeSet};

use tracer::program::FileId;

use crate::session::remarks::tells_apart;
use crate::slice::{CriticalSlice, Needed};
use crate::subject::Recorded;

use super::by_products;
use super::executions::{self, Executions, Lines};
use super::extent::{self, Detail};
use super::listing;
use super::rows::{Row, Rows};
use super::sections;
use super::source::printable;
use super::style::{Style, length, wrap, wrap_behind};
use super::verdict::verdict;

/// A slice with the name of its criterion.
#[derive(Clone, Copy, Debug)]
pub struct Compared<'a> {
    /// The name that the user gave; empty for a criterion without.
    pub name: &'a str,
    /// True if the criterion is known to be about wrong output.
    pub is_wrong: bool,
    /// The critical slice.
    pub slice: &'a CriticalSlice,
}

impl Compared<'_> {
    /// True if the criterion has a name.
    pub fn has_name(&self) -> bool {
        !self.name.is_empty()
    }
}

/// Writes a table of all lines of the functions with a needed execution, with a column for each criterion: the
/// number of executions of the line that it needs. Before it, if some criteria are about wrong output and others
/// are not: what only the wrong ones need. After it a verdict on each.
pub fn comparison(recorded: Recorded<'_>, all: &[Compared<'_>], detail: Detail, style: Style) -> String {
    let Some(union) = union(all) else { return String::new() };
    let lines = executions::count(recorded, &union);
    let none = executions::Statements::new();
    let mut rows = Rows::new(recorded.program, &lines, &none);
    let sections = sections::find(recorded, &union).into_iter();
    let parts: Vec<listing::Listed<'_>> =
        sections.map(|section| (rows.of(&section), section)).map(swap).collect();
    let mut paragraphs = Vec::new();
    paragraphs.extend(Table::new(recorded, all, &parts, style).suspects());
    let (parts, note) = extent::shown(recorded.program, parts, detail);
    if !parts.is_empty() {
        paragraphs.push(Table::new(recorded, all, &parts, style).write());
    }
    paragraphs.extend(note.map(|note| wrap(&note, style.width)));
    paragraphs.push(verdicts(all, style));
    paragraphs.join("\n\n") + "\n"
}

fn swap<A, B>((one, other): (A, B)) -> (B, A) {
    (other, one)
}

/// The lines that only criteria about wrong output need; `None` unless there are such criteria and others.
pub(super) fn suspects(recorded: Recorded<'_>, all: &[Compared<'_>]) -> Option<BTreeSet<(FileId, u32)>> {
    let needed_by = |wrong: bool| -> Option<BTreeSet<(FileId, u32)>> {
        let mut of_kind = all.iter().filter(|one| one.is_wrong == wrong).peekable();
        of_kind.peek()?;
        let lines = of_kind.map(|one| executions::count(recorded, &with_reason(one.slice)));
        Some(
            lines
                .flatten()
                .filter(|(_, executions)| executions.needed() > 0)
                .map(|(place, _)| place)
                .collect(),
        )
    };
    let (wrong, right) = (needed_by(true)?, needed_by(false)?);
    Some(wrong.difference(&right).copied().collect())
}

/// The union of what the criteria need, as a slice.
fn union(all: &[Compared<'_>]) -> Option<CriticalSlice> {
    let needed = all.iter().flat_map(|compared| &compared.slice.needed);
    let needed: BTreeMap<_, &Needed> = needed.map(|needed| (needed.event, needed)).collect();
    let first = all.first()?.slice;
    Some(CriticalSlice { needed: needed.into_values().cloned().collect(), ..first.clone() })
}

fn verdicts(all: &[Compared<'_>], style: Style) -> String {
    let told = all.iter().map(|Compared { name, slice, .. }| {
        let mut text = wrap(&format!("{name}: {}", printable(&slice.question.criterion)), style.width);
        text += &format!("\n{}", wrap(&verdict(slice), style.width));
        for warning in &slice.warnings {
            text += &format!("\n{}", wrap(&format!("warning: {}", printable(warning)), style.width));
        }
        if let Some(sentence) = by_products::sentence(slice, name) {
            text += &format!("\n{}", wrap(&printable(&sentence), style.width));
        }
        text
    });
    told.collect::<Vec<_>>().join("\n\n")
}

struct Table<'t> {
    recorded: Recorded<'t>,
    all: &'t [Compared<'t>],
    parts: &'t [listing::Listed<'t>],
    /// The executions of each line, for each criterion.
    needs: Vec<Lines>,
    style: Style,
}

impl<'t> Table<'t> {
    fn new(
        recorded: Recorded<'t>,
        all: &'t [Compared<'t>],
        parts: &'t [listing::Listed<'t>],
        style: Style,
    ) -> Table<'t> {
        let needs = all.iter().map(|compared| executions::count(recorded, compared.slice)).collect();
        Table { recorded, all, parts, needs, style }
    }

    fn write(&self) -> String {
        let widths = self.widths();
        let mut lines = vec![self.row(&widths, "line", "source", "executed", self.names())];
        for (position, (section, rows)) in self.parts.iter().enumerate() {
            if position > 0 {
                lines.push(String::new());
            }
            let title = listing::title(self.recorded.program, section);
            lines.push(self.style.bold(&self.style.cut(&title, self.style.width)));
            lines.extend(rows.iter().map(|row| self.line(&widths, section.file, row)));
        }
        lines.join("\n")
    }

    fn names(&self) -> Vec<String> {
        self.all.iter().map(|compared| compared.name.to_owned()).collect()
    }

    fn line(&self, widths: &Widths, file: FileId, row: &Row<'_>) -> String {
        let Row::Line { number, text, .. } = row else {
            return self.row(widths, "...", "", "", Vec::new());
        };
        let number_text = number.to_string();
        let Some(executions) = row.executions() else {
            return self.row(widths, &number_text, text, "", Vec::new());
        };
        let counts = counts(&self.needs, file, *number);
        let nothing = if self.style.unicode { "·" } else { "." };
        let cell = |&count: &u64| if count == 0 { nothing.to_owned() } else { count.to_string() };
        let executed = executions.executed().to_string();
        let line = self.row(widths, &number_text, text, &executed, counts.iter().map(cell).collect());
        if counts.iter().all(|&count| count == 0) { self.style.dim(&line) } else { line }
    }

    /// The lines that only criteria about wrong output need, if there are both kinds.
    fn suspects(&self) -> Option<String> {
        let suspects = suspects(self.recorded, self.all)?;
        let mut lines = vec!["Needed for what is wrong and for nothing that is right:".to_owned()];
        for (section, rows) in self.parts {
            let numbered = rows.iter().filter_map(|row| match row {
                Row::Line { number, text, .. } => Some((*number, text)),
                Row::Fold => None,
            });
            for (number, text) in numbered.filter(|&(number, _)| suspects.contains(&(section.file, number))) {
                let place = self.recorded.program.file(section.file);
                let place = format!("  {}:{number}  ", printable(&place.shown));
                lines.push(match length(&place) + length(text.trim()) > self.style.width {
                    true => format!(
                        "{}\n{}",
                        place.trim_end(),
                        wrap_behind("    ", text.trim(), self.style.width)
                    ),
                    false => place + text.trim(),
                });
            }
        }
        if lines.len() == 1 {
            lines = vec!["Nothing is needed only for what is wrong.".to_owned()];
        }
        Some(lines.join("\n"))
    }

    fn widths(&self) -> Widths {
        let lines = self.parts.iter().flat_map(|(_, rows)| rows).filter_map(|row| match row {
            Row::Line { number, text, .. } => Some((length(&number.to_string()), length(text.trim_end()))),
            Row::Fold => None,
        });
        let number = lines.clone().map(|(number, _)| number).max().unwrap_or(0).max(4);
        let columns: Vec<usize> = self.all.iter().map(|compared| length(compared.name).max(6)).collect();
        let others = number + 2 + 2 + 8 + columns.iter().map(|width| width + 2).sum::<usize>();
        let longest = lines.map(|(_, source)| source).max().unwrap_or(0).max(6);
        let source = longest.min(self.style.width.saturating_sub(others).max(24));
        Widths { number, source, columns }
    }

    fn row(&self, widths: &Widths, number: &str, source: &str, executed: &str, cells: Vec<String>) -> String {
        let Widths { number: number_width, source: source_width, columns } = widths;
        let (mut source, mut number, mut lines) = (source.trim_end(), number, String::new());
        if length(source) > *source_width {
            lines = wrap_behind(&format!("{number:>number_width$}  "), source, self.style.width);
            if executed.is_empty() {
                return lines;
            }
            lines.push('\n');
            (source, number) = ("", "");
        }
        let mut row = format!("{number:>number_width$}  {source:<source_width$}  {executed:>8}");
        for (cell, width) in cells.iter().zip(columns) {
            row += &format!("  {cell:>width$}");
        }
        lines + row.trim_end()
    }
}

/// The number of executions of a line that each criterion needs.
fn counts(needs: &[Lines], file: FileId, line: u32) -> Vec<u64> {
    needs.iter().map(|lines| lines.get(&(file, line)).map_or(0, Executions::needed)).collect()
}

/// The slice without executions that are needed only to tell equal lines of the output apart: that has nothing to
/// do with whether a line is right.
fn with_reason(slice: &CriticalSlice) -> CriticalSlice {
    let needed = slice.needed.iter().filter(|needed| !tells_apart(needed));
    CriticalSlice { needed: needed.cloned().collect(), ..slice.clone() }
}

/// The widths of the columns that vary.
struct Widths {
    number: usize,
    source: usize,
    columns: Vec<usize>,
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

    /// Two slices: one needs additions and a print, the other multiplications and a print.
    fn slices() -> [CriticalSlice; 2] {
        [[6, 11, 15], [6, 12, 16]].map(|lines| {
            let sample = Sample::sum_mul();
            let mut events: Vec<_> = lines.into_iter().flat_map(|line| sample.omittable(line)).collect();
            events.sort();
            sample.slice(&events, &[])
        })
    }

    /// The comparison of both, of which the second may be about wrong output.
    fn compared([sum, product]: &[CriticalSlice; 2], is_wrong: bool) -> String {
        let sum = Compared { name: "sum", is_wrong: false, slice: sum };
        let product = Compared { name: "product", is_wrong, slice: product };
        let style = Style { width: 80, unicode: true, ..Style::default() };
        comparison(Sample::sum_mul().recorded(), &[sum, product], Detail::default(), style)
    }

    #[test]
    fn each_criterion_has_a_column_and_a_verdict() {
        let text = compared(&slices(), false);
        let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap().to_owned();
        assert!(line("line").ends_with("executed     sum  product"), "{text}");
        assert!(line("   6").ends_with("1       1        1"), "{text}");
        assert!(line("  11").ends_with("6       6        ·"), "{text}");
        assert!(line("  12").ends_with("6       ·        6"), "{text}");
        assert!(line("  14").ends_with('}'), "{text}");
        assert!(text.contains("\n\nproduct: the output contains `sum = 15`\n8 of 34 "), "{text}");
        assert!(!text.contains("wrong"), "{text}");
    }

    #[test]
    fn what_only_the_wrong_needs_comes_first() {
        let mut slices = slices();
        let text = compared(&slices, true);
        let told = "Needed for what is wrong and for nothing that is right:\n  sum-mul.c:12  mul = mul * a;\n  \
                    sum-mul.c:16  printf(\"mul = %d\\n\", mul);\n\nline ";
        assert!(text.starts_with(told), "{text}");
        slices[1].needed.clear();
        let text = compared(&slices, true);
        assert!(text.starts_with("Nothing is needed only for what is wrong.\n"), "{text}");
    }
}
