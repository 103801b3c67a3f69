//! Show where two outputs differ.

use regex::bytes::Regex;
use similar::{ChangeTag, TextDiff};

/// Lines longer than this are cut in messages.
const LINE_WIDTH: usize = 60;

/// The lines of an output, without their ends. An output that ends with a newline has no empty line
/// behind it.
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
                format!("{what} {which} {number}: {} instead of {}", quoted(actual), quoted(expected))
            }
            (Some(_), None) if number == 1 => format!("no {what}"),
            (Some(expected), None) => {
                format!("{what} ends before {which} {number}: {} is missing", quoted(expected))
            }
            (None, Some(actual)) => format!("{what} has a further {which} {number}: {}", quoted(actual)),
        });
    }
}

/// The lines in which two texts differ, `-` expected and `+` actual, at most `most` of them.
pub fn diff(expected: &[u8], actual: &[u8], most: usize) -> String {
    let (expected, actual) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(actual));
    let diff = TextDiff::from_lines(expected.as_ref(), actual.as_ref());
    let changes = diff.iter_all_changes().filter_map(|change| {
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => return None,
        };
        Some(format!("  {sign} {}\n", cut(change.value().trim_end_matches('\n'))))
    });
    changes.take(most).collect()
}

fn quoted(line: &[u8]) -> String {
    format!("`{}`", cut(&String::from_utf8_lossy(line)))
}

fn cut(line: &str) -> String {
    let printable = line.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c });
    let mut text: String = printable.take(LINE_WIDTH + 1).collect();
    if text.chars().count() > LINE_WIDTH {
        text.pop();
        text.push('…');
    }
    text
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
    fn a_diff_is_no_longer_than_asked_for() {
        assert_eq!(diff(b"a\nb\nc\n", b"a\nd\nc\n", 10), "  - b\n  + d\n");
        assert_eq!(diff(b"a\nb\n", b"c\nd\n", 1).lines().count(), 1);
    }
}
