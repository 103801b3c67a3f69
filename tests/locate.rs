//! `stripe locate`: changes that make a failing run right are real, and faults stand where they are expected.

mod support;

use std::fs;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::engine::in_two_threads;
use support::tiny::{assert_says, message, tiny};
use support::{Program, stripe, text};

/// A program with one fault, in the line that holds FAULT.
struct Fault {
    name: &'static str,
    source: &'static str,
    correct: &'static str,
    /// The faulty line, or the one beside what is missing, stands there or before.
    rank: u64,
}

const FAULTS: [Fault; 24] = [
    Fault {
        name: "off-by-one-low",
        source: "int main(void) { int v[4] = {1, 2, 3, 9};\n  int best = v[0];\n  for (int i = 1; i < 3; i++) // FAULT\n    if (v[i] > best)\n      best = v[i];\n  printf(\"%d\\n\", best);\n  return 0; }\n",
        correct: "9\n",
        rank: 1,
    },
    Fault {
        name: "off-by-one-high",
        source: "int main(void) { int v[5] = {1, 2, 3, 4, 100};\n  int sum = 0;\n  for (int i = 0; i <= 4; i++) // FAULT\n    sum += v[i];\n  printf(\"%d\\n\", sum);\n  return 0; }\n",
        correct: "10\n",
        rank: 2,
    },
    Fault {
        name: "wrong-condition",
        source: "int main(void) { int v[4] = {-3, 5, -2, 4};\n  int n = 0;\n  for (int i = 0; i < 4; i++)\n    if (v[i] < 0) // FAULT\n      n++;\n  printf(\"positive %d\\n\", n + (n == 2));\n  return 0; }\n",
        correct: "positive 1\n",
        rank: 2,
    },
    Fault {
        name: "negated-condition",
        source: "int even(int n) {\n  if (n % 2 != 0) // FAULT\n    return 1;\n  return 0;\n}\nint main(void) {\n  printf(\"%d\\n\", even(4));\n  return 0; }\n",
        correct: "1\n",
        rank: 1,
    },
    Fault {
        name: "missing-guard",
        source: "int main(void) { int v[3] = {4, 0, 2};\n  for (int i = 0; i < 3; i++) {\n    int q = v[i] == 0 ? 9 : 8 / v[i]; // FAULT\n    printf(\"%d\\n\", q);\n  }\n  return 0; }\n",
        correct: "2\n4\n",
        rank: 3,
    },
    Fault {
        name: "surplus-statement",
        source: "int main(void) { int sum = 0;\n  for (int i = 1; i <= 4; i++) {\n    sum += i;\n    if (i == 3)\n      sum = sum * 2; // FAULT\n  }\n  printf(\"%d\\n\", sum);\n  return 0; }\n",
        correct: "10\n",
        rank: 3,
    },
    Fault {
        name: "surplus-call",
        source: "static void log_it(int n) { printf(\"debug %d\\n\", n); }\nint main(void) {\n  printf(\"one\\n\");\n  log_it(5); // FAULT\n  printf(\"two\\n\");\n  return 0; }\n",
        correct: "one\ntwo\n",
        rank: 2,
    },
    Fault {
        name: "early-return",
        source: "int find(const int *v, int n, int x) {\n  for (int i = 0; i < n; i++) {\n    if (v[i] >= x) // FAULT\n      return i;\n  }\n  return -1;\n}\nint main(void) { int v[4] = {9, 3, 5, 7};\n  printf(\"%d\\n\", find(v, 4, 5));\n  return 0; }\n",
        correct: "2\n",
        rank: 1,
    },
    Fault {
        name: "missing-break",
        source: "int main(void) { int v[4] = {1, 7, 7, 2};\n  int at = -1;\n  for (int i = 0; i < 4; i++)\n    if (v[i] == 7) // FAULT\n      at = i;\n  printf(\"%d\\n\", at);\n  return 0; }\n",
        correct: "1\n",
        rank: 2,
    },
    Fault {
        name: "wrong-loop-bound",
        source: "int main(void) { int f = 1, n = 5;\n  for (int i = 1; i < n; i++) // FAULT\n    f *= i;\n  printf(\"%d\\n\", f);\n  return 0; }\n",
        correct: "120\n",
        rank: 1,
    },
    Fault {
        name: "swapped-branches",
        source: "int main(void) { int a = 3, b = 8, m;\n  if (a > b)\n    m = b;\n  else\n    m = a; // FAULT\n  printf(\"max %d\\n\", m);\n  return 0; }\n",
        correct: "max 8\n",
        rank: 3,
    },
    Fault {
        name: "wrong-initial-value",
        source: "int main(void) { int v[3] = {4, 2, 9};\n  int least = 0; // FAULT\n  for (int i = 0; i < 3; i++)\n    if (v[i] < least)\n      least = v[i];\n  printf(\"%d\\n\", least);\n  return 0; }\n",
        correct: "2\n",
        rank: 3,
    },
    Fault {
        name: "wrong-case",
        source: "int days(int m) {\n  switch (m) { // FAULT\n  case 2: return 28;\n  case 4: case 6: case 9: return 30;\n  default: return 31;\n  }\n}\nint main(void) {\n  printf(\"%d\\n\", days(11));\n  return 0; }\n",
        correct: "30\n",
        rank: 6,
    },
    Fault {
        name: "and-for-or",
        source: "int main(void) { int c = 'x', vowel = 0;\n  const char *t = \"axe\";\n  for (; *t; t++) { c = *t;\n    if (c == 'a' && c != 'e') // FAULT\n      vowel++;\n  }\n  printf(\"%d\\n\", vowel);\n  return 0; }\n",
        correct: "2\n",
        rank: 2,
    },
    Fault {
        name: "endless",
        source: "int main(void) { int a = 12, b = 18, c = 0;\n  while (a != b) {\n    if (a > b)\n      a = a - b;\n    else\n      b = b - c; // FAULT\n  }\n  printf(\"gcd %d\\n\", a);\n  return 0; }\n",
        correct: "gcd 6\n",
        rank: 3,
    },
    Fault {
        name: "crash",
        source: "struct node { int value; struct node *next; };\nint main(void) { struct node last = {2, NULL}, first = {1, &last};\n  struct node *at = &first; int sum = 0;\n  for (int i = 0; i < 3; i++) { // FAULT\n    sum += at->value;\n    at = at->next;\n  }\n  printf(\"%d\\n\", sum);\n  return 0; }\n",
        correct: "3\n",
        rank: 1,
    },
    Fault {
        name: "missing-output",
        source: "int main(void) { int found = 0;\n  for (int i = 0; i < 3; i++)\n    if (i > 5) // FAULT\n      found = 1;\n  if (found)\n    printf(\"found\\n\");\n  printf(\"done\\n\");\n  return 0; }\n",
        correct: "found\ndone\n",
        rank: 2,
    },
    Fault {
        name: "surplus-output",
        source: "int main(void) {\n  for (int i = 0; i < 4; i++) // FAULT\n    printf(\"%d\\n\", i);\n  return 0; }\n",
        correct: "0\n1\n2\n",
        rank: 2,
    },
    Fault {
        name: "missing-reset",
        source: "int main(void) { int v[2][2] = {{1, 2}, {3, 4}};\n  int sum = 0; // FAULT\n  for (int i = 0; i < 2; i++) {\n    for (int j = 0; j < 2; j++)\n      sum += v[i][j];\n    printf(\"%d\\n\", sum);\n  }\n  return 0; }\n",
        correct: "3\n7\n",
        rank: 8,
    },
    Fault {
        name: "wrong-variable",
        source: "int main(void) { int width = 3, height = 4;\n  int area = width * width; // FAULT\n  printf(\"%d\\n\", area);\n  return 0; }\n",
        correct: "12\n",
        rank: 3,
    },
    Fault {
        name: "wrong-operator",
        source: "int main(void) { int a = 7, b = 2;\n  int rest = a / b; // FAULT\n  printf(\"%d\\n\", rest);\n  return 0; }\n",
        correct: "1\n",
        rank: 3,
    },
    Fault {
        name: "recursion",
        source: "int power(int b, int e) {\n  if (e == 1) // FAULT\n    return 1;\n  return b * power(b, e - 1);\n}\nint main(void) {\n  printf(\"%d\\n\", power(2, 5));\n  return 0; }\n",
        correct: "32\n",
        rank: 2,
    },
    Fault {
        name: "string-end",
        source: "int main(void) { const char *t = \"abc\"; int n = 0;\n  while (t[n + 1]) // FAULT\n    n++;\n  printf(\"%d\\n\", n);\n  return 0; }\n",
        correct: "3\n",
        rank: 2,
    },
    Fault {
        name: "wrong-sign",
        source: "int main(void) { int balance = 10;\n  int moves[3] = {5, -3, 4};\n  for (int i = 0; i < 3; i++)\n    if (moves[i] > 0)\n      balance -= moves[i]; // FAULT\n    else\n      balance += moves[i];\n  printf(\"%d\\n\", balance);\n  return 0; }\n",
        correct: "16\n",
        rank: 6,
    },
];

