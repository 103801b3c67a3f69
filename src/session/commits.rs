//! Find the commit that breaks a program: by binary search along the history, around commits that say nothing.
//!
//! Each commit brings those before it along, so that the circumstances are the commits of a line of first parents, and
//! a configuration is a stretch from the beginning. If a merge is guilty, the search goes on in the line that was
//! merged.
//!
//! Source: ESEC/FSE 1999, Table 7: with implications by time, dd+ is a binary search. The goal is a
//! passing and a failing version that are as close as can be: TSE 2002.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dd::{Configuration, Direction, End, Experiment, Outcome, Sequential, Space, Stop, isolate};

use super::error::SessionError;
use super::version_tester::VersionTester;
use super::versions::VersionHistory;
use super::watcher::Watcher;
use crate::circumstances::change::{Change, ChangeEdit, ChangeSet, ChangedFile, Commit, Separation, Tree};
use crate::circumstances::{PhaseId, PhaseTitle, Status, TestError};
use crate::oracle::Evidence;

/// The number of later commits that are tested, if what the guilty one has changed was changed again.
const MOST_LATER: usize = 12;

/// The commits between a version that passes and one that fails.
pub(super) struct GuiltyCommits {
    /// The guilty commit, or several of which those in between say nothing.
    pub(super) suspects: Vec<Commit>,
    /// The last version that passes.
    pub(super) passing: Tree,
    /// The first one that fails.
    pub(super) failing: Tree,
    /// The name of the passing version: a commit.
    pub(super) passing_commit: String,
    /// The status: whether the commit was found, or the search was cut short.
    pub(super) status: Status,
    /// The number of outcomes that were known without a test.
    pub(super) predicted: u64,
}

/// A line of commits, each of which brings those before it along.
struct CommitLine(usize);

impl Space for CommitLine {
    fn len(&self) -> usize {
        self.0
    }

    fn direction(&self) -> Direction {
        Direction::Grows
    }

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        let end = configuration.iter().last().map_or(0, |last| last + 1);
        Configuration::from_iter(self.0, 0..end)
    }
}

/// A stretch of history of which the beginning passes and the end fails.
struct Stretch {
    commits: Vec<Commit>,
    /// The version at the end, if it is no commit.
    uncommitted: Option<Tree>,
    passing_commit: String,
    passing: Tree,
}

/// Finds the guilty commits between the ends of a history.
pub(super) fn guilty(
    tester: &mut VersionTester<'_, '_>,
    history: &VersionHistory,
    bad: &Tree,
    watcher: &mut dyn Watcher,
) -> Result<Option<GuiltyCommits>, SessionError> {
    let mut commits = history.repository.line(&history.good, &history.bad)?;
    let uncommitted = history.is_uncommitted.then(|| bad.clone());
    if history.is_uncommitted {
        commits.push(uncommitted_changes(&history.bad));
    }
    if commits.is_empty() {
        return Ok(None);
    }
    let passing = tester.setup.base.tree.clone();
    let stretch = Stretch { commits, uncommitted, passing_commit: history.good.clone(), passing };
    let mut found = search(tester, history, stretch, watcher)?;
    while found.status == Status::Minimal {
        let again = match later_passing(tester, history, &found, bad)? {
            Some(later) => Some(later),
            None => merged(tester, history, &found)?,
        };
        let Some(stretch) = again else { break };
        let (predicted, deeper) = (found.predicted, search(tester, history, stretch, watcher)?);
        found = GuiltyCommits { predicted: predicted + deeper.predicted, ..deeper };
    }
    Ok(Some(found))
}

fn uncommitted_changes(head: &str) -> Commit {
    let subject = "changes that are not committed".to_owned();
    Commit {
        id: String::new(),
        parents: vec![head.to_owned()],
        author: String::new(),
        date: String::new(),
        subject,
    }
}

