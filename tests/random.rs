//! Programs that csmith makes up: two ways of recording record the same, and a full replay is the run.

mod support;

use corpus::{Built, Toolchain, csmith_programs};
use support::engine::{assert_identity, assert_same_by_steps, in_two_threads, invocation, load, record};
use support::how_many;
use tracer::program::Granularity;
use tracer::{Preference, Tracer};

#[test]
fn random_programs_are_recorded_alike_by_breakpoints_and_by_steps_and_replayed_identically() {
    let count = how_many(20, 100) as usize;
    // Statically linked: a dynamic loader costs 100,000 single steps.
    let programs = csmith_programs(count, 1, &Toolchain::linking_statically()).expect("random programs");
    assert_eq!(programs.len(), count);
    in_two_threads(&programs, check);
}

fn check(built: &Built) {
    let case = built.executable.display().to_string();
    let directory = built.executable.parent().expect("a folder");
    for granularity in [Granularity::Statement, Granularity::Line] {
        let program = load(&built.executable, granularity);
        let start = invocation(&built.executable, directory, &[], Vec::new());
        let mut tracer = Tracer::new(&program, &start, Preference::Breakpoint).expect("a tracer");
        let recording = record(&mut tracer, &case);
        assert_identity(&program, &mut tracer, &recording, &case);
        if granularity == Granularity::Statement {
            assert_same_by_steps(&program, &mut tracer, &recording, &case);
        }
    }
}
