//! Make tests of the things that can be left out.
//!
//! This is the seam between delta debugging, which knows numbers only, and the world: a [`Kind`] numbers its
//! circumstances, knows which go together, and makes a test of some of them.
//!
//! - [`events`]: the statement executions of a recorded run.

pub mod events;
mod kind;
mod status;

pub use kind::{Kind, PhaseId, TestError, Trial};
pub use status::Status;
