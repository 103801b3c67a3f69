//! Carry out the command line: one file for each subcommand, each a table of contents.

mod bounds;
mod changes;
mod changes_options;
mod choices;
mod delivery;
mod demo;
mod demo_changes;
mod doctor;
mod emissions;
mod exit;
mod explain;
mod files;
mod follow;
mod help;
mod internal;
mod interpreters;
mod intervene;
mod intervention_options;
mod keep_options;
mod limit_options;
mod locate;
mod locate_options;
mod located_rendering;
mod memory;
mod offers;
mod options;
mod oracle_options;
mod outcome_options;
mod output_options;
mod permissions;
mod progress;
mod reading;
mod reduce;
mod reduction_method;
mod rendering;
mod replay;
mod report;
mod run;
mod runs;
mod secrets;
mod shell;
mod simplify;
mod simplify_options;
mod slice;
mod slice_options;
mod status;
mod study;
mod target;
mod target_options;
mod terminal;
mod then_run;
mod trace;
mod usage;
mod values;
mod worker;
mod worker_options;
mod world_options;

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use self::study::options::StudyCommand;
use crate::baseline::COMPARISON;
use crate::report::printable;
use crate::session::interrupt::outlive_file_limits;
pub use exit::{Exit, Failure};
use options::Command;
pub use options::CommandLine;

/// Parses the arguments, carries them out and prints errors.
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let work = || internal::guarded(|| obey(&words));
    let ended = outlive_file_limits().and_then(|()| tracer::with_room(work));
    match ended.unwrap_or_else(|error| Err(error.into())) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            // An error of standard error itself cannot be reported.
            let _ = writeln!(io::stderr(), "stripe: {}", told(&failure.message));
            failure.exit.into()
        }
    }
}

/// A message as it is shown: one line, and after it the lines of a comparison, which are indented but for their
/// heading. A line break anywhere else comes from outside, and is none.
fn told(message: &str) -> String {
    let mut lines = message.split('\n');
    let mut told = printable(lines.next().unwrap_or_default());
    for line in lines {
        let is_comparison = line.starts_with("  ") || line == COMPARISON;
        told.push(if is_comparison { '\n' } else { char::REPLACEMENT_CHARACTER });
        told += &printable(line);
    }
    told
}

fn obey(words: &[OsString]) -> Result<Exit, Failure> {
    tracer::raise_limits()?;
    match understand(words) {
        Ok(line) => dispatch(line),
        Err(Reply::Shown(help)) => show(&help),
        Err(Reply::Told(text)) => print(text.as_bytes()),
        Err(Reply::Refused(failure)) => Err(failure),
    }
}

/// The reply of the parser when there is nothing to do.
#[derive(Debug)]
pub enum Reply {
    /// Help or version, which were asked for; or the summary, because nothing was.
    Shown(clap::Error),
    /// A text that was asked for.
    Told(&'static str),
    /// A mistake.
    Refused(Failure),
}

/// Parses the words of a command line, the first of which is the program itself. Has no effect
/// but that a list of events may be read from a file.
///
/// # Errors
/// If help is asked for, or if the words make no command line.
pub fn understand(words: &[OsString]) -> Result<CommandLine, Reply> {
    if words.get(1..).is_some_and(|words| words == ["help", "words"]) {
        return Err(Reply::Told(help::WORDS));
    }
    CommandLine::try_parse_from(words).map_err(|error| {
        let nothing = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
        if !error.use_stderr() || nothing {
            return Reply::Shown(error);
        }
        Reply::Refused(usage::failure(&error, words))
    })
}

/// Help and version come from the parser as errors.
fn show(help: &clap::Error) -> Result<Exit, Failure> {
    if !help.use_stderr() {
        return tolerate_closed(help.print());
    }
    let _ = help.print();
    Ok(Exit::Usage)
}

fn dispatch(line: CommandLine) -> Result<Exit, Failure> {
    let color = line.color;
    match line.command {
        Command::Run(options) => run::run(options, color),
        Command::Reduce(options) => reduce::reduce(options, color),
        Command::Report(options) => report::report(options, color),
        Command::Explain(options) => explain::explain(options, color),
        Command::Runs => runs::runs(color),
        Command::Trace(options) => trace::trace(options, color),
        Command::Replay(options) if options.intervention.is_given() => intervene::intervene(&options),
        Command::Replay(options) => replay::replay(options),
        Command::Demo(options) if options.changes => demo_changes::demo(&options, color),
        Command::Demo(options) => demo::demo(options, color),
        Command::Locate(options) => locate::locate(options, color),
        Command::Slice(options) => slice::slice(options, color),
        Command::Changes(options) => changes::changes(*options, color),
        Command::Simplify(options) => simplify::simplify(options, color),
        Command::Study(StudyCommand::Child(options)) => {
            study::end_with_parent()?;
            let name = std::iter::once(OsString::from("stripe"));
            obey(&name.chain(options.words).collect::<Vec<_>>())
        }
        Command::Study(command) => study::study(command),
        Command::Doctor(options) => doctor::doctor(options, color),
        Command::Worker => worker::worker(),
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
    page.extend(verbatim(Some(&help::WORDS.into())));
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
    print_by(|stdout| stdout.write_all(bytes))
}

/// Writes to standard output piece by piece.
fn print_by(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<Exit, Failure> {
    let mut stdout = BufWriter::new(io::stdout().lock());
    tolerate_closed(write(&mut stdout).and_then(|()| stdout.flush()))
}

/// Ignores that the reader of standard output has gone away, as in `| head`; other errors are failures.
fn tolerate_closed(written: io::Result<()>) -> Result<Exit, Failure> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::new(
            Exit::Failed,
            format!("standard output: {error}; make room, or write elsewhere"),
        )),
        _ => Ok(Exit::Done),
    }
}
