//! Reduce by halves: chunks that cannot be left out are cut in two, down to single members.
//!
//! Source: the complements of ddmin (AADEBUG 2000, Figure 1), without the tests whose outcome follows from earlier ones
//! wherever less of what fails does not make up for what is missing (there called monotony).

use std::ops::Range;

use super::prune;
use crate::configuration::Configuration;
use crate::experiment::Experiment;
use crate::level::Level;
use crate::reduction::Reduction;
use crate::stop::Stop;

/// Reduces `start`, which is known to fail, to a minimal configuration.
///
/// Tries to leave out one half, the later one first, and then the other; then both halves of each half that had to stay;
/// and so on. Where one half of a chunk that had to stay is gone, the other half is not tried: the chunk as a whole was,
/// and what it lacked then is lacking now. That need not be so, and so members that stand alone are tried as
/// [`prune()`](super::prune()) does it, until no single one can be left out: 1-minimal.
///
/// Takes fewer tests than [`sweep()`](super::sweep()), and knows no groups: for circumstances of which few are needed and
/// neighbours belong together, such as the bytes of a text.
pub fn halve<V: Clone, E>(experiment: &mut Experiment<'_, V, E>, start: Configuration) -> Reduction<V, E> {
    let mut smallest = experiment.normalise(&start);
    let searched = search(experiment, &mut smallest);
    Reduction::conclude(experiment, smallest, searched)
}

fn search<V: Clone, E>(
    experiment: &mut Experiment<'_, V, E>,
    smallest: &mut Configuration,
) -> Result<Level, Stop<E>> {
    let mut halves = Halves::of(smallest);
    while halves.cut(smallest) {
        halves.pass(experiment, smallest)?;
    }
    prune::passes(experiment, smallest)
}

/// Chunks of the members that were selected at the beginning, in their order.
struct Halves {
    members: Vec<usize>,
    chunks: Vec<Chunk>,
}

/// A chunk of members.
struct Chunk {
    /// Their places in the order of all members.
    places: Range<usize>,
    /// True if it need not be tried.
    must_stay: bool,
}

impl Halves {
    /// All members in one chunk, which is known to be needed.
    fn of(configuration: &Configuration) -> Halves {
        let members: Vec<usize> = configuration.iter().collect();
        let chunks = vec![Chunk { places: 0..members.len(), must_stay: true }];
        Halves { members, chunks }
    }

    /// Cuts each chunk in two, as far as its members are still there; false if all have one member at most.
    fn cut(&mut self, smallest: &Configuration) -> bool {
        let mut is_cut = false;
        let mut halves = Vec::with_capacity(2 * self.chunks.len());
        for Chunk { places, .. } in self.chunks.drain(..) {
            if !self.members[places.clone()].iter().any(|&member| smallest.contains(member)) {
                continue;
            }
            let middle = places.start + places.len().div_ceil(2);
            let is_single = middle == places.end;
            is_cut |= !is_single;
            halves.push(Chunk { places: places.start..middle, must_stay: is_single });
            halves.push(Chunk { places: middle..places.end, must_stay: is_single });
        }
        self.chunks = halves;
        is_cut
    }

    /// Tries to leave out each chunk, the last one first. After a success the pass goes on from the same place.
    fn pass<V: Clone, E>(
        &mut self,
        experiment: &mut Experiment<'_, V, E>,
        smallest: &mut Configuration,
    ) -> Result<(), Stop<E>> {
        let mut before = self.chunks.len();
        loop {
            let mut tried = Vec::new();
            let due = (0..before).rev().filter(|&number| !self.chunks[number].must_stay);
            let left_out = due.inspect(|&number| tried.push(number));
            let left_out = left_out.map(|number| self.selected(number, smallest));
            let Some(winner) = experiment.first_failure_without(smallest, left_out)? else { return Ok(()) };
            before = tried[winner.position];
            *smallest = winner.configuration;
            // The first half of the same chunk, if this is the second one.
            if before % 2 == 1 {
                self.chunks[before - 1].must_stay = true;
            }
        }
    }

    /// The members of a chunk that are still there.
    fn selected(&self, number: usize, smallest: &Configuration) -> Vec<usize> {
        let members = &self.members[self.chunks[number].places.clone()];
        members.iter().copied().filter(|&member| smallest.contains(member)).collect()
    }
}
