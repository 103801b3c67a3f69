//! Measure what events, tests and traces cost, as ratios.
//!
//! Times of one machine at one moment say nothing about another, so each row compares two things that
//! are measured by turns in this very run, on one processor, and takes medians. Does not look for the
//! causes: `strace -c -f` does. Names of sections as arguments select them:
//!
//!     cargo bench --bench cost -- events tests containment recording replaying \
//!         reductions searches memory file dependences workers interventions
//!
//! Ends with status 1 if a requirement is missed.

#[path = "cost/interventions.rs"]
mod interventions;

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use stripe::baseline::recording_limits;
use tracer::dependence::Interpretation;
use tracer::invocation::{Constancy, Invocation, Permissions, SandboxMode, Stdout};
use tracer::poison::Poison;
use tracer::program::{Granularity, Program, Scope};
use tracer::run::{Recording, Run};
use tracer::schedule::{Control, Omission, Schedule};
use tracer::trace::Trace;
use tracer::trace_file::{self, Identity};
use tracer::{Conditions, DependenceRequest, Preference, Processors, Tracer};

/// Runs to the end without a traced statement between two stops.
const STOPS: &str = r#"#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char go;
    long n = atol(argv[1]);
    if (read(0, &go, 1) != 1) return 1;
    while (n-- > 0) __asm__ volatile("int3");
    return 0;
}
"#;

/// Forks a child that ends at once, again and again; prints how many nanoseconds that took.
const FORKS: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct timespec from, to;
    long n = atol(argv[1]);
    clock_gettime(CLOCK_MONOTONIC, &from);
    while (n-- > 0) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        waitpid(child, NULL, 0);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%ld\n", (to.tv_sec - from.tv_sec) * 1000000000L + to.tv_nsec - from.tv_nsec);
    return 0;
}
"#;

/// Executes statements, in one of several shapes; the second argument says about how many.
const EVENTS: &str = r#"#include <stdlib.h>
static int tiny(void) { return 1; }
static int deep(long n)
{
    if (n == 0) return 0;
    return deep(n - 1) + 1;
}
int main(int argc, char **argv)
{
    long n = atol(argv[2]), sum = 0;
    switch (argv[1][0]) {
    case 'l':
        while (n > 0) {
            sum = sum + n;
            n = n - 3;
        }
        break;
    case 'c':
        for (; n > 0; n -= 6) sum += tiny();
        break;
    case 'd':
        sum = deep(n / 4);
        break;
    }
    return sum == 42;
}
"#;

/// A Lua script that executes more than a million statements of the interpreter.
const FIB: &str = r#"-- fib(20) with a wrong base case: fib(0) should be 0.
local function fib(n) if n < 2 then return 1 end return fib(n - 1) + fib(n - 2) end
print("fib = " .. fib(20))
"#;

fn main() -> ExitCode {
    let processors = Processors::available();
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let mut table = Table::new();
    for (name, measure) in [
        ("events", events as fn(&mut Table)),
        ("tests", tests),
        ("containment", containment),
        ("recording", recording),
        ("replaying", replaying),
        ("reductions", reductions),
        ("searches", searches),
        ("memory", memory),
        ("file", file),
        ("dependences", dependences),
        ("workers", workers),
        ("interventions", interventions::interventions),
    ] {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            std::thread::scope(|scope| {
                let pinned = || {
                    if !["workers", "recording", "searches", "interventions"].contains(&name) {
                        processors.bind(0);
                    }
                    measure(&mut table);
                };
                scope.spawn(pinned);
            });
        }
    }
    table.verdict()
}

