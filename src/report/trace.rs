//! Print a trace as the papers do: each event as `line_time`.
//!
//! Rows are written as they are made, because a trace may have millions of events. Structural events,
//! which are never omitted, stand in brackets.

use std::io::{self, Write};

use tracer::program::Leader;
use tracer::trace::EventId;

use crate::slice::Recorded;

use super::depths::Depths;
use super::source::{Sources, printable};
use super::style::{Style, length};

/// How far a call is moved in.
const STEP: usize = 2;

/// Writes a row for each event: its line and time, its function, moved in by the depth of the call, and
/// the text of the line.
///
/// # Errors
/// If `out` cannot be written.
pub fn text(recorded: Recorded<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let layout = Layout::new(recorded, style);
    let mut depths = Depths::new(recorded.trace);
    let mut sources = Sources::new(recorded.program);
    for event in recorded.trace.events() {
        let leader = leader(recorded, event);
        let name = &recorded.program.function(leader.function).name;
        let function = layout.function(name, depths.next(event));
        let source = sources.line(leader.statement.file, leader.statement.line).unwrap_or_default();
        let row = layout.row(&word(leader, event), &function, source);
        writeln!(out, "{}", if leader.kind.is_structural() { style.dim(&row) } else { row })?;
    }
    Ok(())
}

/// Writes all events as one paragraph of `line_time` words.
///
/// # Errors
/// If `out` cannot be written.
pub fn compact(recorded: Recorded<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut column = 0;
    for event in recorded.trace.events() {
        let word = word(leader(recorded, event), event);
        let fits = column + 1 + length(&word) <= style.width;
        let separator = if column == 0 { "" } else if fits { " " } else { "\n" };
        write!(out, "{separator}{word}")?;
        column = if separator == " " { column + 1 } else { 0 } + length(&word);
    }
    writeln!(out)
}

fn leader(recorded: Recorded<'_>, event: EventId) -> &Leader {
    recorded.program.leader(recorded.trace.leader(event))
}

/// An event in the notation of the papers.
fn word(leader: &Leader, event: EventId) -> String {
    let (line, time) = (leader.statement.line, event.time());
    if leader.kind.is_structural() { format!("[{line}_{time}]") } else { format!("{line}_{time}") }
}

/// The widths of the columns.
struct Layout {
    style: Style,
    word: usize,
    /// The deepest level that is still told from the next.
    deepest: usize,
    function: usize,
}

impl Layout {
    fn new(recorded: Recorded<'_>, style: Style) -> Layout {
        let deepest = style.width / 4 / STEP;
        let mut layout = Layout { style, word: 0, deepest, function: 0 };
        let mut depths = Depths::new(recorded.trace);
        for event in recorded.trace.events() {
            let leader = leader(recorded, event);
            let name = &recorded.program.function(leader.function).name;
            layout.word = layout.word.max(length(&word(leader, event)));
            layout.function = layout.function.max(layout.indent(depths.next(event)) + length(name));
        }
        layout.function = layout.function.min(style.width * 2 / 5);
        layout
    }

    fn indent(&self, depth: u32) -> usize {
        STEP * self.deepest.min(depth as usize)
    }

    fn function(&self, name: &str, depth: u32) -> String {
        let indented = format!("{:indent$}{}", "", printable(name), indent = self.indent(depth));
        self.style.cut(&indented, self.function)
    }

    fn row(&self, word: &str, function: &str, source: &str) -> String {
        let (word_width, function_width) = (self.word, self.function);
        let row = format!("{word:<word_width$}  {function:<function_width$}  {}", source.trim());
        self.style.cut(row.trim_end(), self.style.width)
    }
}
