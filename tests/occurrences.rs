//! A line of a criterion is an occurrence: an equal line elsewhere in the output is another line.

mod support;

use std::collections::BTreeSet;
use std::process::Output;

use serde_json::Value;
use support::tiny::{assert_says, file, message, tiny};
use support::{Program, stripe, text};

/// Adds and is right, multiplies and is wrong; both print 5.
const TWO: &str = "#include <stdio.h>\nint add(int a, int b) { int r = a + b;\n    return r;\n}\n\
                   int mul(int a, int b) { int r = a + b;\n    return r;\n}\n\
                   int main(void) { int s = add(2, 3);\n    printf(\"%d\\n\", s);\n    int p = mul(2, 3);\n\
                   \x20   printf(\"%d\\n\", p);\n    return 0;\n}\n";

/// Where it adds, prints the sum, and multiplies.
const ADD: [u64; 2] = [2, 3];
const PRINT_SUM: u64 = 9;
const MUL: [u64; 2] = [5, 6];

fn two(name: &str) -> Program {
    let program = tiny(name, TWO);
    file(&program, "good", "5\n6\n");
    program
}

/// The lines with needed executions.
fn lines(slice: &Value) -> BTreeSet<u64> {
    let events = slice["slice"].as_array().expect("events").iter();
    events.map(|event| event["line"].as_u64().expect("a line")).collect()
}

fn warnings(slice: &Value) -> String {
    slice["warnings"].to_string()
}

fn assert_explains(slice: &Value, needed: &[u64], needless: &[u64]) {
    let lines = lines(slice);
    assert!(needed.iter().all(|line| lines.contains(line)), "{slice}");
    assert!(!needless.iter().any(|line| lines.contains(line)), "{slice}");
}

fn criteria(output: &Output) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    document["criteria"].as_array().expect("criteria").clone()
}

#[test]
fn a_wrong_line_is_not_explained_by_a_right_one_with_the_same_text() {
    let slice = two("wrong-twin").slice(&["--reference", "good"], 0);
    assert_eq!(slice["criterion"], "the line `5`, the first wrong one (line 2; correct is `6`)");
    assert_explains(&slice, &MUL, &ADD);
    assert_says(
        &warnings(&slice),
        &["1 execution", ".c:9, event 7", "needed only to tell lines of the output apart"],
    );
    let events = slice["slice"].as_array().expect("events").iter();
    let mut print = events.filter(|event| event["line"] == PRINT_SUM);
    let why = &print.next().expect("the first print")["without"]["why"];
    assert_says(&why.to_string(), &["output has the line `5`, but whether it is line 2 cannot be told"]);
}

#[test]
fn a_right_line_is_not_explained_by_a_wrong_one_with_the_same_text() {
    let program = tiny("right-twin", TWO);
    file(&program, "good", "6\n5\n");
    let slice = program.slice(&["--reference", "good"], 0);
    assert_eq!(slice["criterion"], "the line `5`, the first wrong one (line 1; correct is `6`)");
    assert_explains(&slice, &ADD, &MUL);
}

#[test]
fn equal_lines_are_criteria_of_their_own_and_the_wrong_one_is_marked() {
    let program = two("each-twin");
    let options = ["--each-line", "--reference", "good", "-q"];
    let told = text(&program.stripe("run", &options).stdout);
    let first = "Needed for what is wrong and for nothing that is right:\n  each-twin.c:10  int p = mul(2, 3);\n  \
                 each-twin.c:11  printf(\"%d\\n\", p);\n  each-twin.c:5  int mul";
    assert!(told.starts_with(first), "{told}");
    let criteria = criteria(&program.stripe("run", &[&options[..], &["--format", "json"]].concat()));
    let told: Vec<_> = criteria.iter().map(|one| (&one["name"], &one["wrong"])).collect();
    assert_eq!(told, [(&"line1".into(), &false.into()), (&"line2".into(), &true.into())]);
    assert_explains(&criteria[0]["slice"], &ADD, &MUL);
    assert_explains(&criteria[1]["slice"], &MUL, &ADD);
    let report = stripe().args(["report", "--format", "json"]).current_dir(&program.directory).output();
    let reported = self::criteria(&report.expect("started"));
    assert_eq!(reported, criteria);
}

