//! Choose a part of an output that must stay.

use std::collections::HashSet;

use regex::bytes::Regex;

use super::difference::{expression, in_one_line, lines, quoted};
use super::{Condition, OracleError};

/// A part of an output.
#[derive(Clone, Debug)]
pub enum Part {
    /// In each line that matches: what is from the first match to the end of the line.
    ///
    /// A program that reads its input from a file prints its prompts and what follows them into one line, `a?
    /// b? sum = 15`, where a user at a terminal sees several. So if no line of the recorded output matches, the
    /// expression is tried on what is left of each line from each of its words on, and `^` is the beginning of a
    /// word.
    Matching(Regex),
    /// This line, wherever it stands.
    Line(Vec<u8>),
}

impl Part {
    /// One part for each line of an output, equal ones once.
    pub fn each_line(output: &[u8]) -> Vec<Part> {
        let mut seen = HashSet::new();
        let new = lines(output).filter(|line| !line.is_empty() && seen.insert(*line));
        new.map(|line| Part::Line(line.to_vec())).collect()
    }

    /// The condition that the part is as in the recorded `output`.
    pub(super) fn condition(self, output: &[u8]) -> Result<Condition, OracleError> {
        let regex = match self {
            Part::Line(line) => return Ok(Condition::Stays(line)),
            Part::Matching(regex) => regex,
        };
        let found = [Beginning::Line, Beginning::Word].into_iter().find_map(|beginning| {
            let tails = Tails { regex: regex.clone(), beginning };
            let expected = tails.of(output);
            (!expected.is_empty()).then_some(Condition::Part { tails, expected })
        });
        found.ok_or_else(|| no_line(&regex, output))
    }
}

/// The ends of lines, each from where an expression matches.
#[derive(Debug)]
pub(super) struct Tails {
    regex: Regex,
    beginning: Beginning,
}

/// What `^` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beginning {
    Line,
    Word,
}

impl Tails {
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
        format!("the same output from {}{place} on", expression(&self.regex))
    }
}

/// The complaint that an expression matches nothing.
pub(super) fn no_line(regex: &Regex, output: &[u8]) -> OracleError {
    const MOST: usize = 3;
    let mut shown: Vec<String> = lines(output).take(MOST).map(quoted).collect();
    if lines(output).nth(MOST).is_some() {
        shown.push("...".to_owned());
    }
    let lines = if shown.is_empty() { "empty".to_owned() } else { shown.join(", ") };
    OracleError::NoLine { expression: in_one_line(regex.as_str().as_bytes()), lines }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is expected of a part, and how the criterion is told.
    fn expected(expression: &str, output: &str) -> Result<(String, String), OracleError> {
        match Part::Matching(Regex::new(expression).unwrap()).condition(output.as_bytes())? {
            Condition::Part { tails, expected } => {
                Ok((String::from_utf8(expected).unwrap(), tails.describe()))
            }
            _ => unreachable!("an expression makes a part"),
        }
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
        assert!(told.contains("matches `^x`") && told.ends_with("`a? b? sum = 15`, `mul = 0`"), "{told}");
        assert!(expected("x", "").unwrap_err().to_string().ends_with("which is empty"));
        assert!(expected("x", "1\n2\n3\n4\n").unwrap_err().to_string().ends_with("`1`, `2`, `3`, ..."));
    }
}
