//! Write the changes that break a program as a page: the changes and their files, in which they are lit, and all that
//! was different with the tests as columns.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dd::{Configuration, Outcome};
use serde::Serialize;

use super::super::changed;
use super::super::spelling;
use super::frame::Frame;
use crate::circumstances::PhaseId;
use crate::circumstances::change::{
    ChangeEdit, ChangedFile, ComparedLine, TriedMember, TriedPhase, TriedVersion, compared_lines, place,
};
use crate::guilty::GuiltyChanges;

pub(super) const FRAME: Frame = Frame {
    kind: "changes",
    about: "which change broke it",
    heading: r#"What broke between <code id="good"></code> and <code id="bad"></code>"#,
    skip: ("difference", "the changes"),
    main: include_str!("changes.html"),
    style: include_str!("changes.css"),
    scripts: &[include_str!("changes.js")],
};

/// So many lines of a file are shown.
const MOST_ROWS: usize = 2000;

/// So many tests have a column, the first and the last ones.
const MOST_COLUMNS: usize = 240;

/// So many bytes of what a test has printed are shown, of its end.
const MOST_PRINTED: usize = 4000;

#[derive(Serialize)]
struct ChangesPage<'a> {
    good: &'a str,
    bad: &'a str,
    headline: String,
    commits: Vec<String>,
    changes: Vec<GuiltyChange>,
    closest: String,
    verdict: String,
    warnings: &'a [String],
    files: Vec<FileDifference>,
    matrices: Vec<TestMatrix>,
    command_line: &'a str,
}

#[derive(Serialize)]
struct GuiltyChange {
    place: String,
    /// Its number in `files`.
    file: usize,
    commit: Option<String>,
    without: Option<String>,
}

#[derive(Serialize)]
struct FileDifference {
    path: String,
    moved_from: Option<String>,
    hunks: Vec<Vec<DifferenceRow>>,
    note: String,
}

/// Sign, line in the old text, line in the new one, text, and whether it breaks the program.
type DifferenceRow = (char, Option<usize>, Option<usize>, String, bool);

/// Tests that choose from the same members.
#[derive(Serialize)]
struct TestMatrix {
    title: String,
    unit: &'static str,
    all: usize,
    directories: Vec<MatrixDirectory>,
    tests: Vec<MatrixColumn>,
    note: String,
}

#[derive(Serialize)]
struct MatrixDirectory {
    name: String,
    files: Vec<MatrixFile>,
}

#[derive(Serialize)]
struct MatrixFile {
    name: String,
    members: Vec<MatrixMember>,
}

#[derive(Serialize)]
struct MatrixMember {
    number: usize,
    place: String,
    guilty: bool,
}

#[derive(Serialize)]
struct MatrixColumn {
    number: usize,
    outcome: &'static str,
    why: String,
    printed: String,
    /// First and last of what was asked for.
    asked: Vec<(usize, usize)>,
    /// The same of what a failed build has asked for.
    added: Vec<(usize, usize)>,
    /// Whether another phase begins with it.
    begins: bool,
}

/// The page. `command_line` is what does it again, as typed into a shell.
pub fn page(found: &GuiltyChanges, command_line: &str) -> String {
    let title = format!("{} to {}", found.names[0], found.names[1]);
    FRAME.page(&title, &document(found, command_line))
}

fn document<'a>(found: &'a GuiltyChanges, command_line: &'a str) -> ChangesPage<'a> {
    // Files with changes that are left, in their order.
    let edits = || found.set.changes.iter().flat_map(|change| &change.edits);
    let numbers: Vec<usize> = edits().map(|(file, _)| *file).collect::<BTreeSet<_>>().into_iter().collect();
    ChangesPage {
        good: &found.names[0],
        bad: &found.names[1],
        headline: changed::headline(found),
        commits: found.suspects.iter().flatten().map(changed::commit_line).collect(),
        changes: (0..found.set.changes.len()).map(|number| guilty(found, number, &numbers)).collect(),
        closest: changed::difference(found).unwrap_or_default(),
        verdict: changed::verdict(found),
        warnings: &found.warnings,
        files: numbers.iter().map(|&number| file_difference(found, number)).collect(),
        matrices: matrices(found),
        command_line,
    }
}

fn guilty(found: &GuiltyChanges, number: usize, files: &[usize]) -> GuiltyChange {
    let change = &found.set.changes[number];
    let TriedMember { file, place } = place(&found.set, change);
    let seen = found.without.iter().find(|(member, _)| *member == number).map(|(_, seen)| seen.why.clone());
    GuiltyChange {
        place: format!("{file}, {place}"),
        file: files.binary_search(&change.edits[0].0).unwrap_or(0),
        commit: found.commits[number].as_ref().map(changed::commit_line),
        without: seen,
    }
}

