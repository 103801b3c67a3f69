//! Define the request of a simplification: plain data, from any caller.

use std::ffi::OsString;
use std::time::Duration;

use tracer::invocation::Invocation;
use tracer::program::Program;

use super::driver::Strategy;
use crate::circumstances::input::{Given, ReductionMethod};
use crate::oracle::Criterion;

/// A request to simplify the input of a program.
pub struct SimplifyRequest {
    /// The program, of which nothing is traced.
    pub program: Program,
    /// The invocation of the program, with its whole input.
    pub invocation: Invocation,
    /// Another program with the same input, if the failure is that it does something else.
    pub other: Option<Invocation>,
    /// The command line, without the name of this program.
    pub line: Vec<OsString>,
    /// The program and its arguments, as the user gave them.
    pub command: Vec<String>,
    /// True if the program judges its input: exit status 125 says that it cannot tell.
    pub judges: bool,
    /// The parts of the input that are simplified.
    pub given: Given,
    /// The failure criterion; `None`: what the unchanged run shows.
    pub criterion: Option<Criterion>,
    /// The method by which the parts are reduced.
    pub method: ReductionMethod,
    /// Remarks that weaken the result, as far as they are known before.
    pub remarks: Vec<String>,
    /// The program with its statements, if the same ones have to lead to the failure.
    pub path: Option<Program>,
    /// The strategy: how subsets are chosen, and how many may be tested.
    pub strategy: Strategy,
    /// The limit of time.
    pub max_time: Option<Duration>,
    /// The number of tests at the same time; `None`: one for each processor.
    pub jobs: Option<u16>,
    /// Whether it goes on with the tests of an earlier search.
    pub keeping: OutcomeKeeping,
    /// The limit of time of a run; `None`: a multiple of what the first one has taken.
    pub timeout: Option<Duration>,
}

/// Whether the outcomes of tests are kept, so that a search can go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutcomeKeeping {
    /// They are kept from the beginning on.
    #[default]
    Anew,
    /// They are kept after those that an earlier search for the same has left.
    Resumed,
}
