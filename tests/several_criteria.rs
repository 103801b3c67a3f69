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
    let cost = regex::Regex::new(r"\d+\s+runs?\s+in\s+[0-9.]+\s+m?s").expect("an expression");
    cost.replace_all(told, "N runs in T").into_owned()
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
    assert_eq!(criteria, ["the line `a? b? sum = 15`", "the line `mul = 0`"]);
    let silent = tiny("silent", "int main(void) { return 0;\n}\n");
    assert_says(&message(&silent.stripe("run", &["--each-line"]), 3), &["prints nothing", "--expect-exit"]);
    let many = "#include <stdio.h>\nint main(void) { for (int i = 0; i < 101; i++) printf(\"%d\\n\", i);\n    return 0;\n}\n";
    let told = message(&tiny("many", many).stripe("run", &["--each-line"]), 3);
    assert_says(&told, &["101 different lines", "--criterion"]);
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
fn a_budget_holds_for_each_criterion_and_all_go_on() {
    let program = sample_in("budget");
    let whole =
        json(&program.stripe("run", &[&FIGURE_6[..], &["--format", "json", "-q", "--no-save"]].concat()));
    let output =
        program.stripe("run", &[&FIGURE_6[..], &["--format", "json", "--max-tests", "30", "-j1"]].concat());
    assert_status(&output, 5);
    let statuses: Vec<Value> = json(&output)["criteria"]
        .as_array()
        .expect("criteria")
        .iter()
        .map(|one| one["slice"]["status"].clone())
        .collect();
    assert_eq!(statuses, ["budget", "budget", "minimal"]);
    assert_says(&text(&output.stderr), &["mul: the same output from `mul` on", "`stripe reduce 1` goes on"]);
    let reduced = about(&program, &["reduce", "--max-tests", "1000", "--format", "json"]);
    assert_status(&reduced, 0);
    assert_eq!(slices(&json(&reduced)), slices(&whole));
    assert_says(
        &text(&reduced.stderr),
        &["going on with both of run 1 behind 30 tests", "mul of run 1 is finished; this is its result"],
    );
}

#[test]
fn what_holds_one_result_is_refused_and_a_page_holds_all() {
    let program = sample_in("kinds");
    let told = message(&program.stripe("run", &[&FIGURE_6[..], &["--format", "csv"]].concat()), 2);
    assert_says(&told, &["csv: holds one result", "several criteria", "text, json or html"]);
    let written = ["--emit", "html=page.html", "--emit", "trace=trace.json", "-q"];
    assert_status(&program.stripe("run", &[&FIGURE_6[..], &written].concat()), 0);
    let page = fs::read_to_string(program.directory.join("page.html")).expect("written");
    for name in ["both", "sum", "mul"] {
        assert!(page.contains(&format!("\"remark\":\"{name}\"")), "{name}");
    }
    assert_status(&about(&program, &["report", "--emit", "html=again.html"]), 0);
    assert_eq!(fs::read_to_string(program.directory.join("again.html")).expect("written"), page);
    let told = message(&about(&program, &["report", "--emit", "jsonl=tests.jsonl"]), 2);
    assert_says(&told, &["jsonl: holds one result"]);
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
    let told = refused(&["--criterion", "sum=^sum"], 3);
    assert_says(&told, &["--criterion sum: ", "no line of output that matches `^sum`", "without a newline"]);
}
