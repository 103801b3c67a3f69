//! Reduce a set of circumstances to a smallest one that still shows a failure: delta debugging.
//!
//! A *circumstance* is a number in `0..n`, a [`Configuration`] is a set of circumstances, and a
//! [`TestFunction`] runs one and says [`Fail`](Outcome::Fail), [`Pass`](Outcome::Pass) or
//! [`Unresolved`](Outcome::Unresolved). From a configuration that fails the algorithms descend to
//! one that is *1-minimal*: leave out any single member, and the failure is no longer seen.
//!
//! The core does not know what a circumstance is. It opens no file, reads no clock, starts no
//! thread, prints nothing and uses no other module of this crate.
//!
//! An [`Experiment`] stands between the algorithms and the testing function. It remembers every
//! outcome, counts the tests, tells an [`Observer`] about them and ends the search at a limit.
//!
//! ```
//! use stripe::dd::{Algorithm, Configuration, End, Experiment, Outcome, Sequential};
//!
//! // The failure needs 2 and 5 of the circumstances 0..8.
//! let needed = Configuration::from_iter(8, [2, 5]);
//! let test = |c: &Configuration| -> Result<_, std::convert::Infallible> {
//!     let outcome = if needed.is_subset(c) { Outcome::Fail } else { Outcome::Pass };
//!     Ok((outcome, ()))
//! };
//! let mut experiment = Experiment::new(Sequential::new(test));
//! let reduction = Algorithm::Sweep.reduce(&mut experiment, Configuration::full(8));
//! assert_eq!(reduction.configuration, needed);
//! assert!(matches!(reduction.end, End::Minimal));
//! ```
//!
//! Sources: A. Zeller, "Yesterday, my program worked. Today, it does not. Why?", ESEC/FSE 1999;
//! R. Hildebrandt and A. Zeller, "Simplifying failure-inducing input", ISSTA 2000; H. Cleve and
//! A. Zeller, "Finding Failure Causes through Automated Testing", AADEBUG 2000, Figure 1.

mod algorithm;
mod configuration;
mod ddmin;
mod experiment;
mod journal;
mod outcome;
mod reduction;
mod round;
mod sequential;
mod stop;
mod sweep;
mod test_function;
#[cfg(test)]
mod tests;

pub use algorithm::Algorithm;
pub use configuration::Configuration;
pub use ddmin::ddmin;
pub use experiment::Experiment;
pub use journal::{Counts, Observer};
pub use outcome::Outcome;
pub use reduction::{End, Reduction, ReductionOf};
pub use round::FirstFailure;
pub use sequential::{Sequential, Test};
pub use stop::Stop;
pub use sweep::sweep;
pub use test_function::TestFunction;
