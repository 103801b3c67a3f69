//! Try changes on further tests, and summarise them for a ranking.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tracer::Processors;
use tracer::plain::Runner;

use super::error::SessionError;
use super::locate_attempts::{Attempt, Attempts, Patterns, Studied};
use super::locate_tests::Tried;
use crate::locate::{Effect, EffectKind, FurtherTests, Granule, OnTests, TestCoverage, Trials};
use crate::subject::{Recorded, executed};

/// The largest number of failing tests on which changes are tried, the first ones, and of passing tests, spread
/// evenly; all count for what tests execute.
const MOST_FAILING: usize = 5;
const MOST_PASSING: usize = 20;

/// Removes tests that print something else when their statements are not traced: they say nothing.
pub(super) fn leave_out_unsteady(
    tests: &mut Vec<Tried>,
    runner: &mut Runner<'_>,
    stop: &Arc<AtomicBool>,
    warnings: &mut Vec<String>,
) -> Result<(), SessionError> {
    let mut kept = Vec::new();
    for test in tests.drain(..) {
        if test.is_steady(runner, stop)? {
            kept.push(test);
        } else {
            let name = &test.name;
            warnings
                .push(format!("the test {name} is left out: it prints something else when it is not traced"));
        }
    }
    *tests = kept;
    Ok(())
}

/// The tests on which changes are tried.
pub(super) struct Chosen<'t> {
    /// The tests, the failing ones first.
    tests: Vec<&'t Tried>,
    /// The number of those that fail.
    failing: usize,
}

impl<'t> Chosen<'t> {
    pub(super) fn new(all: &'t [Tried]) -> Chosen<'t> {
        let of = |fails: bool| -> Vec<&Tried> {
            all.iter().filter(|test| test.fails == fails && test.correct.is_some()).collect()
        };
        let (mut tests, passing) = (of(true), of(false));
        tests.truncate(MOST_FAILING);
        let failing = tests.len();
        tests.extend(passing.iter().step_by(passing.len().div_ceil(MOST_PASSING).max(1)));
        Chosen { tests, failing }
    }

    /// The runs of the tests, in this order.
    pub(super) fn studied(&self) -> impl Iterator<Item = Studied<'t>> {
        self.tests.iter().filter_map(|test| {
            let Tried { invocation, correct, unchanged, limits, .. } = *test;
            let trials = Trials::new(correct.as_ref()?, unchanged);
            Some(Studied { invocation, limits: *limits, trials, patterns: Patterns::default() })
        })
    }

    /// The summary for a ranking, with the coverage of `all` tests.
    pub(super) fn further(&self, recorded: Recorded<'_>, all: &[Tried]) -> FurtherTests {
        let own = TestCoverage::new(&executed(recorded), true);
        let others = all.iter().map(|test| TestCoverage::new(&test.statements, test.fails));
        FurtherTests {
            coverage: std::iter::once(own).chain(others).collect(),
            failing: self.failing,
            passing: self.tests.len() - self.failing,
        }
    }

    /// Tries each change in a range that makes the run under study right on the further tests. The run under study is
    /// the first of the runs that are attempted, and the tests are the others. Returns the effects on tests, from those
    /// on the run under study, and whether all attempts were made. A change of a single execution is about that one
    /// run alone.
    pub(super) fn try_repairs(
        &self,
        recorded: Recorded<'_>,
        (changes, effects): (Range<usize>, &[Option<Effect>]),
        attempts: &mut Attempts<'_>,
        (runners, processors): (&mut [Runner<'_>], &Processors),
    ) -> Result<(Vec<Option<OnTests>>, bool), SessionError> {
        let candidates = &attempts.candidates[changes.clone()];
        let mut found: Vec<Option<OnTests>> = vec![None; candidates.len()];
        if self.tests.is_empty() {
            return Ok((found, true));
        }
        let is_right = |effect: &Effect| effect.kind == EffectKind::Right;
        let mut all = Vec::new();
        for (number, candidate) in candidates.iter().enumerate() {
            if candidate.granule != Granule::Statement || !effects[number].as_ref().is_some_and(is_right) {
                continue;
            }
            found[number] = Some(OnTests::default());
            // A statement that a test does not execute changes nothing there.
            let statement = candidate.statement(recorded);
            let executing =
                self.tests.iter().enumerate().filter(|(_, test)| test.statements.contains(&statement));
            all.extend(
                executing.map(|(test, _)| Attempt { run: 1 + test, candidate: changes.start + number }),
            );
        }
        let effects = attempts.make(&all, runners, processors)?;
        for (attempt, effect) in all.iter().zip(&effects) {
            let number = attempt.candidate - changes.start;
            let Some(with) = &mut found[number] else { continue };
            match effect {
                // Nothing is concluded of a change that was not tried on all tests.
                None => found[number] = None,
                Some(effect) if attempt.run <= self.failing => with.repaired += usize::from(is_right(effect)),
                Some(effect) => with.broken += usize::from(!is_right(effect)),
            }
        }
        Ok((found, effects.iter().all(Option::is_some)))
    }
}
