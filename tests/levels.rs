//! Long loops: whole statements go first, a result says of which level it is minimal, and is confirmed.

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

#[test]
fn what_does_not_reproduce_once_more_is_not_called_minimal() {
    // From some start on the program behaves, because it counts its starts in a real file.
    let source = "#include <stdio.h>\nint main(void) {\nint starts = 0;\n\
        FILE *file = fopen(\"count/starts\", \"r\");\nif (file) { fscanf(file, \"%d\", &starts); fclose(file); }\n\
        file = fopen(\"count/starts\", \"w\");\nfprintf(file, \"%d\\n\", starts + 1);\nfclose(file);\n\
        int a = 1, b = 2, c = 3;\na = a + 1;\nb = b + 1;\nc = c + 1;\n\
        puts(starts < LIMIT ? \"wrong\" : \"right\");\nreturn 0;\n}\n";
    let mut seen = Vec::new();
    for limit in [8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60] {
        let program = tiny(&format!("unconfirmed-{limit}"), &source.replace("LIMIT", &limit.to_string()));
        std::fs::create_dir_all(program.directory.join("count")).expect("a folder");
        // There from the beginning, so that the path of all runs is the same.
        std::fs::write(program.directory.join("count/starts"), "0\n").expect("a file");
        let options = "-q -j1 --engine breakpoint --format json --no-save --allow-write count";
        let output = program.stripe("run", &options.split(' ').collect::<Vec<_>>());
        let document: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        let status = document.and_then(|document| document["status"].as_str().map(str::to_owned));
        seen.push((limit, output.status.code(), status));
    }
    let is_honest = |(_, code, status): &(i32, Option<i32>, Option<String>)| match status.as_deref() {
        Some("unconfirmed") | None => *code == Some(4),
        _ => true,
    };
    assert!(seen.iter().all(is_honest), "{seen:?}");
    assert!(seen.iter().any(|(_, _, status)| status.as_deref() == Some("unconfirmed")), "{seen:?}");
    // Where the count runs out during the search, the result must not be called minimal.
    let minimal = seen.iter().filter(|(_, _, status)| status.as_deref() == Some("minimal")).count();
    assert_eq!(minimal, 0, "{seen:?}");
}
