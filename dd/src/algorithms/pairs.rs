//! The algorithm pairs: reduces by sweep, and then tries to leave out two circumstances that only need each other.
//!
//! Source: the failure-inducing changes of ESEC/FSE 1999 are minimal as single changes only; this is a step towards
//! global minimality for what makes tests inconsistent.

use crate::configuration::Configuration;
use crate::experiment::Experiment;
use crate::level::Level;
use crate::outcome::Outcome;
use crate::reduction::{End, Reduction};
use crate::stop::Stop;

use super::sweep;

/// The largest number of pairs that are tried without success before the search ends.
const MOST_PAIRS: usize = 100;

/// Reduces `start`, which is known to fail, to a 1-minimal configuration without idle pairs.
///
/// A definition and its only use keep each other: without either of them the program does not build, so that [`sweep()`]
/// keeps both, and without both it still fails. So, of the members without which a test is unresolved, each two are left
/// out together, neighbours first, up to a hundred pairs. After a success the sweep begins again: what has only needed
/// one of the two can go as well.
///
/// Three circumstances that only need each other are found if a test without two of them fails, and otherwise not.
pub fn pairs<V: Clone, E>(experiment: &mut Experiment<'_, V, E>, start: Configuration) -> Reduction<V, E> {
    let mut reduction = sweep(experiment, start);
    while let End::Minimal(Level::Members) = reduction.end {
        match without_a_pair(experiment, &reduction) {
            Ok(Some(smaller)) => reduction = sweep(experiment, smaller),
            Ok(None) => break,
            Err(stop) => reduction = Reduction { end: End::Stopped(stop), evidence: Vec::new(), ..reduction },
        }
    }
    reduction
}

/// The first failing configuration without two members that keep each other.
fn without_a_pair<V: Clone, E>(
    experiment: &mut Experiment<'_, V, E>,
    reduction: &Reduction<V, E>,
) -> Result<Option<Configuration>, Stop<E>> {
    let unresolved = reduction.evidence.iter().filter(|(_, outcome, _)| *outcome == Outcome::Unresolved);
    let members: Vec<usize> = unresolved.map(|&(member, ..)| member).collect();
    let distances = 1..members.len();
    let pairs = distances
        .flat_map(|distance| members.windows(distance + 1).map(|all| vec![all[0], all[all.len() - 1]]));
    let pairs: Vec<Vec<usize>> = pairs.take(MOST_PAIRS).collect();
    let found = experiment.first_failure_without(&reduction.configuration, pairs)?;
    Ok(found.map(|winner| winner.configuration))
}
