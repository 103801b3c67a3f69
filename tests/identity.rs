//! A replay that omits nothing is the recorded run; and two ways of recording record the same.

mod support;

use support::engine::{assert_identity, assert_same_by_steps, in_two_threads, invocation, load, record};
use support::tiny::tiny;
use support::{Build, CLANG, Fixture, GCC, text};
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

/// Looks at what has become of SIGTRAP, and of traps of its own.
const TRAPS: &str = r#"#include <signal.h>
#include <stdio.h>
static int traps;
static void handle(int signal) { traps += 1;
}
static void show(const char *moment) { sigset_t now; struct sigaction action;
    sigprocmask(SIG_SETMASK, NULL, &now);
    sigaction(SIGTRAP, NULL, &action);
    printf("%s: blocked %d, ignored %d, handled %d, traps %d\n", moment, sigismember(&now, SIGTRAP),
        action.sa_handler == SIG_IGN, action.sa_handler == handle, traps);
}
int main(void) { sigset_t trap;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    signal(SIGTRAP, handle);
    raise(SIGTRAP);
    show("raised");
    sigprocmask(SIG_BLOCK, &trap, NULL);
    raise(SIGTRAP);
    show("blocked");
    sigprocmask(SIG_UNBLOCK, &trap, NULL);
    show("unblocked");
    __asm__ volatile("int3");
    show("executed");
    signal(SIGTRAP, SIG_IGN);
    raise(SIGTRAP);
    show("ignored");
    return 0;
}
"#;

#[test]
fn a_program_that_handles_blocks_and_ignores_traps_and_makes_its_own_is_as_without_stripe() {
    let program = tiny("traps", TRAPS);
    let alone = std::process::Command::new(&program.path).output().expect("started");
    let replayed = program.stripe("replay", &["--engine", "jump"]);
    assert_eq!(text(&replayed.stdout), text(&alone.stdout), "{}", text(&replayed.stderr));
    assert!(replayed.status.success(), "{}", text(&replayed.stderr));
    assert!(text(&alone.stdout).contains("executed: blocked 0, ignored 0, handled 1, traps 3"));
}
