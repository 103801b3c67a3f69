//! Try changes on further tests, and tell a ranking what it needs to know of them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tracer::Processors;
use tracer::plain::Runner;

use super::coverage::executed;
use super::error::SessionError;
use super::locate_attempts::{Attempt, Attempts, Patterns, Studied};
use super::locate_tests::Tried;
use crate::locate::{Effect, EffectKind, FurtherTests, Granule, OnTests, TestCoverage, Trials};
use crate::subject::Recorded;

/// Of more failing tests than these the first ones are tried with changes, and of more passing tests so many that are
/// spread evenly; all count for what tests execute.
const MOST_FAILING: usize = 5;
const MOST_PASSING: usize = 20;

/// Tests that print something else when their statements are not traced say nothing.
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
    /// The failing ones come first.
    tests: Vec<&'t Tried>,
    /// So many fail.
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

    /// Their runs, in this order.
    pub(super) fn studied(&self) -> impl Iterator<Item = Studied<'t>> {
        self.tests.iter().filter_map(|test| {
            let Tried { invocation, correct, unchanged, limits, .. } = *test;
            let trials = Trials::new(correct.as_ref()?, unchanged);
            Some(Studied { invocation, limits: *limits, trials, patterns: Patterns::default() })
        })
    }

    /// What a ranking needs to know of them, and of `all` tests for what they execute.
    pub(super) fn further(&self, recorded: Recorded<'_>, all: &[Tried]) -> FurtherTests {
        let own = TestCoverage::new(&executed(recorded), true);
        let others = all.iter().map(|test| TestCoverage::new(&test.statements, test.fails));
        FurtherTests {
            coverage: std::iter::once(own).chain(others).collect(),
            failing: self.failing,
            passing: self.tests.len() - self.failing,
        }
    }

    /// What each change does to them that makes the run under study right, which is the first of the runs that are
    /// attempted, and they the others; and whether all that is worth it was tried. A change of a single execution is
    /// about that one run alone.
    pub(super) fn try_repairs(
        &self,
        recorded: Recorded<'_>,
        effects: &[Option<Effect>],
        attempts: &mut Attempts<'_>,
        (runners, processors): (&mut [Runner<'_>], &Processors),
    ) -> Result<(Vec<Option<OnTests>>, bool), SessionError> {
        let candidates = attempts.candidates;
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
            all.extend(executing.map(|(test, _)| Attempt { run: 1 + test, candidate: number }));
        }
        let effects = attempts.make(&all, runners, processors)?;
        for (attempt, effect) in all.iter().zip(&effects) {
            let Some(with) = &mut found[attempt.candidate] else { continue };
            match effect {
                // Nothing is said of a change that was not tried on all tests.
                None => found[attempt.candidate] = None,
                Some(effect) if attempt.run <= self.failing => with.repaired += usize::from(is_right(effect)),
                Some(effect) => with.broken += usize::from(!is_right(effect)),
            }
        }
        Ok((found, effects.iter().all(Option::is_some)))
    }
}
