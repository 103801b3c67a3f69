//! Report which changes break a program.

use std::ops::Range;

use serde::Serialize;

use super::json::seconds;
use super::schema::VERSION;
use super::source::printable;
use super::spelling;
use super::style::{Style, wrap};
use super::words::{contained, count, duration, one_or_more};
use crate::circumstances::Status;
use crate::circumstances::change::{Change, ChangeEdit, Commit, EntryMode, changed_lines};
use crate::session::guilty::GuiltyChanges;

/// The name and version of the document.
const CHANGES: &str = "stripe.changes/1";

/// The number of lines of a change that are shown.
const MOST_LINES: usize = 30;

/// The number of changes that are shown.
const MOST_CHANGES: usize = 40;

/// The changes for people: each with its place and its lines, then the closest versions, and what the answer is worth.
pub fn text(found: &GuiltyChanges, style: Style) -> String {
    let mut text = format!("{}\n", style.bold(&headline(found)));
    for commit in found.suspects.iter().flatten() {
        text += &format!("{}\n", style.cut(&printable(&commit_line(commit)), style.width));
    }
    for (number, change) in found.set.changes.iter().enumerate().take(MOST_CHANGES) {
        text += &one(found, number, change, style);
    }
    if found.set.changes.len() > MOST_CHANGES {
        text += &format!("{} {} more changes\n", style.ellipsis(), found.set.changes.len() - MOST_CHANGES);
    }
    for paragraph in [difference(found), Some(verdict(found))].into_iter().flatten() {
        text += &format!("{}\n", wrap(&printable(&paragraph), style.width));
    }
    for warning in &found.warnings {
        text += &format!("{}\n", wrap(&printable(&format!("warning: {warning}")), style.width));
    }
    text
}

fn headline(found: &GuiltyChanges) -> String {
    let left = found.set.changes.len() as u64;
    let of = match found.unit {
        "line" => format!(" in {}", count(found.files() as u64, "file")),
        _ => format!(" of {}", found.all),
    };
    let (is, together) = (one_or_more(left, "makes", "make"), if left > 1 { ", together," } else { "" });
    let base = found.base_commit.as_ref().map_or(&found.names[0], |commit| commit);
    format!("{}{of}{together} {is} {} fail:", count(left, found.unit), printable(base))
}

fn commit_line(commit: &Commit) -> String {
    match commit.id.is_empty() {
        true => commit.subject.clone(),
        false => format!("commit {}, {}, {}: {}", commit.short(), commit.date, commit.author, commit.subject),
    }
}

/// A change with its place and its lines.
fn one(found: &GuiltyChanges, number: usize, change: &Change, style: Style) -> String {
    let mut text = String::new();
    let number_told = if found.set.changes.len() > 1 { format!("{}. ", number + 1) } else { String::new() };
    let place = format!("{number_told}{}", place(found, change));
    text += &format!("{}\n", style.bold(&style.cut(&printable(&place), style.width)));
    if let Some(commit) =
        found.commits[number].as_ref().filter(|_| found.suspects.as_ref().is_none_or(|all| all.len() != 1))
    {
        text +=
            &format!("  {}\n", style.cut(&printable(&commit_line(commit)), style.width.saturating_sub(2)));
    }
    let lines: Vec<String> = change.edits.iter().flat_map(|(file, edit)| lines(found, *file, edit)).collect();
    for line in lines.iter().take(MOST_LINES) {
        text += &format!("  {}\n", style.cut(&printable(line), style.width.saturating_sub(2)));
    }
    if lines.len() > MOST_LINES {
        text += &format!("  {} {} more lines\n", style.ellipsis(), lines.len() - MOST_LINES);
    }
    if let Some((_, seen)) = found.without.iter().find(|(member, _)| *member == number) {
        let told = format!("without it: {}", seen.why);
        text += &format!("  {}\n", style.dim(&style.cut(&printable(&told), style.width.saturating_sub(2))));
    }
    text
}

