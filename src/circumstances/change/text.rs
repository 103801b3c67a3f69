//! Split a text into lines, and lines into words.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use regex::bytes::Regex;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// The number of bytes by which a file is recognised as text, as by git.
const LOOKED_AT: usize = 8000;

/// The length of the shortest word that counts as a name.
const SHORTEST_WORD: usize = 3;

/// A line that begins a construct of which the lines below are a part, in most languages.
static HEADING: LazyLock<Regex> = LazyLock::new(|| {
    let nested = r"^\s+(?:(?:pub|public|private|protected|static|async|export|abstract|final|override|inline|virtual|unsafe|const)\b.{0,40}\s)?(?:def|class|fn|func|function|fun|sub|impl|module|trait|struct|interface|method)\s+\S";
    Regex::new(&format!(r"(?-u:{nested}|^[A-Za-z_$])")).expect("an expression")
});

/// A text of lines.
#[derive(Clone, Debug)]
pub struct LinedText {
    bytes: Arc<[u8]>,
    /// The places where lines begin, and where the last one ends.
    places: Arc<[usize]>,
}

/// True if a file is not text.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(LOOKED_AT).any(|&byte| byte == 0)
}

impl LinedText {
    /// Splits a text into its lines, with their ends.
    pub(super) fn new(bytes: Vec<u8>) -> LinedText {
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        let mut places: Vec<usize> = std::iter::once(0).chain(ends).collect();
        if places.last() != Some(&bytes.len()) {
            places.push(bytes.len());
        }
        LinedText { bytes: bytes.into(), places: places.into() }
    }

    /// The number of lines.
    pub fn len(&self) -> usize {
        self.places.len() - 1
    }

    /// True if there is no line.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some lines, with their ends.
    pub fn lines(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[self.places[range.start]..self.places[range.end]]
    }

    /// A line, with its end.
    pub fn line(&self, number: usize) -> &[u8] {
        self.lines(number..number + 1)
    }

    /// All lines, with their ends.
    pub(super) fn all(&self) -> Vec<&[u8]> {
        (0..self.len()).map(|line| self.line(line)).collect()
    }
}

/// The stretches of lines that differ between two texts, in both, with equal lines in between.
///
/// Only what is said to be equal is taken from the library, and looked at once more: the places of its other steps are
/// not always those after the previous step (similar 2.7, issue 78).
pub(super) fn stretches(old: &LinedText, new: &LinedText) -> Vec<(Range<usize>, Range<usize>)> {
    let (old, new) = (old.all(), new.all());
    let (mut stretches, mut at) = (Vec::new(), (0, 0));
    let mut differ = |before: Range<usize>, after: Range<usize>| {
        if !before.is_empty() || !after.is_empty() {
            stretches.push((before, after));
        }
    };
    for step in capture_diff_slices(Algorithm::Patience, &old, &new) {
        let DiffOp::Equal { old_index, new_index, len } = step else { continue };
        let is_behind = old_index >= at.0 && new_index >= at.1;
        if is_behind && old[old_index..old_index + len] == new[new_index..new_index + len] {
            differ(at.0..old_index, at.1..new_index);
            at = (old_index + len, new_index + len);
        }
    }
    differ(at.0..old.len(), at.1..new.len());
    stretches
}

/// The heading of a place: the line above that begins the construct it is a part of.
pub(super) fn heading(text: &LinedText, place: usize) -> Option<String> {
    let above = (0..place).rev().map(|line| text.line(line)).find(|line| HEADING.is_match(line))?;
    Some(String::from_utf8_lossy(above).trim().to_owned())
}

/// The words of a text that may be names.
pub(super) fn words(text: &[u8]) -> BTreeSet<&[u8]> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    let words = text.split(|byte| !is_word(byte));
    words.filter(|word| word.len() >= SHORTEST_WORD && !word[0].is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_made_of_its_lines() {
        for (text, count) in [("", 0), ("a", 1), ("a\n", 1), ("a\n\nb", 3), ("\n", 1)] {
            let cut = LinedText::new(text.as_bytes().to_vec());
            assert_eq!((cut.len(), cut.all().concat()), (count, text.as_bytes().to_vec()), "{text:?}");
        }
    }

    #[test]
    fn a_place_is_in_a_function_or_in_what_is_within_a_class() {
        let text =
            LinedText::new(b"int f(void)\n{\n\tx;\n}\nclass A:\n    def g(self):\n        y\n".to_vec());
        let names: Vec<Option<String>> = [0, 2, 5, 6].map(|line| heading(&text, line)).into();
        let name = |name: &str| Some(name.to_owned());
        assert_eq!(names, [None, name("int f(void)"), name("class A:"), name("def g(self):")]);
    }

    #[test]
    fn words_are_what_may_be_a_name() {
        let found = words(b"if (x) foo_1(bar, 42);");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [&b"bar"[..], b"foo_1"]);
    }
}
