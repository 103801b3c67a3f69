//! Keep which changes break a program: a document, and a file for each content of a file that they change.
//!
//! A folder of such a search, `.stripe/<number>-changes`, holds
//!
//! - `changes.json`: the command and the failure. Written when the search begins;
//! - `guilty.json`: the changes that are left, and the tests as far as they are told. Not there before the end;
//! - `old-<file>` and `new-<file>`: the contents of the files that these changes are in;
//! - `owner`: locked by the process that is at work.

use std::time::Duration;

use dd::Configuration;
use serde::{Deserialize, Serialize};
use tracer::{Bytes, Containment};

use super::contents::{FileDocument, read_if_there, remove};
use super::documents::SeenDocument;
use super::error::ArchiveError;
use super::files::write_document;
use super::folder::RunFolder;
use super::guilty_tests::{TriedPhaseDocument, tried, tried_documents};
use super::texts::{TextDocument, path, text};
use super::words::{ContainmentWord, StatusWord};
use crate::circumstances::Status;
use crate::circumstances::change::{
    Change, ChangeCounts, ChangeEdit, ChangeSet, ChangedFile, Commit, Content, EntryMode, Tree, TreeEntry,
    patch,
};
use crate::guilty::GuiltyChanges;
use crate::oracle::Evidence;

/// The format of `guilty.json`.
const GUILTY: &str = "stripe.guilty/1";

#[derive(Serialize, Deserialize)]
struct GuiltyDocument {
    #[serde(with = "StatusWord")]
    status: Status,
    good: String,
    bad: String,
    criterion: String,
    all: usize,
    unit: String,
    changed_files: Vec<ChangedFileDocument>,
    changes: Vec<ChangeDocument>,
    suspects: Option<Vec<CommitDocument>>,
    base_commit: Option<String>,
    passing: Vec<usize>,
    failing: Vec<usize>,
    without: Vec<(usize, SeenDocument)>,
    shown: String,
    tried: Vec<TriedPhaseDocument>,
    tests: ChangeCountsDocument,
    predicted: u64,
    runs: u64,
    elapsed_ms: u64,
    #[serde(with = "ContainmentWord")]
    containment: Containment,
    warnings: Vec<String>,
    /// The other files of the folder.
    files: Vec<FileDocument>,
}

#[derive(Serialize, Deserialize)]
struct ChangedFileDocument {
    path: TextDocument,
    moved_from: Option<TextDocument>,
    /// Null where the file is not there.
    old: Option<ModeDocument>,
    new: Option<ModeDocument>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ModeDocument {
    Plain,
    Executable,
    Link,
}

#[derive(Serialize, Deserialize)]
struct ChangeDocument {
    /// Each with the number of its file.
    edits: Vec<(usize, EditDocument)>,
    function: Option<String>,
    needs: Option<usize>,
    commit: Option<CommitDocument>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EditDocument {
    /// Old lines from and to, new lines from and to; from 0.
    Lines(usize, usize, usize, usize),
    Whole,
    Mode,
    Creation,
    Move,
}

#[derive(Serialize, Deserialize)]
struct CommitDocument {
    id: String,
    parents: Vec<String>,
    author: String,
    date: String,
    subject: String,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct ChangeCountsDocument {
    total: u64,
    fail: u64,
    pass: u64,
    integration: u64,
    construction: u64,
    execution: u64,
    builds: u64,
}

/// The result of a search for changes, in numbers.
#[derive(Clone, Copy, Debug)]
pub struct ChangesProgress {
    /// The status of the search at its end.
    pub status: Status,
    /// The number of changes that are left.
    pub left: usize,
    /// The number of tests made.
    pub tests: u64,
}

impl RunFolder {
    /// Writes the result.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn conclude_changes(&self, found: &GuiltyChanges) -> Result<(), ArchiveError> {
        let used = used(found);
        let mut files = Vec::new();
        for (number, &file) in used.iter().enumerate() {
            let ChangedFile { old, new, .. } = &found.set.files[file];
            for (prefix, entry) in [("old", old), ("new", new)] {
                let Some(entry) = entry else { continue };
                let name = format!("{prefix}-{number}");
                let path = self.path().join(&name);
                let content = entry.content.read().map_err(ArchiveError::unwritable(&path))?;
                files.push(self.keep_content(&name, &content)?);
            }
        }
        let path = self.path().join("guilty.json");
        write_document(&path, GUILTY, &document(found, &used, files)).map_err(ArchiveError::unwritable(&path))
    }

