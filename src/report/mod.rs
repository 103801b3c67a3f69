//! Write results: pure functions from results to text, in all its forms.
//!
//! Does not decide anything and prints nothing itself: what is written where is for the command line to
//! say. Only `source` reads files, those of the program's source text.
//!
//! The modules:
//! - [`text`] writes a critical slice for people: `sections` chooses the parts of the source, `rows` the
//!   lines, `listing` lays them out with the `markers` of their `executions`, `folding` says in words what has no
//!   room, `extent` what of a large slice is not shown, `verdict` concludes;
//! - [`comparison`] writes several slices of one run side by side, as in Figure 6 of Cleve and Zeller;
//! - [`json`] writes it for programs: `schema` defines the keys, `spelling` the values;
//! - [`explanation`] explains why single executions are needed, or why not; `happening` what an execution
//!   did with values, `values` the same of all that are needed;
//! - [`csv`], [`lcov`], [`sarif`], [`github`], [`quickfix`], [`dot`] and [`chrome`] write it for other tools;
//! - [`html`] makes a page of it for a browser;
//! - [`gdb`] makes a script of it that performs the slice in that debugger;
//! - [`dynamic`] writes dynamic slices, and [`layers`] sets them beside critical ones;
//! - [`changed`] reports which changes break a program;
//! - [`located`] reports which changes have made a failing run right, `ranked` its lines for other tools;
//! - [`simplified`] reports what is left of what a program was given;
//! - [`tests_made`] lists the tests of the search;
//! - [`trace`] prints a trace as the papers do;
//! - [`bullets`] draws a test as in Figure 5 of Cleve and Zeller, AADEBUG 2000;
//! - [`words`] has the user's words for outcomes, numbers and times.

pub mod bullets;
mod by_products;
pub mod changed;
pub mod changed_lines;
pub mod chrome;
pub mod comparison;
pub mod csv;
mod depths;
pub mod dot;
pub mod dynamic;
mod executions;
pub mod explanation;
mod extent;
mod folding;
pub mod gdb;
pub mod github;
mod happening;
pub mod html;
pub mod json;
pub mod layers;
pub mod lcov;
mod listing;
pub mod located;
pub mod located_json;
mod markers;
mod names;
mod needed;
mod needed_statements;
mod pieces;
mod places;
mod prevention;
pub mod quickfix;
mod quoting;
mod ranked;
mod rows;
#[cfg(test)]
mod sample;
pub mod sarif;
mod schema;
mod sections;
pub mod simplified;
mod source;
mod spelling;
mod style;
pub mod tests_made;
pub mod text;
pub mod trace;
pub mod tried_changes;
mod uri;
pub mod values;
mod verdict;
pub mod words;

pub use extent::{Detail, EventsListed, ValuesTold};
pub use source::printable;
pub use style::{Style, wrap};
