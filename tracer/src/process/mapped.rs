//! The memory mappings of a process: files, its stack, memory without a file.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use nix::unistd::Pid;

use crate::address::RuntimeAddress;

/// A memory mapping of a process.
#[derive(Clone, Debug)]
pub(crate) struct Mapped {
    /// Its first address.
    pub(crate) start: RuntimeAddress,
    /// Its length in bytes.
    pub(crate) length: u64,
    /// Its offset in the file.
    pub(crate) offset: u64,
    /// Whether it can be executed.
    pub(crate) is_code: bool,
    /// Whether it can be read.
    pub(crate) is_readable: bool,
    /// Whether it can be written.
    pub(crate) is_writable: bool,
    /// Whether others have it in their memory, too, or this process has it twice.
    pub(crate) is_shared: bool,
    /// Whether it can be used at all.
    pub(crate) is_accessible: bool,
    /// The path of the file; what the kernel says instead, `[stack]`; or nothing.
    pub(crate) path: PathBuf,
}

impl Mapped {
    /// The mappings of files of a process, in the order of addresses.
    pub(super) fn of(pid: Pid) -> Vec<Mapped> {
        let is_file = |mapped: &Mapped| mapped.path.as_os_str().as_bytes().starts_with(b"/");
        Mapped::all(pid).into_iter().filter(is_file).collect()
    }

    /// All mappings of a process, in the order of addresses.
    pub(super) fn all(pid: Pid) -> Vec<Mapped> {
        let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        maps.split(|&byte| byte == b'\n').filter_map(Mapped::read).collect()
    }

    /// Whether an address lies in the mapping.
    pub(crate) fn contains(&self, address: u64) -> bool {
        address.checked_sub(self.start.0).is_some_and(|distance| distance < self.length)
    }

    /// Parses a line of proc_pid_maps(5).
    fn read(line: &[u8]) -> Option<Mapped> {
        let path = line.iter().position(|&byte| byte == b'/' || byte == b'[').unwrap_or(line.len());
        let (facts, path) = line.split_at(path);
        let path = PathBuf::from(OsStr::from_bytes(path));
        let mut words = str::from_utf8(facts).ok()?.split(' ');
        let number = |word| u64::from_str_radix(word, 16).ok();
        let (start, end) = words.next()?.split_once('-')?;
        let (start, end) = (number(start)?, number(end)?);
        let access = words.next()?;
        let (is_code, is_accessible) = (access.contains('x'), !access.starts_with("---"));
        let (is_readable, is_writable, is_shared) =
            (access.contains('r'), access.contains('w'), access.contains('s'));
        let offset = number(words.next()?)?;
        Some(Mapped {
            start: RuntimeAddress(start),
            length: end.saturating_sub(start),
            offset,
            is_code,
            is_readable,
            is_writable,
            is_shared,
            is_accessible,
            path,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_whatever_the_name_of_the_file() {
        let line = b"7f00000a0000-7f00000a3000 r-xp 00001000 08:01 42    /usr/lib/a \xff (deleted)";
        let mapped = Mapped::read(line).expect("a file");
        assert_eq!((mapped.start.0, mapped.length, mapped.offset), (0x7f00_000a_0000, 0x3000, 0x1000));
        assert!(mapped.is_code && mapped.path.as_os_str().as_bytes() == b"/usr/lib/a \xff (deleted)");
        let stack = Mapped::read(b"7ffd0000-7ffe0000 rw-p 00000000 00:00 0    [stack]").expect("memory");
        assert!(stack.path.as_os_str() == "[stack]" && !stack.is_code && stack.contains(0x7ffd_ffff));
        let heap = Mapped::read(b"10000-20000 rw-p 00000000 00:00 0 ").expect("memory without a file");
        assert!(heap.path.as_os_str().is_empty() && !heap.contains(0x20000) && !heap.contains(0xffff));
        assert!(Mapped::read(b"").is_none());
    }
}
