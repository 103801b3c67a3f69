//! Declare the command line, in groups that several subcommands share.
//!
//! Only what a user types is here; what becomes of it is in the subcommands' own files. Help, shell
//! completions and the man page all come from these definitions.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use regex::bytes::Regex;

use super::changes_options::ChangesOptions;
use super::choices::{
    AlgorithmChoice, ColorChoice, ControlChoice, EngineChoice, GranularityChoice, GuessChoice, LevelChoice,
    PoisonOption, SingleControl, TraceFormat,
};
use super::help::{
    CHANGES_EXAMPLES, CHANGES_STATUS, DOCTOR_EXAMPLES, EXAMPLES, EXIT_STATUS, EXPLAIN_EXAMPLES,
    LOCATE_EXAMPLES, LOCATE_STATUS, REDUCE_EXAMPLES, REPLAY_EXAMPLES, REPLAY_STATUS, REPORT_EXAMPLES,
    RUN_EXAMPLES, SIMPLIFY_EXAMPLES, SIMPLIFY_STATUS, SLICE_EXAMPLES, STUDY_EXAMPLES, STUDY_STATUS,
    TRACE_EXAMPLES,
};
use super::intervention_options::InterventionOptions;
use super::keep_options::KeepOptions;
use super::limit_options::LimitOptions;
use super::locate_options::LocateOptions;
use super::oracle_options::OracleOptions;
pub(super) use super::output_options::OutputOptions;
use super::simplify_options::SimplifyOptions;
use super::slice_options::SliceOptions;
use super::study::options::StudyCommand;
use super::target_options::TargetOptions;
use super::values::{ByProductNumber, EventList, ValuePlace, by_product, duration, event_list, named_regex};
use super::worker_options::WorkerOptions;
use crate::oracle::{InnerCriterion, InnerQuestion};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "stripe",
    version,
    about = "Find the statement executions that a failure needs: the critical slice of a failing run.",
    before_help = EXAMPLES,
    subcommand_required = true,
    arg_required_else_help = true,
    max_term_width = 80
)]
pub struct CommandLine {
    /// Use colours: always, never, or auto, on a terminal unless NO_COLOR is set.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_possible_values = true,
        display_order = 1000
    )]
    pub color: ColorChoice,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Record a failing run and reduce it to its critical slice.
    #[command(before_help = RUN_EXAMPLES, after_help = EXIT_STATUS)]
    Run(RunOptions),
    /// Go on with the search of a run that was ended early.
    #[command(before_help = REDUCE_EXAMPLES, after_help = EXIT_STATUS)]
    Reduce(ReduceOptions),
    /// Report what a run has found, without running the program.
    #[command(before_help = REPORT_EXAMPLES)]
    Report(ReportOptions),
    /// Explain why an execution is needed, or since when it is not; with values.
    #[command(before_help = EXPLAIN_EXAMPLES, override_usage = "stripe explain [OPTIONS] [RUN] <WHERE>")]
    Explain(ExplainOptions),
    /// List the runs that are kept in this folder.
    Runs,
    /// Record a run and print its events.
    #[command(before_help = TRACE_EXAMPLES)]
    Trace(TraceOptions),
    /// Replay a run once with some events left out, and judge it.
    #[command(before_help = REPLAY_EXAMPLES, after_help = REPLAY_STATUS)]
    Replay(ReplayOptions),
    /// Change one thing in a failing run, and see whether its output becomes right: where is the fault?
    #[command(before_help = LOCATE_EXAMPLES, after_help = LOCATE_STATUS)]
    Locate(LocateOptions),
    /// Find what a failure depends on: the dynamic slice of a run, inferred and not tried.
    #[command(before_help = SLICE_EXAMPLES)]
    Slice(SliceOptions),
    /// Find the changes that break a program: of all that is different between two of its versions.
    #[command(before_help = CHANGES_EXAMPLES, after_help = CHANGES_STATUS)]
    Changes(Box<ChangesOptions>),
    /// Simplify what a failing program is given: its input, files, arguments, environment.
    #[command(before_help = SIMPLIFY_EXAMPLES, after_help = SIMPLIFY_STATUS)]
    Simplify(SimplifyOptions),
    /// Evaluate fault localization on a table of faults: results, tables and plots.
    #[command(subcommand, before_help = STUDY_EXAMPLES, after_help = STUDY_STATUS)]
    Study(StudyCommand),
    /// Run the example of the paper and explain what is seen.
    Demo(DemoOptions),
    /// Make tests for a search on another machine, which its --launcher starts: lines of JSON on standard input and
    /// output.
    Worker,
    /// Say whether this machine can trace, and whether a program can be traced.
    #[command(before_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorOptions),
    /// Print the completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, in roff.
    Man,
}

