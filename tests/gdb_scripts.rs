//! A second engine that is not ours: gdb, led by a script, performs the slice as `stripe replay` does.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use corpus::{Toolchain, csmith_programs};
use serde_json::Value;
use support::engine::in_two_threads;
use support::tiny::{assert_says, file, message, tiny};
use support::{ASKING, CLANG, Fixture, GCC, Program, how_many, sample, scratch, stripe, text};

/// Whether gdb can do it, and soon: 5,000 calls within each other take it a minute. SIGTRAP is gdb's own: it
/// does not tell the program's from those of its breakpoints. And in gdb the time, process numbers and random
/// numbers are real; but addresses are as recorded.
fn is_feasible(fixture: &Fixture) -> bool {
    let name = &*fixture.name;
    let asks = ASKING.contains(&name) && name != "asks_address";
    let is_long = name == "deep_recursion" && how_many(0, 1) == 0;
    fixture.directive("refused").is_none() && name != "trap_handler" && !asks && !is_long
}

/// A slice, and the script that performs it.
struct Scripted {
    program: Program,
    script: PathBuf,
    control: &'static str,
    needed: String,
}

impl Scripted {
    /// Reduces with the options, which name the control under which the slice is performed.
    fn new(name: &str, program: Program, control: &'static str, options: &[&str]) -> Scripted {
        let folder = scratch(&format!("gdb-{name}-{control}"));
        let script = folder.join("slice.gdb");
        let emit = format!("gdb={}", script.display());
        let search = if control == "trace" { "trace" } else { "both" };
        let fixed = ["--control", search, "--emit", &emit, "--no-save", "-q", "-j1", "--format", "json"];
        let output = program.stripe("run", &[&fixed[..], options].concat());
        let told = text(&output.stdout);
        let document: Value = serde_json::from_str(&told)
            .unwrap_or_else(|error| panic!("{name}: {error}: {told}{}", text(&output.stderr)));
        let events = document["slice"].as_array().expect("a slice").iter();
        let needed: Vec<String> = events.map(|event| event["event"].to_string()).collect();
        Scripted { program, script, control, needed: needed.join(",") }
    }

    fn replayed(&self, options: &[&str]) -> Output {
        let fixed = ["--keep", &self.needed, "--control", self.control];
        self.program.stripe("replay", &[&fixed[..], options].concat())
    }

    /// What gdb says while it performs the slice by these commands.
    fn performed(&self, commands: &[&str]) -> Output {
        let mut gdb = Command::new("timeout");
        let seconds = how_many(40, 300).to_string();
        gdb.args([&seconds, "gdb", "-q", "-nx", "-batch", "-x"]).arg(&self.script);
        gdb.args(commands.iter().flat_map(|command| ["-ex", command]));
        gdb.stdin(Stdio::null()).current_dir(Path::new("/")).output().expect("gdb is installed")
    }

    /// In what gdb and a replay differ, if they do.
    fn difference(&self, name: &str) -> Option<String> {
        let (replayed, performed) = (self.replayed(&[]), self.performed(&["slice through"]));
        let (expected, actual, said) =
            (text(&replayed.stdout), text(&performed.stdout), text(&performed.stderr));
        let agree = actual == expected && !said.contains("left the recorded path");
        (!agree).then(|| format!("{name}, {}: {expected:?}, and by gdb {actual:?}\n{said}", self.control))
    }
}

