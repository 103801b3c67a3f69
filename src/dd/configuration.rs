//! Represent a set of circumstances.
//!
//! Does not know what a circumstance is, nor whether a set of them can be executed.

use fixedbitset::FixedBitSet;
use siphasher::sip128::{Hasher128, SipHasher24};
use std::fmt;
use std::hash::Hasher;

/// A set of circumstances out of the universe `0..n`: those that are *selected*, the others are
/// left out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Configuration(FixedBitSet);

impl Configuration {
    /// Returns the configuration that selects all of `0..universe`.
    pub fn full(universe: usize) -> Self {
        let mut members = FixedBitSet::with_capacity(universe);
        members.insert_range(..);
        Configuration(members)
    }

    /// Returns the configuration that selects none of `0..universe`.
    pub fn empty(universe: usize) -> Self {
        Configuration(FixedBitSet::with_capacity(universe))
    }

    /// Returns the configuration that selects `members` of `0..universe`.
    ///
    /// # Panics
    /// If a member lies outside the universe.
    pub fn from_iter(universe: usize, members: impl IntoIterator<Item = usize>) -> Self {
        let mut configuration = Configuration::empty(universe);
        for member in members {
            configuration.insert(member);
        }
        configuration
    }

    /// Returns the number of selected circumstances.
    pub fn len(&self) -> usize {
        self.0.count_ones(..)
    }

    /// Says whether no circumstance is selected.
    pub fn is_empty(&self) -> bool {
        self.0.is_clear()
    }

    /// Returns the number of circumstances there are, selected or not.
    pub fn universe(&self) -> usize {
        self.0.len()
    }

    /// Says whether `circumstance` is selected.
    pub fn contains(&self, circumstance: usize) -> bool {
        self.0.contains(circumstance)
    }

    /// Selects `circumstance`.
    ///
    /// # Panics
    /// If it lies outside the universe.
    pub fn insert(&mut self, circumstance: usize) {
        self.0.insert(circumstance);
    }

    /// Returns the selected circumstances in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.ones()
    }

    /// Returns this configuration with the given circumstances left out.
    ///
    /// # Panics
    /// If one of them lies outside the universe.
    pub fn without(&self, circumstances: &[usize]) -> Self {
        let mut members = self.0.clone();
        for &circumstance in circumstances {
            members.remove(circumstance);
        }
        Configuration(members)
    }

    /// Says whether everything selected here is selected in `other` too.
    pub fn is_subset(&self, other: &Configuration) -> bool {
        self.0.is_subset(&other.0)
    }

    /// Returns a number that stands for this set: equal sets have equal fingerprints in every run
    /// of the program, and two different ones meet by chance about once in 2^64 sets.
    pub fn fingerprint(&self) -> u128 {
        let mut hasher = SipHasher24::new_with_keys(0, 0);
        hasher.write_usize(self.universe());
        for &block in self.0.as_slice() {
            hasher.write_usize(block);
        }
        hasher.finish128().as_u128()
    }
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
    fn a_fingerprint_tells_sets_and_universes_apart_and_stays_the_same() {
        let one = Configuration::from_iter(10, [1]).fingerprint();
        assert_eq!(one, Configuration::full(10).without(&[0, 2, 3, 4, 5, 6, 7, 8, 9]).fingerprint());
        assert_ne!(one, Configuration::from_iter(10, [2]).fingerprint());
        assert_ne!(one, Configuration::from_iter(11, [1]).fingerprint());
    }
}
