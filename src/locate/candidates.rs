//! List the changes that are tried: decisions the other way, statements left out.

use std::collections::HashMap;

use tracer::intervention::{Change, Intervention, When};
use tracer::program::{ImageId, LeaderId, Program, Statement};
use tracer::termination::ImagePlace;
use tracer::trace::EventId;

use crate::subject::Recorded;

/// The number of executions of a statement that are changed one by one; of more they are spread evenly.
const MOST_EXECUTIONS: usize = 16;

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CandidateKind {
    /// A decision goes the other way.
    Flip,
    /// A decision always goes where its conditional jump leads.
    Always,
    /// A decision never goes where its conditional jump leads.
    Never,
    /// A statement is left out; a decision with what it governs.
    Omit,
}

/// The granularity of a change: all executions of a statement, or one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granule {
    /// All executions.
    Statement,
    /// The execution of this number, from 1, which is this event.
    Execution(u32, EventId),
}

/// A candidate: a change that can be tried.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The kind of the change.
    pub kind: CandidateKind,
    /// The leader of the changed statement.
    pub leader: LeaderId,
    /// The executions that are changed.
    pub granule: Granule,
    /// The intervention that makes the change in a run.
    pub intervention: Intervention,
}

impl Candidate {
    /// The changed statement.
    pub fn statement(&self, recorded: Recorded<'_>) -> Statement {
        recorded.program.leader(self.leader).statement
    }
}

/// All candidates, in the order in which they are tried: first all executions of a statement, then single
/// ones; what was executed last comes first, and decisions before omissions.
pub fn candidates(recorded: Recorded<'_>) -> Vec<Candidate> {
    let mut executed: HashMap<LeaderId, Vec<EventId>> = HashMap::new();
    for event in recorded.trace.events() {
        executed.entry(recorded.trace.leader(event)).or_default().push(event);
    }
    let program = recorded.program;
    let mut leaders: Vec<(LeaderId, Vec<EventId>)> =
        executed.into_iter().filter(|(leader, _)| is_changeable(program, *leader)).collect();
    leaders.sort_by_key(|(leader, events)| (std::cmp::Reverse(events.last().copied()), *leader));
    let mut all = Vec::new();
    // Also for a decision that was taken once: changed, the run may reach it again, and in other tests it is
    // taken more often.
    for (leader, _) in &leaders {
        all.extend(changes_of_statement(recorded, *leader));
    }
    for (leader, events) in &leaders {
        for number in spread(events.len()).into_iter().rev() {
            all.extend(changes_of_execution(recorded, *leader, number as u32 + 1, events[number]));
        }
    }
    all
}

/// The candidates that change all executions of a statement.
pub fn changes_of_statement(recorded: Recorded<'_>, leader: LeaderId) -> Vec<Candidate> {
    let candidate = |kind, place, change| Candidate {
        kind,
        leader,
        granule: Granule::Statement,
        intervention: Intervention { place, change, when: When::Always },
    };
    let mut all = Vec::new();
    if !is_changeable(recorded.program, leader) {
        return all;
    }
    for place in decisions(recorded, leader) {
        all.push(candidate(CandidateKind::Flip, place, Change::Flip));
        all.push(candidate(CandidateKind::Always, place, Change::Jump));
        all.push(candidate(CandidateKind::Never, place, Change::FallThrough));
    }
    let omission = omission(recorded, leader);
    all.extend(omission.map(|change| candidate(CandidateKind::Omit, place_of(recorded, leader), change)));
    all
}

/// The candidates that change one execution of a statement: the one of this number, from 1, which is this event.
pub fn changes_of_execution(
    recorded: Recorded<'_>,
    leader: LeaderId,
    number: u32,
    event: EventId,
) -> Vec<Candidate> {
    let candidate = |kind, place, change| Candidate {
        kind,
        leader,
        granule: Granule::Execution(number, event),
        intervention: Intervention { place, change, when: When::Execution(number) },
    };
    if !is_changeable(recorded.program, leader) {
        return Vec::new();
    }
    let decisions = decisions(recorded, leader);
    // Of several jumps not each is reached by each execution, so that the number of an execution is not
    // that of the jump.
    let flips = decisions.iter().take(1).filter(|_| decisions.len() == 1);
    let mut all: Vec<Candidate> =
        flips.map(|&place| candidate(CandidateKind::Flip, place, Change::Flip)).collect();
    let omission = omission(recorded, leader);
    all.extend(omission.map(|change| candidate(CandidateKind::Omit, place_of(recorded, leader), change)));
    all
}

fn decisions(recorded: Recorded<'_>, leader: LeaderId) -> Vec<ImagePlace> {
    let image = recorded.program.leader(leader).image;
    let jumps = recorded.program.decisions(leader).into_iter();
    jumps.map(|address| ImagePlace { image, address }).collect()
}

fn omission(recorded: Recorded<'_>, leader: LeaderId) -> Option<Change> {
    recorded.program.behind(leader).map(|next| Change::Skip(place_of(recorded, next)))
}

fn place_of(recorded: Recorded<'_>, leader: LeaderId) -> ImagePlace {
    let leader = recorded.program.leader(leader);
    ImagePlace { image: leader.image, address: leader.address }
}

/// True if a statement can be changed. Libraries are loaded when the program runs already; the code that
/// sets up a frame serves all of its function.
fn is_changeable(program: &Program, leader: LeaderId) -> bool {
    program.leader(leader).image == ImageId(0) && !program.leader(leader).kind.is_structural()
}

/// The evenly spread positions in a list of this length, the first and the last among them.
fn spread(length: usize) -> Vec<usize> {
    let count = length.min(MOST_EXECUTIONS);
    (0..count).map(|number| if count == 1 { 0 } else { number * (length - 1) / (count - 1) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_are_spread_from_the_first_to_the_last() {
        assert_eq!(spread(1), [0]);
        assert_eq!(spread(5), [0, 1, 2, 3, 4]);
        let many = spread(1000);
        assert_eq!((many.len(), many[0], many[MOST_EXECUTIONS - 1]), (MOST_EXECUTIONS, 0, 999));
        assert!(many.windows(2).all(|two| two[0] < two[1]));
    }
}
