//! Use the tracer directly, where a test asks for more than the binary prints.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use corpus::{CASES, Case};
use stripe::baseline::recording_limits;
use tracer::invocation::Invocation;
use tracer::poison::Poison;
use tracer::program::{Granularity, Program, Scope};
use tracer::run::Recording;
use tracer::schedule::{Control, Omission};
use tracer::{Conditions, Processors, Tracer};

/// Runs of real programs: one of so many. That of 38 million events is for the benchmarks.
pub fn real_programs(of: u64) -> Vec<&'static Case> {
    CASES.iter().filter(|case| case.name != "lua-fib").step_by(of as usize).collect()
}

/// Does the work for each item on two threads, each bound to a processor: a stop then costs a fourth.
pub fn in_two_threads<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let processors = Processors::available();
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (next, processors, work) = (&next, &processors, &work);
            scope.spawn(move || {
                processors.bind(worker);
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(item);
                }
            });
        }
    });
}

/// The program at this path, with its own functions in scope.
pub fn load(path: &Path, granularity: Granularity) -> Program {
    let path = path.canonicalize().expect("built");
    Program::load(&path, &[], &Scope::default(), granularity).expect("a program that can be traced")
}

/// A start of the program with a small, fixed environment.
pub fn invocation(path: &Path, directory: &Path, arguments: &[&str], stdin: Vec<u8>) -> Invocation {
    Invocation {
        arguments: std::iter::once(path.as_os_str().to_owned())
            .chain(arguments.iter().map(Into::into))
            .collect(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        stdin: stdin.into(),
        ..Invocation::new(path.canonicalize().expect("built"), directory.canonicalize().expect("a folder"))
    }
}

pub fn conditions() -> Conditions {
    Conditions {
        poison: Poison::Off,
        untouched: Default::default(),
        limits: recording_limits(),
        stop: Arc::default(),
        asked: None,
    }
}

/// Replays the recorded run without omitting anything, under both controls.
pub fn assert_identity(program: &Program, tracer: &mut Tracer<'_>, recording: &Recording, case: &str) {
    for control in [Control::Program, Control::Trace] {
        let everything = Omission::new(program, &recording.trace, control).schedule(|_| true);
        let run = tracer.replay(&recording.trace, &everything, &conditions()).expect("a replay");
        assert_eq!(run.termination, recording.run.termination, "{case}, {control:?}");
        assert!(run.stdout == recording.run.stdout, "{case}, {control:?}: another output");
        // Each arrival was the next event, and none was moved: the same trace.
        let counts = (run.arrivals, run.redirections);
        assert_eq!(counts, (recording.trace.len() as u64, 0), "{case}, {control:?}");
    }
}

/// Records by single steps, and finds the same events.
pub fn assert_same_by_steps(program: &Program, tracer: &mut Tracer<'_>, recording: &Recording, case: &str) {
    let slow = tracer.record_by_steps(&conditions()).expect("a recording");
    let difference = recording.trace.first_difference(&slow.trace);
    let place = |event: tracer::trace::EventId| {
        format!("{} at {}", event.time(), program.place(slow.trace.leader(event)))
    };
    assert_eq!(difference.map(place), None, "{case}");
    assert_eq!(recording.run.termination, slow.run.termination, "{case}");
}

/// Records the run.
pub fn record(tracer: &mut Tracer<'_>, case: &str) -> Recording {
    tracer.record(&conditions()).unwrap_or_else(|error| panic!("{case}: {error}"))
}
