//! Reduce a configuration of which most is likely to be needed, such as a guess that has failed: single members first.
//!
//! Halving, as [`sweep`](super::sweep()) does, finds large parts that are not needed. Where there are none, each of its
//! passes tells only that, in as many tests as it has chunks, and the last pass has to try each member all the same.
//!
//! If there are some after all, chunks grow while they can be left out: doubling as in the exponential search of
//! Bentley and Yao, "An almost optimal algorithm for unbounded searching", 1976.

use super::sweep;
use crate::configuration::Configuration;
use crate::experiment::Experiment;
use crate::level::Level;
use crate::reduction::Reduction;
use crate::stop::Stop;

/// Reduces `start`, which is known to fail, to a minimal configuration.
///
/// A pass tries to leave out each member, the last one first. Where two that stand beside each other could go, the next
/// two are tried together, then four, and so on; where those cannot, single ones again. After a success the pass goes on
/// from the same place. When a pass has no success, the search is over: 1-minimal.
///
/// If the observer finds so many tests not worth while ([`Observer::goes_finer`](crate::Observer::goes_finer)), it
/// goes on as [`sweep`](super::sweep()), which knows groups.
pub fn prune<V: Clone, E>(experiment: &mut Experiment<'_, V, E>, start: Configuration) -> Reduction<V, E> {
    let mut smallest = experiment.normalise(&start);
    let searched = passes(experiment, &mut smallest);
    Reduction::conclude(experiment, smallest, searched)
}

/// The passes of [`prune`]; the level of which the result is minimal.
pub(super) fn passes<V: Clone, E>(
    experiment: &mut Experiment<'_, V, E>,
    smallest: &mut Configuration,
) -> Result<Level, Stop<E>> {
    let has_groups = !experiment.space().levels().is_empty();
    loop {
        let before = smallest.len();
        if has_groups && !experiment.goes_finer(Level::Members, before as u64) {
            return sweep::passes(experiment, smallest);
        }
        pass(experiment, smallest)?;
        if smallest.len() == before {
            return Ok(Level::Members);
        }
    }
}

/// Goes once through `smallest`, from the end to the beginning.
fn pass<V: Clone, E>(
    experiment: &mut Experiment<'_, V, E>,
    smallest: &mut Configuration,
) -> Result<(), Stop<E>> {
    let mut place = smallest.universe();
    loop {
        let mut begins = Vec::new();
        let members = sweep::chunks_before(smallest, place, 1).inspect(|chunk| begins.push(chunk[0]));
        let Some(winner) = experiment.first_failure_without(smallest, members)? else {
            return Ok(());
        };
        let is_next = winner.position == 0 && place < smallest.universe();
        place = begins[winner.position];
        *smallest = winner.configuration;
        if is_next {
            place = stretch(experiment, smallest, place)?;
        }
    }
}

/// Leaves out ever larger chunks before a place, as long as that works; the place of the last one.
fn stretch<V: Clone, E>(
    experiment: &mut Experiment<'_, V, E>,
    smallest: &mut Configuration,
    mut place: usize,
) -> Result<usize, Stop<E>> {
    let mut size = 2;
    loop {
        let Some(chunk) = sweep::chunks_before(smallest, place, size).next() else { break };
        let begin = chunk[0];
        let Some(winner) = experiment.first_failure_without(smallest, [chunk])? else { break };
        (place, *smallest) = (begin, winner.configuration);
        size *= 2;
    }
    Ok(place)
}
