//! Summarise the effects of changes on further tests, and the suspicion of lines by which tests execute them.
//!
//! Source: R. Abreu, P. Zoeteweij and A. van Gemund, "On the Accuracy of Spectrum-based Fault Localization", TAIC
//! PART 2007 (Ochiai); S. Moon, Y. Kim, M. Kim and S. Yoo, "Ask the Mutants", ICST 2014, for failing tests that become
//! right and passing ones that stay so.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

use study::formula::{ExecutionCounts, Formula, Suspicion};
use tracer::program::{FileId, Statement};

/// The effect on the further tests of a change at all executions of a statement. Of two the greater
/// one makes more failing tests right, or as many and fewer passing ones wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnTests {
    /// The number of failing tests that are right with it.
    pub repaired: usize,
    /// The number of passing tests that are wrong with it.
    pub broken: usize,
}

impl Ord for OnTests {
    fn cmp(&self, other: &OnTests) -> Ordering {
        (self.repaired, Reverse(self.broken)).cmp(&(other.repaired, Reverse(other.broken)))
    }
}

impl PartialOrd for OnTests {
    fn partial_cmp(&self, other: &OnTests) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The coverage of a test: the lines that it executes.
#[derive(Clone, Debug)]
pub struct TestCoverage {
    /// The lines.
    pub lines: BTreeSet<(FileId, u32)>,
    /// True if the test fails.
    pub fails: bool,
}

impl TestCoverage {
    /// Creates the coverage of a run that executes these statements.
    pub fn new(statements: &BTreeSet<Statement>, fails: bool) -> TestCoverage {
        let lines = statements.iter().map(|statement| (statement.file, statement.line)).collect();
        TestCoverage { lines, fails }
    }
}

/// The further tests, as far as a ranking needs them.
#[derive(Clone, Debug, Default)]
pub struct FurtherTests {
    /// The coverage of all tests, the run under study among them.
    pub coverage: Vec<TestCoverage>,
    /// The number of failing tests on which changes were tried, without the run under study.
    pub failing: usize,
    /// The number of passing tests on which changes were tried that make the run under study right.
    pub passing: usize,
}

impl FurtherTests {
    /// True if there are no further tests.
    pub fn is_empty(&self) -> bool {
        self.coverage.len() <= 1
    }

    /// True if a change that makes the run under study right does so for all failing tests, and breaks no
    /// passing test.
    pub fn are_satisfied(&self, with: OnTests) -> bool {
        with.repaired == self.failing && with.broken == 0
    }

    /// The suspicion of a line, by Ochiai. `None` without further tests.
    pub fn suspicion(&self, line: (FileId, u32)) -> Option<Suspicion> {
        if self.is_empty() {
            return None;
        }
        let count = |fails: bool, executes: bool| {
            let of = |test: &&TestCoverage| test.fails == fails && (!executes || test.lines.contains(&line));
            self.coverage.iter().filter(of).count() as u64
        };
        Some(Formula::Ochiai.suspicion(ExecutionCounts {
            failing: count(true, true),
            passing: count(false, true),
            all_failing: count(true, false),
            all_passing: count(false, false),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coverage(lines: &[u32], fails: bool) -> TestCoverage {
        TestCoverage { lines: lines.iter().map(|&line| (FileId(0), line)).collect(), fails }
    }

    #[test]
    fn a_line_that_only_failing_tests_execute_is_the_most_suspicious_one() {
        let coverage = vec![coverage(&[1, 2], true), coverage(&[1, 2], true), coverage(&[1, 3], false)];
        let tests = FurtherTests { coverage, failing: 1, passing: 1 };
        let value = |line| tests.suspicion((FileId(0), line)).expect("there are tests").value();
        assert_eq!((value(2), value(3)), (1.0, 0.0));
        assert!((value(1) - (2.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!(tests.suspicion((FileId(0), 2)) > tests.suspicion((FileId(0), 1)));
    }

    #[test]
    fn the_better_change_repairs_more_and_then_breaks_less() {
        let on = |repaired, broken| OnTests { repaired, broken };
        assert!(on(2, 5) > on(1, 0) && on(1, 0) > on(1, 1) && Some(on(0, 9)) > None);
    }

    #[test]
    fn one_run_alone_makes_nothing_suspicious() {
        let alone = FurtherTests { coverage: vec![coverage(&[1], true)], ..FurtherTests::default() };
        assert!(alone.suspicion((FileId(0), 1)).is_none());
    }
}
