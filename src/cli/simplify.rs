//! `stripe simplify`: leave out of what a failing program is given all that the failure does not need.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use dd::Algorithm;
use regex::bytes::Regex;
use tracer::invocation::{Input, Invocation, SHELF, SandboxMode};
use tracer::program::{Granularity, Program, Scope};

use super::changes_output::check_files;
use super::choices::ColorChoice;
use super::exit::{Exit, Failure};
use super::files::{self, Overwriting, Readers};
use super::progress::ProgressPrinter;
use super::reading;
use super::reduction_method;
use super::shell;
use super::simplify_options::{
    CrashChoice, InputResultOptions, SimplifyEmission, SimplifyFormat, SimplifyOptions,
};
use super::status::{Answers, SharedStatus, askers};
use super::target::{Withheld, executable, invocation, load_failure, outcome};
use super::terminal::{self, tell};
use super::then_run::{self, WrittenParts};
use crate::circumstances::input::{Given, InputPart, PartName, arguments, variables};
use crate::oracle::{Criterion, WantedCrash};
use crate::report::html::simplified::{self as page, InputTitle};
use crate::report::{Style, simplified};
use crate::session::driver::Strategy;
use crate::session::interrupt::Interrupt;
use crate::session::simplify_request::{OutcomeKeeping, SimplifyRequest};
use crate::simplified::Simplified;
use crate::syntax::Language;

const TRIVIAL: &str = "the failure shows even if nothing is given: ask for more, for example with --expect-match or \
                       --expect-stderr-match";

const TRIVIAL_OF_GRAMMAR: &str = "the failure shows even with the shortest text that the grammar derives: ask for more, \
                                  for example with --expect-match or --expect-stderr-match";

/// Simplifies the input of a failing program, and writes what is left.
pub(super) fn simplify(options: SimplifyOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let interrupt = Interrupt::default();
    let request = request(&options, &interrupt)?;
    let targets = targets(&options, &request.given)?;
    let kept = WrittenParts { files: targets.iter().map(|target| (target.part, &*target.file)).collect() };
    if options.result.then_run {
        then_run::check(&options, &request, &kept)?;
    }
    check_files(options.result.emit.iter().map(|one| &*one.file), options.result.force)?;
    interrupt.listen()?;
    let verbosity = options.result.verbosity();
    let shared_status = SharedStatus::new("running the program as it is");
    let answers = Answers::begin(shared_status.clone(), askers(verbosity))?;
    let printer = ProgressPrinter::new(verbosity, terminal::style(color), &interrupt, &shared_status);
    let simplification = match options.prevent {
        true => crate::session::prevent::prevent(&request, &interrupt, &printer)?,
        false => crate::session::simplify::simplify(&request, &interrupt, &printer)?,
    };
    drop(answers);
    let found = &simplification.found;
    let written = write(found, &targets, options.result.force);
    let command_line = shell::stripe(request.line.iter().cloned());
    let title = title(&request.command, &command_line);
    let text = rendered(found, options.result.format, &title, terminal::style(color));
    super::print(text.as_bytes())?;
    emit(found, &options.result, &title)?;
    for file in written? {
        tell(&format!("written: {}", file.display()));
    }
    if found.is_trivial {
        let message = if found.is_derived { TRIVIAL_OF_GRAMMAR } else { TRIVIAL };
        return Err(Failure::new(Exit::Trivial, message));
    }
    match Exit::of(found.status, interrupt.signal()) {
        exit @ (Exit::Done | Exit::Budget) if options.result.then_run => {
            then_run::go_on(&options, (&request, &simplification), &kept, color, exit)
        }
        exit => Ok(exit),
    }
}

/// Writes the result to the files of --emit.
fn emit(found: &Simplified, options: &InputResultOptions, title: &InputTitle<'_>) -> Result<(), Failure> {
    for SimplifyEmission { kind, file } in &options.emit {
        let text = rendered(found, *kind, title, Style::default());
        let written =
            files::write(file, text.as_bytes(), Overwriting::if_asked(options.force), Readers::Anybody);
        written.map_err(|error| cannot_write(file, &error))?;
        tell(&format!("written: {}", file.display()));
    }
    Ok(())
}

