//! List the changes that are tried: decisions the other way, statements left out.

use std::collections::HashMap;

use tracer::intervention::{Change, Intervention, NewValue, When};
use tracer::program::{ImageId, LeaderId, Program, Statement, Store};
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
    /// A store writes another value.
    Value,
}

/// The choice of further changes besides decisions and omissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueChoice {
    /// Nothing.
    #[default]
    None,
    /// Other values of what is stored.
    Tried,
}

/// The values that are tried in place of a stored one.
const VALUES: [NewValue; 7] = [
    NewValue::Number(0),
    NewValue::Number(1),
    NewValue::Number(-1),
    NewValue::Plus(1),
    NewValue::Plus(-1),
    NewValue::Negated,
    NewValue::Old,
];

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
    /// The changed statement. A decision in a line at which no event begins is a part of the leader's code, and a
    /// statement of that line.
    pub fn statement(&self, recorded: Recorded<'_>) -> Statement {
        let Intervention { place, change, .. } = self.intervention;
        let own = recorded.program.leader(self.leader).statement;
        match change {
            Change::Skip(_) => own,
            _ => recorded.program.passed_statement(place.image, place.address).unwrap_or(own),
        }
    }
}

/// All changes, in the order in which they are tried: first all executions of a statement, then single ones; what was
/// executed last comes first, and decisions before omissions. Other values, which are many, come after both.
pub fn candidates(recorded: Recorded<'_>, values: ValueChoice) -> Vec<Candidate> {
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
    if values == ValueChoice::Tried {
        all.extend(leaders.iter().flat_map(|(leader, _)| values_of_statement(recorded, *leader, &VALUES)));
        for (leader, events) in &leaders {
            for number in spread(events.len()).into_iter().rev() {
                let execution = (number as u32 + 1, events[number]);
                all.extend(values_of_execution(recorded, *leader, execution, &VALUES));
            }
        }
    }
    all
}

/// These values in place of what a statement stores at all its executions.
pub fn values_of_statement(recorded: Recorded<'_>, leader: LeaderId, values: &[NewValue]) -> Vec<Candidate> {
    let stores = stores(recorded, leader);
    let at = |store: &Store| values_of(recorded, leader, store, (Granule::Statement, When::Always), values);
    stores.iter().flat_map(at).collect()
}

/// These values in place of what a statement stores at one execution: the one of this number, from 1, which is this
/// event. Of several stores not each is reached by each execution, so that executions of the statement do not count
/// them.
pub fn values_of_execution(
    recorded: Recorded<'_>,
    leader: LeaderId,
    (number, event): (u32, EventId),
    values: &[NewValue],
) -> Vec<Candidate> {
    let stores = stores(recorded, leader);
    let [store] = &stores[..] else { return Vec::new() };
    let which = (Granule::Execution(number, event), When::Execution(number));
    values_of(recorded, leader, store, which, values)
}

fn stores(recorded: Recorded<'_>, leader: LeaderId) -> Vec<Store> {
    match is_changeable(recorded.program, leader) {
        true => recorded.program.stores(leader),
        false => Vec::new(),
    }
}

fn values_of(
    recorded: Recorded<'_>,
    leader: LeaderId,
    store: &Store,
    (granule, when): (Granule, When),
    values: &[NewValue],
) -> Vec<Candidate> {
    let place = ImagePlace { image: recorded.program.leader(leader).image, address: store.address };
    let candidate = |&value: &NewValue| Candidate {
        kind: CandidateKind::Value,
        leader,
        granule,
        intervention: Intervention { place, change: Change::Write(store.kind, value), when },
    };
    values.iter().map(candidate).collect()
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

/// True if a statement can be changed. Libraries are loaded when the program runs already.
fn is_changeable(program: &Program, leader: LeaderId) -> bool {
    program.leader(leader).image == ImageId(0)
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
