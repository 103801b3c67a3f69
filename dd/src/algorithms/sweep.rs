//! The algorithm sweep: reduces by leaving out groups and chunks, from the end to the beginning.
//!
//! Tests complements only. Like ddmin it ends with a 1-minimal configuration, but where the needed
//! circumstances are spread (an event in each iteration of a loop) it does not turn quadratic.
//!
//! Source: the complements of ddmin (AADEBUG 2000, Figure 1) without its restarts.

use std::collections::HashSet;
use std::iter;

use crate::configuration::Configuration;
use crate::experiment::Experiment;
use crate::groups::{Grouping, Partition};
use crate::level::Level;
use crate::reduction::Reduction;
use crate::stop::Stop;

/// The least size of a group that is tried as a whole; smaller ones are left to the chunks: they bring too little.
const LEAST_GROUP: usize = 8;

/// The largest size of a chunk after whose omission the groups of its first member are tried.
const SMALL_CHUNK: usize = 4;

/// The share of a configuration, one in so many members, that a group must hold to be worth a test of its own.
const GROUPS: usize = 5000;

/// Reduces `start`, which is known to fail, to a minimal configuration.
///
/// *Groups first.* Where the space has groups ([`Space::levels`](crate::Space::levels)), each is tried as a
/// whole, in classes of size, the largest first: all executions of a statement in a loop go in one test,
/// where chunks of time remove nothing.
///
/// *Then chunks.* A pass cuts the configuration into chunks and tries to leave out each, the last one first: a
/// late circumstance is seldom needed by an early one. After a success the pass *goes on* from the
/// same place with what is left, instead of starting over: the chunks after it have had their turn.
/// The first pass has chunks of half the size (that not all can go, the caller has tested), each
/// further one chunks half as large. Where a small chunk can be left out, the groups of its members are tried
/// again: what has kept them is gone, perhaps. When a pass with chunks of one member has no success, no
/// single member can be left out and the search is over: 1-minimal.
///
/// *Or groups at last.* Before each pass the observer is asked whether it is worth while
/// ([`Observer::goes_finer`](crate::Observer::goes_finer)). If not, the search shows instead that no group can
/// be left out as a whole, level by level as far as that is worth while, and ends there.
pub fn sweep<V: Clone, E>(experiment: &mut Experiment<'_, V, E>, start: Configuration) -> Reduction<V, E> {
    let mut smallest = experiment.normalise(&start);
    let searched = passes(experiment, &mut smallest);
    Reduction::conclude(experiment, smallest, searched)
}

/// The passes of [`sweep`]; the level of which the result is minimal.
pub(super) fn passes<V: Clone, E>(
    experiment: &mut Experiment<'_, V, E>,
    smallest: &mut Configuration,
) -> Result<Level, Stop<E>> {
    let levels = experiment.space().levels();
    let partitions: Vec<&Partition> = levels.iter().flat_map(|level| &level.partitions).collect();
    groups_by_size(experiment, smallest, &partitions)?;
    let mut kin = RelatedGroups::new(&partitions);
    let mut chunk = smallest.len().div_ceil(2).max(1);
    loop {
        let before = smallest.len();
        if !levels.is_empty() && !experiment.goes_finer(Level::Members, before.div_ceil(chunk) as u64) {
            return minimal_by_groups(experiment, smallest, levels);
        }
        pass(experiment, smallest, chunk, &mut kin)?;
        if chunk == 1 && smallest.len() == before {
            return Ok(Level::Members);
        }
        chunk = (chunk / 2).max(1);
    }
}

/// Makes one pass through `smallest`, from the end to the beginning.
///
/// The place is a circumstance, not an index: when a member goes, others may go along, wherever
/// they stand. All chunks before the place are offered at once, on the bet that none of them can be
/// left out, so that several can be tested at a time.
fn pass<V: Clone, E>(
    experiment: &mut Experiment<'_, V, E>,
    smallest: &mut Configuration,
    chunk: usize,
    kin: &mut RelatedGroups<'_>,
) -> Result<(), Stop<E>> {
    kin.begin_pass();
    let mut place = smallest.universe();
    loop {
        let mut begins = Vec::new();
        let chunks = chunks_before(smallest, place, chunk).inspect(|chunk| begins.push(chunk[0]));
        let Some(winner) = experiment.first_failure_without(smallest, chunks)? else {
            return Ok(());
        };
        place = begins[winner.position];
        *smallest = winner.configuration;
        if chunk <= SMALL_CHUNK {
            kin.follow(experiment, smallest, place)?;
        }
    }
}

