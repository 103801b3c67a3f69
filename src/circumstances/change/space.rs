//! Number changes, and group those that go together: those of a directory, of a file, of a function, and those that
//! mention the same new names.
//!
//! Source: ESEC/FSE 1999, section 8: groups by location, syntax and common identifiers keep subsets consistent.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use dd::{Configuration, Grouping, Partition, Space};

use super::difference::{Change, ChangeEdit, ChangeSet, ChangedFile};
use super::text::words;

/// A criterion by which changes are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeGroup {
    /// Directories.
    Directories,
    /// Files.
    Files,
    /// Functions.
    Functions,
    /// Names that the changes introduce or take away.
    Identifiers,
}

/// The space of changes, with their dependences and groups.
#[derive(Clone, Debug)]
pub struct ChangeSpace {
    needs: Vec<Option<usize>>,
    levels: Vec<Grouping>,
}

impl ChangeSpace {
    /// Creates the space of a set's changes, in the order of [`ordered`], with groups by all of `groups`.
    pub fn new(set: &ChangeSet, groups: &[ChangeGroup]) -> ChangeSpace {
        let needs = set.changes.iter().map(|change| change.needs).collect();
        let level =
            |group: &ChangeGroup| Grouping { name: group.names(), partitions: partitions(set, *group) };
        ChangeSpace { needs, levels: groups.iter().map(level).collect() }
    }
}

impl ChangeGroup {
    /// All criteria, the coarsest first.
    pub const ALL: [ChangeGroup; 4] =
        [ChangeGroup::Directories, ChangeGroup::Files, ChangeGroup::Functions, ChangeGroup::Identifiers];

    /// The name of its groups, in the plural.
    pub fn names(self) -> &'static str {
        match self {
            ChangeGroup::Directories => "directories",
            ChangeGroup::Files => "files",
            ChangeGroup::Functions => "functions",
            ChangeGroup::Identifiers => "identifiers",
        }
    }
}

impl Space for ChangeSpace {
    fn len(&self) -> usize {
        self.needs.len()
    }

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        let is_held = |mut member: usize| loop {
            match self.needs[member] {
                Some(needed) if !configuration.contains(needed) => return false,
                Some(needed) => member = needed,
                None => return true,
            }
        };
        if self.needs.iter().all(Option::is_none) {
            return configuration.clone();
        }
        Configuration::from_iter(self.len(), configuration.iter().filter(|&member| is_held(member)))
    }

    fn levels(&self) -> &[Grouping] {
        &self.levels
    }
}

/// The files of a change.
fn file<'s>(set: &'s ChangeSet, change: &Change) -> &'s ChangedFile {
    &set.files[change.edits[0].0]
}

fn partitions(set: &ChangeSet, group: ChangeGroup) -> Vec<Partition> {
    let by = |key: &dyn Fn(&Change) -> (PathBuf, Option<String>)| {
        Partition::by_key(&set.changes.iter().map(key).collect::<Vec<_>>())
    };
    let path = |change: &Change| file(set, change).path.clone();
    let folder = |change: &Change| path(change).parent().unwrap_or(Path::new("")).to_owned();
    match group {
        ChangeGroup::Directories => {
            let deepest = set.changes.iter().map(|change| folder(change).components().count()).max();
            let above =
                |depth: usize| by(&|change| (folder(change).components().take(depth).collect(), None));
            (1..=deepest.unwrap_or(0)).map(above).collect()
        }
        ChangeGroup::Files => vec![by(&|change| (path(change), None))],
        ChangeGroup::Functions => vec![by(&|change| (path(change), change.function.clone()))],
        ChangeGroup::Identifiers => vec![Partition::by_key(&clusters(set))],
    }
}

/// Orders the changes as they are numbered: by directory, file and place; those that share a new name next to each
/// other, if they are to be grouped by that.
pub fn ordered(set: ChangeSet, groups: &[ChangeGroup]) -> ChangeSet {
    if !groups.contains(&ChangeGroup::Identifiers) {
        return set;
    }
    let clusters = clusters(&set);
    let mut order: Vec<usize> = (0..set.changes.len()).collect();
    order.sort_by_key(|&number| (clusters[number], number));
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &number)| places[number] = place);
    let changes = order.iter().map(|&number| {
        let change = set.changes[number].clone();
        Change { needs: change.needs.map(|needed| places[needed]), ..change }
    });
    ChangeSet { changes: changes.collect(), files: set.files.clone() }
}

