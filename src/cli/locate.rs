//! `stripe locate`: where does one change of the failing run make its output right?

use std::path::{Path, PathBuf};

use study::manifest::{StudyTest, read_tests};
use tracer::invocation::Input;

use super::bounds::bounds;
use super::choices::ColorChoice;
use super::exit::{Exit, Failure};
use super::limit_options::LimitOptions;
use super::locate_options::{LocateFormat, LocateOptions};
use super::located_rendering::{LocatedRendering, check};
use super::options::OutputOptions;
use super::progress::ProgressPrinter;
use super::reading;
use super::shell;
use super::status::{Answers, SharedStatus, askers};
use super::target::Loaded;
use super::terminal;
use crate::baseline::Ending;
use crate::circumstances::Status;
use crate::locate::{Correct, LocateTest, Spacing, ValueChoice};
use crate::oracle::{Check, Criterion};
use crate::report::gdb;
use crate::report::words::count;
use crate::session::interrupt::Interrupt;
use crate::session::listener::Listener;
use crate::session::locate_resume::KeptLocated;
use crate::session::located::{LocateEffort, LocateRequest, Located};
use crate::subject::Target;

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
    let command_line = shell::stripe(request.line.iter().cloned());
    let rendering = LocatedRendering {
        target: &request.target,
        found: &found,
        command_line: &command_line,
        is_full: options.full,
    };
    let text = rendering.render(options.format.into(), terminal::style(color))?;
    super::print(text.as_bytes())?;
    let exit = Exit::of(found.status, interrupt.signal());
    mention(&found, exit, &printer);
    Ok(exit)
}

/// Says how to go on with work that was ended early.
fn mention(found: &Located, exit: Exit, printer: &ProgressPrinter) {
    if let (Some(name), Exit::Budget | Exit::Interrupted(_)) = (&found.kept_as, exit) {
        printer.tell(&format!("stripe: kept as run {name}; `stripe reduce {name}` goes on"));
    }
}

/// Tells what a kept run of `stripe locate` has found, without running the program.
pub(super) fn report(kept: KeptLocated, output: &OutputOptions, color: ColorChoice) -> Result<Exit, Failure> {
    check(output, &kept.target)?;
    let command_line = shell::stripe(kept.run.line.iter().cloned());
    let name = kept.folder.name();
    let (target, mut found) = kept.report()?;
    if found.status != Status::Minimal {
        found.warnings.push(format!("`stripe reduce {name}` goes on"));
    }
    let (target, found, command_line) = (&target, &found, &command_line[..]);
    let rendering = LocatedRendering { target, found, command_line, is_full: output.full };
    rendering.deliver(output, terminal::style(color))?;
    Ok(Exit::Done)
}

/// Goes on with a kept run of `stripe locate`.
pub(super) fn go_on(
    kept: KeptLocated,
    (limits, output): (&LimitOptions, &OutputOptions),
    color: ColorChoice,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    check(output, &kept.target)?;
    kept.require_same_surroundings()?;
    interrupt.listen()?;
    let search = kept.run.search;
    let effort = LocateEffort {
        max_tests: limits.max_tests.or(search.max_tests),
        max_time: limits.max_time.or(search.max_time),
        jobs: limits.jobs.or(search.jobs),
    };
    let shared_status = SharedStatus::new("trying changes");
    let answers = Answers::begin(shared_status.clone(), askers(output.verbosity()))?;
    let printer = ProgressPrinter::new(output.verbosity(), terminal::style(color), interrupt, &shared_status);
    let command_line = shell::stripe(kept.run.line.iter().cloned());
    let (target, found) = kept.go_on(effort, interrupt, &printer)?;
    drop(answers);
    let (target, found, command_line) = (&target, &found, &command_line[..]);
    let rendering = LocatedRendering { target, found, command_line, is_full: output.full };
    rendering.deliver(output, terminal::style(color))?;
    let exit = Exit::of(found.status, interrupt.signal());
    mention(found, exit, &printer);
    Ok(exit)
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
        values: if options.values { ValueChoice::Tried } else { ValueChoice::None },
        ending: if options.expect_timeout { Ending::Never } else { Ending::Itself },
        effort: LocateEffort { max_tests: options.max_tests, max_time: options.max_time, jobs: options.jobs },
        timeout: options.target.world.timeout,
        keep: options.keep.place(),
        line: std::env::args_os().skip(1).collect(),
        scope: options.target.scope.clone(),
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
