//! Values are those that gdb prints at the same events, for all kinds of types; and whoever fed whom is
//! found.

mod support;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

use serde_json::Value;
use support::tiny::{assert_says, message, message_with_diff, tiny};
use support::{GCC, Program, assert_golden, root, sample, scratch, stripe, text};

/// A program of `tests/values`, compiled.
fn kinds(compiler: &str, options: &[&str], file: &str) -> Program {
    let folder = scratch(&format!("values-{compiler}-{file}"));
    std::fs::create_dir_all(folder.join("run")).expect("a working directory");
    let path = folder.join("kinds");
    let mut command = Command::new(compiler);
    command.args(options).arg("-o").arg(&path).arg(file).current_dir(root().join("tests/values"));
    let compiled = command.output().expect("the compiler can be started");
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    let stdin = folder.join("stdin");
    std::fs::write(&stdin, "").expect("an empty input");
    Program { path, directory: folder.join("run"), stdin, arguments: Vec::new() }
}

/// The needed events of a program with their values; its whole output is the criterion.
fn observed(program: &Program) -> Vec<Value> {
    let slice = program.slice(&["--control", "trace", "--clear-env", "--values", "--no-save"], 0);
    assert_eq!(slice["warnings"], serde_json::json!([]));
    slice["slice"].as_array().expect("a slice").clone()
}

/// Of allocatable arrays, pointers to arrays, assumed-shape arguments and automatic arrays a descriptor or a
/// variable tells the bounds.
#[test]
fn elements_of_arrays_with_bounds_of_the_run_are_told_in_fortran() {
    let program = kinds("gfortran", &["-g", "-O0", "-w"], "bounds.f90");
    let slice = program.slice(&["--control", "trace", "--values", "--no-save"], 0);
    let told: BTreeSet<String> = written(&slice).collect();
    let expected = [
        "a(-1) = 7",
        "a(2) = 8",
        "m(2,3) = 8",
        "v(2) = 4",
        "v(3) = 6",
        "local(5) = 6",
        "v(1) = 6",
        "t(4) = 3.5",
        "box%list(2) = 5",
    ];
    let missing: Vec<&&str> = expected.iter().filter(|one| !told.contains(**one)).collect();
    assert!(missing.is_empty(), "{missing:?} of {told:?}");
}

#[test]
fn elements_of_variable_length_arrays_of_c_are_told() {
    let source = "#include <stdio.h>\nint last(int m, int t[][m]) {\n    t[1][m - 1] += 2;\n    return t[0][1];\n}\nint \
                  main(void) {\n    int n = 3;\n    int a[n];\n    a[1] = 5;\n    a[2] = 6;\n    int t[2][n];\n    \
                  t[0][1] = a[1];\n    t[1][2] = a[2];\n    printf(\"%d %d\\n\", last(n, t), t[1][2]);\n    return \
                  0;\n}\n";
    for (compiler, expected) in [
        ("gcc", &["a[1] = 5", "a[2] = 6", "t[0][1] = 5", "t[1][2] = 8"][..]),
        ("clang", &["a[1] = 5", "a[2] = 6", "t[0][1] = 5", "t[1][2] = 6"]),
    ] {
        let folder = scratch(&format!("values-vla-{compiler}"));
        std::fs::write(folder.join("vla.c"), source).expect("written");
        let mut command = Command::new(compiler);
        let output = command.args(["-g", "-O0", "-o", "vla", "vla.c"]).current_dir(&folder).output();
        assert!(output.expect("a compiler").status.success());
        let stdin = folder.join("stdin");
        std::fs::write(&stdin, "").expect("an empty input");
        let (path, directory) = (folder.join("vla"), folder.clone());
        let program = Program { path, directory, stdin, arguments: Vec::new() };
        let slice = program.slice(&["--control", "trace", "--values", "--no-save"], 0);
        let told: BTreeSet<String> = written(&slice).collect();
        let missing: Vec<&&str> = expected.iter().filter(|one| !told.contains(**one)).collect();
        assert!(missing.is_empty(), "{compiler}: {missing:?} of {told:?}");
    }
}