/// The place of a change: the file, and the lines as they are in the version that fails.
fn place(found: &GuiltyChanges, change: &Change) -> String {
    let (file, edit) = &change.edits[0];
    let file = &found.set.files[*file];
    let mut place = file.path.to_string_lossy().into_owned();
    let more = change.edits.len() - 1;
    match (edit, &file.old, &file.new) {
        _ if more > 0 => place += &format!(", and {} more", count(more as u64, "place")),
        (ChangeEdit::Lines(old, new), ..) if new.is_empty() => {
            place += &format!(", behind line {}, where {} stood", new.start, ranged("line", old))
        }
        (ChangeEdit::Lines(_, new), ..) => place += &format!(", {}", ranged("line", new)),
        (ChangeEdit::Mode, _, Some(new)) if new.mode == EntryMode::Executable => place += ", made executable",
        (ChangeEdit::Mode, ..) => place += ", not executable any more",
        (ChangeEdit::Move, ..) => {
            let from = file.moved_from.as_deref().unwrap_or(&file.path);
            place += &format!(", moved from {}", from.display());
        }
        (ChangeEdit::Creation, ..) | (ChangeEdit::Whole, None, _) => place += ", added",
        (ChangeEdit::Whole, _, None) => place += ", deleted",
        (ChangeEdit::Whole, ..) if file.texts.is_none() => place += ", changed as a whole (not text)",
        (ChangeEdit::Whole, ..) => place += ", changed as a whole",
    }
    match &change.function {
        Some(function) => format!("{place}, in {function}"),
        None => place,
    }
}

fn ranged(unit: &str, range: &Range<usize>) -> String {
    match range.len() {
        1 => format!("{unit} {}", range.start + 1),
        _ => format!("{unit}s {} to {}", range.start + 1, range.end),
    }
}

fn lines(found: &GuiltyChanges, file: usize, edit: &ChangeEdit) -> Vec<String> {
    let Some((old, new)) = &found.set.files[file].texts else { return Vec::new() };
    let told = match edit {
        ChangeEdit::Lines(before, after) => changed_lines(old, new, before.clone(), after.clone()),
        ChangeEdit::Whole => changed_lines(old, new, 0..old.len(), 0..new.len()),
        ChangeEdit::Mode | ChangeEdit::Creation | ChangeEdit::Move => String::new(),
    };
    told.lines().map(str::to_owned).collect()
}

/// A sentence about the closest versions, where they are not simply without and with all that was found.
fn difference(found: &GuiltyChanges) -> Option<String> {
    let [passing, failing] = &found.difference;
    if found.set.changes.len() < 2 || found.status != Status::Minimal || found.base_commit.is_some() {
        return None;
    }
    let numbers =
        |all: &[usize]| all.iter().map(|number| (number + 1).to_string()).collect::<Vec<_>>().join(", ");
    let more: Vec<usize> = failing.iter().filter(|number| !passing.contains(number)).copied().collect();
    let good = &found.names[0];
    let base = match passing.is_empty() {
        true => format!("{good} passes"),
        false => format!("{good} with {} passes", numbers(passing)),
    };
    Some(format!(
        "The closest versions: {base}, and with {} as well it fails: they break it only together.",
        numbers(&more)
    ))
}

fn verdict(found: &GuiltyChanges) -> String {
    let minimal = match found.status {
        _ if found.base_commit.is_some() => "Single changes were not looked at".to_owned(),
        Status::Minimal => format!("No single {} of it can be left out", found.unit),
        Status::Budget | Status::Interrupted => "The search was cut short: perhaps less would do".to_owned(),
        Status::Unconfirmed => "The result was not confirmed".to_owned(),
    };
    let tests = &found.tests;
    let unresolved = tests.integration + tests.construction + tests.execution;
    let reasons = [
        (tests.integration, "integration"),
        (tests.construction, "construction"),
        (tests.execution, "execution"),
    ];
    let reasons: Vec<String> = reasons
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, reason)| format!("{number} by {reason}"))
        .collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(", ")) };
    let shown = if found.shown.is_empty() {
        String::new()
    } else {
        format!(" In {}: {}.", found.names[1], found.shown)
    };
    format!(
        "{minimal}. The failure: {}.{shown} {}{}, {} ({} reproduced, {} not, {unresolved} unresolved{reasons}), {}, {} predicted, {}.",
        found.criterion,
        contained(&found.containment)[..1].to_uppercase(),
        &contained(&found.containment)[1..],
        count(tests.total, "test"),
        tests.fail,
        tests.pass,
        count(tests.builds, "build"),
        found.predicted,
        duration(found.elapsed),
    )
}

