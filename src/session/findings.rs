//! Collect the answers to the questions about a run.

use std::collections::BTreeSet;

use tracer::Tracer;
use tracer::trace::EventId;

use super::case::Subject;
use super::keeping::Keeping;
use super::observing::{self, Reach};
use super::questions::NamedCriterion;
use super::search::Answer;
use crate::circumstances::Status;

/// The findings, in the order of the questions.
pub struct Findings {
    /// The answers.
    pub answers: Vec<Answered>,
    /// The name of the run for commands, if it is kept.
    run: Option<String>,
}

/// The answer to a question.
pub struct Answered {
    /// The name of the criterion, if there are several.
    pub name: Option<String>,
    /// True if it is known to be about wrong output.
    pub is_wrong: bool,
    /// The answer.
    pub answer: Answer,
}

impl Answered {
    /// The name of the criterion; empty if there is none.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}

impl Findings {
    /// Creates empty findings about a run, with its name for commands.
    pub fn of(run: Option<String>) -> Findings {
        Findings { answers: Vec::new(), run }
    }

    /// Adds the answer to a question.
    pub fn add(&mut self, question: &NamedCriterion, mut answer: Answer) {
        answer.slice.kept_as.clone_from(&self.run);
        let (name, is_wrong) = (question.name.clone(), question.is_wrong);
        self.answers.push(Answered { name, is_wrong, answer });
    }

    /// True if a crash was found that needs nothing.
    pub fn crashes_anyway(&self) -> bool {
        self.answers.iter().any(|answered| answered.answer.slice.crashed_at.is_some())
    }

    /// True if the user has asked for the end.
    pub fn are_interrupted(&self) -> bool {
        self.answers.iter().any(|answered| answered.answer.slice.status == Status::Interrupted)
    }

    /// The number of executions that are needed by any of the answers, each counted once for each.
    pub fn executions(&self) -> usize {
        let answers = self.answers.iter().map(|answered| &answered.answer.slice);
        let has_wrong = self.answers.iter().any(|answered| answered.is_wrong);
        let wrong = self.answers.iter().map(|answered| answered.is_wrong || !has_wrong);
        answers.zip(wrong).filter(|(_, counts)| *counts).map(|(slice, _)| slice.needed.len()).sum()
    }

    /// Observes the values of the needed events within reach, if that has not been done yet.
    pub fn look(
        &mut self,
        subject: &Subject<'_>,
        tracer: &mut Tracer<'_>,
        reach: Reach,
        keeping: &Keeping<'_>,
    ) {
        let is_done = self.answers.iter().all(|answered| answered.answer.slice.values.is_some());
        if is_done || self.are_interrupted() {
            return;
        }
        let slices = self.answers.iter().map(|answered| &answered.answer.slice);
        let needed: BTreeSet<EventId> = slices.flat_map(|slice| slice.told()).collect();
        match observing::observe(subject, tracer, &observing::worth_seeing(subject, &needed, None, reach)) {
            Ok(seen) => self.answers.iter_mut().for_each(|answered| {
                observing::tell(&mut answered.answer.slice, &seen, reach);
                keeping.conclude(answered.name.as_deref(), &answered.answer.slice);
            }),
            Err(failure) => self.answers.iter_mut().for_each(|answered| {
                answered.answer.slice.warnings.push(format!("values cannot be told: {}", failure.message));
            }),
        }
    }
}
