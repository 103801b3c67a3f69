//! What `stripe locate` finds is kept: it can be reported, and goes on where it was ended.

use std::fs;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::tiny::{assert_says, message, tiny};
use crate::support::{Program, stripe, text};

/// Some hundred changes, each of which takes some milliseconds.
const SLOW: &str = r#"#include <stdio.h>
#include <string.h>
static char buffer[1 << 22];
static int step(int sum, int i) {
  if (i % 3 == 0) // FAULT
    sum += i;
  else if (i % 5 == 0)
    sum += 2;
  else
    sum -= 1;
  return sum;
}
int main(void) {
  int sum = 0;
  for (int i = 1; i < 12; i++) {
    memset(buffer, i, sizeof buffer);
    sum = step(sum, i);
  }
  printf("%d\n", sum);
  if (sum > 3)
    puts("large");
  return 0;
}
"#;
const CORRECT: &str = "3\n";

fn command(program: &Program, words: &[&str]) -> std::process::Command {
    let mut command = stripe();
    command.args(words).current_dir(&program.directory).stdin(Stdio::null());
    command
}

fn done(program: &Program, words: &[&str]) -> Output {
    command(program, words).output().expect("stripe starts")
}

fn slow() -> (Program, String) {
    let program = tiny("kept", SLOW);
    fs::write(program.directory.join("correct"), CORRECT).expect("written");
    let path = program.path.display().to_string();
    (program, path)
}

/// The document that was printed, without what differs from run to run.
fn document(output: &Output) -> Value {
    let mut document: Value = serde_json::from_slice(&output.stdout).expect("a document");
    document["seconds"] = Value::Null;
    document["runs"]["made"] = Value::Null;
    document
}

#[test]
fn work_that_was_ended_by_a_budget_or_killed_goes_on_to_the_same_result() {
    let (program, path) = slow();
    let locate = ["locate", &path, "--reference", "correct", "--format", "json", "-q"];
    let whole = done(&program, &locate);
    assert_eq!(whole.status.code(), Some(0), "{}", text(&whole.stderr));
    let whole = document(&whole);
    assert_eq!(whole["status"], "complete");
    assert_eq!(document(&done(&program, &["report", "1", "--format", "json"])), whole);

    let some = done(&program, &[&locate[..], &["--max-tests", "20"]].concat());
    assert_eq!(some.status.code(), Some(5));
    assert_eq!(document(&some)["runs"]["total"], 20);
    let more = done(&program, &["reduce", "2", "--max-tests", "7", "--format", "json", "-q", "-j", "1"]);
    assert_eq!((more.status.code(), &document(&more)["runs"]["total"]), (Some(5), &27.into()));
    let rest = done(&program, &["reduce", "2", "--max-tests", "9999", "--format", "json", "-q"]);
    assert_eq!(document(&rest), whole);

    let loud = &locate[..6];
    let mut killed =
        command(&program, loud).stderr(Stdio::null()).stdout(Stdio::null()).spawn().expect("stripe starts");
    wait_for_attempts(&program, "3-kept", 5);
    killed.kill().expect("it still runs");
    killed.wait().expect("it was killed");
    let report = document(&done(&program, &["report", "3", "--format", "json"]));
    assert_eq!(report["status"], "interrupted");
    let rows = text(&done(&program, &["runs"]).stdout);
    let status =
        |run: usize| rows.lines().nth(run).and_then(|row| row.split_whitespace().nth(3)).unwrap_or("");
    assert_eq!([status(1), status(2), status(3)], ["complete", "complete", "unfinished"], "{rows}");
    let again = done(&program, loud);
    assert_says(&text(&again.stderr), &["run 3 of the same command"]);
    let rest = done(&program, &["reduce", "3", "--format", "json", "-q"]);
    assert_eq!(document(&rest), whole);
}

