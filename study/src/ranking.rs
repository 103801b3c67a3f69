//! Rankings: all lines of a program by how suspicious a technique finds them, with ties.

use std::collections::{BTreeMap, BTreeSet};

use crate::source_line::SourceLine;

/// A ranking: all lines of a program that can be executed, the most suspicious ones first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineRanking {
    /// The groups of tied lines; no line is in two, and none is missing.
    pub groups: Vec<LineGroup>,
}

/// A group of tied lines, which a technique does not tell apart.
#[derive(Clone, Debug, PartialEq)]
pub struct LineGroup {
    /// Whether the technique names them at all. What it does not name comes last.
    pub is_suspect: bool,
    /// The number by which they are ordered, if there is one.
    pub score: Option<f64>,
    /// The lines, in order.
    pub lines: Vec<SourceLine>,
}

impl LineRanking {
    /// A ranking from groups of lines that a technique names, from other groups, and from `all` lines, of which those
    /// that are in no group come last.
    pub fn of_groups(
        named: Vec<Vec<SourceLine>>,
        others: Vec<Vec<SourceLine>>,
        all: &[SourceLine],
    ) -> LineRanking {
        let named = named.into_iter().map(|group| (true, group));
        LineRanking::in_order(named.chain(others.into_iter().map(|group| (false, group))), all)
    }

    /// A ranking from groups of lines, each with whether the technique names its lines, and from `all` lines, of which
    /// those that are in no group come last.
    pub fn in_order(
        given: impl IntoIterator<Item = (bool, Vec<SourceLine>)>,
        all: &[SourceLine],
    ) -> LineRanking {
        let mut left: BTreeSet<&SourceLine> = all.iter().collect();
        let mut groups = Vec::new();
        for (is_suspect, lines) in given {
            let lines: BTreeSet<SourceLine> = lines.into_iter().filter(|line| left.remove(line)).collect();
            groups.push(LineGroup { is_suspect, score: None, lines: lines.into_iter().collect() });
        }
        let lines = left.into_iter().cloned().collect();
        groups.push(LineGroup { is_suspect: false, score: None, lines });
        groups.retain(|group| !group.lines.is_empty());
        LineRanking { groups }
    }

    /// This order, followed by the lines of these groups that are not in it, one group after the other.
    pub fn followed_by(mut self, groups: &[&[SourceLine]]) -> LineRanking {
        let mut known: BTreeSet<SourceLine> =
            self.groups.iter().flat_map(|group| group.lines.iter().cloned()).collect();
        for group in groups {
            let lines: BTreeSet<SourceLine> =
                group.iter().filter(|line| known.insert((*line).clone())).cloned().collect();
            let lines = lines.into_iter().collect();
            self.groups.push(LineGroup { is_suspect: false, score: None, lines });
        }
        self.groups.retain(|group| !group.lines.is_empty());
        self
    }

    /// The number of lines that the technique names.
    pub fn suspects(&self) -> usize {
        self.groups.iter().filter(|group| group.is_suspect).map(|group| group.lines.len()).sum()
    }

    /// The number of lines.
    pub fn lines(&self) -> usize {
        self.groups.iter().map(|group| group.lines.len()).sum()
    }

    /// This ranking, in which ties are broken by another one.
    pub fn then(&self, other: &LineRanking) -> LineRanking {
        let places: BTreeMap<&SourceLine, usize> = other
            .groups
            .iter()
            .enumerate()
            .flat_map(|(place, group)| group.lines.iter().map(move |line| (line, place)))
            .collect();
        let split = |group: &LineGroup| {
            let mut parts: BTreeMap<usize, Vec<SourceLine>> = BTreeMap::new();
            for line in &group.lines {
                let place = places.get(line).copied().unwrap_or(usize::MAX);
                parts.entry(place).or_default().push(line.clone());
            }
            let is_suspect = group.is_suspect;
            parts.into_values().map(move |lines| LineGroup { is_suspect, score: None, lines })
        };
        LineRanking { groups: self.groups.iter().flat_map(split).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(numbers: &[u32]) -> Vec<SourceLine> {
        numbers.iter().map(|&number| SourceLine::new("a.c", number)).collect()
    }

    #[test]
    fn lines_that_no_group_has_come_last_and_none_is_there_twice() {
        let ranking =
            LineRanking::of_groups(vec![lines(&[3, 4])], vec![lines(&[4, 1])], &lines(&[1, 2, 3, 4]));
        let groups: Vec<&Vec<SourceLine>> = ranking.groups.iter().map(|group| &group.lines).collect();
        assert_eq!(groups, [&lines(&[3, 4]), &lines(&[1]), &lines(&[2])]);
        assert_eq!((ranking.suspects(), ranking.lines()), (2, 4));
    }

    #[test]
    fn a_second_technique_breaks_the_ties_of_the_first_and_changes_nothing_else() {
        let all = lines(&[1, 2, 3, 4]);
        let slice = LineRanking::of_groups(vec![lines(&[2, 3])], vec![], &all);
        let other = LineRanking::of_groups(vec![lines(&[4]), lines(&[3])], vec![], &all);
        let both = slice.then(&other);
        let order: Vec<u32> =
            both.groups.iter().flat_map(|group| &group.lines).map(|line| line.line).collect();
        assert_eq!(order, [3, 2, 4, 1]);
        assert_eq!(both.suspects(), 2);
    }
}
