//! Convert a kept run into a document and back.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use regex::bytes::Regex;
use tracer::denial::Actions;
use tracer::invocation::{Constancy, Input, Invocation, Network, Permissions, SandboxMode, Stdout};
use tracer::lockstep::Deviation;
use tracer::program::{FunctionId, LeaderId};
use tracer::run::{AskedValue, Run, Usage};
use tracer::surroundings::{Object, Surroundings};
use tracer::termination::Termination;
use tracer::trace::EventId;
use tracer::trace_file::{Identity, ImageIdentity};
use tracer::{Bytes, Untouched};

use super::contents::FileDocument;
use super::crashes::CrashDocument;
use super::documents::{
    CriterionDocument, EndDocument, ImageDocument, InnerDocument, ObjectDocument, PartDocument,
    ProgramDocument, RecordedDocument, RunDocument, SearchDocument, StartDocument, SurroundingsDocument,
    ValueDocument,
};
use super::kept::{KeptRun, KeptSearch};
use super::texts::{os_string, os_strings, path, text, texts};
use super::{endless, located};
use crate::oracle::{Check, Criterion, Part, expression};
use crate::slice::RunMethod;

/// The files of a run besides its documents, its trace and its journal, with their contents.
pub(super) fn contents(run: &KeptRun) -> Vec<(&'static str, &[u8])> {
    let criterion = &run.criterion;
    let expected = [
        ("expected-output", &criterion.output),
        ("expected-errors", &criterion.stderr),
        ("reference", &criterion.reference),
    ];
    let always: [(&str, &[u8]); 3] =
        [("input", &run.invocation.stdin), ("output", &run.run.stdout), ("errors", &run.run.stderr)];
    let expected = expected.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)));
    always.into_iter().chain(expected).collect()
}

pub(super) fn run_document(run: &KeptRun, files: Vec<FileDocument>) -> RunDocument {
    RunDocument {
        stripe: run.version.clone(),
        started: run.started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        command_line: texts(&run.line),
        command: run.command.clone(),
        program: program_document(run),
        start: start_document(run),
        criterion: criterion_document(run),
        search: search_document(&run.search),
        locate: run.locate.as_ref().map(located::locate_document),
        surroundings: surroundings_document(&run.surroundings),
        recorded: recorded_document(run),
        files,
    }
}

/// Restores the run that a document describes. `file` returns the contents of the other files.
pub(super) fn kept_run(
    document: RunDocument,
    file: &mut dyn FnMut(&str) -> Option<Bytes>,
) -> Result<KeptRun, String> {
    let started = started(&document);
    let RunDocument { program, start, criterion, search, recorded, .. } = document;
    let mut needed = |name: &str| file(name).ok_or_else(|| format!("the file {name} is not listed"));
    let (stdin, stdout, stderr) = (needed("input")?, needed("output")?, needed("errors")?);
    let surroundings = surroundings(document.surroundings)?;
    let objects = surroundings.objects.iter().map(|object| object.path.clone()).collect();
    Ok(KeptRun {
        started,
        version: document.stripe,
        line: os_strings(document.command_line),
        command: document.command,
        timeout: start.timeout_ms.map(Duration::from_millis),
        identity: identity(&program)?,
        surroundings,
        invocation: Invocation {
            program: path(program.path),
            arguments: os_strings(start.arguments),
            environment: start.environment.into_iter().map(|(n, v)| (os_string(n), os_string(v))).collect(),
            directory: path(start.directory),
            stdin: Input::new(stdin),
            stdout: if start.terminal { Stdout::Terminal } else { Stdout::File },
            permissions: Permissions {
                sandbox_mode: if start.sandbox { SandboxMode::Sandbox } else { SandboxMode::None },
                network: if start.network { Network::Allowed } else { Network::Denied },
                writable: start.writable.into_iter().map(path).collect(),
            },
            constancy: Constancy { time: start.time, chance: start.chance },
        },
        scope: program.scope,
        libraries: program.libraries.into_iter().map(path).collect(),
        granularity: program.granularity,
        described: criterion.described.clone(),
        criteria: criterion.several.iter().map(kept_part).collect::<Result<_, _>>()?,
        wrong: criterion.several.iter().filter(|part| part.wrong).map(|part| part.name.clone()).collect(),
        criterion: kept_criterion(criterion, file)?,
        search: KeptSearch {
            control: search.control,
            algorithm: search.algorithm,
            max_tests: search.max_tests,
            max_time: search.max_time_ms.map(Duration::from_millis),
            jobs: search.jobs,
            preference: search.preference,
        },
        locate: document.locate.map(located::kept_locate),
        method: RunMethod { engine: recorded.engine.clone(), containment: recorded.containment.clone() },
        events: recorded.events,
        endless: match &recorded.end {
            EndDocument::Endless(document) => Some(endless::endless(document)),
            EndDocument::Exited(_)
            | EndDocument::CrashedAt(_)
            | EndDocument::Crashed(_)
            | EndDocument::Reached { .. }
            | EndDocument::Decided { .. } => None,
        },
        poisoned: recorded.poisoned,
        untouched: Untouched {
            frames: recorded.untouched_frames.iter().copied().map(FunctionId).collect(),
            heap: recorded.untouched_heap,
        },
        warnings: recorded.warnings.clone(),
        run: Run { objects, ..kept_recording(recorded, stdout, stderr)? },
    })
}