#[test]
fn lines_of_a_criterion_that_match_are_needed_each_in_its_place() {
    let program = two("all-twins");
    let slice = program.slice(&["--only-lines", "^5$"], 0);
    assert_explains(&slice, &[&ADD[..], &MUL].concat(), &[]);
    let named = program.stripe("run", &["--criterion", "five=^5$", "--format", "json", "-q"]);
    assert_explains(&criteria(&named)[0]["slice"], &[&ADD[..], &MUL].concat(), &[]);
}

#[test]
fn what_the_correct_output_does_not_tell_is_said_in_every_format() {
    let program = tiny("doubtful", TWO);
    file(&program, "good", "5\n");
    let doubt = ["line 2 of the output, `5`, is taken for wrong", "does not tell"];
    assert_says(&warnings(&program.slice(&["--reference", "good"], 0)), &doubt);
    let options = ["--reference", "good", "-q", "--emit", "html=page.html"];
    let told = text(&program.stripe("run", &options).stdout).replace("\n  ", " ");
    assert_says(&told, &doubt);
    let page = std::fs::read_to_string(program.directory.join("page.html")).expect("a page");
    assert_says(&page, &doubt);
}

#[test]
fn where_no_line_is_wrong_the_crash_is_the_failure() {
    let source = "#include <stdio.h>\nint main(void) { int *p = 0; int x = 3;\n    printf(\"one\\n\");\n    x = *p;\n\
                  \x20   printf(\"%d\\n\", x);\n    return 0;\n}\n";
    let program = tiny("lost", source);
    file(&program, "good", "one\n3\n");
    for options in [&["--reference", "good"][..], &["--reference", "good", "--pty"]] {
        let slice = program.slice(options, 0);
        assert_says(slice["criterion"].as_str().expect("words"), &["the same crash (SIGSEGV at "]);
        assert_says(&warnings(&slice), &["no line that the recorded run prints is wrong", "it crashed"]);
    }
    let told = message(&program.stripe("run", &["--reference", "good", "--each-line"]), 3);
    assert_says(&told, &["prints nothing and crashes", "without --each-line"]);
}

#[test]
fn what_is_missing_cannot_be_explained_by_omissions() {
    let program = two("missing");
    file(&program, "longer", "5\n6\n5\n");
    let told = message(&program.stripe("run", &["--reference", "longer"]), 3);
    assert_says(
        &told,
        &["nothing that the recorded run prints is wrong", "line 2", "`6`", "omissions cannot explain"],
    );
    let silent = tiny("silent-run", "int main(void) { return 0;\n}\n");
    file(&silent, "good", "one\n");
    let told = message(&silent.stripe("run", &["--reference", "good"]), 3);
    assert_says(&told, &["prints nothing", "line 1", "`one`", "omissions cannot explain what is missing"]);
    assert_says(&told, &["ask `stripe locate`", ": stripe locate ", " --reference good"]);
    let output = program.stripe("run", &["--reference", "longer", "--each-line"]);
    let told = text(&output.stderr);
    assert!(
        told.contains("\nstripe: no line is wrong; which change brings what is missing: stripe locate "),
        "{told}"
    );
}

#[test]
fn a_line_that_a_crash_has_cut_is_not_the_wrong_one() {
    let source = "#include <stdio.h>\nint main(void) { int *p = 0; int x = 3;\n    printf(\"one\\ntw\"); fflush(stdout);\n    \
                  x = *p;\n    printf(\"o\\n%d\\n\", x);\n    return 0;\n}\n";
    let program = tiny("cut", source);
    file(&program, "good", "one\ntwo\n3\n");
    let slice = program.slice(&["--reference", "good"], 0);
    assert_says(slice["criterion"].as_str().expect("words"), &["the same crash (SIGSEGV at "]);
    file(&program, "other", "one\nzwo\n3\n");
    let slice = program.slice(&["--reference", "other"], 0);
    assert_says(slice["criterion"].as_str().expect("words"), &["the line `tw`", "correct is `zwo`"]);
}