#[test]
fn gdb_prints_what_a_replay_of_the_slice_prints() {
    let fixtures = Fixture::all().into_iter().filter(is_feasible);
    // One rule is enough for each: a reduction and two replays take their time.
    let some = fixtures.step_by(how_many(6, 1) as usize);
    let all: Vec<(Fixture, &str)> = some.zip(["program", "trace"].into_iter().cycle()).collect();
    let differences = Mutex::new(Vec::new());
    in_two_threads(&all, |(fixture, control)| {
        // Some run long, and the best so far serves as well.
        let budget = if fixture.name == "deep_recursion" { "10" } else { "80" };
        let scripted = Scripted::new(&fixture.name, fixture.build(GCC), control, &["--max-tests", budget]);
        let difference = scripted.difference(&fixture.name);
        differences.lock().expect("no panic").extend(difference);
    });
    let differences = differences.into_inner().expect("no panic");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn random_programs_are_performed_as_they_are_replayed() {
    let programs = csmith_programs(how_many(2, 8) as usize, 7000, &Toolchain::linking_statically())
        .expect("random programs");
    for (number, built) in programs.iter().enumerate() {
        let name = format!("random-{number}");
        let stdin = scratch(&name).join("stdin");
        fs::write(&stdin, "").expect("an empty input");
        let directory = stdin.parent().expect("a folder").to_path_buf();
        let program = Program { path: built.executable.clone(), directory, stdin, arguments: Vec::new() };
        let control = ["program", "trace"][number % 2];
        let scripted = Scripted::new(&name, program, control, &["--max-tests", "40"]);
        assert_eq!(scripted.difference(&name), None, "{}", built.executable.display());
    }
}

#[test]
fn the_sample_is_performed_whatever_compiler_and_linker_made_it() {
    for (build, flags) in [(GCC, ""), (CLANG, ""), (GCC, "-no-pie"), (GCC, "-static")] {
        let controls = if flags.is_empty() { &["program", "trace"][..] } else { &["trace"] };
        for &control in controls {
            let name = format!("sample-{}{flags}", build.name);
            let program = sample(build, flags);
            let scripted = Scripted::new(&name, program, control, &["--expect-match", "sum = 15"]);
            assert_eq!(scripted.difference(&name), None);
            let printed = text(&scripted.performed(&["slice through"]).stdout);
            assert!(printed.contains("sum = 15"), "{printed}");
        }
    }
}

#[test]
fn gdb_stops_at_each_needed_execution_and_at_no_other() {
    let program = sample(GCC, "");
    let scripted = Scripted::new("stops", program, "trace", &["--expect-match", "sum = 15"]);
    let needed: Vec<&str> = scripted.needed.split(',').collect();
    for command in ["continue", "next"] {
        let first = ["continue"].into_iter().chain(vec![command; needed.len()]);
        let told = text(&scripted.performed(&first.collect::<Vec<_>>()).stdout);
        let stops = told.lines().filter_map(|line| line.strip_prefix("stripe: event "));
        let stops: Vec<&str> = stops.map(|stop| stop.split(' ').next().expect("a number")).collect();
        assert_eq!(stops, needed, "{command}: {told}");
        assert!(told.ends_with("sum = 15\n") || told.contains("sum = 15\n"), "{told}");
    }
}

/// A function with line information that is not traced stands for those of the C library.
const HELPED: &str = r#"#include <stdio.h>
int helper(int x) {
    x = x + 1;
    return x;
}
int main(void) {
    int needless = helper(1);
    int a = helper(2);
    needless = helper(needless);
    printf("a = %d\n", a);
    return 0;
}
"#;

#[test]
fn steps_lead_from_the_start_to_needed_executions_and_not_into_what_is_not_traced() {
    let program = tiny("steps", HELPED);
    let scripted =
        Scripted::new("steps", program, "trace", &["--expect-match", "a = 3", "--scope", "!helper"]);
    let told = text(&scripted.performed(&["step", "step", "step"]).stdout);
    let shown = told.lines().filter_map(|line| line.split_once('\t').map(|(_, source)| source.trim()));
    let expected = ["int a = helper(2);", "printf(\"a = %d\\n\", a);"];
    assert_eq!(shown.collect::<Vec<_>>(), expected, "{told}");
}

#[test]
fn a_slice_can_be_begun_anew_and_shows_the_values_that_it_computes() {
    let program = sample(GCC, "");
    let scripted = Scripted::new("anew", program, "trace", &["--expect-match", "sum = 15"]);
    let commands = ["continue", "slice begin", "break 15", "slice through", "slice begin", "continue"];
    let more = ["delete", "continue", "continue", "continue", "print sum"];
    let told = text(&scripted.performed(&[&commands[..], &more].concat()).stdout);
    assert_eq!(
        told.matches("stripe: event 2 (sum-mul.c:6), 1 of 13, needed for its effect").count(),
        2,
        "{told}"
    );
    assert!(told.contains("sum = 15") && told.ends_with("$1 = 0\n"), "{told}");
}

const ECHO: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv) { char word[100] = "", here[1000] = "";
    int useless = 1;
    useless = 2;
    for (int i = 0; i < argc; i++) printf("argument <%s>\n", argv[i]);
    for (char **e = environ; *e; e++) printf("variable <%s>\n", *e);
    getcwd(here, sizeof here);
    fgets(word, sizeof word, stdin);
    printf("in <%s>, read <%s>, terminal %d, at %p\n", here, word, isatty(1), (void *) word);
    return 0;
}
"#;

