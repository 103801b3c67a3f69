//! The open files that a run shares with later runs: undo what it does to them, or notice it.
//!
//! The tests of a server are its children: they have the same open file descriptions (open(2)), so that status
//! flags, the position, locks, a lease and the owner of signals that one of them sets would be found by the
//! next. And they have the same files, with a mode, an owner and attributes. What a file holds is not for this
//! module: what runs only read is sealed (`sealed.rs`), what they write is taken back (`output.rs`).
//!
//! Source: fcntl(2), flock(2), fcntl_locking(2), inode(7).

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

/// Restores the state of an open file description to that after opening, but for its position.
pub(super) fn restore_description(file: &File) {
    const NOBODY: libc::c_int = 0;
    const F_SETSIG: libc::c_int = 10;
    let descriptor = file.as_raw_fd();
    // SAFETY: all zeros are a lock of the whole file.
    let mut unlocked: libc::flock = unsafe { std::mem::zeroed() };
    unlocked.l_type = libc::F_UNLCK as libc::c_short;
    // SAFETY: calls on an open descriptor with plain numbers, and a structure that outlives the call. What was
    // not set need not be taken away: a refusal is as good.
    unsafe {
        libc::fcntl(descriptor, libc::F_SETFL, 0);
        libc::fcntl(descriptor, libc::F_SETOWN, NOBODY);
        libc::fcntl(descriptor, F_SETSIG, 0);
        libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_UNLCK);
        libc::fcntl(descriptor, libc::F_OFD_SETLK, &raw const unlocked);
        libc::flock(descriptor, libc::LOCK_UN);
    }
}

/// The attributes of a file: what a program can change of it besides its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FileAttributes {
    mode: u32,
    owner: (u32, u32),
    /// The length of the list of names of its extended attributes, in bytes.
    attributes: isize,
}

impl FileAttributes {
    /// Reads the attributes of a file.
    pub(super) fn of(file: &File) -> FileAttributes {
        // SAFETY: asks for the length only, which takes no memory.
        let attributes = unsafe { libc::flistxattr(file.as_raw_fd(), std::ptr::null_mut(), 0) };
        let look = |data: std::fs::Metadata| FileAttributes {
            mode: data.mode(),
            owner: (data.uid(), data.gid()),
            attributes: attributes.max(0),
        };
        file.metadata().map(look).unwrap_or_default()
    }
}

/// The state of a file: its attributes, and its time of change (ctime), which is another one after each change of its
/// mode, owner, times or attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileState {
    attributes: FileAttributes,
    changed: (i64, i64),
}

impl FileState {
    /// Reads the state of a file.
    pub(super) fn of(file: &File) -> FileState {
        let changed = file.metadata().map_or((0, 0), |data| (data.ctime(), data.ctime_nsec()));
        FileState { attributes: FileAttributes::of(file), changed }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use nix::fcntl::{FcntlArg, OFlag, fcntl};

    use super::*;

    #[test]
    fn flags_and_locks_of_a_description_are_taken_away() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let other = file.reopen().expect("another description");
        // SAFETY: calls on open descriptors with plain numbers.
        let lock = |file: &File| unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) };
        fcntl(file.as_file(), FcntlArg::F_SETFL(OFlag::O_APPEND | OFlag::O_NONBLOCK)).expect("set");
        assert_eq!((lock(file.as_file()), lock(&other)), (0, -1));
        restore_description(file.as_file());
        let flags = fcntl(file.as_file(), FcntlArg::F_GETFL).expect("told");
        assert_eq!(flags & (libc::O_APPEND | libc::O_NONBLOCK), 0);
        assert_eq!(lock(&other), 0);
    }

    #[test]
    fn another_mode_is_another_look() {
        let file = tempfile::tempfile().expect("a file");
        let before = FileAttributes::of(&file);
        assert_eq!(before, FileAttributes::of(&file));
        file.set_permissions(Permissions::from_mode(0o111)).expect("set");
        assert_ne!(before, FileAttributes::of(&file));
    }
}
