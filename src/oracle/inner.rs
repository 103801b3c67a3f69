//! Ask for something inside of a run, at one execution: what a variable holds there, or which way a decision goes. The
//! run ends there, and what it would have printed does not matter.

use tracer::lockstep::Deviation;
use tracer::run::{AskedValue, Run};
use tracer::termination::Termination;
use tracer::trace::EventId;

use super::evidence::Evidence;
use crate::subject::{Ordinals, PlaceFound, Recorded, Where};
use dd::Outcome;

/// A criterion inside of a run: a question about one execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerCriterion {
    /// The question.
    pub question: InnerQuestion,
    /// The execution, as the user names it: `13#3`.
    pub place: String,
}

/// A question about an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InnerQuestion {
    /// The value of this variable where the execution begins.
    Value(String),
    /// The direction of its decision.
    Decision,
}

impl InnerCriterion {
    /// The command-line option that asks the question.
    pub fn option(&self) -> &'static str {
        match self.question {
            InnerQuestion::Value(_) => "--value",
            InnerQuestion::Decision => "--decision",
        }
    }

    /// The number of events of a recorded run up to the execution that is asked about.
    ///
    /// # Errors
    /// If the place is not one execution, or it has no answer; in words.
    pub fn events(&self, recorded: Recorded<'_>) -> Result<usize, String> {
        let ordinals = Ordinals::new(recorded);
        let event = single(self.option(), &self.place, recorded, &ordinals)?;
        match self.question {
            InnerQuestion::Value(_) if recorded.trace.entry(recorded.trace.activation(event)) == event => {
                Err(format!(
                    "--value: event {} is the call of a function, where its variables are not there yet: name an \
                     execution of one of its lines",
                    event.time()
                ))
            }
            InnerQuestion::Value(_) => Ok(event.0 as usize + 1),
            InnerQuestion::Decision => {
                must_decide(event, recorded, &ordinals)?;
                let next = recorded.trace.next(event).map(|next| next.0 as usize);
                next.ok_or_else(|| format!("--decision: the run ends in {}", ordinals.name(event)))
            }
        }
    }
}

/// Finds the one event that a text names.
///
/// # Errors
/// If it names none, or several; `option` is the command-line option of the text.
pub fn single(
    option: &str,
    text: &str,
    recorded: Recorded<'_>,
    ordinals: &Ordinals<'_>,
) -> Result<EventId, String> {
    let refused = |error| format!("{option}: {error}");
    let place = Where::parse(text).map_err(refused)?;
    if place == Where::Last {
        return Err(format!("{option}: what was needed last is not known before the search: name a place"));
    }
    match place.find(recorded, ordinals).map_err(refused)? {
        PlaceFound::Executions(events) => match events[..] {
            [event] => Ok(event),
            _ => {
                Err(format!("{option}: {text} was executed {} times: name one, as in {text}#1", events.len()))
            }
        },
        PlaceFound::Nothing { place, nearest, .. } => {
            let nearest: Vec<String> = nearest.iter().map(u32::to_string).collect();
            Err(format!(
                "{option}: {place} was not executed; the nearest lines that were: {}",
                nearest.join(", ")
            ))
        }
    }
}

/// Checks that an event is a decision: that it decides where the run goes on.
///
/// # Errors
/// If it does not; names executions of its line that do.
pub fn must_decide(event: EventId, recorded: Recorded<'_>, ordinals: &Ordinals<'_>) -> Result<(), String> {
    const MOST: usize = 3;
    let Recorded { program, trace } = recorded;
    let decides = |event: &EventId| program.leader(trace.leader(*event)).decides;
    if decides(&event) {
        return Ok(());
    }
    let statement = ordinals.statement(event);
    let others = ordinals.of_line(statement.file, statement.line).into_iter().filter(decides);
    let others: Vec<String> = others.take(MOST).map(|other| ordinals.name(other)).collect();
    let remedy = match others.is_empty() {
        true => "no execution of this line does".to_owned(),
        false => format!("of this line {} do", others.join(", ")),
    };
    Err(format!("--decision: {} decides nothing; {remedy}", ordinals.name(event)))
}