/// One event against a stop that nothing is done at.
fn events(table: &mut Table) {
    // In many short rounds: other work comes in bursts.
    const COUNT: u32 = 5_000;
    const ROUNDS: usize = 41;
    let bare = compile("stops", STOPS);
    let (long, short) = (Subject::new("loop", COUNT), Subject::new("loop", 100));
    let (long, short) = (Bench::new(&long), Bench::new(&short));
    let calls = Subject::new("calls", COUNT);
    let calls = Bench::new(&calls);
    let events = (long.trace().len() - short.trace().len()) as f64;
    let more_calls = (calls.trace().len() - short.trace().len()) as f64;
    let [stop, recorded, replayed, poisoned] = by_turns(
        ROUNDS,
        [
            &mut || bare_stops(&bare, COUNT).as_secs_f64() / f64::from(COUNT),
            &mut || (long.record() - short.record()) / events,
            &mut || (long.replay(Poison::Off) - short.replay(Poison::Off)) / events,
            &mut || (calls.replay(Poison::Negative) - short.replay(Poison::Negative)) / more_calls,
        ],
    );
    table.section("one event", "a bare ptrace stop");
    table.ratio("recorded", recorded / stop, Some(1.5), &per("stop", recorded, stop));
    table.ratio("replayed", replayed / stop, Some(1.5), &per("stop", replayed, stop));
    table.ratio("replayed, tiny calls, poisoned", poisoned / stop, None, &per("stop", poisoned, stop));
}

/// One test of the sample against one start of it.
fn tests(table: &mut Table) {
    const ROUNDS: usize = 41;
    const BATCH: usize = 5;
    let sample = Subject::sample();
    let bench = Bench::new(&sample);
    let events = bench.trace().len();
    let start = |how| batch(BATCH, || sample.start(how));
    let [spawned, forked, tested, recorded] = by_turns(
        ROUNDS,
        [
            &mut || start(Start::Spawn),
            &mut || start(Start::Fork),
            &mut || batch(BATCH, || bench.replay(Poison::Negative)),
            &mut || batch(BATCH, || sample_recording(&sample)),
        ],
    );
    table.section("one test of the sample", "fork + exec + wait of it");
    table.ratio("replayed", tested / forked, Some(3.0), &per("start", tested, forked));
    table.ratio("replayed, against vfork", tested / spawned, None, &format!("{events} events"));
    table.ratio("loaded and recorded", recorded / forked, None, "a tracer made for each");

    let jumping = Bench::by(&sample, Preference::Jump);
    let bare = compile("forks", FORKS);
    const FORKED: u32 = 500;
    let [fork, tested] = by_turns(
        ROUNDS,
        [&mut || bare_forks(&bare, FORKED) / f64::from(FORKED), &mut || {
            batch(10 * BATCH, || jumping.replay(Poison::Negative))
        }],
    );
    table.section("one test of the sample by jumps", "fork + exit + wait");
    table.ratio("replayed", tested / fork, Some(2.0), &per("fork", tested, fork));
}

/// One test of the sample in a sandbox against one without.
fn containment(table: &mut Table) {
    const ROUNDS: usize = 61;
    const BATCH: usize = 20;
    let (contained, open) = (Subject::sample(), Subject::sample_called("sum-mul-open").without_sandbox());
    for (preference, name, most) in
        [(Preference::Jump, "by jumps", 1.10), (Preference::Breakpoint, "by breakpoints", 1.05)]
    {
        let (contained, open) = (Bench::by(&contained, preference), Bench::by(&open, preference));
        let [inside, outside] = by_turns(
            ROUNDS,
            [&contained, &open]
                .map(|bench| move || batch(BATCH, || bench.replay(Poison::Negative)))
                .each_mut()
                .map(|measure| measure as &mut dyn FnMut() -> f64),
        );
        table.section(&format!("one test of the sample {name}, fully contained"), "one with --no-sandbox");
        table.ratio("replayed", inside / outside, Some(most), &per("test", inside, outside));
    }
}

/// A run of 38 million events, recorded by jumps.
fn recording(table: &mut Table) {
    const ROUNDS: usize = 5;
    let fib = Subject::corpus("lua-fib");
    let mut tracer = Tracer::new(&fib.program, &fib.invocation(), Preference::Jump).expect("a tracer");
    let events = tracer.record(&conditions(Poison::Off)).expect("a recording").trace.len();
    let [native, recorded] = by_turns(
        ROUNDS,
        [&mut || seconds(|| fib.start(Start::Spawn)), &mut || {
            seconds(|| tracer.record(&conditions(Poison::Off)).expect("a recording"))
        }],
    );
    table.section("recording Lua's fib(27)", "its native run");
    let note = format!("{:.2} s, native {native:.3} s, {} million events", recorded, events / 1_000_000);
    table.ratio("recorded by jumps", recorded / native, Some(6.0), &note);
}

