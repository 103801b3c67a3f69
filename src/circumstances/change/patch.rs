//! Write the difference of versions as a patch, for `patch -p1` and `git apply`.
//!
//! Source: the unified format of POSIX diff, with the headers of git for modes, links and files that come and go.

use std::fmt::Write as _;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use similar::{DiffOp, group_diff_ops};

use super::text::{LinedText, is_binary, stretches};
use super::tree::{EntryMode, Overlay, Tree, TreeEntry};

/// The number of unchanged lines around a change.
const CONTEXT: usize = 3;

/// The patch that turns a version into one with this overlay, and the files that no patch can hold: binary ones.
///
/// # Errors
/// If a file cannot be read.
pub fn patch(base: &Tree, overlay: &Overlay) -> io::Result<(Vec<u8>, Vec<PathBuf>)> {
    let (mut patch, mut binary) = (Vec::new(), Vec::new());
    for (path, entry) in overlay {
        let old = base.entries.get(path);
        // A file that becomes a link, or the other way round, is removed and created.
        let has_other_kind =
            |old: &TreeEntry, new: &TreeEntry| (old.mode == EntryMode::Link) != (new.mode == EntryMode::Link);
        let steps = match (old, entry) {
            (Some(old), Some(new)) if has_other_kind(old, new) => vec![(Some(old), None), (None, Some(new))],
            (old, new) => vec![(old, new.as_ref())],
        };
        for (old, new) in steps.into_iter().filter(|(old, new)| old != new) {
            match of_file(path, old, new)? {
                Some(part) => patch.extend(part),
                None => binary.push(path.clone()),
            }
        }
    }
    Ok((patch, binary))
}

fn mode(entry: &TreeEntry) -> &'static str {
    match entry.mode {
        EntryMode::Plain => "100644",
        EntryMode::Executable => "100755",
        EntryMode::Link => "120000",
    }
}

/// The patch of a file; `None` if that is binary.
fn of_file(path: &Path, old: Option<&TreeEntry>, new: Option<&TreeEntry>) -> io::Result<Option<Vec<u8>>> {
    let bytes = |entry: Option<&TreeEntry>| -> io::Result<Vec<u8>> {
        entry.map_or(Ok(Vec::new()), |entry| Ok(entry.content.read()?.into_owned()))
    };
    let (before, after) = (bytes(old)?, bytes(new)?);
    if before != after && (is_binary(&before) || is_binary(&after)) {
        return Ok(None);
    }
    let (from, to) = (quoted("a/", path), quoted("b/", path));
    let mut part = format!("diff --git {} {}\n", from, to);
    let _ = match (old, new) {
        (None, Some(new)) => writeln!(part, "new file mode {}\nindex 0000000..1111111", mode(new)),
        (Some(old), None) => writeln!(part, "deleted file mode {}\nindex 1111111..0000000", mode(old)),
        (Some(old), Some(new)) if old.mode != new.mode => {
            writeln!(part, "old mode {}\nnew mode {}", mode(old), mode(new))
        }
        // This line tells patch(1) that it is a link.
        (Some(old), Some(_)) if old.mode == EntryMode::Link => {
            writeln!(part, "index 1111111..2222222 {}", mode(old))
        }
        _ => Ok(()),
    };
    let mut part = part.into_bytes();
    if before != after {
        // A name with a space ends with a tab.
        let named =
            |is_there: bool, name: &str| match (is_there, name.contains(' ') && !name.starts_with('"')) {
                (false, _) => "/dev/null".to_owned(),
                (true, true) => format!("{name}\t"),
                (true, false) => name.to_owned(),
            };
        let names = format!("--- {}\n+++ {}\n", named(old.is_some(), &from), named(new.is_some(), &to));
        part.extend(names.into_bytes());
        let (old, new) = (LinedText::new(before), LinedText::new(after));
        hunks(&old, &new, CONTEXT, &mut part);
    }
    Ok(Some(part))
}

