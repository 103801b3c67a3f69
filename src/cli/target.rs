//! Make a program and its invocation of what the user typed.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use tracer::invocation::{Answers, Constancy, Invocation, Stdout};
use tracer::poison::Poison;
use tracer::program::{Granularity, Program, Scope};
use tracer::{Bytes, Conditions};

use super::bounds::bounds;
use super::choices::GranularityChoice;
use super::exit::{Exit, Failure};
use super::interrupt::Interrupt;
use super::options::{OracleOptions, TargetOptions};
use super::permissions::permissions;
use crate::oracle::{Check, Criterion};

/// What the subcommands work on.
pub(super) struct Target {
    pub(super) program: Program,
    pub(super) invocation: Invocation,
    pub(super) granularity: Granularity,
    /// The command in words, as the user gave it.
    pub(super) command: Vec<String>,
    /// How it is recorded.
    pub(super) conditions: Conditions,
}

impl Target {
    /// Loads the program and gathers what it will see. From then on `interrupt` listens.
    pub(super) fn new(options: &TargetOptions, interrupt: &Interrupt) -> Result<Target, Failure> {
        let scope = Scope::new(&options.scope).map_err(Failure::of(Exit::Usage))?;
        let path = executable(&options.program)?;
        let conditions = Conditions {
            poison: Poison::Off,
            limits: bounds(options, &Criterion::default()),
            stop: interrupt.flag(),
        };
        let granularity = match options.granularity {
            GranularityChoice::Statement => Granularity::Statement,
            GranularityChoice::Line => Granularity::Line,
        };
        // Refuses what cannot be traced before the standard input is read, which may take for ever.
        let mut program = Program::load(&path, &[], &scope, granularity).map_err(load_failure)?;
        let invocation = invocation(options, path.clone())?;
        interrupt.listen()?;
        if scope.names_libraries() {
            let mut libraries = tracer::survey(&invocation, &conditions)?;
            libraries.retain(|library| scope.includes_library(library));
            program = Program::load(&path, &libraries, &scope, granularity).map_err(load_failure)?;
        }
        let words = std::iter::once(options.program.as_os_str())
            .chain(options.arguments.iter().map(|a| a.as_os_str()));
        let command = words.map(|word| word.to_string_lossy().into_owned()).collect();
        Ok(Target { program, invocation, granularity, command, conditions })
    }
}

/// The absolute path of the executable that the user means.
pub(super) fn executable(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| {
        Failure::new(Exit::Usage, format!("{}: {error}; name an executable, such as ./prog", path.display()))
    })
}

/// A program that is not there or not executable is a matter of usage; one that cannot be traced is
/// not.
pub(super) fn load_failure(error: tracer::program::LoadError) -> Failure {
    use tracer::program::LoadError::{Directory, NotExecutable, Unreadable};
    let exit = match error {
        Directory(_) | NotExecutable(_) | Unreadable { .. } => Exit::Usage,
        _ => Exit::Failed,
    };
    Failure::new(exit, error)
}

fn invocation(options: &TargetOptions, program: PathBuf) -> Result<Invocation, Failure> {
    let mut environment = if options.clear_env { Vec::new() } else { std::env::vars_os().collect() };
    for (name, value) in &options.env {
        environment.retain(|(known, _)| known != name);
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
    Ok(Invocation {
        program,
        arguments: std::iter::once(options.program.clone().into_os_string())
            .chain(options.arguments.iter().cloned())
            .collect(),
        environment,
        directory,
        stdin: standard_input(options.stdin.as_deref())?,
        stdout: if options.pty { Stdout::Terminal } else { Stdout::File },
        permissions: permissions(options)?,
        constancy: Constancy { time: answers(options.real_time), chance: answers(options.real_random) },
    })
}

fn answers(is_real: bool) -> Answers {
    if is_real { Answers::Real } else { Answers::Constant }
}

fn standard_input(file: Option<&Path>) -> Result<Vec<u8>, Failure> {
    match file {
        Some(file) => Ok(read(file)?.to_vec()),
        None if std::io::stdin().is_terminal() => Ok(Vec::new()),
        None => {
            let mut bytes = Vec::new();
            // A closed standard input is an empty one.
            let _ = std::io::stdin().read_to_end(&mut bytes);
            Ok(bytes)
        }
    }
}

fn read(file: &Path) -> Result<Bytes, Failure> {
    File::open(file).and_then(Bytes::read).map_err(|error| {
        Failure::new(Exit::Usage, format!("{}: {error}; name a file that can be read", file.display()))
    })
}

/// The criterion that the user asks for.
pub(super) fn criterion(options: &OracleOptions) -> Result<Criterion, Failure> {
    let text = |file: &Option<PathBuf>| file.as_deref().map(read).transpose();
    Ok(Criterion {
        output: text(&options.expect_output)?,
        stderr: text(&options.expect_stderr)?,
        exit: options.expect_exit.map(i32::from),
        signal: options.expect_signal,
        matches: options.expect_match.clone(),
        rejects: options.reject_match.clone(),
        only_lines: options.only_lines.clone(),
        reference: text(&options.reference)?,
        check: options.check.clone().map(Check::new),
        part: None,
        endless: options.expect_timeout.then(String::new),
    })
}
