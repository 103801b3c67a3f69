//! What a budget is spent on first.

use serde_json::Value;

use crate::support::text;
use crate::{SUITE, locate, with_tests};

#[test]
fn a_budget_is_spent_on_further_tests_before_single_executions() {
    let program = with_tests("sign-in-time", &SUITE);
    let found = |options: &[&str]| -> Value {
        let output = locate(&program, &[&["--tests", "suite", "--format", "json", "-q"], options].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
    };
    let all = found(&[]);
    let one_less = (all["runs"]["made"].as_u64().expect("a number") - 1).to_string();
    let cut = found(&["--max-tests", &one_less]);
    assert_eq!((&all["status"], &cut["status"]), (&"complete".into(), &"budget".into()));
    assert_eq!(cut["runs"]["total"].as_u64(), all["runs"]["total"].as_u64().map(|total| total - 1));
    let first =
        |result: &Value| [&result["lines"][0]["plausible"], &result["lines"][0]["line"]].map(Value::clone);
    assert_eq!(first(&cut), [Value::from(true), Value::from(4)]);
    assert_eq!(first(&cut), first(&all));
}
