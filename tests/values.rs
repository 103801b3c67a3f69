//! Values are those that gdb prints at the same events, for all kinds of types; and whoever fed whom is
//! found.

mod support;

use std::fmt::Write;
use std::process::Command;

use serde_json::Value;
use support::tiny::{assert_says, message, tiny};
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

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_else(|| panic!("{key}: {value}"))
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value[key].as_array().expect("a list").iter()
}

/// A value that stripe tells: at which event, of what, whether behind it.
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

/// Whether gdb knows no such name: in Rust, names begin to mean something behind their `let`.
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
