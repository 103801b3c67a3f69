//! Tests of dd, dd+ and isolate on many small subjects.

use super::subject::{Random, Subject};
use super::unordered::Unordered;
use crate::{
    Algorithm, Configuration, Difference, End, Experiment, Level, Outcome, Sequential, Stop, dd, dd_plus,
    isolate,
};

/// A subject whose failure needs some circumstances and nothing else.
fn monotone(random: &mut Random) -> (Subject, Configuration) {
    let universe = 1 + random.below(40);
    let rarity = 1 + random.below(12);
    let mut needed = Configuration::from_iter(universe, [random.below(universe)]);
    (0..universe).filter(|_| random.chance(rarity)).for_each(|member| needed.insert(member));
    (Subject::monotone(needed.clone()), needed)
}

#[test]
fn what_is_failure_inducing_is_found_whatever_it_is() {
    let mut random = Random::new(5);
    for _ in 0..1000 {
        let (subject, needed) = monotone(&mut random);
        let all = Configuration::full(subject.universe);
        let mut tester = Sequential::new(subject.test());
        let inducing = dd(&mut Experiment::new(&subject, &mut tester), all.clone());
        assert_eq!((inducing.configuration, inducing.stopped), (needed.clone(), None));
        assert_eq!(subject.outcome(&inducing.failing), Outcome::Fail);
        let mut tester = Sequential::new(subject.test());
        let inducing = dd_plus(&mut Experiment::new(&subject, &mut tester), all);
        assert_eq!((inducing.configuration, inducing.stopped), (needed.clone(), None));
        assert_eq!(subject.outcome(&inducing.failing), Outcome::Fail);
    }
}

#[test]
fn dd_plus_ends_with_what_holds_the_failure_on_any_subject() {
    let mut random = Random::new(6);
    for _ in 0..2000 {
        let subject = Subject::random(&mut random);
        let mut tester = Sequential::new(subject.test());
        let mut experiment = Experiment::new(&subject, &mut tester);
        let all = Configuration::full(subject.universe);
        let inducing = dd_plus(&mut experiment, all.clone());
        assert_eq!(inducing.stopped, None);
        assert!(inducing.configuration.is_subset(&all));
        assert_eq!(inducing.configuration.is_empty(), subject.universe == 0);
    }
}

#[test]
fn dd_plus_and_a_sweep_end_with_a_minimal_failing_configuration_on_any_subject() {
    let mut random = Random::new(11);
    for _ in 0..2000 {
        let subject = Subject::random(&mut random);
        let all = Configuration::full(subject.universe);
        if subject.outcome(&all) != Outcome::Fail {
            continue;
        }
        let mut tester = Sequential::new(subject.test());
        let mut experiment = Experiment::new(&subject, &mut tester);
        let found = Algorithm::DdPlus.reduce(&mut experiment, all);
        assert_eq!(found.end, End::Minimal(Level::Members));
        assert_eq!(subject.outcome(&found.configuration), Outcome::Fail);
        for member in found.configuration.iter() {
            let without = found.configuration.without(&[member]);
            let effective = experiment.normalise(&without);
            let is_left_out = effective != found.configuration;
            assert!(!is_left_out || subject.outcome(&effective) != Outcome::Fail, "{member}");
        }
    }
}

#[test]
fn what_only_needs_each_other_is_left_out_in_pairs() {
    let mut random = Random::new(12);
    for _ in 0..500 {
        let (subject, needed) = monotone(&mut random);
        let others: Vec<usize> = (0..subject.universe).filter(|&member| !needed.contains(member)).collect();
        let pairs: Vec<(usize, usize)> = others.chunks_exact(2).take(6).map(|two| (two[0], two[1])).collect();
        let subject = subject.paired(&pairs);
        let all = Configuration::full(subject.universe);
        let mut tester = Sequential::new(subject.test());
        let found = Algorithm::Pairs.reduce(&mut Experiment::new(&subject, &mut tester), all);
        assert_eq!((found.configuration, found.end), (needed, End::Minimal(Level::Members)), "{pairs:?}");
    }
}

