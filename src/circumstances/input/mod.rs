//! Leave out of what a program is given: of its standard input, files, arguments and environment.
//!
//! First whole parts are left out, then units of each part, from coarse ones to the finest that is asked for. Each
//! phase begins with what the one before has left. Where there are several parts, rounds of their finest units
//! follow until one changes nothing: the result is 1-minimal over all of them. Where a grammar derives a part, smaller
//! derivations are tried instead of units. In texts, simpler things are put in the place of what cannot be left out, and
//! then units are left out again.
//!
//! Source: R. Hildebrandt and A. Zeller, "Simplifying Failure-Inducing Input", ISSTA 2000; levels of a tree from
//! the coarse to the fine after G. Misherghi and Z. Su, "HDD", ICSE 2006.

mod brackets;
mod course;
mod derivations;
mod indentation;
mod kept_path;
mod part;
mod past_steps;
mod preventers;
mod provenance;
mod reduction_method;
mod rewriting;
mod simpler;
mod snippets;
mod step;
mod swaps;
mod syntax_swaps;
mod test;
mod unit_levels;
mod units;

use std::collections::HashSet;

use dd::{Algorithm, Configuration};

pub use derivations::DerivationStrategy;
pub use kept_path::KeptPath;
pub use part::{Given, InputPart, PartName, arguments, variables};
pub use past_steps::PastSteps;
pub use preventers::Preventers;
pub use provenance::{InputPiece, Provenance, Provenances};
pub use reduction_method::ReductionMethod;
pub use snippets::Snippets;
pub use swaps::InputSpace;
pub use test::{InputTest, InputTestSetup, InputWorker, OtherInput, OutcomeListener, Wanted};
pub use unit_levels::Granularity;
pub use units::Unit;

use self::course::{Course, Way};
use self::step::Step;
use self::test::input_tests;
use super::{Before, Kind, NextPhase, PhaseId, PhaseStart, PhaseTitle};

/// The input of a program, and the workers that run it with less.
pub struct Inputs<'m, 'p> {
    setup: &'m InputTestSetup<'p>,
    workers: &'m mut [InputWorker<'p>],
    /// The ways in which each part is reduced, one after the other.
    ways: Vec<Vec<Way>>,
    /// The input that is left.
    given: Given,
    step: Option<Step>,
    /// The steps that were made.
    past: PastSteps,
    /// The number of the part whose turn it is.
    turn: usize,
    /// The number of the current way of simplifying it.
    way: usize,
    course: Option<Course>,
    /// The fingerprint of all when the last way through the part has come to its end.
    settled: Option<u128>,
    /// For each part the fingerprint of all at the end of its last turn: if that has not changed, the part
    /// is minimal.
    minimal: Vec<Option<u128>>,
    /// The fingerprint for whole parts, in the same way.
    whole_minimal: Option<u128>,
    /// The inputs, by fingerprint, in tests of single swaps that did not show the failure.
    refuted: HashSet<u128>,
}

