//! Say where a change is: the file, and the place in it, as in the version that fails.

use std::ops::Range;

use super::difference::{Change, ChangeEdit, ChangeSet};
use super::records::TriedMember;
use super::tree::EntryMode;

/// The file and the place of a change.
pub fn place(set: &ChangeSet, change: &Change) -> TriedMember {
    let (file, edit) = &change.edits[0];
    let file = &set.files[*file];
    let more = change.edits.len() - 1;
    let place = match (edit, &file.old, &file.new) {
        _ if more == 1 => "and 1 more place".to_owned(),
        _ if more > 1 => format!("and {more} more places"),
        (ChangeEdit::Lines(old, new), ..) if new.is_empty() => {
            format!("after line {}, where {} stood", new.start, ranged("line", old))
        }
        (ChangeEdit::Lines(_, new), ..) => ranged("line", new),
        (ChangeEdit::Mode, _, Some(new)) if new.mode == EntryMode::Executable => "made executable".to_owned(),
        (ChangeEdit::Mode, ..) => "not executable any more".to_owned(),
        (ChangeEdit::Move, ..) => {
            format!("moved from {}", file.moved_from.as_deref().unwrap_or(&file.path).display())
        }
        (ChangeEdit::Creation, ..) | (ChangeEdit::Whole, None, _) => "added".to_owned(),
        (ChangeEdit::Whole, _, None) => "deleted".to_owned(),
        (ChangeEdit::Whole, ..) if file.texts.is_none() => "changed as a whole (not text)".to_owned(),
        (ChangeEdit::Whole, ..) => "changed as a whole".to_owned(),
    };
    let place = match &change.function {
        Some(function) => format!("{place}, in {function}"),
        None => place,
    };
    TriedMember { file: file.path.to_string_lossy().into_owned(), place }
}

fn ranged(unit: &str, range: &Range<usize>) -> String {
    match range.len() {
        1 => format!("{unit} {}", range.start + 1),
        _ => format!("{unit}s {} to {}", range.start + 1, range.end),
    }
}

impl ChangeSet {
    /// The files and places of all changes, in order.
    pub fn members(&self) -> Vec<TriedMember> {
        self.changes.iter().map(|change| place(self, change)).collect()
    }
}
