//! Make testing functions of the things that can be left out.
//!
//! One file per kind of circumstance, each with an implementation of [`Test`](crate::dd::Test); and
//! what lets several of them work side by side. This is the seam between delta debugging, which knows
//! numbers only, and the world.

mod events;
mod memo;
mod speculation;
mod universe;

pub use events::{EventTest, Laboratory, TestError, Turns};
pub use memo::RunMemo;
pub use speculation::{Normalise, Speculation, Worker};
pub use universe::{Draft, Universe};
