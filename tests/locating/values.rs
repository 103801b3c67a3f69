//! Other values in place of stored ones, which `--values` tries.

use std::fs;

use serde_json::Value;

use crate::support::text;
use crate::support::tiny::{assert_says, message, tiny};
use crate::{located, performed, replayed};

const STORES: &str = r#"#include <stdio.h>
int total = 5;
int main(void) {
  int sum = 10;
  double half = 2.5;
  char letter = 'b';
  total = 7;
  for (int i = 0; i < 3; i++)
    sum += i;
  printf("%d %.1f %c %d\n", sum, half, letter, total);
  return 0;
}
"#;

#[test]
fn another_value_repairs_and_replay_and_gdb_repeat_it() {
    let program = tiny("stores", STORES);
    for (correct, line, value) in [
        ("3 2.5 b 7\n", 4, "0"),
        ("13 3.5 b 7\n", 5, "more"),
        ("13 2.5 a 7\n", 6, "less"),
        ("13 2.5 b 5\n", 7, "old"),
        ("13 2.5 b -7\n", 7, "negated"),
    ] {
        let without = located(&program, correct, &[]);
        assert_eq!(without["lines"].to_string().matches(r#""kind":"value""#).count(), 0, "{without}");
        let found = located(&program, correct, &["--values"]);
        let lines = found["lines"].as_array().expect("lines");
        let own = lines.iter().find(|own| own["line"] == line).expect("it was executed");
        let repairs = own["repairs"].as_array().expect("repairs");
        let is_meant = |repair: &&Value| {
            (&repair["kind"], &repair["value"], &repair["outcome"])
                == (&"value".into(), &value.into(), &"right".into())
        };
        let meant: Vec<&Value> = repairs.iter().filter(is_meant).collect();
        assert_eq!(meant.len(), 2, "{correct}: {own}");
        for place in
            [format!("stores.c:{line}"), meant[0]["address"].as_str().expect("an address").to_owned()]
        {
            let change = format!("{place}={value}");
            let output = replayed(&program, &["--write", &change]);
            assert_eq!(text(&output.stdout), correct, "{change}: {}", text(&output.stderr));
        }
        let event =
            meant.iter().find_map(|repair| repair["event"].as_u64()).expect("one of a single execution");
        assert_eq!(text(&replayed(&program, &["--write", &format!("{event}={value}")]).stdout), correct);
    }
    let options = ["--reference", "correct", "--values"];
    fs::write(program.directory.join("correct"), "13 3.5 b 7\n").expect("written");
    let output = performed(&program, &options, &["repair through 1".into()]);
    assert!(
        text(&output.stdout).contains("13 3.5 b 7\n"),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    fs::write(program.directory.join("correct"), "13 2.5 b -7\n").expect("written");
    let output = performed(
        &program,
        &options,
        &["repair through 1".into(), "repair begin 1".into(), "continue".into()],
    );
    assert!(
        text(&output.stdout).contains("13 2.5 b -7\n"),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
}

#[test]
fn a_value_of_ones_own_can_be_any_number_and_what_stores_none_is_refused() {
    let program = tiny("stores", STORES);
    let written = replayed(&program, &["--write", "stores.c:9#2=100", "--write", "stores.c:5=-4"]);
    assert_eq!(text(&written.stdout), "102 -4.0 b 7\n", "{}", text(&written.stderr));
    assert_says(&text(&written.stderr), &["writes 100 instead at execution 2 of 3", "writes -4 instead"]);
    for (change, said) in [
        ("stores.c:5", "no value"),
        ("stores.c:5=x", "`x` is no value"),
        ("stores.c:10=1", "nothing of the executable that stores a single value"),
        ("stores.c:99=1", "was not executed"),
    ] {
        assert_says(&message(&replayed(&program, &["--write", change]), 2), &[said]);
    }
}
