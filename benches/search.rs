//! Measure what the search itself costs, in units of one test in a process that is already there.
//!
//! Neither a program nor a trace takes part, except for the closures of a recorded run. The testing functions
//! are artificial: they know which of 200,000 circumstances are needed. As with the other benchmark, times
//! say little beyond this machine and moment, so each row is a ratio, and nothing is required of it. Names
//! of sections as arguments select them:
//!
//!     cargo bench --bench search -- candidates closures workers

use std::convert::Infallible;
use std::fs;
use std::hint::{black_box, spin_loop};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dd::{
    Algorithm, Cancellation, Configuration, Counts, Experiment, Outcome, Pool, Sequential, Space, Test,
    Tester,
};
use stripe::baseline::recording_limits;
use stripe::circumstances::events::{Draft, Universe};
use tracer::invocation::{Constancy, Invocation, Permissions, Stdout};
use tracer::poison::Poison;
use tracer::program::{Granularity, Program, Scope};
use tracer::schedule::{Control, Omission};
use tracer::{Conditions, Preference, Processors, Tracer};

/// What one test may be taken to cost.
const TEST: Duration = Duration::from_micros(300);
const CIRCUMSTANCES: usize = 200_000;
const NEEDED: usize = 1_500;

/// A loop with a call and a decision: some 160,000 events.
const PROGRAM: &str = r#"static long sum;
static long term(long x)
{
    long y = x * 3;
    if (y % 7 == 0)
        y = y + 1;
    return y;
}
int main(void)
{
    long n = 20000;
    while (n > 0) {
        sum = sum + term(n);
        n = n - 1;
    }
    return sum == 42;
}
"#;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (name, measure) in
        [("candidates", candidates as fn()), ("closures", closures as fn()), ("workers", workers as fn())]
    {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            measure();
        }
    }
}

/// Whole searches whose tests take no time but that of comparing two sets.
fn candidates() {
    section("one candidate of a whole search", "one test");
    let per_candidate = |closure: Closure| {
        let fake = Fake::new(closure, NEEDED);
        let (counts, time) = search(&fake.clone(), &mut Sequential::new(fake), None);
        let candidates = counts.total + counts.cached;
        (time / candidates as f64, format!("{candidates} candidates, {} tested", counts.total))
    };
    for (name, closure) in [("nothing goes along", Closure::Flat), ("16 go with each 16th", Closure::Nested)]
    {
        let (time, note) = per_candidate(closure);
        row(name, time / TEST.as_secs_f64(), &format!("{:.1} µs; {note}", 1e6 * time));
    }
}

/// The closure of one candidate and its schedule, and the same event by event.
fn closures() {
    let program = Program::load(&compile(), &[], &Scope::default(), Granularity::Statement)
        .expect("a program that can be traced");
    let trace = record(&program);
    for control in [Control::Trace, Control::Program] {
        let universe = Universe::new(&program, &trace, control);
        let omission = Omission::new(&program, &trace, control);
        section(&format!("a candidate of {} events, control {control:?}", trace.len()), "one test");
        let all = Configuration::full(universe.len());
        let plain = seconds(|| omission.schedule(|event| event.0 % 64 != 0)).0;
        row("event by event", plain / TEST.as_secs_f64(), &format!("{:.1} µs", 1e6 * plain));
        let half = Configuration::from_iter(universe.len(), (0..universe.len()).filter(|c| c % 2 == 0));
        let any = seconds(|| universe.normalise(&half)).0;
        row("of any set", any / TEST.as_secs_f64(), &format!("{:.1} µs, every other event", 1e6 * any));
        // Neighbours, as in the first passes, and members far from each other, as in later ones.
        for (chunk, distance) in [(1, 1), (64, 1), (4096, 1), (4096, 8)] {
            let members: Vec<usize> = all.iter().collect();
            let mut draft = Draft::new(&universe);
            let chunks = members.chunks(chunk).step_by((members.len() / chunk / 2_000).max(1));
            let count = chunks.len();
            let (time, ()) = seconds(|| {
                for chunk in chunks {
                    let left_out: Vec<usize> = chunk.iter().copied().step_by(distance).collect();
                    let candidate = universe.normalise_without(&all, &left_out);
                    black_box((candidate.fingerprint(), draft.schedule(&candidate)));
                }
            });
            let time = time / count as f64;
            let name = format!("all but {}, {distance} apart", chunk / distance);
            row(&name, time / TEST.as_secs_f64(), &format!("{:.1} µs, closed and scheduled", 1e6 * time));
        }
    }
}

