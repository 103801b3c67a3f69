//! Record the statement trace of a native Linux x86-64 program, and replay it with statements left out.
//!
//! Two verbs, [`Tracer::record`] and [`Tracer::replay`]; three nouns, [`program::Program`] (what the
//! executable says), [`trace::Trace`] (what a run did) and [`schedule::Schedule`] (what a replay
//! executes). This crate knows nothing of delta debugging: which statements to leave out, and what an
//! outcome is worth, is for its user.
//!
//! Where to look:
//! - [`program`] reads ELF, DWARF and machine code and finds the *leaders*, where statements begin;
//! - [`trace`] and [`schedule`] hold events and say which go together; [`trace_file`] keeps a trace in a file;
//! - the crate [`agent`] decides where a replay goes on ([`lockstep`]), without a process in sight, and what
//!   undefined memory is filled with ([`poison`]);
//! - `engine` makes a process obey, by breakpoints;
//! - `process` is the only door to ptrace, and the only place with unsafe code;
//! - [`invocation`], [`run`], [`termination`], [`poison`] name what goes in and what comes out.

pub mod address;
mod engine;
pub mod invocation;
mod jump;
mod process;
pub mod program;
pub mod run;
pub mod schedule;
mod stage;
pub mod termination;
#[cfg(test)]
mod tests;
pub mod trace;
pub mod trace_file;
mod tracer;

pub use agent::{lockstep, poison};
pub use engine::Conditions;
pub use process::{Containment, ProcessError, Processors, Sandbox};
pub use tracer::{Engine, Preference, RecordError, Tracer, probe, survey};
