//! Replay the tables of "Yesterday, my program worked. Today, it does not. Why?" (ESEC/FSE 1999) step by step.
//! Changes are counted from 1, as there.

use std::convert::Infallible;

use crate::{
    Configuration, Counts, Direction, Experiment, Independent, Observer, Outcome, Sequential, Space, dd,
    dd_plus, isolate,
};

use Outcome::{Fail, Pass, Unresolved};

const CHANGES: usize = 8;

fn changes(configuration: &Configuration) -> Vec<usize> {
    configuration.iter().map(|change| change + 1).collect()
}

/// The trail of a search: its result, the configurations it tests with their outcomes, and how many it counts.
struct Trail {
    found: Vec<usize>,
    tests: Vec<(Vec<usize>, Outcome)>,
    counts: Counts,
}

fn follow(algorithm: Algorithm, space: &dyn Space, judge: impl Fn(&[usize]) -> Outcome) -> Trail {
    let mut tester =
        Sequential::new(|c: &Configuration| Ok::<_, Infallible>((judge(&changes(c)), c.fingerprint())));
    let mut record = Tests::default();
    let mut experiment = Experiment::new(space, &mut tester).observed_by(&mut record);
    let all = Configuration::full(CHANGES);
    let inducing = match algorithm {
        Algorithm::Dd => dd(&mut experiment, all),
        Algorithm::DdPlus => dd_plus(&mut experiment, all),
    };
    let counts = experiment.counts();
    assert_eq!(inducing.stopped, None);
    let tests = record.0.iter().map(|(c, outcome)| (changes(c), *outcome)).collect();
    Trail { found: changes(&inducing.configuration), tests, counts }
}

/// The configurations tested, in order.
#[derive(Default)]
struct Tests(Vec<(Configuration, Outcome)>);

impl Observer<u128> for Tests {
    fn tested(&mut self, configuration: &Configuration, outcome: Outcome, _: &u128, _: Counts) {
        self.0.push((configuration.clone(), outcome));
    }
}

enum Algorithm {
    Dd,
    DdPlus,
}

fn tests<const N: usize>(expected: [(&[usize], Outcome); N]) -> Vec<(Vec<usize>, Outcome)> {
    expected.map(|(changes, outcome)| (changes.to_vec(), outcome)).to_vec()
}

/// A test that fails with all of these applied, and otherwise passes.
fn needs(needed: &'static [usize]) -> impl Fn(&[usize]) -> Outcome {
    |applied| if needed.iter().all(|change| applied.contains(change)) { Fail } else { Pass }
}

#[test]
fn table_1_a_single_change_is_found_by_binary_search() {
    let trail = follow(Algorithm::Dd, &Independent::new(CHANGES), needs(&[7]));
    let expected =
        tests([(&[1, 2, 3, 4], Pass), (&[5, 6, 7, 8], Fail), (&[5, 6], Pass), (&[7, 8], Fail), (&[7], Fail)]);
    assert_eq!((trail.found, trail.tests), (vec![7], expected));
}

#[test]
fn table_2_two_changes_that_break_the_program_only_together() {
    let trail = follow(Algorithm::Dd, &Independent::new(CHANGES), needs(&[3, 6]));
    let expected = tests([
        (&[1, 2, 3, 4], Pass),
        (&[5, 6, 7, 8], Pass),
        // Interference: 5 to 8 remain applied, then 1 to 4.
        (&[1, 2, 5, 6, 7, 8], Pass),
        (&[3, 4, 5, 6, 7, 8], Fail),
        (&[3, 5, 6, 7, 8], Fail),
        (&[1, 2, 3, 4, 5, 6], Fail),
        (&[1, 2, 3, 4, 5], Pass),
        (&[1, 2, 3, 4, 6], Fail),
    ]);
    assert_eq!((trail.found, trail.tests), (vec![3, 6], expected));
}

