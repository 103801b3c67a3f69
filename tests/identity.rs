//! A replay that omits nothing is the recorded run; and two ways of recording record the same.

mod support;

use support::engine::{assert_identity, assert_same_by_steps, in_two_threads, invocation, load, record};
use support::{Build, CLANG, Fixture, GCC};
use tracer::program::Granularity;
use tracer::{Preference, Tracer};

const NO_STACK_PROTECTOR: Build =
    Build { name: "gcc-plain", cc: "gcc", cxx: "g++", flags: "-fno-stack-protector -fcf-protection=none" };

/// Each fixture that can be traced, built both ways.
fn built(builds: [Build; 2], test: impl Fn(&support::Program, &str) + Sync) {
    let fixtures = Fixture::all().into_iter().filter(|fixture| fixture.directive("refused").is_none());
    let cases: Vec<(Fixture, Build)> =
        fixtures.flat_map(|fixture| builds.map(|build| (fixture.clone(), build))).collect();
    in_two_threads(&cases, |(fixture, build)| {
        test(&fixture.build(*build), &format!("{} by {}", fixture.name, build.name));
    });
}

fn start(program: &support::Program) -> tracer::invocation::Invocation {
    let arguments: Vec<&str> = program.arguments.iter().map(String::as_str).collect();
    let stdin = std::fs::read(&program.stdin).expect("an input");
    invocation(&program.path, &program.directory, &arguments, stdin)
}

#[test]
fn a_replay_that_omits_nothing_is_the_recorded_run() {
    built([GCC, CLANG], |built, case| {
        for granularity in [Granularity::Statement, Granularity::Line] {
            let program = load(&built.path, granularity);
            let mut tracer = Tracer::new(&program, &start(built), Preference::Breakpoint).expect("a tracer");
            let recording = record(&mut tracer, case);
            assert_identity(&program, &mut tracer, &recording, &format!("{case}, {granularity:?}"));
        }
    });
}

#[test]
fn single_stepping_records_the_same_events() {
    built([GCC, NO_STACK_PROTECTOR], |built, case| {
        // The traps of a program that is stepped are taken for steps.
        if case.starts_with("trap_handler") {
            return;
        }
        let program = load(&built.path, Granularity::Statement);
        let mut tracer = Tracer::new(&program, &start(built), Preference::Breakpoint).expect("a tracer");
        let recording = record(&mut tracer, case);
        assert_same_by_steps(&program, &mut tracer, &recording, case);
    });
}
