//! The metrics of a ranking: how early the faulty lines are in it.
//!
//! Lines that are tied can be read in any order. So each place is told three times: the *best*, where the faulty line is
//! read first among its ties, the *worst*, where it is read last, and the *average* over all orders.

use crate::ranking::LineRanking;
use crate::source_line::SourceLine;

/// A place in a ranking, from 1, in the best and the worst order of tied lines and on average over all orders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TiedPlace {
    /// The best case: read first among its ties.
    pub best: f64,
    /// The average over all orders.
    pub average: f64,
    /// The worst case: read last among its ties.
    pub worst: f64,
}

/// The places of the faulty lines in a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultyRank {
    /// The number of lines that can be executed.
    pub lines: usize,
    /// The number of them that the technique names.
    pub suspects: usize,
    /// Whether it names a faulty line.
    pub hit: bool,
    /// The faulty lines with their places; `None` for one that the ranking does not have.
    pub faulty: Vec<(SourceLine, Option<TiedPlace>)>,
    /// The number of lines that are read up to the first faulty one, itself included.
    pub first: TiedPlace,
    /// The average place of all faulty lines.
    pub mean: TiedPlace,
}

/// The rule by which ties are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieRule {
    /// The best case: the faulty line is read first.
    Best,
    /// The average over all orders.
    #[default]
    Average,
    /// The worst case: it is read last.
    Worst,
}

impl TiedPlace {
    /// The place by a rule.
    pub fn by(self, rule: TieRule) -> f64 {
        match rule {
            TieRule::Best => self.best,
            TieRule::Average => self.average,
            TieRule::Worst => self.worst,
        }
    }

    fn all(place: f64) -> TiedPlace {
        TiedPlace { best: place, average: place, worst: place }
    }
}

impl FaultyRank {
    /// The places of lines that a manifest calls faulty. A faulty line that cannot be executed is found last of all:
    /// its place is the number of lines.
    pub fn of(ranking: &LineRanking, faulty: &[SourceLine]) -> FaultyRank {
        let all = ranking.lines();
        let unfound = TiedPlace::all(all as f64);
        let places: Vec<(SourceLine, Option<TiedPlace>)> =
            faulty.iter().map(|line| (line.clone(), place(ranking, line))).collect();
        let count = places.len().max(1) as f64;
        let mean = |rule| {
            let sum: f64 = places.iter().map(|(_, place)| place.unwrap_or(unfound).by(rule)).sum();
            if places.is_empty() { unfound.by(rule) } else { sum / count }
        };
        let is_named = |line: &SourceLine| {
            let mut suspects = ranking.groups.iter().filter(|group| group.is_suspect);
            suspects.any(|group| group.lines.iter().any(|one| line.means(one)))
        };
        FaultyRank {
            lines: all,
            suspects: ranking.suspects(),
            hit: faulty.iter().any(is_named),
            first: first(ranking, faulty).unwrap_or(unfound),
            mean: TiedPlace {
                best: mean(TieRule::Best),
                average: mean(TieRule::Average),
                worst: mean(TieRule::Worst),
            },
            faulty: places,
        }
    }

    /// The EXAM score: the share of all lines that is read up to the first faulty one.
    pub fn exam(&self, rule: TieRule) -> f64 {
        if self.lines == 0 { 1.0 } else { self.first.by(rule) / self.lines as f64 }
    }

    /// The wasted effort: the number of lines that are read in vain before the first faulty one.
    pub fn wasted_effort(&self, rule: TieRule) -> f64 {
        (self.first.by(rule) - 1.0).max(0.0)
    }

    /// The reciprocal rank: 1 for the first place, 1/2 for the second one.
    pub fn reciprocal_rank(&self, rule: TieRule) -> f64 {
        1.0 / self.first.by(rule).max(1.0)
    }
}

/// The place of a single line.
fn place(ranking: &LineRanking, line: &SourceLine) -> Option<TiedPlace> {
    let mut before = 0;
    for group in &ranking.groups {
        if group.lines.iter().any(|one| line.means(one)) {
            let (best, ties) = (before as f64 + 1.0, group.lines.len() as f64);
            return Some(TiedPlace { best, average: best + (ties - 1.0) / 2.0, worst: best + ties - 1.0 });
        }
        before += group.lines.len();
    }
    None
}

