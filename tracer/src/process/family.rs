//! The descendants of a process, and what they do together.
//!
//! Source: proc(5), proc_pid_stat(5).

use std::fs;
use std::time::Duration;

use nix::unistd::Pid;

/// The process and its descendants.
pub(super) fn family(process: Pid) -> Vec<Pid> {
    const MOST: usize = 1 << 12;
    let mut all = vec![process];
    let mut next = 0;
    while let Some(&parent) = all.get(next).filter(|_| next < MOST) {
        let children =
            fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
        all.extend(children.split_whitespace().filter_map(|child| child.parse().ok()).map(Pid::from_raw));
        next += 1;
    }
    all
}

/// The processor time that a process and its descendants have used together, those included that have ended and
/// were waited for. To the hundredth of a second.
pub(super) fn used(process: Pid) -> Duration {
    const USER_TIME: usize = 14;
    const TIMES: usize = 4;
    const TICK: Duration = Duration::from_millis(10);
    let ticks = |pid: Pid| {
        let times = (USER_TIME..USER_TIME + TIMES).map(|field| stat(pid, field)?.parse::<u32>().ok());
        times.map(Option::unwrap_or_default).sum::<u32>()
    };
    TICK * family(process).into_iter().map(ticks).sum::<u32>()
}

/// Whether a process and all its descendants sleep, or have ended. One that is held by the tracer does not sleep.
pub(super) fn is_asleep(process: Pid) -> bool {
    const STATE: usize = 3;
    let sleeps = |pid| stat(pid, STATE).is_some_and(|state| matches!(&state[..], "S" | "Z" | "X"));
    family(process).into_iter().all(sleeps)
}

/// Reads a field of proc_pid_stat(5), by its number in the manual. The second one, the name, may hold anything.
fn stat(process: Pid, field: usize) -> Option<String> {
    let stat = fs::read(format!("/proc/{process}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(field - 3).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::thread::sleep;

    use super::*;

    #[test]
    fn what_a_child_uses_counts_and_a_child_that_runs_does_not_sleep() {
        // The second shell runs, and the first waits for it.
        let mut busy = Command::new("sh").args(["-c", "sh -c 'while :; do :; done'; :"]).spawn().expect("sh");
        let mut idle = Command::new("sh").args(["-c", "sleep 60; :"]).spawn().expect("sh");
        let pid = |child: &std::process::Child| Pid::from_raw(child.id() as i32);
        while used(pid(&busy)) < Duration::from_millis(50) || !is_asleep(pid(&idle)) {
            sleep(Duration::from_millis(5));
        }
        let family: Vec<Pid> = [&busy, &idle].into_iter().flat_map(|child| family(pid(child))).collect();
        assert!(!is_asleep(pid(&busy)) && family.len() == 4, "{family:?}");
        for pid in family {
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).expect("there");
        }
        for child in [&mut busy, &mut idle] {
            child.wait().expect("ended");
        }
    }
}
