//! The command `stripe`. What it does is told in the library of the same name.

use std::process::ExitCode;

fn main() -> ExitCode {
    stripe::cli::main()
}
