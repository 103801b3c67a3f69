//! Feed damaged files and nonsense to everything in stripe that reads.
//!
//! Each target is a function that takes any bytes and returns; what it must not do is panic, take more
//! than a second of processor time, or more than a gigabyte of memory. `fuzz/run` lets libFuzzer look for
//! inputs that break this, guided by the branches they reach; `tests/short.rs` tries damaged seeds for some
//! seconds, as a part of the test suite.
//!
//! - [`program`]: an executable with its debug information;
//! - [`trace_file`]: a trace;
//! - [`kept_run`]: the documents and the journal of a kept run;
//! - [`command_line`]: the words behind `stripe`; nothing is done with them;
//! - [`expectation`]: expected output and expressions, against the output of a run;
//! - [`grammar`]: a grammar, and a text to be derived from it.
//!
//! [`seeds`] makes inputs to begin with.

pub mod command_line;
pub mod expectation;
pub mod grammar;
pub mod kept_run;
mod places;
pub mod program;
pub mod seeds;
pub mod subject;
pub mod trace_file;

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// No input may take more processor time.
pub const MOST_TIME: Duration = Duration::from_secs(1);

/// What reads the bytes of a case.
pub type Target = fn(&[u8]);

/// All targets by name.
pub const TARGETS: [(&str, Target); 6] = [
    ("program", program::run),
    ("trace_file", trace_file::run),
    ("kept_run", kept_run::run),
    ("command_line", command_line::run),
    ("expectation", expectation::run),
    ("grammar", grammar::run),
];

/// Does `work` and tells how much processor time it takes. Other processes do not matter.
///
/// # Panics
/// If it takes more than [`MOST_TIME`].
pub fn measured(what: &str, work: impl FnOnce()) -> Duration {
    let before = processor_time();
    work();
    let spent = processor_time().saturating_sub(before);
    assert!(spent <= MOST_TIME, "{what}: one input takes {spent:?}");
    spent
}

fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from).unwrap_or_default()
}
