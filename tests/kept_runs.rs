//! Runs are kept: listed, reported, and gone on with, whatever has ended them.

mod support;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use support::engine::in_two_threads;
use support::tiny::{assert_says, file, message, tiny};
use support::{Fixture, GCC, Program, assert_golden, sample, scratch, stripe, text};

/// The sample in a working directory of its own.
fn sample_in(name: &str) -> Program {
    Program { directory: scratch(&format!("kept-{name}")), ..sample(GCC, "") }
}

/// A subcommand about kept runs.
fn about(program: &Program, words: &[&str]) -> Output {
    stripe().args(words).current_dir(&program.directory).output().expect("stripe can be started")
}

fn json(output: &Output) -> Value {
    let told = text(&output.stdout);
    serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}{}", text(&output.stderr)))
}

fn assert_status(output: &Output, expected: i32) {
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(expected), "{told}\n{}", text(&output.stdout));
    assert!(!told.contains("internal error") && !told.contains("panicked"), "{told}");
}

fn kept(slice: &Value) -> u64 {
    slice["events"]["kept"].as_u64().expect("a number")
}

/// The names in the shelf of a program's working directory.
fn shelf(program: &Program) -> Vec<String> {
    let entries = fs::read_dir(program.directory.join(".stripe")).expect("a shelf");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    names
}

/// A text without what differs from run to run: times.
fn lasting(told: &str) -> String {
    let date = regex::Regex::new(r"\d{4}-\d\d-\d\d \d\d:\d\d").expect("an expression");
    let time = regex::Regex::new(r"(runs? in|tests?,)\s+[0-9.]+\s+m?s").expect("an expression");
    let told = date.replace_all(told, "YYYY-MM-DD HH:MM");
    time.replace_all(&told, "$1 T").into_owned()
}

// What is kept.

#[test]
fn a_run_is_listed_and_reported_as_it_was() {
    let program = sample_in("report");
    let printed = program.stripe("run", &["--expect-match", "sum = 15", "-q"]);
    assert_status(&printed, 0);
    assert_eq!(shelf(&program), [".gitignore", "1-sum-mul", "latest"]);
    for name in [&[][..], &["1"], &["latest"], &["1-sum-mul"], &[".stripe/1-sum-mul"]] {
        let reported = about(&program, &[&["report"], name].concat());
        assert_status(&reported, 0);
        assert_eq!(text(&reported.stdout), text(&printed.stdout), "{name:?}");
    }
    let told = json(&about(&program, &["report", "--format", "json"]));
    assert_eq!((&told["status"], &told["schema"]), (&"minimal".into(), &"stripe.slice/1".into()));
    program.stripe("run", &["--max-tests", "20", "-q"]);
    let listed = about(&program, &["runs"]);
    assert_status(&listed, 0);
    assert_golden("kept.runs", &lasting(&text(&listed.stdout)));
}

#[test]
fn a_report_is_written_to_files_too() {
    let program = sample_in("emit");
    program.stripe("run", &["-q"]);
    assert_status(&about(&program, &["report", "--emit", "json=s.json", "--emit", "trace=t.json"]), 0);
    let slice: Value =
        serde_json::from_slice(&fs::read(program.directory.join("s.json")).expect("written")).expect("JSON");
    assert_eq!(kept(&slice), 24);
    assert_says(&message(&about(&program, &["report", "--emit", "json=s.json"]), 2), &["exists", "--force"]);
}

/// All kinds of files.
const KINDS: [&str; 12] =
    ["text", "json", "html", "trace", "jsonl", "csv", "lcov", "sarif", "github", "quickfix", "dot", "chrome"];

/// The options that write a file of each kind, whose names begin with `stem`.
fn emitting(stem: &str) -> Vec<String> {
    KINDS.iter().flat_map(|kind| ["--emit".to_owned(), format!("{kind}={stem}.{kind}")]).collect()
}

