//! Tests of the algorithms on many small subjects whose every outcome is known.

mod experiment;
mod groups;
mod inducing;
mod pool;
mod subject;
mod tables;
mod trail;
mod unordered;

use super::{Algorithm, Configuration, End, Experiment, Independent, Level, Outcome, Reduction};
use super::{Sequential, Stop};
use std::convert::Infallible;
use subject::{Random, Record, Subject};
use unordered::Unordered;

const ALGORITHMS: [Algorithm; 4] = [Algorithm::Sweep, Algorithm::Ddmin, Algorithm::Prune, Algorithm::Halve];

/// Reduces everything of a subject, as a caller does: test all and nothing first.
fn reduce<V: Clone, E>(
    algorithm: Algorithm,
    experiment: &mut Experiment<'_, V, E>,
    universe: usize,
) -> Reduction<V, E> {
    let full = Configuration::full(universe);
    let _ = experiment.test(&full);
    let _ = experiment.test(&Configuration::empty(universe));
    algorithm.reduce(experiment, full)
}

/// Hands each algorithm some thousands of random subjects.
fn on_random_subjects(mut check: impl FnMut(Algorithm, &Subject, &mut Random)) {
    let mut random = Random::new(1);
    for _ in 0..2000 {
        let subject = Subject::random(&mut random);
        for algorithm in ALGORITHMS {
            check(algorithm, &subject, &mut random);
        }
    }
}

#[test]
fn the_result_is_1_minimal_and_the_evidence_complete() {
    on_random_subjects(|algorithm, subject, _| {
        let mut tester = Sequential::new(subject.test());
        let mut experiment = Experiment::new(subject, &mut tester);
        let reduction = reduce(algorithm, &mut experiment, subject.universe);
        let smallest = &reduction.configuration;
        assert_eq!(reduction.end, End::Minimal(Level::Members));
        assert_eq!(subject.outcome(smallest), Outcome::Fail);
        assert_eq!(subject.closure(smallest), *smallest);
        let members = reduction.evidence.iter().map(|seen| seen.0);
        assert!(members.eq(smallest.iter()), "{reduction:?}");
        for (member, outcome, evidence) in &reduction.evidence {
            let without = subject.closure(&smallest.without(&[*member]));
            assert_ne!(*outcome, Outcome::Fail);
            assert_eq!(*outcome, subject.outcome(&without));
            assert_eq!(*evidence, without.fingerprint());
        }
    });
}

#[test]
fn the_result_lies_within_the_start_configuration() {
    on_random_subjects(|algorithm, subject, random| {
        let mut tester = Sequential::new(subject.test());
        let mut experiment = Experiment::new(subject, &mut tester);
        let guess = subject.any_configuration(random);
        if experiment.test(&guess).expect("no limit").0 == Outcome::Fail {
            let reduction = algorithm.reduce(&mut experiment, guess.clone());
            assert!(reduction.configuration.is_subset(&guess));
            assert_eq!(reduction.end, End::Minimal(Level::Members));
        }
    });
}

#[test]
fn nothing_is_left_where_nothing_is_needed() {
    for (algorithm, universe) in ALGORITHMS.into_iter().flat_map(|a| [(a, 0), (a, 1), (a, 7)]) {
        let always = |_: &Configuration| Ok::<_, Infallible>((Outcome::Fail, ()));
        let (space, mut tester) = (Independent::new(universe), Sequential::new(always));
        let mut experiment = Experiment::new(&space, &mut tester);
        let reduction = algorithm.reduce(&mut experiment, Configuration::full(universe));
        assert!(reduction.configuration.is_empty());
        assert_eq!(reduction.end, End::Minimal(Level::Members));
    }
}

#[test]
fn no_effective_set_is_tested_twice() {
    on_random_subjects(|algorithm, subject, _| {
        let mut record = Record::default();
        let mut tester = Sequential::new(subject.test());
        let mut experiment = Experiment::new(subject, &mut tester).observed_by(&mut record);
        reduce(algorithm, &mut experiment, subject.universe);
        let total = experiment.counts().total;
        let mut tested: Vec<_> = record.tested.iter().map(|test| &test.0).collect();
        assert_eq!(tested.len() as u64, total);
        assert!(tested.iter().all(|c| subject.closure(c) == **c));
        tested.sort();
        tested.dedup();
        assert_eq!(tested.len() as u64, total);
    });
}

