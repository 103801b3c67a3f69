//! Load the program, and build its invocation from the options.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tracer::Conditions;
use tracer::invocation::{Answers, Constancy, Input, Invocation, Stdout};
use tracer::poison::Poison;
use tracer::program::{Granularity, LoadError, Program, Scope};

use super::bounds::bounds;
use super::choices::GranularityChoice;
use super::exit::{Exit, Failure};
use super::interpreters::{self, is_interpreter};
use super::oracle_options::OracleOptions;
use super::outcome_options::OutcomeOptions;
use super::permissions::permissions;
use super::reading;
use super::secrets;
use super::target_options::TargetOptions;
use super::terminal::tell;
use super::world_options::WorldOptions;
use crate::oracle::{Check, Criterion};
use crate::session::SessionError;
use crate::session::interrupt::Interrupt;
use crate::subject::{Target, leak_checker};

/// The loaded program that the subcommands work on.
pub(super) struct Loaded {
    pub(super) target: Target,
    pub(super) withheld: Withheld,
}

/// The names of environment variables that a program is not given.
pub(super) struct Withheld(pub(super) Vec<String>);

impl Loaded {
    /// Loads the program and gathers its invocation. From then on `interrupt` listens.
    pub(super) fn new(options: &TargetOptions, interrupt: &Interrupt) -> Result<Loaded, Failure> {
        let scope = Scope::new(&options.scope).map_err(Failure::of(Exit::Usage))?;
        let path = executable(&options.program)?;
        let conditions = Conditions {
            poison: Poison::Off,
            untouched: Default::default(),
            limits: bounds(options, &Criterion::default()),
            stop: interrupt.flag(),
            asked: None,
        };
        let granularity = match options.granularity {
            GranularityChoice::Statement => Granularity::Statement,
            GranularityChoice::Line => Granularity::Line,
        };
        // Refuses what cannot be traced before the standard input is read, which may take for ever.
        let mut program = Program::load(&path, &[], &scope, granularity).map_err(load_failure)?;
        let arguments = std::iter::once(options.program.clone().into_os_string());
        let arguments = arguments.chain(options.arguments.iter().cloned()).collect();
        let (mut invocation, withheld) = invocation(&options.world, path.clone(), arguments)?;
        if leak_checker(&program).is_some() {
            invocation.look_for_no_leaks();
        }
        interrupt.listen()?;
        if scope.names_libraries() {
            let mut libraries = tracer::survey(&invocation, &conditions)?;
            libraries.retain(|library| scope.includes_library(library));
            program = Program::load(&path, &libraries, &scope, granularity).map_err(load_failure)?;
        }
        let words = std::iter::once(options.program.as_os_str())
            .chain(options.arguments.iter().map(|a| a.as_os_str()));
        let command = words.map(|word| word.to_string_lossy().into_owned()).collect();
        let target = Target { program, invocation, granularity, command, conditions };
        Ok(Loaded { target, withheld: Withheld(withheld) })
    }
}

impl Withheld {
    /// Prints their names.
    pub(super) fn mention(&self) {
        if !self.0.is_empty() {
            let names = self.0.join(", ");
            tell(&format!("stripe: not given to the program: {names}; --keep-env gives and keeps them"));
        }
    }
}

/// The absolute path of the executable that the user means: a file, or else, for a name without a slash, what a
/// shell would start.
pub(super) fn executable(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().or_else(|error| in_search_path(path).ok_or(error)).map_err(|error| {
        Failure::new(Exit::Usage, format!("{}: {error}; name an executable, such as ./prog", path.display()))
    })
}

/// The executable of this name in PATH.
fn in_search_path(name: &Path) -> Option<PathBuf> {
    if name.components().count() != 1 || name.as_os_str().as_encoded_bytes().contains(&b'/') {
        return None;
    }
    let folders = std::env::var_os("PATH")?;
    let found =
        std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|file| is_executable(file));
    found?.canonicalize().ok()
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// The failure to load a program. An interpreter, or a script, has its own message: its user wants to trace a script.
pub(super) fn load_failure(error: LoadError) -> Failure {
    use LoadError::{DebugFileMissing, NoLineTable, NothingInScope, Script};
    match &error {
        // An interpreter whose own statements can be seen is a program like any other.
        NoLineTable(path) | NothingInScope(path) | DebugFileMissing { path, .. } if is_interpreter(path) => {
            Failure::new(Exit::Failed, interpreters::explanation(path))
        }
        Script { path, .. } => {
            let reducible = format!("{error}. {}", interpreters::reducible(path));
            Failure { message: reducible, ..SessionError::from(error).into() }
        }
        _ => SessionError::from(error).into(),
    }
}

/// The invocation of the program, and the variables that it is not given.
pub(super) fn invocation(
    options: &WorldOptions,
    program: PathBuf,
    arguments: Vec<OsString>,
) -> Result<(Invocation, Vec<String>), Failure> {
    let mut environment = if options.clear_env { Vec::new() } else { std::env::vars_os().collect() };
    let mut withheld = if options.keep_env { Vec::new() } else { secrets::withhold(&mut environment) };
    for (name, value) in &options.env {
        environment.retain(|(known, _)| known != name);
        withheld.retain(|known| name != known.as_str());
        environment.push((name.clone(), value.clone()));
    }
    let directory = options.cwd.as_deref().unwrap_or(Path::new("."));
    let no_directory = |reason: String| {
        Failure::new(Exit::Usage, format!("{}: {reason}; name a directory for --cwd", directory.display()))
    };
    let directory = directory.canonicalize().map_err(|error| no_directory(error.to_string()))?;
    if !directory.is_dir() {
        return Err(no_directory("is not a directory".into()));
    }
    let invocation = Invocation {
        program,
        arguments,
        environment,
        directory,
        stdin: Input::new(match &options.stdin {
            Some(file) => reading::file("--stdin", file)?,
            None => reading::standard_input()?,
        }),
        stdout: if options.pty { Stdout::Terminal } else { Stdout::File },
        permissions: permissions(options)?,
        constancy: Constancy { time: answers(options.real_time), chance: answers(options.real_random) },
    };
    Ok((invocation, withheld))
}

fn answers(is_real: bool) -> Answers {
    if is_real { Answers::Real } else { Answers::Constant }
}

/// The criterion that the options state.
pub(super) fn criterion(options: &OracleOptions, interrupt: &Interrupt) -> Result<Criterion, Failure> {
    let reference =
        options.reference.as_deref().map(|file| reading::file("--reference", file)).transpose()?;
    Ok(Criterion {
        only_lines: options.only_lines.clone(),
        reference,
        endless: options.expect_timeout.then(String::new),
        ..outcome(&options.outcome, interrupt)?
    })
}

/// The part of the criterion that the outcome options state.
pub(super) fn outcome(options: &OutcomeOptions, interrupt: &Interrupt) -> Result<Criterion, Failure> {
    let text = |option: &str, file: &Option<PathBuf>| {
        file.as_deref().map(|file| reading::file(option, file)).transpose()
    };
    Ok(Criterion {
        output: text("--expect-output", &options.expect_output)?,
        stderr: text("--expect-stderr", &options.expect_stderr)?,
        exit: options.expect_exit.map(i32::from),
        signal: options.expect_signal,
        matches: options.expect_match.clone(),
        rejects: options.reject_match.clone(),
        stderr_matches: options.expect_stderr_match.clone(),
        stderr_rejects: options.reject_stderr_match.clone(),
        check: options.check.clone().map(|command| Check::new(command).until(interrupt.flag())),
        ..Criterion::default()
    })
}