#[test]
fn a_report_has_all_kinds_of_files_as_the_run_had_them() {
    let program = sample_in("kinds");
    let (run, report) = (emitting("run"), emitting("report"));
    let words = |options: &'static str, files: &[String]| -> Vec<String> {
        options.split(' ').map(str::to_owned).chain(files.iter().cloned()).collect()
    };
    let run = words("-q -j1", &run);
    assert_status(&program.stripe("run", &run.iter().map(String::as_str).collect::<Vec<_>>()), 0);
    let report = words("report", &report);
    assert_status(&about(&program, &report.iter().map(String::as_str).collect::<Vec<_>>()), 0);
    let read = |name: String| text(&fs::read(program.directory.join(name)).expect("written"));
    for kind in KINDS {
        assert_eq!(read(format!("report.{kind}")), read(format!("run.{kind}")), "{kind}");
    }
    // Without a result, and gone on with.
    let options = ["-q", "-j1", "--max-tests", "9"];
    assert_status(&program.stripe("run", &options), 5);
    let told = text(&about(&program, &["report", "--emit", "jsonl=part.jsonl"]).stdout);
    assert_says(&told, &["8 did not, 0 told neither"]);
    let whole = read("run.jsonl".to_owned());
    let part: String = whole.lines().take(9).map(|line| format!("{line}\n")).collect();
    assert_eq!(read("part.jsonl".to_owned()), part);
    assert_status(
        &about(&program, &["reduce", "-q", "--max-tests", "1000", "--emit", "jsonl=later.jsonl"]),
        0,
    );
    assert_eq!(read("later.jsonl".to_owned()), whole);
}

#[test]
fn how_programs_were_run_is_kept() {
    let program = sample_in("engine");
    for (number, (engine, told)) in [("jump", "jump"), ("breakpoint", "breakpoint")].into_iter().enumerate() {
        let options = ["--engine", engine, "--max-tests", "9", "-q", "--format", "json"];
        let run = json(&program.stripe("run", &options));
        assert_eq!(run["engine"], told);
        let report = json(&about(&program, &["report", "--format", "json"]));
        assert_eq!((&report["engine"], &report["engine_reason"]), (&run["engine"], &run["engine_reason"]));
        let result = program.directory.join(format!(".stripe/{}-sum-mul/result.json", number + 1));
        fs::remove_file(result).expect("removed");
        for command in ["report", "reduce"] {
            let slice = json(&about(&program, &[command, "--format", "json", "-q"]));
            assert_eq!((&slice["engine"], &slice["engine_reason"]), (&run["engine"], &run["engine_reason"]));
        }
    }
}

#[test]
fn without_runs_there_is_a_hint_how_to_make_one() {
    let program = sample_in("none");
    assert_golden("kept.none", &text(&about(&program, &["runs"]).stdout));
    assert_says(&message(&about(&program, &["report"]), 2), &["there are no runs here", "`stripe run`"]);
    assert_says(&message(&about(&program, &["reduce", "3"]), 2), &["no run 3", "`stripe runs`"]);
}

#[test]
fn what_is_not_to_be_kept_is_not() {
    let program = sample_in("nothing");
    assert_status(&program.stripe("run", &["--no-save", "-q"]), 0);
    assert!(!program.directory.join(".stripe").exists());
    assert_status(&program.stripe("run", &["--expect-match", "sum = 16"]), 3);
    assert_eq!(shelf(&program), [".gitignore"], "a run that shows no failure is no run");
    message(&program.stripe("run", &["--no-save", "--out", "there"]), 2);
}

#[test]
fn a_run_is_kept_where_the_user_says() {
    let program = sample_in("out");
    assert_status(&program.stripe("run", &["--out", "some/where", "-q"]), 0);
    assert!(!program.directory.join(".stripe").exists());
    assert_eq!(kept(&json(&about(&program, &["report", "some/where", "--format", "json"]))), 24);
    let told = message(&program.stripe("run", &["--out", "some/where"]), 2);
    assert_says(&told, &["some/where: exists and is not empty", "--out"]);
}

#[test]
fn what_is_kept_is_for_its_owner_alone() {
    let program = sample_in("private");
    program.stripe("run", &["-q"]);
    for folder in [".stripe", ".stripe/1-sum-mul"] {
        let mode = fs::metadata(program.directory.join(folder)).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{folder}");
    }
}

#[test]
fn the_paper_s_example_leaves_nothing_but_its_own_folder() {
    let folder = scratch("kept-demo");
    let output = stripe().arg("demo").current_dir(&folder).output().expect("started");
    assert_status(&output, 0);
    assert!(!folder.join(".stripe").exists());
}