#[test]
fn several_tests_at_the_same_time_change_neither_result_nor_counts_nor_reports() {
    on_random_subjects(|algorithm, subject, random| {
        let broken = subject.sometimes_broken(random);
        let limit = random.chance(3).then(|| random.below(40) as u64);
        let mut expected = Record::default();
        let mut tester = Sequential::new(broken.test());
        let experiment = Experiment::new(&broken, &mut tester).limited_to(limit);
        let mut experiment = experiment.observed_by(&mut expected);
        let reduction = reduce(algorithm, &mut experiment, broken.universe);
        let counts = experiment.counts();
        for ahead in [1, 2, 3, 8] {
            let mut record = Record::default();
            let mut tester = Unordered::new(&broken, ahead, random);
            let experiment = Experiment::new(&broken, &mut tester).limited_to(limit);
            let mut experiment = experiment.observed_by(&mut record);
            assert_eq!(reduce(algorithm, &mut experiment, broken.universe), reduction);
            assert_eq!(experiment.counts(), counts);
            assert_eq!(record, expected);
        }
    });
}

#[test]
fn a_limit_cuts_the_tests_off_exactly_and_keeps_the_best_so_far() {
    on_random_subjects(|algorithm, subject, random| {
        let mut all = Record::default();
        let mut tester = Sequential::new(subject.test());
        let mut experiment = Experiment::new(subject, &mut tester).observed_by(&mut all);
        let whole = reduce(algorithm, &mut experiment, subject.universe);
        let max = random.below(all.tested.len() + 2);
        let mut some = Record::default();
        let mut tester = Sequential::new(subject.test());
        let experiment = Experiment::new(subject, &mut tester).limited_to(Some(max as u64));
        let mut experiment = experiment.observed_by(&mut some);
        let reduction = reduce(algorithm, &mut experiment, subject.universe);
        let made = max.min(all.tested.len());
        assert_eq!(some.tested, all.tested[..made]);
        // Nothing needs no test to be minimal.
        if made == all.tested.len() || subject.universe == 0 {
            assert_eq!(reduction, whole);
            return;
        }
        assert_eq!(reduction.end, End::Stopped(Stop::Limit));
        let start = subject.closure(&Configuration::full(subject.universe));
        assert_eq!(reduction.configuration, *some.improved.last().unwrap_or(&start));
    });
}

#[test]
fn who_asks_to_stop_gets_the_best_so_far() {
    on_random_subjects(|algorithm, subject, random| {
        let mut record = Record { patience: Some(random.below(30)), ..Record::default() };
        let patience = record.patience;
        let mut tester = Sequential::new(subject.test());
        let mut experiment = Experiment::new(subject, &mut tester).observed_by(&mut record);
        let reduction = reduce(algorithm, &mut experiment, subject.universe);
        assert_eq!(subject.outcome(&reduction.configuration), Outcome::Fail);
        if reduction.end != End::Minimal(Level::Members) {
            assert_eq!(reduction.end, End::Stopped(Stop::Asked));
            assert_eq!(Some(record.tested.len()), patience);
        }
    });
}

#[test]
fn an_error_ends_the_reduction_and_passes_through() {
    let mut errors = 0;
    on_random_subjects(|algorithm, subject, random| {
        let broken = subject.sometimes_broken(random);
        let mut tester = Sequential::new(broken.test());
        let mut experiment = Experiment::new(&broken, &mut tester);
        let reduction = reduce(algorithm, &mut experiment, broken.universe);
        if let End::Stopped(stop) = reduction.end {
            let Stop::Error(culprit) = stop else { panic!("{stop:?}") };
            assert!(broken.breaks(&culprit) && experiment.outcome_of(&culprit).is_none());
            errors += 1;
        }
    });
    assert!(errors > 100, "{errors}");
}

#[test]
fn where_nearly_all_is_needed_pruning_takes_one_test_for_each_and_where_little_is_few() {
    let tests = |needed: &Configuration| {
        let test = |configuration: &Configuration| {
            let outcome = if needed.is_subset(configuration) { Outcome::Fail } else { Outcome::Pass };
            Ok::<_, Infallible>((outcome, ()))
        };
        let (space, mut tester) = (Independent::new(needed.universe()), Sequential::new(test));
        let mut experiment = Experiment::new(&space, &mut tester);
        let reduction = Algorithm::Prune.reduce(&mut experiment, Configuration::full(needed.universe()));
        assert_eq!(reduction.configuration, *needed);
        experiment.counts().total
    };
    assert_eq!(tests(&Configuration::full(500)), 500);
    // The last ones have been tried with what is left already.
    let most = Configuration::from_iter(500, (0..500).filter(|&member| member != 100));
    assert!((600..1000).contains(&tests(&most)), "{}", tests(&most));
    let few = Configuration::from_iter(5000, [7, 1000, 2500, 4990]);
    assert!(tests(&few) < 200, "{}", tests(&few));
}
