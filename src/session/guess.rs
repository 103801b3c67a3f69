//! Guess what the failure needs: its dynamic slice. A search tries that first.
//!
//! A dynamic slice is inferred, not tried, so it may hold too little. Then the one test that tries it does not show the
//! failure, and the search starts from the whole run. The result is minimal by the same tests in both cases.
//!
//! Source: Leitner, Oriol, Zeller, Ciupa and Meyer, "Efficient Unit Test Case Minimization", ASE 2007: slice, then
//! minimise.

use super::dynamic::FollowedRun;
use super::error::SessionError;
use super::recording::Recording;
use crate::circumstances::events::EventGuess;
use crate::dynamic::{DependenceGraph, SliceKind};

/// The guess for each question, by its place: the dynamic slice of its criterion. `trouble` is called with the reason
/// why there is no guess for one of them.
pub fn guesses(
    recording: &Recording<'_>,
    followed: &FollowedRun<'_>,
    trouble: &dyn Fn(&SessionError),
) -> Vec<Option<EventGuess>> {
    let graph = DependenceGraph::new(recording.recorded(), &followed.dependences);
    let guess = |name: &str| {
        let criterion = recording.criterion_of(name);
        let start = followed.of_failure(&recording.request.target, &criterion)?;
        Ok(EventGuess {
            by_branches: graph.backward(&start.events, SliceKind::Full).events,
            by_trace: graph.effects(&start.events),
        })
    };
    let names = recording.questions.iter().map(|question| question.name.as_deref().unwrap_or_default());
    names.map(|name| guess(name).map_err(|error| trouble(&error)).ok()).collect()
}
