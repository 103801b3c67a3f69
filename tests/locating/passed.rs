//! Lines at which no event begins: conditions on values in registers, and plain jumps.

use crate::support::text;
use crate::support::tiny::{assert_says, compiled, message};
use crate::{FAULTS, located, replayed};

/// The lines of the ranking, in the order of the source.
fn lines(found: &serde_json::Value) -> Vec<u64> {
    let mut lines: Vec<u64> =
        found["lines"].as_array().expect("lines").iter().filter_map(|line| line["line"].as_u64()).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_plain_jump_is_executed_if_control_passes_it_and_not_otherwise() {
    let source = |wanted| {
        format!(
            "#include <stdio.h>\nint main(void) {{ int i, sum = 0;\n  for (i = 0; i < 3; i++) {{\n    if (i == {wanted})\n      \
             break;\n    if (i == 7)\n      continue;\n    sum += i;\n  }}\n  printf(\"%d\\n\", sum);\n  return 0; }}\n"
        )
    };
    for (wanted, executed) in [(1, vec![2, 3, 4, 5, 6, 8, 10, 11]), (9, vec![2, 3, 4, 6, 8, 10, 11])] {
        let found = located(&compiled("jumps.c", &source(wanted)), "none\n", &[]);
        assert_eq!(lines(&found), executed, "{found}");
    }
}

#[test]
fn a_condition_on_registers_is_changed_as_a_decision_of_its_own_line() {
    let fault = FAULTS.iter().find(|fault| fault.file == "generic.rs").expect("a fault");
    let program = compiled(fault.file, fault.source);
    let found = located(&program, fault.correct, &[]);
    let first = &found["lines"][0]["repairs"][0];
    assert_eq!((&first["line"], &first["outcome"]), (&4.into(), &"right".into()), "{found}");
    // The function was compiled for each of its types.
    let several = message(&replayed(&program, &["--flip", "generic.rs:4"]), 2);
    assert_says(&several, &["generic.rs:4: this statement has 2 decisions", "by its address"]);
    let address = first["address"].as_str().expect("an address");
    let output = replayed(&program, &["--flip", address]);
    assert_eq!(text(&output.stdout), fault.correct, "{}", text(&output.stderr));
    assert_says(&text(&output.stderr), &["generic.rs:4 taken the other way"]);
    let fault = FAULTS.iter().find(|fault| fault.file == "lambda.cpp").expect("a fault");
    let program = compiled(fault.file, fault.source);
    let output = replayed(&program, &["--flip", "lambda.cpp:12"]);
    assert_says(&text(&output.stderr), &["lambda.cpp:12", "taken the other way at all 6 executions"]);
    assert_says(&message(&replayed(&program, &["--flip", "lambda.cpp:12:99"]), 2), &["lambda.cpp:12"]);
}
