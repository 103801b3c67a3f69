//! Write files that the user names.
//!
//! A file is written as a whole or not at all, and none is overwritten unless the user says so. A special
//! file (a pipe, a device) is written to, never replaced.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// The place of an output file: what its name refers to.
pub(super) enum OutputPlace {
    /// Nothing; the name is free.
    Free,
    /// A regular file; its path without symbolic links.
    File(PathBuf),
    /// A pipe, a terminal or a device.
    Special,
}

/// The permission to overwrite a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Overwriting {
    Forbidden,
    Allowed,
}

impl Overwriting {
    pub(super) fn if_asked(is_asked: bool) -> Overwriting {
        if is_asked { Overwriting::Allowed } else { Overwriting::Forbidden }
    }
}

/// The readers of a new file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Readers {
    Owner,
    /// The same as of any other new file.
    Anybody,
}

/// Writes a file.
pub(super) fn write(file: &Path, bytes: &[u8], overwriting: Overwriting, readers: Readers) -> io::Result<()> {
    write_by(file, overwriting, readers, |out| out.write_all(bytes))
}

/// Writes a file piece by piece.
pub(super) fn write_by(
    file: &Path,
    overwriting: Overwriting,
    readers: Readers,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let write = |file: &File| {
        let mut buffered = BufWriter::new(file);
        write(&mut buffered)?;
        buffered.flush()
    };
    match place(file)? {
        OutputPlace::Special => write(&OpenOptions::new().write(true).open(file)?),
        OutputPlace::File(target) if overwriting == Overwriting::Allowed => {
            let temporary = temporary_beside(&target)?;
            write(temporary.as_file())?;
            temporary.as_file().set_permissions(fs::metadata(&target)?.permissions())?;
            temporary.persist(&target).map(drop).map_err(|error| error.error)
        }
        // Another process may have been faster.
        OutputPlace::File(_) | OutputPlace::Free => {
            let temporary = temporary_beside(file)?;
            if readers == Readers::Owner {
                temporary.as_file().set_permissions(fs::Permissions::from_mode(0o600))?;
            }
            write(temporary.as_file())?;
            temporary.persist_noclobber(file).map(drop).map_err(|error| error.error)
        }
    }
}

/// The canonical path of a file, whether it exists or not.
pub(super) fn whereabouts(file: &Path) -> Option<PathBuf> {
    let folder = || Some(folder(file).canonicalize().ok()?.join(file.file_name()?));
    file.canonicalize().ok().or_else(folder)
}

fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(super) fn place(file: &Path) -> io::Result<OutputPlace> {
    match fs::metadata(file) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() => Ok(OutputPlace::File(file.canonicalize()?)),
        Ok(_) => Ok(OutputPlace::Special),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(OutputPlace::Free),
        Err(error) => Err(error),
    }
}

/// Creates a temporary file that is removed unless it is given its final name, with the permissions of any other new
/// file.
pub(super) fn temporary_beside(file: &Path) -> io::Result<NamedTempFile> {
    let made = Builder::new().permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder(file));
    // The error names the temporary file, which means nothing to the user.
    made.map_err(|error| error.kind().into())
}
