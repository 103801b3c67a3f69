//! Go on from a simplified input to the critical slice of the program: with the `stripe run` line that a user would
//! type, and as if one had.

use std::ffi::OsString;
use std::path::Path;

use clap::Parser;
use tracer::program::{Granularity, Program, Scope};
use tracer::termination::{Termination, signal_name};

use super::choices::ColorChoice;
use super::delivery::Delivery;
use super::exit::{Exit, Failure};
use super::options::{Command, CommandLine, OutputOptions};
use super::shell::option;
use super::simplify_options::{SimplifyFormat, SimplifyOptions};
use super::target::load_failure;
use super::terminal::tell;
use super::{option_words, run, shell};
use crate::circumstances::input::{InputPart, PartName};
use crate::report::Style;
use crate::session::simplify::{Simplification, of_run};
use crate::session::simplify_request::SimplifyRequest;

/// The files to which what is left of the parts was written.
pub(super) struct WrittenParts<'w> {
    /// The files, each with the number of its part.
    pub(super) files: Vec<(usize, &'w Path)>,
}

/// Refuses what the search could not go on from, before any work is done.
pub(super) fn check(
    options: &SimplifyOptions,
    request: &SimplifyRequest,
    written: &WrittenParts<'_>,
) -> Result<(), Failure> {
    let refuse = |message: &str| Err(Failure::new(Exit::Usage, format!("--then-run {message}")));
    let is_written = |name: &PartName| written.of(request.given.parts.iter().map(|part| &part.name), name);
    if options.result.format == SimplifyFormat::Html {
        return refuse(
            "has two results, and a page holds one: take `--format text`, and then `stripe report --format html`",
        );
    }
    if request.judges {
        return refuse("needs a program, and the check alone is none: name it, as in ./prog --check CMD");
    }
    let is_piped = !request.invocation.stdin.is_empty() && options.world.stdin.is_none();
    if is_piped && is_written(&PartName::Stdin).is_none() {
        return refuse("reads the standard input again: give it with --stdin FILE, or name an --output");
    }
    Ok(())
}

impl WrittenParts<'_> {
    /// The file of the part of this name.
    fn of<'n>(&self, names: impl Iterator<Item = &'n PartName>, name: &PartName) -> Option<&Path> {
        let number = names.into_iter().position(|known| known == name)?;
        self.files.iter().find(|(part, _)| *part == number).map(|(_, file)| *file)
    }
}

/// Looks for the critical slice, and returns the exit of the command: that of this search, if the simplification has
/// ended well; that of the simplification, if the program cannot be traced.
pub(super) fn go_on(
    options: &SimplifyOptions,
    (request, simplification): (&SimplifyRequest, &Simplification),
    written: &WrittenParts<'_>,
    color: ColorChoice,
    exit: Exit,
) -> Result<Exit, Failure> {
    let no_slice = |reason: &str| {
        tell(&format!("stripe: no critical slice: {reason}"));
        Ok(exit)
    };
    if let Some(reason) = untraceable(&request.invocation.program)? {
        return no_slice(&reason);
    }
    let words = match (Line { options, request, simplification, written }).words() {
        Ok(words) => words,
        Err(reason) => return no_slice(&reason),
    };
    let is_text = options.result.format == SimplifyFormat::Text;
    critical_slice(words, is_text, (color, exit), |delivery, output, style| delivery.deliver(output, style))
}

/// The reason why statements of a program cannot be traced, if they cannot.
pub(super) fn untraceable(program: &Path) -> Result<Option<String>, Failure> {
    let scope = Scope::new::<&str>(&[]).map_err(Failure::of(Exit::Failed))?;
    let loaded = Program::load(program, &[], &scope, Granularity::Statement);
    Ok(loaded.err().map(|error| load_failure(error).message))
}

/// Looks for the critical slice by the words of a `stripe run` line, which stands above it in a text. Returns the exit of
/// the command: that of this search, if the one before has ended well.
pub(super) fn critical_slice(
    words: Vec<OsString>,
    is_text: bool,
    (color, exit): (ColorChoice, Exit),
    deliver: impl FnOnce(Delivery<'_>, &OutputOptions, Style) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    let name = OsString::from("stripe");
    let Command::Run(run) = CommandLine::try_parse_from(std::iter::once(&name).chain(&words))?.command else {
        unreachable!("the words say run");
    };
    if is_text {
        super::print(format!("\n$ {}\n\n", shell::stripe(words.iter().cloned())).as_bytes())?;
    }
    let of_slice = run::search(run, color, words, deliver)?;
    Ok(if exit == Exit::Done { of_slice } else { exit })
}

/// The command line that looks for the critical slice with what is left.
struct Line<'l> {
    options: &'l SimplifyOptions,
    request: &'l SimplifyRequest,
    simplification: &'l Simplification,
    written: &'l WrittenParts<'l>,
}

