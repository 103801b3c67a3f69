//! Split a text into units that can be left out: lines, the elements of bracketed lists, tokens, characters, bytes.

use std::ops::Range;

use dd::Configuration;

use super::brackets::Brackets;
use super::indentation::frames;
use crate::syntax::{Language, SyntaxTree};

/// A kind of unit, which is left out as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The whole text.
    Whole,
    /// What the program has read, so many bytes, and what it has not.
    Read(usize),
    /// Lines with their ends.
    Lines,
    /// Elements within so many brackets: the text between commas, semicolons and ends of lines, brackets and all that
    /// is in them included.
    Elements(usize),
    /// Words, numbers, stretches of space, single signs.
    Tokens,
    /// The lines before and after an indented block, and nothing in between.
    Frames,
    /// Both brackets of a pair, and nothing in between.
    Pairs,
    /// Nodes of the syntax tree.
    Nodes(Language),
    /// Characters of UTF-8; other bytes one by one.
    Characters,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// The name of one unit.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Whole => "part",
            Unit::Read(_) => "stretch",
            Unit::Lines => "line",
            Unit::Elements(_) => "element",
            Unit::Tokens => "token",
            Unit::Frames => "pair of lines around a block",
            Unit::Pairs => "pair of brackets",
            Unit::Nodes(_) => "node",
            Unit::Characters => "character",
            Unit::Bytes => "byte",
        }
    }

    /// The name of several units.
    pub fn names(self) -> &'static str {
        match self {
            Unit::Whole => "whole parts",
            Unit::Read(_) => "what was never read",
            Unit::Lines => "lines",
            Unit::Elements(_) => "elements of lists",
            Unit::Tokens => "tokens",
            Unit::Frames => "lines around indented blocks",
            Unit::Pairs => "pairs of brackets",
            Unit::Nodes(_) => "nodes",
            Unit::Characters => "characters",
            Unit::Bytes => "bytes",
        }
    }
}

impl Unit {
    /// The number of units of a text.
    pub fn count_in(self, text: &[u8]) -> usize {
        match self {
            Unit::Nodes(language) => {
                let tree = SyntaxTree::of(text, language);
                tree.map_or(0, |tree| tree.nodes.iter().skip(1).filter(|node| node.is_named).count())
            }
            _ => Units::of(text, self).len(),
        }
    }
}

/// A text that is split into units.
#[derive(Clone, Debug)]
pub(super) struct Units {
    /// The stretches of the text in order, each with its unit; what is in none always stays. A unit may have
    /// several.
    stretches: Stretches,
    count: usize,
}

#[derive(Clone, Debug)]
enum Stretches {
    /// Each byte.
    Bytes,
    /// The text from one of these places to the next, one unit after the other.
    Between(Vec<u32>),
    /// These stretches.
    Of(Vec<(Range<u32>, u32)>),
}

impl Units {
    /// Splits a text of less than 4 GiB.
    pub(super) fn of(text: &[u8], unit: Unit) -> Units {
        let stretches = match unit {
            Unit::Bytes => Stretches::Bytes,
            Unit::Whole => Stretches::Between(vec![0, text.len() as u32]),
            Unit::Read(length) => {
                Stretches::Between(vec![0, length.min(text.len()) as u32, text.len() as u32])
            }
            Unit::Lines => Stretches::Between(places(text, line_end)),
            Unit::Tokens => Stretches::Between(places(text, token_end)),
            Unit::Characters => Stretches::Between(places(text, character_end)),
            Unit::Elements(depth) => Stretches::Of(numbered(Brackets::of(text).elements(text, depth))),
            Unit::Frames => Stretches::Of(frames(text)),
            Unit::Pairs => Stretches::Of(Brackets::of(text).pairs()),
            // Nodes lie within each other; see `syntax_swaps`.
            Unit::Nodes(_) => Stretches::Between(vec![0, text.len() as u32]),
        };
        let count = match &stretches {
            Stretches::Bytes => text.len(),
            Stretches::Between(places) => places.len() - 1,
            Stretches::Of(stretches) => {
                stretches.iter().map(|(_, unit)| *unit as usize + 1).max().unwrap_or(0)
            }
        };
        Units { stretches, count }
    }

    /// The number of units.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The approximate size in memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        match &self.stretches {
            Stretches::Bytes => 0,
            Stretches::Between(places) => size_of_val(&places[..]),
            Stretches::Of(stretches) => size_of_val(&stretches[..]),
        }
    }

    /// The text with these units only.
    pub(super) fn join(&self, text: &[u8], chosen: &Configuration) -> Vec<u8> {
        let kept = self.kept(text.len(), chosen);
        let mut joined = Vec::with_capacity(kept.iter().map(Range::len).sum());
        kept.into_iter().for_each(|range| joined.extend_from_slice(&text[range]));
        joined
    }

    /// The stretches of a text of this length that are left of it with these units only; none touches the next.
    pub(super) fn kept(&self, length: usize, chosen: &Configuration) -> Vec<Range<usize>> {
        let mut kept: Vec<Range<usize>> = Vec::new();
        let mut keep = |range: Range<usize>| match kept.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ if range.is_empty() => {}
            _ => kept.push(range),
        };
        match &self.stretches {
            Stretches::Bytes => chosen.iter().for_each(|at| keep(at..at + 1)),
            Stretches::Between(places) => {
                chosen.iter().for_each(|unit| keep(places[unit] as usize..places[unit + 1] as usize));
            }
            Stretches::Of(stretches) => {
                let mut at = 0;
                for (stretch, unit) in stretches {
                    keep(at..stretch.start as usize);
                    at = stretch.end as usize;
                    if chosen.contains(*unit as usize) {
                        keep(stretch.start as usize..at);
                    }
                }
                keep(at..length);
            }
        }
        kept
    }
}

