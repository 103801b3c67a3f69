//! Several failures in one run: the paper's Figure 6 by one command.

mod support;

use std::fs;
use std::process::Output;

use serde_json::Value;
use support::tiny::{assert_says, file, message, tiny};
use support::{GCC, Program, assert_golden, sample, scratch, stripe, text};

/// Figure 6: both results, the sum alone, the product alone.
const FIGURE_6: [&str; 8] =
    ["--control", "trace", "--criterion", "both=sum|mul", "--criterion", "sum=sum", "--criterion", "mul=mul"];

fn sample_in(name: &str) -> Program {
    Program { directory: scratch(&format!("several-{name}")), ..sample(GCC, "") }
}

fn about(program: &Program, words: &[&str]) -> Output {
    stripe().args(words).current_dir(&program.directory).output().expect("stripe can be started")
}

fn assert_status(output: &Output, expected: i32) {
    assert_eq!(output.status.code(), Some(expected), "{}\n{}", text(&output.stderr), text(&output.stdout));
}

fn json(output: &Output) -> Value {
    let told = text(&output.stdout);
    serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}{}", text(&output.stderr)))
}

/// The slices without what depends on the machine.
fn slices(document: &Value) -> Vec<(String, Value)> {
    let criteria = document["criteria"].as_array().expect("criteria").iter();
    let slice =
        |one: &Value| (one["name"].as_str().expect("a name").to_owned(), one["slice"]["slice"].clone());
    criteria.map(slice).collect()
}

fn lasting(told: &str) -> String {
    let cost =
        regex::Regex::new(r"\d+\s+runs?\s+in\s+[0-9.]+\s+m?s,\s+fully\s+contained").expect("an expression");
    cost.replace_all(told, "N runs in T, fully contained").into_owned()
}

#[test]
fn figure_6_is_one_command() {
    let program = sample_in("figure");
    let output = program.stripe("run", &[&FIGURE_6[..], &["-q"]].concat());
    assert_status(&output, 0);
    assert_golden("kept.figure6", &lasting(&text(&output.stdout)));
    assert_eq!(text(&about(&program, &["report"]).stdout), text(&output.stdout));
    let listed = text(&about(&program, &["runs"]).stdout);
    let rows: Vec<Vec<&str>> = listed.lines().skip(1).map(|row| row.split_whitespace().collect()).collect();
    let told: Vec<[&str; 4]> = rows.iter().map(|row| [row[0], row[3], row[4], row[row.len() - 1]]).collect();
    assert_eq!(
        told,
        [["1", "minimal", "15", "both"], ["1", "minimal", "13", "sum"], ["1", "minimal", "3", "mul"]]
    );
}

#[test]
fn each_of_several_slices_is_that_of_its_criterion_alone_and_costs_less() {
    let program = sample_in("alone");
    let options = [&FIGURE_6[..], &["--format", "json", "-q", "-j1"]].concat();
    let document = json(&program.stripe("run", &options));
    assert_eq!(document["schema"], "stripe.slices/1");
    let (mut together, mut alone) = (0, 0);
    for (number, criterion) in ["both=sum|mul", "sum=sum", "mul=mul"].into_iter().enumerate() {
        let options = ["--control", "trace", "--criterion", criterion, "--format", "json", "-q", "-j1"];
        let single = json(&program.stripe("run", &options));
        assert_eq!(slices(&single)[0], slices(&document)[number]);
        let runs = |document: &Value, number: usize| {
            document["criteria"][number]["slice"]["tests"]["runs"].as_u64().expect("a number")
        };
        (together, alone) = (together + runs(&document, number), alone + runs(&single, 0));
    }
    assert!(together < alone, "{together} replays for all, {alone} for each by itself");
}

#[test]
fn every_line_of_the_output_can_be_asked_about() {
    let program = sample_in("lines");
    let document = json(&program.stripe("run", &["--each-line", "--format", "json", "-q"]));
    let criteria: Vec<&str> = document["criteria"]
        .as_array()
        .expect("criteria")
        .iter()
        .map(|one| one["slice"]["criterion"].as_str().expect("words"))
        .collect();
    assert_eq!(criteria, ["the line `a? b? sum = 15` (line 1)", "the line `mul = 0` (line 2)"]);
    let silent = tiny("silent", "int main(void) { return 0;\n}\n");
    assert_says(&message(&silent.stripe("run", &["--each-line"]), 3), &["prints nothing", "--expect-exit"]);
    let many = "#include <stdio.h>\nint main(void) { for (int i = 0; i < 101; i++) printf(\"%d\\n\", i);\n    return 0;\n}\n";
    let told = message(&tiny("many", many).stripe("run", &["--each-line"]), 3);
    assert_says(&told, &["101 lines", "--criterion"]);
}