fn program_document(run: &KeptRun) -> ProgramDocument {
    let image = |image: &ImageIdentity| ImageDocument {
        build_id: image.build_id.clone(),
        size: image.size,
        hash: format!("{:x}", image.hash),
    };
    ProgramDocument {
        path: text(run.invocation.program.as_os_str()),
        scope: run.scope.clone(),
        libraries: run.libraries.iter().map(|library| text(library.as_os_str())).collect(),
        granularity: run.granularity,
        images: run.identity.images.iter().map(image).collect(),
        leaders: run.identity.leaders,
        layout: format!("{:x}", run.identity.layout),
    }
}

fn surroundings_document(surroundings: &Surroundings) -> SurroundingsDocument {
    let object = |object: &Object| ObjectDocument {
        path: text(object.path.as_os_str()),
        size: object.size,
        hash: format!("{:x}", object.hash),
    };
    let objects = surroundings.objects.iter().map(object).collect();
    SurroundingsDocument { processor: surroundings.processor.clone(), objects }
}

fn surroundings(document: SurroundingsDocument) -> Result<Surroundings, String> {
    let object = |object: ObjectDocument| {
        Ok(Object { path: path(object.path), size: object.size, hash: hash(&object.hash)? })
    };
    let objects = document.objects.into_iter().map(object).collect::<Result<_, String>>()?;
    Ok(Surroundings { processor: document.processor, objects })
}

fn hash(text: &str) -> Result<u128, String> {
    u128::from_str_radix(text, 16).map_err(|_| "a hash is no number".to_owned())
}

fn identity(program: &ProgramDocument) -> Result<Identity, String> {
    let image = |image: &ImageDocument| {
        let hash = hash(&image.hash)?;
        Ok(ImageIdentity { build_id: image.build_id.clone(), size: image.size, hash })
    };
    Ok(Identity {
        images: program.images.iter().map(image).collect::<Result<_, String>>()?,
        leaders: program.leaders,
        layout: u64::try_from(hash(&program.layout)?).map_err(|_| "a layout is too large")?,
    })
}

fn start_document(run: &KeptRun) -> StartDocument {
    let start = &run.invocation;
    StartDocument {
        arguments: texts(&start.arguments),
        environment: start.environment.iter().map(|(name, value)| (text(name), text(value))).collect(),
        directory: text(start.directory.as_os_str()),
        terminal: start.stdout == Stdout::Terminal,
        time: start.constancy.time,
        chance: start.constancy.chance,
        timeout_ms: run.timeout.map(milliseconds),
        sandbox: start.permissions.sandbox_mode == SandboxMode::Sandbox,
        network: start.permissions.network == Network::Allowed,
        writable: start.permissions.writable.iter().map(|path| text(path.as_os_str())).collect(),
    }
}

fn criterion_document(run: &KeptRun) -> CriterionDocument {
    let criterion = &run.criterion;
    let words = |all: &[Regex]| all.iter().map(|regex| regex.as_str().to_owned()).collect();
    CriterionDocument {
        described: run.described.clone(),
        exit: criterion.exit,
        signal: criterion.signal,
        matches: words(&criterion.matches),
        rejects: words(&criterion.rejects),
        stderr_matches: words(&criterion.stderr_matches),
        stderr_rejects: words(&criterion.stderr_rejects),
        only_lines: criterion.only_lines.as_ref().map(|regex| regex.as_str().to_owned()),
        check: criterion.check.as_ref().map(|check| check.command().to_owned()),
        endless: criterion.endless.clone(),
        inner: criterion.inner.as_ref().map(InnerDocument::new),
        several: run.criteria.iter().map(|(name, part)| part_document(run, name, part)).collect(),
    }
}

fn part_document(run: &KeptRun, name: &str, part: &Part) -> PartDocument {
    let (matching, line) = match part {
        Part::Matching(regex) => (Some(regex.as_str().to_owned()), None),
        Part::Line(number) => (None, Some(*number)),
    };
    PartDocument { name: name.to_owned(), matching, line, wrong: run.wrong.iter().any(|wrong| wrong == name) }
}

