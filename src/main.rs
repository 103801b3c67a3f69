//! The command `stripe`. What it does is told in the library of the same name.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    stripe::cli::main()
}
