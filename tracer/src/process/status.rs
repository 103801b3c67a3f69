//! The status of a process, proc_pid_status(5).

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use nix::unistd::Pid;

/// The value of a field with a name such as `State:`; `None` if the process is gone.
pub(super) fn field(process: Pid, name: &str) -> Option<String> {
    field_in(&status(process).ok()?, name)
}

/// The number of a process in its own namespace.
///
/// # Errors
/// If it cannot be read, because the process is gone as a rule.
pub(super) fn number_inside(process: Pid) -> io::Result<u32> {
    let numbers = field_in(&status(process)?, "NSpid:").unwrap_or_default();
    let number = numbers.split_whitespace().last().and_then(|number| number.parse().ok());
    number.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn status(process: Pid) -> io::Result<Vec<u8>> {
    // More than it is, as a rule: the kernel writes it anew for each piece that is read.
    let mut status = Vec::with_capacity(4096);
    File::open(format!("/proc/{process}/status"))?.read_to_end(&mut status)?;
    Ok(status)
}

/// The name of the process, which is a field as well, need not be UTF-8.
fn field_in(status: &[u8], name: &str) -> Option<String> {
    let status = String::from_utf8_lossy(status);
    status.lines().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
}

/// The auxiliary vector of a process: kinds and values.
pub(super) fn auxiliary_vector(pid: Pid) -> Vec<(u64, u64)> {
    let mut vector = [0; 1024];
    let file = File::open(format!("/proc/{pid}/auxv"));
    let length = file.and_then(|file| file.read_at(&mut vector, 0)).unwrap_or(0);
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
    vector[..length].chunks_exact(16).map(|pair| (word(&pair[..8]), word(&pair[8..]))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_known() {
        assert_eq!(field(Pid::this(), "Tgid:"), Some(Pid::this().to_string()));
        assert_eq!(field(Pid::this(), "NoSuchField:"), None);
        assert!(number_inside(Pid::this()).is_ok());
    }
}
