//! Read the regular expressions of users.

use regex::bytes::{Regex, RegexBuilder};

/// An explanation of `^` and `$` in all expressions.
pub(super) const ANCHORS: &str =
    "`^` and `$` are the beginning and the end of a line, `\\A` and `\\z` those of the output";

/// Compiles a regular expression about an output. `^` and `$` are the beginning and the end of each line,
/// whether lines end with a newline or with carriage return and newline.
///
/// # Errors
/// If it is no valid expression.
pub fn expression(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).multi_line(true).crlf(true).build()
}

/// True if an expression has anchors, `^` or `$`.
pub(super) fn is_anchored(regex: &Regex) -> bool {
    regex.as_str().contains(['^', '$'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_and_ends_are_those_of_lines() {
        let matches = |text: &str, output: &[u8]| expression(text).unwrap().is_match(output);
        assert!(matches("^error: x$", b"begin\nerror: x\nend\n"));
        assert!(matches("^error: x$", b"begin\r\nerror: x\r\nend\r\n"));
        assert!(!matches("^x", b"begin\nerror: x\n"));
        assert!(matches(r"\Abegin$", b"begin\nend\n"));
        assert!(!matches(r"\Aend", b"begin\nend\n"));
    }

    #[test]
    fn an_expression_says_whether_it_has_anchors() {
        let anchored = |text: &str| is_anchored(&expression(text).unwrap());
        assert!(anchored("^a") && anchored("a$") && !anchored("a"));
    }
}