impl Stretch {
    fn tree(
        &self,
        tester: &VersionTester<'_, '_>,
        history: &VersionHistory,
        length: usize,
    ) -> std::io::Result<Tree> {
        match (length, &self.uncommitted) {
            (0, _) => Ok(self.passing.clone()),
            (length, Some(tree)) if length == self.commits.len() => Ok(tree.clone()),
            (length, _) => tester.commit_tree(history, &self.commits[length - 1].id),
        }
    }
}

/// Narrows a stretch.
fn search(
    tester: &mut VersionTester<'_, '_>,
    history: &VersionHistory,
    stretch: Stretch,
    watcher: &mut dyn Watcher,
) -> Result<GuiltyCommits, SessionError> {
    let count = stretch.commits.len();
    let space = CommitLine(count);
    tester.setup.begin_phase();
    let title = PhaseTitle { id: PhaseId(b'h'), what: "commits".into(), unit: "commit" };
    watcher.begins(&title, &Configuration::full(count));
    let max_tests = tester.tests_left();
    let (found, predicted) = {
        let tester = &mut *tester;
        let test = |configuration: &Configuration| -> Result<(Outcome, Evidence), TestError> {
            let tree = stretch.tree(tester, history, configuration.len()).map_err(TestError::Files)?;
            tester.test_of_phase(configuration, &tree)
        };
        let mut tester = Sequential::new(test);
        let experiment = Experiment::new(&space, &mut tester).limited_to(max_tests);
        let mut experiment = experiment.observed_by(watcher);
        let found = isolate(&mut experiment, Configuration::empty(count), Configuration::full(count));
        let counts = experiment.counts();
        (found, counts.predicted + counts.cached)
    };
    let status = match found.end {
        End::Minimal(_) => Status::Minimal,
        End::Stopped(Stop::Error(error)) => return Err(error.into()),
        End::Stopped(Stop::Asked) => watcher.reason(),
        End::Stopped(Stop::Limit | Stop::NotRecorded) => Status::Budget,
    };
    let (from, to) = (found.passing.len(), found.failing.len());
    let passing_commit = match from {
        0 => stretch.passing_commit.clone(),
        from => stretch.commits[from - 1].id.clone(),
    };
    Ok(GuiltyCommits {
        passing: stretch.tree(tester, history, from)?,
        failing: stretch.tree(tester, history, to)?,
        suspects: stretch.commits[from..to].to_vec(),
        passing_commit,
        status,
        predicted,
    })
}

/// The line of commits that a guilty merge has brought in, if it fails by itself and its beginning does not.
fn merged(
    tester: &mut VersionTester<'_, '_>,
    history: &VersionHistory,
    found: &GuiltyCommits,
) -> Result<Option<Stretch>, SessionError> {
    let [merge] = &found.suspects[..] else { return Ok(None) };
    let Some((first, others)) = merge.parents.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Ok(None);
    };
    for other in others {
        let commits = history.repository.line(first, other)?;
        let Some(beginning) = commits.first().and_then(|commit| commit.parents.first()).cloned() else {
            continue;
        };
        let tip = tester.commit_tree(history, other)?;
        if tester.outcome(&tip)? != Outcome::Fail {
            continue;
        }
        let passing = tester.commit_tree(history, &beginning)?;
        if tester.outcome(&passing)? == Outcome::Pass {
            return Ok(Some(Stretch { commits, uncommitted: None, passing_commit: beginning, passing }));
        }
    }
    Ok(None)
}

