//! Long loops: whole statements go first, and a result says of which level it is minimal.

mod support;

use serde_json::Value;
use support::tiny::tiny;
use support::{Program, stripe, text};

/// A loop in which one statement is plainly needless for what is printed.
const HOT_LOOP: &str = "#include <stdio.h>\n#include <stdlib.h>\n\
    int main(int argc, char **argv) {\n\
    unsigned long x = 1, s = 0;\n\
    long n = atol(argv[1]);\n\
    for (long i = 0; i < n; i++) {\n\
    x = x * 6364136223846793005UL + 1442695040888963407UL;\n\
    s += x >> 16;\n\
    }\n\
    printf(\"%lu\\n\", x);\n\
    return s == 42;\n}\n";

/// The result of the hot loop of so many rounds.
fn hot_loop(program: &Program, rounds: u32, options: &[&str]) -> Value {
    let program = Program { arguments: vec![rounds.to_string()], ..program.clone() };
    program.slice(&[options, &["--control", "trace"]].concat(), 0)
}

fn about(program: &Program, words: &[&str]) -> String {
    let output = stripe().args(words).current_dir(&program.directory).output().expect("stripe starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn number(document: &Value, object: &str, key: &str) -> u64 {
    document[object][key].as_u64().unwrap_or_else(|| panic!("no {object}.{key}"))
}

#[test]
fn all_executions_of_a_needless_statement_go_in_one_test() {
    let program = tiny("hot-loop", HOT_LOOP);
    let result = hot_loop(&program, 1000, &["--no-save"]);
    assert_eq!((result["status"].as_str(), result["level"].as_str()), (Some("minimal"), Some("execution")));
    assert_eq!(number(&result, "events", "kept"), 1002);
    // The proof alone is a test for each kept execution.
    assert!(number(&result, "tests", "total") < 2 * 1002, "{}", result["tests"]);
    assert!(number(&result, "tests", "reproduced") < 30, "{}", result["tests"]);
}

#[test]
fn a_result_that_is_minimal_by_statements_says_so_and_can_be_refined() {
    let program = tiny("minimal-by-statements", HOT_LOOP);
    let coarse = hot_loop(&program, 200, &["--level", "statement"]);
    assert_eq!((coarse["status"].as_str(), coarse["level"].as_str()), (Some("minimal"), Some("statement")));
    assert_eq!(number(&coarse, "events", "kept"), 202);
    assert!(number(&coarse, "tests", "total") < 40, "{}", coarse["tests"]);
    let shown = about(&program, &["report"]);
    let told = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("minimal by statements: no statement can be left out as a whole"), "{shown}");
    assert!(told.contains("at least 202 tests"), "{shown}");
    let finer = hot_loop(&program, 200, &["--level", "history"]);
    assert_eq!(finer["level"].as_str(), Some("history"));
    let refined = about(&program, &["reduce", "1", "-q", "--format", "json"]);
    let fine: Value = serde_json::from_str(&refined).expect("JSON");
    assert_eq!((fine["status"].as_str(), fine["level"].as_str()), (Some("minimal"), Some("execution")));
    assert_eq!(number(&fine, "events", "kept"), 202);
    assert!(number(&fine, "tests", "total") > 202, "{}", fine["tests"]);
}