/// Waits until so many attempts are written down.
fn wait_for_attempts(program: &Program, run: &str, count: usize) {
    let attempts: PathBuf =
        [program.directory.as_path(), ".stripe".as_ref(), run.as_ref(), "attempts".as_ref()].iter().collect();
    let begun = Instant::now();
    let made = || fs::read_to_string(&attempts).is_ok_and(|text| text.lines().count() > count + 2);
    while !made() {
        assert!(begun.elapsed() < Duration::from_secs(100), "no attempts in {}", attempts.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn the_users_interrupt_leaves_a_ranking_of_what_was_tried() {
    let (program, path) = slow();
    let child = command(&program, &["locate", &path, "--reference", "correct", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("stripe starts");
    wait_for_attempts(&program, "1-kept", 3);
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.is_ok_and(|status| status.success()));
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert_says(&text(&output.stderr), &["`stripe reduce 1` goes on"]);
    let found = document(&output);
    assert_eq!(found["status"], "interrupted");
    assert!(found["lines"].as_array().is_some_and(|lines| lines.len() > 5), "{found}");
}

#[test]
fn a_kept_result_is_told_in_all_forms_and_taken_for_no_search() {
    let program = tiny(
        "forms",
        "#include <stdio.h>\nint main(void) {\n  int n = 3;\n  if (n > 2)\n    n = 0;\n  printf(\"%d\\n\", n);\n  return 0;\n}\n",
    );
    fs::write(program.directory.join("correct"), "3\n").expect("written");
    let path = program.path.display().to_string();
    assert_eq!(done(&program, &["run", &path, "-q"]).status.code(), Some(0));
    let located = done(&program, &["locate", &path, "--reference", "correct", "-q"]);
    assert_eq!(located.status.code(), Some(0), "{}", text(&located.stderr));
    let formats = ["html", "json", "csv", "sarif", "quickfix", "github", "gdb"];
    let emissions: Vec<String> = formats.iter().map(|kind| format!("--emit={kind}=out.{kind}")).collect();
    let words = [&["report"][..], &emissions.iter().map(String::as_str).collect::<Vec<_>>()].concat();
    let reported = done(&program, &words);
    assert_eq!(text(&reported.stdout), text(&located.stdout), "{}", text(&reported.stderr));
    for kind in formats {
        let direct =
            done(&program, &["locate", &path, "--reference", "correct", "-q", "--no-save", "--format", kind]);
        let kept = fs::read_to_string(program.directory.join(format!("out.{kind}"))).expect("written");
        match kind {
            // The time and the command line differ.
            "html" | "json" | "sarif" | "github" | "gdb" => {
                assert!(kept.contains("forms.c") && kept.len() > 500, "{kept}")
            }
            _ => assert_eq!(text(&direct.stdout), kept),
        }
    }
    assert_says(
        &message(&done(&program, &["report", "2", "--format", "dot"]), 2),
        &["dot: tells of a slice"],
    );
    assert_says(&message(&done(&program, &["replay", "2", "--omit", "4"]), 2), &["one of `stripe locate`"]);
    let explained = done(&program, &["explain", "forms.c:6"]);
    assert_eq!(explained.status.code(), Some(0), "{}", text(&explained.stderr));
}

#[test]
fn what_further_tests_have_shown_is_kept_with_it() {
    let source = "#include <stdio.h>\nint main(void) {\n  int n = 0;\n  scanf(\"%d\", &n);\n  if (n != 0)\n    n = -n;\n  printf(\"%d\\n\", n);\n  return 0;\n}\n";
    let program = tiny("tested", source);
    let tests = program.directory.join("tests");
    fs::create_dir(&tests).expect("made");
    for (name, given, correct) in [("a", "5\n", "5\n"), ("b", "7\n", "7\n"), ("c", "0\n", "0\n")] {
        fs::write(tests.join(format!("{name}.in")), given).expect("written");
        fs::write(tests.join(format!("{name}.out")), correct).expect("written");
    }
    let path = program.path.display().to_string();
    let locate = ["locate", &path, "--tests", "tests", "--format", "json", "-q"];
    let whole = document(&done(&program, &locate));
    assert_eq!((&whole["studied"], &whole["lines"][0]["plausible"]), (&"a".into(), &true.into()), "{whole}");
    assert_eq!(document(&done(&program, &["report", "--format", "json"])), whole);
    assert_eq!(done(&program, &[&locate[..], &["--max-tests", "8"]].concat()).status.code(), Some(5));
    fs::remove_dir_all(&tests).expect("not needed any more");
    let rest = done(&program, &["reduce", "2", "--max-tests", "9999", "--format", "json", "-q"]);
    assert_eq!(document(&rest), whole, "{}", text(&rest.stderr));
}

/// A decision whose other way is right.
const DECIDED: &str = r#"#include <stdio.h>
int main(void) {
  int size = 5;
  if (size > 3)
    puts("small");
  else
    puts("large");
  return 0;
}
"#;

#[test]
fn a_kept_run_is_changed_and_explained_by_its_number() {
    let program = tiny("asked", DECIDED);
    fs::write(program.directory.join("correct"), "large\n").expect("written");
    let path = program.path.display().to_string();
    done(&program, &["locate", &path, "--reference", "correct", "-q"]);
    let output = done(&program, &["replay", "latest", "--flip", "asked.c:4"]);
    assert_eq!((text(&output.stdout), output.status.code()), ("large\n".to_owned(), Some(1)));
    assert_says(&text(&output.stderr), &["not reproduced: the output is right"]);
    let output = done(&program, &["replay", "1", "--omit-line", "asked.c:5"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_says(
        &text(&output.stderr),
        &["asked.c:5 left out", "reproduced: the output is another one, and wrong"],
    );
    let told = text(&done(&program, &["explain", "1", "asked.c:5"]).stdout);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&told, &["puts(\"small\");", "left out: the output is another one, and wrong"]);
    let first = text(&done(&program, &["explain"]).stdout);
    assert_says(
        &first,
        &["  1  asked.c:4", "taken the other way: the output is right", "at its first execution (size = 5)"],
    );
}
