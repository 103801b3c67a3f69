//! `stripe study`: a table of faults in, the tables and plots of a paper out.

mod bench;
mod check;
mod child;
mod cover;
pub(super) mod options;
mod run;
mod words;

use super::exit::{Exit, Failure};
use options::StudyCommand;

pub(in crate::cli) use child::end_with_parent;

/// Does what the subcommand says.
pub(super) fn study(command: StudyCommand) -> Result<Exit, Failure> {
    match command {
        StudyCommand::Check(options) => check::check(&options),
        StudyCommand::Run(options) => run::run(&options),
        StudyCommand::Cover(options) => cover::spectra(&options),
        _ => todo!(),
    }
}