/// The groups of those that have been left out: where one execution of a statement goes, all may.
struct RelatedGroups<'s> {
    partitions: &'s [&'s Partition],
    /// The group of each circumstance, in each partition. Made at the first use.
    numbers: Vec<Vec<u32>>,
    /// The groups that were tried in this pass, by partition.
    tried: Vec<HashSet<u32>>,
}

impl<'s> RelatedGroups<'s> {
    fn new(partitions: &'s [&'s Partition]) -> RelatedGroups<'s> {
        RelatedGroups { partitions, numbers: Vec::new(), tried: vec![HashSet::new(); partitions.len()] }
    }

    fn begin_pass(&mut self) {
        self.tried.iter_mut().for_each(HashSet::clear);
    }

    /// Tries to leave out the groups of a circumstance, each once in a pass.
    fn follow<V: Clone, E>(
        &mut self,
        experiment: &mut Experiment<'_, V, E>,
        smallest: &mut Configuration,
        gone: usize,
    ) -> Result<(), Stop<E>> {
        if self.numbers.is_empty() {
            self.numbers = self.partitions.iter().map(|partition| partition.numbers()).collect();
        }
        for ((partition, numbers), tried) in self.partitions.iter().zip(&self.numbers).zip(&mut self.tried) {
            if !tried.insert(numbers[gone]) {
                continue;
            }
            let members = partition.selected(numbers[gone] as usize, smallest);
            if members.len() < LEAST_GROUP {
                continue;
            }
            if let Some(winner) = experiment.first_failure_without(smallest, [members])? {
                *smallest = winner.configuration;
            }
        }
        Ok(())
    }
}

/// Cuts the members before a place into chunks, the last one first; each in ascending order. A chunk is
/// cut when it is asked for, because after a success the rest is not.
pub(super) fn chunks_before(
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

/// Tries each large group as a whole, once, in classes of size: groups of 2^k members and more before those
/// of fewer.
fn groups_by_size<V: Clone, E>(
    experiment: &mut Experiment<'_, V, E>,
    smallest: &mut Configuration,
    partitions: &[&Partition],
) -> Result<(), Stop<E>> {
    let mut tried: Vec<Vec<bool>> = partitions.iter().map(|partition| vec![false; partition.len()]).collect();
    let least = LEAST_GROUP.max(smallest.len() / GROUPS);
    let mut size = smallest.len().checked_ilog2().map_or(0, |log| 1 << log);
    while size > 0 && 2 * size > least {
        for (partition, tried) in partitions.iter().zip(&mut tried) {
            let is_due = |group: usize, members: &[usize]| {
                members.len() >= size.max(least) && !std::mem::replace(&mut tried[group], true)
            };
            groups(experiment, smallest, partition, is_due)?;
        }
        size /= 2;
    }
    Ok(())
}

/// Makes one pass through the groups that are due, the last one first, and tries to leave out each as a whole.
/// `is_due` is asked for each group, with its selected members.
fn groups<V: Clone, E>(
    experiment: &mut Experiment<'_, V, E>,
    smallest: &mut Configuration,
    partition: &Partition,
    mut is_due: impl FnMut(usize, &[usize]) -> bool,
) -> Result<(), Stop<E>> {
    let mut place = partition.len();
    loop {
        let mut numbers = Vec::new();
        let due = (0..place).rev().filter_map(|group| {
            let members = partition.selected(group, smallest);
            (!members.is_empty() && is_due(group, &members)).then(|| {
                numbers.push(group);
                members
            })
        });
        let Some(winner) = experiment.first_failure_without(smallest, due)? else {
            return Ok(());
        };
        place = numbers[winner.position];
        *smallest = winner.configuration;
    }
}

/// Leaves out groups until none can be left out as a whole, level by level.
fn minimal_by_groups<V: Clone, E>(
    experiment: &mut Experiment<'_, V, E>,
    smallest: &mut Configuration,
    levels: &[Grouping],
) -> Result<Level, Stop<E>> {
    for (number, level) in levels.iter().enumerate() {
        let tests = |partition: &Partition| {
            (0..partition.len()).filter(|&group| !partition.selected(group, smallest).is_empty()).count()
        };
        let tests: usize = level.partitions.iter().map(tests).sum();
        if number > 0 && !experiment.goes_finer(Level::Groups(number), tests as u64) {
            return Ok(Level::Groups(number - 1));
        }
        loop {
            let before = smallest.len();
            for partition in &level.partitions {
                groups(experiment, smallest, partition, |_, _| true)?;
            }
            if smallest.len() == before {
                break;
            }
        }
    }
    Ok(Level::Groups(levels.len() - 1))
}
