//! Choose a part of an output that must stay.

use regex::bytes::Regex;

use super::difference::{in_quotes, lines, quoted};
use super::error::OracleError;
use super::expression::is_anchored;
use super::reference::ReferenceComparison;

/// A part of an output.
#[derive(Clone, Debug)]
pub enum Part {
    /// In each line that matches: the text from the first match to the end of the line.
    ///
    /// A program that reads its input from a file prints its prompts and what follows them into one line, `a?
    /// b? sum = 15`, where a user at a terminal sees several. So if no line of the recorded output matches, the
    /// expression is tried on what is left of each line from each of its words on, and `^` is the beginning of a
    /// word.
    Matching(Regex),
    /// The line with this number, from 0. Equal lines elsewhere are other lines.
    Line(usize),
}

impl Part {
    /// Returns one part for each line of an output that is not empty.
    pub fn each_line(output: &[u8]) -> Vec<Part> {
        let numbered = lines(output).enumerate().filter(|(_, line)| !line.is_empty());
        numbered.map(|(number, _)| Part::Line(number)).collect()
    }

    /// True if the part of the recorded `output` differs from that of the correct one.
    pub(super) fn is_wrong(&self, output: &[u8], correct: &[u8]) -> bool {
        match self {
            Part::Line(number) => ReferenceComparison::new(output, correct).is_wrong(*number),
            Part::Matching(regex) => {
                Tails::new(regex.clone(), output).is_ok_and(|tails| tails.of(output) != tails.of(correct))
            }
        }
    }

    /// The doubt about this comparison, if there is any; one sentence.
    pub(super) fn doubt(&self, output: &[u8], correct: &[u8]) -> Option<String> {
        match self {
            Part::Line(number) => ReferenceComparison::new(output, correct).doubt(*number),
            Part::Matching(_) => None,
        }
    }
}

/// The ends of lines, each from where an expression matches.
#[derive(Debug)]
pub(super) struct Tails {
    regex: Regex,
    beginning: Beginning,
}

/// The meaning of `^`: the beginning of a line, or of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beginning {
    Line,
    Word,
}

impl Tails {
    /// Creates the tails of an expression by what it matches in a recorded output: from beginnings of lines
    /// or, if there is nothing, of words.
    pub(super) fn new(regex: Regex, output: &[u8]) -> Result<Tails, OracleError> {
        let beginnings = [Beginning::Line, Beginning::Word].into_iter();
        let mut tried = beginnings.map(|beginning| Tails { regex: regex.clone(), beginning });
        tried.find(|tails| !tails.of(output).is_empty()).ok_or_else(|| no_line(&regex, output))
    }

    /// The comparison keys of lines where outputs are aligned: the end of each line from the match on, or all
    /// of it if it does not match; and whether it does.
    pub(super) fn keys<'t>(&self, output: &'t [u8]) -> impl Iterator<Item = (&'t [u8], bool)> {
        lines(output).map(|line| self.tail(line).map_or((line, false), |tail| (tail, true)))
    }

    /// The ends of the lines of an output, a line each.
    pub(super) fn of(&self, output: &[u8]) -> Vec<u8> {
        lines(output).filter_map(|line| self.tail(line)).flat_map(|tail| [tail, b"\n"].concat()).collect()
    }

    fn tail<'l>(&self, line: &'l [u8]) -> Option<&'l [u8]> {
        let from = |start: usize| self.regex.find(&line[start..]).map(|found| &line[start + found.start()..]);
        let begins_word =
            |&at: &usize| !line[at].is_ascii_whitespace() && (at == 0 || line[at - 1].is_ascii_whitespace());
        match self.beginning {
            Beginning::Line => from(0),
            Beginning::Word => (0..line.len()).filter(begins_word).find_map(from),
        }
    }

    pub(super) fn describe(&self) -> String {
        let place = match self.beginning {
            Beginning::Line => "",
            Beginning::Word => " at the beginning of a word",
        };
        format!("the same output from {}{place} on", in_quotes(&self.regex))
    }
}

/// The error that an expression matches no line.
pub(super) fn no_line(regex: &Regex, output: &[u8]) -> OracleError {
    const MOST: usize = 3;
    let mut shown: Vec<String> = lines(output).take(MOST).map(quoted).collect();
    if lines(output).nth(MOST).is_some() {
        shown.push("...".to_owned());
    }
    let lines = if shown.is_empty() { "empty".to_owned() } else { shown.join(", ") };
    let meaning =
        if is_anchored(regex) { " (`^` and `$` are the beginning and the end of a line)" } else { "" };
    OracleError::NoLine { expression: in_quotes(regex) + meaning, lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected text of a part, and the description of the criterion.
    fn expected(expression: &str, output: &str) -> Result<(String, String), OracleError> {
        let tails = Tails::new(Regex::new(expression).unwrap(), output.as_bytes())?;
        Ok((String::from_utf8(tails.of(output.as_bytes())).unwrap(), tails.describe()))
    }

    #[test]
    fn a_line_is_taken_from_the_match_on() {
        let (part, told) = expected("sum", "a? b? sum = 15\nmul = 0\n").unwrap();
        assert_eq!((&part[..], &told[..]), ("sum = 15\n", "the same output from `sum` on"));
        assert_eq!(expected("^sum", "sum = 1\na sum = 2\n").unwrap().0, "sum = 1\n");
    }

    #[test]
    fn behind_prompts_a_word_begins_what_a_user_takes_for_a_line() {
        let (part, told) = expected("^sum", "a? b? sum = 15\nmul = 0\n").unwrap();
        assert_eq!(part, "sum = 15\n");
        assert_eq!(told, "the same output from `^sum` at the beginning of a word on");
        assert!(expected("^um", "a? b? sum = 15\n").is_err());
    }

    #[test]
    fn an_expression_that_matches_nothing_is_told_with_the_lines_that_there_are() {
        let told = expected("^x", "a? b? sum = 15\nmul = 0\n").unwrap_err().to_string();
        let meaning = "matches `^x` (`^` and `$` are the beginning and the end of a line): ";
        assert!(told.contains(meaning) && told.ends_with("`a? b? sum = 15`, `mul = 0`"), "{told}");
        assert!(expected("x", "").unwrap_err().to_string().ends_with("which is empty"));
        assert!(expected("x", "1\n2\n3\n4\n").unwrap_err().to_string().ends_with("`1`, `2`, `3`, ..."));
    }
}
