//! Reduce by leaving out chunks, from the end to the beginning.
//!
//! Tests complements only. Like ddmin it ends with a 1-minimal configuration, but where the needed
//! circumstances are spread (an event in each iteration of a loop) it does not turn quadratic.
//!
//! Source: the complements of ddmin (AADEBUG 2000, Figure 1) without its restarts.

use super::configuration::Configuration;
use super::experiment::Experiment;
use super::reduction::{Reduction, ReductionOf};
use super::stop::Stop;
use super::test_function::TestFunction;
use std::iter;

/// Reduces `start`, which is known to fail, to a 1-minimal configuration.
///
/// A pass cuts the configuration into chunks and tries to leave out each, the last one first: a
/// late circumstance is seldom needed by an early one. After a success the pass *goes on* from the
/// same place with what is left, instead of starting over: the chunks behind have had their turn.
/// The first pass has chunks of half the size (that not all can go, the caller has tested), each
/// further one chunks half as large. When a pass with chunks of one member has no success, no
/// single member can be left out and the search is over.
pub fn sweep<T: TestFunction>(experiment: &mut Experiment<'_, T>, start: Configuration) -> ReductionOf<T> {
    let mut smallest = experiment.normalise(&start);
    let searched = passes(experiment, &mut smallest);
    Reduction::conclude(experiment, smallest, searched)
}

fn passes<T: TestFunction>(
    experiment: &mut Experiment<'_, T>,
    smallest: &mut Configuration,
) -> Result<(), Stop<T::Error>> {
    let mut chunk = smallest.len().div_ceil(2).max(1);
    loop {
        let before = smallest.len();
        pass(experiment, smallest, chunk)?;
        if chunk == 1 && smallest.len() == before {
            return Ok(());
        }
        chunk = (chunk / 2).max(1);
    }
}

/// Goes once through `smallest`, from the end to the beginning.
///
/// The place is a circumstance, not an index: when a member goes, others may go along, wherever
/// they stand. All chunks before the place are offered at once, on the bet that none of them can be
/// left out, so that several can be tested at a time.
fn pass<T: TestFunction>(
    experiment: &mut Experiment<'_, T>,
    smallest: &mut Configuration,
    chunk: usize,
) -> Result<(), Stop<T::Error>> {
    let mut place = smallest.universe();
    loop {
        let mut begins = Vec::new();
        let chunks = chunks_before(smallest, place, chunk).inspect(|chunk| begins.push(chunk[0]));
        let Some(winner) = experiment.first_failure_without(smallest, chunks)? else {
            return Ok(());
        };
        place = begins[winner.position];
        *smallest = winner.configuration;
    }
}

/// Cuts the members before a place into chunks, the last one first; each in ascending order. A chunk is
/// cut when it is asked for, because after a success the rest is not.
fn chunks_before(
    configuration: &Configuration,
    place: usize,
    size: usize,
) -> impl Iterator<Item = Vec<usize>> {
    let mut ahead = configuration.before(place);
    iter::from_fn(move || {
        let mut chunk: Vec<usize> = ahead.by_ref().take(size).collect();
        chunk.reverse();
        (!chunk.is_empty()).then_some(chunk)
    })
}
