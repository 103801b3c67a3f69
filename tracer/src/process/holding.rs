//! The memory that a run and the processes that it has started hold together.
//!
//! The address space of each process has a limit, and so has the length of each file. But a run may start many
//! processes, and make many files in memory, memfd_create(2), that are mapped nowhere.
//!
//! Source: proc(5), proc_pid_smaps(5).

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;

use nix::unistd::Pid;

use super::family::family;

/// The memory that a run may hold in any case, in bytes: as much as its changes to files may take.
const ROOM: u64 = 1 << 30;

/// The limit of what a run may hold together whose processes may have so much address space each, in bytes.
pub(super) fn most(memory: u64) -> u64 {
    memory.saturating_mul(4).max(ROOM)
}

/// Whether a process and its descendants hold more than this, in bytes.
pub(super) fn exceeds(process: Pid, most: u64) -> bool {
    let family = family(process);
    let files = family.iter().copied().map(files_in_memory).fold(BTreeMap::new(), |mut all, files| {
        all.extend(files);
        all
    });
    let files: u64 = files.values().sum();
    // The exact numbers take time, because the kernel looks at each page.
    let resident: u64 = family.iter().copied().map(resident).sum();
    files > most || files + resident > most && files + family.iter().copied().map(own).sum::<u64>() > most
}

/// The files in memory that a process has open: their inode numbers, and how many bytes each takes.
fn files_in_memory(process: Pid) -> BTreeMap<u64, u64> {
    const BLOCK: u64 = 512;
    let Ok(entries) = fs::read_dir(format!("/proc/{process}/fd")) else { return BTreeMap::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let in_memory = paths.filter(|path| {
        fs::read_link(path).is_ok_and(|target| target.to_string_lossy().starts_with("/memfd:"))
    });
    in_memory
        .filter_map(|path| fs::metadata(path).ok())
        .map(|data| (data.ino(), data.blocks() * BLOCK))
        .collect()
}

/// The resident memory of a process, in bytes; shared pages are counted for each process.
fn resident(process: Pid) -> u64 {
    const PAGE: u64 = 4096;
    let numbers = fs::read_to_string(format!("/proc/{process}/statm")).unwrap_or_default();
    numbers.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * PAGE
}

/// The proportional share of a process in the memory that belongs to no file, in bytes.
fn own(process: Pid) -> u64 {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    let share = text.lines().find_map(|line| line.strip_prefix("Pss_Anon:"));
    let kilobytes = share.and_then(|share| share.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;
    use std::process::{Command, Stdio};

    use nix::sys::memfd::{MFdFlags, memfd_create};

    use super::*;

    #[test]
    fn files_in_memory_count_once_and_only_what_they_take() {
        let mut file: File = memfd_create(c"held", MFdFlags::MFD_CLOEXEC).expect("memory").into();
        file.set_len(1 << 40).expect("a file with a hole");
        file.write_all(&vec![1; 8 << 20]).expect("room");
        let _again = file.try_clone().expect("a second descriptor");
        let number = file.metadata().expect("there").ino();
        assert_eq!(files_in_memory(Pid::this()).get(&number), Some(&(8 << 20)));
        assert!(exceeds(Pid::this(), 4 << 20) && !exceeds(Pid::this(), 1 << 40));
    }

    #[test]
    fn what_a_process_has_of_its_own_is_at_most_what_is_resident() {
        const HELD: usize = 64 << 20;
        // It keeps its latest line, which has not ended. Of this process, which others fork, the share changes.
        let mut child = Command::new("tail").stdin(Stdio::piped()).spawn().expect("tail");
        let mut line = child.stdin.take().expect("a pipe");
        line.write_all(&vec![b'x'; HELD]).expect("read by tail");
        let pid = Pid::from_raw(child.id() as i32);
        // What is still in the pipe is not held.
        let nearly = HELD as u64 - (1 << 20);
        assert!(own(pid) >= nearly && resident(pid) >= own(pid), "{} {}", own(pid), resident(pid));
        child.kill().and_then(|()| child.wait()).expect("ended");
    }
}
