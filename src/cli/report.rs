//! `stripe report`: what a kept run has found, without running the program.

use super::emissions;
use super::exit::{Exit, Failure};
use super::findings::Findings;
use super::interrupt::Interrupt;
use super::options::{ColorChoice, ReportOptions};
use super::questions::Inquiry;
use super::reopened::Reopened;
use super::terminal;
use crate::slice::CriticalSlice;

/// Does it.
pub(super) fn report(options: ReportOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let reopened = Reopened::open(options.run.as_deref(), &Interrupt::default())?;
    emissions::check(&options.output, &reopened.target.program.executable().path)?;
    let mut findings = Findings::default();
    for question in &reopened.questions {
        findings.add(question, slice(&reopened, question)?, Exit::Done);
    }
    findings.deliver(reopened.subject().recorded(), &options.output, terminal::style(color))?;
    Ok(Exit::Done)
}

fn slice(reopened: &Reopened, question: &Inquiry) -> Result<CriticalSlice, Failure> {
    if let Some(slice) = reopened.result(question)? {
        return Ok(slice);
    }
    let mut slice = reopened.best_so_far(question)?;
    let name = reopened.folder.name();
    slice.warnings.push(format!("the search has not ended; `stripe reduce {name}` goes on"));
    Ok(slice)
}