#[test]
fn runs_at_the_same_time_have_numbers_of_their_own() {
    let program = sample_in("together");
    let start = |_| {
        let mut command = stripe();
        command.args(["run", "-q", "-j1", "--max-tests", "3"]).arg(&program.path);
        command.arg("--stdin").arg(&program.stdin).current_dir(&program.directory);
        command.stdout(Stdio::null()).spawn().expect("started")
    };
    let started: Vec<_> = (0..8).map(start).collect();
    for mut child in started {
        assert_eq!(child.wait().expect("ended").code(), Some(5));
    }
    let names: Vec<String> = (1..=8).map(|number| format!("{number}-sum-mul")).collect();
    assert_eq!(shelf(&program), [vec![".gitignore".into()], names, vec!["latest".into()]].concat());
}

#[test]
fn where_nothing_can_be_kept_there_is_a_warning_and_the_result() {
    let program = sample_in("refused");
    file(&program, ".stripe", "in the way");
    let output = program.stripe("run", &[]);
    assert_status(&output, 0);
    assert_says(&text(&output.stderr), &["stripe: warning: ./.stripe: ", "make room", "not kept"]);
    assert_says(&text(&output.stdout), &["1-minimal"]);
    assert_eq!(text(&program.stripe("run", &["-q"]).stderr), "");
}

#[test]
fn a_disk_that_fills_up_costs_the_journal_and_not_the_result() {
    let program = sample_in("full");
    // A file may have 12 * 512 bytes: the first documents do, journal or result do not.
    let script = "trap '' XFSZ; ulimit -f 12; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_stripe"), "run"]).arg(&program.path);
    command.arg("--stdin").arg(&program.stdin).args(["--control", "both", "--algorithm", "ddmin", "-j1"]);
    // What is shared with an agent is too large as well: breakpoints take over.
    command.args(["--clear-env", "--env", "PATH=/bin"]).current_dir(&program.directory);
    let output = command.output().expect("started");
    assert_status(&output, 0);
    assert_says(&text(&output.stdout), &["1-minimal"]);
    let warnings = text(&output.stderr);
    let warned = warnings.lines().filter(|line| line.starts_with("stripe: warning: ")).count();
    assert!((1..=2).contains(&warned), "{warnings}");
    assert_says(&warnings, &["make room", "kept"]);
    // What was written before is still of use.
    assert_status(&about(&program, &["report"]), 0);
    assert_status(&about(&program, &["reduce", "-q"]), 0);
}

// Going on.

#[test]
fn a_search_in_many_parts_ends_like_one_in_a_single_part() {
    for control in ["both", "program", "trace"] {
        let program = sample_in(&format!("parts-{control}"));
        let whole = program.slice(&["--control", control, "--no-save"], 0);
        let first = program.stripe("run", &["--control", control, "--max-tests", "7", "-j1"]);
        assert_status(&first, 5);
        assert_says(&text(&first.stderr), &["stripe: kept as run 1; `stripe reduce 1` goes on\n"]);
        let mut tests = 7;
        let last = loop {
            let output = about(&program, &["reduce", "--format", "json", "-q"]);
            let slice = json(&output);
            match slice["status"].as_str() {
                Some("minimal") => break slice,
                status => assert_eq!(status, Some("budget")),
            }
            tests += 7;
            assert_eq!((output.status.code(), &slice["tests"]["total"]), (Some(5), &tests.into()));
        };
        for key in ["slice", "events", "lines"] {
            assert_eq!(last[key], whole[key], "{control}");
        }
        for key in ["total", "reproduced", "not_reproduced", "unresolved", "cached"] {
            assert_eq!(last["tests"][key], whole["tests"][key], "{control}: {key}");
        }
        let again = about(&program, &["reduce", "--format", "json"]);
        assert_says(&text(&again.stderr), &["run 1 is finished; this is its result"]);
        assert_eq!(json(&again), last);
    }
}

#[test]
fn going_on_needs_nothing_but_the_program() {
    let source = "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) { int x = atoi(getenv(\"X\"));\n\
                  \x20   int y; scanf(\"%d\", &y);\n    int z = atoi(argv[1]);\n    x = x + y;\n    x = x + z;\n\
                  \x20   printf(\"%d\\n\", x);\n    return 0;\n}\n";
    let program = Program { arguments: vec!["4".into()], ..tiny("all-of-it", source) };
    fs::write(&program.stdin, "30\n").expect("an input");
    let expected = file(&program, "expected", "234\n");
    let options = ["--env", "X=200", "--expect-output", "expected", "--max-tests", "2", "-q"];
    assert_status(&program.stripe("run", &options), 5);
    for gone in [&program.stdin, &expected] {
        fs::remove_file(gone).expect("removed");
    }
    let slice = json(&about(&program, &["reduce", "--max-tests", "1000", "--format", "json", "-q"]));
    assert_eq!(slice["status"], "minimal");
    let needed: Vec<u64> = slice["slice"]
        .as_array()
        .expect("events")
        .iter()
        .map(|e| e["line"].as_u64().expect("a line"))
        .collect();
    assert_eq!(needed, [3, 4, 5, 6, 7, 8], "everything before the `return`: {slice}");
}

