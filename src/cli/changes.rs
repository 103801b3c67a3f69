//! `stripe changes`: which of all that is different between two versions breaks the program?

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use dd::Algorithm;
use tracer::invocation::Invocation;

use super::changes_options::{ChangeUnitChoice, ChangesOptions, GroupChoice};
use super::changes_output::ChangesOutput;
use super::choices::ColorChoice;
use super::exit::{Exit, Failure};
use super::progress::ProgressPrinter;
use super::status::{Answers, SharedStatus, askers};
use super::target::{Withheld, executable, invocation, outcome};
use super::{changes_output, changes_then_run, shell, terminal};
use crate::circumstances::change::{ChangeGroup, Resolution, Separation, shell_command};
use crate::session::change_request::{ChangeGranularity, ChangesRequest, HistoryUse, Judgement};
use crate::session::driver::Strategy;
use crate::session::interrupt::Interrupt;
use crate::session::simplify_request::OutcomeKeeping;

/// The variable that keeps Python from writing compiled modules: it tells them apart by whole seconds.
const NO_BYTE_CODE: &str = "PYTHONDONTWRITEBYTECODE";

/// The variables by which a hook of git names the user's repository: builds and tests are in another folder.
const OF_REPOSITORY: [&str; 3] = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"];

/// Finds the changes that break a program, and prints them.
pub(super) fn changes(options: ChangesOptions, color: ColorChoice) -> Result<Exit, Failure> {
    search(options, color, std::env::args_os().skip(1).collect())
}

/// Finds those that this line asks for, which is without the name of this program.
pub(super) fn search(
    mut options: ChangesOptions,
    color: ColorChoice,
    line: Vec<OsString>,
) -> Result<Exit, Failure> {
    let interrupt = Interrupt::default();
    let request = request(&mut options, line, &interrupt)?;
    changes_output::check(&options.result)?;
    let command_line = shell::stripe(request.line.iter().cloned());
    interrupt.listen()?;
    let verbosity = options.result.verbosity();
    let shared_status = SharedStatus::new("building and testing the two versions");
    let answers = Answers::begin(shared_status.clone(), askers(verbosity))?;
    let printer = ProgressPrinter::new(verbosity, terminal::style(color), &interrupt, &shared_status);
    let found = crate::session::changes::changes(&request, &interrupt, &printer)?;
    drop(answers);
    let output = ChangesOutput { found: &found, command_line: &command_line };
    output.deliver(&options.result, terminal::style(color))?;
    match Exit::of(found.status, interrupt.signal()) {
        exit @ (Exit::Done | Exit::Budget) if options.result.then_run => {
            changes_then_run::go_on(&options, (&request, &found), &interrupt, color, exit)
        }
        exit => Ok(exit),
    }
}

fn request(
    options: &mut ChangesOptions,
    line: Vec<OsString>,
    interrupt: &Interrupt,
) -> Result<ChangesRequest, Failure> {
    let within = within(options.world.cwd.take())?;
    let shell = executable(Path::new("/bin/sh"))?;
    let (mut started, withheld) = invocation(&options.world, shell, Vec::new())?;
    if !options.result.quiet {
        Withheld(withheld).mention();
    }
    started.directory = within;
    started.environment.retain(|(name, _)| !OF_REPOSITORY.iter().any(|own| name == own));
    if !started.environment.iter().any(|(name, _)| name == NO_BYTE_CODE) {
        started.environment.push((NO_BYTE_CODE.into(), "1".into()));
    }
    let criterion = outcome(&options.failure.outcome, interrupt)?;
    let is_asked = !criterion.is_empty();
    if options.test.is_some() && is_asked {
        let message =
            "--expect-... and --check are about the program after --; with --test, the test itself judges";
        return Err(Failure::new(Exit::Usage, message));
    }
    let (test, judgement) = match &options.test {
        Some(command) => (shell_command(&started, command), Judgement::Command),
        None => {
            (program(&started, &options.command), Judgement::Program(Box::new(is_asked.then_some(criterion))))
        }
    };
    Ok(ChangesRequest {
        good: options.good.clone(),
        bad: options.bad.clone(),
        line,
        keep: options.keep.place(),
        keeping: if options.resume { OutcomeKeeping::Resumed } else { OutcomeKeeping::Anew },
        folder: std::env::current_dir()?,
        build: options.build.as_ref().map(|command| shell_command(&started, command)),
        test,
        judgement,
        granularity: granularity(options.by),
        history: if options.flat { HistoryUse::Ignored } else { HistoryUse::First },
        separation: Separation(options.context as usize),
        groups: groups(&options.without_groups),
        resolution: if options.without_resolution { Resolution::Off } else { Resolution::On },
        error_pattern: options.error_pattern.clone(),
        excluded: options.exclude.clone(),
        repeat: options.repeat,
        is_always_clean: options.clean,
        strategy: Strategy { algorithm: Algorithm::DdPlus, max_tests: options.limits.max_tests },
        max_time: options.limits.max_time,
        jobs: options.limits.jobs,
        timeout: options.world.timeout,
        build_timeout: options.build_timeout,
    })
}

/// The folder within a version in which commands are started.
fn within(folder: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let folder = folder.unwrap_or_default();
    match folder.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        true => Ok(folder),
        false => Err(Failure::new(
            Exit::Usage,
            format!(
                "--cwd {}: is not within a version; name a folder below its top, such as src",
                folder.display()
            ),
        )),
    }
}

/// The invocation of a program by the shell, which looks for it when it is started: a build may make it.
fn program(like: &Invocation, command: &[OsString]) -> Invocation {
    let words = ["sh", "-c", "exec \"$@\"", "sh"].map(OsString::from);
    let arguments = words.into_iter().chain(command.iter().cloned()).collect();
    Invocation { arguments, ..like.clone() }
}

fn granularity(choice: ChangeUnitChoice) -> ChangeGranularity {
    match choice {
        ChangeUnitChoice::Auto => ChangeGranularity::Auto,
        ChangeUnitChoice::Commits => ChangeGranularity::Commits,
        ChangeUnitChoice::Files => ChangeGranularity::Files,
        ChangeUnitChoice::Functions => ChangeGranularity::Functions,
        ChangeUnitChoice::Hunks => ChangeGranularity::Hunks,
        ChangeUnitChoice::Lines => ChangeGranularity::Lines,
    }
}

fn groups(without: &[GroupChoice]) -> Vec<ChangeGroup> {
    let is_left_out = |group: &ChangeGroup| {
        without.iter().any(|choice| match choice {
            GroupChoice::Directories => *group == ChangeGroup::Directories,
            GroupChoice::Files => *group == ChangeGroup::Files,
            GroupChoice::Functions => *group == ChangeGroup::Functions,
            GroupChoice::Identifiers => *group == ChangeGroup::Identifiers,
            GroupChoice::All => true,
        })
    };
    ChangeGroup::ALL.into_iter().filter(|group| !is_left_out(group)).collect()
}
