//! Go on with the searches of a kept run that have not ended.

use std::time::Duration;

use super::budget::Budget;
use super::case::Case;
use super::error::SessionError;
use super::findings::Findings;
use super::keeping::Keeping;
use super::listener::{Begun, Listener};
use super::past::{Past, past};
use super::questions::NamedCriterion;
use super::reopened::Reopened;
use super::search::{Answer, SearchResources};
use crate::archive::ArchiveError;
use crate::circumstances::Status;
use crate::circumstances::events::RunMemo;
use crate::slice::Level;

/// The budget of searches that go on, and what is wanted of those that have ended.
#[derive(Clone, Copy, Debug)]
pub struct Expenditure {
    /// The largest number of further tests in all.
    pub max_tests: Option<u64>,
    /// The limit of time in all.
    pub max_time: Option<Duration>,
    /// True if the tests of ended searches are wanted too, which takes some time.
    pub tells_history: bool,
}

/// The searches that go on.
pub struct Continuation<'c, 'p> {
    /// The kept run.
    pub reopened: &'c Reopened,
    /// The folder in which it is kept.
    pub keeping: &'c Keeping<'c>,
    /// The listener for the progress.
    pub listener: &'c dyn Listener,
    /// The budget of the searches.
    pub allowance: Expenditure,
    /// The tracers and processors that do the work.
    pub resources: SearchResources<'c, 'p>,
}

impl Continuation<'_, '_> {
    /// Returns the results of the searches that had ended, and of the others, which go on.
    ///
    /// # Errors
    /// If the run cannot be read or is being searched, if there is nothing to be found, or the test setup is broken.
    pub fn all(&mut self) -> Result<Findings, SessionError> {
        let memo = RunMemo::default();
        let mut findings = Findings::of(self.keeping.name());
        let questions = &self.reopened.questions;
        let finished = questions.iter().map(|question| self.finished(question));
        let finished = finished.collect::<Result<Vec<_>, _>>()?;
        let is_finished = finished.iter().all(Option::is_some);
        let _claim = (!is_finished).then(|| self.reopened.folder.claim()).transpose()?;
        let searches = finished.iter().filter(|finished| finished.is_none()).count();
        let Expenditure { max_tests, max_time, .. } = self.allowance;
        let mut budget = Budget::new(max_tests, max_time, searches);
        for (question, finished) in questions.iter().zip(finished) {
            let answer = match finished {
                Some(answer) => answer,
                None if findings.are_interrupted() => continue,
                None => self.go_on(question, &memo, &mut budget)?,
            };
            findings.add(question, answer);
        }
        Ok(findings)
    }

    /// The result of a search that had nothing left to do.
    fn finished(&self, question: &NamedCriterion) -> Result<Option<Answer>, SessionError> {
        let result = self.reopened.result(question, self.allowance.tells_history)?;
        let is_finished = |answer: &Answer| {
            answer.slice.status == Status::Minimal && answer.slice.level == Level::Execution
        };
        let finished = result.filter(is_finished);
        if finished.is_some() {
            self.listener.tell(&format!("stripe: {} is finished; this is its result", self.name(question)));
        }
        Ok(finished)
    }

    fn go_on(
        &mut self,
        question: &NamedCriterion,
        memo: &RunMemo,
        budget: &mut Budget,
    ) -> Result<Answer, SessionError> {
        let past = self.past(question)?;
        let known = past.memory.tests();
        let tests = if known == 1 { "test" } else { "tests" };
        self.listener.tell(&format!("stripe: going on with {} after {known} {tests}", self.name(question)));
        let share = budget.share();
        let mut subject = self.reopened.subject();
        subject.plan.strategy.max_tests = share.tests.map(|more| known.saturating_add(more));
        let criterion = question.name.as_deref();
        let progress = self.listener.search(Begun { criterion, time: share.time, known: Some(known) });
        let memo = (self.reopened.questions.len() > 1).then_some(memo);
        let answer = Case { subject, question, memo, guess: None }.search(
            &mut self.resources,
            past,
            progress,
            self.keeping,
        )?;
        budget.spend(answer.slice.tests.total.saturating_sub(known));
        Ok(answer)
    }

    /// The memory of the search so far, with the journal in which it goes on.
    fn past(&self, question: &NamedCriterion) -> Result<Past, SessionError> {
        let Reopened { folder, run, .. } = self.reopened;
        let part = question.name.as_deref();
        let (journal, content) = folder.resume_journal(run, part)?;
        let ended = self.reopened.result(question, false)?;
        let ended_with_groups = ended.is_some_and(|answer| answer.slice.status == Status::Minimal);
        let best = content.phases.first().filter(|phase| phase.is_understood).map(|phase| phase.best.clone());
        folder.reopen(part)?;
        if content.is_damaged {
            let (path, what) = (journal.path().to_path_buf(), "what follows the damage is lost".into());
            self.keeping.warn(&ArchiveError::Damaged { path, what }.to_string());
        }
        let mut past = Past { journal: Some(journal), ..past(&run.version, content) };
        // A search that has ended with groups had another end before it: its way does not lead further.
        if let (true, Some(first)) = (ended_with_groups, past.memory.phases.first_mut()) {
            first.start = best;
        }
        Ok(past)
    }

    fn name(&self, question: &NamedCriterion) -> String {
        let run = self.reopened.folder.name();
        question.name.as_ref().map_or_else(|| format!("run {run}"), |name| format!("{name} of run {run}"))
    }
}
