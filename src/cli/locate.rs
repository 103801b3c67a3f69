//! `stripe locate`: where does one change of the failing run make its output right?

use std::path::{Path, PathBuf};

use study::manifest::{StudyTest, read_tests};
use tracer::Untouched;
use tracer::invocation::Input;
use tracer::poison::Poison;

use super::bounds::bounds;
use super::choices::ColorChoice;
use super::exit::{Exit, Failure};
use super::locate_options::{LocateFormat, LocateOptions};
use super::progress::ProgressPrinter;
use super::reading;
use super::shell;
use super::status::{Answers, SharedStatus, askers};
use super::target::Loaded;
use super::terminal;
use crate::baseline::Ending;
use crate::locate::{Correct, Spacing};
use crate::oracle::{Check, Criterion};
use crate::report::words::count;
use crate::report::{csv, gdb, github, html, located, quickfix, sarif};
use crate::session::interrupt::Interrupt;
use crate::session::locate::{LocateRequest, LocateTest, Located};
use crate::subject::{Recorded, Target};

/// Locates the fault, and prints the ranking.
pub(super) fn locate(options: LocateOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let interrupt = Interrupt::default();
    let mut request = request(&options, &interrupt)?;
    let shared_status = SharedStatus::new("recording the run, and trying changes");
    let answers = Answers::begin(shared_status.clone(), askers(options.verbosity()))?;
    let printer =
        ProgressPrinter::new(options.verbosity(), terminal::style(color), &interrupt, &shared_status);
    if options.format == LocateFormat::Gdb {
        let Target { program, invocation, .. } = &request.target;
        gdb::repairs::check(program, invocation).map_err(Failure::of(Exit::Failed))?;
    }
    let found = crate::session::locate::locate(&mut request, &interrupt, &printer)?;
    drop(answers);
    let recorded = Recorded { program: &request.target.program, trace: &found.baseline.recording.trace };
    let text = match options.format {
        LocateFormat::Text => located::text(recorded, &found, options.full, terminal::style(color)),
        LocateFormat::Json => located::json(recorded, &found),
        LocateFormat::Html => page(recorded, &found, options.full),
        LocateFormat::Csv => csv::ranking(recorded, &found),
        LocateFormat::Sarif => sarif::ranking(recorded, &found, options.full),
        LocateFormat::Quickfix => quickfix::ranking(recorded, &found, options.full),
        LocateFormat::Github => github::ranking(recorded, &found, options.full),
        LocateFormat::Gdb => script(recorded, &request.target, &found)?,
    };
    super::print(text.as_bytes())?;
    Ok(Exit::of(found.status, interrupt.signal()))
}

fn page(recorded: Recorded<'_>, found: &Located, is_full: bool) -> String {
    let path = &recorded.program.executable().path;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let command_line = shell::stripe(std::env::args_os().skip(1));
    html::located::page(recorded, found, (&name, &command_line), is_full)
}

fn script(recorded: Recorded<'_>, target: &Target, found: &Located) -> Result<String, Failure> {
    let start = gdb::Start {
        invocation: &target.invocation,
        poison: Poison::Off,
        untouched: &Untouched::default(),
        limits: found.baseline.limits(),
    };
    gdb::repairs::script(recorded, found, start).map_err(Failure::of(Exit::Failed))
}

fn request(options: &LocateOptions, interrupt: &Interrupt) -> Result<LocateRequest, Failure> {
    let spacing = if options.ignore_space { Spacing::Ignored } else { Spacing::Exact };
    let correct = match (&options.reference, &options.check) {
        (Some(file), _) => Some(Correct::Output(reading::file("--reference", file)?, spacing)),
        (None, Some(command)) => Some(Correct::Check(Check::new(command.clone()).until(interrupt.flag()))),
        (None, None) => None,
    };
    let tests = options.tests.as_deref().map_or(Ok(Vec::new()), tests)?;
    let Loaded { mut target, withheld } = Loaded::new(&options.target, interrupt)?;
    let endless = options.expect_timeout.then(String::new);
    target.conditions.limits = bounds(&options.target, &Criterion { endless, ..Criterion::default() });
    if !options.quiet {
        withheld.mention();
    }
    Ok(LocateRequest {
        target,
        correct,
        tests,
        spacing,
        ending: if options.expect_timeout { Ending::Never } else { Ending::Itself },
        max_tests: options.max_tests,
        max_time: options.max_time,
        jobs: options.jobs,
        timeout: options.target.world.timeout,
    })
}

/// The further tests, with the contents of their files.
fn tests(path: &Path) -> Result<Vec<LocateTest>, Failure> {
    let (tests, mistakes) = read_tests(path);
    if let Some(first) = mistakes.first() {
        let others = match mistakes.len() - 1 {
            0 => String::new(),
            more => format!("; and {} like it", count(more as u64, "mistake")),
        };
        return Err(Failure::new(Exit::Usage, format!("--tests {first}{others}")));
    }
    if tests.is_empty() {
        let why = format!("--tests {}: there is no test in it: give each a [[test]]", path.display());
        return Err(Failure::new(Exit::Usage, why));
    }
    tests.into_iter().map(test).collect()
}

fn test(test: StudyTest) -> Result<LocateTest, Failure> {
    let file = |file: &Option<PathBuf>| file.as_ref().map(|file| reading::file("--tests", file)).transpose();
    Ok(LocateTest {
        stdin: file(&test.input)?.map_or_else(Input::default, Input::new),
        reference: file(&test.reference)?,
        name: test.name,
        arguments: test.arguments,
        passes: test.passes,
    })
}
