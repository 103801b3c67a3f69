//! A replay that omits nothing is the recorded run; and two ways of recording record the same.

mod support;

use support::engine::{assert_identity, assert_same_by_steps, in_two_threads, invocation, load, record};
use support::tiny::tiny;
use support::{Build, CLANG, Fixture, GCC, builds_in_turn, how_many, text};
use tracer::program::Granularity;
use tracer::{Preference, Tracer};

const NO_STACK_PROTECTOR: Build =
    Build { name: "gcc-plain", cc: "gcc", cxx: "g++", flags: "-fno-stack-protector -fcf-protection=none" };

/// One of so many fixtures that can be traced, built both ways in turn.
fn built(builds: [Build; 2], of: u64, test: impl Fn(&support::Program, &str) + Sync) {
    let fixtures = Fixture::all().into_iter().filter(|fixture| fixture.directive("refused").is_none());
    let cases = builds_in_turn(fixtures.step_by(of as usize), &builds, how_many(1, 2));
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
    built([GCC, CLANG], 1, |built, case| {
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
    built([GCC, NO_STACK_PROTECTOR], how_many(4, 1), |built, case| {
        let program = load(&built.path, Granularity::Statement);
        let mut tracer = Tracer::new(&program, &start(built), Preference::Breakpoint).expect("a tracer");
        let recording = record(&mut tracer, case);
        assert_same_by_steps(&program, &mut tracer, &recording, case);
    });
}

/// Looks at what has become of SIGTRAP, and of traps of its own: handled, blocked, raised while it is blocked,
/// ignored, blocked by the handler of another signal, and handled once.
const TRAPS: &str = r#"#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static int traps, code, is_own;
static sigjmp_buf back;
static void handle(int signal, siginfo_t *info, void *context) {
    traps += 1;
    code = info->si_code;
    is_own = info->si_code == SI_TKILL && info->si_pid == getpid();
}
static void show(const char *moment) { sigset_t now, pending; struct sigaction action;
    sigprocmask(SIG_SETMASK, NULL, &now);
    sigpending(&pending);
    sigaction(SIGTRAP, NULL, &action);
    printf("%s: blocked %d, pending %d, default %d, ignored %d, handled %d, traps %d, code %d, own %d\n", moment,
        sigismember(&now, SIGTRAP), sigismember(&pending, SIGTRAP), action.sa_handler == SIG_DFL,
        action.sa_handler == SIG_IGN, action.sa_sigaction == handle, traps, code, is_own);
}
static void interrupt(int signal) {
    show("in a handler");
    raise(SIGTRAP);
    show("raised in a handler");
}
static void jump(int signal) {
    show("before a jump");
    siglongjmp(back, 1);
}
static void act(int signal, int flags) { struct sigaction action = { .sa_sigaction = handle };
    action.sa_flags = SA_SIGINFO | flags;
    sigaction(signal, &action, NULL);
}
static void interrupted_by(void (*handler)(int)) { struct sigaction action = { .sa_handler = handler };
    sigaddset(&action.sa_mask, SIGTRAP);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
}
int main(void) { sigset_t trap;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    show("at first");
    sigprocmask(SIG_BLOCK, &trap, NULL);
    show("blocked by default");
    sigprocmask(SIG_UNBLOCK, &trap, NULL);
    act(SIGTRAP, 0);
    raise(SIGTRAP);
    show("raised");
    sigprocmask(SIG_BLOCK, &trap, NULL);
    show("blocked");
    raise(SIGTRAP);
    show("raised while blocked");
    show("still blocked");
    sigprocmask(SIG_UNBLOCK, &trap, NULL);
    show("unblocked");
    __asm__ volatile("int3");
    show("executed");
    interrupted_by(interrupt);
    show("after a handler");
    if (!sigsetjmp(back, 1)) interrupted_by(jump);
    show("after a jump");
    signal(SIGTRAP, SIG_IGN);
    raise(SIGTRAP);
    show("ignored");
    sigprocmask(SIG_BLOCK, &trap, NULL);
    show("ignored and blocked");
    sigprocmask(SIG_UNBLOCK, &trap, NULL);
    act(SIGTRAP, SA_RESETHAND | SA_NODEFER);
    raise(SIGTRAP);
    show("handled once");
    return 0;
}
"#;

/// A trap of its own that it does not let in ends it.
const FORBIDDEN: &str = r#"#include <signal.h>
#include <stdio.h>
int main(void) { sigset_t trap;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    signal(SIGTRAP, SIG_IGN);
    sigprocmask(SIG_BLOCK, &trap, NULL);
    puts("as yet");
    fflush(stdout);
    __asm__ volatile("int3");
    puts("not reached");
    return 0;
}
"#;

#[test]
fn a_program_that_handles_blocks_and_ignores_traps_and_makes_its_own_is_as_without_stripe() {
    let handled = "executed: blocked 0, pending 0, default 0, ignored 0, handled 1, traps 3";
    for (name, source, expected) in [("traps", TRAPS, handled), ("forbidden_trap", FORBIDDEN, "as yet")] {
        let program = tiny(name, source);
        let alone = std::process::Command::new(&program.path).output().expect("started");
        let trace = |engine| text(&program.stripe("trace", &["--engine", engine]).stdout);
        let by_jumps = trace("jump");
        assert!(by_jumps.contains("main"), "{by_jumps}");
        for engine in ["breakpoint", "step"] {
            assert_eq!(trace(engine), by_jumps, "{engine}");
        }
        for engine in ["jump", "breakpoint"] {
            let replayed = program.stripe("replay", &["--engine", engine]);
            let told = format!("{engine}: {}", text(&replayed.stderr));
            assert_eq!(text(&replayed.stdout), text(&alone.stdout), "{told}");
            assert_eq!(replayed.status.code(), Some(0), "{told}");
        }
        assert!(text(&alone.stdout).contains(expected));
    }
}
