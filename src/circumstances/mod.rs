//! Make tests of the things that can be left out.
//!
//! Statement executions are the only kind so far: [`Universe`] numbers those of a recorded run and knows which
//! go together, [`EventTest`] replays the run without some of them. This is the seam between delta debugging,
//! which knows numbers only, and the world.

mod events;
mod groups;
mod memo;
mod universe;

pub use events::{EventTest, Laboratory, TestError, Turns};
pub use memo::RunMemo;
pub use universe::{Draft, Universe};
