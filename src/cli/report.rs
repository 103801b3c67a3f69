//! `stripe report`: what a kept run has found, without running the program.

use super::emissions;
use super::exit::{Exit, Failure};
use super::interrupt::Interrupt;
use super::options::{ColorChoice, ReportOptions};
use super::reopened::Reopened;
use super::run::deliver;
use super::terminal;

/// Does it.
pub(super) fn report(options: ReportOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let reopened = Reopened::open(options.run.as_deref(), &Interrupt::default())?;
    emissions::check(&options.output, &reopened.target.program.executable().path)?;
    let case = reopened.case();
    let slice = match reopened.result(&case)? {
        Some(slice) => slice,
        None => {
            let mut slice = reopened.best_so_far(&case)?;
            let name = reopened.folder.name();
            slice.warnings.push(format!("the search has not ended; `stripe reduce {name}` goes on"));
            slice
        }
    };
    deliver(case.recorded(), &slice, &options.output, terminal::style(color))?;
    Ok(Exit::Done)
}
