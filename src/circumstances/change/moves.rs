//! Find files that are elsewhere now: those that hold the same, and those that hold much of it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use super::text::{LinedText, is_binary};
use super::tree::{EntryMode, Overlay, Tree, TreeEntry};

/// Files are compared with each other if there are no more pairs than this; otherwise only those of one name.
const MOST_PAIRS: usize = 100_000;

/// Of the larger file at least so many hundredths, in bytes of whole lines, must stand in the other one, as for git.
const LEAST_SHARED: usize = 50;

/// The old paths of moved files, by their new paths.
pub(super) type Moves = BTreeMap<PathBuf, PathBuf>;

/// The files that have moved between a version and what is different from it.
///
/// # Errors
/// If a file cannot be read.
pub(super) fn moves(old: &Tree, overlay: &Overlay) -> io::Result<Moves> {
    let mut moves = unchanged(old, overlay);
    for (from, to) in changed(old, overlay, &moves)? {
        moves.insert(to, from);
    }
    Ok(moves)
}

/// A place below another one cannot be reached by moving alone.
fn is_nested(from: &Path, to: &Path) -> bool {
    from.starts_with(to) || to.starts_with(from)
}

fn unchanged(old: &Tree, overlay: &Overlay) -> Moves {
    let mut gone: BTreeMap<u128, Vec<&PathBuf>> = BTreeMap::new();
    for (path, _) in overlay.iter().filter(|(_, entry)| entry.is_none()) {
        let Some(entry) = old.entries.get(path) else { continue };
        gone.entry(entry.content.key()).or_default().push(path);
    }
    let mut moves = Moves::new();
    for (path, entry) in overlay {
        let Some(entry) = entry.as_ref().filter(|_| !old.entries.contains_key(path)) else { continue };
        // With several candidates it is unknown which has moved.
        if let Some([from]) = gone.remove(&entry.content.key()).as_deref()
            && !is_nested(from, path)
            && old.entries[*from].mode == entry.mode
        {
            moves.insert(path.clone(), (*from).clone());
        }
    }
    moves
}

/// A text that is gone, or has come: how many bytes there are of each of its lines.
struct Sketch<'p> {
    path: &'p PathBuf,
    lines: HashMap<Vec<u8>, usize>,
    bytes: usize,
}

impl<'p> Sketch<'p> {
    /// Of a file that is text, and not empty.
    fn of(path: &'p PathBuf, entry: &TreeEntry) -> io::Result<Option<Sketch<'p>>> {
        let bytes = entry.content.read()?.into_owned();
        if entry.mode == EntryMode::Link || bytes.is_empty() || is_binary(&bytes) {
            return Ok(None);
        }
        let (count, mut lines) = (bytes.len(), HashMap::new());
        for line in LinedText::new(bytes).all() {
            *lines.entry(line.to_vec()).or_default() += line.len();
        }
        Ok(Some(Sketch { path, lines, bytes: count }))
    }

    /// The percentage of the larger file that stands in both.
    fn likeness(&self, other: &Sketch<'_>) -> usize {
        let (most, least) = (self.bytes.max(other.bytes), self.bytes.min(other.bytes));
        if least * 100 < most * LEAST_SHARED {
            return 0;
        }
        let shared =
            |(line, bytes): (&Vec<u8>, &usize)| other.lines.get(line).map_or(0, |all| *all.min(bytes));
        self.lines.iter().map(shared).sum::<usize>() * 100 / most
    }
}

/// The files that have moved and were changed: from where, and where to. The most alike first, each once.
fn changed(old: &Tree, overlay: &Overlay, known: &Moves) -> io::Result<Vec<(PathBuf, PathBuf)>> {
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for (path, entry) in overlay {
        match (old.entries.get(path), entry) {
            (Some(before), None) if !known.values().any(|from| from == path) => {
                gone.extend(Sketch::of(path, before)?);
            }
            (None, Some(after)) if !known.contains_key(path) => come.extend(Sketch::of(path, after)?),
            _ => {}
        }
    }
    let has_room = gone.len() * come.len() <= MOST_PAIRS;
    let mut pairs = Vec::new();
    for from in &gone {
        for to in &come {
            let is_named_alike = from.path.file_name() == to.path.file_name();
            if (has_room || is_named_alike) && !is_nested(from.path, to.path) {
                let likeness = from.likeness(to);
                pairs.extend((likeness >= LEAST_SHARED).then_some((
                    likeness,
                    is_named_alike,
                    from.path,
                    to.path,
                )));
            }
        }
    }
    pairs
        .sort_by_key(|&(likeness, is_named_alike, from, to)| (Reverse((likeness, is_named_alike)), from, to));
    let mut moves: Vec<(PathBuf, PathBuf)> = Vec::new();
    for (.., from, to) in pairs {
        if moves.iter().all(|(before, after)| before != from && after != to) {
            moves.push((from.clone(), to.clone()));
        }
    }
    Ok(moves)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(old: &[(&str, &str)], new: &[(&str, &str)]) -> Vec<(String, String)> {
        let (old, new) = (Tree::of_texts(old), Tree::of_texts(new));
        let told = |path: &PathBuf| path.display().to_string();
        let moves = moves(&old, &old.overlay_to(&new)).expect("in memory");
        moves.iter().map(|(to, from)| (told(from), told(to))).collect()
    }

    fn pair(from: &str, to: &str) -> (String, String) {
        (from.to_owned(), to.to_owned())
    }

    #[test]
    fn a_file_that_moved_and_was_changed_is_found_by_its_lines() {
        let (text, edited) = ("one\ntwo\nthree\nfour\n", "one\ntwo\n3\nfour\n");
        assert_eq!(found(&[("a.c", text)], &[("src/b.c", edited)]), [pair("a.c", "src/b.c")]);
        assert!(found(&[("a.c", text)], &[("src/b.c", "quite\nanother\ntext\n")]).is_empty());
        assert!(found(&[("a.c", text)], &[("a.c", edited), ("b.c", text)]).is_empty(), "it is a copy");
        assert!(found(&[("d", text)], &[("d/e", edited)]).is_empty(), "its folder is in its place");
    }

    #[test]
    fn of_several_the_most_alike_is_taken_and_each_once() {
        let old = [("x", "1\n2\n3\n4\n5\n6\n"), ("y", "1\n2\n3\n4\n5\n7\n")];
        let new = [("a/p", "1\n2\n3\n4\n5\n7\n8\n"), ("a/q", "1\n2\n3\n4\n5\n6\n")];
        assert_eq!(found(&old, &new), [pair("y", "a/p"), pair("x", "a/q")]);
    }
}
