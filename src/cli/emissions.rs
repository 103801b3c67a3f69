//! Write results to the files that the user names with `--emit`.
//!
//! A file is there as a whole or not at all, and none is overwritten unless the user says so. What is
//! no regular file (a pipe, a device) is written to, never replaced.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use super::exit::{Exit, Failure};
use super::options::OutputOptions;
use super::values::Emission;

/// What there is under the name of an output file.
enum Place {
    /// Nothing.
    Free,
    /// A regular file; its name without symbolic links.
    File(PathBuf),
    /// A pipe, a terminal or a device.
    Special,
}

/// Refuses, before any work is done, output files that cannot be written or would be overwritten, and
/// kinds of output that cannot hold `several` results.
pub(super) fn check(output: &OutputOptions, program: &Path, several: bool) -> Result<(), Failure> {
    if let (true, Some(kind)) = (several, output.kinds().find(|kind| !kind.holds_several())) {
        let message = format!(
            "{kind}: holds one result, and there are several criteria: ask for one, or take another kind"
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    let same = |one: &Path, other: &Path| whereabouts(one).is_some_and(|one| Some(one) == whereabouts(other));
    for (number, Emission { file, .. }) in output.emit.iter().enumerate() {
        let usage = |reason: &dyn std::fmt::Display| {
            Failure::new(Exit::Usage, format!("{}: {reason}: give --emit another file", file.display()))
        };
        if same(file, program) {
            return Err(usage(&"is the program itself"));
        }
        if output.emit[..number].iter().any(|earlier| same(&earlier.file, file)) {
            return Err(usage(&"is given twice"));
        }
        match place(file).map_err(|error| usage(&error))? {
            Place::Special => {}
            Place::File(_) if !output.force => {
                return Err(Failure::new(
                    Exit::Usage,
                    format!("{}: exists: give --emit another file, or add --force", file.display()),
                ));
            }
            Place::File(target) => drop(temporary_beside(&target).map_err(|error| usage(&error))?),
            Place::Free => drop(temporary_beside(file).map_err(|error| usage(&error))?),
        }
    }
    Ok(())
}

/// Writes one output file.
pub(super) fn write(emission: &Emission, bytes: &[u8], output: &OutputOptions) -> Result<(), Failure> {
    let Emission { kind, file } = emission;
    let written = place(file).and_then(|place| match place {
        Place::Special => OpenOptions::new().write(true).open(file)?.write_all(bytes),
        Place::File(target) if output.force => {
            let temporary = temporary_beside(&target)?;
            temporary.as_file().write_all(bytes)?;
            temporary.as_file().set_permissions(fs::metadata(&target)?.permissions())?;
            temporary.persist(&target).map(drop).map_err(|error| error.error)
        }
        // Somebody else may have been faster.
        Place::File(_) | Place::Free => {
            let temporary = temporary_beside(file)?;
            if kind.holds_environment() {
                temporary.as_file().set_permissions(fs::Permissions::from_mode(0o600))?;
            }
            temporary.as_file().write_all(bytes)?;
            temporary.persist_noclobber(file).map(drop).map_err(|error| error.error)
        }
    });
    written.map_err(|error| {
        Failure::new(
            Exit::Failed,
            format!("{}: {error}; make room, or give --emit a file that can be written", file.display()),
        )
    })
}

/// The file's name without detours, whether it exists or not.
fn whereabouts(file: &Path) -> Option<PathBuf> {
    let folder = || Some(folder(file).canonicalize().ok()?.join(file.file_name()?));
    file.canonicalize().ok().or_else(folder)
}

fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn place(file: &Path) -> io::Result<Place> {
    match fs::metadata(file) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() => Ok(Place::File(file.canonicalize()?)),
        Ok(_) => Ok(Place::Special),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Place::Free),
        Err(error) => Err(error),
    }
}

/// A file that goes away by itself unless it is given its final name, with the rights of any other new
/// file.
fn temporary_beside(file: &Path) -> io::Result<NamedTempFile> {
    let made = Builder::new().permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder(file));
    // The error names the temporary file, which means nothing to the user.
    made.map_err(|error| error.kind().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::values::EmissionKind;

    fn output(force: bool) -> OutputOptions {
        OutputOptions {
            format: EmissionKind::Text,
            emit: Vec::new(),
            force,
            values: false,
            full: false,
            quiet: true,
            verbose: false,
        }
    }

    fn emission(file: PathBuf) -> Emission {
        Emission { kind: EmissionKind::Text, file }
    }

    #[test]
    fn what_holds_the_environment_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |kind, name: &str| {
            let file = folder.path().join(name);
            write(&Emission { kind, file: file.clone() }, b"ours", &output(false)).unwrap();
            fs::metadata(&file).unwrap().permissions().mode() & 0o777
        };
        let usual = mode(EmissionKind::Json, "json");
        assert_eq!(mode(EmissionKind::Gdb, "gdb"), 0o600);
        fs::write(folder.path().join("any"), "").unwrap();
        assert_eq!(usual, fs::metadata(folder.path().join("any")).unwrap().permissions().mode() & 0o777);
    }

    #[test]
    fn a_file_that_came_into_being_in_the_meantime_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out");
        fs::write(&file, "theirs").unwrap();
        assert!(write(&emission(file.clone()), b"ours", &output(false)).is_err());
        assert_eq!(fs::read(&file).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_overwritten_file_keeps_its_rights_and_a_link_to_it_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("out"), folder.path().join("link"));
        fs::write(&file, "theirs").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("out", &link).unwrap();
        assert!(write(&emission(link.clone()), b"ours", &output(true)).is_ok());
        assert_eq!(fs::read(&file).unwrap(), b"ours");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
