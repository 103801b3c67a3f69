//! Have tests made by workers on other machines: processes that somebody's launcher starts (`srun`, `ssh host`), and
//! that read and write lines of JSON.
//!
//! - [`messages`] has every line;
//! - [`parcel`] says what a worker is handed: the kept run and the program, each file once, by its content;
//! - [`store`] keeps that on the worker's side;
//! - [`link`] is a worker as the search sees it.
//!
//! Knows nothing of searches; what a test is, whoever uses it says.

pub mod link;
pub mod messages;
pub mod parcel;
pub mod store;
