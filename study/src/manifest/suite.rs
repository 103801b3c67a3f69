//! The tests of a fault: in the manifest, in a file of their own, or in a folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::formats;
use super::keys::{KeyReader, TEST_KEYS};
use super::mistake::{Mistake, remedy};
use super::record::{GivenValue, Record};

/// The name of the failing run that a fault names itself.
const FAILING_RUN: &str = "failing run";

/// A test: a run of a program, and what is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StudyTest {
    /// Its name.
    pub name: String,
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// The file of its standard input; `None`: empty.
    pub input: Option<PathBuf>,
    /// The file with the correct output.
    pub reference: Option<PathBuf>,
    /// Whether the manifest says that it passes.
    pub passes: Option<bool>,
}

impl StudyTest {
    /// Whether it runs the program in the same way as another test.
    pub fn is_same_run(&self, other: &StudyTest) -> bool {
        (&self.arguments, &self.input) == (&other.arguments, &other.input)
    }
}

/// The failing run that a fault names.
pub(crate) fn failing_run(
    record: &Record,
    directory: &Path,
    fill: &dyn Fn(String) -> String,
    taker: &mut KeyReader<'_>,
) -> Option<StudyTest> {
    let run = test(record, directory, fill, taker);
    let is_named = ["arguments", "input", "reference"].iter().any(|key| record.get(key).is_some());
    (is_named || record.get("tests").is_none()).then(|| StudyTest {
        name: FAILING_RUN.into(),
        passes: Some(false),
        ..run
    })
}

/// Reads the tests of a folder, or of a file in TOML, CSV or JSON Lines; and the mistakes in others.
pub fn read_tests(path: &Path) -> (Vec<StudyTest>, Vec<Mistake>) {
    let mut mistakes = Vec::new();
    let mut taker = KeyReader { file: path, mistakes: &mut mistakes };
    let text = path.to_string_lossy();
    let tests = of_path(Path::new("."), &text, 1, &|text| text, &mut taker);
    (unique(tests, 1, &mut taker), mistakes)
}

/// The files that the runs of a fault read besides the standard input.
pub(crate) fn files(
    record: &Record,
    directory: &Path,
    fill: &dyn Fn(String) -> String,
    taker: &mut KeyReader<'_>,
) -> Vec<PathBuf> {
    let Some((line, texts)) = taker.texts(record, "files") else { return Vec::new() };
    texts.into_iter().map(|text| there("files", line, &fill(text), directory, taker)).collect()
}

/// The path of a file that has to be there.
fn there(key: &str, line: usize, text: &str, directory: &Path, taker: &mut KeyReader<'_>) -> PathBuf {
    let path = directory.join(text);
    if !path.is_file() {
        taker.complain(line, format!("`{key}`: the file {text} is not there: {}", remedy(text)));
    }
    path
}

/// Makes a test of the keys that a fault and a test share.
fn test(
    record: &Record,
    directory: &Path,
    fill: &dyn Fn(String) -> String,
    taker: &mut KeyReader<'_>,
) -> StudyTest {
    let file = |key: &str, taker: &mut KeyReader<'_>| {
        let (line, text) = taker.text(record, key)?;
        Some(there(key, line, &fill(text), directory, taker))
    };
    let (input, reference) = (file("input", taker), file("reference", taker));
    let arguments = taker.texts(record, "arguments").map_or_else(Vec::new, |(_, texts)| texts);
    let arguments = arguments.into_iter().map(fill).collect();
    StudyTest { name: String::new(), arguments, input, reference, passes: None }
}

/// The further tests of a fault.
pub(crate) fn tests(
    record: &Record,
    directory: &Path,
    fill: &dyn Fn(String) -> String,
    taker: &mut KeyReader<'_>,
) -> Vec<StudyTest> {
    let Some(given) = record.get("tests") else { return Vec::new() };
    let tests = match &given.value {
        GivenValue::Text(text) | GivenValue::Cell(text) => {
            of_path(directory, &fill(text.clone()), given.line, fill, taker)
        }
        GivenValue::List(list) => {
            let mut tests = Vec::new();
            for one in list {
                match &one.value {
                    GivenValue::Table(record) => tests.extend(of_record(record, directory, fill, taker)),
                    _ => taker.complain(one.line, "a test has to be a table: { name = ..., input = ... }"),
                }
            }
            tests
        }
        _ => {
            taker.complain(
                given.line,
                "`tests` has to be a folder, a .toml, .csv or .jsonl file, or a list of tables",
            );
            Vec::new()
        }
    };
    unique(tests, given.line, taker)
}

/// The folder or the file of the tests, if they have one.
pub(crate) fn path(record: &Record, directory: &Path, fill: &dyn Fn(String) -> String) -> Option<PathBuf> {
    match &record.get("tests")?.value {
        GivenValue::Text(text) | GivenValue::Cell(text) => Some(directory.join(fill(text.clone()))),
        _ => None,
    }
}

/// Removes all but the first of tests of the same name.
fn unique(tests: Vec<StudyTest>, line: usize, taker: &mut KeyReader<'_>) -> Vec<StudyTest> {
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for test in tests {
        if seen.insert(test.name.clone()) {
            kept.push(test);
        } else {
            taker.complain(line, format!("two tests have the name `{}`: rename one", test.name));
        }
    }
    kept
}

