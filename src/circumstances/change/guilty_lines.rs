//! Say which lines of a version changes have brought: where they stand once the changes are applied.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dd::Configuration;

use super::difference::{ChangeEdit, ChangeSet};

impl ChangeSet {
    /// The lines that chosen changes have brought into each file, from 1. What they have only taken away is nowhere.
    pub fn brought_lines(&self, chosen: &Configuration) -> BTreeMap<PathBuf, Vec<usize>> {
        let mut edits: BTreeMap<usize, Vec<&ChangeEdit>> = BTreeMap::new();
        for (file, edit) in chosen.iter().flat_map(|number| &self.changes[number].edits) {
            edits.entry(*file).or_default().push(edit);
        }
        let mut brought = BTreeMap::new();
        for (number, edits) in edits {
            let file = &self.files[number];
            let has_moved = file.moved_from.is_none() || edits.contains(&&ChangeEdit::Move);
            let path = if has_moved { &file.path } else { file.moved_from.as_ref().unwrap_or(&file.path) };
            let length = file.texts.as_ref().map_or(0, |(_, new)| new.len());
            let lines = lines_of(&edits, length);
            if !lines.is_empty() {
                brought.insert(path.clone(), lines);
            }
        }
        brought
    }
}

/// The same of one file, which has this length if it is changed as a whole.
fn lines_of(edits: &[&ChangeEdit], length: usize) -> Vec<usize> {
    if edits.contains(&&ChangeEdit::Whole) {
        return (1..=length).collect();
    }
    let mut changes: Vec<_> = edits
        .iter()
        .filter_map(|edit| match edit {
            ChangeEdit::Lines(old, new) => Some((old, new)),
            _ => None,
        })
        .collect();
    changes.sort_by_key(|(old, new)| (old.start, old.end, new.start));
    // As many lines are there so far, of which the old ones end here.
    let (mut lines, mut there, mut at) = (Vec::new(), 0, 0);
    for (old, new) in changes {
        there += old.start.saturating_sub(at);
        lines.extend(there + 1..=there + new.len());
        there += new.len();
        at = at.max(old.end);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::difference::Separation;
    use super::super::tree::Tree;
    use super::*;

    #[test]
    fn the_lines_that_changes_have_brought_are_told_where_they_stand_then() {
        let old = Tree::of_texts(&[("a", "1\n2\n3\n4\n5\n6\n7\n8\n")]);
        let new = Tree::of_texts(&[("a", "x\ny\n1\n2\n3\n4\n5\nz\n7\n8\n"), ("n", "p\nq\n")]);
        let set = ChangeSet::between(&old, &new, Separation(2)).expect("in memory");
        let brought = |chosen: &[usize]| -> Vec<(String, Vec<usize>)> {
            let chosen = Configuration::from_iter(set.changes.len(), chosen.iter().copied());
            let brought = set.brought_lines(&chosen).into_iter();
            brought.map(|(path, lines)| (path.display().to_string(), lines)).collect()
        };
        assert_eq!(brought(&[0, 1, 2]), [("a".into(), vec![1, 2, 8]), ("n".into(), vec![1, 2])]);
        assert_eq!(brought(&[1]), [("a".into(), vec![6])]);
    }
}
