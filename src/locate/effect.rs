//! Determine the effect of a change: whether the output is right now, or nearer to it.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use tracer::Bytes;
use tracer::run::Run;
use tracer::termination::{Cut, Termination};

use super::spacing::{Spacing, Squeezed};
use crate::oracle::{Check, OracleError};
use dd::Outcome;

/// The correct output, or a command that judges it.
#[derive(Clone, Debug)]
pub enum Correct {
    /// These bytes, and an end by itself.
    Output(Bytes, Spacing),
    /// The verdict of this command: 0 right, 1 to 124 wrong, 125 it cannot tell.
    Check(Check),
}

/// The effect of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The kind of the effect.
    pub kind: EffectKind,
    /// The number of bytes from the beginning of the output on that are as without the change.
    pub common: usize,
    /// True if the output differs from the correct one, and in white space only.
    pub only_space: bool,
}

/// The kind of an effect, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EffectKind {
    /// The run is right.
    Right,
    /// The run is right, but only with what happens to lie in undefined memory.
    Undefined,
    /// More of the output is right than before: a longer beginning and no more wrong lines, or fewer wrong lines
    /// and no shorter beginning.
    Nearer,
    /// The output is another one, but not nearer.
    Changed,
    /// The output is the same.
    Unchanged,
    /// The program crashed.
    Crash,
    /// The run was ended: it took too long or too much.
    Cut,
    /// The change was not tried to its end: the user has asked for the end before.
    Untried,
}

/// A judge of changed runs, by the output of the unchanged run and by the correct one.
pub struct Trials<'t> {
    measure: Measure<'t>,
    recorded: &'t Run,
    distance: Distance,
    hasher: RandomState,
}

/// The measure by which a run is judged.
enum Measure<'t> {
    Output(CorrectOutput<'t>),
    Check(&'t Check),
}

/// The correct output, and whether white space counts.
struct CorrectOutput<'t> {
    correct: &'t [u8],
    squeezed: Squeezed,
    spacing: Spacing,
}

/// The distance of an output from the correct one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Distance {
    /// The number of bytes at the beginning that are right.
    beginning: usize,
    /// The number of lines that are wrong.
    wrong: usize,
}

impl EffectKind {
    /// Combines this effect, which a change has with undefined values as they happen to be, with its effect
    /// with undefined values of a pattern. A change that is right by luck is reported; one that is
    /// nearer by luck is not.
    pub fn with_pattern(self, pattern: EffectKind) -> EffectKind {
        match (self, pattern) {
            (_, EffectKind::Untried) => EffectKind::Untried,
            (EffectKind::Right, EffectKind::Right) => EffectKind::Right,
            (EffectKind::Right, _) => EffectKind::Undefined,
            (EffectKind::Nearer, EffectKind::Right | EffectKind::Nearer) => EffectKind::Nearer,
            (EffectKind::Nearer, _) => EffectKind::Changed,
            (other, _) => other,
        }
    }

    /// True if a change with this effect is reported as one that helps.
    pub fn helps(self) -> bool {
        matches!(self, EffectKind::Right | EffectKind::Undefined | EffectKind::Nearer)
    }
}

