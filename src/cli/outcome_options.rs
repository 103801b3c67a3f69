//! Declare the options that say what a run is like that shows the failure, whatever is left out of it.

use std::path::PathBuf;

use clap::Args;
use regex::bytes::Regex;

use super::values::{regex, signal};

/// The failure to look for: the properties of a run that shows it.
#[derive(Debug, Args)]
pub struct OutcomeOptions {
    /// The standard output is that of FILE.
    #[arg(long, value_name = "FILE")]
    pub expect_output: Option<PathBuf>,
    /// The standard error is that of FILE.
    #[arg(long, value_name = "FILE")]
    pub expect_stderr: Option<PathBuf>,
    /// The exit status is N.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8), allow_negative_numbers = true)]
    pub expect_exit: Option<u8>,
    /// It crashes with this signal, such as SEGV, where the recorded run does.
    #[arg(long, value_name = "SIGNAL", value_parser = signal)]
    pub expect_signal: Option<i32>,
    /// The standard output matches RE. In all expressions ^ and $ are the beginning and the end of a line.
    #[arg(long, value_name = "RE", value_parser = regex)]
    pub expect_match: Vec<Regex>,
    /// The standard output does not match RE.
    #[arg(long, value_name = "RE", value_parser = regex)]
    pub reject_match: Vec<Regex>,
    /// The standard error matches RE.
    #[arg(long, value_name = "RE", value_parser = regex)]
    pub expect_stderr_match: Vec<Regex>,
    /// The standard error does not match RE.
    #[arg(long, value_name = "RE", value_parser = regex)]
    pub reject_stderr_match: Vec<Regex>,
    /// The shell command CMD says so by its exit status: 0 reproduced, 1 to 124 not, 125 unresolved.
    /// It reads the output; STRIPE_STDOUT, STRIPE_STDERR (files) and STRIPE_EXIT tell more.
    #[arg(long, value_name = "CMD")]
    pub check: Option<String>,
}
