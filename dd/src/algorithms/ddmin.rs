//! The algorithm ddmin: the minimizing delta debugging algorithm, as it was published.
//!
//! Kept for teaching and for comparison: [`sweep`](super::sweep()) needs far fewer tests. Groups are ignored.
//!
//! Source: AADEBUG 2000, Figure 1; ISSTA 2000.

use crate::configuration::Configuration;
use crate::experiment::Experiment;
use crate::groups::Splitter;
use crate::level::Level;
use crate::reduction::Reduction;
use crate::stop::Stop;

/// Reduces `start`, which is known to fail, to a 1-minimal configuration.
///
/// The configuration c is cut into n subsets of about equal size, n = 2 at first.
/// - *Reduce to subset*: if one of the subsets fails, go on with it and n = 2.
/// - *Reduce to complement*: otherwise, if c without one of them fails, go on with that and
///   max(n - 1, 2).
/// - *Increase granularity*: otherwise, if n < |c|, go on with min(2n, |c|).
/// - *Done*: otherwise each subset is a single member, and none of them can be left out.
pub fn ddmin<V: Clone, E>(experiment: &mut Experiment<'_, V, E>, start: Configuration) -> Reduction<V, E> {
    let mut smallest = experiment.normalise(&start);
    let searched = ddmin2(experiment, &mut smallest);
    Reduction::conclude(experiment, smallest, searched)
}

fn ddmin2<V: Clone, E>(
    experiment: &mut Experiment<'_, V, E>,
    smallest: &mut Configuration,
) -> Result<Level, Stop<E>> {
    let splitter = Splitter::new(&[]);
    let mut granularity = 2;
    loop {
        let members: Vec<usize> = smallest.iter().collect();
        if members.is_empty() {
            return Ok(Level::Members);
        }
        // The figure's invariant n <= |c|, also when more went than was left out.
        granularity = granularity.min(members.len());
        let subsets = splitter.split(&members, granularity);
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
            return Ok(Level::Members);
        }
    }
}
