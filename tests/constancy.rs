//! A run is the same every time, whatever the program asks.

mod support;

use corpus::{Case, Toolchain};
use serde_json::Value;
use support::engine::{conditions, in_two_threads, invocation, load, record};
use support::tiny::tiny;
use support::{ASKING, Fixture, GCC, Program, how_many, text};
use tracer::invocation::{Answers, Constancy, Invocation};
use tracer::program::Granularity;
use tracer::run::Run;
use tracer::schedule::{Control, Schedule};
use tracer::{Preference, Tracer};

/// Replays all of a recorded run so often, as a copy of a process and as a process of its own in turn.
fn replay_again_and_again(path: &std::path::Path, start: &Invocation, case: &str, times: u64) {
    let program = load(path, Granularity::Statement);
    for preference in [Preference::Auto, Preference::Breakpoint] {
        let mut tracer = Tracer::new(&program, start, preference).expect("a tracer");
        let recording = record(&mut tracer, case);
        let everything = Schedule::everything(&recording.trace, Control::Program);
        for time in 0..times {
            if time % 2 == 1 {
                tracer.start_anew(&conditions());
            }
            let run = tracer.replay(&recording.trace, &everything, &conditions()).expect("a replay");
            let case = format!("{case}, {preference:?}, replay {time}");
            assert_eq!(run.termination, recording.run.termination, "{case}");
            assert_eq!(text(&run.stdout), text(&recording.run.stdout), "{case}");
            assert_eq!(text(&run.stderr), text(&recording.run.stderr), "{case}");
            // Each arrival was the next event, and none was moved: the same trace.
            assert_eq!((run.arrivals, run.redirections), (recording.trace.len() as u64, 0), "{case}");
        }
    }
}

fn start(program: &Program) -> Invocation {
    let arguments: Vec<&str> = program.arguments.iter().map(String::as_str).collect();
    let stdin = std::fs::read(&program.stdin).expect("an input");
    invocation(&program.path, &program.directory, &arguments, stdin)
}

#[test]
fn every_replay_of_a_fixture_is_its_run() {
    let fixtures: Vec<Fixture> =
        Fixture::all().into_iter().filter(|fixture| fixture.directive("refused").is_none()).collect();
    in_two_threads(&fixtures, |fixture| {
        let program = fixture.build(GCC);
        replay_again_and_again(&program.path, &start(&program), &fixture.name, how_many(2, 100));
    });
}

#[test]
fn every_replay_of_lua_and_sqlite_is_its_run() {
    let cases: Vec<&Case> =
        ["lua-wrong-sum", "sqlite-integer-division"].map(|name| corpus::case(name).expect("a case")).into();
    in_two_threads(&cases, |case| {
        let built = case.program.build(&Toolchain::default()).expect("a program");
        let start = invocation(&built.executable, &built.sources, case.arguments, case.stdin.into());
        replay_again_and_again(&built.executable, &start, case.name, how_many(1, 100));
    });
}

/// The needed events of a reduction, with the line and the purpose of each.
fn slice(program: &Program, options: &[&str]) -> Value {
    let slice = program.slice(&[options, &["--no-save"]].concat(), 0);
    assert_eq!(slice["status"], "minimal");
    slice["slice"].clone()
}

#[test]
fn programs_that_ask_for_what_varies_have_the_same_slice_every_time() {
    in_two_threads(&ASKING, |name| {
        let program = Fixture::named(name).build(GCC);
        let first = slice(&program, &["-j1", "--engine", "jump"]);
        assert!(first.as_array().is_some_and(|events| !events.is_empty()), "{name}");
        for time in 1..how_many(2, 20) as usize {
            let options = [["-j2", "--engine", "jump"], ["-j1", "--engine", "breakpoint"]];
            // What is seen without an event may be told in other words, but not what is needed.
            let again = slice(&program, &options[time % 2]);
            assert_eq!(events(&again), events(&first), "{name}, time {time}");
        }
    });
}

fn events(slice: &Value) -> Vec<(&Value, &Value)> {
    let events = slice.as_array().expect("a list").iter();
    events.map(|event| (&event["event"], &event["needed"])).collect()
}

/// A run of a program with these answers.
fn run(program: &Program, constancy: Constancy, preference: Preference) -> Run {
    let loaded = load(&program.path, Granularity::Statement);
    let start = Invocation { constancy, ..start(program) };
    let mut tracer = Tracer::new(&loaded, &start, preference).expect("a tracer");
    record(&mut tracer, "a recording").run
}

