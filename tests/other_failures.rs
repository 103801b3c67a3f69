//! A replay that fails in another way than the recorded run is no answer, but it is kept and told.

mod support;

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use support::tiny::{assert_says, tiny};
use support::{Build, Fixture, GCC, Program, scratch, stripe, text};

/// The run ends with the first report.
const SANITIZED: Build =
    Build { name: "ubsan", flags: "-fsanitize=undefined -fno-sanitize-recover=all", ..GCC };

/// Without its first statement `p` leads nowhere.
fn pointer(name: &str) -> Program {
    let source = "#include <stdio.h>\nstatic int table[4] = {1, 2, 3, 4};\n\
                  int main(void) { int *p = table;\n    int i = 0;\n    i = i + 2;\n\
                  \x20   printf(\"%d\\n\", p[i]);\n    return 0;\n}\n";
    tiny(name, source)
}

fn by_products(slice: &Value) -> &[Value] {
    slice["by_products"].as_array().expect("a list")
}

fn about(program: &Program, words: &[&str]) -> Output {
    stripe().args(words).current_dir(&program.directory).output().expect("stripe can be started")
}

fn reported(program: &Program) -> Value {
    let output = about(program, &["report", "--format", "json"]);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)))
}

#[test]
fn another_crash_is_told_at_the_end_and_can_be_seen_again() {
    let program = pointer("pointer");
    let slice = program.slice(&["-j1"], 0);
    let [crash, ..] = by_products(&slice) else { panic!("a by-product: {slice}") };
    let what = crash["what"].as_str().expect("words");
    assert!(what.starts_with("SIGSEGV at pointer.c:6 in main"), "{what}");
    assert!(crash["tests"].as_u64() > Some(0), "{crash}");
    let keys: Vec<&String> = crash.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["control", "keep", "tests", "what"]);
    let [keep, control] = ["keep", "control"].map(|key| crash[key].as_str().expect("a word"));
    let again = program.stripe("replay", &["--control", control, "--keep", keep]);
    assert_eq!(again.status.code(), Some(125));
    assert_says(&text(&again.stderr), &["unresolved: crashed in another way", what]);
    let told = program.stripe("run", &["-j1", "-q", "--no-save"]);
    let told = text(&told.stdout).replace("\n  ", " ");
    assert_says(
        &told,
        &[
            "other failures, most often SIGSEGV at pointer.c:6 in main",
            "the JSON result tells how to see it again",
        ],
    );
}

#[test]
fn by_products_are_kept_with_the_run_even_if_its_search_was_cut_short() {
    let program = pointer("pointer-kept");
    let slice = program.slice(&["-j1"], 0);
    assert_eq!(reported(&program)["by_products"], slice["by_products"]);
    let folder = fs::canonicalize(program.directory.join(".stripe/latest")).expect("a run");
    fs::remove_file(folder.join("result.json")).expect("removed");
    assert_eq!(reported(&program)["by_products"], slice["by_products"], "from the journal");
    let page = program.directory.join("page.html");
    let emit = format!("html={}", page.display());
    assert!(about(&program, &["report", "--emit", &emit]).status.success());
    assert_says(
        &fs::read_to_string(page).expect("a page"),
        &["other failures, most often SIGSEGV at pointer-kept.c:6"],
    );
}

#[test]
fn the_report_of_a_sanitizer_is_another_failure() {
    let mut program = Fixture::named("bubble_sort").build(SANITIZED);
    program.directory = scratch("sanitized");
    let slice = program.slice(&["-j1", "--max-tests", "60", "--no-save"], 5);
    let is_report = |by_product: &&Value| {
        by_product["what"].as_str().is_some_and(|what| what.contains("runtime error: index"))
    };
    let report = by_products(&slice).iter().find(is_report).unwrap_or_else(|| panic!("a report: {slice}"));
    assert!(report["what"].as_str().is_some_and(|what| what.contains("bubble_sort.c:")), "{report}");
}

#[test]
fn a_sanitizer_s_report_of_the_recorded_run_is_part_of_the_failure() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("overflow");
    fs::create_dir_all(&folder).expect("a folder");
    let source = "#include <limits.h>\n#include <stdio.h>\nint main(int argc, char **argv) { int x = argc;\n\
                  \x20   int y = 5;\n\
                  \x20   x = INT_MAX;\n    y = y + 1;\n    x = x + argc;\n    printf(\"%d %d\\n\", x, y);\n}\n";
    fs::write(folder.join("overflow.c"), source).expect("a source");
    let mut compiler = std::process::Command::new("gcc");
    compiler.args(["-g", "-O0", "-o", "overflow", "overflow.c"]).args(SANITIZED.flags.split(' '));
    assert!(compiler.current_dir(&folder).status().expect("gcc").success());
    let program = Program {
        path: folder.join("overflow"),
        directory: folder.clone(),
        stdin: "/dev/null".into(),
        arguments: Vec::new(),
    };
    let slice = program.slice(&["-j1", "--no-save"], 0);
    assert_says(slice["criterion"].as_str().expect("words"), &["the same report", "signed integer overflow"]);
    let lines: Vec<u64> = slice["slice"]
        .as_array()
        .expect("events")
        .iter()
        .map(|event| event["line"].as_u64().expect("a line"))
        .collect();
    // The sum itself ends the run, and cannot be left out.
    assert_eq!(lines, [5]);
}

#[test]
fn a_result_tells_that_a_forked_process_was_not_looked_into() {
    let told = |name: &str| {
        let slice = Fixture::named(name).build(GCC).slice(&["-j1", "--no-save", "--max-tests", "3"], 5);
        slice["warnings"].to_string()
    };
    assert_says(&told("fork_child"), &["the program starts a process by fork", "cannot be found"]);
    assert!(!told("system_helper").contains("by fork"), "another program is not the user's");
}
