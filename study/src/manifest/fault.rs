//! The faults of a manifest, made from its keys.

use std::path::{Path, PathBuf};

use super::keys::{FAULT_KEYS, KeyReader};
use super::mistake::remedy;
use super::record::{GivenValue, Record};
use super::suite::{self, StudyTest};
use crate::source_line::SourceLine;
use crate::technique::SingleTechnique;

/// The word in a path that stands for the folder in which a fault is built.
pub const BUILD_FOLDER: &str = "{build}";

/// A program with a known fault.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudyFault {
    /// The name, which is a file name as well.
    pub name: String,
    /// The group of faults to which it belongs, such as a subject program.
    pub group: String,
    /// The line of the manifest on which it is.
    pub line: usize,
    /// The directory in which it is built and run, absolute.
    pub directory: PathBuf,
    /// The shell command that builds it.
    pub build: Option<String>,
    /// The program; may begin with [`BUILD_FOLDER`].
    pub program: String,
    /// The failing run; `None` if a test of the suite is to be taken.
    pub run: Option<StudyTest>,
    /// Variables of the environment, which is empty otherwise.
    pub environment: Vec<(String, String)>,
    /// Options of `stripe run` that say what the failure is, with their values.
    pub criterion: Vec<String>,
    /// The shell command that says whether a run is right.
    pub correct: Option<String>,
    /// Whether the failure is that it does not end.
    pub is_endless: bool,
    /// The faulty lines.
    pub faulty: Vec<SourceLine>,
    /// Whether the fault is an omission: code is missing there.
    pub is_omission: bool,
    /// Further tests.
    pub tests: Vec<StudyTest>,
    /// The folder or the file that holds them; `None` if the manifest itself does.
    pub tests_path: Option<PathBuf>,
    /// Patterns of the scope: what is traced.
    pub scope: Vec<String>,
    /// Files that its runs read besides the standard input; absolute.
    pub files: Vec<PathBuf>,
    /// Techniques that are not for this fault.
    pub without: Vec<SingleTechnique>,
    /// The longest time of a run.
    pub timeout: Option<String>,
    /// The largest number of tests for each search.
    pub max_tests: Option<u64>,
    /// The longest time for each search.
    pub max_time: Option<String>,
}

/// The keys that become options of `stripe run` of the same name.
const CRITERION_KEYS: [&str; 6] =
    ["check", "expect_match", "reject_match", "only_lines", "expect_exit", "expect_signal"];

/// The fault of a record, with its mistakes noted. `None` if it cannot be used.
pub(crate) fn fault(record: &Record, folder: &Path, taker: &mut KeyReader<'_>) -> Option<StudyFault> {
    let before = taker.mistakes.len();
    taker.only(record, &FAULT_KEYS);
    let name = name(record, taker);
    let group = taker.text(record, "group").map_or_else(String::new, |(_, group)| group);
    let fill =
        |text: String| text.replace("{name}", name.as_deref().unwrap_or_default()).replace("{group}", &group);
    let directory = match taker.text(record, "directory") {
        None => folder.to_owned(),
        Some((line, text)) => directory(folder, &fill(text), line, taker),
    };
    let program = taker.text(record, "program").map(|(_, program)| fill(program));
    if program.is_none() && record.get("program").is_none() {
        taker.complain(
            record.line,
            "the fault has no `program`: name the executable, as it is after the build",
        );
    }
    let mut fault = StudyFault {
        group: group.clone(),
        line: record.line,
        build: taker.text(record, "build").map(|(_, build)| fill(build)),
        program: program.unwrap_or_default(),
        criterion: criterion(record, taker),
        correct: taker.text(record, "correct").map(|(_, correct)| correct),
        is_endless: taker.flag(record, "expect_timeout").unwrap_or(false),
        is_omission: taker.flag(record, "missing").unwrap_or(false),
        scope: taker.texts(record, "scope").map_or_else(Vec::new, |(_, scope)| scope),
        timeout: taker.time(record, "timeout"),
        max_tests: taker.number(record, "max_tests"),
        max_time: taker.time(record, "max_time"),
        environment: environment(record, taker),
        faulty: faulty(record, taker),
        without: without(record, taker),
        directory,
        ..StudyFault::default()
    };
    fault.files = suite::files(record, &fault.directory, &fill, taker);
    fault.run = suite::failing_run(record, &fault.directory, &fill, taker);
    fault.tests = suite::tests(record, &fault.directory, &fill, taker);
    fault.tests_path = suite::path(record, &fault.directory, &fill);
    require_failure(&fault, record, taker);
    fault.name = name?;
    (taker.mistakes.len() == before).then_some(fault)
}

