//! A second opinion on spectra: gcov, of the same compiler, has seen the same lines executed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{assert_status, sample, study};

/// The lines of a program that can be executed, and whether a test has.
type Lines = BTreeMap<u64, bool>;

/// The faults whose spectra are compared each time; with STRIPE_THOROUGH all are.
const FEW: [&str; 3] = ["words-last", "calculator-zero", "bank-move"];

fn json(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).expect("a file")).expect("JSON")
}

/// The lines of each test that ends by itself, as the study has recorded them.
fn recorded(folder: &Path, fault: &str) -> BTreeMap<String, Lines> {
    let run = json(&folder.join("out/runs").join(fault).join("spectra.json"));
    let document = &run["document"];
    let lines: Vec<u64> = document["statements"]
        .as_array()
        .expect("statements")
        .iter()
        .map(|statement| statement["line"].as_u64().expect("a line"))
        .collect();
    let of_test = |test: &Value| {
        let mut found: Lines = lines.iter().map(|&line| (line, false)).collect();
        let stretches =
            test["executed"].as_str().expect("numbers").split(',').filter(|part| !part.is_empty());
        for stretch in stretches {
            let (first, last) = stretch.split_once('-').unwrap_or((stretch, stretch));
            let (first, last): (usize, usize) = (first.parse().expect("one"), last.parse().expect("one"));
            found.extend(lines[first..=last].iter().map(|&line| (line, true)));
        }
        (test["name"].as_str().expect("a name").to_owned(), found)
    };
    // What crashes or never ends writes nothing for gcov.
    let ends = |test: &&Value| test["ended"].as_str().is_some_and(|how| how.starts_with("exit"));
    document["tests"].as_array().expect("tests").iter().filter(ends).map(of_test).collect()
}

fn succeeds(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The lines of a test by gcov.
fn by_gcov(place: &Path, name: &str, test: &str) -> Lines {
    let counts = place.join(format!("counted-{name}.gcda"));
    let _ = fs::remove_file(&counts);
    let stdin = File::open(place.join("tests").join(format!("{test}.in"))).expect("an input");
    let run = Command::new("./counted").current_dir(place).stdin(stdin).stdout(Stdio::null()).status();
    run.expect("it starts");
    let told =
        succeeds(Command::new("gcov").args(["--json-format", "--stdout"]).arg(&counts).current_dir(place));
    let document: Value = serde_json::from_slice(&told).expect("JSON");
    let source = format!("{name}.c");
    let files = document["files"].as_array().expect("files");
    let file = files.iter().find(|file| file["file"] == source.as_str()).expect("the source");
    let line = |line: &Value| {
        (line["line_number"].as_u64().expect("a number"), line["count"].as_u64().expect("a count") > 0)
    };
    file["lines"].as_array().expect("lines").iter().map(line).collect()
}

#[test]
fn the_lines_that_tests_execute_are_those_that_gcov_counts() {
    let folder = sample("study-gcov");
    let is_thorough = std::env::var_os("STRIPE_THOROUGH").is_some();
    let mut words = vec!["run", "faults.toml", "--out", "out", "--techniques", "ochiai", "-q"];
    if !is_thorough {
        words.extend(FEW.iter().flat_map(|fault| ["--fault", *fault]));
    }
    assert_status(&study(&words, &folder), 0);
    let (mut compared, mut alone) = (0, 0);
    for fault in fs::read_dir(folder.join("out/runs")).expect("runs").flatten() {
        let name = fault.file_name().to_string_lossy().into_owned();
        let place = folder.join(name.split('-').next().expect("a group"));
        let compiled = ["-g", "-O0", "--coverage", "-o", "counted", &format!("{name}.c")];
        succeeds(Command::new("gcc").args(compiled).current_dir(&place));
        for (test, ours) in recorded(&folder, &name) {
            let theirs = by_gcov(&place, &name, &test);
            alone += ours.keys().filter(|line| !theirs.contains_key(line)).count();
            for (line, executed) in ours {
                if let Some(&counted) = theirs.get(&line) {
                    assert_eq!(executed, counted, "{name}, test {test}, line {line}");
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} lines compared, {alone} that gcov does not count");
    assert!(compared > if is_thorough { 5000 } else { 500 }, "{compared}");
    // Where a register is restored at the end of a function, its last line is one of ours and none of gcov's.
    assert!(alone * 20 < compared, "{alone} of {compared}");
}
