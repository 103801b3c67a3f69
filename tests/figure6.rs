//! The paper's Figure 6: the slices of its sample, whatever the compiler and its options.
//!
//! Source: Cleve and Zeller, "Finding Failure Causes through Automated Testing", AADEBUG 2000.

mod support;

use serde_json::Value;
use support::engine::in_two_threads;
use support::{Build, CLANG, GCC, sample};

/// The criteria with the lines of their slices, in the numbers of the paper.
const SLICES: [(&str, &[u64]); 3] = [
    ("sum = 15\\nmul = 0\\n", &[1, 3, 7, 8, 6, 8, 6, 8, 6, 8, 6, 8, 6, 10, 11]),
    ("sum = 15", &[1, 3, 8, 6, 8, 6, 8, 6, 8, 6, 8, 6, 10]),
    ("mul = 0", &[3, 7, 11]),
];

/// Where the loop's statements stand in each round: the times of the paper are 7, 8 in the first round,
/// then 5 more each.
const ROUND: [u64; 4] = [10, 11, 12, 13];

/// The sample in C has five lines more at its top than the paper's in Perl.
const SHIFT: u64 = 5;

const OPTIONS: [&str; 9] = [
    "",
    "-no-pie -fno-pie",
    "-static",
    "-static-pie",
    "-gdwarf-4",
    "-gdwarf-5",
    "-fstack-protector-all",
    "-fno-stack-protector",
    "-fcf-protection=full",
];

fn lines(slice: &Value) -> Vec<u64> {
    let events = slice["slice"].as_array().expect("a slice").iter();
    events.map(|event| event["line"].as_u64().expect("a line") - SHIFT).collect()
}

fn builds() -> Vec<(Build, &'static str)> {
    OPTIONS.iter().flat_map(|options| [(GCC, *options), (CLANG, *options)]).collect()
}

#[test]
fn the_slices_are_those_of_the_paper_for_any_build() {
    in_two_threads(&builds(), |&(build, options)| {
        let program = sample(build, options);
        for (criterion, expected) in SLICES {
            let slice = program.slice(&["--control", "trace", "--expect-match", criterion, "-j1"], 0);
            assert_eq!(lines(&slice), expected, "{} {options}: {criterion}", build.name);
            let tests = slice["tests"]["total"].as_u64().expect("a number");
            assert!(tests <= 80, "{} {options}: {criterion}: {tests} tests", build.name);
        }
    });
}

#[test]
fn ddmin_finds_slices_of_the_same_size_in_at_most_260_tests() {
    for (criterion, expected) in SLICES {
        let options = ["--control", "trace", "--algorithm", "ddmin", "--expect-match", criterion];
        let slice = sample(GCC, "").slice(&options, 0);
        assert_eq!(lines(&slice), expected, "{criterion}");
        let tests = slice["tests"]["total"].as_u64().expect("a number");
        assert!(tests <= 260, "{criterion}: {tests} tests");
    }
}

#[test]
fn each_event_is_of_the_round_in_which_the_paper_has_it() {
    let slice = sample(GCC, "").slice(&["--control", "trace", "--expect-match", SLICES[0].0], 0);
    let rounds: Vec<(u64, u64)> = slice["slice"]
        .as_array()
        .expect("a slice")
        .iter()
        .map(|event| {
            (event["line"].as_u64().expect("a line"), event["occurrence"].as_u64().expect("a number"))
        })
        .filter(|(line, _)| ROUND.contains(line))
        .map(|(line, occurrence)| (line - SHIFT, occurrence))
        .collect();
    // 7_7 8_8 6_11 8_13 6_16 8_18 6_21 8_23 6_26 8_28 6_31
    let expected = [(7, 1), (8, 1), (6, 2), (8, 2), (6, 3), (8, 3), (6, 4), (8, 4), (6, 5), (8, 5), (6, 6)];
    assert_eq!(rounds, expected);
}

#[test]
fn decisions_are_told_from_effects() {
    let slice = sample(GCC, "").slice(&["--expect-match", SLICES[0].0], 0);
    assert_eq!(slice["events"]["recorded"], 36);
    assert_eq!(slice["events"]["omittable"], 34);
    assert_eq!(slice["events"]["kept"], 22);
    assert_eq!(slice["events"]["kept_for_effect"], 15);
    let events = slice["slice"].as_array().expect("a slice").iter();
    let decisions: Vec<&Value> =
        events.filter(|event| event["needed"] == "decision").map(|event| &event["line"]).collect();
    assert_eq!(decisions, [9, 10, 10, 10, 10, 10, 10]);
}