/// Adds and multiplies; the product is wrong.
const WRONG: &str = "#include <stdio.h>\nint main(void) { int a = 3, b = 4;\n    int sum = a + b;\n    int mul = a * b;\n\
                     \x20   mul = mul + 1;\n    printf(\"sum %d\\n\", sum);\n    printf(\"mul %d\\n\", mul);\n    return 0;\n}\n";

#[test]
fn what_only_the_wrong_output_needs_comes_first() {
    let program = tiny("wrong", WRONG);
    file(&program, "good", "sum 7\nmul 12\n");
    for options in [&["--each-line"][..], &["--criterion", "sum=^sum", "--criterion", "mul=^mul"]] {
        let output = program.stripe("run", &[options, &["--reference", "good", "-q"]].concat());
        assert_status(&output, 0);
        let told = text(&output.stdout);
        let first = "Needed for what is wrong and for nothing that is right:\n  wrong.c:4  int mul = a * b;\n  \
                     wrong.c:5  mul = mul + 1;\n  wrong.c:7  printf(\"mul %d\\n\", mul);\n\nline ";
        assert!(told.starts_with(first), "{told}");
        fs::remove_file(program.directory.join("good")).expect("removed");
        assert_eq!(text(&about(&program, &["report"]).stdout), told);
        file(&program, "good", "sum 7\nmul 12\n");
    }
}

#[test]
fn a_budget_is_for_all_criteria_together_and_all_go_on() {
    let program = sample_in("budget");
    let whole =
        json(&program.stripe("run", &[&FIGURE_6[..], &["--format", "json", "-q", "--no-save"]].concat()));
    let output =
        program.stripe("run", &[&FIGURE_6[..], &["--format", "json", "--max-tests", "120", "-j1"]].concat());
    assert_status(&output, 5);
    let document = json(&output);
    let criteria = document["criteria"].as_array().expect("criteria").iter();
    let (statuses, tests): (Vec<&str>, Vec<u64>) = criteria
        .map(|one| &one["slice"])
        .map(|slice| {
            (slice["status"].as_str().expect("a word"), slice["tests"]["total"].as_u64().expect("tests"))
        })
        .unzip();
    assert_eq!(statuses, ["budget", "budget", "minimal"]);
    assert!(tests[..2] == [40, 40] && tests[2] < 40, "{tests:?}");
    assert_says(&text(&output.stderr), &["mul: the same output from `mul` on", "`stripe reduce 1` goes on"]);
    let reduced = about(&program, &["reduce", "--max-tests", "1000", "--format", "json"]);
    assert_status(&reduced, 0);
    assert_eq!(slices(&json(&reduced)), slices(&whole));
    assert_says(
        &text(&reduced.stderr),
        &["going on with both of run 1 after 40 tests", "mul of run 1 is finished; this is its result"],
    );
}