/// Several failures in one run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Several failures, each reduced by itself, and a table of all")]
pub struct SeveralOptions {
    /// In each line that matches RE, the output from the match on is as in the recorded run. May be
    /// given more than once. With --reference: tells which of them are wrong.
    #[arg(long, value_name = "NAME=RE", value_parser = named_regex, conflicts_with_all = ALONE)]
    pub criterion: Vec<(String, Regex)>,
    /// One for each line of the output, in its place. With --reference: tells which of them are wrong.
    #[arg(long, conflicts_with_all = ALONE, conflicts_with = "criterion")]
    pub each_line: bool,
}

impl SeveralOptions {
    /// True if the user has asked for several criteria.
    pub(super) fn are_asked(&self) -> bool {
        self.each_line || self.criterion.len() > 1
    }
}

/// The options of a single failure that do not go together with several.
const ALONE: [&str; 11] = [
    "expect_output",
    "expect_stderr",
    "expect_exit",
    "expect_signal",
    "expect_match",
    "reject_match",
    "expect_stderr_match",
    "reject_stderr_match",
    "only_lines",
    "check",
    "expect_timeout",
];

/// A question inside of the run, instead of a failure.
#[derive(Debug, Args)]
#[command(next_help_heading = "Or a question inside of the run, which ends there")]
pub struct InnerOptions {
    /// Why has a variable its value where an execution of a line begins: sum@13#3.
    #[arg(
        long,
        value_name = "NAME@WHERE",
        conflicts_with_all = ALONE,
        conflicts_with_all = ["decision", "criterion", "each_line", "reference", "compare", "guess"],
    )]
    pub value: Option<ValuePlace>,
    /// Why does a decision go its way: 10#4.
    #[arg(
        long,
        value_name = "WHERE",
        conflicts_with_all = ALONE,
        conflicts_with_all = ["criterion", "each_line", "reference", "compare", "guess"],
    )]
    pub decision: Option<String>,
}

impl InnerOptions {
    /// The question inside of the run, if one is asked.
    pub(super) fn criterion(&self) -> Option<InnerCriterion> {
        match (&self.value, &self.decision) {
            (Some(ValuePlace { name, place }), _) => {
                Some(InnerCriterion { question: InnerQuestion::Value(name.clone()), place: place.clone() })
            }
            (None, Some(place)) => {
                Some(InnerCriterion { question: InnerQuestion::Decision, place: place.clone() })
            }
            (None, None) => None,
        }
    }
}

/// `stripe run`.
#[derive(Debug, Args)]
pub struct RunOptions {
    /// The program.
    #[command(flatten)]
    pub target: TargetOptions,
    /// The failure.
    #[command(flatten)]
    pub oracle: OracleOptions,
    /// A question inside of the run.
    #[command(flatten)]
    pub inner: InnerOptions,
    /// Several failures.
    #[command(flatten)]
    pub several: SeveralOptions,
    /// The search.
    #[command(flatten)]
    pub search: SearchOptions,
    /// The result.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The workers that make the tests.
    #[command(flatten)]
    pub workers: WorkerOptions,
    /// Set the result beside the dynamic slice, which is inferred from dependences: what was executed, what of it the
    /// failure depends on, what of that it needs. As text; for runs that are not too long.
    #[arg(long, help_heading = "The result")]
    pub compare: bool,
    /// The place where it is kept, and the parts that are.
    #[command(flatten)]
    pub keep: KeepOptions,
}

