//! Print a trace as the papers do: each event as `line_time`.
//!
//! Rows are written as they are made, because a trace may have millions of events. Structural events,
//! which are never omitted, stand in brackets.

use std::io::{self, Write};

use tracer::program::Leader;
use tracer::trace::EventId;

use crate::subject::Recorded;

use super::depths::Depths;
use super::source::{Sources, printable};
use super::style::{Style, length};

/// The indentation of a call, in columns.
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
        let separator = if column == 0 {
            ""
        } else if fits {
            " "
        } else {
            "\n"
        };
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
    /// The deepest level that is indented further than the one before.
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

#[cfg(test)]
mod tests {
    use super::super::sample::{Folder, Sample};
    use super::*;

    fn written(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// The run of a function that calls itself so many times; its source is gone.
    fn countdown(calls: u32) -> Sample {
        let down = "int down(int n) { if (n)\n        down(n - 1);\n    return n;\n}\n";
        Sample::of(&Folder::new(), &format!("{down}int main(void) {{ down({calls}); return 0; }}\n"))
    }

    #[test]
    fn each_event_has_a_row_that_calls_move_in() {
        let sample = countdown(1);
        let rows = written(|out| text(sample.recorded(), Style::default(), out));
        let expected = "\
[5_1]   main
5_2     main
[1_3]     down
1_4       down
2_5       down
[1_6]       down
1_7         down
3_8         down
[4_9]       down
3_10      down
[4_11]    down
5_12    main
[5_13]  main
";
        assert_eq!(rows, expected);
    }

    #[test]
    fn a_row_ends_in_the_text_of_its_line() {
        let rows = written(|out| text(Sample::sum_mul().recorded(), Style::default(), out));
        assert!(rows.starts_with("[4_1]    main  {\n6_2      main  sum = 0;\n7_3 "), "{rows}");
    }

    #[test]
    fn rows_fit_however_deep_the_calls_are() {
        let sample = countdown(30);
        let style = Style { width: 30, ..Style::default() };
        let rows = written(|out| text(sample.recorded(), style, out));
        assert!(rows.lines().all(|row| length(row) <= style.width), "{rows}");
        assert_eq!(rows.lines().filter(|row| row.ends_with("down")).count(), 5 * 30 + 4);
    }

    #[test]
    fn a_paragraph_holds_all_events_with_the_structural_ones_in_brackets() {
        let style = Style { width: 50, ..Style::default() };
        let paragraph = written(|out| compact(Sample::sum_mul().recorded(), style, out));
        let expected = "\
[4_1] 6_2 7_3 8_4 8_5 9_6 9_7 10_8 11_9 12_10
13_11 10_12 11_13 12_14 13_15 10_16 11_17 12_18
13_19 10_20 11_21 12_22 13_23 10_24 11_25 12_26
13_27 10_28 11_29 12_30 13_31 10_32 15_33 16_34
17_35 [18_36]
";
        assert_eq!(paragraph, expected);
    }
}
