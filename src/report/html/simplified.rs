//! Write a simplified input as a page: the input with what went dimmed, what each test has given to the program, the
//! curve, and what makes the program fail in another way.

use serde::Serialize;

use super::super::prevention;
use super::super::quoting::escaped as quoted_bytes;
use super::super::schema::Tests;
use super::super::simplified::{heading, tail_of, tests, verdict_of};
use super::super::source::printable;
use super::super::spelling;
use super::super::style::Style;
use super::frame::Frame;
use crate::circumstances::input::{InputPart, InputPiece, OtherInput, Provenance, Provenances};
use crate::simplified::{Simplified, TriedInput};

pub(super) const FRAME: Frame = Frame {
    kind: "simplified",
    about: "simplified input",
    heading: r#"What <code id="title"></code> needs to fail"#,
    skip: ("input", "the input"),
    main: include_str!("simplified.html"),
    style: include_str!("simplified.css"),
    scripts: &[include_str!("curve.js"), include_str!("cells.js"), include_str!("simplified.js")],
};

/// Of a part of more bytes only some stretches are on the page.
const MOST_SHOWN: usize = 200_000;

/// The number of bytes shown before and after what is left, where not all can be.
const AROUND: usize = 1000;

const MOST_COLUMNS: usize = 160;

/// So much of a reason, and of what a program says, is on the page.
const LONGEST_REASON: usize = 400;
const MOST_ERRORS: usize = 10_000;
const MOST_OTHER: usize = 4000;

/// The title of a page.
#[derive(Clone, Copy, Debug)]
pub struct InputTitle<'t> {
    /// The name of the program.
    pub program: &'t str,
    /// The command that does it again, as typed into a shell.
    pub command_line: &'t str,
}

#[derive(Serialize)]
struct SimplifiedPage<'a> {
    title: &'a str,
    command_line: &'a str,
    criterion: &'a str,
    verdict: String,
    warnings: &'a [String],
    /// The sets that keep the failure away, if that was the question.
    sets: Option<String>,
    parts: Vec<ShownPart>,
    note: String,
    columns: Vec<(usize, usize, usize)>,
    rows: Vec<InputRow>,
    search_note: String,
    phases: Vec<InputPhase<'a>>,
    curve: &'a [(usize, usize)],
    tests: Tests,
    errors: [String; 2],
    others: Vec<ShownFailure>,
}

#[derive(Serialize)]
struct ShownPart {
    name: String,
    heading: String,
    bytes: usize,
    /// Whether characters are UTF-8; otherwise each is a byte.
    is_text: bool,
    shown: Vec<Stretch>,
    /// Null if it is left out.
    left: Option<Vec<ShownPiece>>,
}

/// A stretch of a part that is on the page.
#[derive(Serialize)]
struct Stretch {
    at: usize,
    text: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ShownPiece {
    Kept(usize, usize),
    Other(String),
}

#[derive(Serialize)]
struct InputRow {
    number: usize,
    outcome: &'static str,
    why: String,
    bytes: usize,
    /// A sign for each column: `0` to `9` for none to all of it given.
    cells: String,
    given: Vec<Option<Vec<ShownPiece>>>,
}

#[derive(Serialize)]
struct InputPhase<'a> {
    first: usize,
    words: &'a str,
}

#[derive(Serialize)]
struct ShownFailure {
    what: String,
    tests: u64,
    bytes: usize,
    parts: Vec<ShownContent>,
}

#[derive(Serialize)]
struct ShownContent {
    name: String,
    text: String,
}

/// The page.
pub fn page(found: &Simplified, title: &InputTitle<'_>) -> String {
    FRAME.page(title.program, &document(found, title))
}

