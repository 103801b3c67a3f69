//! Tests that follow the algorithms step by step through examples that can be checked by hand.

use super::reduce;
use super::subject::{Record, Subject};
use crate::{Algorithm, Configuration, Experiment, Sequential};

/// Reduces 0..universe to those needed, and returns the sets tried and the number of tests.
fn trail(algorithm: Algorithm, needed: &Configuration) -> (Vec<Configuration>, u64) {
    let mut record = Record::default();
    let subject = Subject::monotone(needed.clone());
    let mut tester = Sequential::new(subject.test());
    let mut experiment = Experiment::new(&subject, &mut tester).observed_by(&mut record);
    let reduction = reduce(algorithm, &mut experiment, needed.universe());
    assert_eq!(reduction.configuration, *needed);
    let total = experiment.counts().total;
    (record.tested.into_iter().map(|test| test.0).collect(), total)
}

fn sets<const N: usize>(sets: [&[usize]; N]) -> Vec<Configuration> {
    sets.map(|members| Configuration::from_iter(8, members.iter().copied())).to_vec()
}

#[test]
fn a_success_continues_from_the_same_place() {
    let (tried, _) = trail(Algorithm::Sweep, &Configuration::from_iter(8, [0, 5]));
    let expected = sets([
        &[0, 1, 2, 3, 4, 5, 6, 7],
        &[],
        // Halves.
        &[0, 1, 2, 3],
        &[4, 5, 6, 7],
        // Quarters: 6 and 7 go; that 4 and 5 cannot is known; 2 and 3 go.
        &[0, 1, 2, 3, 4, 5],
        &[0, 1, 4, 5],
        &[4, 5],
        // Single ones: 4 goes, then 1; the last pass tests 0 without 5 and 5 without 0.
        &[0, 1, 4],
        &[0, 1, 5],
        &[0, 5],
        &[5],
        &[0],
    ]);
    assert_eq!(tried, expected);
}

#[test]
fn ddmin_tries_subsets_then_complements_then_smaller_subsets() {
    // The classroom example, counted from 0: of eight circumstances 1, 7 and 8 are needed.
    let (tried, _) = trail(Algorithm::Ddmin, &Configuration::from_iter(8, [0, 6, 7]));
    let expected = sets([
        &[0, 1, 2, 3, 4, 5, 6, 7],
        &[],
        &[0, 1, 2, 3],
        &[4, 5, 6, 7],
        &[0, 1],
        &[2, 3],
        &[4, 5],
        &[6, 7],
        &[2, 3, 4, 5, 6, 7],
        &[0, 1, 4, 5, 6, 7],
        &[0, 1, 6, 7],
        &[0],
        &[1],
        &[6],
        &[7],
        &[1, 6, 7],
        &[0, 6, 7],
    ]);
    assert_eq!(tried[..expected.len()], expected);
}

#[test]
fn sweep_needs_far_fewer_tests_than_ddmin_where_the_needed_events_are_spread() {
    // The proportion of the design, 805 of 2,012, in a loop: every fifth and the second after it.
    let needed = Configuration::from_iter(300, (0..300).filter(|event| event % 5 % 3 == 0));
    let (_, sweep) = trail(Algorithm::Sweep, &needed);
    let (_, ddmin) = trail(Algorithm::Ddmin, &needed);
    assert!(sweep < 3 * 300, "{sweep}");
    assert!(ddmin > 10 * sweep, "{ddmin} against {sweep}");
}
