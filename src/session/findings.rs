//! Collect what the questions about a run have led to.

use std::collections::BTreeSet;

use tracer::Tracer;
use tracer::trace::EventId;

use super::case::Subject;
use super::keeping::Keeping;
use super::observing::{self, Reach};
use super::questions::NamedCriterion;
use super::search::Answer;
use crate::circumstances::Status;

/// What was found, in the order of the questions.
pub struct Findings {
    /// The answers.
    pub answers: Vec<Answered>,
    /// The word by which commands name the run, if it is kept.
    run: Option<String>,
}

/// What a question has led to.
pub struct Answered {
    /// The name of the criterion, if there are several.
    pub name: Option<String>,
    /// Whether it is known to be about wrong output.
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
    /// What is found about a run, by the word that names it in a shell; nothing so far.
    pub fn of(run: Option<String>) -> Findings {
        Findings { answers: Vec::new(), run }
    }

    /// Adds what a question has led to.
    pub fn add(&mut self, question: &NamedCriterion, mut answer: Answer) {
        answer.slice.kept_as.clone_from(&self.run);
        let (name, is_wrong) = (question.name.clone(), question.is_wrong);
        self.answers.push(Answered { name, is_wrong, answer });
    }

    /// Whether a crash was found that needs nothing.
    pub fn crashes_anyway(&self) -> bool {
        self.answers.iter().any(|answered| answered.answer.slice.crashed_at.is_some())
    }

    /// Whether the user has asked for the end.
    pub fn are_interrupted(&self) -> bool {
        self.answers.iter().any(|answered| answered.answer.slice.status == Status::Interrupted)
    }

    /// How many executions are needed by any of the answers, each counted once for each.
    pub fn executions(&self) -> usize {
        let answers = self.answers.iter().map(|answered| &answered.answer.slice);
        let has_wrong = self.answers.iter().any(|answered| answered.is_wrong);
        let wrong = self.answers.iter().map(|answered| answered.is_wrong || !has_wrong);
        answers.zip(wrong).filter(|(_, counts)| *counts).map(|(slice, _)| slice.needed.len()).sum()
    }

    /// Looks at what the needed events within reach did with values, if nobody has looked yet.
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
