//! What stripe writes for other tools is what these tools read.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use support::tiny::tiny;
use support::{GCC, assert_golden, root, sample, scratch, stripe, text};

/// Writes the result of the sample in these kinds; tells the folder with a file named like each kind.
fn emitted(kinds: &[&str]) -> PathBuf {
    let folder = scratch(&format!("exports-{}", kinds.join("-")));
    let mut options = vec!["--expect-match".to_owned(), "sum = 15".to_owned()];
    options.extend(["-q", "-j1", "--clear-env"].map(str::to_owned));
    for kind in kinds {
        options.extend(["--emit".to_owned(), format!("{kind}={}", folder.join(kind).display())]);
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let output = sample(GCC, "").stripe("run", &options);
    assert!(output.status.success(), "{}", text(&output.stderr));
    folder
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).expect("written")
}

/// The output of another program, which must be content.
fn told_by(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let all = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "{command:?}: {all}");
    all
}

/// Without what differs from machine to machine and from run to run. What an undefined variable holds depends
/// on its address.
fn settled(written: &str) -> String {
    let source = root().join("samples/sum-mul");
    let settled = written.replace(source.to_str().expect("UTF-8"), "/samples/sum-mul");
    let numbers = regex::Regex::new(r"\d+ runs in [0-9.]+ (ms|s)").expect("an expression");
    let settled = numbers.replace_all(&settled, "N runs in N s");
    let undefined = regex::Regex::new(r"= -?\d{8,}").expect("an expression");
    undefined.replace_all(&settled, "= UNDEFINED").into_owned()
}

#[test]
fn each_form_is_as_it_was() {
    let kinds = ["csv", "lcov", "github", "quickfix", "dot", "chrome", "jsonl"];
    let folder = emitted(&kinds);
    for kind in kinds {
        assert_golden(&format!("sum-mul.{kind}"), &settled(&read(&folder.join(kind))));
    }
}

#[test]
fn forms_that_are_text_can_be_printed_as_well() {
    let folder = emitted(&["csv", "lcov", "quickfix", "dot"]);
    for kind in ["csv", "lcov", "quickfix", "dot"] {
        let options = ["--expect-match", "sum = 15", "-q", "-j1", "--clear-env", "--format", kind];
        let output = sample(GCC, "").stripe("run", &options);
        assert_eq!(text(&output.stdout), read(&folder.join(kind)), "{kind}");
    }
}

/// The official schema, out of the package that holds it.
fn sarif_schema() -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version", "1", "--locked"]).current_dir(root());
    let output = command.output().expect("cargo can be started");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let mut packages = metadata["packages"].as_array().expect("packages").iter();
    let package = packages.find(|package| package["name"] == "serde-sarif").expect("a dependency");
    let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
    manifest.with_file_name("src").join("schema.json")
}

#[test]
fn sarif_keeps_to_its_schema() {
    let file = emitted(&["sarif"]).join("sarif");
    let mut validator = Command::new("python3");
    validator.args(["-W", "ignore", "-m", "jsonschema", "-i"]).arg(&file).arg(sarif_schema());
    told_by(&mut validator);
    let log: serde_sarif::sarif::Sarif = serde_json::from_str(&read(&file)).expect("SARIF");
    let result = &log.runs[0].results.as_ref().expect("results")[0];
    let flows = &result.code_flows.as_ref().expect("flows")[0].thread_flows;
    assert_eq!(flows[0].locations.len(), 20);
}

