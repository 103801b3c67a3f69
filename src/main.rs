//! The command `stripe`. Its work is described in the library of the same name.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    stripe::cli::main()
}
