//! `stripe study`: a table of faults in, the tables and plots of a paper out.

mod check;
mod child;
mod cover;
mod import;
mod init;
pub(super) mod options;
mod run;
mod runner;
mod show;
mod submit;
mod verify;
mod words;

use super::exit::{Exit, Failure};
use options::StudyCommand;

pub(in crate::cli) use child::end_with_parent;

/// Carries out the subcommand.
pub(super) fn study(command: StudyCommand) -> Result<Exit, Failure> {
    match command {
        StudyCommand::Check(options) => check::check(&options),
        StudyCommand::Run(options) => run::run(&options),
        StudyCommand::Cover(options) => cover::spectra(&options),
        StudyCommand::Status(options) => show::status(&options),
        StudyCommand::Table(options) => show::table(&options),
        StudyCommand::Report(options) => show::report(&options),
        StudyCommand::Export(options) => show::export(&options),
        StudyCommand::Import(options) => import::import(&options),
        StudyCommand::Verify(options) => verify::verify(&options),
        StudyCommand::Init(options) => init::init(&options),
        StudyCommand::Submit(options) => submit::submit(&options),
        // Its command line is carried out as a whole before this.
        StudyCommand::Child(_) => Ok(Exit::Usage),
    }
}
