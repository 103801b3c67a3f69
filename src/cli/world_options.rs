//! Declare the options about the world that a program sees, whatever is done with it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

use super::choices::PermissionChoice;
use super::values::{duration, environment_variable};

/// The world that a program sees.
#[derive(Debug, Args)]
pub struct WorldOptions {
    /// Its standard input; without, what is piped into stripe. A terminal is never handed on.
    #[arg(long, value_name = "FILE", help_heading = "The program")]
    pub stdin: Option<PathBuf>,
    /// Set a variable of its environment.
    #[arg(long, value_name = "NAME=VALUE", value_parser = OsStringValueParser::new().try_map(environment_variable), help_heading = "The program")]
    pub env: Vec<(OsString, OsString)>,
    /// Begin with an empty environment; --env adds to it.
    #[arg(long, help_heading = "The program")]
    pub clear_env: bool,
    /// Give it, and keep, variables that look like secrets (TOKEN, KEY, PASSWORD); without, only those of --env.
    #[arg(long, conflicts_with = "clear_env", help_heading = "The program")]
    pub keep_env: bool,
    /// Its working directory.
    #[arg(long, value_name = "DIR", help_heading = "The program")]
    pub cwd: Option<PathBuf>,
    /// Give it a pseudo-terminal as standard output, so that it writes line by line.
    #[arg(long, help_heading = "The program")]
    pub pty: bool,
    /// Let it see the time as it is; without, its clocks show the same in each run.
    #[arg(long, help_heading = "The program")]
    pub real_time: bool,
    /// Give it random numbers as they come; without, they are the same in each run.
    #[arg(long, help_heading = "The program")]
    pub real_random: bool,
    /// End each of its runs after this time, such as 500ms, 10s or 5m; without, after ten times what
    /// the recorded run took.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration,
        allow_negative_numbers = true,
        help_heading = "The program"
    )]
    pub timeout: Option<Duration>,
    /// Run it without a sandbox: partial runs run amok, and what they do is then real.
    #[arg(long, conflicts_with_all = ["allow", "allow_write"], help_heading = "The sandbox")]
    pub no_sandbox: bool,
    /// Let its runs reach out.
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "The sandbox")]
    pub allow: Vec<PermissionChoice>,
    /// Let its runs change files in this directory for good. May be given more than once.
    #[arg(long, value_name = "DIR", help_heading = "The sandbox")]
    pub allow_write: Vec<PathBuf>,
}
