//! Declare the options that say when a run of a traced program shows the failure.

use std::path::PathBuf;

use clap::Args;
use regex::bytes::Regex;

use super::outcome_options::OutcomeOptions;
use super::values::regex;

/// When a run shows the failure. Without any: when it has the same output, and the same crash if the
/// recorded run crashed.
#[derive(Debug, Args)]
#[command(next_help_heading = "The failure (without any: same output, or same crash)")]
pub struct OracleOptions {
    /// The failure to look for.
    #[command(flatten)]
    pub outcome: OutcomeOptions,
    /// Compare only those lines of the output that match RE.
    #[arg(long, value_name = "RE", value_parser = regex)]
    pub only_lines: Option<Regex>,
    /// It does not end: it still runs where the recorded run goes round, or waits, for ever.
    #[arg(
        long,
        conflicts_with_all = ["expect_output", "expect_exit", "expect_signal", "only_lines", "reference"]
    )]
    pub expect_timeout: bool,
    /// FILE is the correct output; the failure is the first line that is wrong by it, or the crash if none is.
    #[arg(long, value_name = "FILE")]
    pub reference: Option<PathBuf>,
}
