//! Name the result of a simplification: what is left of what a program was given, and how that was found out.

pub mod prevention;

use std::ffi::OsString;
use std::time::Duration;

use dd::{Counts, Outcome};
use tracer::Containment;

use crate::circumstances::Status;
use crate::circumstances::input::{Given, InputPart, OtherInput, Provenance, Provenances, Unit};
use prevention::Prevention;

/// The result of simplifying the input of a program.
#[derive(Clone, Debug)]
pub struct Simplified {
    /// The status of the search.
    pub status: Status,
    /// A description, in words, of the runs that show the failure.
    pub criterion: String,
    /// The whole input of the program.
    pub before: Given,
    /// The input that the failure needs; or the first set that prevents it.
    pub after: Given,
    /// The finest units in which each part was reduced.
    pub units: Vec<Unit>,
    /// The command line of the program with what is left.
    pub arguments: Vec<OsString>,
    /// True if nothing at all is needed.
    pub is_trivial: bool,
    /// True if a grammar derives what is left.
    pub is_derived: bool,
    /// The sets that keep the failure away, if that was the question.
    pub prevention: Option<Prevention>,
    /// The tests by outcome.
    pub tests: Counts,
    /// The number of runs of the program.
    pub runs: u64,
    /// The time from the first run to the end.
    pub elapsed: Duration,
    /// The standard error of the program with all that was given.
    pub errors_before: Vec<u8>,
    /// The same with what is left.
    pub errors_after: Vec<u8>,
    /// The inputs that make the program fail in another way.
    pub other_failures: Vec<OtherInput>,
    /// The containment of the runs.
    pub containment: Containment,
    /// Warnings that weaken the result; each one sentence.
    pub warnings: Vec<String>,
    /// The provenances of the bytes that are left, if they are known.
    pub provenances: Option<Provenances>,
    /// The inputs that the tests have given to the program.
    pub tried: TriedInputs,
    /// The word by which commands name it, if it is kept.
    pub kept_as: Option<String>,
}

impl Simplified {
    /// The parts with what is left of them, each with its finest unit.
    pub fn parts(&self) -> impl Iterator<Item = (&InputPart, &InputPart, Unit)> {
        let parts = self.before.parts.iter().zip(&self.after.parts).zip(&self.units);
        parts.map(|((before, after), &unit)| (before, after, unit))
    }
}

/// The tests of a simplification, as far as they are told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriedInputs {
    /// The number of tests in all.
    pub total: usize,
    /// The phases: before which test they began, and what they are about.
    pub phases: Vec<(usize, String)>,
    /// The numbers of tests made and of bytes left, at each improvement that is known.
    pub curve: Vec<(usize, usize)>,
    /// Tests, evenly spread if not all.
    pub tests: Vec<TriedInput>,
}

/// A test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedInput {
    /// Its number, from 1.
    pub number: usize,
    /// Whether the failure was reproduced.
    pub outcome: Outcome,
    /// The reason, in words.
    pub why: String,
    /// The input given to the program, as provenances of its parts.
    pub given: Provenances,
}

impl TriedInput {
    /// The number of bytes given.
    pub fn bytes(&self) -> usize {
        self.given.iter().flatten().map(Provenance::len).sum()
    }
}
