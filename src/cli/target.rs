//! Make a program and its invocation of what the user typed.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tracer::Conditions;
use tracer::invocation::{Answers, Constancy, Input, Invocation, Stdout};
use tracer::poison::Poison;
use tracer::program::{Granularity, Program, Sanitizer, Scope};

use super::bounds::bounds;
use super::choices::GranularityChoice;
use super::exit::{Exit, Failure};
use super::interpreters::{self, is_interpreter};
use super::interrupt::Interrupt;
use super::options::{OracleOptions, TargetOptions};
use super::permissions::permissions;
use super::progress::tell;
use super::reading;
use super::secrets;
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
    /// Variables of the environment that it is not given.
    pub(super) withheld: Vec<String>,
}

impl Target {
    /// Loads the program and gathers what it will see. From then on `interrupt` listens.
    pub(super) fn new(options: &TargetOptions, interrupt: &Interrupt) -> Result<Target, Failure> {
        let scope = Scope::new(&options.scope).map_err(Failure::of(Exit::Usage))?;
        let path = executable(&options.program)?;
        let conditions = Conditions {
            poison: Poison::Off,
            untouched: Default::default(),
            limits: bounds(options, &Criterion::default()),
            stop: interrupt.flag(),
        };
        let granularity = match options.granularity {
            GranularityChoice::Statement => Granularity::Statement,
            GranularityChoice::Line => Granularity::Line,
        };
        // Refuses what cannot be traced before the standard input is read, which may take for ever.
        let mut program = Program::load(&path, &[], &scope, granularity).map_err(load_failure)?;
        let (mut invocation, withheld) = invocation(options, path.clone())?;
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
        Ok(Target { program, invocation, granularity, command, conditions, withheld })
    }

    /// Tells what the program is not given.
    pub(super) fn mention_withheld(&self) {
        if !self.withheld.is_empty() {
            let names = self.withheld.join(", ");
            tell(&format!("stripe: not given to the program: {names}; --keep-env gives and keeps them"));
        }
    }
}

/// What of the program would look for leaks at its end.
fn leak_checker(program: &Program) -> Option<Sanitizer> {
    let sanitizers = &program.executable().sanitizers;
    sanitizers.iter().copied().find(|sanitizer| sanitizer.looks_for_leaks())
}

/// What is not looked for in the program's runs, as a warning.
pub(super) fn unseen_leaks(program: &Program) -> Option<String> {
    let name = leak_checker(program)?.name();
    Some(format!(
        "the program is compiled with {name}, whose search for leaks does not work in a traced program: it is switched \
         off (detect_leaks=0), so that leaks are not found"
    ))
}

/// The absolute path of the executable that the user means: a file, or else, for a name without a slash, what a
/// shell would start.
pub(super) fn executable(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().or_else(|error| in_search_path(path).ok_or(error)).map_err(|error| {
        Failure::new(Exit::Usage, format!("{}: {error}; name an executable, such as ./prog", path.display()))
    })
}

/// What PATH leads to.
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

/// A program that is not there or not executable is a matter of usage; one that cannot be traced is
/// not.
pub(super) fn load_failure(error: tracer::program::LoadError) -> Failure {
    use tracer::program::LoadError::{
        DebugFileMissing, Directory, NoFile, NoLineTable, NotExecutable, NothingInScope, TooLong, Unreadable,
    };
    let exit = match &error {
        // Where its own statements can be seen, an interpreter is a program like any other.
        NoLineTable(path) | NothingInScope(path) | DebugFileMissing { path, .. } if is_interpreter(path) => {
            return Failure::new(Exit::Failed, interpreters::explanation(path));
        }
        Directory(_) | NoFile(_) | NotExecutable(_) | TooLong(_) | Unreadable { .. } => Exit::Usage,
        _ => Exit::Failed,
    };
    Failure::new(exit, error)
}

/// How the program is started, and the variables that it is not given.
fn invocation(options: &TargetOptions, program: PathBuf) -> Result<(Invocation, Vec<String>), Failure> {
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
        arguments: std::iter::once(options.program.clone().into_os_string())
            .chain(options.arguments.iter().cloned())
            .collect(),
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

/// The criterion that the user asks for.
pub(super) fn criterion(options: &OracleOptions, interrupt: &Interrupt) -> Result<Criterion, Failure> {
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
        only_lines: options.only_lines.clone(),
        reference: text("--reference", &options.reference)?,
        check: options.check.clone().map(|command| Check::new(command).until(interrupt.flag())),
        part: None,
        endless: options.expect_timeout.then(String::new),
    })
}
