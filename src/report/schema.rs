//! Define the JSON documents: every key, in the order in which it is written.
//!
//! Keys are stable: a version in `schema` promises that none goes away or changes its meaning; more may
//! be added. Does not fill the documents in.

use serde::Serialize;

/// The version of stripe that writes.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The name and version of [`Slice`].
pub(super) const SLICE: &str = "stripe.slice/1";
/// The name and version of [`Slices`].
pub(super) const SLICES: &str = "stripe.slices/1";
/// The name and version of [`Trace`].
pub(super) const TRACE: &str = "stripe.trace/1";

/// The result of a reduction.
#[derive(Serialize)]
pub(super) struct Slice<'a, N: Serialize> {
    /// [`SLICE`].
    pub(super) schema: &'static str,
    /// The version of stripe.
    pub(super) version: &'static str,
    /// The program and its arguments, as the user gave them.
    pub(super) command: &'a [String],
    /// The executable.
    pub(super) program: Executable<'a>,
    /// When a run shows the failure, in words.
    pub(super) criterion: &'a str,
    /// `both`, `program` or `trace`.
    pub(super) control: &'static str,
    /// `statement` or `line`.
    pub(super) granularity: &'static str,
    /// `sweep` or `ddmin`.
    pub(super) algorithm: &'static str,
    /// How the program was replayed.
    pub(super) engine: &'static str,
    /// Why it is not the faster one, if that was preferred.
    pub(super) engine_reason: Option<&'a str>,
    /// `full`, `basic` or `none`.
    pub(super) containment: &'static str,
    /// Why it is not better.
    pub(super) containment_reason: Option<&'a str>,
    /// `minimal`, `budget`, `interrupted` or `unconfirmed`.
    pub(super) status: &'static str,
    /// What was left out one by one to show that the result is minimal, if it is: `statement`, `history` or
    /// `execution`.
    pub(super) level: Option<&'static str>,
    /// Whether effects were told from decisions; if not, `effect` means no more than: not a decision.
    pub(super) effects_tried: bool,
    /// Numbers of events.
    pub(super) events: EventsDocument,
    /// Numbers of tests.
    pub(super) tests: Tests,
    /// Wall time from the first recording to the end, to the millisecond.
    pub(super) seconds: f64,
    /// The omittable events that are needed, as `stripe replay --keep` takes them.
    pub(super) needed: String,
    /// The same with all that is known of them ([`NeededEvent`]), in order; of very many the first ones.
    pub(super) slice: N,
    /// How many of them are not in `slice`.
    pub(super) slice_omitted: usize,
    /// All lines that were executed, by file and line.
    pub(super) lines: Vec<LineDocument<'a>>,
    /// Everything that weakens the answer; each one sentence.
    pub(super) warnings: &'a [String],
    /// Other failures that came up on the way, those that came up most often first.
    pub(super) by_products: Vec<ByProductReport<'a>>,
    /// The dynamic slice beside it, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comparison: Option<LayersDocument>,
}

/// A dynamic slice beside a critical one. Entries and ends of functions do not count.
#[derive(Serialize)]
pub(super) struct LayersDocument {
    /// What the dynamic slice was asked for, in words.
    pub(super) criterion: String,
    /// How many statement executions the run has.
    pub(super) executed: usize,
    /// How many of them are in the dynamic slice.
    pub(super) dynamic: usize,
    /// Their events.
    pub(super) dynamic_events: String,
    /// Those of them that are not needed.
    pub(super) not_needed: Vec<WithoutDocument>,
    /// The needed events that are not in the dynamic slice.
    pub(super) not_inferred: String,
    /// What weakens the dynamic slice; each one sentence.
    pub(super) warnings: Vec<String>,
}

/// An execution that a test left out and still showed the failure.
#[derive(Serialize)]
pub(super) struct WithoutDocument {
    /// Its number in the trace, from 1.
    pub(super) event: u32,
    /// The number of the first such test, from 1; null if it is not kept.
    pub(super) test: Option<usize>,
}

/// A failure other than the one under study, in which tests have ended.
#[derive(Serialize)]
pub(super) struct ByProductReport<'a> {
    /// What happened, in words.
    pub(super) what: &'a str,
    /// How many tests have ended so.
    pub(super) tests: u64,
    /// What made a statement be executed in the smallest of them: `program` or `trace`.
    pub(super) control: &'static str,
    /// Which events that one has executed, as `stripe replay --keep` takes them.
    pub(super) keep: String,
}

/// Several results about one run.
#[derive(Serialize)]
pub(super) struct Slices<'a, N: Serialize> {
    /// [`SLICES`].
    pub(super) schema: &'static str,
    /// The version of stripe.
    pub(super) version: &'static str,
    /// The lines that are needed for what is wrong and for nothing that is right, by file and line; null unless
    /// some of the criteria are known to be about wrong output, and others are not.
    pub(super) wrong_only: Option<Vec<WrongLine<'a>>>,
    /// In the order in which the user named them.
    pub(super) criteria: Vec<NamedSlice<'a, N>>,
}

/// A line of the source.
#[derive(Serialize)]
pub(super) struct WrongLine<'a> {
    /// The source file as users know it.
    pub(super) file: &'a str,
    /// From 1.
    pub(super) line: u32,
}

/// A result with the name of its criterion.
#[derive(Serialize)]
pub(super) struct NamedSlice<'a, N: Serialize> {
    /// The name that the user gave.
    pub(super) name: &'a str,
    /// Whether the correct output would not meet the criterion; false if none was given.
    pub(super) wrong: bool,
    /// The result.
    pub(super) slice: Slice<'a, N>,
}

