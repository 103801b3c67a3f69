//! Descriptors under numbers that are chosen beforehand, by which one process finds what another has opened.

use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::RawFd;

use nix::errno::Errno;

/// The first number of the descriptors that the tracer finds by their numbers, if there may be so many and none of them
/// is open.
const FIRST_FD: RawFd = 700;

/// Opens a folder under this number.
pub(super) fn open_as(base: RawFd, folder: &CStr, number: RawFd) -> nix::Result<()> {
    let flags = libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: the path is a C string that outlives the call.
    move_to(unsafe { libc::openat(base, folder.as_ptr(), flags) }, number)
}

/// Opens what lies at a path under this number, to be mounted.
pub(super) fn hold_as(path: &CStr, number: RawFd) -> nix::Result<()> {
    // SAFETY: the path is a C string that outlives the call.
    move_to(unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) }, number)
}

/// Gives a descriptor that was just opened this number instead of its own.
fn move_to(opened: RawFd, number: RawFd) -> nix::Result<()> {
    let opened = Errno::result(opened)?;
    // SAFETY: dup2 onto a number that nothing else in this process uses; the descriptor is not used any more.
    unsafe {
        let moved = Errno::result(libc::dup2(opened, number));
        libc::close(opened);
        moved.map(drop)
    }
}

/// The first of so many numbers of descriptors under which nothing is open, neither in this process nor, while it
/// works, in the first process: to open something under a number closes what was open under it.
pub(super) fn first_free(count: RawFd, brief: usize) -> io::Result<RawFd> {
    let (limit, _) = nix::sys::resource::getrlimit(nix::sys::resource::Resource::RLIMIT_NOFILE)?;
    let last = RawFd::try_from(limit).unwrap_or(RawFd::MAX) - count;
    let names = fs::read_dir("/proc/self/fd")?.flatten().map(|entry| entry.file_name());
    let open: Vec<RawFd> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
    let fits = |&first: &RawFd| {
        let within = open.iter().any(|number| (first..first + count).contains(number));
        // What is opened for a moment gets the lowest free number.
        let below = open.iter().filter(|&&number| number < first).count();
        !within && first as usize >= below + brief
    };
    let above = open.iter().map(|number| number + 1).filter(|first| (0..=last).contains(first));
    let first = (0..=FIRST_FD.min(last)).rev().chain(above).find(fits);
    first.ok_or_else(|| io::Error::from_raw_os_error(libc::EMFILE))
}
