//! Write down what was found: pure functions from results to text and JSON.
//!
//! Does not decide anything and prints nothing itself: what is written where is for the command line to
//! say. Only `source` reads files, those of the program's source text.
//!
//! Where to look:
//! - [`text`] writes a critical slice for people: `sections` chooses the parts of the source, `rows` the
//!   lines, `listing` lays them out with the `markers` of their `executions`, `verdict` concludes;
//! - [`comparison`] writes several slices of one run side by side, as in Figure 6 of Cleve and Zeller;
//! - [`json`] writes it for programs: `schema` defines the keys, `spelling` the values;
//! - [`trace`] prints a trace as the papers do;
//! - [`bullets`] draws a test as in Figure 5 of Cleve and Zeller, AADEBUG 2000;
//! - [`words`] has the user's words for outcomes, numbers and times.

pub mod bullets;
pub mod comparison;
mod depths;
mod executions;
pub mod json;
mod listing;
mod markers;
mod places;
mod rows;
#[cfg(test)]
mod sample;
mod schema;
mod sections;
mod source;
mod spelling;
mod style;
pub mod text;
pub mod trace;
mod verdict;
pub mod words;

pub use style::Style;
