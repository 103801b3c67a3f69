//! Build programs that nobody here wrote, for the tests and benchmarks of stripe.
//!
//! Two kinds:
//! - [`Program`]: eight well-known C programs and libraries, each with a small driver where it has no
//!   `main` of its own (`drivers/`), and with [`CASES`]: runs that end with a wrong result.
//! - [`csmith_programs`]: random programs, as many as one likes.
//!
//! The sources of the first kind come from Rust packages that bundle them. They are dependencies that no
//! target builds, so that cargo downloads and locks them, and no build script runs; the library asks
//! `cargo metadata` where they are and compiles copies of them below the target folder, at -O0 with -g.
//! What is built once is found again, until a source, a driver, a flag or the compiler changes; several
//! processes may ask at the same time.
//!
//! This library builds and runs the programs. It does not trace or reduce them.
//!
//! ```no_run
//! use corpus::{Toolchain, case};
//!
//! let case = case("lua-wrong-sum")?;
//! let built = case.program.build(&Toolchain::default())?;
//! let output = case.run(&built)?;
//! assert!(String::from_utf8(output.stdout)?.contains(case.expectation));
//! # Ok::<(), anyhow::Error>(())
//! ```

#![forbid(unsafe_code)]

mod cache;
mod case;
mod compile;
mod csmith;
mod packages;
mod program;
mod recipe;
mod sources;
mod toolchain;

pub use cache::key;
pub use case::{CASES, Case, case};
pub use csmith::{csmith, csmith_programs};
pub use program::{Built, Program};
pub use toolchain::{Linking, Toolchain};
