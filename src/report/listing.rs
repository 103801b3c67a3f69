//! Lay out annotated source text in columns.
//!
//! Source text and markers share what the numbers leave of the width: the markers get what they need
//! up to a third of it, the source what it needs of the rest, the markers all that is then left. Source text that
//! is longer is never cut: it has the whole width to itself, and the markers stand below. Of a line with several
//! statements that have unlike markers, a row for each of them follows.

use tracer::program::Program;

use super::executions::Executions;
use super::folding;
use super::markers;
use super::rows::{Code, Row};
use super::sections::Section;
use super::source::printable;
use super::style::{Style, length, wrap, wrap_behind};

const HEADINGS: [&str; 5] = ["line", "source", "executed", NEEDED, "which"];

/// The usual heading of the column that counts needed executions.
pub(super) const NEEDED: &str = "needed";

/// The least width that source text and markers share, however narrow the terminal.
const LEAST: usize = 24;

/// A section with its rows.
pub(super) type Listed<'a> = (Section, Vec<Row<'a>>);

/// The rows of all sections, each with its functions on top.
pub(super) fn write(program: &Program, parts: &[Listed<'_>], style: Style) -> String {
    write_as(program, parts, NEEDED, style)
}

/// Writes the same rows with another heading for the executions that are counted as needed.
pub(super) fn write_as(
    program: &Program,
    parts: &[Listed<'_>],
    heading: &'static str,
    style: Style,
) -> String {
    let layout = Layout::new(parts, heading, style);
    let mut lines = vec![layout.row(layout.headings)];
    for (position, (section, rows)) in parts.iter().enumerate() {
        if position > 0 {
            lines.push(String::new());
        }
        lines.push(style.bold(&style.cut(&title(program, section), style.width)));
        lines.extend(rows.iter().map(|row| layout.write(row)));
    }
    let notes = notes(program, parts, &layout);
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes);
    }
    lines.join("\n")
}

/// Writes in words what had no room as markers: a line of notes for each such line of the source.
fn notes(program: &Program, parts: &[Listed<'_>], layout: &Layout) -> Vec<String> {
    let mut notes = Vec::new();
    for (section, rows) in parts {
        for row in rows {
            let Row::Line { number, code: Code::Executed(executions), .. } = row else { continue };
            if !markers::fit(executions, layout.markers, layout.style) {
                let file = &program.file(section.file).shown;
                let note = format!("{file}:{number}: {}", folding::sentence(executions));
                notes.push(wrap(&printable(&note), layout.style.width));
            }
        }
    }
    notes
}

pub(super) fn title(program: &Program, section: &Section) -> String {
    printable(&format!("{}: {}", program.file(section.file).shown, section.names(program)))
}

/// The widths of the columns that vary.
struct Layout {
    headings: [&'static str; 5],
    style: Style,
    number: usize,
    source: usize,
    markers: usize,
}

impl Layout {
    fn new(parts: &[Listed<'_>], heading: &'static str, style: Style) -> Layout {
        let mut headings = HEADINGS;
        headings[3] = heading;
        let [line, source, executed, needed, which] = headings.map(length);
        let (mut number, mut longest, mut most) = (line, source, which);
        for row in parts.iter().flat_map(|(_, rows)| rows) {
            if let Row::Line { number: of_row, text, statements, .. } = row {
                number = number.max(length(&of_row.to_string()));
                longest = longest.max(length(text.trim_end()));
                let pieces = statements.iter().map(|(piece, _)| length(&below(text, piece)));
                longest = longest.max(pieces.max().unwrap_or(0));
            }
            most = most.max(row.executions().map_or(0, |all| all.executed() as usize));
        }
        let gaps = 2 * (HEADINGS.len() - 1);
        let room = style.width.saturating_sub(number + executed + needed + gaps).max(LEAST);
        let source = longest.min(room - most.min(room / 3));
        Layout { headings, style, number, source, markers: room - source }
    }

    fn write(&self, row: &Row<'_>) -> String {
        let Row::Line { number, text, code, statements } = row else {
            return self.row(["...", "", "", "", ""]);
        };
        let text = text.trim_end();
        let count = |count: fn(&Executions) -> u64| match code {
            Code::None => String::new(),
            Code::Unexecuted => "0".to_owned(),
            Code::Executed(executions) => count(executions).to_string(),
        };
        let markers = row.executions().map(|all| markers::write(all, self.markers, self.style));
        let markers = markers.unwrap_or_default();
        let (executed, needed) = (count(Executions::executed), count(Executions::needed));
        let row = |markers: &str| self.row([&number.to_string(), text, &executed, &needed, markers]);
        let line = match code {
            Code::Executed(executions) if executions.needed() == 0 => self.style.dim(&row(&markers)),
            _ => row(&markers::embolden(&markers, self.style)),
        };
        let pieces = statements.iter().map(|(piece, executions)| self.statement(text, piece, executions));
        std::iter::once(line).chain(pieces).collect::<Vec<_>>().join("\n")
    }

    /// The row of one of several statements of a line.
    fn statement(&self, line: &str, piece: &str, executions: &Executions) -> String {
        let markers = markers::write(executions, self.markers, self.style);
        let (executed, needed) = (executions.executed().to_string(), executions.needed().to_string());
        let row = |markers: &str| self.row(["", &below(line, piece), &executed, &needed, markers]);
        match executions.needed() {
            0 => self.style.dim(&row(&markers)),
            _ => row(&markers::embolden(&markers, self.style)),
        }
    }

    fn row(&self, [number, source, executed, needed, markers]: [&str; 5]) -> String {
        let [_, _, executed_width, needed_width, _] = self.headings.map(length);
        let (number_width, source_width) = (self.number, self.source);
        let mut lines = String::new();
        let mut source = source;
        if length(source) > source_width {
            lines = wrap_behind(&format!("{number:>number_width$}  "), source, self.style.width);
            if executed.is_empty() {
                return lines;
            }
            lines.push('\n');
            source = "";
        }
        let number = if lines.is_empty() { number } else { "" };
        let row = format!(
            "{number:>number_width$}  {source:<source_width$}  {executed:>executed_width$}  {needed:>needed_width$}  {markers}"
        );
        lines + row.trim_end()
    }
}

/// A statement as it is written below its line.
fn below(line: &str, piece: &str) -> String {
    let indent = line.chars().take_while(|character| *character == ' ').count();
    format!("{:indent$}    {piece}", "")
}