/// What the needed events wrote, such as `a[1] = 5`.
fn written(slice: &Value) -> impl Iterator<Item = String> {
    let events = slice["slice"].as_array().expect("a slice").iter();
    let values = events.flat_map(|event| list(&event["values"], "writes"));
    values.map(|one| format!("{} = {}", word(one, "name"), word(one, "after")))
}

/// Subscripts begin at 1, or where the declaration says, and the first one changes fastest.
#[test]
fn elements_of_arrays_are_called_as_in_fortran() {
    let program = kinds("gfortran", &["-g", "-O0", "-w"], "arrays.f90");
    let slice = program.slice(&["--control", "trace", "--values", "--no-save"], 0);
    let told = |line: u64, key: &str| -> BTreeSet<(String, String)> {
        let events = slice["slice"].as_array().expect("a slice").iter().filter(|event| event["line"] == line);
        let values = events.flat_map(|event| list(&event["values"], key));
        let value = if key == "writes" { "after" } else { "value" };
        values.map(|one| (word(one, "name").to_owned(), word(one, value).to_owned())).collect()
    };
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(told(10, "writes"), BTreeSet::from([pair("a(2)", "4"), pair("a(5)", "25")]));
    assert_eq!(told(12, "writes"), BTreeSet::from([pair("b(0)", "25")]));
    assert_eq!(told(12, "reads"), BTreeSet::from([pair("a(5)", "25")]));
    assert_eq!(told(13, "writes"), BTreeSet::from([pair("m(2,3)", "1.5")]));
    assert_eq!(told(14, "writes"), BTreeSet::from([pair("p(2)%y", "7")]));
    let read = told(15, "reads");
    assert!(
        read.is_superset(&BTreeSet::from([pair("a(2)", "4"), pair("b(0)", "25"), pair("p(2)%y", "7")])),
        "{read:?}"
    );
    let of_value = program.stripe("slice", &["--value", "m(2,3)@16#1"]);
    assert_says(&text(&of_value.stdout), &["m(2,3) = 1.5d0"]);
}

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("{key}: {value}"))
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value[key].as_array().expect("a list").iter()
}

/// A value that stripe tells: at which event, of what, whether after it.
#[derive(Debug)]
struct Claim {
    place: String,
    name: String,
    value: String,
    /// Whether it is about what was overwritten.
    is_before: bool,
}