/// A run of a million events and more, replayed by jumps with every tenth event omitted.
fn replaying(table: &mut Table) {
    const ROUNDS: usize = 9;
    let subject = Subject::new("loop", 3_000_000);
    let bench = Bench::by(&subject, Preference::Jump);
    let trace = bench.trace();
    let omission = Omission::new(&subject.program, trace, Control::Trace);
    let partial = omission.schedule(|event| event.0 % 10 != 0);
    let [native, full, tenth, poisoned] = by_turns(
        ROUNDS,
        [
            &mut || seconds(|| subject.start(Start::Spawn)),
            &mut || bench.replay(Poison::Off),
            &mut || bench.replay_as(&partial, Poison::Off),
            &mut || bench.replay_as(&partial, Poison::Negative),
        ],
    );
    table.section(&format!("replaying {} events by jumps", trace.len()), "the native run");
    let note = |time: f64| format!("{:.1} ms, native {:.1} ms", 1e3 * time, 1e3 * native);
    table.ratio("in full", full / native, None, &note(full));
    table.ratio("every tenth omitted", tenth / native, Some(8.0), &note(tenth));
    table.ratio("every tenth omitted, poisoned", poisoned / native, Some(8.0), &note(poisoned));
}

/// Memory per event, as the structures say and as the kernel sees it.
fn memory(table: &mut Table) {
    table.section("memory of one event", "one byte");
    for shape in ["loop", "calls", "deep"] {
        // Long enough that the size of large pages, in which traces lie, does not matter.
        let (short, long) = (Subject::new(shape, 2_000), Subject::new(shape, 402_000));
        let events = (Bench::new(&long).trace().len() - Bench::new(&short).trace().len()) as f64;
        let subject = Subject::new(shape, 20_000);
        let bench = Bench::new(&subject);
        let trace = bench.trace();
        let held = trace.memory() as f64 / trace.len() as f64;
        let deepest = trace.events().map(|event| trace.depth(event)).max().unwrap_or(0);
        table.ratio(&format!("{shape}: trace"), held, Some(32.0), &format!("{deepest} calls deep"));
        // While the universe is made: where each event's dependents end, and the stretch of each; two bit
        // sets, the omittable and the executed events. The governors are gone by then.
        let governed = held + 4.0 + 8.0 + 2.0 / 8.0;
        let note = "with a universe and bit sets";
        table.ratio(&format!("{shape}: and a schedule"), governed, Some(32.0), note);
        let growth =
            |verb, engine| (long.peak_memory(verb, engine) - short.peak_memory(verb, engine)) / events;
        let note = "growth of the peak RSS, with open calls";
        for verb in ["trace", "replay"] {
            let [stops, jumps] = ["breakpoint", "jump"].map(|engine| growth(verb, engine));
            table.ratio(&format!("{shape}: stripe {verb}"), stops, Some(32.0), note);
            table.ratio(&format!("{shape}: the same by jumps"), jumps, None, note);
        }
    }
}

/// A trace in a file: its size, and the time to write and read it.
fn file(table: &mut Table) {
    const COUNT: u32 = 100_000;
    const ROUNDS: usize = 7;
    table.section("a trace in a file, an event", "one byte, or recording it");
    for shape in ["loop", "calls", "deep"] {
        let subject = Subject::new(shape, COUNT);
        let bench = Bench::new(&subject);
        let events = bench.trace().len() as f64;
        let identity = Identity::of(&subject.program).expect("the file of the program");
        let write = |bytes: &mut Vec<u8>| {
            trace_file::write(bytes, &subject.program, &identity, bench.trace()).expect("written");
        };
        let mut bytes = Vec::new();
        write(&mut bytes);
        let read =
            || trace_file::read_from(&bytes[..], &subject.path, &subject.program, &identity).expect("sound");
        let [recorded, written, restored] = by_turns(
            ROUNDS,
            [
                &mut || bench.record() / events,
                &mut || batch(1, || write(&mut Vec::new())) / events,
                &mut || batch(1, || drop(read())) / events,
            ],
        );
        let size = bytes.len() as f64 / events;
        table.ratio(&format!("{shape}: size"), size, Some(1.0), &format!("{} bytes", bytes.len()));
        let nanoseconds = |time: f64| format!("{:.0} ns", time * 1e9);
        table.ratio(&format!("{shape}: written"), written / recorded, None, &nanoseconds(written));
        table.ratio(&format!("{shape}: read"), restored / recorded, None, &nanoseconds(restored));
    }
}

