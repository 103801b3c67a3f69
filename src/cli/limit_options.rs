//! Declare the options that bound a search.

use std::time::Duration;

use clap::Args;

use super::values::duration;

/// The budget of a search, and its number of workers. A subcommand says by `mut_arg` what its tests are.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitOptions {
    /// Test at most N times.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub max_tests: Option<u64>,
    /// Search for at most this time, such as 10s or 5m.
    #[arg(long, value_name = "TIME", value_parser = duration, allow_negative_numbers = true)]
    pub max_time: Option<Duration>,
    /// The number of tests at the same time; without, one for each processor.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
}
