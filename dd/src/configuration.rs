//! Configurations: sets of circumstances.
//!
//! Does not know what a circumstance is, nor whether a set of them can be executed.

use fixedbitset::{Block, FixedBitSet};
use std::fmt;
use std::ops::Range;

/// The number of circumstances in one block of the bit set.
const WIDTH: usize = Block::BITS as usize;

/// A set of circumstances out of the universe `0..n`: those that are *selected*, the others are
/// left out.
// The fingerprint follows from the members, so that the derived comparisons are those of sets.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Configuration {
    members: FixedBitSet,
    fingerprint: u128,
}

impl Configuration {
    /// Returns the configuration that selects all of `0..universe`.
    pub fn full(universe: usize) -> Self {
        let mut members = FixedBitSet::with_capacity(universe);
        members.insert_range(..);
        Configuration::of(members)
    }

    /// Returns the configuration that selects none of `0..universe`.
    pub fn empty(universe: usize) -> Self {
        Configuration::of(FixedBitSet::with_capacity(universe))
    }

    /// Returns the configuration that selects `members` of `0..universe`.
    ///
    /// # Panics
    /// If a member lies outside the universe.
    pub fn from_iter(universe: usize, members: impl IntoIterator<Item = usize>) -> Self {
        let mut selected = FixedBitSet::with_capacity(universe);
        for member in members {
            selected.insert(member);
        }
        Configuration::of(selected)
    }

    fn of(members: FixedBitSet) -> Self {
        let blocks = 0..members.as_slice().len();
        let fingerprint = mix(usize::MAX, members.len()) ^ mix_all(&members, blocks);
        Configuration { members, fingerprint }
    }

    /// Returns the number of selected circumstances.
    pub fn len(&self) -> usize {
        self.members.count_ones(..)
    }

    /// Says whether no circumstance is selected.
    pub fn is_empty(&self) -> bool {
        self.members.is_clear()
    }

    /// Returns the number of circumstances there are, selected or not.
    pub fn universe(&self) -> usize {
        self.members.len()
    }

    /// Says whether `circumstance` is selected.
    pub fn contains(&self, circumstance: usize) -> bool {
        self.members.contains(circumstance)
    }

    /// Returns the selected circumstances in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.members.ones()
    }

    /// Returns the selected circumstances before `place` in descending order.
    ///
    /// # Panics
    /// If the place lies outside the universe; its end is still inside.
    pub fn before(&self, place: usize) -> impl Iterator<Item = usize> + '_ {
        let blocks = self.members.as_slice()[..place.div_ceil(WIDTH)].iter().enumerate().rev();
        blocks
            .flat_map(|(number, &block)| descending(number, block))
            .skip_while(move |&member| member >= place)
    }

    /// Returns the first circumstance among a range that is selected here, but not in `other`.
    ///
    /// # Panics
    /// If the range reaches out of the universe.
    pub fn first_outside(&self, other: &Configuration, among: Range<usize>) -> Option<usize> {
        let (here, there) = (self.members.as_slice(), other.members.as_slice());
        let mut from_start = Block::MAX << (among.start % WIDTH);
        for number in among.start / WIDTH..among.end.div_ceil(WIDTH) {
            let block = here[number] & !there[number] & from_start;
            if block != 0 {
                let found = number * WIDTH + block.trailing_zeros() as usize;
                return (found < among.end).then_some(found);
            }
            from_start = Block::MAX;
        }
        None
    }

    /// Says whether everything selected here is selected in `other` too.
    pub fn is_subset(&self, other: &Configuration) -> bool {
        self.members.is_subset(&other.members)
    }

    /// Selects `circumstance`.
    ///
    /// # Panics
    /// If it lies outside the universe.
    pub fn insert(&mut self, circumstance: usize) {
        self.change(circumstance..circumstance + 1, |members| members.insert(circumstance));
    }

    /// Selects what is selected in `other`, too.
    pub fn insert_all(&mut self, other: &Configuration) {
        self.change(0..self.universe(), |members| members.union_with(&other.members));
    }

    /// Leaves out a range of circumstances.
    ///
    /// # Panics
    /// If it reaches out of the universe.
    pub fn leave_out(&mut self, circumstances: Range<usize>) {
        if self.members.contains_any_in_range(circumstances.clone()) {
            self.change(circumstances.clone(), |members| members.remove_range(circumstances));
        }
    }

    /// Returns this configuration with the given circumstances left out.
    ///
    /// # Panics
    /// If one of them lies outside the universe.
    pub fn without(&self, circumstances: &[usize]) -> Self {
        let mut rest = self.clone();
        for &circumstance in circumstances {
            rest.leave_out(circumstance..circumstance + 1);
        }
        rest
    }

    /// Returns a number that stands for this set: equal sets have equal fingerprints in every run
    /// of the program, and two different ones meet by chance about once in 2^64 sets.
    ///
    /// It is kept up to date with each change, at the cost of what changes.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    /// Changes the members within a range, and the fingerprint with them.
    fn change(&mut self, circumstances: Range<usize>, edit: impl FnOnce(&mut FixedBitSet)) {
        let blocks = circumstances.start / WIDTH..circumstances.end.div_ceil(WIDTH);
        self.fingerprint ^= mix_all(&self.members, blocks.clone());
        edit(&mut self.members);
        self.fingerprint ^= mix_all(&self.members, blocks);
    }
}

