//! Split the difference between two versions into changes: textual ones, and those of whole files.
//!
//! A change is a set of edits. Textual edits that are separated by enough unchanged lines are changes of their own;
//! a file that is added, deleted, moved or binary, its mode and a link are one change each.
//!
//! Source: ESEC/FSE 1999, section 3: "textual differences separated by at least two unchanged lines".

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use dd::Configuration;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::text::{LinedText, heading, is_binary};
use super::tree::{Content, EntryMode, Overlay, Tree, TreeEntry};

/// The number of lines above which a file is one change: to compare it may take for ever.
const MOST_LINES: usize = 500_000;

/// A file that differs between the versions.
#[derive(Clone, Debug)]
pub struct ChangedFile {
    /// Its path.
    pub path: PathBuf,
    /// Its old path, if it has moved.
    pub moved_from: Option<PathBuf>,
    /// The old entry; `None` if the file is new.
    pub old: Option<TreeEntry>,
    /// The new entry; `None` if the file is gone.
    pub new: Option<TreeEntry>,
    /// The lines of both, where both are text.
    pub texts: Option<(LinedText, LinedText)>,
}

/// An edit: the smallest thing that can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeEdit {
    /// These lines of the old text become those of the new one; from 0.
    Lines(Range<usize>, Range<usize>),
    /// The file becomes the new one as a whole, with its mode.
    Whole,
    /// The file gets its new mode.
    Mode,
    /// The file is created empty, which any line of it needs.
    Creation,
    /// The file moves to its new path.
    Move,
}

/// A change, which is applied or not: edits of one file, or of several.
#[derive(Clone, Debug)]
pub struct Change {
    /// The edits, each with the number of its file.
    pub edits: Vec<(usize, ChangeEdit)>,
    /// The function that it is in, for the user; if it is in one.
    pub function: Option<String>,
    /// The change without which this one cannot be applied.
    pub needs: Option<usize>,
}

/// The difference of two versions.
#[derive(Clone, Debug)]
pub struct ChangeSet {
    /// The files, by their paths.
    pub files: Vec<ChangedFile>,
    /// The changes, in the order in which they are numbered.
    pub changes: Vec<Change>,
}

/// The least distance between changes, in unchanged lines.
#[derive(Clone, Copy, Debug)]
pub struct Separation(pub usize);

