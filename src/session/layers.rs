//! Set the three slices of one run beside each other: what was executed, what of it a criterion depends on, what of
//! that it needs.

use std::collections::HashMap;

use dd::Outcome;
use tracer::schedule::Control as Rule;
use tracer::trace::EventId;

use super::dynamic::{FollowedRun, SliceStart};
use super::error::SessionError;
use super::findings::{Answered, Findings};
use super::recording::Recording;
use crate::circumstances::events::{Control, Universe};
use crate::dynamic::{DependenceGraph, DynamicSlice, SliceKind};
use crate::slice::CriticalSlice;
use crate::subject::Recorded;

/// The slices of one criterion.
pub struct Layers<'f> {
    /// The name of the criterion; empty if there is one only.
    pub name: &'f str,
    /// The critical slice: what the criterion needs.
    pub critical: &'f CriticalSlice,
    /// The dynamic slice: what it depends on.
    pub dynamic: DynamicSlice,
    /// The start of the dynamic slice: what the criterion is about.
    pub start: SliceStart,
    /// The number of a test without the execution that reproduced the failure, for executions that are not needed.
    pub without: HashMap<EventId, usize>,
}

/// Finds the dynamic slice for each answer, in a run that was followed.
///
/// # Errors
/// If a criterion is about nothing that dependences lead to.
pub fn layers<'f>(
    recording: &Recording<'_>,
    findings: &'f Findings,
    followed: &FollowedRun<'_>,
) -> Result<Vec<Layers<'f>>, SessionError> {
    let recorded = recording.recorded();
    let graph = DependenceGraph::new(recorded, &followed.dependences);
    findings
        .answers
        .iter()
        .map(|answered| of_answer(recording, followed, (recorded, &graph), answered))
        .collect()
}

fn of_answer<'f>(
    recording: &Recording<'_>,
    followed: &FollowedRun<'_>,
    (recorded, graph): (Recorded<'_>, &DependenceGraph<'_>),
    answered: &'f Answered,
) -> Result<Layers<'f>, SessionError> {
    let criterion = recording.criterion_of(answered.name());
    let start = followed.of_failure(&recording.request.target, &criterion)?;
    let dynamic = graph.backward(&start.events, SliceKind::Full);
    let without = without(recorded, answered);
    Ok(Layers { name: answered.name(), critical: &answered.answer.slice, dynamic, start, without })
}

/// The first test without each execution that reproduced the failure, from 1.
fn without(recorded: Recorded<'_>, answered: &Answered) -> HashMap<EventId, usize> {
    let rules: &[Rule] = match answered.answer.slice.question.control {
        Control::Both => &[Rule::Program, Rule::Trace],
        Control::Program => &[Rule::Program],
        Control::Trace => &[Rule::Trace],
    };
    let universes: Vec<Universe> =
        rules.iter().map(|&rule| Universe::new(recorded.program, recorded.trace, rule)).collect();
    let mut found = HashMap::new();
    for (number, test) in (1..).zip(answered.answer.history.tests()) {
        let (Some(universe), Some(configuration), Outcome::Fail) =
            (universes.get(test.phase), &test.configuration, test.outcome)
        else {
            continue;
        };
        let schedule = universe.schedule(configuration);
        for event in recorded.trace.events().filter(|&event| !schedule.keeps(event)) {
            found.entry(event).or_insert(number);
        }
    }
    found
}
