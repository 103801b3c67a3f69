//! Find the statement executions that a failure needs: its *critical slice*.
//!
//! A failing native program is run under a tracer, which records the trace: which statement was executed
//! when. Then the run is repeated with some of these executions left out, again and again. Delta debugging
//! chooses which, until no single one can be left out any more. What remains was seen to be necessary, by
//! experiments. The method is STRIPE of Cleve and Zeller, "Finding Failure Causes through Automated
//! Testing", AADEBUG 2000, section 6.
//!
//! # The map
//!
//! In the order in which they build on each other, from the bottom up:
//!
//! - [`printed`] stores the outputs of tests.
//! - [`subject`] describes what is under study: a program, how it is started, and its recorded run.
//! - [`oracle`] judges finished runs: does a run show the failure under study?
//! - [`baseline`] records the failing run several times, and checks whether it can be trusted.
//! - [`remote`] has tests made by workers on other machines.
//! - [`grammar`] reads grammars, and derives texts from them.
//! - [`syntax`] parses texts of known languages, by tree-sitter.
//! - [`circumstances`] makes tests of what can be left out. This is the seam: below it are numbers, above it
//!   are programs. A further kind of circumstance is one more implementation of
//!   [`Kind`](circumstances::Kind).
//! - [`locate`] knows which changes of a failing run can be tried, and ranks lines by their effects.
//! - [`dynamic`] follows dependences: the dynamic slice, inferred and not tried.
//! - [`slice`](mod@slice) names the result, the [`CriticalSlice`](slice::CriticalSlice), and what it is
//!   worth.
//! - [`simplified`] names the result of a simplification.
//! - [`archive`] keeps runs in folders, so that searches can go on and reports can be made later.
//! - [`session`] leads from a request to the answers: the recording, the checks, the phases of the search.
//!   Its [`history`](session::history) records the tests, its [`fate`](session::fate) when an execution was
//!   gone.
//! - [`report`] writes slices, traces and searches: as text, as JSON, as a page, and for other tools.
//! - [`cli`] carries out the command line, one file for each subcommand.
//!
//! Two packages stand below. [`dd`] reduces a set of numbers by tests: delta debugging. It knows nothing of
//! programs, files or clocks. The debugger is [`tracer`]: it records and replays, and knows nothing of delta
//! debugging. Only there, and in the agent that it brings along, are system calls, unsafe code, DWARF and
//! machine code.
//!
//! # The data flow
//!
//! 1. `cli` makes of the command line a [`Program`](tracer::program::Program), an
//!    [`Invocation`](tracer::invocation::Invocation) and a [`Criterion`](oracle::Criterion).
//! 2. [`Tracer::record`](tracer::Tracer::record) runs the program and hands back its
//!    [`Trace`](tracer::trace::Trace) and its [`Run`](tracer::run::Run), what could be seen from outside.
//! 3. [`Baseline::establish`](baseline::Baseline::establish) repeats that and refuses a program that
//!    differs from run to run. The criterion and the run become an [`Oracle`](oracle::Oracle), and the run
//!    must meet it.
//! 4. The events that can be omitted become the circumstances of a
//!    [`Universe`](circumstances::events::Universe), and all of them the first
//!    [`Configuration`](dd::Configuration).
//! 5. For each test: a `Configuration` becomes a [`Schedule`](tracer::schedule::Schedule), which
//!    [`Tracer::replay`](tracer::Tracer::replay) follows; the [`Oracle`](oracle::Oracle) judges the run,
//!    and [`EventTest`](circumstances::events::EventTest) hands the [`Outcome`](dd::Outcome) back to the
//!    algorithm.
//! 6. What the algorithm ends with, a minimal `Configuration`, becomes a
//!    [`CriticalSlice`](slice::CriticalSlice), and that a report.

#![forbid(unsafe_code)]

pub mod archive;
pub mod baseline;
pub mod circumstances;
pub mod cli;
pub mod dynamic;
pub mod grammar;
pub mod locate;
pub mod oracle;
pub mod printed;
pub mod remote;
pub mod report;
pub mod session;
pub mod simplified;
pub mod slice;
pub mod subject;
pub mod syntax;