impl ChangeSet {
    /// Computes the changes that lead from one version to another.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn between(old: &Tree, new: &Tree, separation: Separation) -> io::Result<ChangeSet> {
        let overlay = old.overlay_to(new);
        let moves = moves(old, &overlay);
        let mut set = ChangeSet { files: Vec::new(), changes: Vec::new() };
        for (path, entry) in &overlay {
            let moved_from = moves.get(path).cloned();
            if moves.values().any(|from| from == path) {
                continue;
            }
            let before = moved_from.as_ref().unwrap_or(path);
            let file = ChangedFile::new(
                path.clone(),
                moved_from.clone(),
                old.entries.get(before).cloned(),
                entry.clone(),
            )?;
            let number = set.files.len();
            set.add(number, &file, separation);
            set.files.push(file);
        }
        set.link_places();
        Ok(set)
    }

    fn add(&mut self, number: usize, file: &ChangedFile, separation: Separation) {
        let mut push = |edit, function| {
            self.changes.push(Change { edits: vec![(number, edit)], function, needs: None });
        };
        if file.moved_from.is_some() {
            push(ChangeEdit::Move, None);
        }
        let (Some(before), Some(after)) = (&file.old, &file.new) else {
            return push(ChangeEdit::Whole, None);
        };
        let Some((old, new)) = &file.texts else {
            if before != after {
                push(ChangeEdit::Whole, None);
            }
            return;
        };
        if before.mode != after.mode {
            push(ChangeEdit::Mode, None);
        }
        for (before, after) in hunks(old, new, separation) {
            let function = heading(old, before.start);
            push(ChangeEdit::Lines(before, after), function);
        }
    }

    /// Links changes where a file is replaced by a folder or the other way round: what comes needs what goes.
    fn link_places(&mut self) {
        let whole = |change: &Change| match change.edits[..] {
            [(file, ChangeEdit::Whole | ChangeEdit::Move)] => Some(file),
            _ => None,
        };
        let gone: BTreeMap<&Path, usize> = (self.changes.iter().enumerate())
            .filter_map(|(number, change)| {
                let file = &self.files[whole(change)?];
                file.new.is_none().then_some((&*file.path, number))
            })
            .collect();
        let below =
            |folder: &Path| gone.iter().find(|(path, _)| path.starts_with(folder)).map(|(_, number)| *number);
        let needs: Vec<Option<usize>> = (self.changes.iter())
            .map(|change| {
                let file = &self.files[whole(change)?];
                file.new.as_ref()?;
                let above = file.path.ancestors().skip(1).find_map(|folder| gone.get(folder).copied());
                above.or_else(|| below(&file.path))
            })
            .collect();
        for (change, needs) in self.changes.iter_mut().zip(needs) {
            change.needs = needs;
        }
    }

    /// Unites the changes of equal keys.
    pub fn united<K: Ord>(&self, key: impl Fn(&Change) -> K) -> ChangeSet {
        let mut groups: BTreeMap<K, (usize, Change)> = BTreeMap::new();
        for (number, change) in self.changes.iter().enumerate() {
            groups
                .entry(key(change))
                .and_modify(|(_, all)| all.edits.extend(change.edits.iter().cloned()))
                .or_insert_with(|| (number, Change { needs: None, ..change.clone() }));
        }
        let mut changes: Vec<(usize, Change)> = groups.into_values().collect();
        changes.sort_by_key(|(first, _)| *first);
        let mut set = ChangeSet {
            files: self.files.clone(),
            changes: changes.into_iter().map(|(_, change)| change).collect(),
        };
        set.link_places();
        set
    }

    /// The changes that are chosen, in their order.
    pub fn chosen(&self, chosen: &Configuration) -> ChangeSet {
        let numbers: Vec<usize> = chosen.iter().collect();
        let place = |number: usize| numbers.binary_search(&number).ok();
        let change = |&number: &usize| {
            let change = self.changes[number].clone();
            Change { needs: change.needs.and_then(place), ..change }
        };
        ChangeSet { files: self.files.clone(), changes: numbers.iter().map(change).collect() }
    }

    /// Splits the changes into lines.
    pub fn lines(&self) -> ChangeSet {
        let finer = |change: &Change| -> Vec<(usize, Vec<ChangeEdit>)> {
            change.edits.iter().map(|(file, edit)| (*file, self.finer(*file, edit))).collect()
        };
        let all: Vec<_> = self.changes.iter().map(finer).collect();
        // The number of the first line of each change.
        let counts = all.iter().map(|edits| edits.iter().map(|(_, finer)| finer.len()).sum());
        let firsts: Vec<usize> =
            counts.scan(0, |next, count: usize| Some(std::mem::replace(next, *next + count))).collect();
        let mut changes = Vec::new();
        for (change, edits) in self.changes.iter().zip(all) {
            let needs = change.needs.map(|needed| firsts[needed]);
            for (file, finer) in edits {
                let creation = (finer[0] == ChangeEdit::Creation).then_some(changes.len());
                let function = &change.function;
                changes.extend(finer.into_iter().map(|edit| Change {
                    needs: creation.filter(|_| edit != ChangeEdit::Creation).or(needs),
                    edits: vec![(file, edit)],
                    function: function.clone(),
                }));
            }
        }
        ChangeSet { files: self.files.clone(), changes }
    }

    fn is_creation_of_text(&self, file: usize, edit: &ChangeEdit) -> bool {
        let ChangedFile { old, new, .. } = &self.files[file];
        *edit == ChangeEdit::Whole
            && old.is_none()
            && new.as_ref().is_some_and(|new| new.mode != EntryMode::Link)
    }

    /// Splits an edit into lines.
    fn finer(&self, file: usize, edit: &ChangeEdit) -> Vec<ChangeEdit> {
        match edit {
            ChangeEdit::Lines(old, new) if old.len() == new.len() => {
                let pairs = old.clone().zip(new.clone());
                pairs.map(|(old, new)| ChangeEdit::Lines(old..old + 1, new..new + 1)).collect()
            }
            ChangeEdit::Lines(old, new) => {
                let gone = old.clone().map(|line| ChangeEdit::Lines(line..line + 1, new.start..new.start));
                let come = new.clone().map(|line| ChangeEdit::Lines(old.end..old.end, line..line + 1));
                gone.chain(come).collect()
            }
            ChangeEdit::Whole if self.is_creation_of_text(file, edit) => match &self.files[file].texts {
                Some((_, new)) => {
                    let lines = (0..new.len()).map(|line| ChangeEdit::Lines(0..0, line..line + 1));
                    std::iter::once(ChangeEdit::Creation).chain(lines).collect()
                }
                None => vec![ChangeEdit::Whole],
            },
            edit => vec![edit.clone()],
        }
    }

    /// Applies the chosen changes to the old version; returns the overlay of what is different.
    pub fn apply(&self, chosen: &Configuration) -> Overlay {
        let mut edits: BTreeMap<usize, Vec<&ChangeEdit>> = BTreeMap::new();
        for (file, edit) in chosen.iter().flat_map(|number| &self.changes[number].edits) {
            edits.entry(*file).or_default().push(edit);
        }
        let mut overlay = Overlay::new();
        // What goes makes room for what comes to the same place.
        let mut come = Vec::new();
        for (file, edits) in edits {
            let file = &self.files[file];
            let path = if edits.contains(&&ChangeEdit::Move) {
                &file.path
            } else {
                file.moved_from.as_ref().unwrap_or(&file.path)
            };
            if path == &file.path && file.moved_from.is_some() {
                overlay.insert(file.moved_from.clone().unwrap_or_default(), None);
            }
            come.push((path.clone(), file.edited(&edits)));
        }
        overlay.extend(come);
        overlay
    }
}