#[test]
fn a_result_by_the_correct_output_ends_with_the_commands_that_tell_more() {
    let program = two("offers");
    file(&program, "good", "5\n6\n");
    let offers = |options: &[&str]| {
        let output = program.stripe("run", &[&["--reference", "good", "--max-tests", "3"], options].concat());
        assert!(!text(&output.stdout).is_empty(), "{}", text(&output.stderr));
        let told = text(&output.stderr);
        let told = told
            .lines()
            .filter(|line| line.ends_with(" --reference good") || line.contains(" --reference good -"));
        told.map(str::to_owned).collect::<Vec<_>>()
    };
    let path = program.path.display().to_string();
    let [only_wrong, locate] = &offers(&[])[..] else { panic!("two offers") };
    assert!(
        only_wrong.starts_with(&format!(
            "stripe: what only wrong lines need, and no right one: stripe run {path} "
        ))
    );
    assert!(only_wrong.ends_with(" --reference good --each-line"), "{only_wrong}");
    assert!(
        locate.starts_with(&format!("stripe: which change makes the output right: stripe locate {path} ")),
        "{locate}"
    );
    assert_eq!(offers(&["--each-line"]), [locate.as_str()]);
    assert!(offers(&["-q"]).is_empty());
}

#[test]
fn beginnings_and_ends_in_expressions_are_those_of_lines() {
    let source = "#include <stdio.h>\nint main(void) { printf(\"begin\\r\\n\");\n    printf(\"error: x\\r\\n\");\n    return 0;\n}\n";
    let program = tiny("anchors", source);
    let slice = program.slice(&["--expect-match", "^error: x$"], 0);
    assert_eq!(lines(&slice), BTreeSet::from([3]));
    assert_eq!(program.stripe("run", &["--reject-match", "^error", "-q"]).status.code(), Some(3));
    assert_eq!(program.stripe("run", &["--expect-match", r"\Aerror", "-q"]).status.code(), Some(3));
    let told = text(&program.stripe("run", &["--expect-match", "^x"]).stderr);
    assert_says(&told, &["`^` and `$` are the beginning and the end of a line"]);
    let told = message(&program.stripe("run", &["--only-lines", "^x"]), 3);
    assert_says(&told, &["matches `^x` (`^` and `$` are the beginning and the end of a line)"]);
}

/// Reads a number, decides about it, and prints it.
const USELESS: &str = "#include <stdio.h>\nint main(void) { int n = 0, i = 0;\n    scanf(\"%d\", &n);\n\
                       \x20   while (i < 3) i++;\n    if (n < 0) n = -n;\n    printf(\"%d\\n\", n);\n    return 0;\n}\n";

#[test]
fn a_slice_of_nothing_but_library_calls_says_which_decisions_were_near() {
    let program = tiny("useless", USELESS);
    std::fs::write(&program.stdin, "7\n").expect("an input");
    let slice = program.slice(&[], 0);
    assert_eq!(lines(&slice), BTreeSet::from([3, 6]));
    let nearest = ["latest first: useless.c:5, event 12; useless.c:4, event 11"];
    assert_says(&warnings(&slice), &[&["so that the fault is in what was not done"], &nearest[..]].concat());
    let computing = two("computing").slice(&[], 0);
    assert!(!warnings(&computing).contains("what was not done"), "{computing}");
}

#[test]
fn effects_that_have_not_been_tried_are_not_claimed() {
    let program = tiny("untried", USELESS);
    std::fs::write(&program.stdin, "7\n").expect("an input");
    let options = ["--max-tests", "3", "-q"];
    let output = program.stripe("run", &options);
    assert_eq!(output.status.code(), Some(5));
    let told = text(&output.stdout).replace("\n  ", " ");
    assert_says(&told, &["5 decisions among them; effects have not been tried"]);
    assert!(!told.contains("for their effect") && !told.contains("for its effect"), "{told}");
    let report = stripe().arg("report").current_dir(&program.directory).output().expect("started");
    assert_eq!(text(&report.stdout), text(&output.stdout));
    assert_eq!(program.slice(&options[..2], 5)["effects_tried"], false);
    assert_eq!(program.slice(&[], 0)["effects_tried"], true);
}

#[test]
fn executions_that_cannot_be_left_out_are_counted() {
    let source = "#include <stdlib.h>\n#include <stdio.h>\nint main(void) { int x = 3;\n    printf(\"%d\\n\", x);\n    exit(0);\n}\n";
    let slice = tiny("fixed", source).slice(&[], 0);
    let lines = slice["lines"].as_array().expect("lines").iter();
    let counts: Vec<_> =
        lines.map(|line| (line["line"].as_u64(), line["needed"].as_u64(), line["fixed"].as_u64())).collect();
    assert!(counts.contains(&(Some(5), Some(0), Some(1))), "{counts:?}");
    assert!(counts.contains(&(Some(4), Some(1), Some(0))), "{counts:?}");
}