#[test]
fn a_log_that_is_no_sarif_does_not_pass_for_it() {
    let file = scratch("no-sarif").join("log");
    std::fs::write(&file, r#"{"version": "2.1.0", "runs": [{}]}"#).expect("written");
    let mut validator = Command::new("python3");
    validator.args(["-W", "ignore", "-m", "jsonschema", "-i"]).arg(&file).arg(sarif_schema());
    assert!(!validator.output().expect("it runs").status.success());
}

#[test]
fn genhtml_shows_needed_lines_as_covered() {
    let folder = emitted(&["lcov"]);
    let mut genhtml = Command::new("genhtml");
    genhtml.arg("--output-directory").arg(folder.join("pages")).arg(folder.join("lcov"));
    let told = told_by(&mut genhtml);
    // Not needed are `mul = 1`, the product, its printf, and `return 0`.
    assert!(told.contains("lines......: 63.6% (7 of 11 lines)"), "{told}");
}

#[test]
fn graphviz_draws_the_calls() {
    let folder = emitted(&["dot"]);
    let picture = told_by(Command::new("dot").arg("-Tsvg").arg(folder.join("dot")));
    for part in ["<svg", ">main<", ">11_13<", ">sum = sum + a<"] {
        assert!(picture.contains(part), "{part}");
    }
}

/// Calls between whose events values go to and fro: Graphviz failed on them with "trouble in init_rank".
const SORTER: &str = r#"#include <stdio.h>
int compare(int a, int b) { int d = a - b;
    return d;
}
void sort(int *a, int n) { int i, j;
    for (i = 0; i < n; i++)
        for (j = 0; j < n - 1; j++)
            if (compare(a[j], a[j + 1]) > 0) { int t = a[j];
                a[j] = a[j + 1];
                a[j + 1] = t;
            }
}
int main(void) { int a[] = { 5, 3, 8, 1, 9 };
    sort(a, 5);
    for (int i = 0; i < 5; i++)
        printf("%d ", a[i]);
    return 0;
}
"#;

#[test]
fn graphviz_draws_values_of_many_calls_and_a_report_says_when_there_are_none() {
    let program = tiny("sorter", SORTER);
    let run = |options: &[&str]| program.stripe("run", &[&["--format", "dot"], options].concat());
    let file = program.directory.join("sorter.dot");
    let output = run(&[]);
    fs::write(&file, &output.stdout).expect("written");
    let dot = text(&output.stdout);
    assert!(dot.matches("label=").count() > 100 && dot.matches("color=blue").count() > 60, "{dot}");
    assert!(told_by(Command::new("dot").arg("-Tsvg").arg(&file)).contains("<svg"));
    let reported = || {
        let report = stripe().args(["report", "--format", "dot"]).current_dir(&program.directory).output();
        report.expect("started")
    };
    assert_eq!(text(&reported().stdout), dot);
    program.stripe("run", &["--no-values"]);
    let output = reported();
    assert!(!text(&output.stdout).contains("color=blue"));
    assert!(text(&output.stderr).contains("warning: values were not looked at"), "{}", text(&output.stderr));
}

#[test]
fn each_call_of_a_chrome_trace_ends() {
    let trace: Value = serde_json::from_str(&read(&emitted(&["chrome"]).join("chrome"))).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let of = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
    assert_eq!((of("B"), of("E"), of("X")), (1, 1, 20));
    let times: Vec<u64> = events.iter().map(|event| event["ts"].as_u64().expect("a time")).collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn tests_are_as_many_as_the_json_counts() {
    let folder = emitted(&["json", "jsonl"]);
    let document: Value = serde_json::from_str(&read(&folder.join("json"))).expect("JSON");
    let tests = read(&folder.join("jsonl"));
    let tests: Vec<Value> = tests.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(document["tests"]["total"], tests.len());
    for outcome in ["reproduced", "not_reproduced", "unresolved"] {
        let count = tests.iter().filter(|test| test["outcome"] == outcome).count();
        assert_eq!(document["tests"][outcome], count, "{outcome}");
    }
    let number = |test: &Value, key: &str| test[key].as_u64().expect("a number");
    assert!(tests.iter().enumerate().all(|(at, test)| number(test, "test") == at as u64 + 1));
    assert!(tests.is_sorted_by_key(|test| number(test, "phase")));
}

#[test]
fn what_a_test_has_printed_stands_in_the_line_of_the_first_that_has() {
    let folder = emitted(&["jsonl"]);
    let tests = read(&folder.join("jsonl"));
    let tests: Vec<Value> = tests.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let mut seen = std::collections::HashSet::new();
    for (at, test) in tests.iter().enumerate() {
        let first = test["printed"].as_u64().expect("it is kept") as usize - 1;
        assert_eq!(first == at, test["stdout"].is_string(), "{test}");
        let stdout = tests[first]["stdout"].as_str().expect("a text");
        assert_eq!(seen.insert(stdout), first == at, "{test}");
        assert_eq!(stdout.contains("sum = 15"), test["outcome"] == "reproduced", "{test}");
    }
    assert!((4..tests.len() / 2).contains(&seen.len()), "{seen:?}");
}