/// `stripe reduce`.
#[derive(Debug, Args)]
#[command(
    mut_arg("max_tests", |arg| arg.help("Test at most N further configurations")),
    mut_arg("jobs", |arg| arg.help("How many tests run at the same time"))
)]
pub struct ReduceOptions {
    /// The run: its number in `stripe runs`, or its folder; without, the latest.
    #[arg(value_name = "RUN")]
    pub run: Option<PathBuf>,
    /// The limits.
    #[command(flatten)]
    pub limits: LimitOptions,
    /// The workers that make the tests.
    #[command(flatten)]
    pub workers: WorkerOptions,
    /// The result.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// `stripe report`.
#[derive(Debug, Args)]
pub struct ReportOptions {
    /// The run: its number in `stripe runs`, or its folder; without, the latest.
    #[arg(value_name = "RUN")]
    pub run: Option<PathBuf>,
    /// The result.
    #[command(flatten)]
    pub output: OutputOptions,
}

/// `stripe explain`.
#[derive(Debug, Args)]
pub struct ExplainOptions {
    /// The run, by its number in `stripe runs` or its folder, without it the latest; then the place: a line,
    /// `main.c:11`; an execution of a line, `11#3` or `main.c:11#3`; or the number of an event, `12`. A
    /// number alone is always an event.
    /// Without a place, or with `last`: the last needed execution before the failure.
    #[arg(value_names = ["RUN", "WHERE"], num_args = 0..=2)]
    pub place: Vec<OsString>,
    /// Of several criteria, explain by this one alone.
    #[arg(long, value_name = "NAME")]
    pub criterion: Option<String>,
    /// Do not run the program: tell the evidence that is kept, and no values unless they are kept too.
    #[arg(long)]
    pub kept: bool,
}

/// The method of the search.
#[derive(Debug, Args)]
#[command(next_help_heading = "The search")]
pub struct SearchOptions {
    /// The control rule, by which a statement is executed: `program`, its branches; `trace`, the recorded order;
    /// `both`, one after the other, which tells effects from decisions.
    #[arg(long, value_enum, default_value_t, value_name = "CONTROL")]
    pub control: ControlChoice,
    /// The algorithm that chooses subsets.
    #[arg(long, value_enum, default_value_t, value_name = "ALGORITHM")]
    pub algorithm: AlgorithmChoice,
    /// The level, the groups that are left out as a whole until nothing can be left out any more: the executions of a statement, those
    /// with the same history, single ones.
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    pub level: LevelChoice,
    /// The first guess. `auto`, also by --guess alone: what the failure depends on, its dynamic slice, for runs that
    /// are not too long. `none`: the whole run.
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "auto"
    )]
    pub guess: GuessChoice,
    /// Whether undefined values are set to patterns.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub poison: PoisonOption,
    /// Test at most N configurations.
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Limits")]
    pub max_tests: Option<u64>,
    /// Search for at most this time, such as 10s or 5m.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration,
        allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    pub max_time: Option<Duration>,
    /// End after this time in all, recording and report included, with the best so far.
    #[arg(
        long,
        value_name = "TIME",
        value_parser = duration,
        allow_negative_numbers = true,
        help_heading = "Limits"
    )]
    pub total_time: Option<Duration>,
    /// The number of tests at the same time; without, one for each processor.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "Limits")]
    pub jobs: Option<u16>,
}

/// `stripe trace`.
#[derive(Debug, Args)]
pub struct TraceOptions {
    /// The program.
    #[command(flatten)]
    pub target: TargetOptions,
    /// The format of the events.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: TraceFormat,
}

/// `stripe replay`. Instead of a program it may name a kept run.
#[derive(Debug, Args)]
pub struct ReplayOptions {
    /// The program.
    #[command(flatten)]
    pub target: TargetOptions,
    /// The failure.
    #[command(flatten)]
    pub oracle: OracleOptions,
    /// Changes after which the program goes its own way.
    #[command(flatten)]
    pub intervention: InterventionOptions,
    /// Leave out these events, by the numbers of `stripe trace`: 8-12,40, or @FILE with such a list.
    #[arg(long, value_name = "EVENTS", value_parser = event_list, conflicts_with = "keep", help_heading = "The experiment")]
    pub omit: Option<EventList>,
    /// Leave out all events that can be but these; an empty text keeps none.
    #[arg(long, value_name = "EVENTS", value_parser = event_list, help_heading = "The experiment")]
    pub keep: Option<EventList>,
    /// Execute what this other failure of the search for a kept RUN has executed; they count from 1.
    #[arg(
        long,
        value_name = "N",
        value_parser = by_product,
        conflicts_with_all = ["omit", "keep", "control"],
        help_heading = "The experiment"
    )]
    pub by_product: Option<ByProductNumber>,
    /// The control rule, by which a statement is executed.
    #[arg(long, value_enum, default_value_t, value_name = "CONTROL", help_heading = "The experiment")]
    pub control: SingleControl,
    /// Whether undefined values are set to patterns.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", help_heading = "The experiment")]
    pub poison: PoisonOption,
}

