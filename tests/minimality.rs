//! Every finished result is 1-minimal: taken apart again, event by event, through `stripe replay`,
//! which knows nothing of the reduction's cache. And it is the same for any number of jobs.

mod support;

use std::collections::BTreeSet;

use serde_json::Value;
use support::engine::in_two_threads;
use support::random::Random;
use support::{CLANG, Fixture, GCC, Program, how_many, sample, text};

/// Too long to be taken apart, or slow because each replay waits for a limit.
const LEFT_OUT: [&str; 6] = [
    "deep_recursion",
    "endless_callee",
    "endless_loop",
    "endless_statement",
    "endless_wait",
    "leftover_child",
];

type Events = BTreeSet<u64>;

fn events(slice: &Value, needed: Option<&str>) -> Events {
    let slice = slice["slice"].as_array().expect("a slice").iter();
    let chosen = slice.filter(|event| needed.is_none_or(|needed| event["needed"] == needed));
    chosen.map(|event| event["event"].as_u64().expect("a number")).collect()
}

/// The exit status of a replay that keeps these events.
fn replay(program: &Program, keep: &Events, control: &str) -> i32 {
    let list: Vec<String> = keep.iter().map(u64::to_string).collect();
    let output = program.stripe("replay", &["--keep", &list.join(","), "--control", control]);
    let status = output.status.code().expect("an exit status");
    assert!([0, 1, 125].contains(&status), "{}", text(&output.stderr));
    status
}

/// Takes each of `single` out of `all`, or some of them; none may go. The set itself must reproduce.
fn assert_minimal(program: &Program, all: &Events, single: &Events, control: &str) {
    let name = program.path.display();
    assert_eq!(replay(program, all, control), 0, "{name}: the slice itself under {control}");
    let mut random = Random::new(&name.to_string());
    let mut single: Vec<&u64> = single.iter().collect();
    let few = how_many(3, u64::MAX).min(single.len() as u64) as usize;
    let tried = (0..few).map(|_| single.swap_remove(random.below(single.len() as u64) as usize));
    for event in tried.collect::<Vec<_>>() {
        let rest: Events = all.iter().copied().filter(|other| other != event).collect();
        assert_ne!(replay(program, &rest, control), 0, "{name}: event {event} is not needed under {control}");
    }
}

fn take_apart(program: &Program) {
    let both = program.slice(&[], 0);
    let (all, effects, decisions) =
        (events(&both, None), events(&both, Some("effect")), events(&both, Some("decision")));
    assert_minimal(program, &effects, &effects, "trace");
    assert_minimal(program, &all, &decisions, "program");
}

fn fixtures() -> impl Iterator<Item = Fixture> {
    let usable =
        |fixture: &Fixture| fixture.directive("refused").is_none() && !LEFT_OUT.contains(&&*fixture.name);
    Fixture::all().into_iter().filter(usable)
}

#[test]
fn no_needed_event_of_a_fixture_can_be_left_out() {
    let all: Vec<Fixture> = fixtures().step_by(how_many(4, 1) as usize).collect();
    in_two_threads(&all, |fixture| take_apart(&fixture.build(GCC)));
}

#[test]
fn no_needed_event_of_the_sample_can_be_left_out_whatever_the_algorithm() {
    for build in [GCC, CLANG] {
        let program = sample(build, "");
        for algorithm in ["sweep", "ddmin"] {
            for control in ["trace", "program"] {
                let slice = program.slice(&["--algorithm", algorithm, "--control", control], 0);
                let all = events(&slice, None);
                assert_minimal(&program, &all, &all, control);
            }
        }
    }
}

#[test]
fn the_result_is_the_same_for_any_number_of_jobs() {
    for name in ["sequence", "qsort_callback", "exceptions", "poison_heap", "vla", "short_circuit"] {
        let program = Fixture::named(name).build(GCC);
        let results = ["1", "2", "3"].map(|jobs| {
            let mut result = program.slice(&["-j", jobs], 0);
            result["seconds"] = Value::Null;
            // Bets that were lost are replays, too.
            result["tests"]["runs"] = Value::Null;
            result
        });
        assert!(results.iter().all(|result| *result == results[0]), "{name}");
    }
}