#[derive(Serialize)]
struct ChangesDocument<'a> {
    schema: &'static str,
    version: &'static str,
    status: &'static str,
    good: &'a str,
    bad: &'a str,
    criterion: &'a str,
    base: Option<&'a str>,
    unit: &'static str,
    all: usize,
    commits: Option<Vec<CommitDocument<'a>>>,
    changes: Vec<ChangeDocument<'a>>,
    difference: DifferenceDocument<'a>,
    tests: ChangeTests,
    seconds: f64,
    containment: &'static str,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct CommitDocument<'a> {
    id: &'a str,
    author: &'a str,
    date: &'a str,
    subject: &'a str,
}

#[derive(Serialize)]
struct ChangeDocument<'a> {
    file: String,
    old: Option<[usize; 2]>,
    new: Option<[usize; 2]>,
    function: Option<&'a str>,
    commit: Option<&'a str>,
    patch: String,
    without: Option<WithoutDocument<'a>>,
}

#[derive(Serialize)]
struct WithoutDocument<'a> {
    outcome: &'static str,
    why: &'a str,
}

#[derive(Serialize)]
struct DifferenceDocument<'a> {
    passing: &'a [usize],
    failing: &'a [usize],
}

#[derive(Serialize)]
struct ChangeTests {
    total: u64,
    fail: u64,
    pass: u64,
    unresolved: UnresolvedTests,
    predicted: u64,
    builds: u64,
    runs: u64,
}

#[derive(Serialize)]
struct UnresolvedTests {
    integration: u64,
    construction: u64,
    execution: u64,
}

/// The changes as a document of the schema `stripe.changes/1`.
pub fn json(found: &GuiltyChanges) -> String {
    let tests = &found.tests;
    let document = ChangesDocument {
        schema: CHANGES,
        version: VERSION,
        status: spelling::status(found.status),
        good: &found.names[0],
        bad: &found.names[1],
        criterion: &found.criterion,
        base: found.base_commit.as_deref(),
        unit: found.unit,
        all: found.all,
        commits: found.suspects.as_ref().map(|all| all.iter().map(commit).collect()),
        changes: (0..found.set.changes.len()).map(|number| change(found, number)).collect(),
        difference: DifferenceDocument { passing: &found.difference[0], failing: &found.difference[1] },
        tests: ChangeTests {
            total: tests.total,
            fail: tests.fail,
            pass: tests.pass,
            unresolved: UnresolvedTests {
                integration: tests.integration,
                construction: tests.construction,
                execution: tests.execution,
            },
            predicted: found.predicted,
            builds: tests.builds,
            runs: found.runs,
        },
        seconds: seconds(found.elapsed),
        containment: spelling::containment(&found.containment),
        warnings: &found.warnings,
    };
    serde_json::to_string_pretty(&document).expect("a document has text keys only") + "\n"
}

fn commit(commit: &Commit) -> CommitDocument<'_> {
    let Commit { id, author, date, subject, .. } = commit;
    CommitDocument { id, author, date, subject }
}

fn change(found: &GuiltyChanges, number: usize) -> ChangeDocument<'_> {
    let change = &found.set.changes[number];
    let (file, _) = change.edits[0];
    let lines = |of: fn(&ChangeEdit) -> Option<&Range<usize>>| {
        let ranges: Vec<&Range<usize>> = change.edits.iter().filter_map(|(_, edit)| of(edit)).collect();
        let first = ranges.iter().map(|range| range.start).min()?;
        Some([first + 1, ranges.iter().map(|range| range.end).max().unwrap_or(first)])
    };
    let seen = found.without.iter().find(|(member, _)| *member == number).map(|(_, seen)| seen);
    ChangeDocument {
        file: found.set.files[file].path.to_string_lossy().into_owned(),
        old: lines(|edit| if let ChangeEdit::Lines(old, _) = edit { Some(old) } else { None }),
        new: lines(|edit| if let ChangeEdit::Lines(_, new) = edit { Some(new) } else { None }),
        function: change.function.as_deref(),
        commit: found.commits[number].as_ref().map(|commit| &*commit.id),
        patch: String::from_utf8_lossy(&found.patches[number]).into_owned(),
        without: seen
            .map(|seen| WithoutDocument { outcome: spelling::outcome(seen.outcome), why: &seen.why }),
    }
}