fn document<'a>(found: &'a Simplified, title: &InputTitle<'a>) -> SimplifiedPage<'a> {
    let columns = columns(found);
    // Sets have no pieces.
    let parts: Vec<ShownPart> = match found.prevention {
        Some(_) => Vec::new(),
        None => found.parts().enumerate().map(|(number, part)| shown_part(found, number, part)).collect(),
    };
    let is_cut = parts.iter().any(|part| part.bytes > MOST_SHOWN);
    let told = found.tried.tests.len();
    SimplifiedPage {
        title: title.program,
        command_line: title.command_line,
        criterion: &found.criterion,
        verdict: match &found.prevention {
            Some(prevention) => prevention::verdict(prevention, &tail_of(found)),
            None => format!("{} {}", verdict_of(found), tail_of(found)),
        },
        warnings: &found.warnings,
        sets: found.prevention.as_ref().map(|prevention| prevention::sets(prevention, Style::default())),
        parts,
        note: match is_cut {
            true => "Of a large part only what is left is shown, with what is around it.".into(),
            false => String::new(),
        },
        rows: found.tried.tests.iter().map(|test| row(found, test, &columns)).collect(),
        columns,
        search_note: match told < found.tried.total {
            true => format!("{told} of {} tests are shown, evenly spread.", found.tried.total),
            false => String::new(),
        },
        phases: found
            .tried
            .phases
            .iter()
            .map(|(before, what)| InputPhase { first: before + 1, words: what })
            .collect(),
        curve: &found.tried.curve,
        tests: tests(found),
        errors: [&found.errors_before, &found.errors_after].map(|text| beginning(text, MOST_ERRORS)),
        others: found.other_failures.iter().map(other).collect(),
    }
}

/// The beginning of what a program says, as people can read it.
fn beginning(text: &[u8], most: usize) -> String {
    let cut = String::from_utf8_lossy(&text[..text.len().min(most)]).into_owned();
    let lines: Vec<String> = cut.lines().map(printable).collect();
    let more = if text.len() > most { "\n…" } else { "" };
    lines.join("\n") + more
}

fn shown_part(
    found: &Simplified,
    number: usize,
    (before, after, unit): (&InputPart, &InputPart, crate::circumstances::input::Unit),
) -> ShownPart {
    let content = before.content.as_deref().unwrap_or_default();
    let is_text = str::from_utf8(content).is_ok();
    let known = found.provenances.as_ref().and_then(|parts| parts.get(number));
    let left = match (known, &after.content) {
        (Some(provenance), _) => provenance.clone(),
        (None, None) => None,
        (None, Some(content)) => Some(Provenance { pieces: vec![InputPiece::Other(content.to_vec())] }),
    };
    ShownPart {
        name: printable(&before.name.to_string()),
        heading: heading(before, after, unit),
        bytes: content.len(),
        is_text,
        shown: stretches(content, is_text, left.as_ref()),
        left: left.as_ref().map(|left| pieces(left, is_text)),
    }
}

/// The stretches of the content on the page: all, or the bytes that are left and those around them.
fn stretches(content: &[u8], is_text: bool, left: Option<&Provenance>) -> Vec<Stretch> {
    let stretch = |start: usize, end: usize| {
        let (start, end) = (boundary(content, start, is_text), boundary(content, end, is_text));
        Stretch { at: start, text: characters(&content[start..end], is_text) }
    };
    if content.len() <= MOST_SHOWN {
        return vec![stretch(0, content.len())];
    }
    let mut wanted: Vec<(usize, usize)> = vec![(0, AROUND)];
    let mut room = MOST_SHOWN;
    for piece in left.iter().flat_map(|left| &left.pieces) {
        let InputPiece::Kept(range) = piece else { continue };
        let (start, end) = (range.start.saturating_sub(AROUND), (range.end + AROUND).min(content.len()));
        let end = end.min(start + room);
        match wanted.last_mut() {
            Some(last) if start <= last.1 => {
                room -= end.saturating_sub(last.1).min(room);
                last.1 = last.1.max(end);
            }
            _ if start < end => {
                room -= (end - start).min(room);
                wanted.push((start, end));
            }
            _ => {}
        }
    }
    wanted.into_iter().map(|(start, end)| stretch(start, end)).collect()
}

/// The beginning of the character at a place.
fn boundary(content: &[u8], at: usize, is_text: bool) -> usize {
    let continues = |at: &usize| is_text && content.get(*at).is_some_and(|byte| matches!(byte, 0x80..=0xbf));
    (0..=at).rev().find(|at| !continues(at)).unwrap_or(0)
}

/// Bytes as characters: of UTF-8, or else one for each.
fn characters(bytes: &[u8], is_text: bool) -> String {
    if is_text {
        String::from_utf8_lossy(bytes).into_owned()
    } else {
        bytes.iter().map(|&byte| char::from(byte)).collect()
    }
}

fn pieces(provenance: &Provenance, is_text: bool) -> Vec<ShownPiece> {
    let piece = |piece: &InputPiece| match piece {
        InputPiece::Kept(range) => ShownPiece::Kept(range.start, range.end),
        InputPiece::Other(text) => ShownPiece::Other(characters(text, is_text)),
    };
    provenance.pieces.iter().map(piece).collect()
}

