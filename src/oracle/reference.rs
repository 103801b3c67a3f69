//! Find the wrong lines of an output, where the correct output is known.
//!
//! The two are aligned (see `occurrence`): a line is right if each cheapest alignment has an equal line for
//! it in the correct output. So a line that is missing does not make all lines after it wrong. Where
//! alignments differ about a line, it is right if all lines before it and itself are those of the correct
//! output, and otherwise it is taken for wrong, and that is said.

use super::difference::{lines, quoted};
use super::occurrence::{Occurrences, Presence};

/// The alignment of an output with the correct one.
pub(super) struct ReferenceComparison<'t> {
    output: &'t [u8],
    correct: &'t [u8],
    places: Occurrences,
    /// The number of equal lines from the beginning on.
    common: usize,
}

/// A fault of an output.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The line with this number, from 0.
    Line(usize),
    /// No line of the output is wrong, but it lacks the line of the correct output with this number, from 0.
    Missing(usize),
    /// No fault.
    None,
}

impl<'t> ReferenceComparison<'t> {
    pub(super) fn new(output: &'t [u8], correct: &'t [u8]) -> ReferenceComparison<'t> {
        let common = lines(output).zip(lines(correct)).take_while(|(one, other)| one == other).count();
        let places = Occurrences::new(lines(output).map(|line| (line, false)));
        ReferenceComparison { output, correct, places, common }
    }

    /// The first fault. The lines that are right in every alignment are found by halving.
    pub(super) fn fault(&self) -> Fault {
        let count = lines(self.output).count();
        if self.common == count {
            let is_missing = lines(self.correct).nth(count).is_some();
            return if is_missing { Fault::Missing(count) } else { Fault::None };
        }
        let (mut right, mut left) = (self.common, count);
        while right < left {
            let middle = right + (left - right) / 2;
            match self.presence(|number| (self.common..=middle).contains(&number)) {
                Presence::There => right = middle + 1,
                Presence::Unaligned => return Fault::Line(self.common),
                Presence::Missing | Presence::Untold => left = middle,
            }
        }
        if right < count { Fault::Line(right) } else { Fault::Missing(self.first_missing()) }
    }

    /// The first fault of an output that a crash has ended: what it has written of its last line is no wrong line.
    pub(super) fn fault_of_crash(&self) -> Fault {
        match self.fault() {
            Fault::Line(number) if self.is_cut(number) => Fault::Missing(number),
            fault => fault,
        }
    }

    /// True if a line, by its number from 0, is the last one and only lacks the end of that in the correct output.
    fn is_cut(&self, number: usize) -> bool {
        let line = lines(self.output).nth(number).unwrap_or_default();
        !self.output.ends_with(b"\n")
            && number + 1 == lines(self.output).count()
            && self.in_place_of(number).is_some_and(|correct| correct.starts_with(line))
    }

    /// The line of the correct output in place of a line, if all lines before are equal.
    pub(super) fn in_place_of(&self, number: usize) -> Option<&'t [u8]> {
        lines(self.correct).nth(number).filter(|_| number == self.common)
    }

    /// True if a line, by its number from 0, is wrong.
    pub(super) fn is_wrong(&self, number: usize) -> bool {
        number >= self.common
            && match self.presence(|other| other == number) {
                Presence::There => false,
                Presence::Missing | Presence::Untold => true,
                Presence::Unaligned => lines(self.output).nth(number) != lines(self.correct).nth(number),
            }
    }

    /// The doubt about whether a line, by its number from 0, is right or wrong, if there is any; one sentence.
    pub(super) fn doubt(&self, number: usize) -> Option<String> {
        let taken = if self.is_wrong(number) { "wrong" } else { "right" };
        let line = || quoted(lines(self.output).nth(number).unwrap_or_default());
        match self.presence(|other| other == number) {
            Presence::There | Presence::Missing => None,
            Presence::Untold => Some(format!(
                "line {} of the output, {}, is taken for {taken}, but the output given with --reference does not tell: \
                 another line may be {taken} in its place",
                number + 1,
                line()
            )),
            Presence::Unaligned => Some(format!(
                "line {} of the output, {}, is taken for {taken} because of its number alone: the output and the one given \
                 with --reference are too long and too different to be aligned",
                number + 1,
                line()
            )),
        }
    }

    fn presence(&self, wanted: impl Fn(usize) -> bool) -> Presence {
        self.places.wanting(wanted).presence(lines(self.correct))
    }

    /// The first line of the correct output that the output, all lines of which are right, does not have.
    fn first_missing(&self) -> usize {
        let correct = Occurrences::new(lines(self.correct).map(|line| (line, false)));
        let count = lines(self.correct).count();
        let there = |number: usize| {
            let wanted = correct.wanting(|other| (self.common..=number).contains(&other));
            wanted.presence(lines(self.output)) == Presence::There
        };
        let (mut from, mut to) = (self.common, count);
        while from < to {
            let middle = from + (to - from) / 2;
            if there(middle) { from = middle + 1 } else { to = middle }
        }
        from.min(count.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first fault, and the numbers of wrong and of doubtful lines; a letter is a line.
    fn compared(output: &str, correct: &str) -> (Fault, Vec<usize>, Vec<usize>) {
        let text = |letters: &str| letters.chars().map(|letter| format!("{letter}\n")).collect::<String>();
        let (output, correct) = (text(output), text(correct));
        let comparison = ReferenceComparison::new(output.as_bytes(), correct.as_bytes());
        let numbers = 0..lines(output.as_bytes()).count();
        let wrong = numbers.clone().filter(|&number| comparison.is_wrong(number)).collect();
        (comparison.fault(), wrong, numbers.filter(|&n| comparison.doubt(n).is_some()).collect())
    }

    #[test]
    fn a_line_in_the_place_of_another_is_wrong_even_if_it_is_right_elsewhere() {
        assert_eq!(compared("55", "56"), (Fault::Line(1), vec![1], vec![]));
        assert_eq!(compared("55", "65"), (Fault::Line(0), vec![0], vec![]));
        assert_eq!(compared("a5b5c", "a5b6c"), (Fault::Line(3), vec![3], vec![]));
    }

    #[test]
    fn a_missing_line_does_not_make_those_after_it_wrong() {
        assert_eq!(compared("ac", "abc"), (Fault::Missing(1), vec![], vec![]));
        assert_eq!(compared("acx", "abcd"), (Fault::Line(2), vec![2], vec![]));
        assert_eq!(compared("ab", "abc"), (Fault::Missing(2), vec![], vec![]));
        assert_eq!(compared("", "abc"), (Fault::Missing(0), vec![], vec![]));
    }

    #[test]
    fn a_line_that_a_crash_has_cut_is_not_wrong() {
        let fault = |output: &str, correct: &str| {
            ReferenceComparison::new(output.as_bytes(), correct.as_bytes()).fault_of_crash()
        };
        assert_eq!(fault("a = 1\nb =", "a = 1\nb = 2\n"), Fault::Missing(1));
        assert_eq!(fault("a = 1\nb = 3", "a = 1\nb = 2\n"), Fault::Line(1));
        assert_eq!(fault("a = 1\nb =\n", "a = 1\nb = 2\n"), Fault::Line(1));
        assert_eq!(fault("a = 2\nb =", "a = 1\nb = 2\n"), Fault::Line(0));
    }

    #[test]
    fn a_further_line_is_wrong() {
        assert_eq!(compared("xab", "ab"), (Fault::Line(0), vec![0], vec![]));
        assert_eq!(compared("ab", "ab"), (Fault::None, vec![], vec![]));
    }

    #[test]
    fn where_the_correct_output_does_not_tell_which_line_is_wrong_that_is_said() {
        assert_eq!(compared("55", "5"), (Fault::Line(1), vec![1], vec![0, 1]));
    }

    #[test]
    fn outputs_that_cannot_be_aligned_are_compared_by_number() {
        let numbered = |from: usize| (from..from + 5000).map(|n| format!("{n}\n")).collect::<String>();
        let (output, correct) = (format!("same\n{}", numbered(0)), format!("same\n{}", numbered(9000)));
        let comparison = ReferenceComparison::new(output.as_bytes(), correct.as_bytes());
        assert_eq!((comparison.fault(), comparison.is_wrong(0)), (Fault::Line(1), false));
        let doubt = comparison.doubt(1).unwrap();
        assert!(
            doubt.starts_with("line 2 of the output, `0`, is taken for wrong because of its number"),
            "{doubt}"
        );
    }
}