/// True if a word in place of a program names a kept run: by its number, as the latest, or by its folder. A
/// program of such a name is given as `./3`.
pub(super) fn names_run(word: &Path) -> bool {
    let is_name = |word: &str| word == "latest" || word.parse::<u32>().is_ok();
    word.to_str().is_some_and(is_name) || word.join("run.json").exists()
}

impl ReplayOptions {
    /// An option that does not go together with a kept run, if there is one.
    pub(super) fn unfit_for_kept_run(&self) -> Option<&'static str> {
        let (target, oracle) = (&self.target, &self.oracle);
        let given = [
            (target.world.stdin.is_some(), "--stdin"),
            (!target.world.env.is_empty(), "--env"),
            (target.world.clear_env, "--clear-env"),
            (target.world.keep_env, "--keep-env"),
            (target.world.cwd.is_some(), "--cwd"),
            (target.world.pty, "--pty"),
            (target.world.real_time, "--real-time"),
            (target.world.real_random, "--real-random"),
            (!target.scope.is_empty(), "--scope"),
            (matches!(target.granularity, GranularityChoice::Line), "--granularity"),
            (target.world.timeout.is_some(), "--timeout"),
            (target.engine != EngineChoice::Auto, "--engine"),
            (target.world.no_sandbox, "--no-sandbox"),
            (!target.world.allow.is_empty(), "--allow"),
            (!target.world.allow_write.is_empty(), "--allow-write"),
            (!target.arguments.is_empty(), "an argument"),
            (oracle.outcome.expect_output.is_some(), "--expect-output"),
            (oracle.outcome.expect_stderr.is_some(), "--expect-stderr"),
            (oracle.outcome.expect_exit.is_some(), "--expect-exit"),
            (oracle.outcome.expect_signal.is_some(), "--expect-signal"),
            (!oracle.outcome.expect_match.is_empty(), "--expect-match"),
            (!oracle.outcome.reject_match.is_empty(), "--reject-match"),
            (!oracle.outcome.expect_stderr_match.is_empty(), "--expect-stderr-match"),
            (!oracle.outcome.reject_stderr_match.is_empty(), "--reject-stderr-match"),
            (oracle.only_lines.is_some(), "--only-lines"),
            (oracle.outcome.check.is_some(), "--check"),
            (oracle.reference.is_some(), "--reference"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }
}

/// `stripe demo`.
#[derive(Debug, Args)]
pub struct DemoOptions {
    /// The folder for the sample and its input; without, `stripe-demo` in the working directory.
    #[arg(value_name = "DIR", default_value = "stripe-demo")]
    pub folder: PathBuf,
    /// Write the results as a page for a browser too, report.html in that folder.
    #[arg(long)]
    pub html: bool,
    /// Show instead which of all changes between two versions of a sample breaks it.
    #[arg(long, conflicts_with = "html")]
    pub changes: bool,
}

/// `stripe doctor`.
#[derive(Debug, Args)]
pub struct DoctorOptions {
    /// A program to look at.
    pub program: Option<PathBuf>,
    /// Say more: how control comes from the program's statements to the tracer.
    #[arg(short, long)]
    pub verbose: bool,
    /// Trace these: a file, a function or a glob of them; `!` excludes.
    #[arg(long, value_name = "PATTERN")]
    pub scope: Vec<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn options_may_stand_on_either_side_of_the_program() {
        for line in ["stripe run --stdin in ./p -- 0 5", "stripe run ./p --stdin in -- 0 5"] {
            let Command::Run(run) = CommandLine::parse_from(line.split(' ')).command else {
                panic!("{line}")
            };
            assert_eq!((run.target.world.stdin, run.target.arguments.len()), (Some("in".into()), 2));
        }
    }
}
