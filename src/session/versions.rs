//! Read the two versions that are compared: folders, or revisions of the repository around.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use regex::bytes::Regex;

use super::error::{Cause, SessionError};
use crate::circumstances::change::{EntryMode, Repository, Tree, is_pointer};

/// A version, as the user names it.
#[derive(Clone, Copy, Debug)]
pub(super) struct VersionName<'a> {
    /// The option: `--good` or `--bad`.
    pub(super) option: &'static str,
    /// Its value.
    pub(super) name: &'a OsStr,
}

/// The two versions.
pub(super) struct Versions {
    /// The version that works.
    pub(super) good: Tree,
    /// The version that does not.
    pub(super) bad: Tree,
    /// The history between them, if there is one.
    pub(super) history: Option<VersionHistory>,
    /// The directory in which commands are started, below the top of the tree.
    pub(super) below: PathBuf,
    /// Warnings that weaken the answer; each one sentence.
    pub(super) warnings: Vec<String>,
}

/// The commits of the versions in the history of a repository.
pub(super) struct VersionHistory {
    /// The repository.
    pub(super) repository: Repository,
    /// The commit that works.
    pub(super) good: String,
    /// The commit that does not; or, of a working tree, the one that it was made of.
    pub(super) bad: String,
    /// True if the version that does not work is the working tree.
    pub(super) is_uncommitted: bool,
}

/// The place of a version: a folder or a revision.
enum Place {
    Folder(PathBuf),
    Revision(String),
}

impl Versions {
    /// Reads both versions; `folder` is the user's working directory, and paths that match `excluded` are in neither.
    ///
    /// # Errors
    /// If a name is no folder or revision, a file cannot be read, or there is no difference.
    pub(super) fn read(
        names: [VersionName<'_>; 2],
        folder: &Path,
        excluded: Option<&Regex>,
    ) -> Result<Versions, SessionError> {
        let repository = Repository::around(folder)?;
        let [good, bad] = names.map(|name| place(name, folder, repository.as_ref()));
        let (good, bad) = (good?, bad?);
        let read = |place: &Place| -> Result<Tree, SessionError> {
            let mut tree = match place {
                Place::Revision(commit) => {
                    repository.as_ref().map_or(Ok(Tree::default()), |from| from.tree(commit))?
                }
                Place::Folder(folder) => folder_tree(folder, repository.as_ref())?,
            };
            tree.retain(|path| is_wanted(path, excluded));
            Ok(tree)
        };
        let (good_tree, bad_tree) = (read(&good)?, read(&bad)?);
        let warnings = warnings(&good_tree, &bad_tree);
        if good_tree.overlay_to(&bad_tree).is_empty() {
            let why = format!(
                "{} and {} are the same, so that no change can have broken anything: name two versions of which one \
                 works and the other does not",
                shown(names[0].name),
                shown(names[1].name)
            );
            return Err(SessionError::new(Cause::Request, why));
        }
        let has_revision = [&good, &bad].iter().any(|place| matches!(place, Place::Revision(_)));
        let below = repository.as_ref().filter(|_| has_revision).map(|found| found.below().to_owned());
        let history = repository.map(|repository| history(repository, good, bad)).transpose()?.flatten();
        Ok(Versions { good: good_tree, bad: bad_tree, history, below: below.unwrap_or_default(), warnings })
    }
}

/// True if a path is a part of a version.
pub(super) fn is_wanted(path: &Path, excluded: Option<&Regex>) -> bool {
    !excluded.is_some_and(|excluded| excluded.is_match(path.as_os_str().as_bytes()))
}

fn shown(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}

fn place(
    VersionName { option, name }: VersionName<'_>,
    folder: &Path,
    repository: Option<&Repository>,
) -> Result<Place, SessionError> {
    let refuse =
        |why: String| Err(SessionError::new(Cause::Request, format!("{option} {}: {why}", shown(name))));
    let path = folder.join(name);
    let commit = match repository {
        Some(repository) => repository.commit_of(name)?,
        None => None,
    };
    match (path.is_dir(), commit) {
        (true, Some(_)) if !name.as_bytes().starts_with(b".") && !name.as_bytes().starts_with(b"/") => refuse(format!(
            "is a folder and a revision: write ./{0} for the folder, or refs/heads/{0} for the branch",
            shown(name)
        )),
        (true, _) => Ok(Place::Folder(path.canonicalize()?)),
        (false, Some(commit)) => Ok(Place::Revision(commit)),
        (false, None) => match repository {
            Some(repository) => refuse(format!(
                "is neither a folder nor a revision of the repository in {}; see `git log`, or fetch what is missing",
                repository.top().display()
            )),
            None => refuse(
                "is no folder, and there is no git repository here of which it could be a revision; name a folder, or \
                 start stripe within the repository"
                    .into(),
            ),
        },
    }
}

/// The files of a folder; of a working tree without those that git ignores.
fn folder_tree(folder: &Path, repository: Option<&Repository>) -> Result<Tree, SessionError> {
    let is_within = |repository: &&Repository| {
        folder == repository.top() || folder == repository.top().join(repository.below())
    };
    match repository.filter(is_within) {
        Some(repository) => Ok(repository.working_tree()?),
        None => match Repository::around(folder)? {
            Some(own) if own.top() == folder => Ok(own.working_tree()?),
            _ => Ok(Tree::of_folder(folder)?),
        },
    }
}

/// The commits of the versions, if the one that works is a commit, and the other one comes after it.
fn history(repository: Repository, good: Place, bad: Place) -> Result<Option<VersionHistory>, SessionError> {
    let Place::Revision(good) = good else { return Ok(None) };
    let (bad, is_uncommitted) = match bad {
        Place::Revision(bad) => (Some(bad), false),
        Place::Folder(folder) => {
            let is_own = folder == repository.top() || folder == repository.top().join(repository.below());
            (if is_own { repository.commit_of(OsStr::new("HEAD"))? } else { None }, true)
        }
    };
    let Some(bad) = bad else { return Ok(None) };
    Ok(Some(VersionHistory { repository, good, bad, is_uncommitted }))
}

fn warnings(good: &Tree, bad: &Tree) -> Vec<String> {
    let mut warnings: Vec<String> = good.remarks.iter().chain(&bad.remarks).cloned().collect();
    warnings.sort();
    warnings.dedup();
    let points = |tree: &Tree| {
        let mut files = tree.entries.iter().filter(|(_, entry)| entry.mode == EntryMode::Plain);
        let is_pointing = |content: std::io::Result<std::borrow::Cow<'_, [u8]>>| {
            content.is_ok_and(|bytes| is_pointer(&bytes))
        };
        files.find(|(_, entry)| is_pointing(entry.content.read())).map(|(path, _)| path.display().to_string())
    };
    if let Some(file) = points(good).or_else(|| points(bad)) {
        warnings.push(format!(
            "{file} and perhaps others are stored by git LFS: builds and tests see pointers instead; compare two folders \
             in which the files are"
        ));
    }
    warnings
}
