//! Define the JSON documents: every key, in the order in which it is written.
//!
//! Keys are stable: a version in `schema` promises that none goes away or changes its meaning; more may
//! be added. Does not fill the documents in.

use serde::Serialize;

/// The version of stripe that writes the document.
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
    /// The name and version of the schema: [`SLICE`].
    pub(super) schema: &'static str,
    /// The version of stripe.
    pub(super) version: &'static str,
    /// The program and its arguments, as the user gave them.
    pub(super) command: &'a [String],
    /// The executable.
    pub(super) program: Executable<'a>,
    /// A description, in words, of the runs that show the failure.
    pub(super) criterion: &'a str,
    /// The control rule: `both`, `program` or `trace`.
    pub(super) control: &'static str,
    /// The granularity: `statement` or `line`.
    pub(super) granularity: &'static str,
    /// The algorithm: `sweep` or `ddmin`.
    pub(super) algorithm: &'static str,
    /// The engine that replayed the program.
    pub(super) engine: &'static str,
    /// The reason why it is not the faster one, if that was preferred.
    pub(super) engine_reason: Option<&'a str>,
    /// The containment: `full`, `basic` or `none`.
    pub(super) containment: &'static str,
    /// The reason why it is not better.
    pub(super) containment_reason: Option<&'a str>,
    /// The status of the result: `minimal`, `budget`, `interrupted` or `unconfirmed`.
    pub(super) status: &'static str,
    /// The level at which the result is minimal, if it is: `statement`, `history` or
    /// `execution`.
    pub(super) level: Option<&'static str>,
    /// True if effects were distinguished from decisions; if not, `effect` means no more than: not a decision.
    pub(super) effects_tried: bool,
    /// Numbers of events.
    pub(super) events: EventsDocument,
    /// Numbers of tests.
    pub(super) tests: Tests,
    /// Wall time from the first recording to the end, to the millisecond.
    pub(super) seconds: f64,
    /// The omittable events that are needed, as `stripe replay --keep` takes them.
    pub(super) needed: String,
    /// The needed events in full ([`NeededEvent`]), in order; of very many the first ones.
    pub(super) slice: N,
    /// The number of needed events that are not in `slice`.
    pub(super) slice_omitted: usize,
    /// All lines that were executed, by file and line.
    pub(super) lines: Vec<LineDocument<'a>>,
    /// Warnings that weaken the answer; each one sentence.
    pub(super) warnings: &'a [String],
    /// Other failures that came up on the way, those that came up most often first.
    pub(super) by_products: Vec<ByProductReport<'a>>,
    /// The comparison with the dynamic slice, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comparison: Option<LayersDocument>,
}

/// The comparison of a dynamic slice with a critical one. Entries and ends of functions do not count.
#[derive(Serialize)]
pub(super) struct LayersDocument {
    /// The criterion of the dynamic slice, in words.
    pub(super) criterion: String,
    /// The number of statement executions of the run.
    pub(super) executed: usize,
    /// The number of executions in the dynamic slice.
    pub(super) dynamic: usize,
    /// The events in the dynamic slice.
    pub(super) dynamic_events: String,
    /// The events of the dynamic slice that are not needed.
    pub(super) not_needed: Vec<WithoutDocument>,
    /// The needed events that are not in the dynamic slice.
    pub(super) not_inferred: String,
    /// Warnings that weaken the dynamic slice; each one sentence.
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
    /// A description of the failure.
    pub(super) what: &'a str,
    /// The number of tests that have ended so.
    pub(super) tests: u64,
    /// The control rule of the smallest of them: `program` or `trace`.
    pub(super) control: &'static str,
    /// The events that one has executed, as `stripe replay --keep` takes them.
    pub(super) keep: String,
}

/// Several results about one run.
#[derive(Serialize)]
pub(super) struct Slices<'a, N: Serialize> {
    /// The name and version of the schema: [`SLICES`].
    pub(super) schema: &'static str,
    /// The version of stripe.
    pub(super) version: &'static str,
    /// The lines that are needed for what is wrong and for nothing that is right, by file and line; null unless
    /// some of the criteria are known to be about wrong output, and others are not.
    pub(super) wrong_only: Option<Vec<WrongLine<'a>>>,
    /// The results, in the order in which the user named them.
    pub(super) criteria: Vec<NamedSlice<'a, N>>,
}

/// A line of the source.
#[derive(Serialize)]
pub(super) struct WrongLine<'a> {
    /// The source file as users know it.
    pub(super) file: &'a str,
    /// The line number, from 1.
    pub(super) line: u32,
}

/// A result with the name of its criterion.
#[derive(Serialize)]
pub(super) struct NamedSlice<'a, N: Serialize> {
    /// The name that the user gave.
    pub(super) name: &'a str,
    /// True if the correct output would not meet the criterion; false if none was given.
    pub(super) wrong: bool,
    /// The result.
    pub(super) slice: Slice<'a, N>,
}

/// The executable.
#[derive(Serialize)]
pub(super) struct Executable<'a> {
    /// The path from which it was loaded; bytes that are not UTF-8 are replaced.
    pub(super) path: String,
    /// The build ID in hexadecimal; null if the linker left none.
    pub(super) build_id: Option<&'a str>,
}