fn cannot_write(file: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("{}: {error}; make room, or give another name", file.display()))
}

/// The title of a page about this command.
pub(super) fn title<'t>(command: &'t [String], command_line: &'t str) -> InputTitle<'t> {
    let program = command.first().map_or("", String::as_str);
    InputTitle { program: program.rsplit('/').next().unwrap_or(program), command_line }
}

/// The result in this format.
pub(super) fn rendered(
    found: &Simplified,
    format: SimplifyFormat,
    title: &InputTitle<'_>,
    style: Style,
) -> String {
    match format {
        SimplifyFormat::Text => simplified::text(found, style),
        SimplifyFormat::Json => simplified::json(found),
        SimplifyFormat::Html => page::page(found, title),
    }
}

fn request(options: &SimplifyOptions, interrupt: &Interrupt) -> Result<SimplifyRequest, Failure> {
    let (path, words) = command(options)?;
    let criterion = criterion(options, interrupt)?;
    let method = reduction_method::method(options)?;
    let shown = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (mut invocation, withheld) = invocation(&options.world, path.clone(), words)?;
    if !options.result.quiet {
        Withheld(withheld).mention();
    }
    let program = Program::untraced(&path);
    if program.looks_for_leaks() {
        invocation.look_for_no_leaks();
    }
    let traced = options.failure.keep_path.then(|| traced(options, &path)).transpose()?;
    let other = options.differs_from().map(|command| other(command, &invocation)).transpose()?;
    let mut given = given(options, &invocation)?;
    reduction_method::guess_languages(&mut given);
    let mut remarks = reduction_method::derived(&method, &mut given, options)?;
    remarks.extend(reduction_method::missing_grammars(&given, options));
    Ok(SimplifyRequest {
        program,
        invocation,
        other,
        line: std::env::args_os().skip(1).collect(),
        command: shown,
        judges: judges(options),
        given,
        criterion,
        method,
        remarks,
        path: traced,
        strategy: Strategy { algorithm: Algorithm::Sweep, max_tests: options.limits.max_tests },
        max_time: options.limits.max_time,
        jobs: options.limits.jobs,
        keeping: if options.resume { OutcomeKeeping::Resumed } else { OutcomeKeeping::Anew },
        timeout: options.world.timeout,
    })
}

/// The program with its statements, for --keep-path.
fn traced(options: &SimplifyOptions, path: &Path) -> Result<Program, Failure> {
    if judges(options) {
        let message =
            "--keep-path needs a program, and the check alone is none: name it, as in ./prog --check CMD";
        return Err(Failure::new(Exit::Usage, message));
    }
    let scope = Scope::new::<&str>(&[]).map_err(Failure::of(Exit::Failed))?;
    Program::load(path, &[], &scope, Granularity::Statement).map_err(load_failure)
}

/// The shell that carries out a command.
fn shell() -> Result<PathBuf, Failure> {
    executable(Path::new("/bin/sh"))
}

/// The program, and all words of its command line. With nothing but --check, the command that judges is the
/// program.
fn command(options: &SimplifyOptions) -> Result<(PathBuf, Vec<OsString>), Failure> {
    let mut words = options.program.iter().map(|program| program.clone().into_os_string());
    let mut words: Vec<OsString> = words.by_ref().chain(options.arguments.iter().cloned()).collect();
    match (words.first(), &options.failure.outcome.check) {
        (Some(program), _) => Ok((executable(Path::new(program))?, words)),
        (None, Some(check)) => {
            words.extend(["sh", "-c", check].map(OsString::from));
            Ok((shell()?, words))
        }
        (None, None) => Err(Failure::new(
            Exit::Usage,
            "no program is given: name it, `stripe simplify ./prog --stdin FILE`, or put its command line after --",
        )),
    }
}

/// True if the program that is run is the command that judges.
fn judges(options: &SimplifyOptions) -> bool {
    options.program.is_none() && options.arguments.is_empty()
}