impl<'t> Trials<'t> {
    /// Creates a judge that compares with the run without any change.
    pub fn new(correct: &'t Correct, recorded: &'t Run) -> Trials<'t> {
        let nothing = Distance { beginning: 0, wrong: 0 };
        let (measure, distance) = match correct {
            Correct::Check(check) => (Measure::Check(check), nothing),
            Correct::Output(correct, spacing) => {
                let squeezed = Squeezed::new(correct);
                let wanted = CorrectOutput { correct, squeezed, spacing: *spacing };
                let distance = wanted.distance(&recorded.stdout);
                (Measure::Output(wanted), distance)
            }
        };
        Trials { measure, recorded, distance, hasher: RandomState::new() }
    }

    /// The run without a change.
    pub fn unchanged(&self) -> &Run {
        self.recorded
    }

    /// The number of bytes that the unchanged run has printed before the first wrong one, if that is known.
    pub fn first_wrong(&self) -> Option<usize> {
        let Measure::Output(wanted) = &self.measure else { return None };
        Some(match wanted.spacing {
            Spacing::Exact => self.distance.beginning,
            Spacing::Ignored => Squeezed::new(&self.recorded.stdout).origin(self.distance.beginning),
        })
    }

    /// A hash of the output, to tell outputs apart.
    pub fn fingerprint(&self, run: &Run) -> u64 {
        self.hasher.hash_one(&run.stdout[..])
    }

    /// Judges a run.
    ///
    /// # Errors
    /// If the check command gives no verdict.
    pub fn judge(&self, run: &Run) -> Result<Effect, OracleError> {
        let common = common(&run.stdout, &self.recorded.stdout);
        let (kind, only_space) = match &run.termination {
            Termination::Crashed(_) => (EffectKind::Crash, false),
            Termination::Cut(Cut::Interrupted) => (EffectKind::Untried, false),
            Termination::Cut(_) | Termination::Left(_) | Termination::Endless(_) | Termination::Reached => {
                (EffectKind::Cut, false)
            }
            Termination::Exited(status) => self.of_output(run, *status)?,
        };
        Ok(Effect { kind, common, only_space })
    }

    /// The effect on the output of a run that has ended by itself, and whether it is right but for white space.
    fn of_output(&self, run: &Run, status: i32) -> Result<(EffectKind, bool), OracleError> {
        let (is_nearer, only_space) = match &self.measure {
            Measure::Check(check) => match check.judge(run)? {
                None => return Ok((EffectKind::Right, false)),
                Some(evidence) => (evidence.outcome == Outcome::Fail, false),
            },
            Measure::Output(wanted) => {
                let usual =
                    matches!(self.recorded.termination, Termination::Exited(known) if known == status);
                let is_end = status == 0 || usual;
                let only_space = is_end && wanted.differs_in_space_only(&run.stdout);
                let is_right = run.stdout[..] == *wanted.correct;
                if is_end && is_right || only_space && wanted.spacing == Spacing::Ignored {
                    return Ok((EffectKind::Right, only_space));
                }
                let (now, before) = (wanted.distance(&run.stdout), self.distance);
                let is_nearer = now.beginning > before.beginning && now.wrong <= before.wrong
                    || now.wrong < before.wrong && now.beginning >= before.beginning;
                (is_nearer, only_space)
            }
        };
        let is_same = run.stdout == self.recorded.stdout && run.termination == self.recorded.termination;
        let kind = match (is_nearer, is_same) {
            (true, _) => EffectKind::Nearer,
            (false, true) => EffectKind::Unchanged,
            (false, false) => EffectKind::Changed,
        };
        Ok((kind, only_space))
    }
}

impl CorrectOutput<'_> {
    fn distance(&self, output: &[u8]) -> Distance {
        match self.spacing {
            Spacing::Exact => distance(output, self.correct),
            Spacing::Ignored => distance(&Squeezed::new(output).bytes, &self.squeezed.bytes),
        }
    }

    fn differs_in_space_only(&self, output: &[u8]) -> bool {
        output != self.correct && Squeezed::new(output).bytes == self.squeezed.bytes
    }
}