#[test]
fn all_ways_of_running_give_the_same_answers() {
    in_two_threads(&ASKING, |name| {
        let program = Fixture::named(name).build(GCC);
        let [jump, breakpoint] = [Preference::Jump, Preference::Breakpoint]
            .map(|preference| run(&program, Constancy::default(), preference));
        assert_eq!(text(&jump.stdout), text(&breakpoint.stdout), "{name}");
        let loaded = load(&program.path, Granularity::Statement);
        let mut tracer = Tracer::new(&loaded, &start(&program), Preference::Breakpoint).expect("a tracer");
        let stepped = tracer.record_by_steps(&conditions()).expect("a recording");
        assert_eq!(text(&stepped.run.stdout), text(&jump.stdout), "{name}");
    });
}

#[test]
fn time_passes_by_questions_and_waits_alone() {
    let told = run(&Fixture::named("asks_time").build(GCC), Constancy::default(), Preference::Auto).stdout;
    let told = text(&told);
    let expected = "2026-1-1\n\
                    1000000 2000 6000000\n\
                    ready 0, left 0, used 7000\n\
                    user 8000 in 2 steps\n";
    assert_eq!(told, expected);
}

#[test]
fn a_child_that_ends_meanwhile_does_not_change_how_much_time_passes() {
    let source = "#include <stdio.h>\n#include <time.h>\n#include <unistd.h>\n#include <sys/wait.h>\n\
                  int main(void) { struct timespec nap = {0, 30000000}, now;\n\
                  \x20   if (fork() == 0) { usleep(5000); _exit(0); }\n\
                  \x20   nanosleep(&nap, NULL);\n    clock_gettime(CLOCK_MONOTONIC, &now);\n    wait(NULL);\n\
                  \x20   printf(\"%ld ms\\n\", now.tv_nsec / 1000000);\n}\n";
    let program = tiny("napping", source);
    for preference in [Preference::Jump, Preference::Breakpoint] {
        let told = run(&program, Constancy::default(), preference).stdout;
        assert_eq!(text(&told), "31 ms\n", "{preference:?}");
    }
}

#[test]
fn what_is_real_is_as_it_is() {
    let (constant, real) = (Answers::Constant, Answers::Real);
    let cases = [
        ("asks_time", Constancy { time: real, chance: constant }),
        ("asks_device", Constancy { time: constant, chance: real }),
        ("asks_urandom", Constancy { time: constant, chance: real }),
    ];
    for (name, constancy) in cases {
        let program = Fixture::named(name).build(GCC);
        let outputs = [0, 1].map(|_| run(&program, constancy, Preference::Auto).stdout);
        assert_ne!(text(&outputs[0]), text(&outputs[1]), "{name}");
        let other = match constancy.time {
            Answers::Real => Constancy { time: constant, chance: real },
            Answers::Constant => Constancy { time: real, chance: constant },
        };
        let outputs = [0, 1].map(|_| run(&program, other, Preference::Auto).stdout);
        assert_eq!(text(&outputs[0]), text(&outputs[1]), "{name}");
    }
}

/// Says which limits it, its child and the shell have, before and after it has set one.
const LIMITED: &str = r#"#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void show(const char *who) {
    int resources[] = { RLIMIT_FSIZE, RLIMIT_CORE, RLIMIT_AS, RLIMIT_STACK };
    for (int i = 0; i < 4; i++) {
        struct rlimit now = { 1, 1 }, again = { 2, 2 }, raw = { 3, 3 };
        getrlimit(resources[i], &now);
        prlimit(getpid(), resources[i], NULL, &again);
        syscall(SYS_getrlimit, resources[i], &raw);
        printf("%s: %d: %lx %lx, %lx %lx, %lx %lx\n", who, resources[i], now.rlim_cur, now.rlim_max,
            again.rlim_cur, again.rlim_max, raw.rlim_cur, raw.rlim_max);
    }
    fflush(stdout);
}
int main(void) {
    struct rlimit less = { 1 << 20, 2 << 20 }, before = { 0, 0 }, wrong = { 2, 1 };
    show("at first");
    getrlimit(RLIMIT_CORE, &before);
    before.rlim_cur = before.rlim_max;
    printf("as much as possible: %d\n", setrlimit(RLIMIT_CORE, &before));
    show("core");
    printf("wrong: %d\n", setrlimit(RLIMIT_AS, &wrong));
    prlimit(0, RLIMIT_FSIZE, &less, &before);
    printf("was %lx %lx\n", before.rlim_cur, before.rlim_max);
    show("less");
    if (fork() == 0) { show("child"); _exit(0); }
    wait(NULL);
    system("ulimit -f; ulimit -c; ulimit -v");
    signal(SIGXFSZ, SIG_IGN);
    FILE *file = tmpfile();
    printf("at the limit: %d\n", ftruncate(fileno(file), 1 << 20));
    printf("beyond it: %d\n", ftruncate(fileno(file), (1 << 20) + 1));
    return 0;
}
"#;