/// The same input and the same arguments for another command.
fn other(command: &str, invocation: &Invocation) -> Result<Invocation, Failure> {
    let words = ["sh", "-c", &format!("{command} \"$@\""), "sh"].map(OsString::from);
    let arguments = words.into_iter().chain(invocation.arguments.iter().skip(1).cloned()).collect();
    Ok(Invocation { program: shell()?, arguments, ..invocation.clone() })
}

/// The criterion that the options state; `None`: what the unchanged run shows.
fn criterion(options: &SimplifyOptions, interrupt: &Interrupt) -> Result<Option<Criterion>, Failure> {
    let failure = &options.failure;
    let mut criterion = outcome(&failure.outcome, interrupt)?;
    if judges(options) {
        (criterion.check, criterion.exit) = (None, Some(0));
    }
    criterion.crash = failure.expect_crash.map(|choice| match choice {
        CrashChoice::Here => WantedCrash::Same,
        CrashChoice::Any => WantedCrash::Any,
    });
    criterion.endless = failure.expect_timeout.then(|| "it still runs".to_owned());
    let is_asked = !criterion.is_empty();
    Ok((is_asked || failure.differs_from.is_some()).then_some(criterion))
}

/// The input that is simplified: what the user names, or else what is piped into stripe.
fn given(options: &SimplifyOptions, invocation: &Invocation) -> Result<Given, Failure> {
    let mut parts = Vec::new();
    for path in &options.file {
        parts.extend(file_parts(path)?);
    }
    if !options.file.is_empty() && invocation.permissions.sandbox_mode == SandboxMode::None {
        let message =
            "--file needs the sandbox, in which each run finds its own file: leave --no-sandbox out";
        return Err(Failure::new(Exit::Usage, message));
    }
    if let Some(wanted) = &options.simplified_arguments {
        let all = arguments(invocation);
        parts.extend(all.filter(|part| is_wanted(wanted, part.content.as_deref().unwrap_or_default())));
    }
    if let Some(wanted) = &options.simplified_environment {
        let is_wanted = |part: &InputPart| match &part.name {
            PartName::Variable(name) => is_wanted(wanted, name.as_encoded_bytes()),
            _ => false,
        };
        parts.extend(variables(invocation).filter(is_wanted));
    }
    let is_piped = parts.is_empty() && !invocation.stdin.is_empty();
    if options.world.stdin.is_some() || is_piped {
        let language = options.world.stdin.as_deref().and_then(Language::of_file);
        let part = InputPart::new(PartName::Stdin, invocation.stdin.clone(), false);
        parts.insert(0, InputPart { language, ..part });
    }
    if parts.iter().all(InputPart::is_empty) {
        let message = "there is nothing to simplify: name an input with --stdin or --file that is not empty, or ask \
                       for --arguments or --environment";
        return Err(Failure::new(Exit::Usage, message));
    }
    Ok(Given { parts })
}

/// True if an argument or a variable is one of those that the user means; without an expression all are.
fn is_wanted(expression: &Option<Regex>, text: &[u8]) -> bool {
    expression.as_ref().is_none_or(|expression| expression.is_match(text))
}

/// The parts of a path: a file, or all files that are in a folder, each of which may be left out.
fn file_parts(path: &Path) -> Result<Vec<InputPart>, Failure> {
    let refusal = |reason: &dyn std::fmt::Display| {
        Failure::new(
            Exit::Usage,
            format!("--file {}: {reason}; name a file that can be read", path.display()),
        )
    };
    let found = fs::metadata(path).map_err(|error| refusal(&error))?;
    if found.is_file() {
        return Ok(vec![file_part(path, false)?]);
    }
    if !found.is_dir() {
        return Err(refusal(&"is neither a file nor a folder"));
    }
    let mut files = Vec::new();
    collect(path, &mut files).map_err(|error| refusal(&error))?;
    files.sort();
    files.iter().map(|file| file_part(file, true)).collect()
}

