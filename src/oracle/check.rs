//! Let a command of the user's judge a run.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

use tracer::patiently;
use tracer::run::Run;
use tracer::termination::{Termination, signal_name};

use super::OracleError;
use super::difference::in_one_line;
use crate::dd::Outcome;
use crate::slice::Evidence;

/// The signals by which a user ends this program and its check with it: SIGHUP, SIGINT, SIGTERM.
const ENDED: [i32; 3] = [1, 2, 15];

/// The exit status by which a check says that a run says nothing; the one of `git bisect run`.
const UNRESOLVED: i32 = 125;

/// A command for the shell. Its standard input is the run's standard output; the environment holds
/// `STRIPE_STDOUT` and `STRIPE_STDERR`, files with what the run wrote, and `STRIPE_EXIT`, its exit
/// status or `signal N`.
#[derive(Clone, Debug)]
pub struct Check {
    command: String,
}

impl Check {
    /// A check by `command`.
    pub fn new(command: String) -> Check {
        Check { command }
    }

    /// The command as the user gave it.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Exit status 0 means reproduced (`None`), 1 to 124 not, 125 unresolved.
    pub(super) fn judge(&self, run: &Run) -> Result<Option<Evidence>, OracleError> {
        let command = || in_one_line(self.command.as_bytes());
        let failed = |reason: String| OracleError::Check { command: command(), reason };
        let status = self.execute(run).map_err(|error| failed(error.to_string()))?;
        let evidence = |outcome, why| Ok(Some(Evidence::new(outcome, why)));
        match (status.code(), status.signal()) {
            (Some(0), _) => Ok(None),
            (Some(code @ 1..UNRESOLVED), _) => {
                evidence(Outcome::Pass, format!("the check exited with {code}"))
            }
            (Some(UNRESOLVED), _) => {
                evidence(Outcome::Unresolved, format!("the check exited with {UNRESOLVED}"))
            }
            (Some(code), _) => Err(failed(format!("exit status {code}"))),
            // Whoever asked for the end asked this program, too: let it end in peace.
            (None, Some(signal)) if ENDED.contains(&signal) => {
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
            Termination::Left(_) | Termination::Cut(_) | Termination::Endless(_) => String::new(),
        };
        let mut command = Command::new("sh");
        command.args(["-c", &self.command]).stdout(Stdio::null());
        command.env("STRIPE_STDOUT", &stdout).env("STRIPE_STDERR", &stderr).env("STRIPE_EXIT", exit);
        patiently(|| command.stdin(File::open(&stdout)?).status())
    }
}

/// A file that holds this and vanishes with this program, however that ends; and a path to it.
fn nameless(bytes: &[u8]) -> io::Result<(File, String)> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    Ok((file, path))
}
