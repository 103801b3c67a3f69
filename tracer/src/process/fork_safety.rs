//! Fork safety: whether a fork of a held program would go on as the program itself; and undoing what forks share.
//!
//! A child gets a copy of the memory, and the same open files; it does not get timers and pending
//! signals, has no children, and shares with its parent what was mapped to be shared and what is
//! written to a file. Files that are only read are no obstacle: the agent restores their positions.
//!
//! Source: fork(2), proc(5).

use std::fs;
use std::path::{Path, PathBuf};

use agent::session::{MOST_FILES, OUTPUT};

use super::children::kill;
use super::descriptions::{FileState, restore_description};
use super::{Output, Pid, Tracee, status};

impl Tracee {
    /// Whether nothing that a fork of it does can be seen by another fork of it, and whether the forks
    /// lack nothing. What it writes to `output` is taken back.
    pub(crate) fn is_fork_safe(&self, output: &Output) -> bool {
        let folder = PathBuf::from(format!("/proc/{}", self.pid()));
        let folder = folder.as_path();
        !self.has_others()
            && self.awaits_no_signal()
            && !self.respondent.has_set_timer(self.pid())
            && has_no_timer(folder)
            && shares_no_memory(folder)
            && writes_no_file(folder, output)
    }

    /// Undoes what the forks of this program have done to the standard input that they share with it.
    pub(crate) fn restore_stdin(&self) {
        self.stdin.iter().for_each(restore_description);
    }

    /// The state of the file of the standard input, which the forks of this program have as well.
    pub(crate) fn stdin_state(&self) -> Option<FileState> {
        self.stdin.as_ref().map(FileState::of)
    }

    /// Kills the living children of this process, whoever has asked it to fork them.
    pub(crate) fn end_children(&self) {
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.pid()));
        let children = children.unwrap_or_default();
        children.split_whitespace().filter_map(|pid| pid.parse().ok()).map(Pid::from_raw).for_each(kill);
    }

    fn awaits_no_signal(&self) -> bool {
        let is_empty = |mask: String| mask.trim_start_matches('0').is_empty();
        ["SigPnd:", "ShdPnd:"].into_iter().all(|name| status::field(self.pid(), name).is_some_and(is_empty))
    }
}

/// The timers of timer_create(2). The kernel tells nobody else of those of setitimer(2) and alarm(2).
fn has_no_timer(folder: &Path) -> bool {
    fs::read(folder.join("timers")).is_ok_and(|timers| timers.is_empty())
}

/// Whether all shared memory is what the tracer has mapped.
fn shares_no_memory(folder: &Path) -> bool {
    let maps = fs::read(folder.join("maps"));
    maps.is_ok_and(|maps| {
        let maps = String::from_utf8_lossy(&maps);
        let mut shared = maps.lines().filter(|line| {
            let access = line.split(' ').nth(1).unwrap_or_default();
            access.contains('w') && access.ends_with('s')
        });
        shared.all(is_ours)
    })
}

/// Whether all open files are the output, or are only read.
fn writes_no_file(folder: &Path, output: &Output) -> bool {
    let Ok(list) = fs::read_dir(folder.join("fd")) else {
        return false;
    };
    list.flatten().all(|entry| {
        let number = entry.file_name().to_str().and_then(|name| name.parse::<usize>().ok());
        match number {
            Some(number) if OUTPUT.contains(&number) => output.has(&entry.path()),
            Some(number) if number < MOST_FILES => {
                let data = fs::metadata(entry.path());
                data.is_ok_and(|data| data.is_file()) && is_only_read(folder, number)
            }
            _ => false,
        }
    })
}

/// Whether the line ends with the path of a file in memory of the tracer.
fn is_ours(line: &str) -> bool {
    line.ends_with("/memfd:stripe (deleted)")
}

fn is_only_read(folder: &Path, file: usize) -> bool {
    let info = fs::read_to_string(folder.join(format!("fdinfo/{file}"))).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & libc::O_ACCMODE == libc::O_RDONLY)
}
