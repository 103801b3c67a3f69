//! `stripe study cover`: run the tests of a fault and record what they execute. A study calls it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::Parser;
use study::conversion::stretches;
use study::documents::{LibraryDocument, SPECTRA, SpectraDocument, StatementDocument, TestDocument};
use study::folder::to_json;
use study::manifest::{StudyFault, StudyManifest, StudyTest};
use study::technique::Work;
use tracer::Processors;
use tracer::invocation::Input;
use tracer::program::{Program, Statement};
use tracer::termination::Termination;

use super::super::bounds::bounds;
use super::super::exit::{Exit, Failure};
use super::super::options::{Command, CommandLine};
use super::super::reading;
use super::super::target::Loaded;
use super::super::target_options::TargetOptions;
use super::options::StudyCoverOptions;
use super::words::BuiltFault;
use crate::baseline::Ending;
use crate::oracle::Criterion;
use crate::session::coverage::{Covered, cover, coverable};
use crate::session::interrupt::Interrupt;
use crate::subject::Target;

/// Prints the spectra as a document.
pub(super) fn spectra(options: &StudyCoverOptions) -> Result<Exit, Failure> {
    let fault = StudyManifest::read_fault(&options.manifest, &options.fault)?;
    let fault = &fault.ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            format!("{}: there is no fault {}", options.manifest.display(), options.fault),
        )
    })?;
    let built = BuiltFault { fault, manifest: &options.manifest, folder: &options.built };
    let interrupt = Interrupt::default();
    let target = target(built)?;
    let Loaded { target: mut loaded, .. } = Loaded::new(&target, &interrupt)?;
    let endless = fault.is_endless.then(String::new);
    loaded.conditions.limits = bounds(&target, &Criterion { endless, ..Criterion::default() });
    Processors::available().bind(0);
    let document = document(fault, &mut loaded, &interrupt)?;
    super::super::print(to_json(&document).as_bytes())
}

/// The options of a run of the program, as if they had been typed.
fn target(built: BuiltFault<'_>) -> Result<TargetOptions, Failure> {
    let mut words = vec!["stripe".to_owned(), "trace".to_owned()];
    words.extend(built.target(&StudyTest::default()));
    words.extend(built.timeout(Work::SPECTRA));
    let line =
        CommandLine::try_parse_from(words).map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
    match line.command {
        Command::Trace(options) => Ok(options.target),
        _ => unreachable!("the words are those of `stripe trace`"),
    }
}

/// The tests to run: the failing run, unless it is one of the tests, and the tests.
fn tests(fault: &StudyFault) -> Vec<&StudyTest> {
    let own = fault.run.iter().filter(|run| !fault.tests.iter().any(|test| test.is_same_run(run)));
    own.chain(&fault.tests).collect()
}

fn document(
    fault: &StudyFault,
    target: &mut Target,
    interrupt: &Interrupt,
) -> Result<SpectraDocument, Failure> {
    let statements = coverable(&target.program);
    let numbers: BTreeMap<Statement, usize> =
        statements.iter().enumerate().map(|(number, (statement, _))| (*statement, number)).collect();
    let ending = if fault.is_endless { Ending::Never } else { Ending::Itself };
    let (mut documents, mut left_out, mut objects) = (Vec::new(), Vec::new(), BTreeSet::new());
    for test in tests(fault) {
        start_with(target, test)?;
        match cover(target, ending, interrupt) {
            Ok(covered) => {
                documents.push(test_document(test, &covered, &numbers)?);
                objects.extend(covered.run.objects);
            }
            Err(_) if interrupt.is_asked() => return Err(Failure::new(Exit::Failed, "interrupted")),
            Err(error) if fault.run.as_ref().is_some_and(|run| run.is_same_run(test)) => {
                return Err(error.into());
            }
            Err(error) => left_out.push(format!("the test {} is left out: {error}", test.name)),
        }
    }
    let failing_run = failing_run(fault, &documents)?;
    objects.remove(&target.program.executable().path);
    let libraries = objects.iter().map(|path| library(path)).collect();
    let statement = |(statement, function): (Statement, String)| StatementDocument {
        file: target.program.file(statement.file).shown.clone(),
        line: statement.line,
        column: statement.column,
        function,
    };
    Ok(SpectraDocument {
        schema: SPECTRA.into(),
        fault: fault.name.clone(),
        build_id: target.program.executable().build_id.clone(),
        compilers: compilers(&target.program),
        libraries,
        failing_run,
        tests: documents,
        left_out,
        statements: statements.into_iter().map(statement).collect(),
    })
}

/// The compilers of the traced code with their options, each once.
fn compilers(program: &Program) -> Vec<String> {
    let compilers: BTreeSet<&String> = program.images().iter().flat_map(|image| &image.producers).collect();
    compilers.into_iter().cloned().collect()
}

/// A shared library, told from other versions of it by its build id.
fn library(path: &Path) -> LibraryDocument {
    let read = Program::untraced(path);
    LibraryDocument {
        path: path.to_string_lossy().into_owned(),
        build_id: read.images().first().and_then(|image| image.build_id.clone()),
    }
}

/// Sets the invocation of the next run to this test's.
fn start_with(target: &mut Target, test: &StudyTest) -> Result<(), Failure> {
    let invocation = &mut target.invocation;
    invocation.arguments.truncate(1);
    invocation.arguments.extend(test.arguments.iter().map(Into::into));
    invocation.stdin = match &test.input {
        Some(input) => Input::new(reading::file("the input", input)?),
        None => Input::default(),
    };
    Ok(())
}

fn test_document(
    test: &StudyTest,
    covered: &Covered,
    numbers: &BTreeMap<Statement, usize>,
) -> Result<TestDocument, Failure> {
    let run = &covered.run;
    let has_ended = matches!(run.termination, Termination::Exited(_));
    let fails = match &test.reference {
        Some(file) => !has_ended || run.stdout[..] != reading::file("the reference", file)?[..],
        None => test.passes == Some(false),
    };
    let path =
        |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| path.to_string_lossy().into_owned());
    let mut executed: Vec<usize> =
        covered.statements.iter().filter_map(|statement| numbers.get(statement).copied()).collect();
    executed.sort_unstable();
    Ok(TestDocument {
        name: test.name.clone(),
        fails,
        ended: covered.ended.clone(),
        arguments: test.arguments.clone(),
        input: path(&test.input),
        reference: path(&test.reference),
        events: covered.events,
        executed: stretches(&executed),
    })
}

/// The run under study: the one that the manifest names, or else the first test that fails.
fn failing_run(fault: &StudyFault, documents: &[TestDocument]) -> Result<usize, Failure> {
    let passes = |why: &str| Failure::new(Exit::NotReproduced, why);
    let Some(run) = &fault.run else {
        let first = documents.iter().position(|test| test.fails);
        return first.ok_or_else(|| passes("no test fails: give one that shows the fault"));
    };
    let same = fault.tests.iter().find(|test| test.is_same_run(run)).unwrap_or(run);
    let number = documents.iter().position(|test| test.name == same.name);
    match number {
        Some(number) if documents[number].fails => Ok(number),
        _ => Err(passes(
            "the failing run passes: its output is that of `reference`; give the input that makes the program fail",
        )),
    }
}
