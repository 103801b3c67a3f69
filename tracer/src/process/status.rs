//! Read what the kernel tells of a process, proc_pid_status(5).

use std::fs::File;
use std::io::Read;

use nix::unistd::Pid;

/// What follows the name of a field, such as `NSpid:`; `None` if the process is gone. The name of the
/// process, which is a field as well, need not be UTF-8.
pub(super) fn field(process: Pid, name: &str) -> Option<String> {
    // More than it is, as a rule: the kernel writes it anew for each piece that is read.
    let mut status = Vec::with_capacity(4096);
    File::open(format!("/proc/{process}/status")).ok()?.read_to_end(&mut status).ok()?;
    let status = String::from_utf8_lossy(&status);
    status.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
}

/// The number of a process as it knows it itself, in its own namespace.
pub(super) fn number_inside(process: Pid) -> Option<u32> {
    field(process, "NSpid:")?.split_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_known() {
        assert_eq!(field(Pid::this(), "Tgid:"), Some(Pid::this().to_string()));
        assert_eq!(field(Pid::this(), "NoSuchField:"), None);
        assert!(number_inside(Pid::this()).is_some());
    }
}
