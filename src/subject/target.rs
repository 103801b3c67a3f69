//! Hold a program with its invocation.

use tracer::Conditions;
use tracer::invocation::Invocation;
use tracer::program::{Granularity, Program, Sanitizer};

/// A program to be traced, with its invocation.
pub struct Target {
    /// The program, as read from the executable.
    pub program: Program,
    /// The invocation: all that the program sees when it starts.
    pub invocation: Invocation,
    /// The granularity: what counts as a statement.
    pub granularity: Granularity,
    /// The command in words, as the user gave it.
    pub command: Vec<String>,
    /// The conditions under which it is recorded.
    pub conditions: Conditions,
}

impl Target {
    /// The sanitizer of the program that looks for leaks at its end, if there is one.
    pub fn leak_checker(&self) -> Option<Sanitizer> {
        leak_checker(&self.program)
    }
}

/// The sanitizer of a program that looks for leaks at its end, if there is one.
pub fn leak_checker(program: &Program) -> Option<Sanitizer> {
    let sanitizers = &program.executable().sanitizers;
    sanitizers.iter().copied().find(|sanitizer| sanitizer.looks_for_leaks())
}
