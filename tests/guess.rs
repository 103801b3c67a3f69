//! `stripe run --guess`: the dynamic slice is tried first; what is found is minimal all the same, and kept like
//! everything else.

mod support;

use serde_json::Value;
use support::engine::in_two_threads;
use support::tiny::{assert_says, tiny};
use support::{Fixture, GCC, Program, how_many, sample, scratch, text};

fn tests(slice: &Value) -> u64 {
    slice["tests"]["total"].as_u64().expect("a number")
}

fn events(slice: &Value, only: Option<&str>) -> Vec<String> {
    let slice = slice["slice"].as_array().expect("a slice").iter();
    let chosen = slice.filter(|event| only.is_none_or(|only| event["needed"] == only));
    chosen.map(|event| event["event"].to_string()).collect()
}

fn searched(program: &Program, options: &[&str]) -> Value {
    program.slice(&[options, &["--no-save"]].concat(), 0)
}

#[test]
fn the_sample_needs_the_same_in_half_of_the_tests() {
    let program = sample(GCC, "");
    for criterion in ["sum = 15", "mul = 0", "sum = 15\nmul = 0"] {
        for control in ["trace", "both"] {
            let asked = ["--expect-match", criterion, "--control", control];
            let (without, with) =
                (searched(&program, &asked), searched(&program, &[&asked[..], &["--guess"]].concat()));
            assert_eq!(events(&with, None), events(&without, None), "{asked:?}");
            assert!(tests(&with) < tests(&without), "{asked:?}: {} {}", tests(&with), tests(&without));
        }
    }
    let (none, named) = (searched(&program, &["--guess=none"]), searched(&program, &[]));
    assert_eq!((&none["slice"], tests(&none)), (&named["slice"], tests(&named)), "no guess unless asked for");
}

/// Leaves out each event of a result in turn, or some of them, through `stripe replay`, which knows nothing of searches.
fn assert_minimal(program: &Program, all: &[String], tried: &[String], control: &str) {
    let replay = |kept: &[&String]| {
        let list: Vec<&str> = kept.iter().map(|event| event.as_str()).collect();
        program.stripe("replay", &["--keep", &list.join(","), "--control", control]).status.code()
    };
    let name = program.path.display();
    assert_eq!(replay(&all.iter().collect::<Vec<_>>()), Some(0), "{name}: all under {control}");
    for event in tried.iter().take(how_many(4, u64::MAX) as usize) {
        let rest: Vec<&String> = all.iter().filter(|other| *other != event).collect();
        assert_ne!(replay(&rest), Some(0), "{name}: {event} is not needed under {control}");
    }
}

#[test]
fn what_a_guess_leads_to_is_minimal() {
    // The first ones come to another minimal result than without.
    let few = ["bubble_sort", "nested_loops", "macros", "crash_assert"];
    let more = [
        "linked_list",
        "goto",
        "alloca",
        "bsearch_callback",
        "longjmp",
        "signal_handler",
        "switch_table",
        "vla",
    ];
    let names = [&few[..], if how_many(0, 1) == 1 { &more[..] } else { &[] }].concat();
    in_two_threads(&names, |name| {
        let program = Fixture::named(name).build(GCC);
        let found = searched(&program, &["--guess"]);
        let (all, effects) = (events(&found, None), events(&found, Some("effect")));
        assert_minimal(&program, &effects, &effects, "trace");
        assert_minimal(&program, &all, &events(&found, Some("decision")), "program");
    });
}

/// Which number a descriptor has depends on those that are open, which no dependence tells.
const HIDDEN: &str = "#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  int other = 3;
  int first = open(\"/dev/null\", O_RDONLY);
  int spare = dup(0);
  other = other + 1;
  int last = open(\"/dev/null\", O_RDONLY);
  printf(\"last %d\\n\", last);
  return 0;
}
";

#[test]
fn a_guess_that_is_too_small_costs_a_test_and_changes_nothing() {
    let program = tiny("guess-hidden", HIDDEN);
    let (without, with) = (searched(&program, &[]), searched(&program, &["--guess"]));
    assert_eq!(events(&with, None), events(&without, None));
    let lines: Vec<u64> =
        with["slice"].as_array().unwrap().iter().map(|event| event["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [6, 7, 9, 10], "without the two descriptors the last one has another number");
    // One in each of the two searches, unless it is known there what comes of it.
    let more = tests(&with) - tests(&without);
    assert!((1..=2).contains(&more), "{more}");
}

#[test]
fn what_cannot_be_followed_is_searched_without_a_guess_and_told() {
    let program = Fixture::named("fork_child").build(GCC);
    let output = program.stripe("run", &["--guess", "--no-save", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_says(
        &text(&output.stderr),
        &["nothing is guessed", "the whole run", "who has printed what is not known"],
    );
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(events(&found, None), events(&searched(&program, &[]), None));
}

#[test]
fn each_of_several_criteria_has_a_guess_of_its_own() {
    let program = sample(GCC, "");
    let several = ["--criterion", "sum=^sum", "--criterion", "mul=^mul"];
    let (without, with) =
        (searched(&program, &several), searched(&program, &[&several[..], &["--guess"]].concat()));
    let criteria = |found: &Value| found["criteria"].as_array().expect("criteria").clone();
    assert_eq!(criteria(&with).len(), 2);
    for (with, without) in criteria(&with).iter().zip(&criteria(&without)) {
        let (with, without) = (&with["slice"], &without["slice"]);
        assert_eq!(events(with, None), events(without, None));
        assert!(tests(with) < tests(without), "{}", with["criterion"]);
    }
}

#[test]
fn a_search_with_a_guess_goes_on_where_it_has_ended() {
    let program = sample(GCC, "");
    let whole = searched(&program, &["--guess", "--control", "program"]);
    for most in [2, 3, 4] {
        let kept = scratch(&format!("guess-{most}"));
        let kept = kept.join("run").display().to_string();
        let most = most.to_string();
        let options =
            ["--guess", "--control", "program", "--max-tests", &most, "--out", &kept, "--format", "json"];
        let begun = program.stripe("run", &options);
        assert_eq!(begun.status.code(), Some(5), "{}", text(&begun.stderr));
        let report =
            support::stripe().args(["report", &kept, "--format", "json"]).output().expect("a report");
        assert_eq!(report.status.code(), Some(0), "{}", text(&report.stderr));
        let size = |output: &[u8]| {
            let found: Value = serde_json::from_slice(output).expect("JSON");
            found["slice"].as_array().expect("a slice").len()
        };
        assert_eq!(size(&report.stdout), size(&begun.stdout), "{most}");
        let gone_on = support::stripe()
            .args(["reduce", &kept, "--max-tests", "1000", "--format", "json"])
            .output()
            .expect("a result");
        assert_eq!(gone_on.status.code(), Some(0), "{}", text(&gone_on.stderr));
        let found: Value = serde_json::from_slice(&gone_on.stdout).expect("JSON");
        assert_eq!((&found["slice"], tests(&found)), (&whole["slice"], tests(&whole)), "{most}");
    }
}
