//! Declare the options by which tests are made on other machines.

use clap::Args;

use super::exit::Failure;
use crate::session::workers::WorkerLaunch;

/// The workers that make the tests in place of this process.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Workers, on this machine or others")]
pub struct WorkerOptions {
    /// Have the tests made by N workers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096), conflicts_with = "jobs")]
    pub workers: Option<u16>,
    /// The command that starts `stripe worker` somewhere, such as 'srun --exclusive -N1 -n1'; if its last word is
    /// `worker`, it is the whole command: 'ssh host stripe worker'.
    #[arg(long, value_name = "COMMAND", requires = "workers")]
    pub launcher: Option<String>,
}

impl WorkerOptions {
    /// The launch of the workers; none of them if the options are not given.
    pub(super) fn launch(&self) -> Result<WorkerLaunch, Failure> {
        let Some(count) = self.workers else { return Ok(WorkerLaunch::default()) };
        let launcher = self.launcher.clone().unwrap_or_default();
        Ok(WorkerLaunch { count, launcher, program: std::env::current_exe()? })
    }
}