#[test]
fn table_3_where_all_eight_changes_are_needed_each_is_found() {
    let trail = follow(Algorithm::Dd, &Independent::new(CHANGES), needs(&[1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!((trail.found.len(), trail.tests.len()), (8, 14));
    // The last two take the last pair apart.
    assert_eq!(trail.tests[12], (vec![1, 2, 3, 4, 5, 6, 7], Pass));
    assert_eq!(trail.tests[13], (vec![1, 2, 3, 4, 5, 6, 8], Pass));
}

#[test]
fn table_4_what_makes_tests_consistent_remains_applied() {
    // Whatever has one of 1 to 4 needs all of 5 to 8, or says nothing; 3 breaks the program.
    let judge = |applied: &[usize]| {
        let depends = applied.iter().any(|change| *change <= 4);
        let is_consistent = !depends || [5, 6, 7, 8].iter().all(|change| applied.contains(change));
        match applied.contains(&3) {
            _ if !is_consistent => Unresolved,
            true => Fail,
            false => Pass,
        }
    };
    let trail = follow(Algorithm::DdPlus, &Independent::new(CHANGES), judge);
    let expected = tests([
        (&[1, 2, 3, 4], Unresolved),
        (&[5, 6, 7, 8], Pass),
        // Preference: 5 to 8 remain applied.
        (&[1, 2, 5, 6, 7, 8], Pass),
        (&[3, 4, 5, 6, 7, 8], Fail),
        (&[3, 5, 6, 7, 8], Fail),
    ]);
    assert_eq!((trail.found, trail.tests), (vec![3], expected));
}

/// The test of tables 5 and 6: 8 fails; 2, 3 and 7 only work together.
fn tables_5_and_6(applied: &[usize]) -> Outcome {
    let together = [2, 3, 7].iter().filter(|change| applied.contains(change)).count();
    match applied.contains(&8) {
        _ if ![0, 3].contains(&together) => Unresolved,
        true => Fail,
        false => Pass,
    }
}

#[test]
fn tables_5_and_6_trying_again_finds_the_failing_change_at_test_16() {
    let trail = follow(Algorithm::DdPlus, &Independent::new(CHANGES), tables_5_and_6);
    let expected = tests([
        (&[1, 2, 3, 4], Unresolved),
        (&[5, 6, 7, 8], Unresolved),
        (&[1, 2], Unresolved),
        (&[3, 4], Unresolved),
        (&[5, 6], Pass),
        (&[7, 8], Unresolved),
        (&[3, 4, 5, 6, 7, 8], Unresolved),
        (&[1, 2, 5, 6, 7, 8], Unresolved),
        (&[1, 2, 3, 4, 7, 8], Fail),
        (&[1, 2, 3, 4, 5, 6], Unresolved),
        // 5 and 6 are not needed, and remain applied.
        (&[1, 5, 6], Pass),
        (&[2, 5, 6], Unresolved),
        (&[3, 5, 6], Unresolved),
        (&[4, 5, 6], Pass),
        (&[5, 6, 7], Unresolved),
        (&[5, 6, 8], Fail),
    ]);
    assert_eq!((trail.found, trail.tests), (vec![8], expected));
}

/// A space in which each change implies all earlier ones: what lacks one of these is inconsistent.
struct TotalOrder;

impl Space for TotalOrder {
    fn len(&self) -> usize {
        CHANGES
    }

    fn predict(&self, effective: &Configuration) -> Option<Outcome> {
        let is_consistent = effective.iter().enumerate().all(|(place, change)| place == change);
        (!is_consistent).then_some(Unresolved)
    }
}

#[test]
fn table_7_where_changes_are_ordered_three_tests_suffice_and_the_others_are_predicted() {
    for guilty in 1..=CHANGES {
        let judge = |applied: &[usize]| if applied.contains(&guilty) { Fail } else { Pass };
        let trail = follow(Algorithm::DdPlus, &TotalOrder, judge);
        assert_eq!(trail.found, [guilty]);
        assert_eq!(trail.tests.len(), 3, "change {guilty}: {:?}", trail.tests);
        assert_eq!(trail.counts.predicted > 0, guilty > 1, "{:?}", trail.counts);
    }
}

#[test]
fn a_single_change_needs_no_test() {
    let (space, mut tester) = (Independent::new(1), Sequential::new(never));
    let mut experiment = Experiment::new(&space, &mut tester);
    assert_eq!(dd(&mut experiment, Configuration::full(1)).configuration, Configuration::full(1));
    assert_eq!(dd_plus(&mut experiment, Configuration::full(1)).configuration, Configuration::full(1));
}

fn never(_: &Configuration) -> Result<(Outcome, ()), Infallible> {
    panic!("nothing has to be tested")
}

/// A space in which each change brings all earlier ones along.
struct Growing;

impl Space for Growing {
    fn len(&self) -> usize {
        CHANGES
    }

    fn direction(&self) -> Direction {
        Direction::Grows
    }

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        let end = configuration.iter().last().map_or(0, |last| last + 1);
        Configuration::from_iter(CHANGES, 0..end)
    }
}

fn isolated(judge: impl Fn(&[usize]) -> Outcome) -> (Vec<usize>, usize) {
    let mut tester = Sequential::new(|c: &Configuration| Ok::<_, Infallible>((judge(&changes(c)), ())));
    let mut experiment = Experiment::new(&Growing, &mut tester);
    let found = isolate(&mut experiment, Configuration::empty(CHANGES), Configuration::full(CHANGES));
    (changes(&found.difference()), experiment.counts().total as usize)
}

#[test]
fn where_changes_bring_earlier_ones_along_isolate_is_a_binary_search() {
    for guilty in 1..=CHANGES {
        let judge = |applied: &[usize]| if applied.contains(&guilty) { Fail } else { Pass };
        assert_eq!(isolated(judge), (vec![guilty], 3), "change {guilty}");
    }
}

#[test]
fn unresolved_neighbours_of_the_guilty_change_remain_suspected_with_it() {
    let judge = |applied: &[usize]| match applied.len() {
        0..=2 => Pass,
        3..=5 => Unresolved,
        _ => Fail,
    };
    assert_eq!(isolated(judge).0, [3, 4, 5, 6]);
}
