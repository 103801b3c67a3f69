//! Hold the memory of an earlier search for one that goes on.

use std::collections::HashMap;
use std::sync::Arc;

use dd::{Configuration, Outcome};

use crate::circumstances::PhaseId;
use crate::oracle::Evidence;
use crate::printed::Printed;

/// The memory of a search for one that goes on: one entry for each phase that it has begun.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The phases, in any order.
    pub phases: Vec<PhaseMemory>,
}

/// The memory of a phase.
#[derive(Clone, Debug)]
pub struct PhaseMemory {
    /// The phase.
    pub phase: PhaseId,
    /// The outcomes of tests, by the fingerprints of effective sets.
    pub outcomes: HashMap<u128, (Outcome, Evidence)>,
    /// The guess that was tried first, because it might well show the failure.
    pub guess: Option<Configuration>,
    /// The configuration to start from, if the outcomes do not lead there by themselves.
    pub start: Option<Configuration>,
}

impl Memory {
    /// The memory of this phase.
    pub fn of(&self, phase: PhaseId) -> Option<&PhaseMemory> {
        self.phases.iter().find(|known| known.phase == phase)
    }

    /// The outputs of tests, as far as they are kept.
    pub fn printed(&self) -> impl Iterator<Item = Arc<Printed>> {
        let seen = self.phases.iter().flat_map(|phase| phase.outcomes.values());
        seen.filter_map(|(_, evidence)| evidence.printed.clone())
    }

    /// The number of tests that need not be made again.
    pub fn tests(&self) -> u64 {
        self.phases.iter().map(|phase| phase.outcomes.len() as u64).sum()
    }
}
