//! A second engine that is not ours: gdb, led by a script, performs the slice as `stripe replay` does.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

use serde_json::Value;
use support::engine::in_two_threads;
use support::{CLANG, Fixture, GCC, Program, sample, scratch, text};

/// What gdb cannot do, or what it does otherwise than a tracer that nobody sees.
const LEFT_OUT: [(&str, &str); 0] = [];

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
        gdb.args(["60", "gdb", "-q", "-nx", "-batch", "-x"]).arg(&self.script);
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
    let all: Vec<Fixture> = Fixture::all()
        .into_iter()
        .filter(|fixture| fixture.directive("refused").is_none())
        .filter(|fixture| LEFT_OUT.iter().all(|(name, _)| fixture.name != *name))
        .collect();
    let differences = Mutex::new(Vec::new());
    in_two_threads(&all, |fixture| {
        let budget = if fixture.name == "deep_recursion" { &["--max-tests", "10"][..] } else { &[] };
        for control in ["program", "trace"] {
            let scripted = Scripted::new(&fixture.name, fixture.build(GCC), control, budget);
            let difference = scripted.difference(&fixture.name);
            differences.lock().expect("no panic").extend(difference);
        }
    });
    let differences = differences.into_inner().expect("no panic");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
