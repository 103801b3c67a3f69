//! Remember the steps of a simplification, to tell afterwards what each test has given to the program.

use dd::Configuration;

use super::part::{Given, InputPart};
use super::provenance::{self, Provenances};
use super::step::Step;

/// Steps that hold more than so many bytes in all are forgotten.
const MOST_BYTES: usize = 256 << 20;

/// The steps of a simplification in order, one for each phase.
pub struct PastSteps {
    originals: Vec<InputPart>,
    steps: Vec<Step>,
    bytes: usize,
}

impl PastSteps {
    pub(super) fn new(given: &Given) -> PastSteps {
        PastSteps { originals: given.parts.clone(), steps: Vec::new(), bytes: 0 }
    }

    /// Appends a step. Once there are too many, nothing is told any more: what comes later builds on it.
    pub(super) fn add(&mut self, step: Step) {
        self.bytes += step.memory();
        if self.bytes <= MOST_BYTES {
            self.steps.push(step);
        }
    }

    /// All that was given.
    pub fn start(&self) -> Provenances {
        provenance::untouched(&self.originals)
    }

    /// What is given if this is chosen in the phase of this number, which begins with `before`; `None` if the phase is
    /// not known.
    pub fn after(&self, phase: usize, chosen: &Configuration, before: &Provenances) -> Option<Provenances> {
        Some(provenance::after(self.steps.get(phase)?, chosen, before, &self.originals))
    }
}
