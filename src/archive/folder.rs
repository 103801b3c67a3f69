//! Find and create the folders of runs.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use tracer::invocation::SHELF;

use super::error::ArchiveError;

/// The archive: the folder of all runs that were made in a working directory.
#[derive(Clone, Debug)]
pub struct Archive(PathBuf);

/// The folder of one run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    pub(super) path: PathBuf,
    /// The number, if it stands among others.
    pub(super) number: Option<u32>,
}

impl Archive {
    /// The archive of a working directory, which need not be there yet.
    pub fn of(directory: &Path) -> Archive {
        Archive(directory.join(SHELF))
    }

    /// Creates the folder for the next run of `program`. Another process that does the same at the same time
    /// gets another number.
    ///
    /// # Errors
    /// If the archive cannot be written.
    pub fn reserve(&self, program: &Path) -> Result<RunFolder, ArchiveError> {
        self.make().map_err(ArchiveError::unwritable(&self.0))?;
        let mut number = self.last().map_err(ArchiveError::unreadable(&self.0))?;
        loop {
            number += 1;
            let claimed = self.claim(number, &folder_name(program));
            if let Some(path) = claimed.map_err(ArchiveError::unwritable(&self.0))? {
                return Ok(RunFolder { path, number: Some(number) });
            }
        }
    }

    /// The path of a file next to the runs.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The path of a file in the archive, which is created if it is not there.
    pub(super) fn make_file(&self, name: &str) -> Result<PathBuf, ArchiveError> {
        self.make().map_err(ArchiveError::unwritable(&self.0))?;
        Ok(self.file(name))
    }

    /// All runs, by number.
    ///
    /// # Errors
    /// If the archive cannot be read.
    pub fn runs(&self) -> Result<Vec<RunFolder>, ArchiveError> {
        let mut runs = self.numbered().map_err(ArchiveError::unreadable(&self.0))?;
        runs.sort_by_key(|run| run.number);
        Ok(runs)
    }

    /// Finds the run that the user names: by its number, by `latest`, by the path of its folder; the newest
    /// if there is no name.
    ///
    /// # Errors
    /// If there is no such run.
    pub fn find(&self, name: Option<&Path>) -> Result<RunFolder, ArchiveError> {
        let runs = self.runs()?;
        let word = name.map(|name| name.to_string_lossy().into_owned());
        match word.as_deref() {
            None | Some("latest") => runs.into_iter().next_back().ok_or(ArchiveError::NoRuns(self.0.clone())),
            Some(word) => {
                let number = word.parse().ok();
                let named = |run: &RunFolder| number.is_some() && run.number == number || run.is_called(word);
                let given = || RunFolder { path: word.into(), number: None };
                let found = runs.into_iter().find(named);
                found
                    .or_else(|| Path::new(word).is_dir().then(given))
                    .ok_or_else(|| ArchiveError::NoSuchRun(word.to_owned()))
            }
        }
    }

    /// Finds the same where only a run of `stripe run` will do: the newest of these, if the user names none.
    ///
    /// # Errors
    /// If there is no such run.
    pub fn find_search(&self, name: Option<&Path>) -> Result<RunFolder, ArchiveError> {
        if name.is_some_and(|name| name != Path::new("latest")) {
            return self.find(name);
        }
        let is_searched = |run: &RunFolder| run.untraced().is_none() && !run.is_located();
        let runs = self.runs()?;
        let missing = if runs.is_empty() { ArchiveError::NoRuns } else { ArchiveError::NoSearches };
        runs.into_iter().rev().find(is_searched).ok_or_else(|| missing(self.0.clone()))
    }

    /// Creates the folder. Kept runs may hold secrets from the environment, and none of them belongs into a
    /// repository.
    fn make(&self) -> io::Result<()> {
        make_private(&self.0)?;
        let ignore = self.0.join(".gitignore");
        if ignore.exists() { Ok(()) } else { fs::write(ignore, "*\n") }
    }

    fn numbered(&self) -> io::Result<Vec<RunFolder>> {
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let run = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let number = name.split_once('-')?.0.parse().ok()?;
            Some(RunFolder { path: entry.path(), number: Some(number) })
        };
        Ok(entries.filter_map(Result::ok).filter_map(run).collect())
    }

    fn last(&self) -> io::Result<u32> {
        Ok(self.numbered()?.iter().filter_map(|run| run.number).max().unwrap_or(0))
    }

    /// Takes a number. A folder of that number alone is made first, because the names of two programs
    /// would not collide; the process that has it checks whether the number was used before.
    fn claim(&self, number: u32, name: &str) -> io::Result<Option<PathBuf>> {
        let claim = self.0.join(format!(".{number}"));
        match DirBuilder::new().mode(0o700).create(&claim) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            made => made?,
        }
        if self.numbered()?.iter().any(|run| run.number == Some(number)) {
            fs::remove_dir(&claim)?;
            return Ok(None);
        }
        let path = self.0.join(format!("{number}-{name}"));
        fs::rename(&claim, &path)?;
        Ok(Some(path))
    }
}

impl RunFolder {
    /// Uses a folder that the user names for a new run.
    ///
    /// # Errors
    /// If it cannot be created, or holds anything already.
    pub fn create(path: &Path) -> Result<RunFolder, ArchiveError> {
        make_private(path).map_err(ArchiveError::unwritable(path))?;
        let mut entries = fs::read_dir(path).map_err(ArchiveError::unreadable(path))?;
        match entries.next() {
            Some(_) => Err(ArchiveError::Occupied(path.into())),
            None => Ok(RunFolder { path: path.into(), number: None }),
        }
    }

    /// The folder in which a run was laid out.
    pub fn at(path: &Path) -> RunFolder {
        RunFolder { path: path.into(), number: None }
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the program's standard input.
    pub fn input(&self) -> PathBuf {
        self.path().join("input")
    }

    /// The name by which the user calls it.
    pub fn name(&self) -> String {
        match self.number {
            Some(number) => number.to_string(),
            None => self.path.display().to_string(),
        }
    }

    /// The number, if it stands among others.
    pub fn number(&self) -> Option<u32> {
        self.number
    }

    /// Removes a numbered folder again if nothing has been written into it.
    pub fn discard(&self) {
        if self.number.is_some() {
            // One that cannot be removed is listed as empty.
            let _ = fs::remove_dir(&self.path);
        }
    }

    /// The folder for one of several criteria; without a name, the run's own.
    pub fn part(&self, name: Option<&str>) -> PathBuf {
        name.map_or_else(|| self.path.clone(), |name| self.path.join("criteria").join(name))
    }

    /// Makes this the run that `latest` refers to.
    pub(super) fn make_latest(&self) -> io::Result<()> {
        let (Some(_), Some(archive), Some(name)) = (self.number, self.path.parent(), self.path.file_name())
        else {
            return Ok(());
        };
        let temporary = archive.join(format!(".latest-{}", std::process::id()));
        let _ = fs::remove_file(&temporary);
        symlink(name, &temporary)?;
        fs::rename(&temporary, archive.join("latest"))
    }

    fn is_called(&self, word: &str) -> bool {
        self.path.file_name().is_some_and(|name| name == word)
    }
}

/// Creates a folder that only its owner may read, with those above it, unless it is there.
pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// The program's name with all characters replaced that are unsafe in a file name.
fn folder_name(program: &Path) -> String {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._+-".contains(c) { c } else { '_' };
    name.chars().map(plain).take(60).collect()
}
