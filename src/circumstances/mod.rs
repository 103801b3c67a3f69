//! Make tests of the things that can be left out.
//!
//! This is the seam between delta debugging, which knows numbers only, and the world: a [`Kind`] numbers its
//! circumstances, knows which go together, and makes a test of some of them.
//!
//! - [`change`]: the changes between two versions of a program, as textual changes, files or lines;
//! - [`events`]: the statement executions of a recorded run;
//! - [`input`]: what a program is given: its standard input, files, arguments, environment.

pub mod change;
pub mod events;
pub mod input;
mod kind;
mod run_lock;
mod status;

pub use kind::{Before, Kind, NextPhase, PhaseId, PhaseStart, PhaseTitle, TestError, Trial};
pub use run_lock::RunLock;
pub use status::Status;
