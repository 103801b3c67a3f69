//! Choose which outputs of tests the page shows, and their differences from the recorded output. Equal
//! outputs are held once.

use std::collections::HashMap;

use tracer::run::Run;

use crate::oracle::{Comparison, Extent, Line, compare, shown_lines};
use crate::printed::{Edit, Printed, Text};

use super::super::words::{count, one_or_more};
use super::data::{Output, Stream};

/// The number of lines of an output that are shown.
const MOST_LINES: usize = 200;

/// The limits of the comparisons.
const EXTENT: Extent = Extent { context: 3, window: 200, width: 240 };

/// The number of bytes that all outputs of a page may take.
const MOST_BYTES: usize = 1 << 20;

/// The outputs of a page, each with a number from 0.
pub(super) struct OutputTable<'r> {
    recorded: &'r Run,
    numbers: HashMap<u128, usize>,
    shown: Vec<Output>,
    /// The number of bytes that may still be shown.
    room: usize,
    tests_without_room: u64,
    tests_not_kept: u64,
}

impl<'r> OutputTable<'r> {
    /// Creates an empty table; outputs are compared with those of `recorded`.
    pub(super) fn new(recorded: &'r Run) -> OutputTable<'r> {
        OutputTable {
            recorded,
            numbers: HashMap::new(),
            shown: Vec::new(),
            room: MOST_BYTES,
            tests_without_room: 0,
            tests_not_kept: 0,
        }
    }

    /// The number of a test's output; `None` if that is not shown.
    pub(super) fn number(&mut self, printed: Option<&Printed>) -> Option<usize> {
        let known = printed.and_then(|printed| self.numbers.get(&printed.key()));
        if known.is_some() {
            return known.copied();
        }
        if self.room == 0 {
            self.tests_without_room += 1;
            return None;
        }
        let Some((printed, output)) = printed.and_then(|printed| Some((printed, self.output(printed)?)))
        else {
            self.tests_not_kept += 1;
            return None;
        };
        let number = self.shown.len();
        self.room = self.room.saturating_sub(size(&output));
        self.numbers.insert(printed.key(), number);
        self.shown.push(output);
        Some(number)
    }

    /// A note about outputs that are not shown; empty if all are.
    pub(super) fn note(&self) -> String {
        let told = |tests: u64, why: &str| match tests {
            0 => String::new(),
            tests => format!(
                "The {} of {} {} not shown: {why}.",
                one_or_more(tests, "output", "outputs"),
                count(tests, "test"),
                one_or_more(tests, "is", "are"),
            ),
        };
        let no_room = told(self.tests_without_room, "a page has room for 1 MiB of them");
        let not_kept = told(self.tests_not_kept, "so much was printed that not all of it was kept");
        [no_room, not_kept].join(" ").trim().to_owned()
    }

    /// The outputs by their numbers.
    pub(super) fn into_shown(self) -> Vec<Output> {
        self.shown
    }

    fn output(&self, printed: &Printed) -> Option<Output> {
        let Run { stdout, stderr, .. } = self.recorded;
        let out = stream("Standard output", &printed.stdout, stdout)?;
        let errors = stream("Standard error", &printed.stderr, stderr)?;
        let is_silent = errors.lines.is_empty() && stderr.is_empty();
        Some(Output { streams: if is_silent { vec![out] } else { vec![out, errors] } })
    }
}

fn stream(name: &'static str, edit: &Edit, recorded: &[u8]) -> Option<Stream> {
    let text = edit.text(recorded)?;
    let lines: Vec<String> = shown_lines(&text.kept, EXTENT.width).take(MOST_LINES).collect();
    let comparison = compare(recorded, &text.kept, EXTENT);
    let difference_note = difference_note(&comparison, &text, recorded);
    let difference = comparison.lines.into_iter().map(signed).collect();
    Some(Stream { name, note: note(&text, &lines), lines, difference, difference_note })
}

/// A line of a comparison with its sign.
fn signed(line: Line) -> (char, String) {
    match line {
        Line::Same(text) => (' ', text),
        Line::Missing(text) => ('-', text),
        Line::Added(text) => ('+', text),
        Line::Skipped => ('~', String::new()),
    }
}

/// A note about what the lines do not show of a text.
fn note(text: &Text, shown: &[String]) -> String {
    let mut sentences = Vec::new();
    let lines = shown_lines(&text.kept, 1).count();
    let is_whole = lines == shown.len() && text.lost == 0;
    match text.kept.last() {
        None => sentences.push("Nothing was printed.".to_owned()),
        Some(b'\n') => {}
        Some(_) if is_whole => sentences.push("There is no newline at the end.".to_owned()),
        Some(_) => {}
    }
    if lines > shown.len() {
        sentences.push(format!("Shown are the first {} of {}.", shown.len(), count(lines as u64, "line")));
    }
    if text.lost > 0 {
        sentences.push(format!("After that, {} were printed that are not kept.", bytes(text.lost)));
    }
    if shown.iter().any(|line| line.ends_with('…')) {
        sentences.push(format!("Lines of more than {} characters are cut.", EXTENT.width));
    }
    let odd = text.kept.utf8_chunks().map(|chunk| chunk.invalid().len()).sum::<usize>();
    if odd > 0 {
        let are = one_or_more(odd as u64, "is", "are");
        sentences.push(format!("This is no text in UTF-8: {} {are} spelled as in \\xff.", bytes(odd)));
    }
    sentences.join(" ")
}

fn difference_note(comparison: &Comparison, text: &Text, recorded: &[u8]) -> String {
    if text.lost == 0 && text.kept == recorded {
        return "None: this is what the recorded run has printed.".to_owned();
    }
    let mut sentences = Vec::new();
    if comparison.is_about_newline {
        sentences.push("Only the newline at the end differs.".to_owned());
    }
    if comparison.is_cut {
        sentences.push(format!("Compared are {} lines from the first difference on.", EXTENT.window));
    }
    if text.lost > 0 {
        sentences.push(format!("Compared are the first {} that were printed.", bytes(text.kept.len())));
    }
    sentences.join(" ")
}

fn bytes(number: usize) -> String {
    count(number as u64, "byte")
}

/// The approximate number of bytes that an output takes on the page.
fn size(output: &Output) -> usize {
    let texts = |stream: &Stream| {
        let lines = stream.lines.iter().chain(stream.difference.iter().map(|(_, text)| text));
        lines.map(|text| text.len() + 4).sum::<usize>()
    };
    output.streams.iter().map(texts).sum::<usize>() + 200
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The output as shown of a run with this standard output, where the recorded one has printed `recorded`.
    fn shown(recorded: &[u8], stdout: &[u8]) -> Stream {
        let recorded = Run::with_output(recorded, b"");
        let mut outputs = OutputTable::new(&recorded);
        outputs.number(Some(&Printed::of(&Run::with_output(stdout, b""), &recorded)));
        outputs.into_shown().remove(0).streams.remove(0)
    }

    #[test]
    fn an_output_is_shown_with_its_difference() {
        let stream = shown(b"a\nsum = 15\n", b"a\nsum = 14");
        assert_eq!(stream.lines, ["a", "sum = 14"]);
        let difference = [(' ', "a"), ('-', "sum = 15"), ('+', "sum = 14")].map(|(s, t)| (s, t.to_owned()));
        assert_eq!(stream.difference, difference);
        assert_eq!((&*stream.note, &*stream.difference_note), ("There is no newline at the end.", ""));
    }

    #[test]
    fn an_equal_output_and_none_are_told_in_words() {
        let same = shown(b"a\n", b"a\n");
        assert!(same.difference.is_empty() && same.difference_note.starts_with("None: "));
        let none = shown(b"a\n", b"");
        assert_eq!((none.lines.len(), &*none.note), (0, "Nothing was printed."));
        assert_eq!(none.difference, [('-', "a".to_owned())]);
        assert_eq!(shown(b"a\n", b"a").difference_note, "Only the newline at the end differs.");
    }

    #[test]
    fn what_is_long_or_no_text_is_cut_and_spelled_out_with_a_sentence_about_it() {
        let long = shown(b"", &b"x\n".repeat(300));
        assert_eq!((long.lines.len(), &*long.note), (200, "Shown are the first 200 of 300 lines."));
        assert_eq!(long.difference_note, "Compared are 200 lines from the first difference on.");
        let flood = shown(b"", &b"x\n".repeat(20_000)).note;
        assert!(flood.contains("After that, 23616 bytes were printed that are not kept."), "{flood}");
        let wide = shown(b"", &[&b"x".repeat(500)[..], b"\n"].concat());
        assert_eq!(wide.note, "Lines of more than 240 characters are cut.");
        let odd = shown(b"", b"\x1b[1m\xff\xfe\0\n");
        assert_eq!(odd.lines, ["\\u{1b}[1m\\xff\\xfe\\u{0}"]);
        assert_eq!(odd.note, "This is no text in UTF-8: 2 bytes are spelled as in \\xff.");
    }

    #[test]
    fn standard_error_is_shown_if_there_is_any() {
        let recorded = Run::with_output(b"a\n", b"");
        let mut outputs = OutputTable::new(&recorded);
        let numbers =
            [Run::with_output(b"a\n", b""), Run::with_output(b"a\n", b"oh\n"), Run::with_output(b"a\n", b"")]
                .map(|run| outputs.number(Some(&Printed::of(&run, &recorded))));
        assert_eq!(numbers, [Some(0), Some(1), Some(0)]);
        assert_eq!(outputs.note(), "");
        let streams = outputs.into_shown().into_iter().map(|output| output.streams.len());
        assert_eq!(streams.collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_full_page_says_how_many_outputs_it_does_not_show() {
        let recorded = Run::with_output(b"", b"");
        let mut outputs = OutputTable::new(&recorded);
        assert_eq!(outputs.number(None), None);
        let print = |number: usize| Printed::of(&Run::with_output(vec![b'a'; number], b""), &recorded);
        let shown = (0..10_000).filter_map(|number| outputs.number(Some(&print(number)))).count();
        assert!((1000..9999).contains(&shown), "{shown}");
        let note = outputs.note();
        assert!(note.starts_with(&format!("The outputs of {} tests are not shown: a page", 10_000 - shown)));
        assert!(note.ends_with(
            "The output of 1 test is not shown: so much was printed that not all of it was kept."
        ));
    }
}
