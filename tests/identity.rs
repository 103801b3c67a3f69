//! A replay that omits nothing is the recorded run; and two ways of recording record the same.

mod support;

use std::sync::Arc;

use stripe::baseline::recording_limits;
use support::{Build, CLANG, Fixture, GCC, Program};
use tracer::invocation::{Invocation, Stdout};
use tracer::poison::Poison;
use tracer::program::{Granularity, Scope};
use tracer::schedule::{Control, Omission};
use tracer::{Conditions, Method, Tracer};

const NO_STACK_PROTECTOR: Build =
    Build { name: "gcc-pie", cc: "gcc", cxx: "g++", flags: "-fPIE -pie -fno-stack-protector" };

fn fixtures() -> Vec<Fixture> {
    Fixture::all().into_iter().filter(|fixture| fixture.directive("refused").is_none()).collect()
}

fn invocation(program: &Program) -> Invocation {
    let name = program.path.clone().into_os_string();
    Invocation {
        program: program.path.canonicalize().expect("built"),
        arguments: std::iter::once(name).chain(program.arguments.iter().map(Into::into)).collect(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        directory: program.directory.clone(),
        stdin: std::fs::read(&program.stdin).expect("an input"),
        stdout: Stdout::File,
    }
}

fn conditions(poison: Poison) -> Conditions {
    Conditions { poison, limits: recording_limits(), stop: Arc::default() }
}

fn load(program: &Program, granularity: Granularity) -> tracer::program::Program {
    let path = program.path.canonicalize().expect("built");
    tracer::program::Program::load(&path, &[], &Scope::default(), granularity)
        .expect("a program that can be traced")
}

#[test]
fn a_replay_that_omits_nothing_is_the_recorded_run() {
    for (fixture, build) in fixtures().iter().flat_map(|fixture| [(fixture, GCC), (fixture, CLANG)]) {
        let built = fixture.build(build);
        for granularity in [Granularity::Statement, Granularity::Line] {
            let program = load(&built, granularity);
            let mut tracer = Tracer::new(&program, &invocation(&built)).expect("a tracer");
            let recording = tracer.record(Method::Breakpoint, &conditions(Poison::Off)).expect("a recording");
            for control in [Control::Program, Control::Trace] {
                let everything = Omission::new(&program, &recording.trace, control).schedule(|_| true);
                let run =
                    tracer.replay(&recording.trace, &everything, &conditions(Poison::Off)).expect("a replay");
                let case = format!("{} by {}, {granularity:?}, {control:?}", fixture.name, build.name);
                assert_eq!(run.termination, recording.run.termination, "{case}");
                assert!(run.stdout == recording.run.stdout, "{case}: another output");
                // Each arrival was the next event, and none was moved: the same trace.
                assert_eq!((run.arrivals, run.redirections), (recording.trace.len() as u64, 0), "{case}");
            }
        }
    }
}

#[test]
fn single_stepping_records_the_same_events() {
    for (fixture, build) in
        fixtures().iter().flat_map(|fixture| [(fixture, GCC), (fixture, NO_STACK_PROTECTOR)])
    {
        let built = fixture.build(build);
        let program = load(&built, Granularity::Statement);
        let mut tracer = Tracer::new(&program, &invocation(&built)).expect("a tracer");
        let quick = tracer.record(Method::Breakpoint, &conditions(Poison::Off)).expect("a recording");
        let slow = tracer.record(Method::SingleStep, &conditions(Poison::Off)).expect("a recording");
        assert_eq!(quick.trace.first_difference(&slow.trace), None, "{} by {}", fixture.name, build.name);
        assert_eq!(quick.run.termination, slow.run.termination, "{}", fixture.name);
    }
}
