//! Find the bytes of a run's output that a criterion is about, to trace where they come from.

use std::ops::Range;

use tracer::run::Run;
use tracer::termination::Termination;

use super::difference::{lines, quoted};
use super::part::{Part, Tails, no_line};
use super::reference::{Fault, ReferenceComparison};
use super::{Criterion, NOTHING_WRONG, OracleError};

/// The part of a run that a criterion is about: bytes of its output, or its crash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Concern {
    /// The byte ranges of standard output.
    pub stdout: Vec<Range<usize>>,
    /// The byte ranges of standard error.
    pub stderr: Vec<Range<usize>>,
    /// True if it is about the crash.
    pub crash: bool,
    /// A description in words.
    pub words: String,
    /// Remarks on how the criterion is understood, and what is doubtful about it; each one sentence.
    pub remarks: Vec<String>,
}

impl Criterion {
    /// Returns the bytes, or the crash, of this run that the criterion is about.
    ///
    /// # Errors
    /// If the run does not meet it, or if it is about nothing that a run prints or crashes by.
    pub fn concern(&self, run: &Run) -> Result<Concern, OracleError> {
        if let Some(option) = self.untraceable() {
            return Err(OracleError::NoPlace(option));
        }
        let has_crashed = matches!(run.termination, Termination::Crashed(_));
        let mut concern = Concern::default();
        let mut words = Vec::new();
        let found = |regex: &regex::bytes::Regex, output: &[u8], what| {
            let place = regex.find(output).map(|found| found.range()).filter(|range| !range.is_empty());
            place.ok_or_else(|| OracleError::NoMatch { expression: regex.as_str().to_owned(), what })
        };
        for regex in &self.matches {
            concern.stdout.push(found(regex, &run.stdout, "standard output")?);
            words.push(format!("the output `{}`", regex.as_str()));
        }
        for regex in &self.stderr_matches {
            concern.stderr.push(found(regex, &run.stderr, "standard error")?);
            words.push(format!("the message `{}`", regex.as_str()));
        }
        if let Some(regex) = &self.only_lines {
            let matching =
                numbered(&run.stdout).filter(|(range, _)| regex.is_match(&run.stdout[range.clone()]));
            let before = concern.stdout.len();
            concern.stdout.extend(matching.map(|(range, _)| range));
            if concern.stdout.len() == before {
                return Err(no_line(regex, &run.stdout));
            }
            words.push(format!("the lines that match `{}`", regex.as_str()));
        }
        if let Some(part) = &self.part {
            concern.stdout.extend(part_of(part, &run.stdout)?);
            words.push("that part of the output".to_owned());
        } else if let Some(correct) = &self.reference {
            self.wrong_line(run, correct, &mut concern, &mut words)?;
        }
        if self.signal.is_some() && !has_crashed {
            return Err(OracleError::NoCrash);
        }
        let is_whole = words.is_empty() && !concern.crash && self.signal.is_none();
        if is_whole || self.output.is_some() {
            concern.stdout.push(0..run.stdout.len());
            words.push("all output".to_owned());
        }
        if self.stderr.is_some() {
            concern.stderr.push(0..run.stderr.len());
            words.push("all of standard error".to_owned());
        }
        if self.signal.is_some() || is_whole && has_crashed || concern.crash {
            concern.crash = true;
            words.push("the crash".to_owned());
        }
        concern.words = words.join(", and ");
        Ok(concern)
    }

    fn wrong_line(
        &self,
        run: &Run,
        correct: &[u8],
        concern: &mut Concern,
        words: &mut Vec<String>,
    ) -> Result<(), OracleError> {
        let comparison = ReferenceComparison::new(&run.stdout, correct);
        let has_crashed = matches!(run.termination, Termination::Crashed(_));
        match comparison.fault() {
            Fault::Line(number) => {
                let line = numbered(&run.stdout).find(|&(_, at)| at == number).map(|(range, _)| range);
                let line = line.unwrap_or(0..0);
                let text = quoted(&run.stdout[line.clone()]);
                words.push(format!("the line {text}, the first wrong one (line {})", number + 1));
                concern.remarks.extend(comparison.doubt(number));
                concern.stdout.push(line);
                Ok(())
            }
            _ if has_crashed => {
                concern.crash = true;
                concern.remarks.push(NOTHING_WRONG.to_owned());
                Ok(())
            }
            Fault::Missing(number) => {
                let line = lines(correct).nth(number).map(quoted).unwrap_or_default();
                Err(OracleError::NobodyPrinted { number: number + 1, line })
            }
            Fault::None => Err(OracleError::EqualsReference),
        }
    }

    /// The option of a criterion that is about no bytes and no crash, if it has one.
    fn untraceable(&self) -> Option<&'static str> {
        let given = [
            (!self.rejects.is_empty(), "--reject-match"),
            (!self.stderr_rejects.is_empty(), "--reject-stderr-match"),
            (self.exit.is_some(), "--expect-exit"),
            (self.check.is_some(), "--check"),
            (self.endless.is_some(), "--expect-timeout"),
            (self.inner.is_some(), "a question inside of the run"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }
}

/// The byte ranges of a part of an output.
fn part_of(part: &Part, output: &[u8]) -> Result<Vec<Range<usize>>, OracleError> {
    match part {
        Part::Line(number) => {
            Ok(numbered(output).filter(|(_, at)| at == number).map(|(range, _)| range).collect())
        }
        Part::Matching(regex) => {
            let tails = Tails::new(regex.clone(), output)?;
            let ends = numbered(output).zip(tails.keys(output)).filter(|(_, (_, matches))| *matches);
            Ok(ends.map(|((range, _), (tail, _))| range.end - tail.len()..range.end).collect())
        }
    }
}

/// The lines of an output: the byte range of each, without its end, and its number from 0.
fn numbered(output: &[u8]) -> impl Iterator<Item = (Range<usize>, usize)> {
    let place = |start: &mut usize, line: &[u8]| {
        let range = *start..*start + line.len();
        *start = range.end + 1;
        Some(range)
    };
    lines(output).scan(0, place).zip(0..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_found_where_it_is() {
        let output = b"a? b? sum = 15\nmul = 0\n";
        let part =
            |text: &str| part_of(&Part::Matching(regex::bytes::Regex::new(text).unwrap()), output).unwrap();
        assert_eq!((part("^sum").pop(), part("mul").pop()), (Some(6..14), Some(15..22)));
        assert_eq!(part_of(&Part::Line(1), output).unwrap().pop(), Some(15..22));
    }

    #[test]
    fn lines_are_found_where_they_are() {
        let places: Vec<_> = numbered(b"ab\n\ncde").collect();
        assert_eq!(places, [(0..2, 0), (3..3, 1), (4..7, 2)]);
    }
}