/// What gdb has to say to each claim. At each event it starts the program anew, goes to the event's line as
/// often as it was executed, prints what was read and what was going to be written, goes to the next line,
/// and prints what was written.
fn asked_of_gdb(
    program: &Program,
    file: &str,
    (events, trace): (&[Value], &[Value]),
) -> Vec<(Claim, String)> {
    let mut script = String::from(
        "python\ndef ask(number, name):\n    try:\n        told = gdb.execute('output ' + name, to_string=True)\n    \
         except gdb.error as error:\n        told = 'nothing: ' + str(error)\n    print('\\n@%d@\\n%s\\n@end@' % (number, \
         told))\nend\nset confirm off\nset pagination off\nset print elements 0\nset print repeats 0\nset print null-stop on\n\
         set print symbol off\nset disable-randomization on\nset width 0\n\
         set exec-wrapper env -i LD_BIND_NOW=1 GLIBC_TUNABLES=glibc.malloc.perturb=0x00\n",
    );
    let mut claims = Vec::new();
    for event in events {
        let (line, times) = (&event["line"], event["occurrence"].as_u64().expect("a number") - 1);
        let _ = writeln!(script, "tbreak {file}:{line}\nignore $bpnum {times}\nrun < /dev/null");
        let mut claim = |name: &str, value: &str, when: &str| {
            // What a function returned is no variable.
            if !name.ends_with("()") {
                let _ = writeln!(script, "python ask({}, '{name}')", claims.len());
                let place = format!("{line} {when} ({})", word(&event["values"], "told"));
                let is_before = when == "before";
                claims.push(Claim { place, name: name.to_owned(), value: value.to_owned(), is_before });
            }
        };
        list(&event["values"], "reads")
            .for_each(|read| claim(word(read, "name"), word(read, "value"), "read"));
        let writes: Vec<&Value> = list(&event["values"], "writes").collect();
        writes.iter().for_each(|write| claim(word(write, "name"), word(write, "before"), "before"));
        let _ = writeln!(script, "{}", onward(trace, event, file));
        let mut claim = |name: &str, value: &str| {
            let _ = writeln!(script, "python ask({}, '{name}')", claims.len());
            let place = format!("{line} after ({})", word(&event["values"], "told"));
            claims.push(Claim { place, name: name.to_owned(), value: value.to_owned(), is_before: false });
        };
        writes.iter().for_each(|write| claim(word(write, "name"), word(write, "after")));
        script.push_str("kill\n");
    }
    let file = program.directory.join("script.gdb");
    std::fs::write(&file, script).expect("a script");
    let output = Command::new("gdb")
        .args(["-nx", "-batch", "-iex", "set debuginfod enabled off", "-x"])
        .arg(&file)
        .arg(&program.path)
        .current_dir(&program.directory)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("gdb can be started");
    let told = text(&output.stdout);
    let answer = |number: usize| {
        let (_, rest) = told.split_once(&format!("\n@{number}@\n"))?;
        Some(rest.split_once("\n@end@")?.0.to_owned())
    };
    let errors = text(&output.stderr);
    let claims = claims.into_iter().enumerate();
    claims.map(|(n, claim)| (claim, answer(n).unwrap_or_else(|| format!("nothing: {errors}")))).collect()
}

/// The command by which gdb goes to the event that follows in the same call.
fn onward(trace: &[Value], event: &Value, file: &str) -> String {
    let number = event["event"].as_u64().expect("a number") as usize;
    let depth = &trace[number - 1]["depth"];
    let next = trace[number..]
        .iter()
        .find(|next| next["depth"] == *depth && next["line"] != event["line"])
        .expect("an epilogue");
    format!("advance {file}:{}", next["line"])
}

/// A value without what gdb says in addition: the types of pointers, the names of what they lead to, the
/// paths of Rust's types. Numbers with a point are spelt by their value.
fn plain(value: &str, is_single: bool) -> String {
    let pointer =
        regex::Regex::new(r"\([^()0-9][^()]*(\(\*\)\([^()]*\))?[^()]*\) (0x|@0x)").expect("an expression");
    let value = pointer.replace_all(value, "$2");
    let symbol = regex::Regex::new(r"(0x[0-9a-f]+) <[^>]*>").expect("an expression");
    let value = symbol.replace_all(&value, "$1");
    let reference = regex::Regex::new(r"^@0x[0-9a-f]+: ").expect("an expression");
    let value = reference.replace(&value, "");
    let path = regex::Regex::new(r"\b([A-Za-z_][A-Za-z0-9_]*(<[^<>]*>)?::)+").expect("an expression");
    let value = path.replace_all(&value, "");
    // Characters of Rust.
    let character = regex::Regex::new(r"^(\d+) '[^']*'$").expect("an expression");
    let value = match (character.captures(&value), is_single) {
        (Some(found), true) => {
            format!("{:?}", char::from_u32(found[1].parse().expect("a number")).expect("a character")).into()
        }
        _ => value,
    };
    let value = value.replace(" {", "{").replace(" (", "(");
    let number = regex::Regex::new(r"-?\d+(\.\d+)?(e[+-]?\d+)?").expect("an expression");
    let spelt = |found: &regex::Captures<'_>| {
        let found = &found[0];
        let is_float = found.contains(['.', 'e']);
        match (is_float, is_single) {
            (false, _) => found.to_owned(),
            (true, true) => format!("{:?}", found.parse::<f32>().expect("a number")),
            (true, false) => format!("{:?}", found.parse::<f64>().expect("a number")),
        }
    };
    number.replace_all(&value, spelt).into_owned()
}

