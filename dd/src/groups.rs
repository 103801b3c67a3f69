//! Groups of circumstances that belong together, so that they are tried together.
//!
//! A partition puts each circumstance into one group: all executions of a statement, all changes of a file. A
//! search that leaves out whole groups first needs a test where single circumstances would need thousands.

use super::configuration::Configuration;

/// A way to divide the circumstances, fine or coarse, with a name for users.
#[derive(Clone, Debug)]
pub struct Grouping {
    /// The word for a group, in the plural: `statements`, `files`.
    pub name: &'static str,
    /// The partitions that make it up, the coarsest first.
    pub partitions: Vec<Partition>,
}

/// A division of the circumstances `0..n` into groups. 4 bytes for each circumstance, and 4 for each group.
#[derive(Clone, Debug)]
pub struct Partition {
    /// The circumstances, group by group, those of a group in ascending order.
    members: Vec<u32>,
    /// The positions where each group begins among them, and where the last one ends.
    borders: Vec<u32>,
}

impl Partition {
    /// Groups circumstances of equal keys; `keys` has one for each circumstance, in order. The groups come in
    /// the order of their last members.
    ///
    /// # Panics
    /// If there are 2^32 circumstances or more.
    pub fn by_key<K: Ord>(keys: &[K]) -> Partition {
        let universe = u32::try_from(keys.len()).expect("fewer than 2^32 circumstances");
        let mut members: Vec<u32> = (0..universe).collect();
        members.sort_by_key(|&member| &keys[member as usize]);
        let mut groups: Vec<&[u32]> =
            members.chunk_by(|&one, &other| keys[one as usize] == keys[other as usize]).collect();
        groups.sort_unstable_by_key(|group| group.last());
        let mut borders = vec![0];
        let mut ordered = Vec::with_capacity(members.len());
        for group in groups {
            ordered.extend_from_slice(group);
            borders.push(ordered.len() as u32);
        }
        Partition { members: ordered, borders }
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.borders.len() - 1
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The members of a group in ascending order.
    ///
    /// # Panics
    /// If there is no group of this number.
    pub fn group(&self, number: usize) -> impl Iterator<Item = usize> + '_ {
        let (first, end) = (self.borders[number] as usize, self.borders[number + 1] as usize);
        self.members[first..end].iter().map(|&member| member as usize)
    }

    /// All groups in order.
    pub fn groups(&self) -> impl Iterator<Item = impl Iterator<Item = usize> + '_> + '_ {
        (0..self.len()).map(|number| self.group(number))
    }

    /// The members of a group that are selected, in ascending order.
    pub(super) fn selected(&self, number: usize, configuration: &Configuration) -> Vec<usize> {
        self.group(number).filter(|&member| configuration.contains(member)).collect()
    }

    /// The group of each circumstance.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let mut numbers = vec![0; self.members.len()];
        for (number, group) in self.groups().enumerate() {
            group.for_each(|member| numbers[member] = number as u32);
        }
        numbers
    }
}

/// Cuts members into parts of about equal size, between groups rather than through them.
#[derive(Debug)]
pub(super) struct Splitter {
    /// The group of each circumstance, in each partition, the coarsest first.
    numbers: Vec<Vec<u32>>,
}

impl Splitter {
    pub(super) fn new(levels: &[Grouping]) -> Splitter {
        let partitions = levels.iter().flat_map(|level| &level.partitions);
        Splitter { numbers: partitions.map(Partition::numbers).collect() }
    }

    /// Cuts the members, which are in ascending order, into `parts` neighbouring parts, none of them empty. A
    /// cut moves to a border of groups, of the coarsest there is, by half the size of a part at most.
    pub(super) fn split<'m>(&self, members: &'m [usize], parts: usize) -> Vec<&'m [usize]> {
        let parts = parts.min(members.len());
        let mut cuts = vec![0];
        for part in 1..parts {
            let previous = cuts[part - 1];
            let even = part * members.len() / parts;
            let reach = members.len() / parts / 2;
            // Room is left for the parts to come.
            let lowest = (even.saturating_sub(reach)).max(previous + 1);
            let highest = (even + reach).min(members.len() - (parts - part));
            cuts.push(self.border(members, even.clamp(lowest, highest), lowest..=highest));
        }
        cuts.push(members.len());
        cuts.windows(2).map(|cut| &members[cut[0]..cut[1]]).collect()
    }

    /// The border of groups nearest to a place.
    fn border(&self, members: &[usize], place: usize, within: std::ops::RangeInclusive<usize>) -> usize {
        let borders_of = |numbers: &Vec<u32>| {
            let is_border = |&cut: &usize| numbers[members[cut - 1]] != numbers[members[cut]];
            within.clone().filter(is_border).min_by_key(|cut| cut.abs_diff(place))
        };
        self.numbers.iter().find_map(borders_of).unwrap_or(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_come_in_the_order_of_their_last_members() {
        let partition = Partition::by_key(&['b', 'a', 'b', 'c', 'a']);
        let groups: Vec<Vec<usize>> = partition.groups().map(Iterator::collect).collect();
        assert_eq!(groups, [vec![0, 2], vec![3], vec![1, 4]]);
        assert_eq!(partition.numbers(), [0, 2, 0, 1, 2]);
        assert!(Partition::by_key::<u8>(&[]).is_empty());
    }

    #[test]
    fn a_cut_keeps_groups_together_as_long_as_that_can_be() {
        let files = Partition::by_key(&[0, 0, 0, 1, 1, 2, 2, 2]);
        let level = Grouping { name: "files", partitions: vec![files] };
        let splitter = Splitter::new(&[level]);
        let all: Vec<usize> = (0..8).collect();
        assert_eq!(splitter.split(&all, 2), [&all[..3], &all[3..]]);
        assert_eq!(splitter.split(&all, 8).len(), 8);
        assert_eq!(splitter.split(&all[..3], 2), [&all[..1], &all[1..3]]);
        assert_eq!(splitter.split(&all, 4).concat(), all);
    }

    #[test]
    fn parts_are_never_empty_whatever_the_groups() {
        for seed in 1..200_usize {
            let length = 1 + seed % 37;
            let keys: Vec<usize> = (0..length).map(|member| member * seed % 101 / (1 + seed % 40)).collect();
            let splitter =
                Splitter::new(&[Grouping { name: "any", partitions: vec![Partition::by_key(&keys)] }]);
            let members: Vec<usize> = (0..length).collect();
            for parts in 1..=length {
                let split = splitter.split(&members, parts);
                assert_eq!((split.len(), split.concat()), (parts, members.clone()));
                assert!(split.iter().all(|part| !part.is_empty()));
            }
        }
    }

    #[test]
    fn without_groups_parts_differ_by_one_member_at_most() {
        for length in 1..40 {
            let members: Vec<usize> = (0..length).map(|member| 3 * member).collect();
            for parts in 1..=length {
                let split = Splitter::new(&[]).split(&members, parts);
                let sizes: Vec<usize> = split.iter().map(|part| part.len()).collect();
                assert_eq!(split.concat(), members);
                assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{sizes:?}");
            }
        }
    }
}
