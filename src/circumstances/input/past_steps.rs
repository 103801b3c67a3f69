//! Remember the steps of a simplification, to tell afterwards what each test has given to the program.

use dd::Configuration;

use super::part::{Given, InputPart};
use super::provenance::{InputPiece, Provenance, Provenances};
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
        untouched(&self.originals)
    }

    /// The input given if this is chosen in the phase of this number, which begins with `before`; `None` if the phase
    /// is not known.
    pub fn after(&self, phase: usize, chosen: &Configuration, before: &Provenances) -> Option<Provenances> {
        Some(after(self.steps.get(phase)?, chosen, before, &self.originals))
    }
}

/// All of these parts as they were given.
fn untouched(parts: &[InputPart]) -> Provenances {
    parts.iter().map(|part| part.content.as_ref().map(|content| Provenance::whole(content.len()))).collect()
}

/// The input after a step that begins with `before` and chooses this.
fn after(step: &Step, chosen: &Configuration, before: &Provenances, originals: &[InputPart]) -> Provenances {
    let mut after = before.clone();
    let original = |part: usize| originals[part].content.as_deref().unwrap_or_default();
    match step {
        Step::Parts(parts) => {
            let left_out = parts.iter().enumerate().filter(|(number, _)| !chosen.contains(*number));
            for (_, &part) in left_out {
                let mut emptied = Provenance::default();
                emptied.push(InputPiece::Other(originals[part].least.to_vec()), original(part));
                after[part] = (!originals[part].is_optional).then_some(emptied);
            }
        }
        // Nothing is known of the single bytes.
        Step::Snippets { .. } => {}
        Step::Units { part, units, text, .. } => {
            let pieces = units.kept(text.len(), chosen).into_iter().map(InputPiece::Kept).collect();
            within(&mut after[*part], Provenance { pieces }, original(*part));
        }
        Step::Swaps { part, swaps, text, .. } => {
            let pieces = swaps.pieces(text.len(), chosen);
            within(&mut after[*part], Provenance { pieces }, original(*part));
        }
    }
    after
}

fn within(place: &mut Option<Provenance>, pieces: Provenance, original: &[u8]) {
    let before = place.take().unwrap_or_default();
    *place = Some(pieces.within(&before, original));
}