#[test]
fn directory_home_locale_and_size_of_the_terminal_are_kept_and_the_same_wherever_one_goes_on() {
    let source = "#include <locale.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <sys/ioctl.h>\n\
                  #include <unistd.h>\nint main(void) { char here[4096];\n    getcwd(here, sizeof here);\n\
                  \x20   printf(\"in %s\\n\", here);\n    printf(\"home %s\\n\", getenv(\"HOME\"));\n\
                  \x20   printf(\"locale %s\\n\", setlocale(LC_ALL, \"\"));\n    struct winsize size = {0};\n\
                  \x20   ioctl(1, TIOCGWINSZ, &size);\n\
                  \x20   printf(\"%s columns, %d\\n\", getenv(\"COLUMNS\"), size.ws_col);\n    return 0;\n}\n";
    let program = tiny("at-home", source);
    let there = scratch("kept-elsewhere");
    let stripe_in = |folder: &Path, [home, locale, columns]: [&str; 3], words: &[&str]| {
        let mut command = stripe();
        command.args(words).current_dir(folder).env_remove("LC_ALL").stdin(Stdio::null());
        command.env("HOME", home).env("LANG", locale).env("COLUMNS", columns).output().expect("started")
    };
    let (here, path) = (&program.directory, program.path.to_str().expect("UTF-8"));
    for (folder, options) in [("file", &[][..]), ("terminal", &["--pty", "--engine", "breakpoint"])] {
        let run = there.join(folder).display().to_string();
        let home = ["/home/one", "C.UTF-8", "132"];
        let begun = ["run", path, "--out", &run, "--max-tests", "3", "-q"];
        assert_status(&stripe_in(here, home, &[&begun[..], options].concat()), 5);
        let kept = fs::read_to_string(Path::new(&run).join("run.json")).expect("readable");
        let place = here.canonicalize().expect("there").display().to_string();
        assert_says(&kept, &["\"HOME\"", "/home/one", "\"LANG\"", "\"COLUMNS\"", "132", &place]);
        let other = ["/nowhere", "C", "40"];
        let gone_on = ["reduce", &run, "--max-tests", "1000", "-q", "--format", "json"];
        let found = json(&stripe_in(&there, other, &gone_on));
        let whole = ["run", path, "--no-save", "-q", "--format", "json"];
        let whole = json(&stripe_in(here, home, &[&whole[..], options].concat()));
        assert_eq!((&found["slice"], &found["status"]), (&whole["slice"], &"minimal".into()), "{folder}");
        assert!(kept_lines(&found).is_superset(&[8, 9, 10].into()), "{found}");
    }
}

/// The lines of the needed events.
fn kept_lines(slice: &Value) -> BTreeSet<u64> {
    let events = slice["slice"].as_array().expect("events").iter();
    events.map(|event| event["line"].as_u64().expect("a line")).collect()
}

#[test]
fn a_crash_is_kept_and_looked_for_again() {
    let mut program = Fixture::named("crash_division").build(GCC);
    let whole = program.slice(&["--no-save"], 0);
    program.directory = scratch("kept-crash");
    assert_status(&program.stripe("run", &["--max-tests", "3", "-q"]), 5);
    let slice = json(&about(&program, &["reduce", "--max-tests", "1000", "--format", "json", "-q"]));
    assert_eq!((&slice["slice"], &slice["criterion"]), (&whole["slice"], &whole["criterion"]));
}

#[test]
fn traced_libraries_are_found_again() {
    let mut program = Fixture::named("shared_library").build(GCC);
    let whole = program.slice(&["--scope", "libtax.so", "--no-save"], 0);
    program.directory = scratch("kept-library");
    assert_status(&program.stripe("run", &["--scope", "libtax.so", "--max-tests", "2", "-q"]), 5);
    let slice = json(&about(&program, &["reduce", "--max-tests", "1000", "--format", "json", "-q"]));
    assert_eq!(slice["slice"], whole["slice"]);
}

