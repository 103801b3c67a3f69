//! Have a worker elsewhere leave statement executions out.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::phase;
use super::test::{EventTest, EventTestSetup};
use super::universe::Universe;
use crate::circumstances::{TestError, Trial};
use crate::oracle::Evidence;
use crate::remote::link::{WorkerLink, WorkerLoss};
use crate::remote::messages::{AskDocument, TellDocument, members};
use dd::{Cancellation, Configuration, Outcome, Test};

/// The testing function of events: of this process, or of a worker elsewhere.
pub enum EventTrial<'a, 't, 'p> {
    /// A tracer of this process.
    Here(EventTest<'a, 't, 'p>),
    /// A worker elsewhere.
    Elsewhere(RemoteTest<'a, 't>),
}

/// The testing function of a worker elsewhere.
pub struct RemoteTest<'a, 't> {
    /// The setup that all tests share.
    pub setup: &'a EventTestSetup<'a>,
    /// The name of the criterion, if there are several.
    pub criterion: Option<&'a str>,
    /// The universe: the events that the numbers of circumstances stand for.
    pub space: &'a Universe,
    /// The worker.
    pub link: &'t mut WorkerLink,
}

impl RemoteTest<'_, '_> {
    fn shown(
        &mut self,
        configuration: &Configuration,
        cancellation: &Cancellation,
    ) -> Result<Evidence, WorkerLoss> {
        let id = self.link.next_id();
        self.link.ask(&AskDocument::Test {
            id,
            criterion: self.criterion.map(str::to_owned),
            phase: char::from(phase(self.space.control()).0),
            of: configuration.universe(),
            chosen: members(configuration),
        })?;
        loop {
            match self.link.hear(|| cancellation.is_requested())? {
                None => {
                    self.link.ask(&AskDocument::Cancel { id })?;
                    return Ok(Evidence::new(Outcome::Unresolved, "nobody wants to know any more"));
                }
                Some(TellDocument::Tested { id: told, shown, runs }) if told == id => {
                    self.setup.runs.fetch_add(runs, Ordering::Relaxed);
                    return shown.evidence().ok_or_else(|| self.link.give_up("its answer makes no sense"));
                }
                Some(TellDocument::Broken { id: told, why }) if told == id => {
                    return Err(self.link.give_up(why));
                }
                // The end of a test that was cancelled.
                Some(TellDocument::Tested { .. } | TellDocument::Broken { .. }) => {}
                Some(_) => return Err(self.link.give_up("its answer makes no sense")),
            }
        }
    }
}

impl Test for EventTrial<'_, '_, '_> {
    type Evidence = Evidence;
    type Error = TestError;

    fn test(
        &mut self,
        configuration: &Configuration,
        cancellation: &Cancellation,
    ) -> Result<(Outcome, Evidence), TestError> {
        match self {
            EventTrial::Here(test) => test.test(configuration, cancellation),
            EventTrial::Elsewhere(test) => {
                let shown = test.shown(configuration, cancellation)?;
                let outputs = test.setup.outputs;
                let printed = shown.printed.and_then(|printed| outputs?.add(Arc::clone(&printed)));
                Ok((shown.outcome, Evidence { printed, ..shown }))
            }
        }
    }

    fn is_lost(&self, error: &TestError) -> bool {
        matches!(error, TestError::Lost(_))
    }
}

impl Trial for EventTrial<'_, '_, '_> {
    fn rehearse(&mut self, configuration: &Configuration) -> Result<Evidence, TestError> {
        match self {
            EventTrial::Here(test) => test.rehearse(configuration),
            EventTrial::Elsewhere(test) => Ok(test.shown(configuration, &Cancellation::default())?),
        }
    }

    fn confirm(&mut self, configuration: &Configuration) -> Result<Evidence, TestError> {
        match self {
            EventTrial::Here(test) => test.confirm(configuration),
            EventTrial::Elsewhere(test) => Ok(test.shown(configuration, &Cancellation::default())?),
        }
    }
}