impl ChangedFile {
    fn new(
        path: PathBuf,
        moved_from: Option<PathBuf>,
        old: Option<TreeEntry>,
        new: Option<TreeEntry>,
    ) -> io::Result<ChangedFile> {
        let is_file =
            |entry: &Option<TreeEntry>| entry.as_ref().is_none_or(|entry| entry.mode != EntryMode::Link);
        let mut texts = None;
        if is_file(&old) && is_file(&new) {
            let read = |entry: &Option<TreeEntry>| match entry {
                Some(entry) => entry.content.read().map(|bytes| bytes.into_owned()),
                None => Ok(Vec::new()),
            };
            let (before, after) = (read(&old)?, read(&new)?);
            if !is_binary(&before) && !is_binary(&after) {
                let both = (LinedText::new(before), LinedText::new(after));
                texts = Some(both).filter(|(before, after)| before.len().max(after.len()) <= MOST_LINES);
            }
        }
        Ok(ChangedFile { path, moved_from, old, new, texts })
    }

    /// The entry that the edits make of the old one.
    fn edited(&self, edits: &[&ChangeEdit]) -> Option<TreeEntry> {
        if edits.contains(&&ChangeEdit::Whole) {
            return self.new.clone();
        }
        let has_new_mode = edits.iter().any(|edit| matches!(edit, ChangeEdit::Mode | ChangeEdit::Creation));
        let mode = if has_new_mode { &self.new } else { &self.old };
        let mode = mode.as_ref().or(self.new.as_ref()).map_or(EntryMode::Plain, |entry| entry.mode);
        let mut lines: Vec<(&Range<usize>, &Range<usize>)> = edits
            .iter()
            .filter_map(|edit| match edit {
                ChangeEdit::Lines(old, new) => Some((old, new)),
                _ => None,
            })
            .collect();
        lines.sort_by_key(|(old, new)| (old.start, old.end, new.start));
        let (Some((old, new)), false) = (&self.texts, lines.is_empty() && self.old.is_some()) else {
            let content =
                self.old.as_ref().map_or_else(|| Content::new(Vec::new()), |entry| entry.content.clone());
            return Some(TreeEntry { mode, content });
        };
        let (mut bytes, mut at) = (Vec::new(), 0);
        for (before, after) in lines {
            bytes.extend_from_slice(old.lines(at.min(before.start)..before.start));
            bytes.extend_from_slice(new.lines(after.clone()));
            at = at.max(before.end);
        }
        bytes.extend_from_slice(old.lines(at..old.len()));
        Some(TreeEntry { mode, content: Content::new(bytes) })
    }
}