/// A run that is followed instruction by instruction, by a stop for each or interpreted, and what is kept for each event.
fn dependences(table: &mut Table) {
    const COUNT: u32 = 2_000;
    const ROUNDS: usize = 7;
    let stops = compile("stops", STOPS);
    let subject = Subject::new("loop", COUNT);
    let bench = Bench::new(&subject);
    let follow = |asks_for_potential, interpretation| {
        let mut tracer =
            Tracer::new(&subject.program, &subject.invocation(), Preference::Auto).expect("a tracer");
        let (instructions, memory) = (u64::MAX, u64::MAX);
        let wanted =
            DependenceRequest { questions: &[], instructions, memory, asks_for_potential, interpretation };
        tracer.dependences(bench.trace(), &wanted, &conditions(Poison::Off)).expect("followed").0
    };
    let found = follow(false, Interpretation::Trusted);
    let (instructions, events) = (found.instructions as f64, bench.trace().len() as f64);
    assert!(found.incomplete.is_none(), "{:?}", found.incomplete);
    let [stop, recorded, stopping, plain, potential] = by_turns(
        ROUNDS,
        [
            &mut || bare_stops(&stops, COUNT).as_secs_f64() / f64::from(COUNT),
            &mut || bench.record(),
            &mut || seconds(|| follow(false, Interpretation::None)),
            &mut || seconds(|| follow(false, Interpretation::Trusted)),
            &mut || seconds(|| follow(true, Interpretation::Trusted)),
        ],
    );
    table.section("following a run instruction by instruction", "a bare stop, or as it says");
    let note = |time: f64| format!("{:.1} µs, {instructions} instructions", 1e6 * time / instructions);
    table.ratio("an instruction by a stop", stopping / instructions / stop, Some(4.0), &note(stopping));
    table.ratio("an instruction", plain / instructions / stop, Some(0.5), &note(plain));
    table.ratio("with potential dependences", potential / plain, Some(1.5), &note(potential));
    table.ratio("the run, by recording it", plain / recorded, None, &format!("{events} events"));
    table.ratio("an event, by bytes", found.memory() as f64 / events, Some(24.0), "bytes");
}

/// Whole reductions by jumps and by breakpoints.
fn reductions(table: &mut Table) {
    const ROUNDS: usize = 5;
    const TESTS: &str = "120";
    let (sample, median) = (Subject::sample(), Subject::corpus("lua-median"));
    let rate = |subject: &Subject, expected: &str, engine: &str, most: &str| {
        subject.rate(&["--expect-match", expected, "--engine", engine, "--max-tests", most, "-j1"])
    };
    table.section("tests per second by jumps", "those by breakpoints");
    let [slow, fast] = by_turns(
        ROUNDS,
        [&mut || rate(&sample, "sum = 15", "breakpoint", "1000"), &mut || {
            rate(&sample, "sum = 15", "jump", "1000")
        }],
    );
    table.at_least("sample", fast / slow, 4.0, &format!("{fast:.0} and {slow:.0} per second"));
    let slow = rate(&median, "median 482", "breakpoint", TESTS);
    let fast = rate(&median, "median 482", "jump", TESTS);
    table.at_least(
        &format!("Lua, 160,000 events, {TESTS} tests"),
        fast / slow,
        300.0,
        &format!("{fast:.0} and {slow:.2} per second"),
    );
}