fn of_record(
    record: &Record,
    directory: &Path,
    fill: &dyn Fn(String) -> String,
    taker: &mut KeyReader<'_>,
) -> Option<StudyTest> {
    taker.only(record, &TEST_KEYS);
    let test = test(record, directory, fill, taker);
    let passes = taker.flag(record, "passes");
    if test.reference.is_none() && passes.is_none() {
        taker.complain(
            record.line,
            "nothing says whether the test passes: give its correct output with `reference`, or `passes`",
        );
    }
    match taker.text(record, "name") {
        Some((_, name)) => Some(StudyTest { name, passes, ..test }),
        None => {
            taker.complain(record.line, "the test has no `name`: give it one of its own");
            None
        }
    }
}

/// Reads the tests of a folder, or of a file with a test a line.
fn of_path(
    directory: &Path,
    text: &str,
    line: usize,
    fill: &dyn Fn(String) -> String,
    taker: &mut KeyReader<'_>,
) -> Vec<StudyTest> {
    let path = directory.join(text);
    if path.is_dir() {
        let tests = of_folder(&path);
        if tests.is_empty() {
            let what = format!(
                "the folder {text} has no tests: put NAME.in and NAME.out into it, or folders in/ and out/ with files of \
                 the same names"
            );
            taker.complain(line, what);
        }
        return tests;
    }
    let content = match fs::read_to_string(&path) {
        Ok(content) => content,
        Err(error) => {
            taker.complain(line, format!("`tests` {text}: {error}: {}", remedy(text)));
            return Vec::new();
        }
    };
    let ending = path.extension().and_then(|extension| extension.to_str());
    if !matches!(ending, Some("toml" | "csv" | "jsonl")) {
        let what = format!("`tests` {text} is neither a folder nor a .toml, .csv or .jsonl file");
        taker.complain(line, what);
        return Vec::new();
    }
    // Its mistakes stand in that file; its paths begin where it lies.
    let folder = path.parent().unwrap_or(directory).to_owned();
    let mut taker = KeyReader { file: &path, mistakes: taker.mistakes };
    let records = match ending {
        Some("toml") => records_of_toml(&content, &mut taker),
        _ => {
            let is_csv = ending == Some("csv");
            let parsed = if is_csv { formats::csv(&content) } else { formats::json_lines(&content) };
            parsed.complaints.into_iter().for_each(|(line, what)| taker.complain(line, what));
            parsed.records
        }
    };
    records.iter().filter_map(|record| of_record(record, &folder, fill, &mut taker)).collect()
}

/// The records of a TOML text, one for each `[[test]]`.
fn records_of_toml(text: &str, taker: &mut KeyReader<'_>) -> Vec<Record> {
    let (top, complaints) = formats::toml(text);
    complaints.into_iter().for_each(|(line, what)| taker.complain(line, what));
    taker.only(&top, &["test"]);
    let Some(given) = top.get("test") else { return Vec::new() };
    let GivenValue::List(list) = &given.value else {
        taker.complain(given.line, "a test begins with [[test]], in two pairs of brackets");
        return Vec::new();
    };
    let mut records = Vec::new();
    for one in list {
        match &one.value {
            GivenValue::Table(record) => records.push(Record { line: one.line, ..record.clone() }),
            _ => taker.complain(one.line, "a test has to be a table: begin it with [[test]]"),
        }
    }
    records
}

/// Finds the tests of a folder: NAME.in with NAME.out and perhaps NAME.args; or in/NAME with out/NAME.
fn of_folder(folder: &Path) -> Vec<StudyTest> {
    let files = |folder: PathBuf| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut files: Vec<PathBuf> = entries.filter(|path| path.is_file()).collect();
        files.sort();
        files
    };
    let named = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    if folder.join("in").is_dir() {
        let inputs = files(folder.join("in")).into_iter();
        let tests = inputs.filter_map(|input| {
            let name = named(&input)?;
            let same = |beside: &str| folder.join(beside).join(&name);
            // in/1.txt goes with out/1.txt, or, as some suites have it, in/1.in with out/1.out.
            let other = folder.join("out").join(Path::new(&name).with_extension("out"));
            let reference = [same("out"), other].into_iter().find(|file| file.is_file())?;
            Some(of_files(&name, Some(input), reference, &same("args")))
        });
        return tests.collect();
    }
    let references = files(folder.to_owned()).into_iter();
    let references = references.filter(|file| file.extension().is_some_and(|extension| extension == "out"));
    let tests = references.filter_map(|reference| {
        let name = named(&reference.with_extension(""))?;
        let input = Some(reference.with_extension("in")).filter(|input| input.is_file());
        let arguments = reference.with_extension("args");
        Some(of_files(&name, input, reference, &arguments))
    });
    tests.collect()
}

/// Makes a test of files; an argument is a line.
fn of_files(name: &str, input: Option<PathBuf>, reference: PathBuf, arguments: &Path) -> StudyTest {
    let arguments = fs::read_to_string(arguments).unwrap_or_default();
    StudyTest {
        name: name.to_owned(),
        arguments: arguments.lines().map(str::to_owned).collect(),
        input,
        reference: Some(reference),
        passes: None,
    }
}