#[test]
fn the_same_command_again_is_told_how_to_go_on() {
    let program = sample_in("again");
    let options = ["--max-tests", "5", "-j1"];
    assert!(!text(&program.stripe("run", &options).stderr).contains("would go on"));
    let again = text(&program.stripe("run", &options).stderr);
    assert_eq!(again.matches("`stripe reduce 1` would go on with it").count(), 1, "{again}");
    let other = text(&program.stripe("run", &["--max-tests", "6", "-j1"]).stderr);
    assert!(!other.contains("would go on"), "{other}");
    assert_golden("kept.again", &lasting(&again));
}

#[test]
fn a_run_that_somebody_works_on_is_left_alone() {
    let program = sample_in("busy");
    assert_status(&program.stripe("run", &["--max-tests", "3", "-q"]), 5);
    let journal = program.directory.join(".stripe/1-sum-mul/journal");
    let file = File::options().append(true).open(&journal).expect("a journal");
    file.lock().expect("a lock");
    let told = message(&about(&program, &["reduce"]), 1);
    assert_says(&told, &[".stripe/1-sum-mul/journal: another stripe is at work", "wait for its end"]);
    fs::remove_file(journal.with_file_name("result.json")).expect("removed");
    assert_says(&text(&about(&program, &["runs"]).stdout), &["running"]);
    assert_status(&about(&program, &["report"]), 0);
    drop(file);
    assert_says(&text(&about(&program, &["runs"]).stdout), &["unfinished"]);
}

// What has changed or is damaged.

#[test]
fn another_program_under_the_same_name_is_noticed() {
    let program = tiny("changing", "int main(void) { int x = 1;\n    x = x + 1;\n    return x;\n}\n");
    assert_status(&program.stripe("run", &["--expect-exit", "2", "--max-tests", "2", "-q"]), 5);
    let folder = program.path.parent().expect("a folder");
    let compile = |source: &str| {
        fs::write(folder.join("changing.c"), source).expect("a source");
        let mut compiler = Command::new("gcc");
        compiler.args(["-g", "-O0", "-w", "-o", "changing", "changing.c"]).current_dir(folder);
        assert!(compiler.status().expect("gcc").success());
    };
    compile("int main(void) { int x = 1;\n    x = x + 1;\n    x = x + 0;\n    return x;\n}\n");
    for verb in ["report", "reduce"] {
        let told = message(&about(&program, &[verb]), 1);
        assert_says(
            &told,
            &["changing: is no longer the program of this run: the executable has", "restore it"],
        );
    }
    fs::remove_file(&program.path).expect("removed");
    message(&about(&program, &["report"]), 2);
    assert_says(&text(&about(&program, &["runs"]).stdout), &["budget"]);
}

#[test]
fn going_on_with_another_library_is_refused_but_a_report_is_not() {
    let mut program = Fixture::named("shared_library").build(GCC);
    let folder = scratch("kept-other-library");
    let library = folder.join("libtax.so");
    fs::copy(program.path.with_file_name("libtax.so"), &library).expect("a copy");
    fs::copy(&program.path, folder.join("shared_library")).expect("a copy");
    (program.path, program.directory) = (folder.join("shared_library"), folder);
    assert_status(&program.stripe("run", &["--scope", "*.c", "--max-tests", "2", "-q"]), 5);
    File::options().append(true).open(&library).and_then(|mut file| file.write_all(b"more")).expect("longer");
    let told = message(&about(&program, &["reduce"]), 1);
    assert_says(&told, &["run 1: ", "libtax.so has another content", "where it was begun", "`stripe run`"]);
    assert_status(&about(&program, &["report"]), 0);
}

/// The path of a shared library that gcc links with.
fn library(name: &str) -> PathBuf {
    let found = Command::new("gcc").arg(format!("-print-file-name={name}")).output().expect("gcc");
    PathBuf::from(text(&found.stdout).trim()).canonicalize().expect("a library")
}

/// That what runs the program is refused, and says this; and that what is kept is told all the same.
fn assert_is_read_only(difference: &str, run: impl Fn(&[&str]) -> Output) {
    let told = message(&run(&["reduce"]), 1);
    assert_says(&told, &["stripe: run 1: ", difference, "another way", "`stripe run`"]);
    let explained = run(&["explain", "5"]);
    assert_status(&explained, 0);
    let told = text(&explained.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&told, &["event 5", "warning: run 1: ", difference, "only what is kept is told"]);
    assert!(!told.contains("What it did"), "{told}");
    assert_status(&run(&["explain", "--kept", "5"]), 0);
    assert_status(&run(&["report"]), 0);
    assert_status(&run(&["runs"]), 0);
}