/// The executable.
#[derive(Serialize)]
pub(super) struct Executable<'a> {
    /// Where it was loaded from; what is no UTF-8 is replaced.
    pub(super) path: String,
    /// In hexadecimal; null if the linker left none.
    pub(super) build_id: Option<&'a str>,
}

/// Numbers of events.
#[derive(Serialize)]
pub(super) struct EventsDocument {
    /// In the trace, structural ones included.
    pub(super) recorded: usize,
    /// Those that can be omitted at all.
    pub(super) omittable: usize,
    /// Omittable ones that are needed.
    pub(super) kept: usize,
    /// Those needed for their effect.
    pub(super) kept_for_effect: usize,
}

/// Numbers of tests.
#[derive(Serialize)]
pub(super) struct Tests {
    /// Configurations really tested: the sum of the next three.
    pub(super) total: u64,
    /// Tests that reproduced the failure.
    pub(super) reproduced: u64,
    /// Tests that did not.
    pub(super) not_reproduced: u64,
    /// Tests that said nothing.
    pub(super) unresolved: u64,
    /// Candidates that needed no test, because their effective set had been tested before.
    pub(super) cached: u64,
    /// All replays, confirmations under further patterns included.
    pub(super) runs: u64,
}

/// When and where an event happened.
#[derive(Serialize)]
pub(super) struct Place<'a> {
    /// The event's number, counted from 1 over all events of the trace.
    pub(super) event: u32,
    /// The source file as users know it.
    pub(super) file: &'a str,
    /// From 1.
    pub(super) line: u32,
    /// From 1; 0 where the compiler gives none, or where lines are the statements.
    pub(super) column: u32,
    /// The name of the function.
    pub(super) function: &'a str,
    /// It is this execution of its statement (file, line, column), from 1; entries and epilogues are
    /// counted by themselves.
    pub(super) occurrence: u32,
    /// The same as `event`: the paper's time.
    pub(super) time: u32,
}

/// An event that the failure needs.
#[derive(Serialize)]
pub(super) struct NeededEvent<'a> {
    /// When and where.
    #[serde(flatten)]
    pub(super) place: Place<'a>,
    /// `effect` or `decision`.
    pub(super) needed: &'static str,
    /// What was seen without it; null if the search ended before this was tried.
    pub(super) without: Option<Without<'a>>,
    /// What it did with values; null if nobody has looked.
    pub(super) values: Option<Values<'a>>,
}

/// What an event did with values, as the language of the program writes them.
#[derive(Serialize)]
pub(super) struct Values<'a> {
    /// In one line, such as `sum = 0 + 1 → 1 (was 0)`; empty if nothing with a name was read or written.
    pub(super) told: String,
    /// What it read, in order.
    pub(super) reads: Vec<Read<'a>>,
    /// What it wrote, in order.
    pub(super) writes: Vec<Written<'a>>,
    /// The needed events that have written what it read, as far as seen.
    pub(super) fed_by: Vec<Fed<'a>>,
}

/// A value that was read.
#[derive(Serialize)]
pub(super) struct Read<'a> {
    /// As the source calls it; `f()` for what a function returned.
    pub(super) name: &'a str,
    /// What it was.
    pub(super) value: &'a str,
}

/// A value that was written.
#[derive(Serialize)]
pub(super) struct Written<'a> {
    /// As the source calls it.
    pub(super) name: &'a str,
    /// What it was before the event.
    pub(super) before: &'a str,
    /// What it was behind the event.
    pub(super) after: &'a str,
}

/// An event that has written what another one reads.
#[derive(Serialize)]
pub(super) struct Fed<'a> {
    /// Its number.
    pub(super) event: u32,
    /// What it has written, as the other event calls it; empty if it has no name.
    pub(super) name: &'a str,
}

/// What was seen without an event.
#[derive(Serialize)]
pub(super) struct Without<'a> {
    /// `reproduced`, `not_reproduced` or `unresolved`.
    pub(super) outcome: &'static str,
    /// The reason, in words.
    pub(super) why: &'a str,
}

/// A line that was executed.
#[derive(Serialize)]
pub(super) struct LineDocument<'a> {
    /// The source file as users know it.
    pub(super) file: &'a str,
    /// From 1.
    pub(super) line: u32,
    /// How many events happened at its statements.
    pub(super) executed: u64,
    /// How many of them are needed.
    pub(super) needed: u64,
    /// How many of them are not, but cannot be left out.
    pub(super) fixed: u64,
}

/// A recorded run. `E` writes itself as a list of [`TraceEvent`]s.
#[derive(Serialize)]
pub(super) struct Trace<'a, E: Serialize> {
    /// [`TRACE`].
    pub(super) schema: &'static str,
    /// The version of stripe.
    pub(super) version: &'static str,
    /// The program and its arguments, as the user gave them.
    pub(super) command: &'a [String],
    /// The executable.
    pub(super) program: Executable<'a>,
    /// All events in order.
    pub(super) events: E,
}

/// An event of a trace.
#[derive(Serialize)]
pub(super) struct TraceEvent<'a> {
    /// When and where.
    #[serde(flatten)]
    pub(super) place: Place<'a>,
    /// How many traced calls deep, 0 in `main`.
    pub(super) depth: u32,
    /// `entry`, `statement` or `epilogue`.
    pub(super) kind: &'static str,
    /// Whether it can be omitted.
    pub(super) omittable: bool,
}
