//! //! The memory available to this process, as proc_meminfo(5) and cgroups(7) tell.

use std::fs;
use std::path::{Path, PathBuf};

/// The memory available to this process, in bytes: what the machine can give before others have to give way, or less
/// where a control group limits it. `None` if nobody tells.
pub fn available_memory() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
    let group = fs::read_to_string("/proc/self/cgroup").ok().and_then(|text| room_in_group(&text));
    [machine, group].into_iter().flatten().min()
}

/// Parses the line `MemAvailable:  123 kB`.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The memory that the control group (version 2) of this process, and the groups above it, leave.
fn room_in_group(cgroup: &str) -> Option<u64> {
    let path = cgroup.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let group = PathBuf::from("/sys/fs/cgroup").join(path);
    group.ancestors().take_while(|folder| folder.starts_with("/sys/fs/cgroup")).filter_map(room).min()
}

fn room(group: &Path) -> Option<u64> {
    let number = |file: &str| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_available_is_told_in_kilobytes() {
        let text = "MemTotal:       100 kB\nMemFree:  7 kB\nMemAvailable:     42 kB\n";
        assert_eq!(available(text), Some(42 << 10));
        assert_eq!(available("MemTotal: 100 kB\n"), None);
    }

    #[test]
    fn this_machine_tells_how_much_memory_is_available() {
        assert!(available_memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