fn hunks(old: &LinedText, new: &LinedText, context: usize, patch: &mut Vec<u8>) {
    for group in group_diff_ops(steps(old, new), context) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let before = first.old_range().start..last.old_range().end;
        let after = first.new_range().start..last.new_range().end;
        patch.extend(format!("@@ -{} +{} @@\n", extent(&before), extent(&after)).into_bytes());
        for operation in &group {
            body(old, new, operation, patch);
        }
    }
}

/// The edit script from one text to the other: its differences, and the equal lines in between.
fn steps(old: &LinedText, new: &LinedText) -> Vec<DiffOp> {
    let (mut steps, mut at) = (Vec::new(), (0, 0));
    let end = (old.len()..old.len(), new.len()..new.len());
    for (before, after) in stretches(old, new).into_iter().chain([end]) {
        let (old_index, new_index, len) = (at.0, at.1, before.start - at.0);
        steps.extend((len > 0).then_some(DiffOp::Equal { old_index, new_index, len }));
        at = (before.end, after.end);
        let (old_index, old_len, new_index, new_len) = (before.start, before.len(), after.start, after.len());
        steps.extend(match (old_len, new_len) {
            (0, 0) => None,
            (_, 0) => Some(DiffOp::Delete { old_index, old_len, new_index }),
            (0, _) => Some(DiffOp::Insert { old_index, new_index, new_len }),
            _ => Some(DiffOp::Replace { old_index, old_len, new_index, new_len }),
        });
    }
    steps
}

