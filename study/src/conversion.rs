//! Conversion of spectra and rankings to documents, and back.

use crate::documents::{
    FaultyDocument, GroupDocument, MetricsDocument, PlaceDocument, SpectraDocument, StatementDocument,
};
use crate::metrics::{FaultyRank, TieRule, TiedPlace};
use crate::ranking::LineRanking;
use crate::source_line::SourceLine;
use crate::spectra::{Spectra, SpectrumStatement, SpectrumTest};

/// Writes numbers in order as stretches: `0-4,7`.
pub fn stretches(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|one, next| one + 1 == *next);
    let told: Vec<String> = runs
        .map(|run| match run {
            [one] => one.to_string(),
            [first, .., last] => format!("{first}-{last}"),
            [] => String::new(),
        })
        .collect();
    told.join(",")
}

/// Reads the numbers of stretches; `None` if it is no list of them, or if there are `bound` or more.
pub fn numbers(text: &str, bound: usize) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last >= bound || first > last {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

impl SpectraDocument {
    /// The spectra of the document; `None` if it has numbers of statements that are not there.
    pub fn spectra(&self) -> Option<Spectra> {
        let statement = |one: &StatementDocument| SpectrumStatement {
            line: SourceLine::new(&one.file, one.line),
            column: one.column,
            function: one.function.clone(),
        };
        let tests = self.tests.iter().map(|test| {
            let executed = numbers(&test.executed, self.statements.len())?;
            Some(SpectrumTest { name: test.name.clone(), fails: test.fails, executed })
        });
        Some(Spectra {
            tests: tests.collect::<Option<_>>()?,
            statements: self.statements.iter().map(statement).collect(),
        })
    }
}

/// The document of the three numbers that `of` gives, one for each rule.
fn place(of: impl Fn(TieRule) -> f64) -> PlaceDocument {
    PlaceDocument { best: of(TieRule::Best), average: of(TieRule::Average), worst: of(TieRule::Worst) }
}

/// The numbers of statements of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementCounts {
    /// The number that the technique names, if it names statements.
    pub named: Option<usize>,
    /// The number that the failing run has executed.
    pub executed: usize,
    /// The number of all that can be executed.
    pub all: usize,
}

/// The document of the places of the faulty lines, and of the sizes.
pub fn metrics(
    standing: &FaultyRank,
    lines_executed: usize,
    statements: Option<StatementCounts>,
) -> MetricsDocument {
    let tied = |tied: TiedPlace| place(|rule| tied.by(rule));
    MetricsDocument {
        lines: standing.lines,
        lines_executed,
        suspects: standing.suspects,
        statements: statements.map(|count| count.all),
        statements_executed: statements.map(|count| count.executed),
        statements_named: statements.and_then(|count| count.named),
        hit: standing.hit,
        first: tied(standing.first),
        mean: tied(standing.mean),
        exam: place(|rule| standing.exam(rule)),
        wasted_effort: place(|rule| standing.wasted_effort(rule)),
        reciprocal_rank: place(|rule| standing.reciprocal_rank(rule)),
        faulty: standing
            .faulty
            .iter()
            .map(|(line, place)| FaultyDocument { line: line.to_string(), place: place.map(tied) })
            .collect(),
    }
}

/// The document of a ranking.
pub fn groups(ranking: &LineRanking) -> Vec<GroupDocument> {
    let mut before = 0;
    let group = |group: &crate::ranking::LineGroup| {
        before += group.lines.len();
        GroupDocument {
            rank: before + 1 - group.lines.len(),
            suspect: group.is_suspect,
            score: group.score.filter(|score| score.is_finite()),
            lines: group.lines.iter().map(SourceLine::to_string).collect(),
        }
    };
    ranking.groups.iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_read_back_as_the_numbers_that_they_are_of() {
        for list in [&[][..], &[3], &[0, 1, 2, 5, 7, 8]] {
            assert_eq!(numbers(&stretches(list), 9).as_deref(), Some(list));
        }
        assert_eq!(stretches(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!((numbers("3-9", 9), numbers("5-4", 9), numbers("x", 9)), (None, None, None));
    }
}
