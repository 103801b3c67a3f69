//! `stripe report`: what a kept run has found, without running the program.

use super::choices::ColorChoice;
use super::delivery::Delivery;
use super::emissions;
use super::exit::{Exit, Failure};
use super::options::{OutputOptions, ReportOptions};
use super::{shell, terminal};
use crate::session::findings::Findings;
use crate::session::interrupt::Interrupt;
use crate::session::questions::NamedCriterion;
use crate::session::reopened::Reopened;
use crate::session::search::Answer;

const NO_VALUES: &str =
    "values were not looked at: `stripe run --values` keeps them, and `stripe explain` looks at them again";

/// Does it.
pub(super) fn report(options: ReportOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let reopened = Reopened::open(options.run.as_deref(), &Interrupt::default())?;
    let program = &reopened.target.program.executable().path;
    emissions::check(&options.output, program, reopened.has_several())?;
    let mut findings = Findings::of(Some(shell::command_line([&reopened.folder.name()[..]])));
    for question in &reopened.questions {
        let answer = without_values(answer(&reopened, question, &options)?, &options.output);
        findings.add(question, answer);
    }
    let command_line = shell::stripe(reopened.run.line.iter().cloned());
    mention_missing_values(&findings, &options.output);
    let delivery = Delivery {
        subject: reopened.subject(),
        findings: &findings,
        command_line: &command_line,
        layers: &[],
    };
    delivery.deliver(&options.output, terminal::style(color))?;
    Ok(Exit::Done)
}

/// Values that nobody has looked at cannot be told.
fn without_values(mut answer: Answer, output: &OutputOptions) -> Answer {
    if output.values && answer.slice.values.is_none() {
        answer.slice.warnings.push(NO_VALUES.into());
    }
    answer
}

/// The same where no text holds the warning: a picture shows nothing in place of values.
fn mention_missing_values(findings: &Findings, output: &OutputOptions) {
    let is_missing = findings.answers.iter().any(|answered| answered.answer.slice.values.is_none());
    if output.asks_for_values() && !output.values && is_missing {
        terminal::tell(&format!("stripe: warning: {NO_VALUES}"));
    }
}

fn answer(
    reopened: &Reopened,
    question: &NamedCriterion,
    options: &ReportOptions,
) -> Result<Answer, Failure> {
    if let Some(answer) = reopened.result(question, options.output.tells_history())? {
        return Ok(answer);
    }
    let mut answer = reopened.best_so_far(question)?;
    let name = reopened.folder.name();
    answer.slice.warnings.push(format!("the search has not ended; `stripe reduce {name}` goes on"));
    Ok(answer)
}
