//! Leave out of what a program is given: of its standard input, files, arguments and environment.
//!
//! First whole parts are left out, then units of each part, from coarse ones to the finest that is asked for. Each
//! phase begins with what the one before has left. Where there are several parts, rounds of their finest units
//! follow until one changes nothing: the result is 1-minimal over all of them.
//!
//! Source: R. Hildebrandt and A. Zeller, "Simplifying Failure-Inducing Input", ISSTA 2000; levels of a tree from
//! the coarse to the fine after G. Misherghi and Z. Su, "HDD", ICSE 2006.

mod brackets;
mod ladder;
mod part;
mod preventers;
mod snippets;
mod step;
mod test;
mod units;

use dd::{Configuration, Independent};

pub use ladder::Granularity;
pub use part::{Given, InputPart, PartName, arguments, variables};
pub use preventers::Preventers;
pub use snippets::Snippets;
pub use test::{InputLaboratory, InputTest, InputWorker, OtherInput, Wanted};
pub use units::Unit;

use self::ladder::Ladder;
use self::step::Step;
use self::test::input_tests;
use super::{Before, Kind, NextPhase, PhaseId, PhaseStart, PhaseTitle};

/// What a program is given, and the workers that run it with less.
pub struct Inputs<'m, 'p> {
    laboratory: &'m InputLaboratory<'p>,
    workers: &'m mut [InputWorker<'p>],
    /// How fine each part is reduced.
    granularities: Vec<Granularity>,
    /// What is left.
    given: Given,
    step: Option<Step>,
    /// Whose turn it is to be cut into units.
    turn: usize,
    ladder: Option<Ladder>,
    /// For each part the state of all at the end of its last turn: if that is still theirs, the part is minimal.
    minimal: Vec<Option<u128>>,
    /// The same for whole parts.
    whole_minimal: Option<u128>,
}

impl<'m, 'p> Inputs<'m, 'p> {
    /// All that is given.
    pub fn new(
        laboratory: &'m InputLaboratory<'p>,
        workers: &'m mut [InputWorker<'p>],
        granularity: Granularity,
        given: Given,
    ) -> Inputs<'m, 'p> {
        let minimal = vec![None; given.parts.len()];
        let texts = given.parts.iter().map(|part| part.content.as_deref().unwrap_or_default());
        let granularities = texts.map(|text| granularity.of(text)).collect();
        Inputs {
            laboratory,
            workers,
            granularities,
            given,
            step: None,
            turn: 0,
            ladder: None,
            minimal,
            whole_minimal: None,
        }
    }

    /// The finest unit in which each part is reduced.
    pub fn finest_units(&self) -> Vec<Unit> {
        self.granularities.iter().map(|granularity| granularity.finest()).collect()
    }

    /// What is left if the last phase has found this.
    pub fn left(&self, found: &Configuration) -> Given {
        self.step.as_ref().map_or_else(|| self.given.clone(), |step| step.choose(&self.given, found))
    }

    /// Takes over what a phase has found. Whether that is less than before.
    fn take_over(&mut self, found: &Configuration) -> bool {
        let Some(step) = self.step.take() else { return false };
        self.given = step.choose(&self.given, found);
        found.len() < step.len()
    }

    /// The parts that are left, as a step.
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
            self.ladder = None;
            self.turn += 1;
        }
    }

    fn next_of_part(&mut self, number: usize, is_less: bool) -> Option<Step> {
        let text = self.given.parts[number].content.clone().filter(|text| !text.is_empty())?;
        let is_first_time = self.minimal[number].is_none();
        if self.minimal[number] == Some(self.given.fingerprint()) {
            return None;
        }
        let ladder = match &mut self.ladder {
            Some(ladder) => ladder,
            None => self.ladder.insert(Ladder::new(self.granularities[number], is_first_time)),
        };
        let (unit, units) = ladder.next(&text, is_less)?;
        Some(Step::Units { part: number, units, unit, text })
    }

    fn title(&self, step: &Step) -> PhaseTitle {
        let id = PhaseId(match step {
            Step::Parts(_) | Step::Snippets { .. } => b'i',
            Step::Units { .. } => b'u',
        });
        match step {
            Step::Parts(_) | Step::Snippets { .. } => {
                PhaseTitle { id, what: "whole parts".into(), unit: "part" }
            }
            Step::Units { part, unit, .. } => {
                let what = format!("{}, {}", self.given.parts[*part].name, unit.names());
                PhaseTitle { id, what, unit: unit.name() }
            }
        }
    }
}

impl<'p> Kind for Inputs<'_, 'p> {
    type Space = Independent;
    type Trial<'t>
        = InputTest<'t, 'p>
    where
        Self: 't;

    fn next(&mut self, before: Option<Before<'_, Independent>>) -> Option<NextPhase<Independent>> {
        let (step, start) = match before {
            None => (self.whole_parts(), PhaseStart::Everything),
            Some(Before { found, .. }) => {
                let is_less = self.take_over(found);
                (self.next_step(is_less)?, PhaseStart::Known)
            }
        };
        let (title, space) = (self.title(&step), Independent::new(step.len()));
        self.step = Some(step);
        Some(NextPhase { title, space, start })
    }

    fn trials<'t>(&'t mut self, _: &'t Independent) -> Vec<InputTest<'t, 'p>> {
        let Inputs { laboratory, workers, step, given, .. } = self;
        let Some(step) = step else { return Vec::new() };
        input_tests(laboratory, workers, step, given)
    }
}