    /// Takes the result away, because the search goes on.
    ///
    /// # Errors
    /// If it cannot be taken away.
    pub fn reopen_changes(&self) -> Result<(), ArchiveError> {
        remove(&self.path().join("guilty.json"))
    }

    /// In numbers what the search has come to; `None` if it has not ended.
    ///
    /// # Errors
    /// If it is not what was written.
    pub fn changes_progress(&self) -> Result<Option<ChangesProgress>, ArchiveError> {
        let progress = |document: GuiltyDocument| ChangesProgress {
            status: document.status,
            left: document.changes.len(),
            tests: document.tests.total,
        };
        Ok(self.guilty_document()?.map(progress))
    }

    /// The result, if the search has come to one.
    ///
    /// # Errors
    /// If it is not what was written.
    pub fn guilty_changes(&self) -> Result<Option<GuiltyChanges>, ArchiveError> {
        let Some(document) = self.guilty_document()? else { return Ok(None) };
        let contents = self.contents(&document.files)?;
        let damaged = |what: String| ArchiveError::damaged(&self.path().join("guilty.json"), what);
        guilty(document, &contents).map(Some).map_err(damaged)
    }

    fn guilty_document(&self) -> Result<Option<GuiltyDocument>, ArchiveError> {
        read_if_there(&self.path().join("guilty.json"), &[GUILTY])
    }
}

/// The files that the changes are in.
fn used(found: &GuiltyChanges) -> Vec<usize> {
    let edits = found.set.changes.iter().flat_map(|change| &change.edits);
    let mut used: Vec<usize> = edits.map(|(file, _)| *file).collect();
    used.sort_unstable();
    used.dedup();
    used
}

fn document(found: &GuiltyChanges, used: &[usize], files: Vec<FileDocument>) -> GuiltyDocument {
    let seen = |(member, seen): &(usize, Evidence)| (*member, SeenDocument::of(seen));
    let [good, bad] = found.names.clone();
    let [passing, failing] = found.difference.clone();
    let commits = found.commits.iter();
    let changes = found.set.changes.iter().zip(commits);
    let ChangeCounts { total, fail, pass, integration, construction, execution, builds } = found.tests;
    GuiltyDocument {
        status: found.status,
        good,
        bad,
        criterion: found.criterion.clone(),
        all: found.all,
        unit: found.unit.to_owned(),
        changed_files: used.iter().map(|&file| file_document(&found.set.files[file])).collect(),
        changes: changes.map(|(change, commit)| change_document(change, commit.as_ref(), used)).collect(),
        suspects: found.suspects.as_ref().map(|all| all.iter().map(commit_document).collect()),
        base_commit: found.base_commit.clone(),
        passing,
        failing,
        without: found.without.iter().map(seen).collect(),
        shown: found.shown.clone(),
        tried: tried_documents(&found.tried),
        tests: ChangeCountsDocument { total, fail, pass, integration, construction, execution, builds },
        predicted: found.predicted,
        runs: found.runs,
        elapsed_ms: found.elapsed.as_millis() as u64,
        containment: found.containment.clone(),
        warnings: found.warnings.clone(),
        files,
    }
}

fn file_document(file: &ChangedFile) -> ChangedFileDocument {
    let mode = |entry: &TreeEntry| match entry.mode {
        EntryMode::Plain => ModeDocument::Plain,
        EntryMode::Executable => ModeDocument::Executable,
        EntryMode::Link => ModeDocument::Link,
    };
    ChangedFileDocument {
        path: text(file.path.as_os_str()),
        moved_from: file.moved_from.as_ref().map(|from| text(from.as_os_str())),
        old: file.old.as_ref().map(mode),
        new: file.new.as_ref().map(mode),
    }
}

fn change_document(change: &Change, commit: Option<&Commit>, used: &[usize]) -> ChangeDocument {
    let edit = |edit: &ChangeEdit| match edit {
        ChangeEdit::Lines(old, new) => EditDocument::Lines(old.start, old.end, new.start, new.end),
        ChangeEdit::Whole => EditDocument::Whole,
        ChangeEdit::Mode => EditDocument::Mode,
        ChangeEdit::Creation => EditDocument::Creation,
        ChangeEdit::Move => EditDocument::Move,
    };
    let place = |file: &usize| used.binary_search(file).unwrap_or_default();
    ChangeDocument {
        edits: change.edits.iter().map(|(file, one)| (place(file), edit(one))).collect(),
        function: change.function.clone(),
        needs: change.needs,
        commit: commit.map(commit_document),
    }
}

fn commit_document(commit: &Commit) -> CommitDocument {
    let Commit { id, parents, author, date, subject } = commit.clone();
    CommitDocument { id, parents, author, date, subject }
}

fn commit(document: CommitDocument) -> Commit {
    let CommitDocument { id, parents, author, date, subject } = document;
    Commit { id, parents, author, date, subject }
}

/// The result that a document describes; `contents` are those of the other files.
fn guilty(document: GuiltyDocument, contents: &[(String, Bytes)]) -> Result<GuiltyChanges, String> {
    let entry = |prefix: &str, number: usize, mode: Option<ModeDocument>| -> Option<TreeEntry> {
        let mode = match mode? {
            ModeDocument::Plain => EntryMode::Plain,
            ModeDocument::Executable => EntryMode::Executable,
            ModeDocument::Link => EntryMode::Link,
        };
        let name = format!("{prefix}-{number}");
        let (_, bytes) = contents.iter().find(|(known, _)| *known == name)?;
        Some(TreeEntry { mode, content: Content::new(bytes.to_vec()) })
    };
    let mut files = Vec::new();
    let mut base = Tree::default();
    for (number, file) in document.changed_files.into_iter().enumerate() {
        let (at, from) = (path(file.path), file.moved_from.map(path));
        let (old, new) = (entry("old", number, file.old), entry("new", number, file.new));
        if let Some(old) = &old {
            base.entries.insert(from.clone().unwrap_or_else(|| at.clone()), old.clone());
        }
        files.push(ChangedFile::new(at, from, old, new).map_err(|error| error.to_string())?);
    }
    let (mut changes, mut commits) = (Vec::new(), Vec::new());
    for change in document.changes {
        commits.push(change.commit.map(commit));
        let edits = change.edits.into_iter().map(|(file, one)| Ok((file, edit(one, files.get(file))?)));
        changes.push(Change {
            edits: edits.collect::<Result<_, String>>()?,
            function: change.function,
            needs: change.needs,
        });
    }
    let set = ChangeSet { files, changes };
    let count = set.changes.len();
    let needed = set.changes.iter().filter_map(|change| change.needs);
    let told = document.without.iter().map(|(member, _)| *member);
    let mut named = needed.chain(told).chain(document.passing.iter().chain(&document.failing).copied());
    if named.any(|change| change >= count) {
        return Err("a change is named that there is not".into());
    }
    let overlay = set.apply(&Configuration::full(count));
    let one = |number: usize| {
        let overlay = set.apply(&Configuration::from_iter(count, [number]));
        patch(&base, &overlay).map(|(patch, _)| patch).map_err(|error| error.to_string())
    };
    let patches = (0..count).map(one).collect::<Result<_, _>>()?;
    let ChangeCountsDocument { total, fail, pass, integration, construction, execution, builds } =
        document.tests;
    let seen = |(member, seen): (usize, SeenDocument)| (member, seen.evidence());
    Ok(GuiltyChanges {
        status: document.status,
        names: [document.good, document.bad],
        criterion: document.criterion,
        all: document.all,
        unit: ["line", "file", "function"]
            .into_iter()
            .find(|unit| *unit == document.unit)
            .unwrap_or("change"),
        set,
        commits,
        suspects: document.suspects.map(|all| all.into_iter().map(commit).collect()),
        base_commit: document.base_commit,
        difference: [document.passing, document.failing],
        without: document.without.into_iter().map(seen).collect(),
        shown: document.shown,
        patches,
        base,
        kept: None,
        overlay,
        tried: tried(document.tried)?,
        tests: ChangeCounts { total, fail, pass, integration, construction, execution, builds },
        predicted: document.predicted,
        runs: document.runs,
        elapsed: Duration::from_millis(document.elapsed_ms),
        below: Default::default(),
        containment: document.containment,
        warnings: document.warnings,
        kept_as: None,
    })
}

/// An edit, if it is one of the file.
fn edit(document: EditDocument, file: Option<&ChangedFile>) -> Result<ChangeEdit, String> {
    let file = file.ok_or("a change is in no file")?;
    Ok(match document {
        EditDocument::Lines(old, old_end, new, new_end) => {
            let lengths = file.texts.as_ref().map(|(old, new)| (old.len(), new.len()));
            let fits = lengths.is_some_and(|(before, after)| {
                old <= old_end && old_end <= before && new <= new_end && new_end <= after
            });
            match fits {
                true => ChangeEdit::Lines(old..old_end, new..new_end),
                false => return Err("a change is beyond the end of its file".into()),
            }
        }
        EditDocument::Whole => ChangeEdit::Whole,
        EditDocument::Mode => ChangeEdit::Mode,
        EditDocument::Creation => ChangeEdit::Creation,
        EditDocument::Move => ChangeEdit::Move,
    })
}
