//! Say what is to be simplified, and how: plain data, whoever asks.

use std::ffi::OsString;
use std::time::Duration;

use tracer::invocation::Invocation;
use tracer::program::Program;

use super::driver::Strategy;
use crate::circumstances::input::{Given, ReductionMethod};
use crate::oracle::Criterion;

/// What is to be simplified, and how.
pub struct SimplifyRequest {
    /// The program, of which nothing is traced.
    pub program: Program,
    /// How it is started, with all that it is given.
    pub invocation: Invocation,
    /// A program that is given the same, if the failure is that it does something else.
    pub other: Option<Invocation>,
    /// The command line, without the name of this program.
    pub line: Vec<OsString>,
    /// The program and its arguments, as the user gave them.
    pub command: Vec<String>,
    /// Whether the program judges what it is given: exit status 125 says that it cannot tell.
    pub judges: bool,
    /// What of all that is simplified.
    pub given: Given,
    /// What the failure is; `None`: what the run as it is shows.
    pub criterion: Option<Criterion>,
    /// How the parts are made smaller.
    pub method: ReductionMethod,
    /// What weakens the result, as far as that is known before.
    pub remarks: Vec<String>,
    /// How subsets are chosen, and how many may be tested.
    pub strategy: Strategy,
    /// For at most this time.
    pub max_time: Option<Duration>,
    /// How many tests are made at the same time; `None`: one for each processor.
    pub jobs: Option<u16>,
    /// Whether it goes on with the tests of an earlier search.
    pub keeping: OutcomeKeeping,
    /// When a run is ended; `None`: after some times what the first one has taken.
    pub timeout: Option<Duration>,
}

/// Whether the outcomes of tests are kept, so that a search can go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutcomeKeeping {
    /// From the beginning on.
    #[default]
    Anew,
    /// Behind those that an earlier search for the same has left.
    Resumed,
}
