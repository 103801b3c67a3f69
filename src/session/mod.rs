//! Search among the circumstances of a failing run, from the request to the result, and remember the search.
//!
//! [`recording`] records the run that a [`request`] is about, [`run`] searches for the answers to the
//! questions about it, [`reopened`] takes a kept run up again. [`driver`] searches among circumstances of any
//! kind. A [`listener`] learns the progress; nothing here prints or reads options.

pub mod budget;
pub mod built_version;
pub mod case;
mod change_question;
pub mod change_request;
pub mod changes;
mod command_keeping;
mod commits;
pub mod coverage;
mod doubts;
pub mod driver;
pub mod dynamic;
mod ends;
pub mod error;
pub mod fate;
pub mod findings;
pub mod guess;
pub mod history;
pub mod interrupt;
mod keeper;
pub mod keeping;
pub mod kept_changes;
mod kept_outcomes;
pub mod layers;
pub mod listener;
pub mod locate;
mod locate_attempts;
mod locate_further;
mod locate_keeping;
pub mod locate_resume;
mod locate_suite;
mod locate_tests;
mod locate_values;
pub mod locate_work;
pub mod located;
pub mod memory;
pub mod needed;
pub mod observing;
mod outcomes;
pub mod past;
pub mod permissions;
pub mod prevent;
pub mod questions;
pub mod recording;
pub mod remarks;
pub mod reopened;
pub mod request;
pub mod resume;
pub mod run;
pub mod search;
pub mod serve;
pub mod simplification;
pub mod simplify;
pub mod simplify_request;
mod tried_inputs;
mod version_tester;
mod versions;
pub mod watcher;
pub mod workers;

pub use error::{Cause, SessionError};
