//! Say what came of a change: whether the output is right now, or nearer to it.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use tracer::Bytes;
use tracer::run::Run;
use tracer::termination::{Cut, Termination};

use crate::oracle::{Check, OracleError};
use dd::Outcome;

/// What the right output is.
#[derive(Clone, Debug)]
pub enum Correct {
    /// These bytes, and an end by itself.
    Output(Bytes),
    /// What this command says: 0 right, 1 to 124 wrong, 125 it cannot tell.
    Check(Check),
}

/// What came of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Of which kind.
    pub kind: EffectKind,
    /// How many bytes of the output are as without the change, from the beginning on.
    pub common: usize,
}

/// What came of a change, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EffectKind {
    /// The run is right.
    Right,
    /// More of the output is right than before: a longer beginning and no more wrong lines, or fewer wrong lines
    /// and no shorter beginning.
    Nearer,
    /// It is another one.
    Changed,
    /// It is the same.
    Unchanged,
    /// The program crashed.
    Crash,
    /// It was ended: it took too long or too much.
    Cut,
    /// The user has asked for the end before it was over.
    Untried,
}

/// Judges runs by what the unchanged run has printed, and by what would be right.
pub struct Trials<'t> {
    correct: &'t Correct,
    recorded: &'t Run,
    distance: Distance,
    hasher: RandomState,
}

/// How far an output is from the correct one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Distance {
    /// So many bytes of the beginning are right.
    beginning: usize,
    /// So many lines are wrong.
    wrong: usize,
}

impl<'t> Trials<'t> {
    /// Compares with the run without any change.
    pub fn new(correct: &'t Correct, recorded: &'t Run) -> Trials<'t> {
        let distance = match correct {
            Correct::Output(correct) => distance(&recorded.stdout, correct),
            Correct::Check(_) => Distance { beginning: 0, wrong: 0 },
        };
        Trials { correct, recorded, distance, hasher: RandomState::new() }
    }

    /// How many bytes the unchanged run has printed before the first wrong one, if that is known.
    pub fn first_wrong(&self) -> Option<usize> {
        matches!(self.correct, Correct::Output(_)).then_some(self.distance.beginning)
    }

    /// Tells outputs apart.
    pub fn fingerprint(&self, run: &Run) -> u64 {
        self.hasher.hash_one(&run.stdout[..])
    }

    /// Judges a run.
    ///
    /// # Errors
    /// If a command that has to judge does not.
    pub fn judge(&self, run: &Run) -> Result<Effect, OracleError> {
        let common = common(&run.stdout, &self.recorded.stdout);
        let kind = match &run.termination {
            Termination::Crashed(_) => EffectKind::Crash,
            Termination::Cut(Cut::Interrupted) => EffectKind::Untried,
            Termination::Cut(_) | Termination::Left(_) | Termination::Endless(_) => EffectKind::Cut,
            Termination::Exited(status) => self.of_output(run, *status)?,
        };
        Ok(Effect { kind, common })
    }

    fn of_output(&self, run: &Run, status: i32) -> Result<EffectKind, OracleError> {
        let is_same = run.stdout == self.recorded.stdout && run.termination == self.recorded.termination;
        let is_nearer = match self.correct {
            Correct::Check(check) => match check.judge(run)? {
                None => return Ok(EffectKind::Right),
                Some(evidence) => evidence.outcome == Outcome::Fail,
            },
            Correct::Output(correct) => {
                let usual =
                    matches!(self.recorded.termination, Termination::Exited(known) if known == status);
                if run.stdout == *correct && (status == 0 || usual) {
                    return Ok(EffectKind::Right);
                }
                let (now, before) = (distance(&run.stdout, correct), self.distance);
                now.beginning > before.beginning && now.wrong <= before.wrong
                    || now.wrong < before.wrong && now.beginning >= before.beginning
            }
        };
        Ok(match (is_nearer, is_same) {
            (true, _) => EffectKind::Nearer,
            (false, true) => EffectKind::Unchanged,
            (false, false) => EffectKind::Changed,
        })
    }
}

/// How many bytes two texts have in common at the beginning.
fn common(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// Lines count as wrong from the first to the last that differs, each in its place from the beginning or from the end.
fn distance(output: &[u8], correct: &[u8]) -> Distance {
    let lines =
        |text: &'_ [u8]| text.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (own, right) = (lines(output), lines(correct));
    let first = own.iter().zip(&right).take_while(|(own, right)| own == right).count();
    let (own, right) = (&own[first..], &right[first..]);
    let last = own.iter().rev().zip(right.iter().rev()).take_while(|(own, right)| own == right).count();
    let (own, right) = (&own[..own.len() - last], &right[..right.len() - last]);
    // Of those in between, the ones that are nowhere in the correct output, or missing.
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
        let run = |text: &str| Run::with_output(text.as_bytes().to_vec(), b"");
        let correct = Correct::Output(correct.as_bytes().to_vec().into());
        let recorded = run(recorded);
        Trials::new(&correct, &recorded).judge(&run(now)).expect("no command").kind
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
        // What is missing, and what is surplus.
        assert_eq!(effect("a\n", "a\nb\n", "a\nb\n"), EffectKind::Right);
        assert_eq!(effect("a\n", "a\nb\nc\n", "a\nb\n"), EffectKind::Nearer);
        assert_eq!(effect("a\nb\nc\n", "a\n", "a\nb\n"), EffectKind::Nearer);
        assert_eq!(effect("", "a\n", "a\nb\n"), EffectKind::Nearer);
    }
}
