//! A change that makes the output right by what happens to lie in undefined memory is no repair.

use serde_json::Value;

use crate::support::tiny::{assert_says, tiny};
use crate::support::{Program, text};
use crate::{locate, located, replayed};

/// The first number is right if `i = 1` is left out, because where it lies there is a 0 already; the second one
/// because a fresh piece of memory has zeros; the third one whatever lies where.
const LUCK: &str = r#"#include <stdio.h>
#include <stdlib.h>
static int frame(void) {
  int s = 0;
  for (int i = 1; i < 5; i++) // FRAME
    s += 10 + i;
  return s;
}
static int heap(void) {
  int *p = malloc(64 * sizeof *p);
  p[40] = 1; // HEAP
  return p[40];
}
static int sure(void) {
  int n = 0;
  n = 3; // SURE
  return n;
}
int main(int argc, char **argv) {
  switch (argc) {
    case 1: printf("%d\n", frame()); break;
    case 2: printf("%d\n", heap()); break;
    default: printf("%d\n", sure());
  }
  return 0;
}
"#;

/// What came of leaving out the statement in the marked line, and why the line stands where it stands.
fn outcomes(program: &Program, mark: &str, correct: &str, arguments: &[&str]) -> (Vec<String>, Value) {
    let found = located(program, correct, &[&["--"], arguments].concat());
    let number = 1 + LUCK.lines().position(|line| line.contains(mark)).expect("a mark");
    let lines = found["lines"].as_array().expect("lines");
    let line = lines.iter().find(|line| line["line"] == number).expect("it was executed").clone();
    let repairs = line["repairs"].as_array().expect("repairs").iter();
    let omissions = repairs.filter(|repair| repair["kind"] == "omit" && repair["outcome"] != "nearer");
    let outcomes = omissions.map(|repair| repair["outcome"].as_str().expect("an outcome").to_owned());
    (outcomes.collect(), line["why"].clone())
}

#[test]
fn what_lies_in_undefined_memory_by_luck_is_told_and_is_no_repair() {
    let program = tiny("luck", LUCK);
    let undefined = ["undefined", "undefined"].map(str::to_owned).to_vec();
    let frame = outcomes(&program, "FRAME", "60\n", &[]);
    assert_eq!(frame, (undefined.clone(), "undefined memory repairs".into()));
    let heap = outcomes(&program, "HEAP", "0\n", &["1"]);
    assert_eq!(heap, (undefined, "undefined memory repairs".into()));
    let sure = outcomes(&program, "SURE", "0\n", &["1", "2"]);
    assert_eq!(sure, (vec!["right".to_owned(); 2], "omission repairs".into()));
    let told = text(&locate(&program, &["--reference", "correct", "--", "1"]).stdout);
    assert_says(&told, &["only with what happens to", "none makes the output right", "are no repairs"]);
    let script = text(&locate(&program, &["--reference", "correct", "--format", "gdb", "--", "1"]).stdout);
    assert!(!script.contains("luck.c:11"), "gdb has something else there: {script}");
}

#[test]
fn a_program_that_reads_undefined_memory_is_told_so_and_its_faults_are_located() {
    let source = r#"#include <stdio.h>
int main(void) {
  int n[50], sum = 0;
  for (int i = 0; i < 49; i++) n[i] = 0;
  sum += n[49] & 0;
  printf("%d\n", n[49] == 12345);
  if (sum == 0) // FAULT
    sum = 2;
  printf("%d\n", sum);
  return 0;
}
"#;
    let program = tiny("reads-undefined", source);
    let found = located(&program, "0\n0\n", &[]);
    assert_eq!(found["lines"][0]["line"], 7, "{found}");
    assert_eq!(found["lines"][0]["why"], "flip repairs", "{found}");
}

#[test]
fn several_changes_of_one_place_are_all_made() {
    let source = "#include <stdio.h>\nint main(void) {\n  for (int i = 0; i < 5; i++)\n    printf(\"%d\\n\", i);\n  return 0;\n}\n";
    let program = tiny("one-place", source);
    let changes = ["4#1", "4#3", "4#4"].map(|place| ["--omit-line", place]);
    let output = replayed(&program, &changes.concat());
    assert_eq!(text(&output.stdout), "1\n4\n", "{}", text(&output.stderr));
    let output = replayed(&program, &["--always", "one-place.c:3:21", "--flip", "one-place.c:3:21#3"]);
    assert_eq!(text(&output.stdout), "0\n1\n", "{}", text(&output.stderr));
}