fn body(old: &LinedText, new: &LinedText, operation: &DiffOp, patch: &mut Vec<u8>) {
    let mut write = |sign: u8, text: &LinedText, range: Range<usize>| {
        for line in range {
            patch.push(sign);
            patch.extend_from_slice(text.line(line));
            if !text.line(line).ends_with(b"\n") {
                patch.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
    };
    match operation {
        DiffOp::Equal { .. } => write(b' ', old, operation.old_range()),
        _ => {
            write(b'-', old, operation.old_range());
            write(b'+', new, operation.new_range());
        }
    }
}

/// A line of two texts beside each other: ` ` in both, `-` in the old one, `+` in the new one; and its number in both.
pub type ComparedLine = (char, Option<usize>, Option<usize>);

/// Texts beside each other, as far as they differ, with lines around.
pub fn compared_lines(old: &LinedText, new: &LinedText) -> Vec<Vec<ComparedLine>> {
    let step = |step: &DiffOp| -> Vec<ComparedLine> {
        let (before, after) = (step.old_range(), step.new_range());
        match step {
            DiffOp::Equal { .. } => before.zip(after).map(|(old, new)| (' ', Some(old), Some(new))).collect(),
            _ => {
                let gone = before.map(|line| ('-', Some(line), None));
                gone.chain(after.map(|line| ('+', None, Some(line)))).collect()
            }
        }
    };
    let groups = group_diff_ops(steps(old, new), CONTEXT);
    groups.iter().map(|group| group.iter().flat_map(step).collect()).collect()
}

/// A range of lines as it stands in a patch: an empty one is after a line.
fn extent(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        length => format!("{},{length}", range.start + 1),
    }
}

/// A path as git writes it: in quotes, with octal escapes, if it has unusual bytes.
fn quoted(prefix: &str, path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let is_usual = |byte: &u8| (b' '..0x7f).contains(byte) && !b"\"\\".contains(byte);
    if bytes.iter().all(is_usual) {
        return format!("{prefix}{}", String::from_utf8_lossy(bytes));
    }
    let escape = |byte: &u8| match byte {
        b'"' | b'\\' => format!("\\{}", *byte as char),
        byte if is_usual(byte) => (*byte as char).to_string(),
        byte => format!("\\{byte:03o}"),
    };
    format!("\"{prefix}{}\"", bytes.iter().map(escape).collect::<String>())
}

/// Lines that change, with their signs and without any context: for people, and for documents.
pub fn changed_lines(old: &LinedText, new: &LinedText, before: Range<usize>, after: Range<usize>) -> String {
    let line = |sign: char, text: &LinedText, number: usize| {
        let line = String::from_utf8_lossy(text.line(number)).into_owned();
        format!("{sign}{}\n", line.trim_end_matches('\n'))
    };
    let gone = before.map(|number| line('-', old, number));
    gone.chain(after.map(|number| line('+', new, number))).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::tree::Content;
    use super::super::work_tree::write_tree;
    use super::*;

    fn entry(text: &[u8], mode: EntryMode) -> TreeEntry {
        TreeEntry { mode, content: Content::new(text) }
    }

    #[test]
    fn a_patch_applies_with_patch_and_with_git() {
        use EntryMode::{Executable, Link, Plain};
        use std::ffi::OsStr;
        let odd = PathBuf::from(OsStr::from_bytes(b"d/odd \xff\"name"));
        let numbers = |count: usize| (0..count).map(|line| format!("{line}\n")).collect::<String>();
        let mut old = Tree::default();
        let mut new = Tree::default();
        let text = numbers(40);
        let changed = text.replace("\n7\n", "\n7\nseven\n").replace("\n30\n", "\n");
        for (path, before, after) in [
            ("text", Some(entry(text.as_bytes(), Plain)), Some(entry(changed.as_bytes(), Plain))),
            ("a name", Some(entry(b"a\nb", Plain)), Some(entry(b"a\nb\n", Plain))),
            ("gone", Some(entry(b"x\n", Plain)), None),
            ("new/deep", None, Some(entry(b"y", Plain))),
            ("run", Some(entry(b"z\n", Plain)), Some(entry(b"z\n", Executable))),
            ("both", Some(entry(b"1\n", Plain)), Some(entry(b"2\n", Executable))),
            ("link", Some(entry(b"text", Link)), Some(entry(b"run", Link))),
            ("tolink", Some(entry(b"text\n", Plain)), Some(entry(b"run", Link))),
            ("empty", None, Some(entry(b"", Plain))),
        ] {
            before.map(|entry| old.entries.insert(path.into(), entry));
            after.map(|entry| new.entries.insert(path.into(), entry));
        }
        old.entries.insert(odd.clone(), entry(b"\xfe\n", Plain));
        new.entries.insert(odd, entry(b"\xfd\n", Plain));
        let (patch, binary) = patch(&old, &old.overlay_to(&new)).expect("in memory");
        assert!(binary.is_empty(), "{binary:?}");
        let place = tempfile::tempdir().expect("a folder");
        let file = place.path().join("p");
        std::fs::write(&file, &patch).expect("written");
        for (name, words) in [("patch", &["-p1", "-s", "-i"][..]), ("git", &["apply"])] {
            let folder = place.path().join(name);
            write_tree(&old, &folder).expect("written");
            let mut command = Command::new(name);
            // The folder must not be a part of any repository around it.
            command.args(words).arg(&file).current_dir(&folder).env("GIT_DIR", "/nowhere");
            let output = command.output().expect("starts");
            assert!(
                output.status.success(),
                "{name}: {}",
                String::from_utf8_lossy(&[output.stdout, output.stderr].concat())
            );
            let made = Tree::of_folder(&folder).expect("read");
            assert_eq!(made.entries, new.entries, "{name}");
        }
    }

    #[test]
    fn what_is_binary_is_named_instead() {
        let (mut old, mut new) = (Tree::default(), Tree::default());
        old.entries.insert("b".into(), entry(b"\0a", EntryMode::Plain));
        new.entries.insert("b".into(), entry(b"\0b", EntryMode::Plain));
        let (patch, binary) = patch(&old, &old.overlay_to(&new)).expect("in memory");
        assert_eq!((patch.len(), binary), (0, vec![PathBuf::from("b")]));
    }
}
