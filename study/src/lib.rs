//! Evaluate techniques of fault localization: from a table of faults to ranks, metrics, tables and plots.
//!
//! Knows nothing of tracing: what is run, and how, is for its user. In the order in which the parts build on each
//! other:
//!
//! - [`source_line`] names lines, [`formula`] says how suspicious something is by who has executed it, and
//!   [`ranking`] orders lines;
//! - [`spectra`] holds who has executed what, [`metrics`] says how good a ranking is, [`statistics`] compares two
//!   techniques;
//! - [`technique`] names what is compared, with the budgets of [`times`], and [`manifest`] reads a table of faults;
//! - [`documents`] has every key of the results, [`conversion`] and [`evaluation`] make them, [`folder`] keeps them;
//! - [`doubts`] says what is doubtful about a fault;
//! - [`results`] sums up and compares, [`tables`], [`observations`], [`plots`] and [`page`] show it, [`exchange`] writes spectra for other
//!   tools, [`foreign`] reads what they have found; [`suites`] knows the layouts of well-known suites of faults.

#![forbid(unsafe_code)]

pub mod conversion;
pub mod documents;
pub mod doubts;
pub mod evaluation;
pub mod exchange;
pub mod folder;
pub mod foreign;
pub mod formula;
pub mod manifest;
mod matrix;
pub mod metrics;
pub mod observations;
pub mod page;
pub mod plots;
pub mod ranking;
pub mod results;
pub mod source_line;
pub mod spectra;
pub mod statistics;
pub mod suites;
pub mod tables;
pub mod technique;
pub mod times;
