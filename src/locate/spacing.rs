//! Compare outputs without regard to white space.
//!
//! White space that does not count: how long a run of blanks is, blanks at the end of a line, the kind of the line
//! end, whether the last line has one, and blank lines at the end of the output. As for `diff -b`, a blank is a space,
//! a tab, a carriage return, a vertical tab or a form feed; and a blank where there is none in the other text counts.

/// The comparison rule: whether white space counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spacing {
    /// Each byte counts.
    #[default]
    Exact,
    /// White space does not count.
    Ignored,
}

/// A text with normalised white space: two texts that differ in nothing else become equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Squeezed {
    pub(super) bytes: Vec<u8>,
    /// The origin of each byte: its place in the text.
    origins: Vec<usize>,
    /// The length of the text.
    length: usize,
}

impl Squeezed {
    pub(super) fn new(text: &[u8]) -> Squeezed {
        let mut squeezed = Squeezed { bytes: Vec::new(), origins: Vec::new(), length: text.len() };
        let mut blanks = None;
        for (at, &byte) in text.iter().enumerate() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' => blanks = blanks.or(Some(at)),
                b'\n' => {
                    squeezed.push(byte, at);
                    blanks = None;
                }
                _ => {
                    if let Some(first) = blanks.take() {
                        squeezed.push(b' ', first);
                    }
                    squeezed.push(byte, at);
                }
            }
        }
        squeezed.end();
        squeezed
    }

    /// Ends the text with a single line end, unless it is blank.
    fn end(&mut self) {
        let length = self.bytes.iter().rposition(|&byte| byte != b'\n').map_or(0, |last| last + 1);
        let end = self.origins.get(length).copied().unwrap_or(self.length);
        self.bytes.truncate(length);
        self.origins.truncate(length);
        if length > 0 {
            self.push(b'\n', end);
        }
    }

    fn push(&mut self, byte: u8, origin: usize) {
        self.bytes.push(byte);
        self.origins.push(origin);
    }

    /// The place in the text of this byte; the text's length for those after the end.
    pub(super) fn origin(&self, at: usize) -> usize {
        self.origins.get(at).copied().unwrap_or(self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_same(one: &str, other: &str) -> bool {
        Squeezed::new(one.as_bytes()).bytes == Squeezed::new(other.as_bytes()).bytes
    }

    #[test]
    fn runs_of_blanks_line_ends_and_blank_lines_at_the_end_do_not_count() {
        for other in
            ["a b\nc\n", "a  b\nc\n", "a\tb\nc\n", "a b \nc\t\n", "a b\r\nc\r\n", "a b\nc", "a b\nc\n \n\n"]
        {
            assert!(is_same("a b\nc\n", other), "{other:?}");
        }
        assert!(is_same("", "\n \n") && is_same(" a\n", "   a\n"));
    }

    #[test]
    fn a_blank_where_there_is_none_counts_and_so_do_blank_lines_elsewhere() {
        for other in ["ab\nc\n", " a b\nc\n", "a b\n\nc\n", "\na b\nc\n", "a b c\n", "a b\n", ""] {
            assert!(!is_same("a b\nc\n", other), "{other:?}");
        }
    }

    #[test]
    fn each_byte_knows_where_it_comes_from() {
        let squeezed = Squeezed::new(b"a  b \r\nc  \n\n");
        assert_eq!(squeezed.bytes, b"a b\nc\n");
        let origins: Vec<usize> = (0..8).map(|at| squeezed.origin(at)).collect();
        assert_eq!(origins, [0, 1, 3, 6, 7, 10, 12, 12]);
    }
}
