//! The calls for mounts that are attached nowhere, and for attributes of mounts.
//!
//! Source: open_tree(2), move_mount(2), mount_setattr(2).

use std::ffi::CStr;
use std::os::fd::RawFd;

use nix::errno::Errno;

/// A copy of the mount at the path, attached to nothing, open_tree(2).
pub(super) fn copy_mount(path: &CStr) -> nix::Result<RawFd> {
    let flags = libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC | libc::AT_RECURSIVE as u32;
    // SAFETY: the path is a C string that outlives the call.
    let copied = unsafe { libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, path.as_ptr(), flags) };
    Errno::result(copied).map(|descriptor| descriptor as RawFd)
}

/// Attaches such a mount, move_mount(2).
pub(super) fn move_mount(copied: RawFd, to: &CStr) -> nix::Result<()> {
    let flags = libc::MOVE_MOUNT_F_EMPTY_PATH;
    // SAFETY: the paths are C strings that outlive the call.
    let moved = unsafe {
        libc::syscall(libc::SYS_move_mount, copied, c"".as_ptr(), libc::AT_FDCWD, to.as_ptr(), flags)
    };
    Errno::result(moved).map(drop)
}

/// Sets attributes of a mount and of all below it.
pub(super) fn set_attributes(folder: RawFd, path: &CStr, set: u64) -> nix::Result<()> {
    mount_setattr((folder, path), set, libc::AT_RECURSIVE | libc::AT_EMPTY_PATH)
}

pub(super) fn set_attributes_of_one(path: &CStr, set: u64) -> nix::Result<()> {
    mount_setattr((libc::AT_FDCWD, path), set, 0)
}

fn mount_setattr((folder, path): (RawFd, &CStr), set: u64, flags: libc::c_int) -> nix::Result<()> {
    let mut attributes = libc::mount_attr { attr_set: set, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: the path is a C string and the structure is as long as the call is told.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            folder,
            path.as_ptr(),
            flags,
            &raw mut attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    Errno::result(result).map(drop)
}
