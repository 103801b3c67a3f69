//! Tests of the experiment by itself: what is drawn, known, counted and refused.

use super::subject::{Random, Record, Subject};
use super::unordered::Unordered;
use crate::{
    Algorithm, Configuration, Counts, Experiment, FirstFailure, Independent, Outcome, Sequential, Stop,
};
use std::cell::Cell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::rc::Rc;

/// A subject whose failure needs 1 and 2 of 0..4.
fn subject() -> Subject {
    Subject::monotone(set([1, 2]))
}

fn set<const N: usize>(members: [usize; N]) -> Configuration {
    Configuration::from_iter(4, members)
}

fn won<const N: usize>(position: usize, members: [usize; N]) -> Option<FirstFailure> {
    Some(FirstFailure { position, configuration: set(members) })
}

#[test]
fn the_first_candidate_that_fails_wins() {
    let subject = subject();
    let mut tester = Sequential::new(subject.test());
    let mut experiment = Experiment::new(&subject, &mut tester);
    let candidates = [set([0]), set([1]), set([1, 2]), set([1, 2, 3])];
    assert_eq!(experiment.first_failure(candidates), Ok(won(2, [1, 2])));
    assert_eq!(experiment.outcome_of(&set([1])), Some(Outcome::Pass));
    assert_eq!(experiment.outcome_of(&set([1, 2, 3])), None);
}

#[test]
fn a_known_failure_wins_without_a_test_unless_an_earlier_candidate_fails() {
    let subject = subject();
    for ahead in [1, 2, 8] {
        let mut tester = Unordered::new(&subject, ahead, &Random::new(7));
        let mut experiment = Experiment::new(&subject, &mut tester);
        assert_eq!(experiment.test(&set([1, 2])), Ok((Outcome::Fail, set([1, 2]).fingerprint())));
        let behind = [set([3]), set([1, 2]), set([0])];
        assert_eq!(experiment.first_failure(behind), Ok(won(1, [1, 2])));
        let before = [set([3]), set([0, 1, 2]), set([1, 2])];
        assert_eq!(experiment.first_failure(before), Ok(won(1, [0, 1, 2])));
        let counts = Counts { total: 3, fail: 2, pass: 1, cached: 2, ..Counts::default() };
        assert_eq!(experiment.counts(), counts);
    }
}

#[test]
fn a_candidate_is_known_while_its_twin_is_under_way() {
    let subject = subject();
    for ahead in [1, 2, 8] {
        let mut tester = Unordered::new(&subject, ahead, &Random::new(7));
        let mut experiment = Experiment::new(&subject, &mut tester);
        let candidates = [set([3]), set([3]), set([0]), set([3]), set([1, 2]), set([1, 2])];
        assert_eq!(experiment.first_failure(candidates), Ok(won(4, [1, 2])));
        let counts = Counts { total: 3, fail: 1, pass: 2, cached: 2, ..Counts::default() };
        assert_eq!(experiment.counts(), counts);
    }
}

#[test]
fn candidates_are_drawn_no_sooner_than_they_are_tested() {
    let subject = subject();
    let drawn = Cell::new(0);
    let mut tester = Sequential::new(subject.test());
    let mut experiment = Experiment::new(&subject, &mut tester);
    let candidates = [set([0]), set([1, 2]), set([3])].into_iter();
    let counted = candidates.inspect(|_| drawn.set(drawn.get() + 1));
    assert_eq!(experiment.first_failure(counted), Ok(won(1, [1, 2])));
    assert_eq!(drawn.get(), 2);
}

#[test]
fn no_test_is_begun_beyond_the_limit_and_what_is_known_needs_none() {
    let subject = subject();
    let mut tester = Sequential::new(subject.test());
    let mut experiment = Experiment::new(&subject, &mut tester).limited_to(Some(1));
    assert!(experiment.test(&set([3])).is_ok());
    assert!(experiment.test(&set([3])).is_ok());
    assert_eq!(experiment.first_failure([set([3])]), Ok(None));
    assert_eq!(experiment.first_failure([set([3]), set([1, 2])]), Err(Stop::Limit));
    assert_eq!(experiment.counts().total, 1);
    assert_eq!(experiment.counts().cached, 3);
}

#[test]
fn a_failure_before_the_limit_wins_also_for_who_looks_beyond_it() {
    let subject = subject();
    for ahead in [1, 2, 8] {
        let mut tester = Unordered::new(&subject, ahead, &Random::new(7));
        let mut experiment = Experiment::new(&subject, &mut tester).limited_to(Some(2));
        let candidates = [set([0]), set([1, 2]), set([3])];
        assert_eq!(experiment.first_failure(candidates), Ok(won(1, [1, 2])));
        assert_eq!(experiment.first_failure([set([3])]), Err(Stop::Limit));
    }
}