/// Whole searches as a user starts them, on all processors: one to its end, and what a minute brings.
fn searches(table: &mut Table) {
    const MINUTE: f64 = 60.0;
    let columns = Subject::corpus("lua-columns");
    let fib = Subject { stdin: columns.stdin.with_extension("fib"), ..Subject::corpus("lua-fib") };
    fs::write(&fib.stdin, FIB).expect("an input");
    table.section("whole searches, on all processors", "one minute");
    for (subject, expected, options, most) in
        [(&columns, "columns = 2", &[][..], 5.0), (&fib, "fib = 10946", &["--max-time", "50s"][..], 1.0)]
    {
        let started = Instant::now();
        let output = subject.reduce(&[&["--expect-match", expected], options].concat());
        let time = started.elapsed().as_secs_f64();
        let slice = slice(&output);
        let [recorded, omittable, kept] =
            ["recorded", "omittable", "kept"].map(|key| slice["events"][key].as_u64().expect("a count"));
        let minimal = if slice["status"] == "minimal" { "1-minimal" } else { "best so far" };
        let note = format!("{minimal}: {kept} of {omittable} that can be left out");
        table.ratio(&format!("Lua, {} thousand events", recorded / 1000), time / MINUTE, Some(most), &note);
    }
}

/// Whole reductions with one worker and with two.
fn workers(table: &mut Table) {
    const ROUNDS: usize = 5;
    let sum = Subject::corpus("lua-wrong-sum");
    let rate = |jobs: &str| sum.rate(&["--expect-match", "sum = 10", "--max-tests", "3000", "-j", jobs]);
    let [one, two] = by_turns(ROUNDS, [&mut || rate("1"), &mut || rate("2")]);
    table.section("tests per second, two workers", "one worker");
    table.at_least("Lua, 20,000 events", two / one, 1.7, &format!("{two:.0} and {one:.0} per second"));
}

/// A compiled program with its arguments and input.
struct Subject {
    path: PathBuf,
    folder: PathBuf,
    stdin: PathBuf,
    arguments: Vec<String>,
    program: Program,
    sandbox_mode: SandboxMode,
}

#[derive(Clone, Copy)]
enum Start {
    /// As the standard library likes it best, by vfork.
    Spawn,
    /// By fork, which a change of the user asks for.
    Fork,
}

impl Subject {
    fn new(shape: &str, count: u32) -> Subject {
        Subject::of(compile("events", EVENTS), [shape.to_owned(), count.to_string()].into(), b"")
    }

    fn sample() -> Subject {
        Subject::sample_called("sum-mul")
    }

    /// The sample as a program of its own: a program that is compiled again is another one for who has loaded it.
    fn sample_called(name: &str) -> Subject {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/sum-mul");
        let read = |file| fs::read_to_string(folder.join(file)).expect("the sample is there");
        Subject::of(compile(name, &read("sum-mul.c")), Vec::new(), read("input.txt").as_bytes())
    }

    fn of(path: PathBuf, arguments: Vec<String>, input: &[u8]) -> Subject {
        let folder = path.parent().expect("a folder").join("run");
        fs::create_dir_all(&folder).expect("a folder");
        let stdin = path.with_extension("in");
        fs::write(&stdin, input).expect("an input");
        let program = Program::load(&path, &[], &Scope::default(), Granularity::Statement)
            .expect("a program that can be traced");
        Subject { path, folder, stdin, arguments, program, sandbox_mode: SandboxMode::Sandbox }
    }

    /// The same, whose runs are not contained.
    fn without_sandbox(self) -> Subject {
        Subject { sandbox_mode: SandboxMode::None, ..self }
    }

    fn corpus(name: &str) -> Subject {
        let case = corpus::case(name).expect("a case");
        let built = case.program.build(&corpus::Toolchain::default()).expect("a program");
        let arguments = case.arguments.iter().map(ToString::to_string).collect();
        let path = fs::canonicalize(&built.executable).expect("a program");
        let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cost").join(name);
        fs::create_dir_all(&copy).expect("a folder");
        let copy = copy.join(name);
        let _ = fs::remove_file(&copy);
        fs::copy(path, &copy).expect("a copy of the program");
        Subject::of(copy, arguments, case.stdin.as_bytes())
    }