/// The text that an edit removes, and the one that it adds.
pub(super) fn texts<'s>(set: &'s ChangeSet, file: usize, edit: &ChangeEdit) -> [&'s [u8]; 2] {
    let file = &set.files[file];
    match (edit, &file.texts) {
        (ChangeEdit::Lines(before, after), Some((old, new))) => {
            [old.lines(before.clone()), new.lines(after.clone())]
        }
        (ChangeEdit::Whole, Some((old, new))) => [old.lines(0..old.len()), new.lines(0..new.len())],
        _ => [&[], &[]],
    }
}

/// The cluster of each change: the first change that it is connected with by names which the changes introduce or
/// remove, as a function with its declaration and its calls.
fn clusters(set: &ChangeSet) -> Vec<usize> {
    let (mut old, mut new) = (BTreeSet::new(), BTreeSet::new());
    for (before, after) in set.files.iter().filter_map(|file| file.texts.as_ref()) {
        old.extend(words(before.lines(0..before.len())));
        new.extend(words(after.lines(0..after.len())));
    }
    let mut first: Vec<usize> = (0..set.changes.len()).collect();
    let mut known: BTreeMap<&[u8], usize> = BTreeMap::new();
    for (number, change) in set.changes.iter().enumerate() {
        for (file, edit) in &change.edits {
            for word in texts(set, *file, edit).into_iter().flat_map(words) {
                if old.contains(word) == new.contains(word) {
                    continue;
                }
                let other = *known.entry(word).or_insert(number);
                let (one, other) = (root(&mut first, number), root(&mut first, other));
                first[one.max(other)] = one.min(other);
            }
        }
    }
    (0..set.changes.len()).map(|number| root(&mut first, number)).collect()
}

/// The representative of a change's cluster (union-find, with path halving).
fn root(first: &mut [usize], mut number: usize) -> usize {
    while first[number] != number {
        first[number] = first[first[number]];
        number = first[number];
    }
    number
}

#[cfg(test)]
mod tests {
    use super::super::difference::Separation;
    use super::super::tree::Tree;
    use super::*;

    #[test]
    fn a_declaration_stands_beside_its_uses_and_they_are_a_group() {
        let old =
            Tree::of_texts(&[("a/x.h", "int f(void);\n"), ("b/y.c", "int y;\n"), ("c/z.c", "int z;\n")]);
        let new = Tree::of_texts(&[
            ("a/x.h", "int added(void);\n"),
            ("b/y.c", "int yy = 1;\n"),
            ("c/z.c", "int z = added();\n"),
        ]);
        let set = ChangeSet::between(&old, &new, Separation(2)).expect("in memory");
        let set = ordered(set, &ChangeGroup::ALL);
        let paths: Vec<&Path> = set.changes.iter().map(|change| &*file(&set, change).path).collect();
        assert_eq!(paths, [Path::new("a/x.h"), Path::new("c/z.c"), Path::new("b/y.c")]);
        let space = ChangeSpace::new(&set, &ChangeGroup::ALL);
        let sizes: Vec<usize> =
            space.levels().iter().map(|level| level.partitions.last().expect("one").len()).collect();
        assert_eq!(sizes, [3, 3, 3, 2]);
    }

    #[test]
    fn what_lacks_something_that_it_needs_is_left_out() {
        let (old, new) = (Tree::of_texts(&[("d", "file")]), Tree::of_texts(&[("d/e", "1\n2\n")]));
        let set = ChangeSet::between(&old, &new, Separation(2)).expect("in memory").lines();
        let space = ChangeSpace::new(&set, &[]);
        let normal = |chosen: &[usize]| {
            space
                .normalise(&Configuration::from_iter(space.len(), chosen.iter().copied()))
                .iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(space.len(), 4);
        assert_eq!(normal(&[0, 1, 3]), [0, 1, 3]);
        assert_eq!(normal(&[1, 2, 3]), [0; 0]);
        assert_eq!(normal(&[0, 2, 3]), [0]);
    }
}
