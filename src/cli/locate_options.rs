//! Declare the options of `stripe locate`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};

use super::keep_options::KeepOptions;
use super::target_options::TargetOptions;
use super::terminal::Verbosity;
use super::values::{EmissionKind, duration};

/// `stripe locate`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("correct").required(true).multiple(true))]
#[command(group = ArgGroup::new("outputs").multiple(true))]
pub struct LocateOptions {
    /// The program.
    #[command(flatten)]
    pub target: TargetOptions,
    /// FILE is the correct output.
    #[arg(
        long,
        value_name = "FILE",
        groups = ["correct", "outputs"],
        conflicts_with = "check",
        help_heading = "What would be right"
    )]
    pub reference: Option<PathBuf>,
    /// The shell command CMD says by its exit status whether a run is right: 0 right, 1 to 124 wrong, 125
    /// unresolved. It reads the output; STRIPE_STDOUT, STRIPE_STDERR (files) and STRIPE_EXIT tell more.
    #[arg(long, value_name = "CMD", group = "correct", help_heading = "What would be right")]
    pub check: Option<String>,
    /// Further tests of the same program, failing and passing: a file with a [[test]] for each (`name`, `arguments`,
    /// `input`, `reference`), a .csv or .jsonl file, or a folder of NAME.in and NAME.out. Without another
    /// criterion the first test that fails is the run under study.
    #[arg(long, value_name = "PATH", groups = ["correct", "outputs"], help_heading = "What would be right")]
    pub tests: Option<PathBuf>,
    /// White space does not count in comparisons of outputs: how long a run of blanks is, blanks at the end of a
    /// line, the kind of line end, blank lines at the end. Without, such a difference is told, and counts as wrong.
    #[arg(long, requires = "outputs", help_heading = "What would be right")]
    pub ignore_space: bool,
    /// Also write other values in place of those that statements store: 0, 1, -1, one more, one less, negated, and what
    /// was there before. Takes several times as many runs; for where decisions and omissions find nothing.
    #[arg(long, help_heading = "What is tried")]
    pub values: bool,
    /// The failure is that it does not end.
    #[arg(long, help_heading = "What would be right")]
    pub expect_timeout: bool,
    /// Try at most N changes.
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Limits")]
    pub max_tests: Option<u64>,
    /// Try changes for at most this time, such as 10s or 5m.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration,
        allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    pub max_time: Option<Duration>,
    /// The number of changes tried at the same time; without, one for each processor.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Limits")]
    pub jobs: Option<u16>,
    /// The format of the result.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "The result")]
    pub format: LocateFormat,
    /// Show all executed lines, not only the first ones.
    #[arg(long, help_heading = "The result")]
    pub full: bool,
    /// Print nothing but the result and errors.
    #[arg(short, long, help_heading = "The result")]
    pub quiet: bool,
    /// The place where the run is kept, and whether an earlier one is gone on with.
    #[command(flatten)]
    pub keep: KeepOptions,
}

impl LocateOptions {
    /// The verbosity that the options ask for.
    pub(super) fn verbosity(&self) -> Verbosity {
        Verbosity { quiet: self.quiet, verbose: false }
    }
}

/// The format of the ranked lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LocateFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
    /// A page to look at in a browser.
    Html,
    /// A table: a row for each executed line.
    Csv,
    /// For static analysis viewers: SARIF 2.1.0.
    Sarif,
    /// For editors: file:line:column: text.
    Quickfix,
    /// For GitHub Actions: annotations.
    Github,
    /// A script by which gdb makes the changes.
    Gdb,
}

impl From<LocateFormat> for EmissionKind {
    fn from(format: LocateFormat) -> EmissionKind {
        match format {
            LocateFormat::Text => EmissionKind::Text,
            LocateFormat::Json => EmissionKind::Json,
            LocateFormat::Html => EmissionKind::Html,
            LocateFormat::Csv => EmissionKind::Csv,
            LocateFormat::Sarif => EmissionKind::Sarif,
            LocateFormat::Quickfix => EmissionKind::Quickfix,
            LocateFormat::Github => EmissionKind::Github,
            LocateFormat::Gdb => EmissionKind::Gdb,
        }
    }
}
