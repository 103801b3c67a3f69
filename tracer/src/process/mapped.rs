//! Say which files a process has in memory, and where.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use nix::unistd::Pid;

use crate::address::RuntimeAddress;

/// A piece of a file in a process' memory.
#[derive(Debug)]
pub(super) struct Mapped {
    /// Where it begins in memory.
    pub(super) start: RuntimeAddress,
    /// How long it is.
    pub(super) length: u64,
    /// Where it begins in the file.
    pub(super) offset: u64,
    /// Whether it can be executed.
    pub(super) is_code: bool,
    /// The file, or what the kernel says instead.
    pub(super) path: PathBuf,
}

impl Mapped {
    /// All of a process, in the order of addresses.
    pub(super) fn of(pid: Pid) -> Vec<Mapped> {
        let maps = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
        maps.split(|&byte| byte == b'\n').filter_map(Mapped::read).collect()
    }

    /// Reads a line of proc_pid_maps(5), if it is about a file.
    fn read(line: &[u8]) -> Option<Mapped> {
        let (facts, path) = line.split_at(line.iter().position(|&byte| byte == b'/')?);
        let path = PathBuf::from(OsStr::from_bytes(path));
        let mut words = str::from_utf8(facts).ok()?.split(' ');
        let number = |word| u64::from_str_radix(word, 16).ok();
        let (start, end) = words.next()?.split_once('-')?;
        let (start, end) = (number(start)?, number(end)?);
        let is_code = words.next()?.contains('x');
        let offset = number(words.next()?)?;
        Some(Mapped {
            start: RuntimeAddress(start),
            length: end.saturating_sub(start),
            offset,
            is_code,
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
        assert!(Mapped::read(b"7ffd0000-7ffe0000 rw-p 00000000 00:00 0    [stack]").is_none());
    }
}