/// The members in a block of the bit set, the last one first.
fn descending(number: usize, mut block: Block) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = block.checked_ilog2()? as usize;
        block ^= 1 << bit;
        Some(number * WIDTH + bit)
    })
}

/// The contribution of these blocks to the fingerprint: each its own part, so that a change is as dear as what it
/// changes.
fn mix_all(members: &FixedBitSet, blocks: Range<usize>) -> u128 {
    let part = |number: usize| mix(number, members.as_slice()[number]);
    blocks.map(part).fold(0, |sum, part| sum ^ part)
}

/// A number that looks random for each block and place, and is never the same for two of them: multiply
/// and fold, as in the last step of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014), with twice the width.
fn mix(number: usize, block: Block) -> u128 {
    // Odd, and without a pattern.
    const FIRST: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
    const SECOND: u128 = 0xaade_c8c3_1863_4528_2b4e_141f_3e82_32d5;
    let apart = (number as u128) << 64 | block as u128;
    let once = fold(apart.wrapping_add(FIRST)).wrapping_mul(FIRST);
    fold(fold(once).wrapping_mul(SECOND))
}

/// Carries the high half into the low one, where a product carries nothing; it can be undone.
fn fold(number: u128) -> u128 {
    number ^ number >> 64
}

/// Shows the members alone, `{1, 4}`.
impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_ascending_order() {
        let configuration = Configuration::from_iter(200, [150, 3, 64, 3]);
        assert_eq!(configuration.iter().collect::<Vec<_>>(), [3, 64, 150]);
        assert_eq!(format!("{configuration:?}"), "{3, 64, 150}");
        assert_eq!((configuration.len(), configuration.universe()), (3, 200));
    }

    #[test]
    fn leaving_out_what_is_not_there_changes_nothing() {
        let configuration = Configuration::from_iter(5, [1, 3]);
        assert_eq!(configuration.without(&[0, 4]), configuration);
        assert_eq!(configuration.without(&[0, 1]), Configuration::from_iter(5, [3]));
    }

    #[test]
    fn every_set_lies_between_the_empty_and_the_full_one() {
        for universe in [0, 1, 63, 64, 65, 128, 300] {
            let (empty, full) = (Configuration::empty(universe), Configuration::full(universe));
            let some = Configuration::from_iter(universe, (0..universe).step_by(3));
            assert!(empty.is_subset(&some) && some.is_subset(&full) && empty.is_empty());
            assert_eq!(full.is_subset(&some), universe <= 1);
            assert_eq!(full.len(), universe);
        }
    }

    #[test]
    fn members_before_a_place_come_in_descending_order() {
        let configuration = Configuration::from_iter(200, [3, 63, 64, 150, 199]);
        let before = |place| configuration.before(place).collect::<Vec<_>>();
        assert_eq!(before(200), [199, 150, 64, 63, 3]);
        assert_eq!((before(150), before(64), before(63)), (vec![64, 63, 3], vec![63, 3], vec![3]));
        assert!(before(3).is_empty() && before(0).is_empty());
    }

    #[test]
    fn what_is_outside_of_another_set_is_found_in_any_range() {
        let one = Configuration::from_iter(200, [3, 63, 64, 150]);
        let other = Configuration::from_iter(200, [63, 70, 199]);
        let found = [0, 3, 4, 64, 65, 151, 199].map(|place| one.first_outside(&other, place..200));
        assert_eq!(found, [Some(3), Some(3), Some(64), Some(64), Some(150), None, None]);
        let found = [0..3, 0..4, 3..3, 4..64, 4..65, 65..150].map(|range| one.first_outside(&other, range));
        assert_eq!(found, [None, Some(3), None, None, Some(64), None]);
        assert_eq!(one.first_outside(&one, 0..200), None);
        assert_eq!(Configuration::full(0).first_outside(&Configuration::empty(0), 0..0), None);
    }

    #[test]
    fn a_fingerprint_tells_sets_and_universes_apart() {
        let one = Configuration::from_iter(10, [1]).fingerprint();
        assert_ne!(one, Configuration::from_iter(10, [2]).fingerprint());
        assert_ne!(one, Configuration::from_iter(11, [1]).fingerprint());
        assert_ne!(Configuration::empty(64).fingerprint(), Configuration::empty(65).fingerprint());
    }

    #[test]
    fn a_fingerprint_depends_on_the_members_alone_not_on_how_they_came_about() {
        let wanted = Configuration::from_iter(300, [1, 64, 130, 299]);
        let mut inserted = Configuration::empty(300);
        [299, 1, 130, 64].into_iter().for_each(|member| inserted.insert(member));
        let mut rest = Configuration::full(300);
        [0..1, 2..64, 65..130, 131..299, 200..280].into_iter().for_each(|gap| rest.leave_out(gap));
        let mut united = Configuration::from_iter(300, [1, 130]);
        united.insert_all(&Configuration::from_iter(300, [64, 130, 299]));
        let single = Configuration::from_iter(300, [1, 2, 64, 130, 299]).without(&[2, 3]);
        for other in [inserted, rest, united, single] {
            assert_eq!(other, wanted);
            assert_eq!(other.fingerprint(), wanted.fingerprint());
        }
        // The same in every run of the program.
        assert_eq!(wanted.fingerprint(), 78_292_193_736_904_821_655_646_613_165_888_317_631);
    }

    #[test]
    fn fingerprints_of_similar_sets_do_not_meet_more_often_than_chance_lets_them() {
        // All sets of 16 neighbours across a border of blocks. Of 2^16 random numbers of 32 bits, half a
        // pair is equal.
        let fingerprint = |set: usize| {
            let members = (0..16).filter(|bit| set >> bit & 1 == 1).map(|bit| 56 + bit);
            Configuration::from_iter(128, members).fingerprint()
        };
        let fingerprints: Vec<u128> = (0..1 << 16).map(fingerprint).collect();
        for quarter in [0, 32, 64, 96] {
            let mut parts: Vec<u32> = fingerprints.iter().map(|whole| (whole >> quarter) as u32).collect();
            parts.sort_unstable();
            let equal = parts.windows(2).filter(|pair| pair[0] == pair[1]).count();
            assert!(equal < 6, "{equal} pairs in the bits from {quarter} on");
        }
    }
}
