//! Declare the options of `stripe slice`.

use clap::{Args, ValueEnum};

use super::oracle_options::OracleOptions;
use super::target_options::TargetOptions;
use super::terminal::Verbosity;
use super::values::ValuePlace;
use crate::dynamic::SliceKind;

/// The number of instructions up to which a run is followed unless more is asked for: some minutes.
pub(super) const MOST_INSTRUCTIONS: u64 = 20_000_000;

/// `stripe slice`.
#[derive(Debug, Args)]
pub struct SliceOptions {
    /// The program.
    #[command(flatten)]
    pub target: TargetOptions,
    /// The failure.
    #[command(flatten)]
    pub oracle: OracleOptions,
    /// The criterion is the value of a variable where an execution of a line begins: sum@13#3.
    #[arg(long, value_name = "NAME@WHERE", conflicts_with_all = ["decision", "forward"], help_heading = "The criterion")]
    pub value: Option<ValuePlace>,
    /// The criterion is the way a decision goes: 10#4.
    #[arg(long, value_name = "WHERE", conflicts_with = "forward", help_heading = "The criterion")]
    pub decision: Option<String>,
    /// The other way: what depends on an execution, 11#3 or the number of its event.
    #[arg(long, value_name = "WHERE", help_heading = "The criterion")]
    pub forward: Option<String>,
    /// Which dependences are followed.
    #[arg(long, value_enum, default_value_t, value_name = "KIND", help_heading = "The slice")]
    pub kind: SliceKindChoice,
    /// Execute at most N instructions one by one, those of libraries included; one takes some microseconds.
    #[arg(long, value_name = "N", default_value_t = MOST_INSTRUCTIONS, help_heading = "Limits")]
    pub max_instructions: u64,
    /// The format of the result.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "The result")]
    pub format: SliceFormat,
    /// Show the whole source of all functions in the slice, even of a large one.
    #[arg(long, help_heading = "The result")]
    pub full: bool,
    /// Print nothing but the result and errors.
    #[arg(short, long, help_heading = "The result")]
    pub quiet: bool,
}

impl SliceOptions {
    /// The verbosity that the options ask for.
    pub(super) fn verbosity(&self) -> Verbosity {
        Verbosity { quiet: self.quiet, verbose: false }
    }
}

/// Which dependences are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SliceKindChoice {
    /// Data dependences: the last writers of what is read.
    Data,
    /// The same, and the decisions and calls that have led there.
    #[default]
    Full,
    /// The same, and the decisions that would have written what is read, had they gone another way.
    Relevant,
}

impl From<SliceKindChoice> for SliceKind {
    fn from(choice: SliceKindChoice) -> SliceKind {
        match choice {
            SliceKindChoice::Data => SliceKind::Data,
            SliceKindChoice::Full => SliceKind::Full,
            SliceKindChoice::Relevant => SliceKind::Relevant,
        }
    }
}

/// The format of a dynamic slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SliceFormat {
    /// For people: the source with its executions.
    #[default]
    Text,
    /// For programs: a document with all dependences.
    Json,
    /// For a browser: the source with a sign for each execution, and who feeds whom.
    Html,
    /// For Graphviz: who feeds whom.
    Dot,
}