/// A search with tests that take their time, by one worker and by two.
fn workers() {
    const TESTS: u64 = 500;
    const ROUNDS: usize = 15;
    let processors = &Processors::available();
    section("tests per second, two workers", "one worker");
    for (name, needed) in [("nothing can be left out", CIRCUMSTANCES), ("nearly all can be left out", 20)] {
        let fake = || Fake { time: TEST, ..Fake::new(Closure::Flat, needed) };
        let alone = || search(&fake(), &mut Sequential::new(fake()), Some(TESTS));
        let together = || {
            std::thread::scope(|scope| {
                let resources = vec![fake(), fake()];
                let prepare = |worker| processors.bind(worker);
                let mut pool = Pool::new(scope, resources, prepare, |attempt| attempt()).expect("threads");
                search(&fake(), &mut pool, Some(TESTS))
            })
        };
        // Short, by turns, and the best of each: other work comes in bursts and only adds.
        let mut best = [f64::INFINITY; 2];
        for _ in 0..ROUNDS {
            best = [best[0].min(alone().1), best[1].min(together().1)];
        }
        let [one, two] = best.map(|time| 1e6 * time / TESTS as f64);
        let failing = 100.0 * alone().0.fail as f64 / TESTS as f64;
        row(
            name,
            one / two,
            &format!("{two:.0} µs a test, {one:.0} µs alone; {failing:.0} % show the failure"),
        );
    }
}

/// What goes along when a circumstance is left out.
#[derive(Clone, Copy)]
enum Closure {
    Flat,
    Nested,
}

/// A program of which all needed circumstances are known: its space, and the test of it.
#[derive(Clone)]
struct Fake {
    closure: Closure,
    needed: Configuration,
    time: Duration,
}

impl Fake {
    fn new(closure: Closure, needed: usize) -> Fake {
        // Spread, but not at equal distances.
        let distance = CIRCUMSTANCES / needed;
        let member = |number: usize| number * distance + number * 7919 % distance;
        let needed = Configuration::from_iter(CIRCUMSTANCES, (0..needed).map(member));
        Fake { closure, needed, time: Duration::ZERO }
    }
}

impl Space for Fake {
    fn len(&self) -> usize {
        CIRCUMSTANCES
    }

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        let left_out = (0..CIRCUMSTANCES).filter(|&circumstance| !configuration.contains(circumstance));
        self.normalise_without(configuration, &left_out.collect::<Vec<_>>())
    }

    fn normalise_without(&self, effective: &Configuration, left_out: &[usize]) -> Configuration {
        let mut rest = effective.clone();
        for &circumstance in left_out {
            let along = if circumstance % 16 == 0 { 16 } else { 1 };
            match self.closure {
                Closure::Flat => rest.leave_out(circumstance..circumstance + 1),
                Closure::Nested => rest.leave_out(circumstance..circumstance + along),
            }
        }
        rest
    }
}

impl Test for Fake {
    type Evidence = ();
    type Error = Infallible;

    fn test(
        &mut self,
        configuration: &Configuration,
        cancellation: &Cancellation,
    ) -> Result<(Outcome, ()), Infallible> {
        let started = Instant::now();
        let fails = self.needed.is_subset(configuration);
        while started.elapsed() < self.time && !cancellation.is_requested() {
            spin_loop();
        }
        Ok((if fails { Outcome::Fail } else { Outcome::Pass }, ()))
    }
}

/// Reduces all circumstances, and tells in how many tests and in how many seconds.
fn search(
    space: &Fake,
    tester: &mut dyn Tester<Evidence = (), Error = Infallible>,
    limit: Option<u64>,
) -> (Counts, f64) {
    let mut experiment = Experiment::new(space, tester).limited_to(limit);
    let all = Configuration::full(CIRCUMSTANCES);
    let (time, _) = seconds(|| Algorithm::Sweep.reduce(&mut experiment, all));
    (experiment.counts(), time)
}

fn compile() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("search");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("terms.c"), PROGRAM).expect("a file");
    let mut compiler = Command::new("cc");
    compiler.args(["-g", "-O0", "-w", "-o", "terms", "terms.c"]).current_dir(&folder);
    assert!(compiler.status().expect("a C compiler").success(), "{compiler:?}");
    folder.join("terms").canonicalize().expect("just made")
}

fn record(program: &Program) -> tracer::trace::Trace {
    let path = compile();
    let invocation = Invocation {
        arguments: vec![path.clone().into_os_string()],
        environment: Vec::new(),
        directory: path.parent().expect("a folder").to_owned(),
        stdin: Default::default(),
        stdout: Stdout::File,
        permissions: Permissions::default(),
        constancy: Constancy::default(),
        program: path,
    };
    let conditions = Conditions {
        poison: Poison::Off,
        untouched: Default::default(),
        limits: recording_limits(),
        stop: Arc::default(),
        asked: None,
    };
    let mut tracer = Tracer::new(program, &invocation, Preference::Auto).expect("a tracer");
    tracer.record(&conditions).expect("a recording").trace
}

/// How long an act takes, and what comes of it.
fn seconds<T>(act: impl FnOnce() -> T) -> (f64, T) {
    let started = Instant::now();
    let result = act();
    (started.elapsed().as_secs_f64(), result)
}

fn section(what: &str, unit: &str) {
    println!("\n{what}, in units of {unit}");
}

fn row(name: &str, ratio: f64, note: &str) {
    println!("  {name:<32} {ratio:>7.3}   {note}");
}
