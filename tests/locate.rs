//! `stripe locate`: changes that make a failing run right are real, and faults stand where they are expected.

mod faults;
mod locating;
mod support;

use std::fs;
use std::process::{Command, Output, Stdio};

use faults::{FAULTS, Fault};
use serde_json::Value;
use support::engine::in_two_threads;
use support::tiny::{assert_says, compiled, message, tiny};
use support::{Program, how_many, stripe, text};

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

fn replayed(program: &Program, options: &[&str]) -> Output {
    let mut command = stripe();
    command.arg("replay").arg(&program.path).args(options).current_dir(&program.directory);
    command.stdin(Stdio::null()).output().expect("stripe starts")
}

fn faulty(fault: &Fault) -> Program {
    compiled(fault.file, fault.source)
}

#[test]
fn faults_stand_where_they_are_expected_and_what_repairs_them_repairs_the_file() {
    in_two_threads(&FAULTS, |fault| {
        let program = faulty(fault);
        let options: &[&str] =
            if fault.file == "endless.c" { &["--expect-timeout", "--timeout", "100ms"] } else { &[] };
        let found = located(&program, fault.correct, options);
        let line = 1 + fault.source.lines().position(|line| line.contains("FAULT")).expect("a mark") as u64;
        let lines = found["lines"].as_array().expect("lines");
        let place = lines.iter().find(|one| one["line"] == line);
        let worst = place
            .map(|place| place["rank"].as_u64().expect("a rank") + place["ties"].as_u64().expect("ties") - 1);
        assert_eq!(worst.is_some(), fault.rank.is_some(), "{}: {found}", fault.file);
        assert!(worst <= fault.rank, "{}: {place:?}", fault.file);
        let repairs = lines.iter().flat_map(|line| line["repairs"].as_array().expect("repairs"));
        let repairs: Vec<&Value> = repairs.filter(|repair| repair["outcome"] == "right").collect();
        for repair in repairs.iter().filter(|repair| repair["event"].is_null()) {
            if let Some(printed) = printed_by_patched(&program, repair) {
                assert_eq!(printed, fault.correct, "{}: {repair}", fault.file);
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
    assert_eq!(text(&output.stdout), fault.correct, "{}: {repair}: {}", fault.file, text(&output.stderr));
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

/// What gdb says, led by the script that `stripe locate` has written, and these commands.
fn performed(program: &Program, options: &[&str], commands: &[String]) -> Output {
    let script = program.directory.join("repairs.gdb");
    let written = locate(program, &[&["--format", "gdb", "-q"], options].concat());
    assert_eq!(written.status.code(), Some(0), "{}", text(&written.stderr));
    fs::write(&script, &written.stdout).expect("written");
    let mut gdb = Command::new("timeout");
    gdb.args(["100", "gdb", "-q", "-nx", "-batch", "-x"]).arg(&script);
    gdb.args(commands.iter().flat_map(|command| ["-ex", command]));
    gdb.stdin(Stdio::null()).current_dir("/").output().expect("gdb is installed")
}

#[test]
fn gdb_repairs_the_run_by_the_same_changes() {
    let some: Vec<&Fault> = FAULTS.iter().step_by(how_many(7, 1) as usize).collect();
    in_two_threads(&some, |fault| {
        let program = faulty(fault);
        fs::write(program.directory.join("correct"), fault.correct).expect("written");
        let endless: &[&str] = &["--expect-timeout", "--timeout", "100ms"];
        let endless = if fault.file == "endless.c" { endless } else { &[] };
        let options = [&["--reference", "correct"], endless].concat();
        let listed = text(&performed(&program, &options, &["repair list".into()]).stdout);
        let rows = listed.lines().filter(|row| row.ends_with(": right"));
        let numbers = rows.filter_map(|row| row.split_whitespace().next());
        let numbers: Vec<&str> = numbers.take(how_many(2, 1000) as usize).collect();
        let commands: Vec<String> = numbers.iter().map(|number| format!("repair through {number}")).collect();
        let output = performed(&program, &options, &commands);
        let (printed, said) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(printed, fault.correct.repeat(numbers.len()), "{}: {said}", fault.file);
    });
}

#[test]
fn gdb_stops_at_a_change_and_tells_what_it_cannot_do() {
    let program = faulty(&FAULTS[7]);
    fs::write(program.directory.join("correct"), FAULTS[7].correct).expect("written");
    let does = |correct: &str, commands: &[&str]| {
        let commands: Vec<String> = commands.iter().map(|&command| command.to_owned()).collect();
        let output = performed(&program, &["--reference", correct], &commands);
        text(&output.stdout) + &text(&output.stderr)
    };
    let told = does("correct", &["repair begin 1", "continue", "print i", "continue"]);
    let words = "find.c:4 taken the other way at its first execution: right";
    let words = words.replace("find.c:4", "early-return.c:4");
    assert_says(&told, &[&format!("stripe: execution 1: {words}"), "$1 = 0", "has ended with status 0"]);
    assert_says(&does("correct", &["repair through 99"]), &["Name a change by its number, 1 to "]);
    assert_says(&does("correct", &["repair begin"]), &["Name a change by its number, 1 to "]);
    fs::write(program.directory.join("hopeless"), "something else\n").expect("written");
    let none = does("hopeless", &["repair through 1"]);
    assert_says(&none, &["There is no change that makes the output right or brings it nearer."]);
    let source = r#"#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) { int n = 1, status;
  if (fork() == 0)
    _exit(0);
  wait(&status);
  if (n == 1)
    n = 2;
  printf("%d\n", n);
  return 0;
}
"#;
    let forks = tiny("starts", source);
    fs::write(forks.directory.join("correct"), "1\n").expect("written");
    let output = performed(&forks, &["--reference", "correct"], &["repair through 1".into()]);
    assert_eq!(text(&output.stdout), "1\n", "{}", text(&output.stderr));
    assert_says(&text(&output.stderr), &["the program starts processes, and in those gdb changes nothing"]);
    let long = program.directory.join("long");
    fs::write(&long, vec![b'x'; 2 << 20]).expect("an input");
    let stdin = long.to_str().expect("UTF-8");
    let options = ["--reference", "correct", "--format", "gdb", "--stdin", stdin, "-q"];
    assert_says(&message(&locate(&program, &options), 1), &["1048576 bytes at most"]);
}

#[test]
fn the_result_does_not_depend_on_the_number_of_workers() {
    let Fault { source, correct, .. } = &FAULTS[7];
    let program = tiny("located-by-workers", source);
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
    let replayed = |options: &[&str]| replayed(&program, options);
    let left_out = replayed(&["--omit-line", "surplus-call.c:5"]);
    assert_eq!((text(&left_out.stdout).as_str(), left_out.status.code()), ("one\ntwo\n", Some(1)));
    assert_says(&text(&left_out.stderr), &["surplus-call.c:5 left out", "not reproduced"]);
    // Of several decisions of a line the column tells which.
    let head = tiny(
        "several",
        "int main(int argc, char **argv) {\n  if (argc > 0 && argv) return 2;\n  return 0; }\n",
    );
    let mut command = stripe();
    command.arg("replay").arg(&head.path).args(["--flip", "several.c:2:16"]).stdin(Stdio::null());
    let flipped = text(&command.current_dir(&head.directory).output().expect("stripe starts").stderr);
    assert_says(&flipped, &["several.c:2:16 taken the other way"]);
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