/// The byte ranges of the lines of a text.
pub(super) fn lines(text: &[u8]) -> Vec<Range<usize>> {
    ranges(&places(text, line_end))
}

/// The byte ranges of the tokens of a text.
pub(super) fn tokens(text: &[u8]) -> Vec<Range<usize>> {
    ranges(&places(text, token_end))
}

fn ranges(places: &[u32]) -> Vec<Range<usize>> {
    places.windows(2).map(|place| place[0] as usize..place[1] as usize).collect()
}

/// The ends of stretches that follow each other, of which each begins where the one before ends, and 0 before them.
/// `length` returns the length of the first one of a text that is not empty.
fn places(text: &[u8], length: impl Fn(&[u8]) -> usize) -> Vec<u32> {
    let mut places = vec![0];
    let mut at = 0;
    while at < text.len() {
        at += length(&text[at..]);
        places.push(at as u32);
    }
    places
}

fn numbered(stretches: Vec<Range<u32>>) -> Vec<(Range<u32>, u32)> {
    stretches.into_iter().zip(0..).collect()
}

fn line_end(text: &[u8]) -> usize {
    text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| at + 1)
}

/// The length of the first character. A sequence of bytes that is no UTF-8 is taken byte by byte.
fn character_end(text: &[u8]) -> usize {
    let first = text[0];
    let length = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    match text.get(..length).map(str::from_utf8) {
        Some(Ok(_)) => length,
        _ => 1,
    }
}

fn token_end(text: &[u8]) -> usize {
    let class = |byte: u8| match byte {
        b'_' | 0x80.. => 0,
        _ if byte.is_ascii_alphanumeric() => 0,
        _ if byte.is_ascii_whitespace() => 1,
        _ => 2,
    };
    match class(text[0]) {
        2 => 1,
        first => text.iter().position(|&byte| class(byte) != first).unwrap_or(text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, unit: Unit) -> Vec<String> {
        let units = Units::of(text.as_bytes(), unit);
        let one = |number| Configuration::from_iter(units.len(), [number]);
        let text = |number| String::from_utf8_lossy(&units.join(text.as_bytes(), &one(number))).into_owned();
        (0..units.len()).map(text).collect()
    }

    #[test]
    fn a_text_is_cut_into_units_that_make_it_up() {
        assert_eq!(cut("a\r\n\nb", Unit::Lines), ["a\r\n", "\n", "b"]);
        assert_eq!(cut("aé€😀", Unit::Characters), ["a", "é", "€", "😀"]);
        assert_eq!(cut("ab", Unit::Bytes), ["a", "b"]);
        assert_eq!(cut("x_1 += 2;\n", Unit::Tokens), ["x_1", " ", "+", "=", " ", "2", ";", "\n"]);
        let damaged = Units::of(b"a\xe2\x82b\xff", Unit::Characters);
        assert_eq!(damaged.len(), 5);
        for unit in [
            Unit::Lines,
            Unit::Characters,
            Unit::Bytes,
            Unit::Tokens,
            Unit::Elements(1),
            Unit::Frames,
            Unit::Pairs,
        ] {
            for text in ["", "f(a, [b; c]) {x}\n(", "\u{e9}\u{20ac}"] {
                let units = Units::of(text.as_bytes(), unit);
                let all = units.join(text.as_bytes(), &Configuration::full(units.len()));
                assert_eq!(all, text.as_bytes(), "{unit:?}");
            }
        }
    }

    #[test]
    fn elements_are_what_stands_between_separators_within_brackets() {
        let text = "f(a, g(b, c)); h();";
        assert_eq!(cut(text, Unit::Elements(0)), ["f(a, g(b, c));", " h();"]);
        let without = |unit, left_out: usize| {
            let units = Units::of(text.as_bytes(), unit);
            let rest = Configuration::full(units.len()).without(&[left_out]);
            String::from_utf8(units.join(text.as_bytes(), &rest)).expect("a text")
        };
        assert_eq!(without(Unit::Elements(1), 0), "f( g(b, c)); h();");
        assert_eq!(without(Unit::Elements(1), 1), "f(a,); h();");
        assert_eq!(without(Unit::Elements(2), 1), "f(a, g(b,)); h();");
        assert_eq!(without(Unit::Pairs, 1), "f(a, gb, c); h();");
    }
}
