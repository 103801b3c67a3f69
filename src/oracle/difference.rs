//! Compare outputs, and show their differences.
//!
//! Outputs may be large and need not be text: what is shown is cut, and what cannot be shown is spelled out.

use std::str::Utf8Chunk;

use regex::bytes::Regex;
use similar::{Algorithm, DiffOp, DiffTag};

/// Lines longer than this are cut in messages.
const LINE_WIDTH: usize = 60;

/// The number of common characters that are shown before the difference of two long lines.
const LEAD: usize = 20;

/// The limits of a comparison that is shown.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The number of equal lines that are shown around different ones.
    pub context: usize,
    /// The number of lines of each output that are compared, from near the first difference on.
    pub window: usize,
    /// The width of a line in characters; longer lines are cut.
    pub width: usize,
}

/// The limits for messages.
const BRIEF: Extent = Extent { context: 0, window: 100, width: LINE_WIDTH };

/// A line of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// In both outputs.
    Same(String),
    /// In the expected output only.
    Missing(String),
    /// In the actual output only.
    Added(String),
    /// Equal lines in this place are not shown.
    Skipped,
}

/// A line-by-line comparison of two outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The lines of the differences, with their context; empty if no line differs.
    pub lines: Vec<Line>,
    /// True if there are lines after these that were not compared.
    pub is_cut: bool,
    /// True if the outputs are equal but for the newline at the end.
    pub is_about_newline: bool,
}

/// The lines of an output, without their ends. An output that ends with a newline has no empty line
/// after it.
pub(super) fn lines(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ended = output.strip_suffix(b"\n").unwrap_or(output);
    let lines = (!output.is_empty()).then(|| ended.split(|&byte| byte == b'\n'));
    lines.into_iter().flatten()
}

/// Describes the first difference between two texts; `None` if they are equal. With `only`, just the
/// lines that match it are compared.
///
/// `what` names the text, as in ``output line 1: `sum = 14` instead of `sum = 15` ``.
pub fn first_difference(what: &str, expected: &[u8], actual: &[u8], only: Option<&Regex>) -> Option<String> {
    if only.is_none() && expected == actual {
        return None;
    }
    let counts = |line: &&[u8]| only.is_none_or(|only| only.is_match(line));
    let mut expected_lines = lines(expected).filter(counts);
    let mut actual_lines = lines(actual).filter(counts);
    let which = if only.is_some() { "compared line" } else { "line" };
    let mut number = 0;
    loop {
        number += 1;
        return Some(match (expected_lines.next(), actual_lines.next()) {
            (None, None) if only.is_some() => return None,
            (None, None) => format!("{what} differs in its last newline"),
            (Some(expected), Some(actual)) if expected == actual => continue,
            (Some(expected), Some(actual)) => {
                let (expected, actual) = near_difference(expected, actual);
                format!("{what} {which} {number}: {actual} instead of {expected}")
            }
            (Some(_), None) if number == 1 => format!("no {what}"),
            (Some(expected), None) => {
                format!("{what} ends before {which} {number}: {} is missing", quoted(expected))
            }
            (None, Some(actual)) => format!("{what} has a further {which} {number}: {}", quoted(actual)),
        });
    }
}

/// The lines in which two texts differ, `-` expected and `+` actual, at most `most` of them. Only the
/// neighbourhood of the first difference is compared: texts may be large.
pub fn diff(expected: &[u8], actual: &[u8], most: usize) -> String {
    let told = |line: Line| match line {
        Line::Missing(text) => Some(format!("  - {text}\n")),
        Line::Added(text) => Some(format!("  + {text}\n")),
        Line::Same(_) | Line::Skipped => None,
    };
    compare(expected, actual, BRIEF).lines.into_iter().filter_map(told).take(most).collect()
}

/// Compares two outputs line by line.
pub fn compare(expected: &[u8], actual: &[u8], extent: Extent) -> Comparison {
    let same = lines(expected).zip(lines(actual)).take_while(|(one, other)| one == other).count();
    let start = same.saturating_sub(extent.context);
    let window = |text| lines(text).skip(start).take(extent.window).collect::<Vec<&[u8]>>();
    let is_cut = [expected, actual].iter().any(|text| lines(text).nth(start + extent.window).is_some());
    let texts = Texts { expected: window(expected), actual: window(actual), width: extent.width };
    let steps = similar::capture_diff_slices(Algorithm::Myers, &texts.expected, &texts.actual);
    let differs = steps.iter().any(|step| step.tag() != DiffTag::Equal);
    let groups = if differs { similar::group_diff_ops(steps, extent.context) } else { Vec::new() };
    let mut shown = Vec::new();
    let mut end = 0;
    for group in &groups {
        if start + group.first().map_or(0, |step| step.old_range().start) > end {
            shown.push(Line::Skipped);
        }
        shown.extend(group.iter().flat_map(|step| texts.lines(step)));
        end = start + group.last().map_or(0, |step| step.old_range().end);
    }
    Comparison { lines: shown, is_cut, is_about_newline: !differs && !is_cut && expected != actual }
}