/// The stretch after a later commit that passes, if nothing that the suspects have changed is as they have left it: a
/// failure that was mended and came back has another cause now.
fn later_passing(
    tester: &mut VersionTester<'_, '_>,
    history: &VersionHistory,
    found: &GuiltyCommits,
    bad: &Tree,
) -> Result<Option<Stretch>, SessionError> {
    let Some(last) = found.suspects.last().filter(|commit| !commit.id.is_empty()) else { return Ok(None) };
    let set = ChangeSet::between(&found.passing, &found.failing, Separation(1))?;
    if lost(&set, bad) < set.changes.len() {
        return Ok(None);
    }
    let line = history.repository.line(&last.id, &history.bad)?;
    let files: BTreeSet<&Path> = set.files.iter().map(|file| &*file.path).collect();
    let mut touching: Vec<usize> = Vec::new();
    let mut before = found.failing.clone();
    for (number, commit) in line.iter().enumerate() {
        let tree = tester.commit_tree(history, &commit.id)?;
        if before.overlay_to(&tree).keys().any(|path: &PathBuf| files.contains(&**path)) {
            touching.push(number);
        }
        before = tree;
    }
    for number in touching.into_iter().rev().take(MOST_LATER) {
        let passing = tester.commit_tree(history, &line[number].id)?;
        if tester.outcome(&passing)? == Outcome::Pass {
            let mut commits = line[number + 1..].to_vec();
            let uncommitted = history.is_uncommitted.then(|| bad.clone());
            commits.extend(history.is_uncommitted.then(|| uncommitted_changes(&history.bad)));
            let passing_commit = line[number].id.clone();
            return Ok(Some(Stretch { commits, uncommitted, passing_commit, passing })
                .filter(|stretch| !stretch.commits.is_empty()));
        }
    }
    Ok(None)
}

/// The number of changes of a set that are no longer there in another version.
pub(super) fn lost(set: &ChangeSet, version: &Tree) -> usize {
    let survives =
        |change: &Change| change.edits.iter().all(|(file, edit)| survives(&set.files[*file], edit, version));
    set.changes.iter().filter(|change| !survives(change)).count()
}

/// True if an edit of a file is still there in another version.
fn survives(file: &ChangedFile, edit: &ChangeEdit, version: &Tree) -> bool {
    let there = version.entries.get(&file.path);
    match (edit, &file.texts, there) {
        (ChangeEdit::Lines(before, after), Some((old, new)), Some(there)) => {
            let Ok(text) = there.content.read() else { return true };
            let count =
                |text: &[u8], part: &[u8]| text.windows(part.len()).filter(|window| *window == part).count();
            match (new.lines(after.clone()), old.lines(before.clone())) {
                ([], []) => true,
                // A removed text may stand elsewhere, but not more often than then.
                ([], gone) => count(&text, gone) <= count(new.lines(0..new.len()), gone),
                (come, _) => count(&text, come) > 0,
            }
        }
        (ChangeEdit::Whole, ..) => there == file.new.as_ref(),
        (_, _, there) => there.is_some(),
    }
}

/// The changes of a set that overlap with the differences between two versions, the later of which is that of
/// the set.
pub(super) fn overlapping(set: &ChangeSet, passing: &Tree, failing: &Tree) -> std::io::Result<Configuration> {
    let theirs = ChangeSet::between(passing, failing, Separation(1))?;
    let edits = || theirs.changes.iter().flat_map(|change| &change.edits);
    let meets = |file: usize, edit: &ChangeEdit| {
        let path = &set.files[file].path;
        edits().filter(|(other, _)| theirs.files[*other].path == *path).any(|(_, other)| {
            match (edit, other) {
                (ChangeEdit::Lines(_, one), ChangeEdit::Lines(_, other)) => {
                    one.start <= other.end && other.start <= one.end
                }
                (ChangeEdit::Lines(..), ChangeEdit::Mode) | (ChangeEdit::Mode, ChangeEdit::Lines(..)) => {
                    false
                }
                _ => true,
            }
        })
    };
    let count = set.changes.len();
    let meeting =
        (0..count).filter(|&number| set.changes[number].edits.iter().any(|(file, edit)| meets(*file, edit)));
    Ok(Configuration::from_iter(count, meeting))
}

/// Describes the suspected commits.
pub(super) fn told(found: &GuiltyCommits) -> Vec<String> {
    let one = |commit: &Commit| match commit.id.is_empty() {
        true => commit.subject.clone(),
        false => format!("commit {}, {}, {}: {}", commit.short(), commit.date, commit.author, commit.subject),
    };
    found.suspects.iter().map(one).collect()
}