#[test]
fn an_observer_learns_of_every_test_but_of_no_cache_hit() {
    let subject = subject();
    let mut record = Record::default();
    let mut tester = Sequential::new(subject.test());
    let mut experiment = Experiment::new(&subject, &mut tester).observed_by(&mut record);
    let _ = experiment.test(&set([1, 2, 3]));
    let _ = experiment.first_failure([set([3]), set([3]), set([1, 2])]);
    let tested: Vec<_> = record.tested.iter().map(|(c, o, ..)| (c.clone(), *o)).collect();
    let (fail, pass) = (Outcome::Fail, Outcome::Pass);
    assert_eq!(tested, [(set([1, 2, 3]), fail), (set([3]), pass), (set([1, 2]), fail)]);
    assert_eq!(record.improved, [set([1, 2])]);
}

#[test]
fn who_asks_to_stop_at_once_gets_no_test() {
    let subject = subject();
    let mut record = Record { patience: Some(0), ..Record::default() };
    let mut tester = Sequential::new(subject.test());
    let mut experiment = Experiment::new(&subject, &mut tester).observed_by(&mut record);
    assert_eq!(experiment.test(&set([1])), Err(Stop::Asked));
    assert_eq!(experiment.counts(), Counts::default());
}

#[test]
fn evidence_is_thrown_away_before_it_piles_up_but_never_too_early() {
    let seen = Rc::new(());
    let needed = Configuration::from_iter(20_000, (0..40).map(|member| member * member * 12));
    let test = |c: &Configuration| {
        let outcome = if needed.is_subset(c) { Outcome::Fail } else { Outcome::Pass };
        Ok::<_, Infallible>((outcome, Rc::clone(&seen)))
    };
    let (space, mut tester) = (Independent::new(20_000), Sequential::new(test));
    let mut experiment = Experiment::new(&space, &mut tester);
    let full = Configuration::full(20_000);
    assert!(experiment.test(&full).is_ok());
    let reduction = Algorithm::Ddmin.reduce(&mut experiment, full.clone());
    assert!(reduction.evidence.iter().map(|seen| seen.0).eq(needed.iter()));
    let tests = experiment.counts().total;
    let kept = Rc::strong_count(&seen) - reduction.evidence.len() - 1;
    assert!(kept as u64 * 3 < tests, "{kept} of {tests}");
    // The outcome is known, but not how it looked.
    assert_eq!(experiment.outcome_of(&full), Some(Outcome::Fail));
    assert!(experiment.test(&full).is_ok());
    assert_eq!(experiment.counts().total, tests + 1);
}

#[test]
fn a_search_that_goes_on_takes_the_way_of_an_uninterrupted_one() {
    let mut random = Random::new(42);
    for number in 0..600 {
        let subject = Subject::random(&mut random);
        let start = Configuration::full(subject.universe);
        let algorithm = [Algorithm::Sweep, Algorithm::Ddmin][number % 2];
        let search = |memory: &HashMap<u128, (Outcome, u128)>, patience| {
            let mut record = Record { patience, ..Record::default() };
            let mut tester = Unordered::new(&subject, 1 + number % 3, &Random::new(number as u64));
            let experiment = Experiment::new(&subject, &mut tester).remembering(Some(memory));
            let mut experiment = experiment.observed_by(&mut record);
            let reduction = algorithm.reduce(&mut experiment, start.clone());
            let counts = experiment.counts();
            (reduction, counts, record)
        };
        let (whole, counts, record) = search(&HashMap::new(), None);
        let (_, _, begun) = search(&HashMap::new(), Some(random.below(record.tested.len() + 1)));
        let memory = begun.tested.iter().map(|(c, outcome, seen, _)| (c.fingerprint(), (*outcome, *seen)));
        let (rest, counts_after, later) = search(&memory.collect(), None);
        assert_eq!((&rest, counts_after), (&whole, counts), "{number}");
        // What is known need not be told at once.
        let essence = |all: Vec<(Configuration, Outcome, u128, Counts)>| -> Vec<_> {
            all.into_iter().map(|(c, outcome, seen, counts)| (c, outcome, seen, counts.total)).collect()
        };
        let recalled = essence(later.recalled);
        assert_eq!(recalled, essence(begun.tested), "{number}");
        assert_eq!([recalled, essence(later.tested)].concat(), essence(record.tested), "{number}");
        assert_eq!(later.improved, record.improved, "{number}");
    }
}

#[test]
fn what_is_remembered_counts_once_and_needs_no_test() {
    let subject = subject();
    let fingerprint = set([1, 2]).fingerprint();
    let memory = HashMap::from([(fingerprint, (Outcome::Fail, fingerprint))]);
    let mut record = Record { patience: Some(0), ..Record::default() };
    let mut tester = Sequential::new(subject.test());
    let experiment = Experiment::new(&subject, &mut tester).remembering(Some(&memory));
    let mut experiment = experiment.observed_by(&mut record);
    for _ in 0..2 {
        assert_eq!(experiment.test(&set([1, 2])), Ok((Outcome::Fail, fingerprint)));
    }
    assert_eq!(experiment.counts(), Counts { total: 1, fail: 1, cached: 1, ..Counts::default() });
    assert_eq!(experiment.test(&set([1])), Err(Stop::Asked));
}