/// Two texts whose lines are compared.
struct Texts<'t> {
    expected: Vec<&'t [u8]>,
    actual: Vec<&'t [u8]>,
    width: usize,
}

impl Texts<'_> {
    /// The lines of one step of a diff.
    fn lines(&self, step: &DiffOp) -> Vec<Line> {
        let (tag, old, new) = step.as_tag_tuple();
        let (old, new) = (&self.expected[old], &self.actual[new]);
        if tag == DiffTag::Equal {
            return old.iter().map(|line| Line::Same(cut(line, self.width))).collect();
        }
        let missing = (0..old.len()).map(|at| Line::Missing(self.beside(old[at], new.get(at))));
        missing.chain((0..new.len()).map(|at| Line::Added(self.beside(new[at], old.get(at))))).collect()
    }

    /// A line, cut so that the difference to the one that has taken its place can be seen.
    fn beside(&self, line: &[u8], other: Option<&&[u8]>) -> String {
        match other.and_then(|other| far_difference(line, other, self.width)) {
            Some(from) => format!("…{}", cut(&line[from..], self.width)),
            None => cut(line, self.width),
        }
    }
}

/// The lines of an output as characters that can be shown, cut if they are long.
pub fn shown_lines(text: &[u8], width: usize) -> impl Iterator<Item = String> {
    lines(text).map(move |line| cut(line, width))
}

/// A regular expression of the user's, in quotes.
pub(super) fn in_quotes(regex: &Regex) -> String {
    format!("`{}`", in_one_line(regex.as_str().as_bytes()))
}

/// The line in quotes, cut if it is long.
pub(super) fn quoted(line: &[u8]) -> String {
    format!("`{}`", cut(line, LINE_WIDTH))
}

/// Two different lines, quoted so that the difference can be seen.
fn near_difference(one: &[u8], other: &[u8]) -> (String, String) {
    match far_difference(one, other, LINE_WIDTH) {
        None => (quoted(one), quoted(other)),
        Some(from) => {
            let from = |line: &[u8]| format!("`…{}`", cut(&line[from..], LINE_WIDTH));
            (from(one), from(other))
        }
    }
}

/// The offset from which to show two different lines if their beginnings, of this many characters, would hide
/// the difference.
fn far_difference(one: &[u8], other: &[u8], width: usize) -> Option<usize> {
    let common = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    (common >= width - LEAD).then(|| common - LEAD)
}

/// The line as printable characters, cut if it is long. Bytes that are not text are escaped.
fn cut(line: &[u8], width: usize) -> String {
    let mut text = String::new();
    for (count, shown) in line.utf8_chunks().flat_map(spelled).enumerate() {
        if count == width {
            text.truncate(text.char_indices().nth(width - 1).map_or(text.len(), |(end, _)| end));
            text.push('…');
            break;
        }
        text += &shown;
    }
    text
}

/// A text of any length as printable characters in one line.
pub(super) fn in_one_line(text: &[u8]) -> String {
    text.utf8_chunks().flat_map(spelled).collect()
}

fn spelled(chunk: Utf8Chunk<'_>) -> impl Iterator<Item = String> {
    let character = |c: char| match c {
        c if c.is_control() || is_invisible(c) => c.escape_default().to_string(),
        c => c.to_string(),
    };
    let bytes = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}"));
    chunk.valid().chars().map(character).chain(bytes)
}

