//! Real programs that nobody here wrote: recorded, replayed in full, and reduced under a budget that
//! yields a valid best so far.

mod support;

use corpus::Toolchain;
use serde_json::Value;
use support::engine::{assert_identity, in_two_threads, invocation, load, real_programs, record};
use support::{Program, how_many, scratch, text};
use tracer::program::Granularity;
use tracer::{Preference, Tracer};

/// The cases whose reduction is tried, with how many tests: a test of a hundred thousand events takes
/// seconds.
const REDUCED: [(&str, u64); 7] = [
    ("expat-pieces", 60),
    ("oniguruma-greedy", 40),
    ("zlib-dictionary", 30),
    ("lua-wrong-sum", 30),
    ("bzip2-streams", 12),
    ("tree-sitter-exponent", 10),
    ("sqlite-integer-division", 8),
];

#[test]
fn a_full_replay_of_a_real_program_is_its_run() {
    in_two_threads(&real_programs(how_many(5, 1)), |case| {
        let built = case.program.build(&Toolchain::default()).expect("a program");
        let program = load(&built.executable, Granularity::Statement);
        let start = invocation(&built.executable, &built.sources, case.arguments, case.stdin.into());
        let mut tracer = Tracer::new(&program, &start, Preference::Breakpoint).expect("a tracer");
        let recording = record(&mut tracer, case.name);
        assert!(text(&recording.run.stdout).contains(case.expectation), "{}", case.name);
        assert_identity(&program, &mut tracer, &recording, case.name);
    });
}

#[test]
fn a_reduction_under_a_budget_yields_a_valid_best_so_far() {
    in_two_threads(&REDUCED, |(name, tests)| {
        let case = corpus::case(name).expect("a case");
        let built = case.program.build(&Toolchain::default()).expect("a program");
        let folder = scratch(name);
        std::fs::write(folder.join("stdin"), case.stdin).expect("an input");
        let program = Program {
            path: built.executable,
            directory: folder.clone(),
            stdin: folder.join("stdin"),
            arguments: case.arguments.iter().map(ToString::to_string).collect(),
        };
        let tests = how_many(tests / 4, *tests).to_string();
        let options = ["--clear-env", "--control", "trace", "--max-tests", &tests, "-j1"];
        let slice = program.slice(&options, 5);
        assert_eq!(slice["tests"]["total"].to_string(), tests, "{name}");
        let kept = slice["slice"].as_array().expect("a slice");
        let events: Vec<String> = kept.iter().map(|event: &Value| event["event"].to_string()).collect();
        let list = folder.join("keep");
        std::fs::write(&list, ranges(&events)).expect("written");
        let keep = format!("--keep=@{}", list.display());
        let replay = program.stripe("replay", &["--clear-env", "--poison", "off", &keep]);
        assert_eq!(replay.status.code(), Some(0), "{name}: {}", text(&replay.stderr));
        assert!(text(&replay.stdout).contains(case.expectation), "{name}");
    });
}

/// Ascending numbers as `--keep` takes them from a file: `3-5,9`.
fn ranges(numbers: &[String]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in numbers.iter().map(|number| number.parse::<u64>().expect("a number")) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let words: Vec<String> = ranges.iter().map(|(first, last)| format!("{first}-{last}")).collect();
    words.join(",")
}