/// Whether gdb knows no such name: in Rust, names begin to mean something after their `let`.
fn is_unknown(answer: &str, name: &str) -> bool {
    answer.starts_with("nothing: ") || answer == name
}

/// That gdb prints the same; at least so many values must have been compared.
fn assert_agreed(program: &Program, file: &str, skipped: &[&str], least: usize) {
    let events = observed(program);
    let trace = program.events(&["--clear-env"]);
    let answers = asked_of_gdb(program, file, (&events, &trace));
    let mut wrong = String::new();
    let mut compared = 0;
    for (claim, answer) in &answers {
        // A reference that leads nowhere yet.
        let is_void =
            answer.contains("Cannot access memory") || claim.is_before && is_unknown(answer, &claim.name);
        if is_void || skipped.contains(&claim.name.as_str()) {
            continue;
        }
        compared += 1;
        let same = |is_single| plain(&claim.value, is_single) == plain(answer, is_single);
        if !same(false) && !same(true) {
            let _ = writeln!(wrong, "{}: {}: {} and by gdb {answer}", claim.place, claim.name, claim.value);
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(compared >= least, "only {compared} values were compared");
}

#[test]
fn gdb_prints_the_same_values_of_c() {
    let program = kinds("gcc", &["-g", "-O0", "-w"], "kinds.c");
    assert_agreed(&program, "kinds.c", &[], 100);
}

#[test]
fn gdb_prints_the_same_values_of_c_by_clang() {
    let program = kinds("clang", &["-g", "-O0", "-w"], "kinds.c");
    assert_agreed(&program, "kinds.c", &[], 100);
}

#[test]
fn gdb_prints_the_same_values_of_cpp() {
    let program = kinds("g++", &["-g", "-O0", "-w"], "kinds.cpp");
    assert_agreed(&program, "kinds.cpp", &[], 60);
}

#[test]
fn gdb_prints_the_same_values_of_rust() {
    let options = ["--edition", "2021", "-g", "-C", "opt-level=0"];
    let program = kinds("rustc", &options, "kinds.rs");
    assert_agreed(&program, "kinds.rs", &["word", "owned", "numbers"], 40);
}

// Explanations.

/// The sample, reduced in a working directory of its own; the options of the search.
fn reduced(name: &str, options: &[&str]) -> Program {
    let program = Program { directory: scratch(&format!("explain-{name}")), ..sample(GCC, "") };
    let output = program.stripe("run", &[&["-q", "-j1", "--clear-env"], options].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    program
}

fn command(program: &Program, words: &[&str]) -> Command {
    let mut command = stripe();
    command.arg("explain").args(words).current_dir(&program.directory);
    command
}

/// What stripe explains; it must be done.
fn explained(program: &Program, words: &[&str]) -> String {
    let output = command(program, words).output().expect("stripe can be started");
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// What lies in memory before it is written differs from machine to machine.
fn without_garbage(told: &str) -> String {
    let garbage = regex::Regex::new(r"(\(was |: )-?\d{4,}|(= )-?\d{6,}").expect("an expression");
    garbage.replace_all(told, "${1}${2}GARBAGE").into_owned()
}

#[test]
fn executions_are_explained_by_values_and_evidence() {
    let program = reduced("golden", &["--expect-match", "sum = 15"]);
    let mut all = String::new();
    for place in ["11#3", "sum-mul.c:11", "7", "10#2", "12#2", "17#1", "sum-mul.c:5", "1", "8#2"] {
        let _ = writeln!(all, "$ stripe explain {place}\n{}", explained(&program, &[place]));
    }
    let all = without_garbage(&all).replace(&program.path.display().to_string(), "./sum-mul");
    let all = all.replace(&program.stdin.display().to_string(), "input.txt");
    // Commands stay as they are, to be copied.
    let is_told = |line: &&str| !line.starts_with("    stripe ");
    assert!(all.lines().filter(is_told).all(|line| line.chars().count() <= 80), "{all}");
    assert_golden("sum-mul.explained", &all);
}

#[test]
fn a_number_that_is_that_of_a_line_too_is_explained_as_an_event_and_the_line_is_offered() {
    let program = reduced("both", &["--expect-match", "sum = 15"]);
    let told = explained(&program, &["1", "8"]);
    let offer = "A number alone names an event. For the line sum-mul.c:8: stripe explain 1 sum-mul.c:8";
    assert!(told.contains("(event 8)"), "{told}");
    assert!(
        told.split_whitespace().collect::<Vec<_>>().join(" ").replace('\'', "").ends_with(offer),
        "{told}"
    );
    assert!(!explained(&program, &["25"]).contains("A number alone"));
}

#[test]
fn a_line_an_execution_and_an_event_are_three_ways_to_the_same() {
    let program = reduced("ways", &["--expect-match", "sum = 15"]);
    let by_event = explained(&program, &["25"]);
    for words in [&["11#5"][..], &["sum-mul.c:11#5"], &["latest", "25"], &["1", "11#5"]] {
        assert_eq!(explained(&program, words), by_event, "{words:?}");
    }
    assert_eq!(explained(&program, &["sum-mul.c:15"]), explained(&program, &["33"]));
}

#[test]
fn what_names_no_execution_is_refused() {
    let program = reduced("refused", &["--expect-match", "sum = 15"]);
    let told = |words: &[&str]| message(&command(&program, words).output().expect("it runs"), 2);
    assert_says(&told(&["sum-mul.c"]), &["`sum-mul.c` names no place", "main.c:11", "11#3"]);
    assert_says(&told(&["99"]), &["there is no event 99", "1 to 36", "main.c:99"]);
    assert_says(&told(&["11#9"]), &["executed 6 times", "11#6"]);
    assert_says(&told(&["other.c:11"]), &["other.c", "no traced function"]);
    assert_says(&told(&["7", "11#1"]), &["there is no run 7", "stripe runs"]);
}

#[test]
fn explanations_keep_to_ascii_and_to_no_colour_where_they_must() {
    let program = reduced("style", &["--expect-match", "sum = 15"]);
    let colour = regex::Regex::new("\u{1b}\\[[0-9]*m").expect("an expression");
    for place in ["11#3", "sum-mul.c:11"] {
        let mut ascii = command(&program, &[place]);
        let output = ascii.env("LC_ALL", "C").output().expect("it runs");
        assert!(
            output.stdout.is_ascii() && text(&output.stdout).contains(" -> "),
            "{}",
            text(&output.stdout)
        );
        let coloured = explained(&program, &[place, "--color", "always"]);
        assert!(coloured.contains("\u{1b}[1m"), "{coloured}");
        assert_eq!(colour.replace_all(&coloured, ""), explained(&program, &[place]));
    }
}

#[test]
fn the_sample_is_explained_within_a_second() {
    let program = reduced("time", &["--expect-match", "sum = 15"]);
    let seconds = |_| {
        let started = std::time::Instant::now();
        explained(&program, &["11#3"]);
        started.elapsed().as_secs_f64()
    };
    let fastest = (0..3).map(seconds).fold(f64::INFINITY, f64::min);
    assert!(fastest < 1.0, "{fastest} s");
}

#[test]
fn a_branch_after_which_a_run_goes_astray_is_shown_with_what_it_read() {
    let source = "#include <stdio.h>\nint main(void) {\n    int left = 3;\n    int right = 2;\n    int sum = 0;\n    \
                  if (left > right)\n        sum = 7;\n    printf(\"%d\\n\", sum);\n    return 0;\n}\n";
    let program = tiny("astray", source);
    assert!(program.stripe("run", &["-q", "--control", "program"]).status.success());
    let told = explained(&program, &["3#1"]);
    assert_says(&told, &["unresolved: after astray.c:6", "the branch 6#1 then read left = ", "right = 2"]);
}

#[test]
fn a_program_that_is_gone_leaves_the_evidence() {
    let source = "#include <stdio.h>\nint main(void) {\n    int sum = 4;\n    printf(\"%d\\n\", sum);\n    return \
                  0;\n}\n";
    let program = tiny("gone", source);
    assert!(program.stripe("run", &["-q", "--control", "trace"]).status.success());
    std::fs::remove_file(&program.path).expect("removed");
    let output = command(&program, &["2"]).output().expect("it runs");
    assert_says(
        &text(&output.stdout),
        &["event 2: needed for its effect; without it: not reproduced: output line 1"],
    );
    assert!(!output.status.success() && text(&output.stderr).contains("gone"), "{}", text(&output.stderr));
    let output = command(&program, &["gone.c:3"]).output().expect("it runs");
    message_with_diff(&output, output.status.code().expect("an exit"));
}

#[test]
fn a_file_that_has_changed_is_noticed_and_the_evidence_told_all_the_same() {
    let source = "#include <stdio.h>\nint main(void) {\n    int sum = 0;\n    FILE *file = fopen(\"numbers\", \
                  \"r\");\n    if (fgetc(file) == '1')\n        sum = 5;\n    printf(\"%d\\n\", sum);\n    return \
                  0;\n}\n";
    let program = tiny("changed", source);
    support::tiny::file(&program, "numbers", "1");
    assert!(program.stripe("run", &["-q"]).status.success());
    support::tiny::file(&program, "numbers", "2");
    let told = explained(&program, &["6#1"]);
    assert_says(
        &told,
        &["Needed for its effect", "warning: the program did not go on as recorded after event"],
    );
}

#[test]
fn without_a_run_of_the_program_there_is_what_is_kept() {
    let program = reduced("kept", &["--expect-match", "sum = 15", "--values"]);
    let told = explained(&program, &["--kept", "11#3"]);
    assert_says(&told, &["sum = 1 + 2 → 3 (was 1)", "read by 11#4", "not reproduced"]);
    assert_says(&told, &["\n  - a? b? sum = 15\n  - mul = 0\n  + sum = 13\n"]);
    assert_eq!(told, explained(&program, &["11#3"]));
    let program = reduced("nothing-kept", &["--expect-match", "sum = 15", "--no-values"]);
    let told = explained(&program, &["--kept", "11#3"]);
    assert!(!told.contains("What it did") && told.contains("not reproduced"), "{told}");
}

#[test]
fn each_of_several_criteria_is_explained() {
    let program =
        reduced("several", &["--control", "trace", "--criterion", "sum=sum", "--criterion", "mul=mul"]);
    let told = explained(&program, &["12#1"]);
    assert_says(&told, &["sum: ", "gone since test", "mul: ", "Needed for its effect"]);
}

#[test]
fn lua_with_a_hundred_thousand_events_is_explained() {
    let case = corpus::case("lua-wrong-sum").expect("a case");
    let built = case.program.build(&corpus::Toolchain::default()).expect("it builds");
    let folder = scratch("explain-lua");
    let script =
        "local sum = 0\nfor i = 1, 330 do\n  local t = { i, i * 2 }\n  sum = sum + t[1]\nend\nprint(sum)\n";
    let stdin = folder.join("script.lua");
    std::fs::write(&stdin, script).expect("a script");
    let arguments = vec!["bare".to_owned()];
    let program = Program { path: built.executable, directory: folder, stdin, arguments };
    let output =
        program.stripe("run", &["-q", "--clear-env", "--expect-match", "54615", "--max-tests", "40"]);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    let events = program.events(&["--clear-env"]);
    assert!(events.len() > 100_000, "{} events", events.len());
    let last = events.iter().rposition(|event| event["omittable"] == true).expect("events") + 1;
    assert_says(&explained(&program, &[&last.to_string()]), &["What it did"]);
}

// Values in results.

#[test]
fn a_slice_with_values_tells_each_assignment_as_it_happened() {
    let program = sample(GCC, "");
    let options = ["--expect-match", "sum = 15", "-q", "-j1", "--clear-env", "--no-save", "--values"];
    let output = program.stripe("run", &options);
    let told = text(&output.stdout);
    let section = told.split("What they did, by line and time:\n").nth(1).expect("a section");
    let section = section.split("\n\n").next().expect("lines");
    assert_golden("sum-mul.values", &without_garbage(section));
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
}

#[test]
fn values_are_told_without_being_asked_for_while_the_slice_is_short() {
    let program = tiny("short", &LOOP.replace("ROUNDS", "5"));
    let told = |program: &Program, options: &[&str]| {
        text(&program.stripe("run", &[&["-q", "--no-save", "--control", "trace"], options].concat()).stdout)
    };
    assert_says(&told(&program, &[]), &["What they did, by line and time:", "sum += 3 → 6 (was 3)"]);
    assert!(!told(&program, &["--no-values"]).contains("What they did"));
    let program = tiny("long", &LOOP.replace("ROUNDS", "50"));
    assert!(!told(&program, &[]).contains("What they did"));
    assert_says(&told(&program, &["--values"]), &["sum += 3 → 6 (was 3)"]);
}

/// Behind a million events nothing is looked at without being asked for: that would take long.
#[test]
fn values_far_from_the_beginning_are_told_only_if_asked_for() {
    let program = tiny("far", &LOOP.replace("ROUNDS", "340000"));
    let output = program.stripe("run", &["-q", "--no-save", "--no-values", "--expect-match", "[0-9]"]);
    assert!(!text(&output.stdout).contains("are not told"));
    let output = program.stripe("run", &["-q", "--no-save", "--expect-match", "[0-9]"]);
    let told = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_says(&told, &["values of needed executions after event 1000000 are not told", "--values lets it"]);
}

const LOOP: &str = "#include <stdio.h>\nint main(void) { int sum = 0;\n    for (int i = 0; i < ROUNDS; i++)\n        sum \
                    += i;\n    printf(\"%d\\n\", sum);\n    return 0;\n}\n";

#[test]
fn what_was_needed_last_is_explained_where_no_place_is_named() {
    let program = reduced("last", &["--expect-match", "sum = 15"]);
    let explained = |place: &[&str]| {
        let output = stripe().arg("explain").args(place).current_dir(&program.directory).output();
        text(&output.expect("it runs").stdout)
    };
    assert_says(&explained(&[]), &["sum-mul.c:15, execution 1 of 1", "sum = 15"]);
    assert_eq!(explained(&["latest", "last"]), explained(&[]));
}

#[test]
fn of_several_criteria_one_is_explained_that_is_named_or_about_wrong_output() {
    let program = Program { directory: scratch("explain-criteria"), ..sample(GCC, "") };
    std::fs::write(program.directory.join("good"), "a? b? sum = 15\nmul = 120\n").expect("written");
    let good = program.directory.join("good");
    let options = ["--each-line", "--reference", good.to_str().expect("UTF-8"), "-q"];
    assert_eq!(program.stripe("run", &options).status.code(), Some(0));
    let explained = |options: &[&str]| {
        let output = stripe().arg("explain").args(options).current_dir(&program.directory).output();
        let output = output.expect("it runs");
        (text(&output.stdout), text(&output.stderr))
    };
    let (told, note) = explained(&[]);
    assert!(told.starts_with("line2: ") && told.contains("sum-mul.c:16, execution 1 of 1"), "{told}");
    assert_says(&note, &["--criterion takes another: line1"]);
    let (told, _) = explained(&["15#1", "--criterion", "line1"]);
    assert!(told.starts_with("line1: ") && !told.contains("line2: "), "{told}");
    assert_says(&explained(&["--criterion", "line9"]).1, &["no criterion of this name: line1, line2"]);
}

#[test]
fn values_are_kept_with_the_run_and_reported_later() {
    let program = reduced("report", &["--expect-match", "sum = 15", "--values"]);
    let report = |options: &[&str]| {
        let output = stripe().arg("report").args(options).current_dir(&program.directory).output();
        text(&output.expect("it runs").stdout)
    };
    assert_says(&report(&["--values"]), &["11_17  sum = 1 + 2 → 3 (was 1)"]);
    assert!(report(&[]).contains("11_17") && !report(&["--no-values"]).contains("11_17"));
    assert_says(&report(&["--format", "dot"]), &["e17 -> e21 [label=\"sum\""]);
    let program = reduced("report-without", &["--expect-match", "sum = 15", "--no-values"]);
    let output = stripe().args(["report", "--values"]).current_dir(&program.directory).output();
    assert_says(&text(&output.expect("it runs").stdout), &["warning: values were not looked at"]);
}

#[test]
fn the_flow_of_values_leads_through_calls_pointers_and_library_functions() {
    let source = "#include <stdio.h>\n#include <string.h>\nstatic int twice(int n) {\n    int result = n * 2;\n    \
                  return result;\n}\nstatic void set(int *out, int value) {\n    *out = value;\n}\nint main(void) {\n    \
                  int a = 5;\n    int b = twice(a);\n    int c = 0;\n    set(&c, b);\n    char text[8] = \"x\";\n    \
                  strcpy(text, \"abc\");\n    printf(\"%d %s\\n\", c, text);\n    return 0;\n}\n";
    let program = tiny("flow", source);
    let slice = program.slice(&["--control", "trace", "--values", "--no-save"], 0);
    let events: Vec<&Value> = list(&slice, "slice").collect();
    let line_of = |number: &Value| events.iter().find(|event| event["event"] == *number).map(|e| &e["line"]);
    let mut flows = Vec::new();
    for event in &events {
        for fed in list(&event["values"], "fed_by") {
            let from = line_of(&fed["event"]).expect("a needed event");
            flows.push(format!("{from} -> {}: {}", event["line"], word(fed, "name")));
        }
    }
    for expected in
        ["11 -> 12: a", "12 -> 4: n", "4 -> 5: result", "12 -> 14: b", "14 -> 8: value", "8 -> 17: c"]
    {
        assert!(flows.iter().any(|flow| flow == expected), "{expected}: {flows:#?}");
    }
    assert!(flows.iter().any(|flow| flow.starts_with("16 -> 17: text")), "{flows:#?}");
    assert!(flows.iter().any(|flow| flow == "5 -> 12: twice()"), "{flows:#?}");
}

#[test]
fn the_test_since_which_an_execution_is_gone_has_reproduced_the_failure_without_it() {
    let program = reduced("gone-since", &["--expect-match", "sum = 15"]);
    let output = stripe().args(["report", "--emit", "jsonl=tests"]).current_dir(&program.directory).output();
    assert!(output.expect("it runs").status.success());
    let tests = std::fs::read_to_string(program.directory.join("tests")).expect("written");
    let tests: Vec<Value> = tests.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let since = regex::Regex::new(r"gone since test (\d+) of (\d+)").expect("an expression");
    for place in ["12#1", "12#6", "7#1", "16#1", "11#1"] {
        let told = explained(&program, &[place]).replace("\n    ", " ");
        let found = since.captures(&told).unwrap_or_else(|| panic!("{place}: {told}"));
        let [number, total] = [1, 2].map(|group| found[group].parse::<usize>().expect("a number"));
        assert_eq!((total, &tests[number - 1]["outcome"]), (tests.len(), &"reproduced".into()), "{place}");
        let before = tests[..number - 1].iter().rev().find(|test| test["outcome"] == "reproduced");
        let size = |test: &Value| test["size"].as_u64().expect("a number");
        assert!(size(&tests[number - 1]) < before.map_or(u64::MAX, size), "{place}");
    }
}