/// The differences in a file between the two versions, with the changes that break the program.
fn file_difference(found: &GuiltyChanges, number: usize) -> FileDifference {
    let file = &found.set.files[number];
    let changes = found.set.changes.iter().flat_map(|change| &change.edits);
    let edits: Vec<&ChangeEdit> = changes.filter(|(of, _)| *of == number).map(|(_, edit)| edit).collect();
    let is_whole = edits.contains(&&ChangeEdit::Whole);
    let is_lit = |old: Option<usize>, new: Option<usize>| {
        is_whole
            || edits.iter().any(|edit| match edit {
                ChangeEdit::Lines(before, after) => {
                    old.is_some_and(|line| before.contains(&line))
                        || new.is_some_and(|line| after.contains(&line))
                }
                _ => false,
            })
    };
    let (hunks, note) = hunks(file, &is_lit);
    FileDifference {
        path: file.path.to_string_lossy().into_owned(),
        moved_from: file.moved_from.as_ref().map(|from| from.to_string_lossy().into_owned()),
        hunks,
        note,
    }
}

fn hunks(
    file: &ChangedFile,
    is_lit: &dyn Fn(Option<usize>, Option<usize>) -> bool,
) -> (Vec<Vec<DifferenceRow>>, String) {
    let Some((old, new)) = &file.texts else { return (Vec::new(), "It is not shown: no text.".into()) };
    let row = |(sign, before, after): ComparedLine| -> DifferenceRow {
        let line = match (before, after) {
            (_, Some(line)) => new.line(line),
            (Some(line), _) => old.line(line),
            _ => &[],
        };
        let text = String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']).to_owned();
        let lit = sign != ' ' && is_lit(before, after);
        (sign, before.map(|line| line + 1), after.map(|line| line + 1), text, lit)
    };
    let all: Vec<Vec<DifferenceRow>> =
        compared_lines(old, new).into_iter().map(|hunk| hunk.into_iter().map(row).collect()).collect();
    let has_lit = |hunk: &Vec<DifferenceRow>| hunk.iter().any(|row| row.4);
    let mut room = MOST_ROWS;
    // What breaks the program comes first when there is too little room for all.
    let mut wanted: Vec<usize> = (0..all.len()).collect();
    wanted.sort_by_key(|&number| !has_lit(&all[number]));
    let mut shown: BTreeMap<usize, Vec<DifferenceRow>> = BTreeMap::new();
    for number in wanted {
        let rows: Vec<DifferenceRow> = all[number].iter().take(room).cloned().collect();
        room -= rows.len();
        if !rows.is_empty() {
            shown.insert(number, rows);
        }
    }
    let left_out: usize =
        all.iter().map(Vec::len).sum::<usize>() - shown.values().map(Vec::len).sum::<usize>();
    let note = if left_out > 0 { format!("{left_out} more lines are not shown.") } else { String::new() };
    (shown.into_values().collect(), note)
}

/// The phases, those that choose from the same members as one.
fn matrices(found: &GuiltyChanges) -> Vec<TestMatrix> {
    let mut groups: Vec<Vec<(usize, &TriedPhase)>> = Vec::new();
    let mut before = 0;
    for phase in &found.tried {
        let first = before + 1;
        before += phase.tests.len();
        match groups.last_mut() {
            Some(group) if group[0].1.members == phase.members => group.push((first, phase)),
            _ => groups.push(vec![(first, phase)]),
        }
    }
    let has_tests =
        |group: &Vec<(usize, &TriedPhase)>| group.iter().any(|(_, phase)| !phase.tests.is_empty());
    groups.iter().filter(|group| has_tests(group)).map(|group| matrix(found, group)).collect()
}

fn matrix(found: &GuiltyChanges, phases: &[(usize, &TriedPhase)]) -> TestMatrix {
    let members = &phases[0].1.members;
    let (title, unit) = match phases[0].1.id {
        PhaseId(b'h') => ("Commits, each with those above it", "commit"),
        PhaseId(b'd') => ("The closest versions: parts of what breaks it", "change"),
        PhaseId(b'l') => ("Lines of the changes that break it", "line"),
        _ => ("All changes", "change"),
    };
    let columns = phases.iter().flat_map(|(first, phase)| {
        let numbered = (*first..).zip(&phase.tests);
        numbered.map(move |(number, test)| column(number, test, number == *first))
    });
    let mut tests: Vec<MatrixColumn> = columns.collect();
    let left_out = tests.len().saturating_sub(MOST_COLUMNS);
    if left_out > 0 {
        tests.drain(MOST_COLUMNS / 2..MOST_COLUMNS / 2 + left_out);
    }
    let note = match left_out {
        0 => String::new(),
        more => format!("The columns of {more} tests in the middle are not shown."),
    };
    let is_of_commits = phases[0].1.id == PhaseId(b'h');
    let directories = directories(members, &guilty_members(found, phases), is_of_commits);
    TestMatrix { title: title.into(), unit, all: members.len(), directories, tests, note }
}