fn file_part(path: &Path, is_optional: bool) -> Result<InputPart, Failure> {
    let content = Input::new(reading::file("--file", path)?);
    let place = Some(path.canonicalize()?);
    let language = Language::of_file(path);
    Ok(InputPart {
        path: place,
        language,
        ..InputPart::new(PartName::File(path.into()), content, is_optional)
    })
}

/// Collects all regular files in a folder, however deep; links lead out of it.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        match entry.file_type()? {
            // The folder of stripe's archive is no input of the program.
            kind if kind.is_dir() && entry.file_name() == SHELF => {}
            kind if kind.is_dir() => collect(&entry.path(), files)?,
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

/// The output file for what is left of a part.
struct ResultFile {
    part: usize,
    file: PathBuf,
}

/// The output files, checked before any work is done.
fn targets(options: &SimplifyOptions, given: &Given) -> Result<Vec<ResultFile>, Failure> {
    let source = |part: &InputPart| match &part.name {
        PartName::File(path) => Some(path.clone()),
        PartName::Stdin => options.world.stdin.clone(),
        PartName::Argument(_) | PartName::Variable(_) => None,
    };
    let numbered = given.parts.iter().enumerate();
    let sources: Vec<(usize, Option<PathBuf>)> = numbered
        .filter(|(_, part)| matches!(part.name, PartName::File(_) | PartName::Stdin))
        .map(|(number, part)| (number, source(part)))
        .collect();
    let file = |(part, source): &(usize, Option<PathBuf>)| -> Option<ResultFile> {
        let file = match (&options.result.output, &sources[..], source) {
            (Some(output), [_], _) if options.file.iter().all(|path| !path.is_dir()) => output.clone(),
            (Some(output), _, Some(source)) => output.join(relative(source)),
            (Some(output), _, None) => output.join("standard-input"),
            (None, _, Some(source)) => free_beside(source),
            (None, _, None) => return None,
        };
        Some(ResultFile { part: *part, file })
    };
    let targets: Vec<ResultFile> = sources.iter().filter_map(file).collect();
    for ResultFile { file, .. } in &targets {
        let refusal = |reason: &str| {
            Failure::new(Exit::Usage, format!("{}: {reason}: give --output another name", file.display()))
        };
        let is_original = |part: &InputPart| part.path.is_some() && part.path == file.canonicalize().ok();
        if given.parts.iter().any(is_original) {
            return Err(refusal("is what is simplified, and stays as it is"));
        }
        if file.exists() && !options.result.force {
            return Err(refusal("exists, and --force is not given"));
        }
    }
    Ok(targets)
}

/// The path below a folder for results.
fn relative(source: &Path) -> PathBuf {
    use std::path::Component::Normal;
    source.components().filter(|component| matches!(component, Normal(_))).collect()
}

/// A name that is free: `in.min.txt`, `in.min-2.txt`.
fn free_beside(source: &Path) -> PathBuf {
    let stem = source.file_stem().unwrap_or(OsStr::new("input"));
    let name = |number: u32| {
        let mut name = stem.to_owned();
        name.push(if number == 1 { ".min".to_owned() } else { format!(".min-{number}") });
        if let Some(extension) = source.extension() {
            name.push(".");
            name.push(extension);
        }
        source.with_file_name(name)
    };
    (1..).map(name).find(|path| !path.exists()).unwrap_or_else(|| name(1))
}

fn write(found: &Simplified, targets: &[ResultFile], force: bool) -> Result<Vec<PathBuf>, Failure> {
    let mut written = Vec::new();
    for ResultFile { part, file } in targets {
        let Some(content) = &found.after.parts[*part].content else { continue };
        let failed = |error: std::io::Error| {
            Failure::new(
                Exit::Failed,
                format!("{}: {error}; make room, or give --output another name", file.display()),
            )
        };
        if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        files::write(file, content, Overwriting::if_asked(force), Readers::Anybody).map_err(failed)?;
        written.push(file.clone());
    }
    Ok(written)
}

impl SimplifyOptions {
    fn differs_from(&self) -> Option<&str> {
        self.failure.differs_from.as_deref()
    }
}
