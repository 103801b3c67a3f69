//! Declare the options that say what stays of a run.

use std::path::PathBuf;

use clap::Args;

use crate::session::request::Keep;

/// The place where a run is kept, and the parts that are.
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

impl KeepOptions {
    /// The place where the run is kept.
    pub(super) fn place(&self) -> Keep {
        match &self.out {
            _ if self.no_save => Keep::Nowhere,
            Some(folder) => Keep::In(folder.clone()),
            None => Keep::InArchive,
        }
    }
}