/// Numbers of events.
#[derive(Serialize)]
pub(super) struct EventsDocument {
    /// The number of events in the trace, structural ones included.
    pub(super) recorded: usize,
    /// The number of events that can be omitted.
    pub(super) omittable: usize,
    /// The number of omittable events that are needed.
    pub(super) kept: usize,
    /// The number of events that are needed for their effect.
    pub(super) kept_for_effect: usize,
}

/// Numbers of tests.
#[derive(Serialize)]
pub(super) struct Tests {
    /// The number of configurations really tested: the sum of the next three.
    pub(super) total: u64,
    /// The number of tests that reproduced the failure.
    pub(super) reproduced: u64,
    /// The number of tests that did not reproduce it.
    pub(super) not_reproduced: u64,
    /// The number of tests that said nothing.
    pub(super) unresolved: u64,
    /// The number of candidates that needed no test, because their effective set had been tested before.
    pub(super) cached: u64,
    /// The number of all replays, confirmations under further patterns included.
    pub(super) runs: u64,
}

/// The time and place of an event.
#[derive(Serialize)]
pub(super) struct Place<'a> {
    /// The event's number, counted from 1 over all events of the trace.
    pub(super) event: u32,
    /// The source file as users know it.
    pub(super) file: &'a str,
    /// The line, from 1.
    pub(super) line: u32,
    /// The column, from 1; 0 where the compiler gives none, or where lines are the statements.
    pub(super) column: u32,
    /// The name of the function.
    pub(super) function: &'a str,
    /// The number of this execution among those of its statement (file, line, column), from 1; entries and epilogues
    /// are counted by themselves.
    pub(super) occurrence: u32,
    /// The same as `event`: the paper's time.
    pub(super) time: u32,
}

/// An event that the failure needs.
#[derive(Serialize)]
pub(super) struct NeededEvent<'a> {
    /// The time and place.
    #[serde(flatten)]
    pub(super) place: Place<'a>,
    /// The necessity: `effect` or `decision`.
    pub(super) needed: &'static str,
    /// The evidence of the test without it; null if the search ended before this was tried.
    pub(super) without: Option<Without<'a>>,
    /// The values that it read and wrote; null if they were not observed.
    pub(super) values: Option<Values<'a>>,
}

/// The values that an event read and wrote, as the language of the program writes them.
#[derive(Serialize)]
pub(super) struct Values<'a> {
    /// A summary in one line, such as `sum = 0 + 1 → 1 (was 0)`; empty if nothing with a name was read or written.
    pub(super) told: String,
    /// The values that were read, in order.
    pub(super) reads: Vec<Read<'a>>,
    /// The values that were written, in order.
    pub(super) writes: Vec<Written<'a>>,
    /// The needed events that have written what was read, as far as seen.
    pub(super) fed_by: Vec<Fed<'a>>,
}

/// A value that was read.
#[derive(Serialize)]
pub(super) struct Read<'a> {
    /// The name in the source; `f()` for what a function returned.
    pub(super) name: &'a str,
    /// The value.
    pub(super) value: &'a str,
}

/// A value that was written.
#[derive(Serialize)]
pub(super) struct Written<'a> {
    /// The name in the source.
    pub(super) name: &'a str,
    /// The value before the event.
    pub(super) before: &'a str,
    /// The value after the event.
    pub(super) after: &'a str,
}

/// An event that has written what another one reads.
#[derive(Serialize)]
pub(super) struct Fed<'a> {
    /// The number of the event.
    pub(super) event: u32,
    /// The name of what it has written, as the other event calls it; empty if it has none.
    pub(super) name: &'a str,
}

/// The evidence of the test without an event.
#[derive(Serialize)]
pub(super) struct Without<'a> {
    /// The outcome: `reproduced`, `not_reproduced` or `unresolved`.
    pub(super) outcome: &'static str,
    /// The reason, in words.
    pub(super) why: &'a str,
}

/// A line that was executed.
#[derive(Serialize)]
pub(super) struct LineDocument<'a> {
    /// The source file as users know it.
    pub(super) file: &'a str,
    /// The line number, from 1.
    pub(super) line: u32,
    /// The number of events at its statements.
    pub(super) executed: u64,
    /// The number of events that are needed.
    pub(super) needed: u64,
    /// The number of these that are needed for their effect, not only as decisions.
    pub(super) needed_for_effect: u64,
    /// The number of events that are not needed, but cannot be left out.
    pub(super) fixed: u64,
}

/// A recorded run. `E` writes itself as a list of [`TraceEvent`]s.
#[derive(Serialize)]
pub(super) struct Trace<'a, E: Serialize> {
    /// The name and version of the schema: [`TRACE`].
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
    /// The time and place.
    #[serde(flatten)]
    pub(super) place: Place<'a>,
    /// The call depth, 0 in `main`.
    pub(super) depth: u32,
    /// The kind of the leader: `entry`, `statement` or `epilogue`.
    pub(super) kind: &'static str,
    /// True if it can be omitted.
    pub(super) omittable: bool,
}
