//! Declare the options of `stripe simplify`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use regex::bytes::Regex;

use super::limit_options::LimitOptions;
use super::outcome_options::OutcomeOptions;
use super::terminal::Verbosity;
use super::values::{regex, split_at_equals};
use super::world_options::WorldOptions;

/// The heading of the options for what is simplified.
const WHAT: &str = "What is simplified (and --stdin, where it is given)";

/// `stripe simplify`.
#[derive(Debug, Args)]
pub struct SimplifyOptions {
    /// The program: any that can be started. Without, the first word after `--`.
    pub program: Option<PathBuf>,
    /// Its arguments.
    #[arg(last = true, value_name = "ARG")]
    pub arguments: Vec<OsString>,
    /// The surroundings that it sees.
    #[command(flatten)]
    pub world: WorldOptions,
    /// Simplify this file, or all files in this folder; each run finds it where it lies. May be given more than
    /// once.
    #[arg(long, value_name = "PATH", help_heading = WHAT)]
    pub file: Vec<PathBuf>,
    /// Simplify its arguments, or those that match RE: leave some out, and characters of the others.
    #[arg(
        long = "arguments",
        id = "simplified_arguments",
        value_name = "RE",
        value_parser = regex,
        num_args = 0..=1,
        require_equals = true,
        help_heading = WHAT
    )]
    pub simplified_arguments: Option<Option<Regex>>,
    /// Simplify its environment, or the variables whose names match RE: leave some out, and characters of the
    /// values of the others.
    #[arg(
        long = "environment",
        id = "simplified_environment",
        value_name = "RE",
        value_parser = regex,
        num_args = 0..=1,
        require_equals = true,
        help_heading = WHAT
    )]
    pub simplified_environment: Option<Option<Regex>>,
    /// The other way round: all that is given makes the failure go away. What of it is needed for that? Whole
    /// arguments, variables and files of a folder, lines of other files; one minimal set after the other.
    #[arg(long, help_heading = WHAT)]
    pub prevent: bool,
    /// The units that are left out: `auto` to single characters of text, by way of lines and brackets, and to single bytes of
    /// anything else.
    #[arg(long, value_enum, default_value_t, value_name = "UNIT", help_heading = WHAT)]
    pub by: UnitChoice,
    /// Simplify the standard input and the files by this grammar, in BNF or EBNF: everything that is tried is derived
    /// by it.
    #[arg(long, value_name = "FILE", help_heading = WHAT, conflicts_with_all = ["by", "prevent"])]
    pub grammar: Option<PathBuf>,
    /// The replacements of a symbol of the grammar: what the same symbol derives below it, other alternatives of
    /// it, or both.
    #[arg(long, value_enum, default_value_t, value_name = "STRATEGY", help_heading = WHAT, requires = "grammar")]
    pub strategy: StrategyChoice,
    /// Only leave out, and put nothing simpler in the place of what is needed.
    #[arg(long, help_heading = WHAT, conflicts_with_all = ["prevent", "strategy"])]
    pub only_delete: bool,
    /// The failure.
    #[command(flatten)]
    pub failure: InputFailureOptions,
    /// The budget of the search.
    #[command(flatten)]
    pub limits: LimitOptions,
    /// Go on where the same command was ended: by a budget, by Ctrl-C, or from outside. Its tests are not made again.
    #[arg(long, conflicts_with = "prevent", help_heading = "Limits")]
    pub resume: bool,
    /// The result.
    #[command(flatten)]
    pub result: InputResultOptions,
}

/// When a run shows the failure.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "The failure (without any: the same crash, or failing exit status and message)"
)]
pub struct InputFailureOptions {
    /// The failure to look for.
    #[command(flatten)]
    pub outcome: OutcomeOptions,
    /// It crashes: `here`, where it does with all that it is given, or in `any` way.
    #[arg(long, value_enum, value_name = "WHICH")]
    pub expect_crash: Option<CrashChoice>,
    /// It does not end: it uses the processor, or sleeps, for longer than --timeout, or a second.
    #[arg(long, conflicts_with_all = ["expect_output", "expect_exit", "expect_signal", "expect_crash"])]
    pub expect_timeout: bool,
    /// The same statements lead to it: no other one is executed up to the failure, and none is missing. For programs with
    /// debug information.
    #[arg(long, conflicts_with_all = ["prevent", "expect_timeout", "differs_from"])]
    pub keep_path: bool,
    /// The shell command CMD, which is given the same input and arguments, prints something else or has another
    /// exit status.
    #[arg(long, value_name = "CMD", conflicts_with_all = ["expect_timeout", "expect_crash"])]
    pub differs_from: Option<String>,
}

/// The output of the result: its format and files.
#[derive(Debug, Args)]
#[command(next_help_heading = "The result")]
pub struct InputResultOptions {
    /// Then look for the critical slice of the program, with what is left: as `stripe run` does, which is told.
    #[arg(long, conflicts_with_all = ["prevent", "differs_from"])]
    pub then_run: bool,
    /// Write what is left to FILE, or if it is of several files or of a folder, into this folder; without, beside
    /// the original, under a new name.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the result to FILE too; KIND is one of the formats.
    #[arg(long, value_name = "KIND=FILE", value_parser = OsStringValueParser::new().try_map(emission))]
    pub emit: Vec<SimplifyEmission>,
    /// Overwrite what --output and --emit name.
    #[arg(long)]
    pub force: bool,
    /// The format of the result.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: SimplifyFormat,
    /// Print nothing but the result and errors.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print a line for each test.
    #[arg(short, long)]
    pub verbose: bool,
}

/// The format of a simplified input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SimplifyFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
    /// A page to look at in a browser.
    Html,
}

/// A file to which the result is written.
#[derive(Clone, Debug)]
pub struct SimplifyEmission {
    /// The form to write.
    pub kind: SimplifyFormat,
    /// Where.
    pub file: PathBuf,
}

fn emission(text: OsString) -> Result<SimplifyEmission, String> {
    let (kind, file) = split_at_equals(&text).ok_or("not of the form KIND=FILE")?;
    let kind = SimplifyFormat::from_str(&kind.to_string_lossy(), false)
        .map_err(|_| "the kind must be text, json or html")?;
    match file.is_empty() {
        true => Err("the file has no name".into()),
        false => Ok(SimplifyEmission { kind, file: file.into() }),
    }
}

/// Which crashes are the failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CrashChoice {
    /// The one that is seen first.
    Here,
    /// Any.
    Any,
}

/// The granularity: the units of an input that are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum UnitChoice {
    /// The granularities that fit the content.
    #[default]
    Auto,
    /// Lines.
    Lines,
    /// Words, numbers, stretches of space, single signs.
    Tokens,
    /// Nodes of the syntax tree, where the ending of the name tells a known language; elements of bracketed lists and
    /// blocks elsewhere.
    Tree,
    /// Characters.
    Characters,
    /// Bytes.
    Bytes,
}

/// The strategy that makes derivations smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StrategyChoice {
    /// By what the same symbol derives below.
    Subtrees,
    /// By other alternatives.
    Alternatives,
    /// First by the one, then by the other.
    #[default]
    Both,
}

impl InputResultOptions {
    /// The verbosity that the options ask for.
    pub(super) fn verbosity(&self) -> Verbosity {
        Verbosity { quiet: self.quiet, verbose: self.verbose }
    }
}