fn kept_part(document: &PartDocument) -> Result<(String, Part), String> {
    let part = match (&document.matching, document.line) {
        (Some(text), None) => Part::Matching(regex(text)?),
        (None, Some(number)) => Part::Line(number),
        _ => return Err("a criterion is neither an expression nor a line".into()),
    };
    Ok((document.name.clone(), part))
}

fn regex(text: &String) -> Result<Regex, String> {
    expression(text).map_err(|_| format!("`{text}` is no expression"))
}

fn kept_criterion(
    document: CriterionDocument,
    file: &mut dyn FnMut(&str) -> Option<Bytes>,
) -> Result<Criterion, String> {
    let all = |texts: &[String]| texts.iter().map(regex).collect::<Result<Vec<Regex>, String>>();
    Ok(Criterion {
        output: file("expected-output"),
        stderr: file("expected-errors"),
        exit: document.exit,
        signal: document.signal,
        matches: all(&document.matches)?,
        rejects: all(&document.rejects)?,
        stderr_matches: all(&document.stderr_matches)?,
        stderr_rejects: all(&document.stderr_rejects)?,
        message: None,
        crash: None,
        only_lines: document.only_lines.as_ref().map(regex).transpose()?,
        reference: file("reference"),
        check: document.check.map(Check::new),
        part: None,
        endless: document.endless,
        inner: document.inner.map(InnerDocument::criterion),
    })
}

fn search_document(search: &KeptSearch) -> SearchDocument {
    SearchDocument {
        control: search.control,
        algorithm: search.algorithm,
        max_tests: search.max_tests,
        max_time_ms: search.max_time.map(milliseconds),
        jobs: search.jobs,
        preference: search.preference,
    }
}

fn recorded_document(run: &KeptRun) -> RecordedDocument {
    let Run { termination, usage, arrivals, denied, .. } = &run.run;
    RecordedDocument {
        engine: run.method.engine.clone(),
        containment: run.method.containment.clone(),
        denied: denied.bits(),
        end: match (&run.endless, termination) {
            (Some(never), _) => EndDocument::Endless(endless::document(never)),
            (None, Termination::Crashed(crash)) => {
                EndDocument::CrashedAt(CrashDocument::new(crash, &run.run))
            }
            (None, Termination::Exited(status)) => EndDocument::Exited(*status),
            (None, Termination::Reached) => {
                let document = |AskedValue { told, whole }| ValueDocument { told, whole };
                EndDocument::Reached { value: run.run.value.clone().map(document) }
            }
            (None, &Termination::Left(Deviation::RanPastEnd { after, reached })) => {
                EndDocument::Decided { after: after.0, reached: reached.0 }
            }
            // A run that ended so is not recorded.
            (None, Termination::Left(_) | Termination::Cut(_) | Termination::Endless(_)) => {
                EndDocument::Exited(0)
            }
        },
        cpu_us: usage.cpu.as_micros() as u64,
        wall_us: usage.wall.as_micros() as u64,
        memory: usage.memory,
        longest_file: usage.longest_file,
        arrivals: *arrivals,
        events: run.events,
        poisoned: run.poisoned,
        untouched_frames: run.untouched.frames.iter().map(|function| function.0).collect(),
        untouched_heap: run.untouched.heap,
        warnings: run.warnings.clone(),
    }
}

fn kept_recording(document: RecordedDocument, stdout: Bytes, stderr: Bytes) -> Result<Run, String> {
    let usage = Usage {
        cpu: Duration::from_micros(document.cpu_us),
        wall: Duration::from_micros(document.wall_us),
        memory: document.memory,
        longest_file: document.longest_file,
        ..Usage::default()
    };
    let denied = Actions::from_bits(document.denied);
    let run = Run { usage, arrivals: document.arrivals, denied, ..Run::with_output(stdout, stderr) };
    match document.end {
        EndDocument::Exited(status) => Ok(Run { termination: Termination::Exited(status), ..run }),
        EndDocument::CrashedAt(crash) => Ok(crash.run(run)),
        EndDocument::Endless(document) => {
            let termination = Termination::Endless(endless::endless(&document).cut);
            Ok(Run { termination, ..run })
        }
        EndDocument::Reached { value } => {
            let value = value.map(|ValueDocument { told, whole }| AskedValue { told, whole });
            Ok(Run { termination: Termination::Reached, value, ..run })
        }
        EndDocument::Decided { after, reached } => {
            let went = Deviation::RanPastEnd { after: EventId(after), reached: LeaderId(reached) };
            Ok(Run { termination: Termination::Left(went), ..run })
        }
        EndDocument::Crashed(_) => Err("it does not tell which instruction crashed".into()),
    }
}

fn milliseconds(time: Duration) -> u64 {
    time.as_millis() as u64
}

/// The time at which the run of a document was begun.
pub(super) fn started(document: &RunDocument) -> SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_secs(document.started)).unwrap_or(UNIX_EPOCH)
}
