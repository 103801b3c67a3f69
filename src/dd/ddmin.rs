//! Reduce by the minimizing delta debugging algorithm, as it was published.
//!
//! Kept for teaching and for comparison: [`sweep`](super::sweep()) needs far fewer tests.
//!
//! Source: AADEBUG 2000, Figure 1; ISSTA 2000.

use super::configuration::Configuration;
use super::experiment::Experiment;
use super::reduction::{Reduction, ReductionOf};
use super::stop::Stop;
use super::test_function::TestFunction;

/// Reduces `start`, which is known to fail, to a 1-minimal configuration.
///
/// The configuration c is cut into n subsets of about equal size, n = 2 at first.
/// - *Reduce to subset*: if one of the subsets fails, go on with it and n = 2.
/// - *Reduce to complement*: otherwise, if c without one of them fails, go on with that and
///   max(n - 1, 2).
/// - *Increase granularity*: otherwise, if n < |c|, go on with min(2n, |c|).
/// - *Done*: otherwise each subset is a single member, and none of them can be left out.
pub fn ddmin<T: TestFunction>(experiment: &mut Experiment<'_, T>, start: Configuration) -> ReductionOf<T> {
    let mut smallest = experiment.normalise(&start);
    let searched = ddmin2(experiment, &mut smallest);
    Reduction::conclude(experiment, smallest, searched)
}

fn ddmin2<T: TestFunction>(
    experiment: &mut Experiment<'_, T>,
    smallest: &mut Configuration,
) -> Result<(), Stop<T::Error>> {
    let mut granularity = 2;
    loop {
        let members: Vec<usize> = smallest.iter().collect();
        // The figure's invariant n <= |c|, also when more went than was left out.
        granularity = granularity.min(members.len());
        let subsets = split(&members, granularity);
        let universe = smallest.universe();
        // The only subset of a single member is all of c, which is known.
        let proper = subsets.iter().filter(|subset| subset.len() < members.len());
        let reduced = proper.map(|&subset| Configuration::from_iter(universe, subset.iter().copied()));
        if let Some(subset) = experiment.first_failure(reduced)? {
            *smallest = subset.configuration;
            granularity = 2;
        } else if let Some(complement) = experiment.first_failure_without(smallest, subsets)? {
            *smallest = complement.configuration;
            granularity = (granularity - 1).max(2);
        } else if granularity < members.len() {
            granularity = (2 * granularity).min(members.len());
        } else {
            return Ok(());
        }
    }
}

/// Cuts the members into `granularity` neighbouring parts, whose sizes differ by one at most.
fn split(members: &[usize], granularity: usize) -> Vec<&[usize]> {
    let border = |part| part * members.len() / granularity;
    (0..granularity).map(|part| &members[border(part)..border(part + 1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_neighbours_and_about_equal() {
        assert_eq!(split(&[1, 2, 3, 5, 7], 2), [&[1, 2][..], &[3, 5, 7]]);
        assert_eq!(split(&[1, 2, 3], 3), [[1], [2], [3]]);
        assert!(split(&[], 0).is_empty());
    }
}
