//! Search for the answers to all questions about a recorded run, one after the other.

use super::budget::Budget;
use super::case::Case;
use super::error::SessionError;
use super::findings::Findings;
use super::keeping::Keeping;
use super::listener::{Begun, Listener};
use super::past::Past;
use super::recording::Recording;
use super::search::SearchResources;
use crate::circumstances::events::{EventGuess, RunMemo};

/// Searches for all answers, until the user asks for the end. The guess for a question, by its place, is tried
/// first.
///
/// # Errors
/// If there is nothing to be found, or the test setup is broken.
pub fn search(
    (recording, guesses): (&Recording<'_>, &[Option<EventGuess>]),
    resources: &mut SearchResources<'_, '_>,
    keeping: &mut Keeping<'_>,
    listener: &dyn Listener,
) -> Result<Findings, SessionError> {
    let (request, questions) = (recording.request, &recording.questions);
    let memo = RunMemo::default();
    let mut budget = Budget::new(request.max_tests, request.max_time, questions.len());
    let mut findings = Findings::of(keeping.name());
    for (place, question) in questions.iter().enumerate() {
        if findings.are_interrupted() || !findings.answers.is_empty() && resources.interrupt.is_asked() {
            break;
        }
        let name = question.name.as_deref();
        let past = Past { journal: keeping.journal(name), ..Past::default() };
        let share = budget.share();
        let progress = listener.search(Begun { criterion: name, time: share.time, known: None });
        let mut subject = recording.subject();
        subject.plan.strategy.max_tests = share.tests;
        let memo = (questions.len() > 1).then_some(&memo);
        let guess = guesses.get(place).and_then(Option::as_ref);
        let answer = Case { subject, question, memo, guess }.search(resources, past, progress, keeping)?;
        budget.spend(answer.slice.tests.total);
        findings.add(question, answer);
    }
    Ok(findings)
}