    fn invocation(&self) -> Invocation {
        let name = self.path.clone().into_os_string();
        Invocation {
            program: self.path.clone(),
            arguments: std::iter::once(name).chain(self.arguments.iter().map(Into::into)).collect(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            directory: self.folder.clone(),
            stdin: fs::read(&self.stdin).expect("an input").into(),
            stdout: Stdout::File,
            permissions: Permissions { sandbox_mode: self.sandbox_mode, ..Permissions::default() },
            constancy: Constancy::default(),
        }
    }

    /// Starts it and waits for its end, without a tracer.
    fn start(&self, how: Start) {
        use std::os::unix::process::CommandExt;
        let mut command = Command::new(&self.path);
        command.args(&self.arguments).current_dir(&self.folder).env_clear().env("PATH", "/usr/bin:/bin");
        command.stdin(File::open(&self.stdin).expect("an input"));
        command.stdout(File::create(self.path.with_extension("out")).expect("a file"));
        if let Start::Fork = how {
            command.uid(nix::unistd::getuid().as_raw());
        }
        command.status().expect("the program can be started");
    }

    /// How many tests a second a reduction makes.
    fn rate(&self, options: &[&str]) -> f64 {
        let slice = slice(&self.reduce(options));
        slice["tests"]["total"].as_f64().expect("a count") / slice["seconds"].as_f64().expect("a time")
    }

    /// A reduction, whose result is JSON.
    fn reduce(&self, options: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stripe"));
        command.arg("run").arg(&self.path).arg("--stdin").arg(&self.stdin).args(options);
        command.args(["--clear-env", "--format", "json", "-q", "--no-save", "--"]).args(&self.arguments);
        command.current_dir(&self.folder).output().expect("stripe can be started")
    }

    /// The peak of the resident memory of `stripe VERB` with this engine, in bytes.
    fn peak_memory(&self, verb: &str, engine: &str) -> f64 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stripe"));
        command.arg(verb).arg(&self.path).args(["--engine", engine, "--"]).args(&self.arguments);
        command.current_dir(&self.folder);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("stripe can be started");
        let mut peak: f64 = 0.0;
        let status = loop {
            peak = peak.max(high_water_mark(&child));
            match child.try_wait().expect("a child") {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        assert!(status.success(), "{command:?}: {status}");
        peak
    }
}

/// The result of a reduction.
fn slice(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// The peak of the resident memory of a process that lives, in bytes; 0 if it has just ended.
fn high_water_mark(child: &Child) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = mark.and_then(|mark| mark.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) * 1024.0
}

/// A subject that was recorded and can be replayed.
struct Bench<'a> {
    subject: &'a Subject,
    tracer: RefCell<Tracer<'a>>,
    recording: Recording,
}

impl<'a> Bench<'a> {
    fn new(subject: &'a Subject) -> Bench<'a> {
        Bench::by(subject, Preference::Breakpoint)
    }

    fn by(subject: &'a Subject, preference: Preference) -> Bench<'a> {
        let tracer = Tracer::new(&subject.program, &subject.invocation(), preference).expect("a tracer");
        // What is measured is a whole replay.
        let mut tracer = tracer.with_checkpoint_distance(u32::MAX);
        let recording = tracer.record(&conditions(Poison::Off)).expect("a recording");
        Bench { subject, tracer: RefCell::new(tracer), recording }
    }

    fn trace(&self) -> &Trace {
        &self.recording.trace
    }

    /// Seconds of one recording.
    fn record(&self) -> f64 {
        seconds(|| self.tracer.borrow_mut().record(&conditions(Poison::Off)).expect("a recording"))
    }

    /// Seconds of one replay in full.
    fn replay(&self, poison: Poison) -> f64 {
        let Recording { run: recorded, trace } = &self.recording;
        let everything = Omission::new(&self.subject.program, trace, Control::Trace).schedule(|_| true);
        seconds(|| {
            let run =
                self.tracer.borrow_mut().replay(trace, &everything, &conditions(poison)).expect("a replay");
            assert!(same(&run, recorded), "the replay differs: {run:?}");
        })
    }

    /// Seconds of one partial replay.
    fn replay_as(&self, schedule: &Schedule, poison: Poison) -> f64 {
        let trace = self.trace();
        seconds(|| {
            self.tracer.borrow_mut().replay(trace, schedule, &conditions(poison)).expect("a replay");
        })
    }
}

fn same(one: &Run, other: &Run) -> bool {
    one.stdout == other.stdout && one.termination == other.termination
}

fn sample_recording(sample: &Subject) -> Recording {
    let mut tracer =
        Tracer::new(&sample.program, &sample.invocation(), Preference::Breakpoint).expect("a tracer");
    tracer.record(&conditions(Poison::Off)).expect("a recording")
}

fn conditions(poison: Poison) -> Conditions {
    Conditions {
        poison,
        untouched: Default::default(),
        limits: recording_limits(),
        stop: Arc::default(),
        asked: None,
    }
}

/// How long `count` stops take that nothing is done at.
#[expect(clippy::zombie_processes, reason = "`waitpid` waits for it")]
fn bare_stops(program: &Path, count: u32) -> Duration {
    let mut child = Command::new(program)
        .arg(count.to_string())
        .stdin(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let pid = Pid::from_raw(child.id() as i32);
    ptrace::seize(pid, ptrace::Options::PTRACE_O_EXITKILL).expect("ptrace is allowed");
    let started = Instant::now();
    child.stdin.take().expect("a pipe").write_all(b"!").expect("the program reads");
    let mut stops = 0;
    while let WaitStatus::Stopped(_, Signal::SIGTRAP) = waitpid(pid, None).expect("a child") {
        stops += 1;
        ptrace::cont(pid, None).expect("a stopped child");
    }
    assert_eq!(stops, count);
    started.elapsed()
}

/// Seconds of `count` forks.
fn bare_forks(program: &Path, count: u32) -> f64 {
    let output = Command::new(program).arg(count.to_string()).output().expect("the program can be started");
    let nanoseconds = String::from_utf8_lossy(&output.stdout).trim().parse::<f64>();
    nanoseconds.expect("a number") / 1e9
}

/// Compiles a program, once for each run of the benchmark.
fn compile(name: &str, source: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cost").join(name);
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join(format!("{name}.c"));
    fs::write(&file, source).expect("a file");
    let program = folder.join(name);
    let mut compiler = Command::new("cc");
    compiler.args(["-g", "-O0", "-w", "-o"]).arg(&program).arg(file.file_name().expect("a name"));
    let status = compiler.current_dir(&folder).status().expect("a C compiler");
    assert!(status.success(), "{compiler:?}");
    program.canonicalize().expect("just made")
}

/// Does all of these once in each round, and gives the median of each.
fn by_turns<const N: usize>(rounds: usize, mut measures: [&mut dyn FnMut() -> f64; N]) -> [f64; N] {
    let mut measured = [(); N].map(|()| Vec::new());
    for _ in 0..rounds {
        for (values, measure) in measured.iter_mut().zip(&mut measures) {
            values.push(measure());
        }
    }
    measured.map(|mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    })
}

fn seconds<T>(act: impl FnOnce() -> T) -> f64 {
    let started = Instant::now();
    drop(act());
    started.elapsed().as_secs_f64()
}

/// Seconds of one of `count` acts.
fn batch<T>(count: usize, mut act: impl FnMut() -> T) -> f64 {
    seconds(|| (0..count).for_each(|_| drop(act()))) / count as f64
}

fn per(unit: &str, ours: f64, theirs: f64) -> String {
    format!("{:.1} µs, one {unit} {:.1} µs", 1e6 * ours, 1e6 * theirs)
}

/// What is printed, and whether all requirements are met.
struct Table {
    missed: u32,
}

impl Table {
    fn new() -> Table {
        Table { missed: 0 }
    }

    fn section(&mut self, what: &str, unit: &str) {
        println!("\n{what}, in units of {unit}");
    }

    fn ratio(&mut self, name: &str, ratio: f64, most: Option<f64>, note: &str) {
        let verdict = match most {
            Some(most) if ratio > most => {
                self.missed += 1;
                format!("MISSED, at most {most}")
            }
            Some(most) => format!("met, at most {most}"),
            None => String::new(),
        };
        println!("  {name:<32} {ratio:>7.2}   {verdict:<20} {note}");
    }

    fn at_least(&mut self, name: &str, ratio: f64, least: f64, note: &str) {
        let verdict = match ratio < least {
            true => {
                self.missed += 1;
                format!("MISSED, at least {least}")
            }
            false => format!("met, at least {least}"),
        };
        println!("  {name:<32} {ratio:>7.2}   {verdict:<20} {note}");
    }

    fn verdict(self) -> ExitCode {
        match self.missed {
            0 => ExitCode::SUCCESS,
            missed => {
                println!(
                    "\n{missed} missed: other work on this machine disturbs; repeat before you believe it"
                );
                ExitCode::FAILURE
            }
        }
    }
}