#[test]
fn with_another_c_library_what_is_kept_is_told_and_nothing_is_run() {
    let sample = sample(GCC, "-Wl,-rpath,$ORIGIN");
    let folder = scratch("kept-other-libc");
    let program = Program { path: folder.join("sum-mul"), directory: folder.join("run"), ..sample.clone() };
    fs::create_dir(&program.directory).expect("made");
    fs::copy(&sample.path, &program.path).expect("a copy");
    let libc = folder.join("libc.so.6");
    fs::copy(library("libc.so.6"), &libc).expect("a copy");
    assert_status(&program.stripe("run", &["--max-tests", "2", "-q", "--no-values"]), 5);
    // The same program finds the same library, and goes on.
    assert_status(&about(&program, &["reduce", "-q", "--no-values", "--max-tests", "2"]), 5);
    File::options().append(true).open(&libc).and_then(|mut file| file.write_all(b"more")).expect("longer");
    assert_is_read_only("libc.so.6 has another content", |words| about(&program, words));
}

#[test]
fn on_another_processor_what_is_kept_is_told_and_nothing_is_run() {
    let program = sample_in("other-processor");
    assert_status(&program.stripe("run", &["--max-tests", "2", "-q", "--no-values"]), 5);
    let there = file(&program, "cpuinfo", "processor\t: 0\nmodel name\t: an abacus\n");
    assert_is_read_only("the processor is `an abacus` instead of `", |words| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "--map-root-user", "sh", "-c"]);
        unshare.arg("mount --bind \"$0\" /proc/cpuinfo && exec \"$@\"").arg(&there);
        unshare.arg(env!("CARGO_BIN_EXE_stripe")).args(words).current_dir(&program.directory);
        unshare.env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).output().expect("unshare is there")
    });
}

/// Copies a folder of files.
fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("readable") {
        let path = entry.expect("readable").path();
        fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("copied");
    }
}

#[test]
fn a_damaged_file_is_told_by_its_name_and_never_a_fault_of_stripe() {
    let program = sample_in("damage");
    assert_status(&program.stripe("run", &["--max-tests", "40", "-q", "-j1"]), 5);
    let sound = program.directory.join(".stripe/1-sum-mul");
    let names: Vec<PathBuf> =
        fs::read_dir(&sound).expect("readable").map(|entry| entry.expect("readable").path()).collect();
    // Whose number is in there matters only while that one works.
    let names: Vec<PathBuf> = names.into_iter().filter(|path| !path.ends_with("owner")).collect();
    assert_eq!(names.len(), 7);
    in_two_threads(&names, |path| {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let folder = program.directory.join(format!("damaged-{name}"));
        let bytes = fs::read(path).expect("readable");
        let length = bytes.len();
        for round in 0..12 {
            copy(&sound, &folder);
            if name == "journal" {
                fs::remove_file(folder.join("result.json")).expect("removed");
            }
            let mut bytes = bytes.clone();
            match round {
                0..6 => bytes.truncate(length * round / 6),
                _ if length == 0 => bytes.push(1),
                _ => bytes[length * (round - 6) / 6] ^= 1 << (round % 8),
            }
            fs::write(folder.join(&name), bytes).expect("written");
            let shown = folder.display().to_string();
            let report = about(&program, &["report", &shown]);
            // Behind a torn record a journal is as good as its beginning; an empty file stays empty.
            if name == "journal" && report.status.success() || length == 0 && round < 6 {
                assert_status(&report, 0);
                continue;
            }
            let told = message(&report, 1);
            assert_says(&told, &[&format!("{name}: ")]);
            assert!(
                ["is damaged", "is not", "has the format", "version"].iter().any(|w| told.contains(w)),
                "{told}"
            );
        }
        fs::remove_dir_all(folder).expect("removed");
    });
}