fn name(record: &Record, taker: &mut KeyReader<'_>) -> Option<String> {
    let Some((line, name)) = taker.text(record, "name") else {
        if record.get("name").is_none() {
            taker.complain(record.line, "the fault has no `name`: give it one of its own");
        }
        return None;
    };
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_allowed) {
        let what = format!("the name `{name}` is no file name: use letters, digits, - and _");
        taker.complain(line, what);
        return None;
    }
    Some(name)
}

fn directory(folder: &Path, text: &str, line: usize, taker: &mut KeyReader<'_>) -> PathBuf {
    let directory = folder.join(text);
    if !directory.is_dir() {
        let remedy = remedy(text);
        taker.complain(line, format!("the directory {text} is not there: {remedy}"));
    }
    directory
}

fn criterion(record: &Record, taker: &mut KeyReader<'_>) -> Vec<String> {
    let mut options = Vec::new();
    for key in CRITERION_KEYS {
        let option = format!("--{}", key.replace('_', "-"));
        let values = match key {
            "expect_exit" => taker.number(record, key).map(|number| vec![number.to_string()]),
            "expect_match" | "reject_match" => taker.texts(record, key).map(|(_, texts)| texts),
            _ => taker.text(record, key).map(|(_, text)| vec![text]),
        };
        options.extend(values.into_iter().flatten().flat_map(|value| [option.clone(), value]));
    }
    options
}

fn environment(record: &Record, taker: &mut KeyReader<'_>) -> Vec<(String, String)> {
    let Some(given) = record.get("environment") else { return Vec::new() };
    let pairs: Option<Vec<(String, String)>> = match &given.value {
        GivenValue::Table(table) => {
            let mut pairs = table.entries.iter().map(|(name, value)| Some((name.clone(), value.text()?)));
            pairs.by_ref().collect()
        }
        _ => given.texts().and_then(|texts| {
            texts.iter().map(|text| text.split_once('=').map(|(n, v)| (n.to_owned(), v.to_owned()))).collect()
        }),
    };
    pairs.unwrap_or_else(|| {
        taker.complain(given.line, "`environment` has to be a table of texts, or a list of NAME=VALUE");
        Vec::new()
    })
}

fn without(record: &Record, taker: &mut KeyReader<'_>) -> Vec<SingleTechnique> {
    let Some((line, texts)) = taker.texts(record, "without") else { return Vec::new() };
    let mut techniques = Vec::new();
    for text in texts {
        match SingleTechnique::parse(text.trim()) {
            Ok(technique) => techniques.push(technique),
            Err(error) => taker.complain(line, error),
        }
    }
    techniques
}

fn faulty(record: &Record, taker: &mut KeyReader<'_>) -> Vec<SourceLine> {
    let Some((line, texts)) = taker.texts(record, "faulty") else {
        if record.get("faulty").is_none() {
            taker
                .complain(record.line, "the fault has no `faulty` lines: name them, such as [\"file.c:12\"]");
        }
        return Vec::new();
    };
    let mut lines = Vec::new();
    for text in texts {
        match SourceLine::parse(&text) {
            Ok(one) if lines.contains(&one) => {
                taker.complain(line, format!("the faulty line {text} is named twice: remove one"));
            }
            Ok(one) => lines.push(one),
            Err(error) => taker.complain(line, error),
        }
    }
    if lines.is_empty() {
        taker.complain(line, "the fault has no faulty line: name them, such as [\"file.c:12\"]");
    }
    lines
}

/// Notes a mistake if nothing tells the failing run from others.
fn require_failure(fault: &StudyFault, record: &Record, taker: &mut KeyReader<'_>) {
    let has_reference = fault.run.as_ref().is_some_and(|run| run.reference.is_some());
    let is_told = has_reference || !fault.criterion.is_empty() || fault.is_endless || fault.correct.is_some();
    let has_suite = record.get("tests").is_some();
    if !is_told && !has_suite {
        taker.complain(
            record.line,
            "nothing says what the failure is: give the correct output with `reference`, or `tests` with theirs, or a \
             criterion such as `expect_match` or `expect_signal`",
        );
    }
}