/// Files that are elsewhere now and hold the same: where they were, by where they are.
fn moves(old: &Tree, overlay: &Overlay) -> BTreeMap<PathBuf, PathBuf> {
    let mut gone: BTreeMap<u128, Vec<&PathBuf>> = BTreeMap::new();
    for (path, _) in overlay.iter().filter(|(_, entry)| entry.is_none()) {
        let Some(entry) = old.entries.get(path) else { continue };
        gone.entry(entry.content.key()).or_default().push(path);
    }
    let mut moves = BTreeMap::new();
    for (path, entry) in overlay {
        let Some(entry) = entry.as_ref().filter(|_| !old.entries.contains_key(path)) else { continue };
        // Where one is as good as another nobody knows which has moved.
        if let Some([from]) = gone.remove(&entry.content.key()).as_deref() {
            let is_nested = from.starts_with(path) || path.starts_with(from);
            if !is_nested && old.entries[*from].mode == entry.mode {
                moves.insert(path.clone(), (*from).clone());
            }
        }
    }
    moves
}

/// The stretches of lines that differ; those with fewer unchanged lines in between are one.
fn hunks(
    old: &LinedText,
    new: &LinedText,
    Separation(separation): Separation,
) -> Vec<(Range<usize>, Range<usize>)> {
    let mut hunks: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for operation in capture_diff_slices(Algorithm::Patience, &old.all(), &new.all()) {
        if let DiffOp::Equal { .. } = operation {
            continue;
        }
        let (before, after) = (operation.old_range(), operation.new_range());
        match hunks.last_mut() {
            Some(last) if before.start - last.0.end < separation.max(1) => {
                (last.0.end, last.1.end) = (before.end, after.end);
            }
            _ => hunks.push((before, after)),
        }
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(old: &Tree, new: &Tree) -> ChangeSet {
        ChangeSet::between(old, new, Separation(2)).expect("in memory")
    }

    fn numbered(lines: &[&str]) -> String {
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn changes_are_separated_by_two_unchanged_lines() {
        let old = Tree::of_texts(&[("a", &numbered(&["1", "2", "3", "4", "5", "6", "7"]))]);
        let new = Tree::of_texts(&[("a", &numbered(&["x", "2", "y", "4", "5", "z", "7"]))]);
        let set = between(&old, &new);
        let edits: Vec<&ChangeEdit> = set.changes.iter().map(|change| &change.edits[0].1).collect();
        assert_eq!(edits, [&ChangeEdit::Lines(0..3, 0..3), &ChangeEdit::Lines(5..6, 5..6)]);
        let all = old.with(&set.apply(&Configuration::full(2)));
        assert_eq!(all.entries, new.entries);
        let one = old.with(&set.apply(&Configuration::from_iter(2, [1])));
        let text = one.entries[Path::new("a")].content.read().expect("there").into_owned();
        assert_eq!(String::from_utf8_lossy(&text), "1\n2\n3\n4\n5\nz\n7\n");
    }

    #[test]
    fn all_changes_lead_to_the_new_version_and_none_to_the_old_one_whatever_they_are() {
        let old = Tree::of_texts(&[
            ("gone", "1\n"),
            ("moved", "m\n"),
            ("d", "file"),
            ("text", "a\nb"),
            ("b", "\0x"),
        ]);
        let new = Tree::of_texts(&[
            ("come", "2\n3\n"),
            ("to/moved", "m\n"),
            ("d/e", "f"),
            ("text", "a\nb\nc\n"),
            ("b", "\0y"),
        ]);
        let set = between(&old, &new);
        for set in [set.lines(), set] {
            let count = set.changes.len();
            assert_eq!(old.with(&set.apply(&Configuration::full(count))).entries, new.entries);
            assert_eq!(old.with(&set.apply(&Configuration::empty(count))).entries, old.entries);
            assert!(set.changes.iter().any(|change| change.needs.is_some()));
        }
    }

    #[test]
    fn lines_can_be_chosen_one_by_one() {
        let old = Tree::of_texts(&[("a", "1\n2\n3\n")]);
        let new = Tree::of_texts(&[("a", "1\nx\ny\nz\n3\n"), ("n", "p\nq\n")]);
        let set = between(&old, &new).lines();
        assert_eq!(set.changes.len(), 4 + 3);
        let chosen = Configuration::from_iter(7, [0, 2, 4, 6]);
        let made = old.with(&set.apply(&chosen));
        let text = |path: &str| {
            String::from_utf8_lossy(&made.entries[Path::new(path)].content.read().expect("there"))
                .into_owned()
        };
        assert_eq!((text("a"), text("n")), ("1\ny\n3\n".to_owned(), "q\n".to_owned()));
        assert_eq!(set.changes[6].needs, Some(4));
    }
}