#[test]
fn an_older_format_is_told_and_a_folder_without_a_run_too() {
    let program = sample_in("older");
    assert_status(&program.stripe("run", &["-q"]), 0);
    let folder = program.directory.join(".stripe/1-sum-mul");
    let replace = |name: &str, from: &str, to: &str| {
        let text = fs::read_to_string(folder.join(name)).expect("readable");
        fs::write(folder.join(name), text.replace(from, to)).expect("written");
    };
    let journal = fs::read(folder.join("journal")).expect("readable");
    let rest = journal.strip_prefix(b"stripe journal 2\n").expect("a journal");
    fs::write(folder.join("journal"), [b"stripe journal 1\n", rest].concat()).expect("written");
    let told = message(&about(&program, &["report", "--emit", "jsonl=tests"]), 1);
    let formats = "journal: has the format `stripe journal 1`, and this stripe reads `stripe journal 2`";
    assert_says(&told, &[formats, "use the stripe that wrote it"]);
    replace("result.json", "stripe.result/2", "stripe.result/0");
    let told = message(&about(&program, &["report"]), 1);
    assert_says(
        &told,
        &["result.json: has the format `stripe.result/0`, and this stripe reads `stripe.result/2`"],
    );
    replace("run.json", "stripe.run/2", "stripe.run/1");
    let told = message(&about(&program, &["report"]), 1);
    let formats = "run.json: has the format `stripe.run/1`, and this stripe reads `stripe.run/2`: use the stripe that wrote";
    assert_says(&told, &[formats, "or run the command again"]);
    fs::remove_file(folder.join("run.json")).expect("removed");
    assert_says(&message(&about(&program, &["report"]), 1), &["1-sum-mul: holds no run", "again"]);
    assert_says(&text(&about(&program, &["runs"]).stdout), &["holds no run"]);
}

// Death at any moment.

/// The number of executions of the last line that told an improvement.
fn last_told(stderr: &str) -> Option<u64> {
    let mut told =
        stderr.lines().filter_map(|line| line.split_once(" left after ")?.0.split(' ').next()?.parse().ok());
    told.next_back()
}

#[test]
fn what_a_killed_search_has_found_is_reported_and_gone_on_with() {
    let program = sample_in("killed");
    let options = ["--control", "trace", "--no-save", "-j1", "--algorithm", "ddmin"];
    let whole = program.slice(&options, 0);
    let lasted = Duration::from_secs_f64(whole["seconds"].as_f64().expect("a time"));
    let rounds: Vec<u32> = (0..60).collect();
    let with_improvements = std::sync::atomic::AtomicU32::new(0);
    in_two_threads(&rounds, |round| {
        let program = Program { directory: scratch(&format!("killed-{round}")), ..program.clone() };
        let log = program.directory.join("log");
        let mut command = stripe();
        command
            .args(["run", "--control", "trace", "-j1", "--algorithm", "ddmin", "--stdin"])
            .arg(&program.stdin);
        command.arg(&program.path).current_dir(&program.directory);
        command.stdout(Stdio::null()).stderr(File::create(&log).expect("a log"));
        let mut child = command.spawn().expect("started");
        // Scattered over the whole time, but not evenly.
        std::thread::sleep(
            lasted * (round * 37 % 60) / 50 + Duration::from_micros(u64::from(round * 613 % 1000)),
        );
        child.kill().expect("SIGKILL");
        child.wait().expect("ended");
        // Not by `latest`, which is set after that.
        let mut kept_runs = fs::read_dir(program.directory.join(".stripe")).into_iter().flatten().flatten();
        let recorded = kept_runs.any(|folder| folder.path().join("run.json").exists());
        let report = about(&program, &["report", "--format", "json"]);
        if !recorded {
            message(&report, report.status.code().filter(|code| [1, 2].contains(code)).expect("a message"));
            return;
        }
        assert_status(&report, 0);
        let slice = json(&report);
        if let Some(told) = last_told(&fs::read_to_string(&log).expect("a log")) {
            assert!(kept(&slice) <= told, "round {round}: {told} were told: {slice}");
            with_improvements.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        assert_status(&about(&program, &["runs"]), 0);
        let reduced = about(&program, &["reduce", "--format", "json", "-q"]);
        assert_status(&reduced, 0);
        let slice = json(&reduced);
        assert_eq!(
            (&slice["slice"], &slice["status"]),
            (&whole["slice"], &"minimal".into()),
            "round {round}"
        );
        assert_eq!(slice["tests"]["total"], whole["tests"]["total"], "round {round}");
        fs::remove_dir_all(&program.directory).expect("removed");
    });
    let told = with_improvements.into_inner();
    assert!(told >= 10, "only {told} were killed after an improvement");
}