#[test]
fn the_program_finds_the_world_as_it_was_recorded() {
    for terminal in [&[][..], &["--pty"]] {
        let mut program = tiny("echo", ECHO);
        program.arguments = vec!["a b".into(), "it's \"quoted\" $HOME `x` \\".into(), "two\nlines".into()];
        let input = file(&program, "input", b"caf\xe9\0'\n");
        program.stdin = input;
        let environment = ["--clear-env", "--env", "ODD=a'b\n\u{e9}\t$(x)", "--env", "EMPTY="];
        let options = [&environment[..], terminal].concat();
        let scripted = Scripted::new("echo", program, "trace", &options);
        let (performed, replayed) = (scripted.performed(&["slice through"]), scripted.replayed(&options));
        assert_eq!(text(&performed.stdout), text(&replayed.stdout), "{}", text(&performed.stderr));
        assert!(text(&performed.stdout).contains("argument <two\nlines>"));
    }
}

#[test]
fn statements_of_a_library_are_left_out_as_well() {
    let program = Fixture::named("shared_library").build(GCC);
    let scripted = Scripted::new("library", program, "program", &["--scope", "libtax.so"]);
    let replayed = text(&scripted.replayed(&["--scope", "libtax.so"]).stdout);
    let performed = scripted.performed(&["slice through"]);
    assert_eq!(text(&performed.stdout), replayed, "{}", text(&performed.stderr));
}

#[test]
fn another_program_of_the_same_name_is_refused() {
    let program = tiny("changed", "int main(void) { return 3;\n}\n");
    let options = ["--expect-exit", "3"];
    let scripted = Scripted::new("changed", program.clone(), "trace", &options);
    assert!(text(&scripted.performed(&["slice through"]).stderr).is_ascii());
    fs::copy(sample(GCC, "").path, &program.path).expect("copied");
    let told = text(&scripted.performed(&[]).stderr);
    assert!(told.contains("is not the program that was recorded"), "{told}");
}

#[test]
fn what_is_too_long_for_a_script_is_refused_before_the_search() {
    let long = "int main(void) { int sum = 0;\n    for (int i = 0; i < 60000; i++)\n        sum += i;\n    return sum > 0;\n}\n";
    let program = tiny("long", long);
    let told = message(&program.stripe("run", &["--expect-exit", "1", "--format", "gdb"]), 1);
    assert_says(&told, &["100000 at most", "--format text"]);
    let program = tiny("fed", "int main(void) { return 3;\n}\n");
    fs::write(&program.stdin, vec![b'x'; 2 << 20]).expect("an input");
    let told = message(&program.stripe("run", &["--expect-exit", "3", "--emit", "gdb=script"]), 1);
    assert_says(&told, &["1048576 bytes at most", "2097152"]);
}

#[test]
fn a_report_has_the_script_of_the_run() {
    let program = Program { directory: scratch("gdb-report"), ..sample(GCC, "") };
    let options = ["--expect-match", "sum = 15", "-q", "--format", "gdb"];
    let output = program.stripe("run", &options);
    let reported = stripe().args(["report", "--format", "gdb"]).current_dir(&program.directory).output();
    assert_eq!(text(&reported.expect("started").stdout), text(&output.stdout));
}
