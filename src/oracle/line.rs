//! Require a line of the recorded output, in its place among the others.

use super::difference::{lines, quoted};
use super::evidence::Evidence;
use super::occurrence::{Occurrences, Presence};
use dd::Outcome;

/// The reason why a line is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The user asks about it.
    Asked,
    /// It is the first one that is wrong.
    FirstWrong,
}

/// A line of the recorded output.
#[derive(Debug)]
pub(super) struct RecordedLine {
    /// Its number, from 0.
    number: usize,
    text: Vec<u8>,
    /// The number of recorded lines that are equal to it, itself included.
    equal: usize,
    reason: Reason,
    places: Occurrences,
    /// The line in its place in the correct output, if that is known.
    correct: Option<Vec<u8>>,
}

impl RecordedLine {
    /// Builds the condition for the line with this number, from 0; `None` if the output has no such line.
    pub(super) fn new(output: &[u8], number: usize, reason: Reason) -> Option<RecordedLine> {
        let text = lines(output).nth(number)?.to_vec();
        let equal = lines(output).filter(|line| **line == text).count();
        let wanted = lines(output).enumerate().map(|(at, line)| (line, at == number));
        Some(RecordedLine { number, equal, reason, places: Occurrences::new(wanted), text, correct: None })
    }

    /// Returns the line with the one that the correct output has in its place.
    pub(super) fn beside(self, correct: Option<&[u8]>) -> RecordedLine {
        RecordedLine { correct: correct.map(<[u8]>::to_vec), ..self }
    }

    /// The reason why an output does not have the line; `None` if it has. Where outputs are too long to be
    /// aligned, it has to have all lines that are equal.
    pub(super) fn missing_in(&self, output: &[u8]) -> Option<Evidence> {
        let (line, number) = (quoted(&self.text), self.number + 1);
        let equal = lines(output).filter(|line| *line == self.text).count();
        if equal == 0 {
            return Some(missing(format!("output has no line {line}")));
        }
        match self.places.presence(lines(output)) {
            Presence::There => None,
            Presence::Missing => Some(missing(format!("output has the line {line} only in another place"))),
            Presence::Untold => {
                let why =
                    format!("output has the line {line}, but whether it is line {number} cannot be told");
                Some(missing(why).ambiguous())
            }
            Presence::Unaligned if equal == self.equal => None,
            Presence::Unaligned => Some(missing(format!(
                "output has the line {line} {equal} times instead of {}, and is too long to tell which these are",
                self.equal
            ))),
        }
    }

    pub(super) fn describe(&self) -> String {
        let number = self.number + 1;
        match self.reason {
            Reason::Asked => format!("the line {} (line {number})", quoted(&self.text)),
            Reason::FirstWrong => {
                let correct = self.correct.as_deref().map(quoted);
                let correct = correct.map_or(String::new(), |correct| format!("; correct is {correct}"));
                format!("the line {}, the first wrong one (line {number}{correct})", quoted(&self.text))
            }
        }
    }
}

/// The failure is not reproduced.
fn missing(why: impl Into<String>) -> Evidence {
    Evidence::new(Outcome::Pass, why)
}

/// The reason why wanted lines that an output has may be other occurrences; `None` if they are the wanted ones.
pub(super) fn misplaced<'l>(places: &Occurrences, lines: impl Iterator<Item = &'l [u8]>) -> Option<Evidence> {
    match places.presence(lines) {
        // All lines that match are wanted, so that those of an output that has them all are these.
        Presence::There | Presence::Unaligned => None,
        Presence::Missing => Some(missing("output has the lines that match, but in other places")),
        Presence::Untold => {
            let why =
                "output has the lines that match, but whether they are the recorded ones cannot be told";
            Some(missing(why).ambiguous())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_not_met_by_an_equal_one_elsewhere() {
        let line = RecordedLine::new(b"5\n5\n", 1, Reason::Asked).unwrap();
        let why = |output: &[u8]| line.missing_in(output).map(|seen| seen.why);
        assert_eq!(line.missing_in(b"7\n5\n"), None);
        assert_eq!(line.missing_in(b"5\n5\n"), None);
        assert_eq!(why(b"5\n7\n").as_deref(), Some("output has the line `5` only in another place"));
        assert_eq!(why(b"6\n").as_deref(), Some("output has no line `5`"));
        let seen = line.missing_in(b"5\n").unwrap();
        let ambiguous =
            missing("output has the line `5`, but whether it is line 2 cannot be told").ambiguous();
        assert_eq!(seen, ambiguous);
        assert_eq!(line.describe(), "the line `5` (line 2)");
        assert!(RecordedLine::new(b"5\n5\n", 2, Reason::Asked).is_none());
    }

    #[test]
    fn of_outputs_that_cannot_be_aligned_all_equal_lines_have_to_stay() {
        let long = |from: usize, ends: &str| {
            let middle = (from..from + 5000).map(|number| format!("{number}\n")).collect::<String>();
            format!("{}{middle}{}", ends, ends).into_bytes()
        };
        let line = RecordedLine::new(&long(0, "same\n"), 5001, Reason::Asked).unwrap();
        assert_eq!(line.missing_in(&long(9000, "same\n")), None);
        let why = line.missing_in(&[b"same\n", &long(9000, "")[..]].concat()).unwrap().why;
        assert!(why.starts_with("output has the line `same` 1 times instead of 2, and is too long"), "{why}");
    }
}