impl<'m, 'p> Inputs<'m, 'p> {
    /// Creates the kind for all that is given.
    pub fn new(
        setup: &'m InputTestSetup<'p>,
        workers: &'m mut [InputWorker<'p>],
        method: &ReductionMethod,
        given: Given,
    ) -> Inputs<'m, 'p> {
        let minimal = vec![None; given.parts.len()];
        let ways = given.parts.iter().map(|part| Way::all_of(part, method)).collect();
        Inputs {
            setup,
            workers,
            ways,
            past: PastSteps::new(&given),
            given,
            step: None,
            turn: 0,
            way: 0,
            course: None,
            settled: None,
            minimal,
            whole_minimal: None,
            refuted: HashSet::new(),
        }
    }

    /// The finest unit in which each part is reduced.
    pub fn finest_units(&self) -> Vec<Unit> {
        let last = |ways: &Vec<Way>| ways.last().map_or(Unit::Whole, Way::finest_unit);
        self.ways.iter().map(last).collect()
    }

    /// The input that is left with this result of the last phase.
    pub fn left(&self, found: &Configuration) -> Given {
        self.step.as_ref().map_or_else(|| self.given.clone(), |step| step.choose(&self.given, found))
    }

    /// Takes over the result of a phase; returns whether that is less than before.
    fn take_over(&mut self, found: &Configuration) -> bool {
        let Some(step) = self.step.take() else { return false };
        if let Step::Swaps { .. } = step {
            // Each single one was tried with what is left.
            let without = |number| step.choose(&self.given, &found.without(&[number])).fingerprint();
            self.refuted.extend(found.iter().map(without));
        }
        self.given = step.choose(&self.given, found);
        let is_less = found.len() < step.len();
        self.past.add(step);
        is_less
    }

    /// The steps that were made, one for each phase.
    pub fn into_past(mut self) -> PastSteps {
        self.step.into_iter().for_each(|step| self.past.add(step));
        self.past
    }

    /// The step that leaves out whole parts.
    fn whole_parts(&self) -> Step {
        let parts = self.given.parts.iter().enumerate();
        Step::Parts(parts.filter(|(_, part)| part.content.is_some()).map(|(number, _)| number).collect())
    }

    /// The next step, if there is any; `is_less`: the one before has left something out.
    fn next_step(&mut self, is_less: bool) -> Option<Step> {
        loop {
            if self.turn == self.given.parts.len() {
                let state = Some(self.given.fingerprint());
                if self.minimal.iter().any(|&known| known != state) {
                    self.turn = 0;
                }
                let has_choice =
                    self.given.parts.len() > 1 || self.given.parts.iter().any(|part| part.is_optional);
                if has_choice && self.whole_minimal != state {
                    self.whole_minimal = state;
                    return Some(self.whole_parts()).filter(|step| step.len() > 0);
                }
                if self.turn > 0 {
                    return None;
                }
            }
            if let Some(step) = self.next_of_part(self.turn, is_less) {
                return Some(step);
            }
            self.minimal[self.turn] = Some(self.given.fingerprint());
            (self.course, self.way, self.settled) = (None, 0, None);
            self.turn += 1;
        }
    }

    fn next_of_part(&mut self, number: usize, mut is_less: bool) -> Option<Step> {
        let text = self.given.parts[number].content.clone().filter(|text| !text.is_empty())?;
        if self.minimal[number] == Some(self.given.fingerprint()) {
            return None;
        }
        let Inputs { ways, way, course, settled, minimal, given, refuted, .. } = self;
        let is_first_time = minimal[number].is_none();
        let ways = &ways[number];
        let is_refuted = |other: Vec<u8>| refuted.contains(&given.with_content(number, other).fingerprint());
        if course.is_none() && !is_first_time {
            *way = ways.len() - 1;
        }
        loop {
            let is_first_round = is_first_time && settled.is_none();
            let course = course.get_or_insert_with(|| match is_first_round {
                true => Course::first(&ways[*way], &given.parts[number]),
                false => Course::new(&ways[*way], false),
            });
            let step = course.next(&ways[*way], number, &text, is_less, &is_refuted);
            let state = Some(given.fingerprint());
            if step.is_some() || ways.len() == 1 || *settled == state {
                return step;
            }
            is_less = false;
            if *way + 1 == ways.len() {
                *settled = state;
            }
            // What the last way has left has a tree of its own.
            *way = (*way + 1) % ways.len();
            *course = Course::new(&ways[*way], is_first_time && settled.is_none());
        }
    }

    fn title(&self, step: &Step) -> PhaseTitle {
        let id = PhaseId(match step {
            Step::Parts(_) | Step::Snippets { .. } => b'i',
            Step::Units { .. } => b'u',
            Step::Swaps { .. } => b's',
        });
        match step {
            Step::Parts(_) | Step::Snippets { .. } => {
                PhaseTitle { id, what: "whole parts".into(), unit: "part" }
            }
            Step::Units { part, unit, .. } => {
                let what = format!("{}, {}", self.given.parts[*part].name, unit.names());
                PhaseTitle { id, what, unit: unit.name() }
            }
            Step::Swaps { part, title, .. } => {
                let what = format!("{}, {title}", self.given.parts[*part].name);
                PhaseTitle { id, what, unit: "replacement" }
            }
        }
    }
}

impl<'p> Kind for Inputs<'_, 'p> {
    type Space = InputSpace;
    type Trial<'t>
        = InputTest<'t, 'p>
    where
        Self: 't;

    fn next(&mut self, before: Option<Before<'_, InputSpace>>) -> Option<NextPhase<InputSpace>> {
        let (step, start) = match before {
            None => (self.whole_parts(), PhaseStart::Everything),
            Some(Before { found, .. }) => {
                let is_less = self.take_over(found);
                (self.next_step(is_less)?, PhaseStart::Known)
            }
        };
        let (title, space) = (self.title(&step), step.space());
        self.step = Some(step);
        Some(NextPhase { title, space, start })
    }

    fn algorithm(&self) -> Option<Algorithm> {
        self.step.as_ref().and_then(Step::algorithm)
    }

    fn trials<'t>(&'t mut self, _: &'t InputSpace) -> Vec<InputTest<'t, 'p>> {
        let Inputs { setup, workers, step, given, .. } = self;
        let Some(step) = step else { return Vec::new() };
        input_tests(setup, workers, step, given)
    }
}