fn located(program: &Program, correct: &str, options: &[&str]) -> Value {
    fs::write(program.directory.join("correct"), correct).expect("written");
    let output = locate(program, &[&["--reference", "correct", "--format", "json", "-q"], options].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a document")
}

fn locate(program: &Program, options: &[&str]) -> Output {
    let mut command = stripe();
    command
        .arg("locate")
        .arg(&program.path)
        .args(options)
        .current_dir(&program.directory)
        .stdin(Stdio::null());
    command.output().expect("stripe starts")
}

fn faulty(fault: &Fault) -> Program {
    tiny(fault.name, &format!("#include <stdio.h>\n{}", fault.source))
}

#[test]
fn faults_stand_where_they_are_expected_and_what_repairs_them_repairs_the_file() {
    in_two_threads(&FAULTS, |fault| {
        let program = faulty(fault);
        let options: &[&str] =
            if fault.name == "endless" { &["--expect-timeout", "--timeout", "100ms"] } else { &[] };
        let found = located(&program, fault.correct, options);
        let line = 2 + fault.source.lines().position(|line| line.contains("FAULT")).expect("a mark") as u64;
        let lines = found["lines"].as_array().expect("lines");
        let place = lines.iter().find(|one| one["line"] == line).unwrap_or_else(|| panic!("{}", fault.name));
        let worst = place["rank"].as_u64().expect("a rank") + place["ties"].as_u64().expect("ties") - 1;
        assert!(worst <= fault.rank, "{}: {place}", fault.name);
        let repairs = lines.iter().flat_map(|line| line["repairs"].as_array().expect("repairs"));
        let repairs: Vec<&Value> = repairs.filter(|repair| repair["outcome"] == "right").collect();
        for repair in repairs.iter().filter(|repair| repair["event"].is_null()) {
            if let Some(printed) = printed_by_patched(&program, repair) {
                assert_eq!(printed, fault.correct, "{}: {repair}", fault.name);
            }
        }
        let again = if std::env::var_os("STRIPE_THOROUGH").is_some() { repairs.len() } else { 2 };
        for repair in repairs.iter().take(again) {
            assert_replayed(&program, repair, fault, options);
        }
    });
}

/// The change is made again by `stripe replay`, and the output is right again.
fn assert_replayed(program: &Program, repair: &Value, fault: &Fault, options: &[&str]) {
    let kind = match repair["kind"].as_str().expect("a kind") {
        "omit" => "--omit-line".to_owned(),
        kind => format!("--{kind}"),
    };
    let place = match repair["event"].as_u64() {
        Some(event) => event.to_string(),
        None if kind != "--omit-line" => repair["address"].as_str().expect("an address").to_owned(),
        None => {
            format!("{}:{}:{}", repair["file"].as_str().expect("a file"), repair["line"], repair["column"])
        }
    };
    let mut command = stripe();
    command.arg("replay").arg(&program.path).args(options).args([&kind, &place]);
    let output =
        command.current_dir(&program.directory).stdin(Stdio::null()).output().expect("stripe starts");
    assert_eq!(text(&output.stdout), fault.correct, "{}: {repair}: {}", fault.name, text(&output.stderr));
}

/// What a copy of the program prints whose file has the change of a decision; `None` for other changes.
fn printed_by_patched(program: &Program, repair: &Value) -> Option<String> {
    let address = repair["address"]
        .as_str()
        .and_then(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok())?;
    let mut file = fs::read(&program.path).expect("readable");
    let at = offset_of(&file, address)?;
    let is_short = (0x70..=0x7f).contains(&file[at]);
    match (repair["kind"].as_str()?, is_short) {
        ("flip", true) => file[at] ^= 1,
        ("flip", false) => file[at + 1] ^= 1,
        ("always", true) => file[at] = 0xeb,
        ("always", false) => file[at..at + 2].copy_from_slice(&[0x90, 0xe9]),
        ("never", true) => file[at..at + 2].fill(0x90),
        ("never", false) => file[at..at + 6].fill(0x90),
        _ => return None,
    }
    let patched = program.path.with_extension("patched");
    let _ = fs::remove_file(&patched);
    fs::copy(&program.path, &patched).and_then(|_| fs::write(&patched, file)).expect("written");
    Some(text(&Command::new(&patched).output().expect("it starts").stdout))
}

/// Where an address lies in an ELF file, by its program headers.
fn offset_of(file: &[u8], address: u64) -> Option<usize> {
    let number = |at: usize, length: usize| {
        let mut bytes = [0; 8];
        bytes[..length].copy_from_slice(&file[at..at + length]);
        u64::from_le_bytes(bytes)
    };
    let (headers, count) = (number(32, 8) as usize, number(56, 2) as usize);
    (0..count).map(|header| headers + 56 * header).find_map(|header| {
        let (kind, offset, start, size) =
            (number(header, 4), number(header + 8, 8), number(header + 16, 8), number(header + 32, 8));
        (kind == 1 && (start..start + size).contains(&address)).then(|| (address - start + offset) as usize)
    })
}

#[test]
fn the_result_does_not_depend_on_the_number_of_workers() {
    let Fault { source, correct, .. } = &FAULTS[7];
    let program = tiny("located-by-workers", &format!("#include <stdio.h>\n{source}"));
    let mut results = ["-j1", "-j4"].map(|jobs| located(&program, correct, &[jobs]));
    for result in &mut results {
        result["seconds"] = 0.into();
    }
    assert_eq!(results[0], results[1]);
}

#[test]
fn a_check_says_what_is_right() {
    let program = faulty(&FAULTS[3]);
    let output = locate(&program, &["--check", "grep -qx 1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_says(
        &text(&output.stdout),
        &["1  negated-condition.c:3  if (n % 2 != 0)", "taken the other way: the output is right"],
    );
}

#[test]
fn a_run_that_is_right_is_refused_and_so_is_nothing_to_compare_with() {
    let program = faulty(&FAULTS[3]);
    fs::write(program.directory.join("own"), "0\n").expect("written");
    let refused = message(&locate(&program, &["--reference", "own", "-q"]), 3);
    assert_says(&refused, &["the run is right", "give the input that makes the program fail"]);
    let nothing = locate(&program, &["-q"]);
    assert_eq!(nothing.status.code(), Some(2));
    let missing = message(&locate(&program, &["--reference", "not-there"]), 2);
    assert_says(&missing, &["--reference not-there: No such file"]);
}

#[test]
fn white_space_is_told_and_counts_unless_it_is_ignored() {
    let program = faulty(&FAULTS[3]);
    let with = |correct: &str, options: &[&str]| {
        fs::write(program.directory.join("correct"), correct).expect("written");
        locate(&program, &[&["--reference", "correct"], options].concat())
    };
    let told = |output: &Output| text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    // What would be right is printed without the line end that the reference has.
    let exact = with("1 \r\n\n", &[]);
    let almost = "taken the other way: the output is right but for white space";
    let verdict = "none makes the output right";
    assert_says(&told(&exact), &[almost, verdict, "with --ignore-space that counts as right"]);
    let ignoring = told(&with("1 \r\n\n", &["--ignore-space"]));
    assert_says(&ignoring, &[almost, "With all of them white space differs, which is ignored."]);
    let document = with("1 \r\n\n", &["--ignore-space", "--format", "json", "-q"]);
    let found: Value = serde_json::from_slice(&document.stdout).expect("a document");
    assert_eq!(found["runs"]["only_space"], found["runs"]["right"]);
    let first = &found["lines"][0]["repairs"][0];
    assert_eq!((&first["outcome"], &first["only_space"]), (&"right".into(), &true.into()));
    // The recorded run, which prints 0.
    assert_says(
        &told(&with("0", &[])),
        &["in white space only; with --ignore-space the run counts as right"],
    );
    assert_says(&message(&with("0", &["--ignore-space", "-q"]), 3), &["right but for white space"]);
    let needless = locate(&program, &["--check", "true", "--ignore-space"]);
    assert_says(&message(&needless, 2), &["--reference"]);
}

#[test]
fn a_change_of_ones_own_is_told_and_places_that_are_none_are_refused() {
    let program = faulty(&FAULTS[6]);
    let replayed = |options: &[&str]| {
        let mut command = stripe();
        command.arg("replay").arg(&program.path).args(options).current_dir(&program.directory);
        command.stdin(Stdio::null()).output().expect("stripe starts")
    };
    let left_out = replayed(&["--omit-line", "surplus-call.c:5"]);
    assert_eq!((text(&left_out.stdout).as_str(), left_out.status.code()), ("one\ntwo\n", Some(1)));
    assert_says(&text(&left_out.stderr), &["surplus-call.c:5 left out", "not reproduced"]);
    // Two changes in one run.
    let both = replayed(&["--omit-line", "surplus-call.c:5", "--omit-line", "2"]);
    assert_eq!(text(&both.stdout), "two\n", "{}", text(&both.stderr));
    for (options, said) in [
        (["--flip", "surplus-call.c:5"], "no decision"),
        (["--always", "4"], "a single execution is changed by --flip"),
        (["--flip", "surplus-call.c:99"], "was not executed"),
        (["--omit-line", "surplus-call.c:5:1"], "statements begin at column 3"),
        (["--omit-line", "1"], "serves the frame"),
        (["--flip", "nowhere.c:1"], "nowhere.c: no traced function"),
    ] {
        assert_says(&message(&replayed(&options), 2), &[said]);
    }
    assert_says(&message(&replayed(&["--flip", "4", "--omit", "3"]), 2), &["cannot be used with"]);
    // A kept run.
    let kept = stripe().arg("run").arg(&program.path).args(["-q"]).current_dir(&program.directory).output();
    assert_eq!(kept.expect("stripe starts").status.code(), Some(0));
    let mut command = stripe();
    let kept =
        command.args(["replay", "latest", "--omit-line", "surplus-call.c:5"]).current_dir(&program.directory);
    assert_eq!(text(&kept.output().expect("stripe starts").stdout), "one\ntwo\n");
}

#[test]
fn a_correct_output_that_nothing_leads_to_still_gives_an_order() {
    let program = faulty(&FAULTS[19]);
    let found = located(&program, "something else\n", &[]);
    assert_eq!((&found["runs"]["right"], &found["status"]), (&0.into(), &"complete".into()));
    assert!(found["lines"].as_array().is_some_and(|lines| lines.len() >= 4), "{found}");
    let output = locate(&program, &["--reference", "correct"]);
    assert_says(&text(&output.stdout), &["none makes the output right"]);
}

#[test]
fn a_budget_ends_it_with_a_ranking_of_what_was_tried() {
    let program = faulty(&FAULTS[0]);
    fs::write(program.directory.join("correct"), "9\n").expect("written");
    let output = locate(&program, &["--reference", "correct", "--max-tests", "3", "--format", "json", "-q"]);
    assert_eq!(output.status.code(), Some(5));
    let found: Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!((&found["runs"]["total"], &found["status"]), (&3.into(), &"budget".into()));
}

#[test]
fn programs_that_start_others_or_handle_traps_are_changed_like_any_other() {
    let source = r#"#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int traps;
static void handler(int s) { (void)s; traps++; }
int main(void) {
  signal(SIGTRAP, handler);
  int n = 0;
  for (int i = 0; i < 3; i++) {
    raise(SIGTRAP);
    if (fork() == 0) {
      for (int k = 0; k < 3; k++) if (k == 7) exit(9);
      _exit(0);
    }
    int status; wait(&status);
    if (system("true") == 0 && status == 0) n++;
    if (i == 1) // FAULT
      n = 7;
  }
  printf("%d %d\n", traps, n);
  return 0;
}
"#;
    let program = tiny("forks-and-traps", source);
    let found = located(&program, "3 3\n", &[]);
    assert_eq!(found["lines"][0]["why"], "flip repairs", "{found}");
    let lines = found["lines"].as_array().expect("lines");
    let line = 1 + source.lines().position(|line| line.contains("FAULT")).expect("a mark");
    let fault = lines.iter().find(|one| one["line"] == line).expect("executed");
    assert!(fault["rank"].as_u64() <= Some(2), "{found}");
}

/// In one run alone a repair may be luck: what is printed for 5 is right whenever 1 is returned.
const SIGN: &str = r#"#include <stdio.h>
static int sign(int n) {
  if (n < 0) return -1;
  if (n != 0) return 0; // FAULT
  return 1;
}
int main(void) { int n;
  while (scanf("%d", &n) == 1) printf("%d\n", sign(n));
  return 0;
}
"#;

/// The program with its tests: a table for each in a file, and the same in a folder.
fn with_tests(name: &str, tests: &[(&str, &str, &str)]) -> Program {
    let program = tiny(name, SIGN);
    fs::create_dir(program.directory.join("suite")).expect("a folder");
    let mut toml = String::new();
    for (name, input, output) in tests {
        let file = |ending: &str| format!("suite/{name}.{ending}");
        fs::write(program.directory.join(file("in")), input).expect("written");
        fs::write(program.directory.join(file("out")), output).expect("written");
        let (input, reference) = (file("in"), file("out"));
        toml += &format!("[[test]]\nname = {name:?}\ninput = {input:?}\nreference = {reference:?}\n");
    }
    fs::write(program.directory.join("tests.toml"), toml).expect("written");
    program
}

const SUITE: [(&str, &str, &str); 4] =
    [("five", "5\n", "1\n"), ("minus", "-3\n", "-1\n"), ("none", "", ""), ("zero", "0\n", "0\n")];

#[test]
fn of_several_tests_a_line_whose_change_satisfies_all_stands_first() {
    let program = with_tests("sign", &SUITE);
    let found = |tests: &str| -> Value {
        let output = locate(&program, &["--tests", tests, "--format", "json", "-q"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("a document")
    };
    let result = found("tests.toml");
    assert_eq!(result["studied"], "five");
    assert_eq!(
        result["tests"],
        serde_json::json!({"failing": 1, "passing": 2, "failing_tried": 1, "passing_tried": 2})
    );
    let lines = result["lines"].as_array().expect("lines");
    assert_eq!(
        (&lines[0]["line"], &lines[0]["plausible"], &lines[0]["ties"]),
        (&4.into(), &true.into(), &1.into())
    );
    // Executed by both failing tests and by no passing one.
    assert_eq!(lines[0]["ochiai"], 1.0);
    let best = &lines[0]["repairs"][0];
    assert_eq!((&best["kind"], &best["event"]), (&"flip".into(), &Value::Null));
    assert_eq!(best["tests"], serde_json::json!({"failing_right": 1, "passing_wrong": 0}));
    assert!(lines[1..].iter().all(|line| line["plausible"] == false), "{result}");
    // What always returns 1 makes the run under study right, and no other failing test.
    let forced = lines[0]["repairs"].as_array().expect("repairs").iter().find(|one| one["kind"] == "always");
    assert_eq!(forced.expect("it was tried")["tests"]["failing_right"], 0);
    // A folder of files holds the same tests.
    let (mut one, mut other) = (result.clone(), found("suite"));
    for result in [&mut one, &mut other] {
        result["seconds"] = 0.into();
    }
    assert_eq!(one, other);
    let told = text(&locate(&program, &["--tests", "suite"]).stdout);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(
        &told,
        &[
            "the output is right, and of 1 other failing test; 2 passing tests stay right",
            "The run under study is the test five",
            "1 line has a change that satisfies all of them",
        ],
    );
}

#[test]
fn the_ranking_is_written_for_other_tools() {
    let program = faulty(&FAULTS[3]);
    fs::write(program.directory.join("correct"), FAULTS[3].correct).expect("written");
    let written = |format: &str| {
        let output = locate(&program, &["--reference", "correct", "--format", format, "-q"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let remark = "taken the other way: the output is right";
    let csv = written("csv");
    let rows: Vec<&str> = csv.lines().take(2).collect();
    let row = format!("1,1,negated-condition.c,3,even,flip repairs,{remark}");
    assert_eq!(rows, ["rank,ties,file,line,function,why,remark", row.as_str()]);
    let quickfix = written("quickfix");
    let first = quickfix.lines().next().unwrap_or_default();
    assert!(
        first.starts_with('/') && first.ends_with(&format!("negated-condition.c:3:1: rank 1: {remark}")),
        "{first}"
    );
    let github = written("github");
    let notice = format!("::notice file=negated-condition.c,line=3,title=stripe%3A rank 1::{remark}");
    assert!(github.starts_with("::warning title=stripe::") && github.contains(&notice), "{github}");
    let log: Value = serde_json::from_str(&written("sarif")).expect("a document");
    let result = &log["runs"][0]["results"][0];
    assert_eq!((&result["rank"], &result["level"]), (&100.0.into(), &"warning".into()));
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "negated-condition.c");
    let _: serde_sarif::sarif::Sarif = serde_json::from_value(log).expect("SARIF");
}

#[test]
fn tests_that_are_none_or_do_not_do_what_is_said_are_told() {
    let program = with_tests("sign-told", &SUITE);
    let write = |toml: &str| fs::write(program.directory.join("own.toml"), toml).expect("written");
    write("[[test]]\nname = \"gone\"\ninput = \"gone.in\"\nreference = \"gone.out\"\n");
    let told = message(&locate(&program, &["--tests", "own.toml"]), 2);
    assert_says(&told, &["own.toml:3: ", "gone.in is not there", "1 mistake like it"]);
    assert_says(
        &message(&locate(&program, &["--tests", "nowhere.toml"]), 2),
        &["nowhere.toml", "No such file"],
    );
    write("[[test]]\nname = \"minus\"\ninput = \"suite/minus.in\"\nreference = \"suite/minus.out\"\n");
    let told = message(&locate(&program, &["--tests", "own.toml", "-q"]), 3);
    assert_says(&told, &["no test fails", "--reference"]);
    // White space in a further test.
    let own = "[[test]]\nname = \"none\"\ninput = \"suite/none.in\"\nreference = \"blank\"\n";
    let studied = "[[test]]\nname = \"five\"\ninput = \"suite/five.in\"\nreference = \"suite/five.out\"\n";
    fs::write(program.directory.join("blank"), " \n").expect("written");
    write(&format!("{studied}{own}"));
    for (option, said) in
        [("-j1", "fails by white space alone"), ("--ignore-space", "passes but for white space")]
    {
        let told = text(&locate(&program, &["--tests", "own.toml", option]).stdout);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_says(&told, &[&format!("the test none {said}")]);
    }
    // The run of the command line, and a test that is said to pass.
    write(
        "[[test]]\nname = \"zero\"\ninput = \"suite/zero.in\"\nreference = \"suite/zero.out\"\npasses = true\n",
    );
    fs::write(program.directory.join("correct"), "1\n").expect("written");
    let stdin = program.directory.join("suite/five.in");
    let options =
        ["--stdin", stdin.to_str().expect("UTF-8"), "--reference", "correct", "--tests", "own.toml"];
    let output = locate(&program, &options);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let told = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(
        &told,
        &["the test zero is said to pass, and fails", "1 other failing test and 0 passing tests"],
    );
}