/// The members with which the search has ended: those of the smallest test that shows the failure.
fn guilty_members(found: &GuiltyChanges, phases: &[(usize, &TriedPhase)]) -> BTreeSet<usize> {
    let (_, first) = phases[0];
    let commits: Vec<&str> = found.suspects.iter().flatten().map(|commit| commit.short()).collect();
    match first.id {
        PhaseId(b'h') => {
            let numbered = first.members.iter().enumerate();
            numbered
                .filter(|(_, member)| commits.contains(&&*member.file))
                .map(|(number, _)| number)
                .collect()
        }
        PhaseId(b'd') => (0..first.members.len()).collect(),
        _ => {
            let tests = phases.iter().flat_map(|(_, phase)| &phase.tests);
            let failing = tests.filter(|test| test.seen.evidence.outcome == Outcome::Fail);
            let smallest = failing.min_by_key(|test| test.applied.len());
            smallest.map(|test| test.applied.iter().collect()).unwrap_or_default()
        }
    }
}

fn directories(
    members: &[TriedMember],
    guilty: &BTreeSet<usize>,
    is_of_commits: bool,
) -> Vec<MatrixDirectory> {
    let mut directories: BTreeMap<String, BTreeMap<String, Vec<MatrixMember>>> = BTreeMap::new();
    for (number, TriedMember { file, place }) in members.iter().enumerate() {
        let path = Path::new(file);
        let part = |part: Option<&std::ffi::OsStr>| {
            part.map(|part| part.to_string_lossy().into_owned()).unwrap_or_default()
        };
        let (directory, name) = match is_of_commits {
            // Commits stand in their order.
            true => (String::new(), format!("{number:08}")),
            false => (part(path.parent().map(Path::as_os_str)), part(path.file_name())),
        };
        let member = MatrixMember { number, place: place.clone(), guilty: guilty.contains(&number) };
        directories.entry(directory).or_default().entry(name).or_default().push(member);
    }
    let file = |(name, members): (String, Vec<MatrixMember>), all: &[TriedMember]| {
        let name = if is_of_commits { all[members[0].number].file.clone() } else { name };
        MatrixFile { name, members }
    };
    let directory = |(name, files): (String, BTreeMap<String, Vec<MatrixMember>>)| {
        let name = if name.is_empty() || name.ends_with('/') { name } else { name + "/" };
        MatrixDirectory { name, files: files.into_iter().map(|one| file(one, members)).collect() }
    };
    directories.into_iter().map(directory).collect()
}

fn column(number: usize, test: &TriedVersion, begins: bool) -> MatrixColumn {
    let TriedVersion { asked, applied, seen } = test;
    let added = applied.iter().filter(|&member| !asked.contains(member));
    let printed = String::from_utf8_lossy(&seen.printed);
    let from = printed.len().saturating_sub(MOST_PRINTED);
    let from = (from..=printed.len()).find(|&at| printed.is_char_boundary(at)).unwrap_or(0);
    MatrixColumn {
        number,
        outcome: spelling::outcome(seen.evidence.outcome),
        why: seen.evidence.why.clone(),
        printed: printed[from..].to_owned(),
        asked: ranges(asked.iter()),
        added: ranges(Configuration::from_iter(asked.universe(), added).iter()),
        begins,
    }
}

/// Numbers in ascending order as ranges.
fn ranges(numbers: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_as_ranges() {
        assert_eq!(ranges([0, 1, 2, 5, 7, 8].into_iter()), [(0, 2), (5, 5), (7, 8)]);
    }

    #[test]
    fn changes_stand_below_their_directories_and_files() {
        let member = |file: &str, place: &str| TriedMember { file: file.into(), place: place.into() };
        let all = [member("b.c", "line 3"), member("a/x.c", "line 1"), member("b.c", "line 9")];
        let found = directories(&all, &BTreeSet::from([2]), false);
        let one =
            |member: &MatrixMember| format!("{}{}", member.number, if member.guilty { "!" } else { "" });
        let file = |file: &MatrixFile| {
            format!("{} {}", file.name, file.members.iter().map(one).collect::<Vec<_>>().join(","))
        };
        let directory = |directory: &MatrixDirectory| {
            format!("{}: {}", directory.name, directory.files.iter().map(file).collect::<Vec<_>>().join("; "))
        };
        let told: Vec<String> = found.iter().map(directory).collect();
        assert_eq!(told, [": b.c 0,2!", "a/: x.c 1"]);
    }
}
