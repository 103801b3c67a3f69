//! Do what the command line says: one file for each subcommand, each a table of contents.

mod demo;
mod doctor;
mod emissions;
mod exit;
mod findings;
mod internal;
mod interrupt;
mod keeping;
mod options;
mod permissions;
mod progress;
mod questions;
mod reduce;
mod rendering;
mod reopened;
mod replay;
mod report;
mod run;
mod runs;
mod search;
mod shell;
mod target;
mod terminal;
mod trace;
mod usage;
mod values;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

pub use exit::{Exit, Failure};
use options::Command;
pub use options::CommandLine;

/// Parses the arguments, does what they say and prints what went wrong.
pub fn main() -> ExitCode {
    let ended = internal::guarded(|| match CommandLine::try_parse() {
        Ok(line) => dispatch(line),
        Err(error) => answer(&error),
    });
    match ended {
        Ok(exit) => exit.into(),
        Err(failure) => {
            // Nobody can be told that standard error is closed.
            let _ = writeln!(io::stderr(), "stripe: {}", failure.message);
            failure.exit.into()
        }
    }
}

/// Help and version come from the parser as errors, as do mistakes.
fn answer(error: &clap::Error) -> Result<Exit, Failure> {
    if !error.use_stderr() {
        return tolerate_closed(error.print());
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return Ok(Exit::Usage);
    }
    let subcommand = std::env::args_os().nth(1);
    Err(usage::failure(error, subcommand.as_deref().and_then(|name| name.to_str())))
}

fn dispatch(line: CommandLine) -> Result<Exit, Failure> {
    let color = line.color;
    match line.command {
        Command::Run(options) => run::run(options, color),
        Command::Reduce(options) => reduce::reduce(options, color),
        Command::Report(options) => report::report(options, color),
        Command::Runs => runs::runs(),
        Command::Trace(options) => trace::trace(options, color),
        Command::Replay(options) => replay::replay(options),
        Command::Demo(options) => demo::demo(options, color),
        Command::Doctor(options) => doctor::doctor(options),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut CommandLine::command(), "stripe", &mut script);
            print(&script)
        }
        Command::Man => print(&manual()?),
    }
}

/// The manual page: the program's own, then one section for each subcommand.
fn manual() -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let command = CommandLine::command();
    let man = clap_mangen::Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    page.extend(verbatim(command.get_before_help()));
    man.render_options_section(&mut page)?;
    for subcommand in command.get_subcommands() {
        let name = format!("stripe {}", subcommand.get_name());
        page.extend(format!(".SH \"{}\"\n", name.to_uppercase()).bytes());
        let man = clap_mangen::Man::new(subcommand.clone().name(name));
        let mut section = Vec::new();
        man.render_synopsis_section(&mut section)?;
        man.render_description_section(&mut section)?;
        section.extend(verbatim(subcommand.get_before_help()));
        man.render_options_section(&mut section)?;
        section.extend(verbatim(subcommand.get_after_help()));
        page.extend(String::from_utf8_lossy(&section).replace(".SH ", ".SS ").bytes());
    }
    man.render_version_section(&mut page)?;
    Ok(page)
}

/// A table of the help, whose first line is its title, as a section of the manual page.
fn verbatim(table: Option<&clap::builder::StyledStr>) -> Vec<u8> {
    let text = table.map(ToString::to_string).unwrap_or_default();
    let Some((title, rows)) = text.split_once(":\n") else {
        return Vec::new();
    };
    let rows = rows.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    format!(".SH {}\n.nf\n{rows}\n.fi\n", title.to_uppercase().replace(' ', "\\ ")).into_bytes()
}

/// Writes to standard output.
fn print(bytes: &[u8]) -> Result<Exit, Failure> {
    let mut stdout = io::stdout().lock();
    tolerate_closed(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// A reader of standard output that has gone away, as behind `| head`, is no error.
fn tolerate_closed(written: io::Result<()>) -> Result<Exit, Failure> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(
            Exit::Failed,
            format!("standard output: {error}; make room, or write elsewhere"),
        )),
        _ => Ok(Exit::Done),
    }
}