/// The columns of the picture: of each the first and the last byte, and the part. Each part has one at least.
fn columns(found: &Simplified) -> Vec<(usize, usize, usize)> {
    let parts = &found.before.parts;
    let width = found.before.len().div_ceil(MOST_COLUMNS).max(1);
    let of_part = |(number, part): (usize, &InputPart)| -> Vec<(usize, usize, usize)> {
        let starts = (0..part.len()).step_by(width);
        starts.map(|start| (start, (start + width).min(part.len()) - 1, number)).collect()
    };
    parts.iter().enumerate().flat_map(of_part).collect()
}

fn row(found: &Simplified, test: &TriedInput, columns: &[(usize, usize, usize)]) -> InputRow {
    let is_text: Vec<bool> = found
        .before
        .parts
        .iter()
        .map(|part| str::from_utf8(part.content.as_deref().unwrap_or_default()).is_ok())
        .collect();
    let given = test.given.iter().zip(&is_text);
    InputRow {
        number: test.number,
        outcome: spelling::outcome(test.outcome),
        why: printable(&test.why).chars().take(LONGEST_REASON).collect(),
        bytes: test.bytes(),
        cells: cells(&test.given, columns),
        given: given.map(|(part, is_text)| part.as_ref().map(|part| pieces(part, *is_text))).collect(),
    }
}

/// Of each column how much of it is given. Columns of a part are in order, and so is what is kept of it.
fn cells(given: &Provenances, columns: &[(usize, usize, usize)]) -> String {
    let mut signs = String::with_capacity(columns.len());
    for of_part in columns.chunk_by(|one, other| one.2 == other.2) {
        let kept = given[of_part[0].2].iter().flat_map(|part| &part.pieces).filter_map(|piece| match piece {
            InputPiece::Kept(range) => Some(range.clone()),
            InputPiece::Other(_) => None,
        });
        let mut kept = kept.peekable();
        for &(first, last, _) in of_part {
            let (mut count, end) = (0, last + 1);
            while let Some(range) = kept.peek() {
                count += range.end.min(end).saturating_sub(range.start.max(first));
                if range.end > end {
                    break;
                }
                kept.next();
            }
            let share = (9 * count).div_ceil(end - first).min(9);
            signs.push(char::from_digit(share as u32, 10).unwrap_or('9'));
        }
    }
    signs
}

fn other(failure: &OtherInput) -> ShownFailure {
    let content = |part: &InputPart| {
        let content = part.content.as_deref()?;
        let lines: Vec<String> =
            content[..content.len().min(MOST_OTHER)].split(|&byte| byte == b'\n').map(quoted_bytes).collect();
        let more = if content.len() > MOST_OTHER { "\n…" } else { "" };
        Some(ShownContent { name: printable(&part.name.to_string()), text: lines.join("\n") + more })
    };
    ShownFailure {
        what: printable(&failure.what),
        tests: failure.tests,
        bytes: failure.given.len(),
        parts: failure.given.parts.iter().filter_map(content).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_tells_how_much_of_it_is_given() {
        let given = |ranges: &[(usize, usize)]| {
            let pieces = ranges.iter().map(|&(start, end)| InputPiece::Kept(start..end)).collect();
            vec![Some(Provenance { pieces })]
        };
        let columns = [(0, 9, 0), (10, 19, 0), (20, 24, 0)];
        assert_eq!(cells(&given(&[(0, 25)]), &columns), "999");
        assert_eq!(cells(&given(&[(3, 4), (8, 11), (24, 25)]), &columns), "312");
        assert_eq!(cells(&given(&[]), &columns), "000");
        assert_eq!(cells(&vec![None], &columns), "000");
    }

    #[test]
    fn of_a_large_part_what_is_left_is_shown_with_what_is_around_it() {
        let content = "é\n".repeat(200_000).into_bytes();
        let left = Provenance { pieces: vec![InputPiece::Kept(300_000..300_003)] };
        let shown = stretches(&content, true, Some(&left));
        let places: Vec<_> =
            shown.iter().map(|stretch| (stretch.at, stretch.at + stretch.text.len())).collect();
        assert_eq!(places, [(0, 999), (298_998 + 2, 301_002)]);
    }
}