/// The answer of the recorded run.
#[derive(Clone, Debug)]
pub(super) enum InnerAnswer {
    /// The value of the variable.
    Value { variable: String, value: AskedValue },
    /// The direction of the decision: control went there after this event.
    Decision { after: EventId, went: Deviation },
}

/// The condition that a run gives the same answer as the recorded one.
#[derive(Clone, Debug)]
pub(super) struct InnerCondition {
    answer: InnerAnswer,
    /// The name of the execution.
    place: String,
    /// The place that the decision leads to, in words.
    goal: String,
}

impl InnerCondition {
    /// Builds the condition from a recorded run that was cut where it is asked; `None` if it has not answered.
    pub(super) fn new(criterion: InnerCriterion, recorded: &Run) -> Option<InnerCondition> {
        let answer = match (criterion.question, &recorded.termination) {
            (InnerQuestion::Value(variable), Termination::Reached) => {
                InnerAnswer::Value { variable, value: recorded.value.clone()? }
            }
            (InnerQuestion::Decision, &Termination::Left(went @ Deviation::RanPastEnd { after, .. })) => {
                InnerAnswer::Decision { after, went }
            }
            _ => return None,
        };
        Some(InnerCondition { answer, place: criterion.place, goal: String::new() })
    }

    /// Returns the condition in the words of the program's source.
    pub(super) fn told(self, recorded: Recorded<'_>) -> InnerCondition {
        let ordinals = Ordinals::new(recorded);
        let event = match self.answer {
            InnerAnswer::Value { .. } => recorded.trace.events().next_back(),
            InnerAnswer::Decision { after, .. } => Some(after),
        };
        let place = event.map_or(self.place, |event| ordinals.name(event));
        let goal = match self.answer {
            InnerAnswer::Decision { went, .. } => goal(&went, recorded),
            InnerAnswer::Value { .. } => String::new(),
        };
        InnerCondition { place, goal, ..self }
    }

    pub(super) fn describe(&self) -> String {
        match &self.answer {
            InnerAnswer::Value { variable, value } => {
                format!("{variable} is {} where {} begins", value.told, self.place)
            }
            InnerAnswer::Decision { .. } => format!("after {} control goes to {}", self.place, self.goal),
        }
    }

    /// Judges a run that has left the recorded path by the direction of its decision; `None` if that says nothing.
    pub(super) fn judge_left(&self, left: &Deviation, recorded: Recorded<'_>) -> Option<Evidence> {
        let InnerAnswer::Decision { after, went } = &self.answer else { return None };
        match left {
            left if left == went => Some(Evidence::new(Outcome::Fail, "the decision goes the same way")),
            Deviation::RanPastEnd { after: at, .. } if at == after => {
                let why = format!("control goes to {} instead of {}", goal(left, recorded), self.goal);
                Some(Evidence::new(Outcome::Pass, why))
            }
            _ => None,
        }
    }

    /// The reason why a run that has ended otherwise does not give the same answer; `None` if it does.
    pub(super) fn missing_in(&self, run: &Run) -> Option<String> {
        match (&self.answer, &run.termination) {
            (InnerAnswer::Value { variable, value }, Termination::Reached) => match &run.value {
                Some(now) if now.whole == value.whole => None,
                Some(now) if now.told == value.told => {
                    Some(format!("{variable} differs in a part that is not shown of {}", value.told))
                }
                Some(now) => Some(format!("{variable} is {} instead of {}", now.told, value.told)),
                None => Some(format!("{variable} has no place in memory, and was {}", value.told)),
            },
            _ => Some(format!("it has ended before {} was reached", self.place)),
        }
    }
}

/// The place that control goes to when it leaves the recorded path.
fn goal(left: &Deviation, recorded: Recorded<'_>) -> String {
    match *left {
        Deviation::RanPastEnd { reached, .. } => recorded.program.place(reached).to_string(),
        _ => String::new(),
    }
}
