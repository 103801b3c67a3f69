//! Obey a schedule of statements: the rules of a replay, and what follows them inside the program.
//!
//! The rules ([`lockstep`], with [`calls`] and [`pace`]) are pure. The tracer uses them from outside,
//! stop by stop; and it has them compiled a second time, as the *agent*, a piece of code without a
//! library that it maps into the program itself. There an arrival costs nanoseconds. The rules being
//! one text, both ways give the same answers.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

pub mod calls;
pub mod lockstep;
pub mod names;
pub mod pace;
pub mod poison;
pub mod session;
pub mod stack;
pub mod tape;
