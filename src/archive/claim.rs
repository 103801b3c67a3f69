//! Lock runs, so that one process at a time works on a run.
//!
//! A lock goes with the process that holds it, however that ends; a file system without locks is taken as it
//! is. The process that holds the lock of a run has written its number into the file, for the message to others.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use super::error::ArchiveError;
use super::files::private;
use super::folder::RunFolder;

/// The time that the child processes of a killed process may take to die.
const DYING: Duration = Duration::from_secs(2);

/// The waiting time between two attempts to lock.
const MOMENT: Duration = Duration::from_millis(10);

/// The lock of a run: the run belongs to this process as long as this lives.
#[derive(Debug)]
pub struct Claim {
    _lock: File,
}

impl RunFolder {
    /// Locks the run for this process.
    ///
    /// # Errors
    /// If another process works on it, or the folder cannot be written.
    pub fn claim(&self) -> Result<Claim, ArchiveError> {
        let path = self.path().join("owner");
        let file = private().create(true).truncate(false).open(&path);
        let mut file = lock(file.map_err(ArchiveError::unwritable(&path))?, &path)?;
        let written = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
        written.and_then(|()| file.rewind()).map_err(ArchiveError::unwritable(&path))?;
        Ok(Claim { _lock: file })
    }
}

/// Locks a file that only one process at a time may write.
pub(super) fn lock(mut file: File, path: &Path) -> Result<File, ArchiveError> {
    // A child process that was being started when its parent was killed has the lock until it is dead, too.
    for _ in 0..DYING.as_millis() / MOMENT.as_millis() {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(MOMENT),
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
    Err(ArchiveError::Busy { path: path.into(), process: owner(&mut file) })
}

/// The process number in a lock file, of at most some digits.
fn owner(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    Read::by_ref(file).take(20).read_to_string(&mut text).ok()?;
    text.parse().ok()
}
