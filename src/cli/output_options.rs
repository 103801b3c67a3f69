//! Declare the options that say what to print.

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};

use super::terminal::Verbosity;
use super::values::{Emission, EmissionKind, emission};
use crate::report::{EventsListed, ValuesTold};

/// The output of a report: its format, colors and files.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "The result")]
pub struct OutputOptions {
    /// The format of the result.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: EmissionKind,
    /// Write the result to FILE too; KIND is one of the formats.
    #[arg(long, value_name = "KIND=FILE", value_parser = OsStringValueParser::new().try_map(emission))]
    pub emit: Vec<Emission>,
    /// Overwrite files given to --emit.
    #[arg(long)]
    pub force: bool,
    /// Tell what the needed executions did with values, such as `sum = 0 + 1 -> 1`, however many they are;
    /// without, of up to 60. html and dot do always.
    #[arg(long)]
    pub values: bool,
    /// Do not tell what the needed executions did with values.
    #[arg(long, conflicts_with = "values")]
    pub no_values: bool,
    /// Show the whole source of all functions with a needed execution, even of a large slice.
    #[arg(long)]
    pub full: bool,
    /// List all needed events in JSON, not only the first 100,000.
    #[arg(long)]
    pub all_events: bool,
    /// Print nothing but the result and errors.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print a line for each test.
    #[arg(short, long)]
    pub verbose: bool,
}

impl OutputOptions {
    /// The verbosity that the options ask for.
    pub(super) fn verbosity(&self) -> Verbosity {
        Verbosity { quiet: self.quiet, verbose: self.verbose }
    }

    /// The kinds of output that are asked for.
    pub(super) fn kinds(&self) -> impl Iterator<Item = EmissionKind> {
        let written = self.emit.iter().map(|emission| emission.kind);
        std::iter::once(self.format).chain(written)
    }

    /// True if values are told however many executions are needed.
    pub(super) fn asks_for_values(&self) -> bool {
        self.values || self.kinds().any(|kind| matches!(kind, EmissionKind::Html | EmissionKind::Dot))
    }

    /// The executions whose values a text tells.
    pub(super) fn values_told(&self) -> ValuesTold {
        match (self.values, self.no_values) {
            (true, _) => ValuesTold::All,
            (_, true) => ValuesTold::None,
            _ => ValuesTold::Few,
        }
    }

    /// The needed events that JSON lists.
    pub(super) fn events_listed(&self) -> EventsListed {
        if self.all_events { EventsListed::All } else { EventsListed::First }
    }

    /// True if any of the kinds needs the tests of the search.
    pub(super) fn tells_history(&self) -> bool {
        self.kinds().any(EmissionKind::tells_history)
    }
}