/// The length of the common beginning of two texts, in bytes.
fn common(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// The distance of two outputs. Lines count as wrong from the first to the last that differs, each in its
/// place from the beginning or from the end.
fn distance(output: &[u8], correct: &[u8]) -> Distance {
    let lines =
        |text: &'_ [u8]| text.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (own, right) = (lines(output), lines(correct));
    let first = own.iter().zip(&right).take_while(|(own, right)| own == right).count();
    let (own, right) = (&own[first..], &right[first..]);
    let last = own.iter().rev().zip(right.iter().rev()).take_while(|(own, right)| own == right).count();
    let (own, right) = (&own[..own.len() - last], &right[..right.len() - last]);
    // Of those in between, count the ones that are nowhere in the correct output, or missing.
    let known: HashSet<&[u8]> = right.iter().map(Vec::as_slice).collect();
    let surplus = own.iter().filter(|line| !known.contains(line.as_slice())).count();
    let printed: HashSet<&[u8]> = own.iter().map(Vec::as_slice).collect();
    let missing = right.iter().filter(|line| !printed.contains(line.as_slice())).count();
    let misplaced = usize::from(!own.is_empty() || !right.is_empty());
    Distance { beginning: common(output, correct), wrong: surplus.max(missing).max(misplaced) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(recorded: &str, correct: &str, now: &str) -> EffectKind {
        judged(recorded, (correct, Spacing::Exact), now).kind
    }

    fn judged(recorded: &str, (correct, spacing): (&str, Spacing), now: &str) -> Effect {
        let run = |text: &str| Run::with_output(text.as_bytes().to_vec(), b"");
        let correct = Correct::Output(correct.as_bytes().to_vec().into(), spacing);
        let recorded = run(recorded);
        Trials::new(&correct, &recorded).judge(&run(now)).expect("no command")
    }

    #[test]
    fn white_space_is_told_and_counts_as_right_only_if_it_is_ignored() {
        let judged = |spacing, now| {
            let effect = judged("a b\nx\n", ("a b\nc\n", spacing), now);
            (effect.kind, effect.only_space)
        };
        assert_eq!(judged(Spacing::Exact, "a  b\nc"), (EffectKind::Changed, true));
        assert_eq!(judged(Spacing::Ignored, "a  b\nc"), (EffectKind::Right, true));
        assert_eq!(judged(Spacing::Ignored, "a b\nc\n"), (EffectKind::Right, false));
        assert_eq!(judged(Spacing::Ignored, "a\tb\ncd"), (EffectKind::Nearer, false));
        assert_eq!(judged(Spacing::Ignored, "a\tb\nx"), (EffectKind::Changed, false));
        assert_eq!(judged(Spacing::Exact, "ab\nc\n"), (EffectKind::Changed, false));
    }

    #[test]
    fn the_first_wrong_byte_is_one_of_the_output_as_it_is() {
        let recorded = Run::with_output(b"a   b\nx\n".to_vec(), b"");
        for (spacing, first) in [(Spacing::Exact, 2), (Spacing::Ignored, 6)] {
            let correct = Correct::Output(b"a b\ny\n".to_vec().into(), spacing);
            assert_eq!(Trials::new(&correct, &recorded).first_wrong(), Some(first));
        }
    }

    #[test]
    fn an_output_is_nearer_if_more_is_right_and_nothing_that_was() {
        let (recorded, correct) = ("a\nx\nc\ny\n", "a\nb\nc\nd\n");
        assert_eq!(effect(recorded, correct, correct), EffectKind::Right);
        assert_eq!(effect(recorded, correct, recorded), EffectKind::Unchanged);
        assert_eq!(effect(recorded, correct, "a\nb\nc\ny\n"), EffectKind::Nearer);
        assert_eq!(effect(recorded, correct, "a\nx\nc\nd\n"), EffectKind::Nearer);
        assert_eq!(effect(recorded, correct, "x\nb\nc\nd\n"), EffectKind::Changed);
        assert_eq!(effect(recorded, correct, "a\nz\nc\ny\n"), EffectKind::Changed);
        assert_eq!(effect(recorded, correct, ""), EffectKind::Changed);
        // Outputs with missing and with surplus lines.
        assert_eq!(effect("a\n", "a\nb\n", "a\nb\n"), EffectKind::Right);
        assert_eq!(effect("a\n", "a\nb\nc\n", "a\nb\n"), EffectKind::Nearer);
        assert_eq!(effect("a\nb\nc\n", "a\n", "a\nb\n"), EffectKind::Nearer);
        assert_eq!(effect("", "a\n", "a\nb\n"), EffectKind::Nearer);
    }
}