#[test]
fn what_holds_one_result_is_refused_and_all_other_kinds_hold_all() {
    let program = sample_in("kinds");
    for kind in ["dot", "gdb"] {
        let told = message(&program.stripe("run", &[&FIGURE_6[..], &["--format", kind]].concat()), 2);
        assert_says(&told, &[kind, "holds one result", "several criteria", "ask for one"]);
    }
    let files = ["html", "trace", "csv", "lcov", "sarif", "github", "quickfix", "chrome", "jsonl"];
    let emit = |suffix: &str| files.map(|kind| format!("{kind}={kind}{suffix}"));
    let emitting = |files: &'_ [String; 9]| -> Vec<String> {
        files.iter().flat_map(|file| ["--emit".to_owned(), file.clone()]).collect()
    };
    let read = |name: &str| fs::read_to_string(program.directory.join(name)).expect("written");
    let options = emitting(&emit(""));
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    assert_status(&program.stripe("run", &[&FIGURE_6[..], &["-q"], &options].concat()), 0);
    let page = read("html");
    for name in ["both", "sum", "mul"] {
        assert!(page.contains(&format!("\"remark\":\"{name}\"")), "{name}");
    }
    assert_eq!(read("csv").lines().filter(|row| row.starts_with("mul,")).count(), 3);
    assert_eq!(read("lcov").lines().filter(|row| row.starts_with("TN:")).count(), 3);
    assert_eq!(read("quickfix").lines().filter(|row| row.contains(": mul: needed")).count(), 3);
    assert_eq!(read("github").matches("title=stripe%3A mul::needed").count(), 3);
    assert!(read("jsonl").starts_with("{\"criterion\":\"both\",\"test\":1,"));
    let sarif: Value = serde_json::from_str(&read("sarif")).expect("JSON");
    let flows = sarif["runs"][0]["results"].as_array().expect("results").iter();
    let lengths = flows.map(|one| &one["codeFlows"][0]["threadFlows"][0]["locations"]);
    let lengths: Vec<usize> = lengths.map(|flow| flow.as_array().expect("a flow").len()).collect();
    assert_eq!(lengths, [15, 13, 3]);
    let chrome: Value = serde_json::from_str(&read("chrome")).expect("JSON");
    let events = chrome["traceEvents"].as_array().expect("events");
    let of_mul = events.iter().filter(|event| event["ph"] == "X" && event["pid"] == 3).count();
    assert_eq!(of_mul, 3);
    let options = emitting(&emit(".later"));
    let words: Vec<&str> = options.iter().map(String::as_str).collect();
    assert_status(&about(&program, &[&["report", "-q"], &words[..]].concat()), 0);
    for kind in files {
        assert_eq!(read(kind), read(&format!("{kind}.later")), "{kind}");
    }
}

#[test]
fn a_single_criterion_has_all_kinds() {
    let program = sample_in("single");
    let options = ["--control", "trace", "--criterion", "mul=mul", "-q", "--format"];
    let slice = |kind: &str| text(&program.stripe("run", &[&options[..], &[kind]].concat()).stdout);
    assert!(slice("text").contains("3 of 34 statement executions are needed"));
    assert_eq!(slice("csv").lines().filter(|row| row.starts_with("mul,")).count(), 3);
    assert!(slice("dot").starts_with("digraph"));
    assert!(slice("gdb").contains("slice through"));
    assert_eq!(slice("quickfix").lines().count(), 3);
}

#[test]
fn a_beginning_after_prompts_is_that_of_a_word() {
    let program = sample_in("prompts");
    let options = ["--control", "trace", "--format", "json", "-q"];
    let with =
        |criterion: &str| json(&program.stripe("run", &[&["--criterion", criterion], &options[..]].concat()));
    let anchored = with("sum=^sum");
    let told = anchored["criteria"][0]["slice"]["criterion"].as_str().expect("words").to_owned();
    assert_eq!(told, "the same output from `^sum` at the beginning of a word on");
    assert_eq!(slices(&anchored), slices(&with("sum=sum")));
    assert_eq!(slices(&anchored)[0].1.as_array().expect("a slice").len(), 13);
    let about_words = about(&program, &["report", "1", "--format", "json"]);
    assert_eq!(slices(&json(&about_words)), slices(&anchored));
}

#[test]
fn names_and_expressions_that_cannot_be_are_told() {
    let program = sample_in("refused");
    let refused = |options: &[&str], status| message(&program.stripe("run", options), status);
    assert_says(&refused(&["--criterion", "sum"], 2), &["not of the form NAME=RE"]);
    assert_says(&refused(&["--criterion", "a/b=sum"], 2), &["the name must be of letters"]);
    assert_says(&refused(&["--criterion", "a=("], 2), &["unclosed group"]);
    assert_says(&refused(&["--criterion", "a=sum", "--criterion", "a=mul"], 2), &["a is given twice"]);
    assert_says(&refused(&["--criterion", "a=sum", "--each-line"], 2), &["cannot be used with"]);
    assert_says(&refused(&["--criterion", "a=sum", "--expect-match", "x"], 2), &["cannot be used with"]);
    let told = refused(&["--criterion", "sum=^um"], 3);
    let lines = ["`a? b? sum = 15`", "`mul = 0`"];
    assert_says(
        &told,
        &[&["--criterion sum: ", "no line of output that matches `^um`"], &lines[..]].concat(),
    );
    assert_says(&refused(&["--only-lines", "^um"], 3), &lines);
}
