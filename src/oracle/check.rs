//! Let a command of the user's judge a run.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tracer::patiently;
use tracer::run::Run;
use tracer::termination::{Termination, signal_name};

use super::OracleError;
use super::difference::in_one_line;
use crate::oracle::Evidence;
use dd::Outcome;

/// The signals by which a user ends this program and its check with it: SIGHUP, SIGINT, SIGTERM.
const ENDED: [i32; 3] = [1, 2, 15];

/// The bounds of the waiting time between two polls for the end of a check.
const SHORTEST: Duration = Duration::from_micros(50);
const LONGEST: Duration = Duration::from_millis(20);

/// The exit status by which a check says that a run says nothing; the one of `git bisect run`.
pub const CANNOT_TELL: i32 = 125;

/// A shell command that judges runs. Its standard input is the run's standard output; the environment holds
/// `STRIPE_STDOUT` and `STRIPE_STDERR`, files with what the run wrote, and `STRIPE_EXIT`, its exit
/// status or `signal N`.
#[derive(Clone, Debug)]
pub struct Check {
    command: String,
    /// The stop flag: set once the user has asked for the end.
    stop: Arc<AtomicBool>,
}

impl Check {
    /// Creates a check that runs `command`.
    pub fn new(command: String) -> Check {
        Check { command, stop: Arc::default() }
    }

    /// Returns the check with a stop flag: the command is ended once that is set.
    pub fn until(self, stop: Arc<AtomicBool>) -> Check {
        Check { stop, ..self }
    }

    /// The command as the user gave it.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Runs the command on a run and reads the verdict from its exit status: 0 means reproduced (`None`), 1
    /// to 124 not reproduced, 125 unresolved.
    ///
    /// # Errors
    /// If the command cannot be run, or ends with another status.
    pub fn judge(&self, run: &Run) -> Result<Option<Evidence>, OracleError> {
        let command = || in_one_line(self.command.as_bytes());
        let failed = |reason: String| OracleError::Check { command: command(), reason };
        let status = self.execute(run).map_err(|error| failed(error.to_string()))?;
        let evidence = |outcome, why| Ok(Some(Evidence::new(outcome, why)));
        match (status.code(), status.signal()) {
            (Some(0), _) => Ok(None),
            (Some(code @ 1..CANNOT_TELL), _) => {
                evidence(Outcome::Pass, format!("the check exited with {code}"))
            }
            (Some(CANNOT_TELL), _) => {
                evidence(Outcome::Unresolved, format!("the check exited with {CANNOT_TELL}"))
            }
            (Some(code), _) => Err(failed(format!("exit status {code}"))),
            // The user ends this program as well, which is no error of the check.
            (None, Some(signal)) if ENDED.contains(&signal) || self.stop.load(Ordering::Relaxed) => {
                evidence(Outcome::Unresolved, format!("the check was ended by {}", signal_name(signal)))
            }
            (None, signal) => {
                Err(failed(format!("it was killed by {}", signal_name(signal.unwrap_or_default()))))
            }
        }
    }

    fn execute(&self, run: &Run) -> io::Result<ExitStatus> {
        let ((_stdout, stdout), (_stderr, stderr)) = (nameless(&run.stdout)?, nameless(&run.stderr)?);
        let exit = match &run.termination {
            Termination::Exited(status) => status.to_string(),
            Termination::Crashed(crash) => format!("signal {}", crash.signal),
            Termination::Left(_) | Termination::Cut(_) | Termination::Endless(_) | Termination::Reached => {
                String::new()
            }
        };
        let mut command = Command::new("sh");
        command.args(["-c", &self.command]).stdout(Stdio::null());
        command.env("STRIPE_STDOUT", &stdout).env("STRIPE_STDERR", &stderr).env("STRIPE_EXIT", exit);
        let mut child = patiently(|| command.stdin(File::open(&stdout)?).spawn())?;
        self.wait(&mut child)
    }

    /// Waits for the end of the check, or kills it if the user has asked for the end of all: the signal may
    /// not have reached the check, or be ignored.
    fn wait(&self, child: &mut Child) -> io::Result<ExitStatus> {
        let started = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if self.stop.load(Ordering::Relaxed) {
                child.kill()?;
                return child.wait();
            }
            // Looks more often at first: the wait is to be a small part of what the check takes.
            sleep((started.elapsed() / 8).clamp(SHORTEST, LONGEST));
        }
    }
}

/// Creates a temporary file without a name that holds `bytes` and vanishes with this program, however that
/// ends; and a path to it.
fn nameless(bytes: &[u8]) -> io::Result<(File, String)> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    Ok((file, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_does_not_end_is_ended_with_the_search() {
        let stop = Arc::new(AtomicBool::new(false));
        let check = Check::new("exec sleep 600".into()).until(Arc::clone(&stop));
        let run = Run::with_output(b"", b"");
        let judged = std::thread::scope(|scope| {
            let judging = scope.spawn(|| check.judge(&run));
            sleep(Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
            judging.join().expect("no panic")
        });
        let evidence = judged.expect("a judgement").expect("not reproduced");
        assert_eq!(
            (evidence.outcome, &evidence.why[..]),
            (Outcome::Unresolved, "the check was ended by SIGKILL")
        );
    }
}
