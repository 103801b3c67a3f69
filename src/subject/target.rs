//! Hold a program and all that it sees when it starts.

use tracer::Conditions;
use tracer::invocation::Invocation;
use tracer::program::{Granularity, Program, Sanitizer};

/// A program to be traced, and how it is started.
pub struct Target {
    /// What the executable says.
    pub program: Program,
    /// What the program sees when it starts.
    pub invocation: Invocation,
    /// What counts as a statement.
    pub granularity: Granularity,
    /// The command in words, as the user gave it.
    pub command: Vec<String>,
    /// How it is recorded.
    pub conditions: Conditions,
}

impl Target {
    /// What of the program would look for leaks at its end.
    pub fn leak_checker(&self) -> Option<Sanitizer> {
        leak_checker(&self.program)
    }
}

/// What of a program would look for leaks at its end.
pub fn leak_checker(program: &Program) -> Option<Sanitizer> {
    let sanitizers = &program.executable().sanitizers;
    sanitizers.iter().copied().find(|sanitizer| sanitizer.looks_for_leaks())
}
