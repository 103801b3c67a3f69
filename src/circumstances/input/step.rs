//! Define the steps of a reduction: what a phase leaves out, and what is left then.

use dd::{Algorithm, Configuration};
use tracer::invocation::Input;

use super::part::Given;
use super::snippets::Snippets;
use super::swaps::{InputSpace, SwapSpace, Swaps};
use super::units::{Unit, Units};

/// A step: what a phase leaves out.
pub(super) enum Step {
    /// Whole parts, these.
    Parts(Vec<usize>),
    /// Some of the circumstances into which the input is split: these.
    Snippets { all: Snippets, these: Vec<usize> },
    /// Units of a part.
    Units { part: usize, units: Units, unit: Unit, algorithm: Algorithm, text: Input },
    /// Nothing, but something simpler stands in its place.
    Swaps { part: usize, swaps: Swaps, title: &'static str, algorithm: Algorithm, text: Input },
}

impl Step {
    /// The input that is left if this is chosen.
    pub(super) fn choose(&self, given: &Given, chosen: &Configuration) -> Given {
        match self {
            Step::Parts(parts) => {
                let mut given = given.clone();
                for (number, &part) in parts.iter().enumerate() {
                    if !chosen.contains(number) {
                        given.parts[part] = given.parts[part].emptied();
                    }
                }
                given
            }
            Step::Snippets { all, these } => all.choose(given, chosen.iter().map(|number| these[number])),
            Step::Units { part, units, text, .. } => given.with_content(*part, units.join(text, chosen)),
            Step::Swaps { part, swaps, text, .. } => given.with_content(*part, swaps.join(text, chosen)),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Step::Parts(parts) => parts.len(),
            Step::Snippets { these, .. } => these.len(),
            Step::Units { units, .. } => units.len(),
            Step::Swaps { swaps, .. } => swaps.len(),
        }
    }

    /// The algorithm that takes the fewest tests; `None`: any will do.
    pub(super) fn algorithm(&self) -> Option<Algorithm> {
        match self {
            Step::Parts(_) | Step::Snippets { .. } => None,
            Step::Units { algorithm, .. } | Step::Swaps { algorithm, .. } => Some(*algorithm),
        }
    }

    /// The approximate size in memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        match self {
            Step::Parts(_) | Step::Snippets { .. } => 0,
            Step::Units { units, text, .. } => text.len() + units.memory(),
            // Of each swap some ranges and pieces.
            Step::Swaps { swaps, text, .. } => text.len() + 200 * swaps.len(),
        }
    }

    /// The circumstances of the step, as a space.
    pub(super) fn space(&self) -> InputSpace {
        match self {
            Step::Swaps { swaps, .. } => InputSpace::Swaps(SwapSpace(swaps.clone())),
            _ => InputSpace::Independent(self.len()),
        }
    }
}