impl Line<'_> {
    /// The words of the line; or the reason why there is none.
    fn words(&self) -> Result<Vec<OsString>, String> {
        let arguments = self.arguments()?;
        let mut words: Vec<OsString> = vec!["run".into()];
        words.extend(arguments.first().cloned());
        words.extend(self.world());
        words.extend(self.failure());
        words.extend(self.search());
        if arguments.len() > 1 {
            words.push("--".into());
            words.extend(arguments.into_iter().skip(1));
        }
        Ok(words)
    }

    /// The program and its arguments; where one of them names a file, the file with what is left of it.
    fn arguments(&self) -> Result<Vec<OsString>, String> {
        let (mut invocation, _) = self.simplification.found.after.apply(&self.request.invocation);
        for (before, after, _) in self.simplification.found.parts() {
            let PartName::File(name) = &before.name else { continue };
            if before.content.as_deref() == after.content.as_deref() {
                continue;
            }
            let file = self
                .written
                .of(self.simplification.found.before.parts.iter().map(|part| &part.name), &before.name);
            let directory = &invocation.directory;
            let is_named = |word: &OsString| directory.join(word).canonicalize().ok() == before.path;
            let named = invocation.arguments.iter().skip(1).position(is_named);
            match (file, named) {
                (Some(file), Some(place)) => invocation.arguments[place + 1] = self.seen_by_program(file),
                _ => {
                    return Err(format!(
                        "{}: no argument of the program names this file, so that it would read all of it again; put \
                         what is left in its place, and call `stripe run`",
                        name.display()
                    ));
                }
            }
        }
        Ok(invocation.arguments)
    }

    /// The name of a file for the program, which may work in another folder.
    fn seen_by_program(&self, file: &Path) -> OsString {
        match self.options.world.cwd {
            Some(_) => std::path::absolute(file).unwrap_or_else(|_| file.to_owned()).into(),
            None => file.into(),
        }
    }

    fn world(&self) -> Vec<OsString> {
        let (world, mut words) = (&self.options.world, Vec::new());
        let names = || self.simplification.found.before.parts.iter().map(|part| &part.name);
        let stdin = self.written.of(names(), &PartName::Stdin).or(world.stdin.as_deref());
        words.extend(stdin.into_iter().flat_map(|file| option("--stdin", file)));
        let is_changed = |(before, after): (&InputPart, &InputPart)| {
            matches!(before.name, PartName::Variable(_))
                && before.content.as_deref() != after.content.as_deref()
        };
        let parts =
            || self.simplification.found.before.parts.iter().zip(&self.simplification.found.after.parts);
        let (invocation, _) = self.simplification.found.after.apply(&self.request.invocation);
        // All of the environment, because there is no option that removes a variable.
        let (environment, clears) = match parts().any(is_changed) {
            true => (&invocation.environment, true),
            false => (&world.env, world.clear_env),
        };
        let flags = [(clears, "--clear-env"), (world.keep_env && !clears, "--keep-env")];
        words.extend(option_words::given(&flags));
        words.extend(option_words::environment(environment));
        words.extend(world.cwd.iter().flat_map(|folder| option("--cwd", folder)));
        words.extend(option_words::world(world));
        words
    }

    /// The options of the failure: as the user states it, or else as it was taken to be.
    fn failure(&self) -> Vec<OsString> {
        let failure = &self.options.failure;
        let outcome = &failure.outcome;
        let mut words = option_words::outcome(outcome);
        let signal = outcome.expect_signal.map(signal_name);
        if failure.expect_timeout {
            words.push("--expect-timeout".into());
        }
        let crash = || match &self.simplification.last.termination {
            Termination::Crashed(crash) => Some(signal_name(crash.signal)),
            _ => None,
        };
        let signal = signal.or_else(|| failure.expect_crash.and_then(|_| crash()));
        words.extend(signal.iter().flat_map(|signal| option("--expect-signal", signal)));
        match &self.request.criterion {
            Some(_) => words,
            None => self.seen(),
        }
    }

    /// The options of what was taken for the failure, if the user has not stated it.
    fn seen(&self) -> Vec<OsString> {
        if let Termination::Crashed(crash) = &self.simplification.first.termination {
            return option("--expect-signal", signal_name(crash.signal));
        }
        let Ok(criterion) = of_run(&self.simplification.first) else { return Vec::new() };
        let status = criterion.exit.iter().flat_map(|status| option("--expect-exit", status.to_string()));
        // Numbers do not count, and each stands there as a 0.
        let message = criterion.message.map(|message| regex::escape(&message).replace('0', "[0-9a-fA-Fx]+"));
        let message = message.iter().flat_map(|message| option("--expect-stderr-match", message));
        status.chain(message).collect()
    }

    fn search(&self) -> Vec<OsString> {
        let result = &self.options.result;
        let mut words = option_words::limits(&self.options.limits);
        words.extend(option_words::given(&[(result.quiet, "--quiet"), (result.verbose, "--verbose")]));
        if result.format == SimplifyFormat::Json {
            words.extend(option("--format", "json"));
        }
        words
    }
}
