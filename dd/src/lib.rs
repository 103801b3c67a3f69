//! Reduce a set of circumstances to what a failure needs, by tests: delta debugging.
//!
//! A *circumstance* is a number in `0..n`: a piece of an input, a statement execution, a change of a program.
//! A [`Configuration`] is a set of circumstances. A *test* runs the program under a configuration and says
//! [`Fail`](Outcome::Fail) (the failure under study is reproduced), [`Pass`](Outcome::Pass) or
//! [`Unresolved`](Outcome::Unresolved). The algorithms choose which configurations to test:
//!
//! | algorithm | known before | found | source |
//! |---|---|---|---|
//! | [`sweep()`] | all fail | a 1-minimal failing configuration | complements of ddmin, without its restarts |
//! | [`halve()`] | all fail, few are needed | the same | halves of halves, from the end to the beginning |
//! | [`prune()`] | all fail, most are likely to be needed | the same | single members, from the end to the beginning |
//! | [`ddmin()`] | all fail | the same | ISSTA 2000; AADEBUG 2000, Figure 1 |
//! | [`dd()`] | all fail, none passes | the failure-inducing circumstances | ESEC/FSE 1999, section 4 |
//! | [`dd_plus()`] | the same, many unresolved | the same | ESEC/FSE 1999, section 5 |
//! | [`isolate()`] | one passes, another fails | a 1-minimal difference between two such | TSE 2002 |
//!
//! [`reduce()`] is the short form for a list and a function that tests a part of it:
//!
//! ```
//! use dd::{reduce, Outcome};
//!
//! // Which characters does `"a(b)c"` need to hold a pair of brackets?
//! let text: Vec<char> = "a(b)c".chars().collect();
//! let needed = reduce(&text, |part| {
//!     let text: String = part.iter().map(|&&c| c).collect();
//!     if text.contains('(') && text.contains(')') { Outcome::Fail } else { Outcome::Pass }
//! });
//! assert_eq!(needed, [&'(', &')']);
//! ```
//!
//! # The parts
//!
//! - A [`Space`] knows the circumstances: how many there are, which cannot be without others
//!   ([`Space::normalise`]), which belong together ([`Space::levels`]), and what needs no test
//!   ([`Space::predict`]).
//! - A [`Tester`] makes tests: [`Sequential`] one after the other, a [`Pool`] several at the same time.
//! - An [`Experiment`] drives: it takes the candidates of an algorithm in their order, asks the tester for what
//!   it does not know yet, remembers every outcome, counts, tells an [`Observer`], and stops at a limit. The
//!   result does not depend on how many tests are made at the same time: the first candidate in order wins,
//!   whichever test ends first.
//!
//! ```
//! use dd::{sweep, Configuration, End, Experiment, Independent, Level, Outcome, Sequential};
//!
//! // The failure needs 2 and 5 of the circumstances 0..8.
//! let needed = Configuration::from_iter(8, [2, 5]);
//! let space = Independent::new(8);
//! let mut tester = Sequential::new(|c: &Configuration| -> Result<_, std::convert::Infallible> {
//!     let outcome = if needed.is_subset(c) { Outcome::Fail } else { Outcome::Pass };
//!     Ok((outcome, ()))
//! });
//! let mut experiment = Experiment::new(&space, &mut tester);
//! let reduction = sweep(&mut experiment, Configuration::full(8));
//! assert_eq!(reduction.configuration, needed);
//! assert_eq!(reduction.end, End::Minimal(Level::Members));
//! ```
//!
//! The crate does not know what a circumstance is. It opens no file, reads no clock and prints nothing.
//!
//! Sources: A. Zeller, "Yesterday, my program worked. Today, it does not. Why?", ESEC/FSE 1999; R. Hildebrandt
//! and A. Zeller, "Simplifying Failure-Inducing Input", ISSTA 2000; H. Cleve and A. Zeller, "Finding Failure
//! Causes through Automated Testing", AADEBUG 2000; A. Zeller and R. Hildebrandt, "Simplifying and Isolating
//! Failure-Inducing Input", IEEE TSE 28(2), 2002.

#![forbid(unsafe_code)]

mod algorithms;
mod configuration;
mod experiment;
mod groups;
mod level;
mod list;
mod outcome;
mod pool;
mod reduction;
mod space;
mod stop;
mod tester;
#[cfg(test)]
mod tests;

pub use algorithms::{Algorithm, dd, dd_plus, ddmin, halve, isolate, pairs, prune, sweep};
pub use configuration::Configuration;
pub use experiment::{Counts, Experiment, FirstFailure, Observer};
pub use groups::{Grouping, Partition};
pub use level::Level;
pub use list::{reduce, reduce_arguments};
pub use outcome::Outcome;
pub use pool::Pool;
pub use reduction::{Difference, End, Inducing, Reduction};
pub use space::{Direction, Independent, Space};
pub use stop::Stop;
pub use tester::{Cancellation, Finished, Sequential, Test, TestId, Tester};
