//! Go on from the changes that break a program to the critical slice of the failing version, with the `stripe run` line
//! that a user would type.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use dd::Configuration;
use tracer::termination::signal_name;

use super::changes_options::{ChangesFormat, ChangesOptions};
use super::choices::ColorChoice;
use super::exit::{Exit, Failure};
use super::option_words;
use super::shell::option;
use super::target::executable;
use super::terminal::tell;
use super::then_run::{critical_slice, untraceable};
use super::values::EmissionKind;
use crate::guilty::GuiltyChanges;
use crate::report::changed_lines::changed_lines;
use crate::session::built_version::{self, BuiltVersion};
use crate::session::change_request::ChangesRequest;
use crate::session::interrupt::Interrupt;

/// Builds the failing version in the folder of the search, and looks for its critical slice. Says how the command ends:
/// as that search, if the one for changes has ended well; as the latter, if the program cannot be traced.
pub(super) fn go_on(
    options: &ChangesOptions,
    (request, found): (&ChangesRequest, &GuiltyChanges),
    interrupt: &Interrupt,
    color: ColorChoice,
    exit: Exit,
) -> Result<Exit, Failure> {
    let no_slice = |reason: &str| {
        tell(&format!("stripe: no critical slice: {reason}"));
        Ok(exit)
    };
    let version = built_version::built(request, found, interrupt)?;
    if let Some(said) = &version.refused {
        return no_slice(&format!(
            "{}: the failing version does not build there: {said}",
            version.root.display()
        ));
    }
    let program = match options.command.first() {
        // Without the `.` of `./prog`.
        Some(word) if word.as_encoded_bytes().contains(&b'/') => {
            version.directory.join(word).components().collect()
        }
        Some(word) => executable(Path::new(word))?,
        None => return no_slice("there is no program: put its command line after -- instead of --test"),
    };
    if let Some(reason) = untraceable(&program)? {
        return no_slice(&reason);
    }
    let words = words(options, &version, program);
    let chosen = Configuration::from_iter(found.set.changes.len(), found.difference[1].iter().copied());
    let lines = found.set.brought_lines(&chosen);
    let is_text = options.result.format == ChangesFormat::Text;
    critical_slice(words, is_text, (color, exit), |delivery, output, style| {
        delivery.deliver(output, style)?;
        if output.format != EmissionKind::Text {
            return Ok(());
        }
        let recorded = delivery.subject.recorded();
        let slices = delivery.findings.answers.iter().map(|answered| &answered.answer.slice);
        let told = slices.map(|slice| changed_lines(recorded, slice, (&lines, &version.root), style));
        super::print(format!("\n{}", told.collect::<String>()).as_bytes()).map(drop)
    })
}

/// The command line that looks for the critical slice.
fn words(options: &ChangesOptions, version: &BuiltVersion, program: PathBuf) -> Vec<OsString> {
    let (world, outcome) = (&options.world, &options.failure.outcome);
    let mut words: Vec<OsString> = vec!["run".into(), program.into()];
    words.extend(world.stdin.iter().flat_map(|file| option("--stdin", file)));
    words.extend(option_words::given(&[(world.clear_env, "--clear-env"), (world.keep_env, "--keep-env")]));
    words.extend(option_words::environment(&world.env));
    words.extend(option("--cwd", &version.directory));
    words.extend(option_words::world(world));
    words.extend(option_words::outcome(outcome));
    let signal = outcome.expect_signal.map(signal_name);
    words.extend(signal.iter().flat_map(|signal| option("--expect-signal", signal)));
    words.extend(option_words::limits(&options.limits));
    let result = &options.result;
    words.extend(option_words::given(&[(result.quiet, "--quiet"), (result.verbose, "--verbose")]));
    if result.format == ChangesFormat::Json {
        words.extend(option("--format", "json"));
    }
    if options.command.len() > 1 {
        words.push("--".into());
        words.extend(options.command.iter().skip(1).cloned());
    }
    words
}
