//! Program spectra: the statements that each test has executed.

use std::collections::BTreeMap;

use crate::formula::{ExecutionCounts, Formula};
use crate::ranking::{LineGroup, LineRanking};
use crate::source_line::SourceLine;

/// The spectra of the tests of a program: the statements that they have executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spectra {
    /// All statements that can be executed, in the order of the source.
    pub statements: Vec<SpectrumStatement>,
    /// The tests.
    pub tests: Vec<SpectrumTest>,
}

/// A statement that can be executed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpectrumStatement {
    /// The line where it begins.
    pub line: SourceLine,
    /// The column, from 1; 0 where the compiler gives none.
    pub column: u32,
    /// The function that it belongs to.
    pub function: String,
}

/// A test and what it has executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpectrumTest {
    /// Its name.
    pub name: String,
    /// Whether it fails.
    pub fails: bool,
    /// The statements that it has executed, by their numbers, in order.
    pub executed: Vec<usize>,
}

/// The unit of coverage: what is counted as executed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoverageUnit {
    /// A line, if one of its statements was executed.
    Line,
    /// A statement; a line is as suspicious as the most suspicious of its statements.
    Statement,
}

impl Spectra {
    /// All lines that can be executed, in order.
    pub fn lines(&self) -> Vec<SourceLine> {
        let mut lines: Vec<SourceLine> = self.statements.iter().map(|one| one.line.clone()).collect();
        lines.sort();
        lines.dedup();
        lines
    }

    /// The number of failing tests.
    pub fn failing(&self) -> usize {
        self.tests.iter().filter(|test| test.fails).count()
    }

    /// The spectra by lines: each line is one statement without a column.
    pub fn by_line(&self) -> Spectra {
        let mut lines: BTreeMap<&SourceLine, &str> = BTreeMap::new();
        for one in &self.statements {
            lines.entry(&one.line).or_insert(&one.function);
        }
        let numbers: BTreeMap<&SourceLine, usize> =
            lines.keys().enumerate().map(|(number, line)| (*line, number)).collect();
        let test = |test: &SpectrumTest| {
            let mut executed: Vec<usize> =
                test.executed.iter().map(|&one| numbers[&self.statements[one].line]).collect();
            executed.sort_unstable();
            executed.dedup();
            SpectrumTest { name: test.name.clone(), fails: test.fails, executed }
        };
        let statement = |(line, function): (&&SourceLine, &&str)| SpectrumStatement {
            line: (*line).clone(),
            column: 0,
            function: (*function).to_owned(),
        };
        Spectra {
            statements: lines.iter().map(statement).collect(),
            tests: self.tests.iter().map(test).collect(),
        }
    }

    /// The numbers of tests that have executed each statement.
    pub fn counts(&self) -> Vec<ExecutionCounts> {
        let all_failing = self.failing() as u64;
        let all_passing = self.tests.len() as u64 - all_failing;
        let none = ExecutionCounts { failing: 0, passing: 0, all_failing, all_passing };
        let mut counts = vec![none; self.statements.len()];
        for test in &self.tests {
            for &statement in &test.executed {
                let count = &mut counts[statement];
                *(if test.fails { &mut count.failing } else { &mut count.passing }) += 1;
            }
        }
        counts
    }

    /// Ranks the lines by a formula.
    pub fn rank(&self, formula: Formula, unit: CoverageUnit) -> LineRanking {
        let merged = (unit == CoverageUnit::Line).then(|| self.by_line());
        let spectra = merged.as_ref().unwrap_or(self);
        let mut lines = BTreeMap::new();
        for (statement, counts) in spectra.statements.iter().zip(spectra.counts()) {
            let new = (formula.suspicion(counts), counts.failing > 0);
            let known = lines.entry(&statement.line).or_insert(new);
            *known = (known.0.max(new.0), known.1 || new.1);
        }
        let mut ranked: Vec<_> = lines.into_iter().collect();
        ranked.sort_by(|(_, one), (_, other)| other.cmp(one));
        let groups = ranked.chunk_by(|(_, one), (_, other)| one == other).map(|group| LineGroup {
            is_suspect: group[0].1.1,
            score: Some(group[0].1.0.value()),
            lines: group.iter().map(|(line, _)| (*line).clone()).collect(),
        });
        LineRanking { groups: groups.collect() }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Spectra for tests: statements by line and column, and of each test whether it fails and what it has executed.
    pub(crate) fn spectra(places: &[(u32, u32)], tests: &[(bool, &[usize])]) -> Spectra {
        let statement = |&(line, column): &(u32, u32)| SpectrumStatement {
            line: SourceLine::new("a.c", line),
            column,
            function: "main".into(),
        };
        let test = |(number, (fails, executed)): (usize, &(bool, &[usize]))| SpectrumTest {
            name: format!("t{}", number + 1),
            fails: *fails,
            executed: executed.to_vec(),
        };
        Spectra {
            statements: places.iter().map(statement).collect(),
            tests: tests.iter().enumerate().map(test).collect(),
        }
    }

    fn order(ranking: &LineRanking) -> Vec<Vec<u32>> {
        ranking.groups.iter().map(|group| group.lines.iter().map(|line| line.line).collect()).collect()
    }

    #[test]
    fn lines_with_equal_suspicion_are_tied_and_those_nobody_has_executed_come_last() {
        let places = [(1, 1), (2, 1), (3, 1), (4, 1)];
        let spectra = spectra(&places, &[(true, &[0, 1]), (false, &[0, 2]), (false, &[0])]);
        let ranking = spectra.rank(Formula::Ochiai, CoverageUnit::Line);
        assert_eq!(order(&ranking), [vec![2], vec![1], vec![3, 4]]);
        assert_eq!(ranking.suspects(), 2);
    }

    #[test]
    fn a_line_is_executed_if_one_of_its_statements_is_and_as_suspicious_as_the_worst_of_them() {
        // Line 1 has two statements: the second one only the failing test has executed.
        let spectra = spectra(&[(1, 1), (1, 9), (2, 1)], &[(true, &[0, 1, 2]), (false, &[0])]);
        assert_eq!(order(&spectra.rank(Formula::Ochiai, CoverageUnit::Line)), [[2], [1]]);
        assert_eq!(order(&spectra.rank(Formula::Ochiai, CoverageUnit::Statement)), [[1, 2]]);
        assert_eq!(spectra.by_line().tests[0].executed, [0, 1]);
    }

    #[test]
    fn no_failing_test_makes_nothing_suspicious() {
        let spectra = spectra(&[(1, 1), (2, 1)], &[(false, &[0])]);
        let ranking = spectra.rank(Formula::Op2, CoverageUnit::Line);
        assert_eq!((ranking.suspects(), order(&ranking)), (0, vec![vec![2], vec![1]]));
    }
}