#[test]
fn a_search_that_ends_among_pairs_has_shown_nothing_to_be_minimal() {
    let pair = Subject::monotone(Configuration::from_iter(4, [0])).paired(&[(1, 3)]);
    let all = Configuration::full(4);
    let mut tester = Sequential::new(pair.test());
    let mut experiment = Experiment::new(&pair, &mut tester);
    let alone = Algorithm::Sweep.reduce(&mut experiment, all.clone());
    let tests = experiment.counts().total;
    let mut tester = Sequential::new(pair.test());
    let mut experiment = Experiment::new(&pair, &mut tester).limited_to(Some(tests));
    let found = Algorithm::Pairs.reduce(&mut experiment, all);
    assert_eq!(found.configuration, alone.configuration);
    assert_eq!(found.end, End::Stopped(Stop::Limit));
}

#[test]
fn any_number_of_tests_at_the_same_time_finds_the_same() {
    let mut random = Random::new(7);
    for _ in 0..500 {
        let subject = Subject::random(&mut random);
        let (all, none) = (Configuration::full(subject.universe), Configuration::empty(subject.universe));
        let search = |capacity: usize| {
            let mut tester = Unordered::new(&subject, capacity, &random);
            let mut experiment = Experiment::new(&subject, &mut tester);
            let found = (dd(&mut experiment, all.clone()), dd_plus(&mut experiment, all.clone()));
            (found, isolate(&mut experiment, none.clone(), all.clone()), experiment.counts())
        };
        let alone = search(1);
        for capacity in [2, 3, 8] {
            assert_eq!(search(capacity), alone);
        }
    }
}

#[test]
fn isolate_ends_with_two_configurations_that_differ_in_as_little_as_can_be() {
    let mut random = Random::new(8);
    for _ in 0..2000 {
        let (subject, needed) = monotone(&mut random);
        let (all, none) = (Configuration::full(subject.universe), Configuration::empty(subject.universe));
        let mut tester = Sequential::new(subject.test());
        let mut experiment = Experiment::new(&subject, &mut tester);
        let found = isolate(&mut experiment, none, all);
        let Difference { passing, failing, end } = &found;
        assert_eq!(*end, End::Minimal(Level::Members));
        assert!(passing.is_subset(failing));
        assert_eq!((subject.outcome(passing), subject.outcome(failing)), (Outcome::Pass, Outcome::Fail));
        // Without unresolved tests a single circumstance makes the difference.
        assert_eq!(found.difference().len(), 1);
        assert!(found.difference().is_subset(&needed));
    }
}

#[test]
fn a_limit_leaves_a_passing_and_a_failing_configuration() {
    let mut random = Random::new(9);
    for _ in 0..500 {
        let subject = Subject::random(&mut random);
        let (all, none) = (Configuration::full(subject.universe), Configuration::empty(subject.universe));
        if subject.universe == 0 || subject.outcome(&none) != Outcome::Pass {
            continue;
        }
        let limit = random.below(12) as u64;
        let mut tester = Sequential::new(subject.test());
        let mut experiment = Experiment::new(&subject, &mut tester).limited_to(Some(limit));
        let found = isolate(&mut experiment, none, all.clone());
        assert_eq!(subject.outcome(&found.passing), Outcome::Pass);
        assert_eq!(subject.outcome(&found.failing), Outcome::Fail);
        assert!(matches!(found.end, End::Minimal(_) | End::Stopped(Stop::Limit)));
        let mut tester = Sequential::new(subject.test());
        let mut experiment = Experiment::new(&subject, &mut tester).limited_to(Some(limit));
        let inducing = dd_plus(&mut experiment, all);
        assert!(experiment.counts().total <= limit);
        assert!(!inducing.configuration.is_empty());
    }
}
