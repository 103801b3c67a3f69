//! `stripe report`: what a kept run has found, without running the program.

use std::path::Path;

use super::changes_options::{ChangesEmission, ChangesFormat};
use super::changes_output::ChangesOutput;
use super::choices::ColorChoice;
use super::delivery::Delivery;
use super::emissions;
use super::exit::{Exit, Failure};
use super::options::{OutputOptions, ReportOptions};
use super::simplify::{rendered, title};
use super::simplify_options::SimplifyFormat;
use super::values::{Emission, EmissionKind};
use super::{changes_output, locate, shell, terminal};
use crate::archive::{KeptCommand, UntracedSearch};
use crate::guilty::GuiltyChanges;
use crate::session::error::SessionError;
use crate::session::findings::Findings;
use crate::session::interrupt::Interrupt;
use crate::session::keeping::archive;
use crate::session::kept_changes;
use crate::session::locate_resume::KeptLocated;
use crate::session::questions::NamedCriterion;
use crate::session::reopened::Reopened;
use crate::session::search::Answer;
use crate::session::simplification;
use crate::simplified::Simplified;

const NO_VALUES: &str =
    "values were not looked at: `stripe run --values` keeps them, and `stripe explain` looks at them again";

/// Reports the findings of a kept run.
pub(super) fn report(options: ReportOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let folder = archive().find(options.run.as_deref()).map_err(SessionError::from)?;
    match folder.untraced() {
        Some(UntracedSearch::Simplification) => {
            let (kept, found) = simplification::reopened(&folder)?;
            return of_simplification(&kept, &found, &options.output, color);
        }
        Some(UntracedSearch::Changes) => {
            let (kept, found) = kept_changes::reopened(&folder)?;
            return of_changes(&kept, &found, &options.output, color);
        }
        None if folder.is_located() => {
            let kept = KeptLocated::of(folder, &Interrupt::default())?;
            return locate::report(kept, &options.output, color);
        }
        None => {}
    }
    let reopened = Reopened::of(folder, None, &Interrupt::default())?;
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

/// Reports the result of a kept simplification.
fn of_simplification(
    kept: &KeptCommand,
    found: &Simplified,
    output: &OutputOptions,
    color: ColorChoice,
) -> Result<Exit, Failure> {
    let line = shell::stripe(kept.line.iter().cloned());
    let title = title(&kept.command, &line);
    let text = |kind: EmissionKind| {
        let format = match kind {
            EmissionKind::Text => SimplifyFormat::Text,
            EmissionKind::Json => SimplifyFormat::Json,
            EmissionKind::Html => SimplifyFormat::Html,
            other => {
                let message = format!("{other}: does not tell of a simplification: take text, json or html");
                return Err(Failure::new(Exit::Usage, message));
            }
        };
        Ok(rendered(found, format, &title, terminal::style(color)))
    };
    output.kinds().try_for_each(|kind| text(kind).map(drop))?;
    let program = kept.command.first().map_or("", String::as_str);
    emissions::check(output, Path::new(program), false)?;
    super::print(text(output.format)?.as_bytes())?;
    output.emit.iter().try_for_each(|one| emissions::write(one, &text(one.kind)?.into(), output))?;
    Ok(Exit::Done)
}

/// Reports the changes that a kept search has found.
fn of_changes(
    kept: &KeptCommand,
    found: &GuiltyChanges,
    output: &OutputOptions,
    color: ColorChoice,
) -> Result<Exit, Failure> {
    let line = shell::stripe(kept.line.iter().cloned());
    let format = |kind: EmissionKind| match kind {
        EmissionKind::Text => Ok(ChangesFormat::Text),
        EmissionKind::Json => Ok(ChangesFormat::Json),
        EmissionKind::Html => Ok(ChangesFormat::Html),
        other => {
            let message = format!("{other}: does not tell of changes: take text, json or html");
            Err(Failure::new(Exit::Usage, message))
        }
    };
    let emission = |Emission { kind, file }: &Emission| -> Result<ChangesEmission, Failure> {
        Ok(ChangesEmission { kind: format(*kind)?, file: file.clone() })
    };
    let emit = output.emit.iter().map(emission).collect::<Result<Vec<_>, _>>()?;
    changes_output::check_files(emit.iter().map(|one| &*one.file), output.force)?;
    let told = ChangesOutput { found, command_line: &line };
    told.print(format(output.format)?, terminal::style(color))?;
    told.write(&emit, output.force)?;
    Ok(Exit::Done)
}

/// Adds a warning if values are asked for that were not observed.
fn without_values(mut answer: Answer, output: &OutputOptions) -> Answer {
    if output.values && answer.slice.values.is_none() {
        answer.slice.warnings.push(NO_VALUES.into());
    }
    answer
}

/// Prints that warning where no text holds it: a picture shows nothing in place of values.
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
