//! Take over the memory of an earlier search.

use std::time::Duration;

use super::memory::{Memory, PhaseMemory};
use crate::archive::{Journal, JournalContent, PhaseContent};

/// The past: what an earlier search for the same has left, and where this one leaves the same.
#[derive(Default)]
pub struct Past {
    /// The memory of its tests.
    pub memory: Memory,
    /// The number of its replays.
    pub runs: u64,
    /// The time that it took.
    pub elapsed: Duration,
    /// The journal of this search.
    pub journal: Option<Journal>,
}

/// Turns the content of a journal into the memory of a search that goes on. Outcomes lead the same version of this
/// program the same way; for another, the best so far is where it starts.
pub fn past(version: &str, content: JournalContent) -> Past {
    let same_version = version == env!("CARGO_PKG_VERSION");
    let phase = |phase: PhaseContent| {
        let understood = phase.is_understood && same_version;
        PhaseMemory {
            phase: phase.phase,
            guess: phase.guess.filter(|_| understood),
            start: (!understood).then_some(phase.best),
            outcomes: if phase.is_understood { phase.outcomes } else { Default::default() },
        }
    };
    let memory = Memory { phases: content.phases.into_iter().map(phase).collect() };
    Past { memory, runs: content.runs, elapsed: content.elapsed, journal: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circumstances::events::TRACE;
    use crate::oracle::Evidence;
    use dd::{Configuration, Outcome};

    /// The past of a journal with one phase: whether that has a start, and the number of its outcomes.
    fn led(version: &str, is_understood: bool) -> (bool, usize) {
        let seen = Evidence::new(Outcome::Pass, "");
        let phase = PhaseContent {
            phase: TRACE,
            best: Configuration::full(3),
            guess: None,
            is_understood,
            outcomes: [(1, (Outcome::Pass, seen))].into(),
        };
        let mut content = JournalContent::default();
        content.phases.push(phase);
        let past = past(version, content);
        (past.memory.phases[0].start.is_some(), past.memory.phases[0].outcomes.len())
    }

    #[test]
    fn another_version_starts_from_the_best_and_uses_what_it_understands() {
        assert_eq!(led(env!("CARGO_PKG_VERSION"), true), (false, 1));
        assert_eq!(led("0.0.0", true), (true, 1));
        assert_eq!(led(env!("CARGO_PKG_VERSION"), false), (true, 0));
    }
}