/// The number of lines that are read up to the first faulty one. Of `ties` lines in any order, `several` of which are
/// faulty, the first faulty one is at (ties + 1) / (several + 1) on average, and after all the others at worst.
fn first(ranking: &LineRanking, faulty: &[SourceLine]) -> Option<TiedPlace> {
    let mut before = 0;
    for group in &ranking.groups {
        let several = group.lines.iter().filter(|one| faulty.iter().any(|line| line.means(one))).count();
        if several > 0 {
            let (before, ties, several) = (before as f64, group.lines.len() as f64, several as f64);
            return Some(TiedPlace {
                best: before + 1.0,
                average: before + (ties + 1.0) / (several + 1.0),
                worst: before + ties - several + 1.0,
            });
        }
        before += group.lines.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(numbers: &[u32]) -> Vec<SourceLine> {
        numbers.iter().map(|&number| SourceLine::new("a.c", number)).collect()
    }

    /// A ranking 1 | 2 3 4 | 5 6, of 8 lines; 7 and 8 are not executed.
    fn ranking() -> LineRanking {
        let named = vec![lines(&[1]), lines(&[2, 3, 4])];
        LineRanking::of_groups(named, vec![lines(&[5, 6])], &lines(&[1, 2, 3, 4, 5, 6, 7, 8]))
    }

    fn place(best: f64, average: f64, worst: f64) -> TiedPlace {
        TiedPlace { best, average, worst }
    }

    #[test]
    fn a_faulty_line_among_three_that_are_tied() {
        let standing = FaultyRank::of(&ranking(), &lines(&[3]));
        assert_eq!(standing.first, place(2.0, 3.0, 4.0));
        assert_eq!(standing.mean, standing.first);
        assert_eq!((standing.hit, standing.suspects, standing.lines), (true, 4, 8));
        assert_eq!(standing.exam(TieRule::Average), 3.0 / 8.0);
        assert_eq!(standing.wasted_effort(TieRule::Worst), 3.0);
        assert_eq!(standing.reciprocal_rank(TieRule::Best), 0.5);
    }

    #[test]
    fn of_two_faulty_lines_among_three_that_are_tied_one_is_found_sooner() {
        // The six orders have the first faulty line at 1, 1, 1, 1, 2, 2 of the group: 4/3 on average.
        let standing = FaultyRank::of(&ranking(), &lines(&[2, 4]));
        assert_eq!(standing.first, place(2.0, 1.0 + 4.0 / 3.0, 3.0));
        assert_eq!(standing.mean, place(2.0, 3.0, 4.0));
    }

    #[test]
    fn of_faulty_lines_in_several_groups_the_first_one_counts_and_the_mean_of_all() {
        let standing = FaultyRank::of(&ranking(), &lines(&[1, 6]));
        assert_eq!(standing.first, place(1.0, 1.0, 1.0));
        assert_eq!(standing.mean, place(3.0, 3.25, 3.5));
    }

    #[test]
    fn a_faulty_line_that_no_test_has_executed_is_tied_with_all_such_lines() {
        let standing = FaultyRank::of(&ranking(), &lines(&[7]));
        assert_eq!((standing.hit, standing.first), (false, place(7.0, 7.5, 8.0)));
    }

    #[test]
    fn a_faulty_line_that_cannot_be_executed_is_found_last() {
        let standing = FaultyRank::of(&ranking(), &lines(&[99]));
        assert_eq!((standing.hit, standing.first), (false, place(8.0, 8.0, 8.0)));
        assert_eq!((standing.exam(TieRule::Best), standing.faulty[0].1), (1.0, None));
    }

    #[test]
    fn with_one_faulty_line_the_first_place_and_the_place_agree() {
        for line in 1..=8 {
            let standing = FaultyRank::of(&ranking(), &lines(&[line]));
            assert_eq!(Some(standing.first), standing.faulty[0].1, "line {line}");
        }
    }
}
