//! Declare the options that say what stays of a run.

use std::path::PathBuf;

use clap::Args;

/// What stays of a run.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "What stays")]
pub struct KeepOptions {
    /// Keep the run in the folder DIR, which must be empty or not there; without, in .stripe.
    #[arg(long, value_name = "DIR", conflicts_with = "no_save")]
    pub out: Option<PathBuf>,
    /// Keep nothing.
    #[arg(long)]
    pub no_save: bool,
}
