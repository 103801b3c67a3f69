//! Declare the options of the program that is traced.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::choices::{EngineChoice, GranularityChoice};
use super::values::size;
use super::world_options::WorldOptions;

/// The program, and the world that it sees.
#[derive(Debug, Args)]
pub struct TargetOptions {
    /// The program: an executable for Linux x86-64, compiled with -g -O0.
    pub program: PathBuf,
    /// Its arguments.
    #[arg(last = true, value_name = "ARG")]
    pub arguments: Vec<OsString>,
    /// The surroundings that it sees.
    #[command(flatten)]
    pub world: WorldOptions,
    /// Trace these: a file, a function or a glob of them, or a shared library; `!` excludes. May be
    /// given more than once.
    #[arg(long, value_name = "PATTERN", help_heading = "The program")]
    pub scope: Vec<String>,
    /// The granularity: the unit of source that counts as one statement.
    #[arg(long, value_enum, default_value_t, value_name = "UNIT", help_heading = "The program")]
    pub granularity: GranularityChoice,
    /// Take at most so much memory for what is recorded and for the search, such as 500M or 4G; without, half
    /// of what is available.
    #[arg(long, value_name = "SIZE", value_parser = size, allow_negative_numbers = true, help_heading = "The program")]
    pub memory: Option<u64>,
    /// The engine that stops the program at its statements.
    #[arg(long, value_enum, default_value_t, value_name = "ENGINE", help_heading = "The program")]
    pub engine: EngineChoice,
}