/// True if a character has no glyph, or changes the order of those around it.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_is_shown_with_the_expected_one() {
        let why = first_difference("output", b"a\nsum = 15\n", b"a\nsum = 14\n", None);
        assert_eq!(why.as_deref(), Some("output line 2: `sum = 14` instead of `sum = 15`"));
    }

    #[test]
    fn a_missing_and_a_further_line_are_told_apart() {
        let missing = first_difference("output", b"a\nb\n", b"a\n", None);
        assert_eq!(missing.as_deref(), Some("output ends before line 2: `b` is missing"));
        let further = first_difference("output", b"a\n", b"a\nb\n", None);
        assert_eq!(further.as_deref(), Some("output has a further line 2: `b`"));
        assert_eq!(first_difference("output", b"a\n", b"", None).as_deref(), Some("no output"));
    }

    #[test]
    fn a_last_newline_counts() {
        let why = first_difference("output", b"a\n", b"a", None);
        assert_eq!(why.as_deref(), Some("output differs in its last newline"));
    }

    #[test]
    fn only_the_lines_of_interest_are_compared() {
        let only = Regex::new("^sum").unwrap();
        assert_eq!(first_difference("output", b"x\nsum = 1\n", b"sum = 1\ny", Some(&only)), None);
        let why = first_difference("output", b"x\nsum = 1\n", b"sum = 2\ny", Some(&only));
        assert_eq!(why.as_deref(), Some("output compared line 1: `sum = 2` instead of `sum = 1`"));
    }

    #[test]
    fn a_difference_far_along_a_line_is_shown_with_what_is_before_it() {
        let (long, longer) = ("x".repeat(1000) + "1", "x".repeat(1000) + "23");
        let why = first_difference("output", long.as_bytes(), longer.as_bytes(), None).unwrap();
        let lead = "x".repeat(LEAD);
        assert_eq!(why, format!("output line 1: `…{lead}23` instead of `…{lead}1`"));
    }

    #[test]
    fn what_is_no_text_is_spelled_out_and_long_lines_are_cut() {
        let why = first_difference("output", b"a\xff\0b\r\n", b"a\xfe\tb\n", None).unwrap();
        assert_eq!(why, "output line 1: `a\\xfe\\tb` instead of `a\\xff\\u{0}b\\r`");
        assert_eq!(cut(&b"x".repeat(LINE_WIDTH), LINE_WIDTH).chars().count(), LINE_WIDTH);
        assert_eq!(cut(&b"x".repeat(LINE_WIDTH + 1), LINE_WIDTH), "x".repeat(LINE_WIDTH - 1) + "…");
    }

    #[test]
    fn a_diff_is_no_longer_than_asked_for() {
        assert_eq!(diff(b"a\nb\nc\n", b"a\nd\nc\n", 10), "  - b\n  + d\n");
        assert_eq!(diff(b"a\nb\n", b"c\nd\n", 1).lines().count(), 1);
    }

    #[test]
    fn what_cannot_be_seen_is_spelled_out() {
        let text = "\x1b[31mred\t\u{202e}x\u{200b}\r\n\nü\u{0}";
        let shown: Vec<String> = shown_lines(text.as_bytes(), 80).collect();
        assert_eq!(shown, ["\\u{1b}[31mred\\t\\u{202e}x\\u{200b}\\r", "", "ü\\u{0}"]);
    }

    /// The lines of a comparison, each with its sign.
    fn compared(expected: &str, actual: &str, context: usize) -> Vec<String> {
        let extent = Extent { context, window: 8, width: 40 };
        let told = |line| match line {
            Line::Same(text) => format!("  {text}"),
            Line::Missing(text) => format!("- {text}"),
            Line::Added(text) => format!("+ {text}"),
            Line::Skipped => "...".to_owned(),
        };
        let lines = compare(expected.as_bytes(), actual.as_bytes(), extent).lines;
        lines.into_iter().map(told).collect()
    }

    #[test]
    fn a_comparison_shows_differences_with_what_is_around_them() {
        assert_eq!(compared("a\nb\nc\nd\n", "a\nb\nx\nd\n", 1), ["...", "  b", "- c", "+ x", "  d"]);
        let apart = compared("1\n2\n3\n4\n5\n6\n", "0\n2\n3\n4\n5\n", 1);
        assert_eq!(apart, ["- 1", "+ 0", "  2", "...", "  5", "- 6"]);
        assert!(compared("a\n", "a\n", 3).is_empty());
        let far = compared(&("x".repeat(50) + "1"), &("x".repeat(50) + "2"), 0);
        assert_eq!(
            far,
            ["- …", "+ …"]
                .iter()
                .zip(["1", "2"])
                .map(|(sign, end)| format!("{sign}{}{end}", "x".repeat(LEAD)))
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_comparison_says_what_it_leaves_out() {
        let compare = |expected: &str, actual: &str| {
            let extent = Extent { context: 2, window: 8, width: 40 };
            let compared = compare(expected.as_bytes(), actual.as_bytes(), extent);
            (compared.lines.len(), compared.is_cut, compared.is_about_newline)
        };
        assert_eq!(compare(&"a\n".repeat(20), "a\n"), (8, true, false));
        assert_eq!(compare("a\n", "a"), (0, false, true));
        assert_eq!(compare("a\n", "a\n"), (0, false, false));
    }
}
