//! Show where two outputs differ.

use std::str::Utf8Chunk;

use regex::bytes::Regex;
use similar::{Algorithm, ChangeTag};

/// Lines longer than this are cut in messages.
const LINE_WIDTH: usize = 60;

/// How much of what two long lines have in common is shown before their difference.
const LEAD: usize = 20;

/// As many lines of each text as a diff looks at, from the first difference on.
const WINDOW: usize = 100;

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
/// neighbourhood of the first difference is looked at: texts may be large.
pub fn diff(expected: &[u8], actual: &[u8], most: usize) -> String {
    let same = lines(expected).zip(lines(actual)).take_while(|(one, other)| one == other).count();
    let window = |text| lines(text).skip(same).take(WINDOW).collect::<Vec<&[u8]>>();
    let (expected, actual) = (window(expected), window(actual));
    let steps = similar::capture_diff_slices(Algorithm::Myers, &expected, &actual);
    let changes = steps.iter().flat_map(|step| step.iter_changes(&expected, &actual)).filter_map(|change| {
        let sign = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => return None,
        };
        Some(format!("  {sign} {}\n", cut(change.value())))
    });
    changes.take(most).collect()
}

/// An expression of the user's, in quotes.
pub(super) fn expression(regex: &Regex) -> String {
    format!("`{}`", in_one_line(regex.as_str().as_bytes()))
}

/// The line in quotes, cut if it is long.
pub(super) fn quoted(line: &[u8]) -> String {
    format!("`{}`", cut(line))
}

/// Two different lines, quoted so that the difference can be seen.
fn near_difference(one: &[u8], other: &[u8]) -> (String, String) {
    let common = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    if common < LINE_WIDTH - LEAD {
        return (quoted(one), quoted(other));
    }
    let from = |line: &[u8]| format!("`…{}`", cut(&line[common - LEAD..]));
    (from(one), from(other))
}

/// The line as characters that can be shown, cut if it is long. What is no text is spelled out.
fn cut(line: &[u8]) -> String {
    let mut text = String::new();
    for (count, shown) in line.utf8_chunks().flat_map(spelled).enumerate() {
        if count == LINE_WIDTH {
            text.truncate(text.char_indices().nth(LINE_WIDTH - 1).map_or(text.len(), |(end, _)| end));
            text.push('…');
            break;
        }
        text += &shown;
    }
    text
}

/// A text of any length as characters that can be shown in one line.
pub(super) fn in_one_line(text: &[u8]) -> String {
    text.utf8_chunks().flat_map(spelled).collect()
}

fn spelled(chunk: Utf8Chunk<'_>) -> impl Iterator<Item = String> {
    let character = |c: char| match c {
        '\t' => " ".to_owned(),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    };
    let bytes = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}"));
    chunk.valid().chars().map(character).chain(bytes)
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
        assert_eq!(why, "output line 1: `a\\xfe b` instead of `a\\xff\\u{0}b\\r`");
        assert_eq!(cut(&b"x".repeat(LINE_WIDTH)).chars().count(), LINE_WIDTH);
        assert_eq!(cut(&b"x".repeat(LINE_WIDTH + 1)), "x".repeat(LINE_WIDTH - 1) + "…");
    }

    #[test]
    fn a_diff_is_no_longer_than_asked_for() {
        assert_eq!(diff(b"a\nb\nc\n", b"a\nd\nc\n", 10), "  - b\n  + d\n");
        assert_eq!(diff(b"a\nb\n", b"c\nd\n", 1).lines().count(), 1);
    }
}
