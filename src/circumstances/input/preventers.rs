//! Look for what of a program's input keeps a failure away.
//!
//! The same search as for what a failure needs, with the outcomes exchanged (see [`Wanted`](super::Wanted)): with all
//! circumstances the failure does not show, with none it does, and a minimal set is one without any circumstance of
//! which it is back, or the run says nothing.

use dd::Independent;

use super::part::Given;
use super::snippets::Snippets;
use super::step::Step;
use super::test::{InputTest, InputTestSetup, InputWorker, input_tests};
use crate::circumstances::{Before, Kind, NextPhase, PhaseId, PhaseStart, PhaseTitle};

/// The circumstances that together keep a failure away, and the workers that run the program with less.
pub struct Preventers<'m, 'p> {
    setup: &'m InputTestSetup<'p>,
    workers: &'m mut [InputWorker<'p>],
    given: &'m Given,
    step: Step,
}

impl<'m, 'p> Preventers<'m, 'p> {
    /// Creates the kind for these circumstances of all.
    pub fn new(
        setup: &'m InputTestSetup<'p>,
        workers: &'m mut [InputWorker<'p>],
        given: &'m Given,
        all: &Snippets,
        these: &[usize],
    ) -> Preventers<'m, 'p> {
        let step = Step::Snippets { all: all.clone(), these: these.to_vec() };
        Preventers { setup, workers, given, step }
    }
}

impl<'p> Kind for Preventers<'_, 'p> {
    type Space = Independent;
    type Trial<'t>
        = InputTest<'t, 'p>
    where
        Self: 't;

    fn next(&mut self, before: Option<Before<'_, Independent>>) -> Option<NextPhase<Independent>> {
        let id = PhaseId(b'v');
        let title = PhaseTitle { id, what: "what prevents the failure".into(), unit: "circumstance" };
        let space = Independent::new(self.step.len());
        before.is_none().then_some(NextPhase { title, space, start: PhaseStart::Everything })
    }

    fn trials<'t>(&'t mut self, _: &'t Independent) -> Vec<InputTest<'t, 'p>> {
        input_tests(self.setup, self.workers, &self.step, self.given)
    }
}
