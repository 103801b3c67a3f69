//! Declare the options of `stripe changes`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use regex::bytes::Regex;

use super::keep_options::KeepOptions;
use super::limit_options::LimitOptions;
use super::outcome_options::OutcomeOptions;
use super::terminal::Verbosity;
use super::values::{duration, regex, split_at_equals};
use super::world_options::WorldOptions;

/// The heading of the options for the versions to compare.
const VERSIONS: &str = "The two versions";

/// The heading of the options for building and testing versions.
const TESTS: &str = "Building and testing a version";

/// The heading of the options for the search.
const SEARCH: &str = "The search";

/// `stripe changes`.
#[derive(Debug, Args)]
#[command(
    mut_arg("max_tests", |arg| arg.help("Test at most N versions")),
    mut_arg("jobs", |arg| arg.help("How many versions are tested at the same time; without, one for each processor"))
)]
pub struct ChangesOptions {
    /// The program and its arguments, started in each version; instead of --test.
    #[arg(last = true, value_name = "PROG ARG")]
    pub command: Vec<OsString>,
    /// The version that works: a folder, or a revision of the git repository around.
    #[arg(long, value_name = "VERSION", help_heading = VERSIONS)]
    pub good: OsString,
    /// The version that does not: a folder, or a revision; `.` is the working tree as it is.
    #[arg(long, value_name = "VERSION", help_heading = VERSIONS)]
    pub bad: OsString,
    /// Paths that match RE are in neither version: files that a build has left.
    #[arg(long, value_name = "RE", value_parser = regex, help_heading = VERSIONS)]
    pub exclude: Option<Regex>,
    /// Build a version by this shell command, in its tree.
    #[arg(long, value_name = "CMD", help_heading = TESTS)]
    pub build: Option<String>,
    /// Test a version by this shell command, in its tree: it exits with 0 if the version works, with 125 if that
    /// cannot be told, and with 1 to 124 if it does not work, as for `git bisect run`.
    #[arg(long, value_name = "CMD", conflicts_with = "command", required_unless_present = "command", help_heading = TESTS)]
    pub test: Option<String>,
    /// End a build after this time; without, after ten times what it takes for the two versions.
    #[arg(long, value_name = "TIME", value_parser = duration, allow_negative_numbers = true, help_heading = TESTS)]
    pub build_timeout: Option<Duration>,
    /// Test each version N times: one that is not the same each time says nothing.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100), help_heading = TESTS)]
    pub repeat: u32,
    /// Build each version in a clean tree: without, what builds make stays, and only what differs is built anew.
    #[arg(long, help_heading = TESTS)]
    pub clean: bool,
    /// The surroundings that the program sees.
    #[command(flatten)]
    pub world: WorldOptions,
    /// The failure of the program after --.
    #[command(flatten)]
    pub failure: ChangesFailureOptions,
    /// The units that are tried: `auto` goes from commits to textual changes, and to lines where few are left.
    #[arg(long, value_enum, default_value_t, value_name = "UNIT", help_heading = SEARCH)]
    pub by: ChangeUnitChoice,
    /// Leave commits out: search all changes between the two versions together.
    #[arg(long, help_heading = SEARCH)]
    pub flat: bool,
    /// Two changes have at least N unchanged lines in between.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = SEARCH)]
    pub context: u32,
    /// Do not try changes together by this. May be given more than once.
    #[arg(long, value_enum, value_name = "LEVEL", help_heading = SEARCH)]
    pub without_groups: Vec<GroupChoice>,
    /// Do not add the changes that the messages of a failed build ask for.
    #[arg(long, help_heading = SEARCH)]
    pub without_resolution: bool,
    /// Take what RE matches in the messages of a failed build, or its groups, for names as well.
    #[arg(long, value_name = "RE", value_parser = regex, help_heading = SEARCH)]
    pub error_pattern: Option<Regex>,
    /// The budget of the search.
    #[command(flatten)]
    pub limits: LimitOptions,
    /// Go on where the same command was ended: by a budget, by Ctrl-C, or from outside. Its tests are not made again.
    #[arg(long, help_heading = "Limits")]
    pub resume: bool,
    /// The place where the search is kept.
    #[command(flatten)]
    pub keep: KeepOptions,
    /// The result.
    #[command(flatten)]
    pub result: ChangesResultOptions,
}

/// When a run of the program shows the failure.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "The failure of the program after -- (without any: the same signal, or failing exit status and message)"
)]
pub struct ChangesFailureOptions {
    /// The failure to look for.
    #[command(flatten)]
    pub outcome: OutcomeOptions,
}

/// The output of the result: its format and files.
#[derive(Debug, Args)]
#[command(next_help_heading = "The result")]
pub struct ChangesResultOptions {
    /// Write the result to FILE too; KIND is one of the formats.
    #[arg(long, value_name = "KIND=FILE", value_parser = OsStringValueParser::new().try_map(changes_emission))]
    pub emit: Vec<ChangesEmission>,
    /// Write a passing and a failing version, as close as was found, to DIR/passing and DIR/failing.
    #[arg(long, value_name = "DIR")]
    pub trees: Option<PathBuf>,
    /// Overwrite files given to --emit.
    #[arg(long)]
    pub force: bool,
    /// The format of the result.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: ChangesFormat,
    /// Go on to the critical slice of the failing version of the program after --, in which the changed lines are told.
    /// It is built in the folder of the search, and needs debug information.
    #[arg(long, conflicts_with_all = ["test", "no_save"])]
    pub then_run: bool,
    /// Print nothing but the result and errors.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print a line for each test.
    #[arg(short, long)]
    pub verbose: bool,
}

/// The granularity of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ChangeUnitChoice {
    /// The granularities that fit.
    #[default]
    Auto,
    /// Commits.
    Commits,
    /// Files.
    Files,
    /// Functions.
    Functions,
    /// Textual changes.
    Hunks,
    /// Lines.
    Lines,
}

/// By what changes are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GroupChoice {
    /// Directories.
    Directories,
    /// Files.
    Files,
    /// Functions.
    Functions,
    /// Names that the changes introduce or take away.
    Identifiers,
    /// Nothing at all.
    All,
}

/// The form in which a result is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ChangesFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
    /// A page to look at in a browser.
    Html,
    /// For `patch -p1` or `git apply` in the version that works.
    Patch,
}

/// A file to be written.
#[derive(Clone, Debug)]
pub struct ChangesEmission {
    /// The form to write.
    pub kind: ChangesFormat,
    /// Where.
    pub file: PathBuf,
}

fn changes_emission(text: OsString) -> Result<ChangesEmission, String> {
    let (kind, file) = split_at_equals(&text).ok_or("not of the form KIND=FILE")?;
    let kind = ChangesFormat::from_str(&kind.to_string_lossy(), false)
        .map_err(|_| "the kind must be text, json, html or patch")?;
    match file.is_empty() {
        true => Err("the file has no name".into()),
        false => Ok(ChangesEmission { kind, file: file.into() }),
    }
}

impl ChangesResultOptions {
    /// The verbosity that the options ask for.
    pub(super) fn verbosity(&self) -> Verbosity {
        Verbosity { quiet: self.quiet, verbose: self.verbose }
    }
}