#[test]
fn limits_are_those_of_whoever_has_started_stripe_until_the_program_sets_its_own() {
    let program = tiny("limits", LIMITED);
    let native = std::process::Command::new(&program.path).output().expect("started");
    for engine in ["jump", "breakpoint"] {
        let output = program.stripe("replay", &["--engine", engine]);
        assert_eq!(output.status.code(), Some(0), "{engine}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout), text(&native.stdout), "{engine}");
    }
}

/// Asks for signals about a file by its own number, and gets one.
const OWNER: &str = r#"#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
static volatile int told;
static void tell(int signal) { told++; }
int main(void) { int ends[2];
    signal(SIGIO, tell);
    pipe(ends);
    printf("set %d, ", fcntl(ends[0], F_SETOWN, getpid()));
    printf("own %d, ", fcntl(ends[0], F_GETOWN) == getpid());
    fcntl(ends[0], F_SETFL, O_ASYNC);
    write(ends[1], "x", 1);
    printf("told %d, ", told);
    printf("priority %ld\n", syscall(SYS_ioprio_set, 1, getpid(), 2 << 13 | 5));
    return 0;
}
"#;

#[test]
fn a_program_may_name_itself_as_who_gets_signals_about_a_file() {
    let program = tiny("owner", OWNER);
    for engine in ["jump", "breakpoint"] {
        let output = program.stripe("replay", &["--engine", engine]);
        assert_eq!(output.status.code(), Some(0), "{engine}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "set 0, own 1, told 1, priority 0\n", "{engine}");
    }
}

/// Sleeps for hours in each way that the C library has.
const SLEEPER: &str = "#include <poll.h>\n#include <stdio.h>\n#include <sys/select.h>\n#include <time.h>\n#include <unistd.h>\n\
    int main(void) { struct timespec now, later = {3600, 0};\n\
    \x20   clock_gettime(CLOCK_MONOTONIC, &now);\n    long first = now.tv_sec;\n    int left = sleep(3600);\n\
    \x20   nanosleep(&later, 0);\n    clock_gettime(CLOCK_MONOTONIC, &later);\n    later.tv_sec += 3600;\n\
    \x20   int late = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &later, 0);\n\
    \x20   struct timeval hour = {3600, 0};\n    int ready = select(0, 0, 0, 0, &hour);\n    ready += poll(0, 0, 3600000);\n\
    \x20   later.tv_nsec = -1;\n    int wrong = nanosleep(&later, 0);\n    clock_gettime(CLOCK_MONOTONIC, &now);\n\
    \x20   printf(\"%ld %d %d %d %d %ld\\n\", now.tv_sec - first, left, late, ready, wrong, (long)hour.tv_sec);\n    return 0; }\n";

#[test]
fn a_sleep_takes_no_time_on_a_clock_that_is_made_up() {
    let program = tiny("sleeper", SLEEPER);
    for preference in [Preference::Auto, Preference::Breakpoint] {
        let loaded = load(&program.path, Granularity::Statement);
        let mut tracer = Tracer::new(&loaded, &start(&program), preference).expect("a tracer");
        let recording = record(&mut tracer, "sleeper");
        assert_eq!(text(&recording.run.stdout), "18000 0 0 0 -1 0\n", "{preference:?}");
        assert!(recording.run.usage.wall.as_secs() < 600, "{:?}", recording.run.usage);
    }
    replay_again_and_again(&program.path, &start(&program), "sleeper", 4);
}

#[test]
fn a_sleep_that_something_may_end_before_its_time_is_slept() {
    let alarmed = "#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\nstatic void wake(int s) { (void)s;\n}\n\
        int main(void) { signal(SIGALRM, wake);\n    alarm(1);\n    int left = sleep(100);\n\
        \x20   printf(\"%d\\n\", left > 0);\n    return 0; }\n";
    let parent = "#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n#include <sys/wait.h>\nstatic void wake(int s) { (void)s;\n}\n\
        int main(void) { signal(SIGCHLD, wake);\n    if (!fork()) { usleep(300000); _exit(0);\n    }\n\
        \x20   int left = sleep(100);\n    wait(0);\n    printf(\"%d\\n\", left > 0);\n    return 0; }\n";
    for (name, source) in [("alarmed", alarmed), ("parent", parent)] {
        let program = tiny(name, source);
        replay_again_and_again(&program.path, &start(&program), name, 2);
        let loaded = load(&program.path, Granularity::Statement);
        let mut tracer = Tracer::new(&loaded, &start(&program), Preference::Auto).expect("a tracer");
        assert_eq!(text(&record(&mut tracer, name).run.stdout), "1\n", "{name}");
    }
}
