//! Jumps and breakpoints give the same answers: the same trace, and the same end and output of partial
//! executions chosen at random.

mod support;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use corpus::{Built, Toolchain, csmith_programs};
use serde_json::Value;
use support::engine::{conditions, in_two_threads, invocation, load, real_programs};
use support::random::Random;
use support::tiny::tiny;
use support::{Build, CLANG, Fixture, GCC, builds_in_turn, how_many};
use tracer::invocation::{Invocation, Limits};
use tracer::poison::Poison;
use tracer::program::{Granularity, Program, Scope};
use tracer::run::{Recording, Run};
use tracer::schedule::{Control, Omission, Schedule};
use tracer::termination::{Cut, Termination};
use tracer::trace::EventId;
use tracer::{Conditions, Engine, Preference, Tracer};

/// The two engines, on one program.
struct Pair<'p> {
    case: String,
    program: &'p Program,
    jump: Tracer<'p>,
    breakpoint: Tracer<'p>,
}

impl<'p> Pair<'p> {
    fn new(case: &str, program: &'p Program, invocation: &Invocation) -> Pair<'p> {
        let tracer = |preference| Tracer::new(program, invocation, preference).expect("a tracer");
        let jump = tracer(Preference::Auto).with_checkpoint_distance(1);
        let breakpoint = tracer(Preference::Breakpoint);
        Pair { case: case.to_owned(), program, jump, breakpoint }
    }

    /// Records with both; `None` if both refuse for the same reason.
    fn record(&mut self) -> Option<Recording> {
        let case = &self.case;
        let recorded = [&mut self.breakpoint, &mut self.jump].map(|tracer| tracer.record(&conditions()));
        let (one, other) = match recorded {
            [Ok(one), Ok(other)] => (one, other),
            recorded => {
                let [one, other] =
                    recorded.map(|recorded| recorded.map(drop).map_err(|error| error.to_string()));
                assert_eq!(one, other, "{case}");
                return None;
            }
        };
        let place = |event: EventId| match (event.0 as usize) < one.trace.len() {
            true => format!("event {} at {}", event.time(), self.program.place(one.trace.leader(event))),
            false => "the end".into(),
        };
        assert_eq!(one.trace.first_difference(&other.trace).map(place), None, "{case}");
        assert_same(&one.run, &other.run, case);
        Some(one)
    }

    /// Replays partially with both, so many times; tells how often a replay began at a checkpoint.
    fn replay(&mut self, recording: &Recording, count: u64, random: &mut Random) -> u32 {
        let mut taken_over = 0;
        let limits = stripe::baseline::limits_like(recording);
        for control in [Control::Program, Control::Trace] {
            let omission = Omission::new(self.program, &recording.trace, control);
            let schedules = (0..count / 4).map(|round| some_of(&omission, round, random));
            let mut schedules: Vec<Schedule> = schedules.collect();
            schedules.extend(as_a_search_goes(&omission, count - count / 2 - count / 4, random));
            let mut waits = 0;
            for (round, schedule) in schedules.iter().enumerate() {
                if waits == 3 {
                    break;
                }
                // A search stays with a pattern as long as it can.
                let poison = Poison::PATTERNS[round / 4 % 3];
                let mut replay_within = |times: u32| {
                    let conditions = Conditions { poison, limits: limits.with_time(times), ..conditions() };
                    [&mut self.breakpoint, &mut self.jump].map(|tracer| {
                        tracer.replay(&recording.trace, schedule, &conditions).expect("a replay")
                    })
                };
                let [mut one, mut other] = replay_within(1);
                // A machine that has much to do stops one of them.
                if ran_out_of_time(&one) != ran_out_of_time(&other) {
                    [one, other] = replay_within(10);
                }
                let omitted: Vec<u32> = recording
                    .trace
                    .events()
                    .filter(|&event| !schedule.keeps(event))
                    .map(|event| event.time())
                    .collect();
                let case = format!("{}, {control:?}, {poison:?}, without {omitted:?}", self.case);
                assert_same(&one, &other, &case);
                taken_over += u32::from(other.usage.taken_over > 0);
                waits += u32::from(ran_out_of_time(&one));
            }
        }
        taken_over
    }
}

/// Schedules as delta debugging tries them: stretches are left out from the end to the beginning, and some
/// of them for good. What these agree in is executed once, by those that begin at checkpoints.
fn as_a_search_goes(omission: &Omission<'_>, count: u64, random: &mut Random) -> Vec<Schedule> {
    let events: Vec<_> = omission.omittable().collect();
    let mut best = omission.schedule(|_| true);
    let mut schedules = Vec::new();
    let step = events.len() / (count as usize + 1) + 1;
    for end in (0..count as usize).map(|round| events.len().saturating_sub(round * step)) {
        let length = 1 + random.below(step as u64) as usize;
        let mut schedule = best.clone();
        for &event in &events[end.saturating_sub(length)..end] {
            schedule.omit(omission.with_dependents(event));
        }
        if random.below(4) == 0 {
            best = schedule.clone();
        }
        schedules.push(schedule);
    }
    schedules
}

/// A schedule that omits from one event in a hundred to all of them, singly or in stretches.
fn some_of(omission: &Omission<'_>, round: u64, random: &mut Random) -> Schedule {
    let events: Vec<_> = omission.omittable().collect();
    let share = [1, 5, 20, 50, 90][round as usize % 5];
    let stretch = if random.below(2) == 0 { 1 } else { 1 + random.below(1 + events.len() as u64 / 4) };
    let mut omitted: HashSet<EventId> = HashSet::new();
    let mut position = 0;
    while position < events.len() {
        if random.below(100) < share {
            omitted.extend(events[position..].iter().take(stretch as usize));
            position += stretch as usize;
        }
        position += 1;
    }
    omission.schedule(|event| !omitted.contains(&event))
}

fn ran_out_of_time(run: &Run) -> bool {
    matches!(run.termination, Termination::Cut(cut) if cut.is_time())
}

/// Everything that an oracle may look at.
fn assert_same(one: &Run, other: &Run, case: &str) {
    let was_stopped = |run: &Run| ran_out_of_time(run) || run.termination == Termination::Cut(Cut::Arrivals);
    let is_cut = |run: &Run| matches!(run.termination, Termination::Cut(_));
    // Which of its limits a run that never ends meets first is a matter of speed.
    if races(case) || is_cut(one) && is_cut(other) && (was_stopped(one) || was_stopped(other)) {
        return;
    }
    assert_eq!(one.termination, other.termination, "{case}");
    let text = String::from_utf8_lossy;
    assert_eq!(text(&one.stdout), text(&other.stdout), "{case}: another output");
    assert_eq!(text(&one.stderr), text(&other.stderr), "{case}: other messages");
    assert_eq!((one.arrivals, one.redirections), (other.arrivals, other.redirections), "{case}");
}

/// Whether partial runs of the program may well differ: once a `wait` is left out, it runs side by side with
/// a process that it has started, and what either sees of the other is a matter of luck; or it shows the
/// bytes of its own code.
fn races(case: &str) -> bool {
    let names = [
        "fork_child",
        "leftover_child",
        "popen_helper",
        "vfork_helper",
        "asks_helpers",
        "asks_pid",
        "own_code",
    ];
    names.iter().any(|name| case.starts_with(name))
}

/// The fixtures that can be traced.
fn fixtures() -> Vec<Fixture> {
    Fixture::all().into_iter().filter(|fixture| fixture.directive("refused").is_none()).collect()
}

#[test]
fn both_engines_agree_on_the_fixtures() {
    on_fixtures(&[GCC, CLANG], how_many(1, 2), |_| true, how_many(2, 40));
}

#[test]
fn both_engines_agree_however_the_program_is_built() {
    const NAMES: [&str; 7] = ["static", "static-pie", "no-pie", "O1", "O2", "clang-O1", "clang-O2"];
    const FLAGS: [&str; 7] = ["-static", "-static-pie", "-no-pie -fno-pie", "-O1", "-O2", "-O1", "-O2"];
    let build = |(name, flags): (&'static str, &'static str)| match name.strip_prefix("clang") {
        Some(_) => Build { name, flags, ..CLANG },
        None => Build { name, flags, ..GCC },
    };
    let builds: Vec<Build> = NAMES.into_iter().zip(FLAGS).map(build).collect();
    // Linked statically, the instruction for random numbers is in the program itself, where nobody answers.
    let draws = |fixture: &Fixture| fixture.name == "asks_device";
    let is_c = |fixture: &Fixture| {
        fixture.source.extension().is_some_and(|extension| extension != "rs") && !draws(fixture)
    };
    on_fixtures(&builds, how_many(1, 7), is_c, how_many(2, 8));
}

/// Compares the engines on the fixtures, each in so many of these builds, by so many partial replays.
fn on_fixtures(builds: &[Build], each: u64, is_wanted: impl Fn(&Fixture) -> bool, count: u64) {
    let wanted = fixtures().into_iter().filter(is_wanted);
    let cases = builds_in_turn(wanted, builds, each);
    in_two_threads(&cases, |(fixture, build)| {
        let built = fixture.build(*build);
        let case = format!("{} by {}", fixture.name, build.name);
        let program = load(&built.path, Granularity::Statement);
        let arguments: Vec<&str> = built.arguments.iter().map(String::as_str).collect();
        let stdin = std::fs::read(&built.stdin).expect("an input");
        let start = invocation(&built.path, &built.directory, &arguments, stdin);
        let mut pair = Pair::new(&case, &program, &start);
        match pair.record() {
            Some(recording) => drop(pair.replay(&recording, count, &mut Random::new(&case))),
            None => assert!(build.flags.contains("-O"), "{case} cannot be recorded"),
        }
        assert_eq!(pair.jump.engine(), Engine::Jump, "{case}");
    });
}

#[test]
fn both_engines_agree_on_random_programs() {
    let toolchains = [Toolchain::default(), Toolchain::linking_statically()];
    for (seed, toolchain) in (1..).step_by(programs() / 2).zip(&toolchains) {
        let programs = csmith_programs(programs() / 2, seed as u64, toolchain).expect("random programs");
        in_two_threads(&programs, |built| {
            let case = built.executable.display().to_string();
            let directory = built.executable.parent().expect("a folder");
            let program = load(&built.executable, Granularity::Statement);
            let start = invocation(&built.executable, directory, &[], Vec::new());
            let mut pair = Pair::new(&case, &program, &start);
            let recording = pair.record().expect("a recording");
            let taken_over = pair.replay(&recording, 30, &mut Random::new(&case));
            assert!(taken_over > 0 || recording.trace.len() < 20, "{case}: no replay began at a checkpoint");
            assert_eq!(pair.jump.engine(), Engine::Jump, "{case}");
        });
    }
}

#[test]
fn both_engines_agree_on_real_programs() {
    in_two_threads(&real_programs(how_many(4, 1)), |case| {
        let built = case.program.build(&Toolchain::default()).expect("a program");
        let program = load(&built.executable, Granularity::Statement);
        let start = invocation(&built.executable, &built.sources, case.arguments, case.stdin.into());
        let mut pair = Pair::new(case.name, &program, &start);
        let recording = pair.record().expect("a recording");
        // A replay with breakpoints costs a second for each hundred thousand events.
        let count = how_many(50_000, 1_000_000) / recording.trace.len() as u64;
        let count = count.clamp(how_many(1, 6), how_many(6, 60));
        pair.replay(&recording, count, &mut Random::new(case.name));
        assert_eq!(pair.jump.engine(), Engine::Jump, "{}", case.name);
    });
}

#[test]
fn what_ends_a_replay_before_its_first_statement_is_no_fault_of_an_engine() {
    let source = "int late(int n) { return n + 1; }\n\
                  int main(void) { volatile int i = 0;\n    while (i < 300000000) i++;\n\
                  \x20   return late(i) == 0; }\n";
    let built = tiny("late", source);
    let scope = Scope::new(&["late"]).expect("a pattern");
    let path = built.path.canonicalize().expect("built");
    let program = Program::load(&path, &[], &scope, Granularity::Statement).expect("a program");
    let start = invocation(&path, &built.directory, &[], Vec::new());
    for preference in [Preference::Breakpoint, Preference::Jump] {
        let mut tracer = Tracer::new(&program, &start, preference).expect("a tracer");
        let trace = tracer.record(&conditions()).expect("a recording").trace;
        let everything = Omission::new(&program, &trace, Control::Trace).schedule(|_| true);
        let mut ending = |conditions: &Conditions| {
            tracer.replay(&trace, &everything, conditions).expect("a replay").termination
        };
        let limits = Limits { cpu: Duration::from_millis(20), ..conditions().limits };
        assert_eq!(ending(&Conditions { limits, ..conditions() }), Termination::Cut(Cut::CpuTime));
        let stop = Arc::new(AtomicBool::new(true));
        assert_eq!(ending(&Conditions { stop, ..conditions() }), Termination::Cut(Cut::Interrupted));
        assert_eq!(ending(&conditions()), Termination::Exited(0));
    }
}

#[test]
fn both_engines_find_the_same_slices_of_the_fixtures() {
    let fixtures = fixtures().into_iter().filter(|fixture| !races(&fixture.name));
    let fixtures: Vec<Fixture> = fixtures.step_by(how_many(5, 1) as usize).collect();
    in_two_threads(&fixtures, |fixture| {
        let tests = if fixture.name == "deep_recursion" { 5 } else { how_many(30, 1000) };
        assert_same_slice(&fixture.name, &fixture.build(GCC), &["--max-tests", &tests.to_string()]);
    });
}

#[test]
fn both_engines_find_the_same_slices_of_random_programs() {
    let programs = csmith_programs(programs(), 1, &Toolchain::default()).expect("random programs");
    in_two_threads(&programs, |built| {
        let options = ["--expect-match", "checksum", "--max-tests", "25"];
        assert_same_slice(&built.executable.display().to_string(), &program(built, &[], ""), &options);
    });
}

#[test]
fn both_engines_find_the_same_slices_of_real_programs() {
    let reduced = &REDUCED[REDUCED.len() - how_many(2, REDUCED.len() as u64) as usize..];
    in_two_threads(reduced, |(name, tests)| {
        let case = corpus::case(name).expect("a case");
        let built = case.program.build(&Toolchain::default()).expect("a program");
        let tests = how_many((tests / 12).max(2), *tests).to_string();
        let options = ["--expect-match", "(?s).", "--max-tests", &tests];
        assert_same_slice(name, &program(&built, case.arguments, case.stdin), &options);
    });
}

/// A program of the corpus, to be run by stripe.
fn program(built: &Built, arguments: &[&str], input: &str) -> support::Program {
    let directory = built.executable.parent().expect("a folder").to_owned();
    let stdin = directory.join("engines.in");
    std::fs::write(&stdin, input).expect("an input");
    let arguments = arguments.iter().map(ToString::to_string).collect();
    support::Program { path: built.executable.clone(), directory, stdin, arguments }
}

/// Reduces by both engines, and compares all that does not measure time.
fn assert_same_slice(case: &str, program: &support::Program, options: &[&str]) {
    let mut slices = by_both_engines(case, program, options);
    // A machine that has much to do stops what would have ended in another way.
    if slices[0] != slices[1] {
        slices = by_both_engines(case, program, &[&["--timeout", "5s"], options].concat());
    }
    assert!(slices[0]["tests"]["total"].as_u64() > Some(0), "{case}");
    assert_eq!(slices[0], slices[1], "{case}");
}

/// What each finds.
fn by_both_engines(case: &str, program: &support::Program, options: &[&str]) -> [Value; 2] {
    ["breakpoint", "jump"].map(|engine| {
        let fixed = ["--engine", engine, "--clear-env", "--no-save", "--format", "json", "-q", "-j1"];
        let output = program.stripe("run", &[&fixed, options].concat());
        let mut slice: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{case}: {}", String::from_utf8_lossy(&output.stderr)));
        for key in ["engine", "engine_reason", "seconds"] {
            slice.as_object_mut().expect("an object").remove(key);
        }
        // A run that took too long is repeated.
        slice["tests"].as_object_mut().expect("an object").remove("runs");
        slice
    })
}

/// Runs of real programs that are reduced by both engines, and how many tests breakpoints can afford.
const REDUCED: [(&str, u64); 4] =
    [("lua-wrong-sum", 60), ("sqlite-not-in-null", 10), ("zlib-dictionary", 60), ("oniguruma-greedy", 60)];

/// How many random programs.
fn programs() -> usize {
    how_many(5, 200) as usize
}
