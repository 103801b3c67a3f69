//! Tests of reductions of circumstances that belong together.

use std::convert::Infallible;

use super::subject::{Random, Subject};
use crate::{
    Configuration, Counts, End, Experiment, Grouping, Independent, Level, Observer, Outcome, Partition,
    Sequential, Space, sweep,
};

/// A subject with groupings.
struct Grouped<'s> {
    subject: &'s Subject,
    levels: Vec<Grouping>,
}

impl Space for Grouped<'_> {
    fn len(&self) -> usize {
        self.subject.universe
    }

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        self.subject.closure(configuration)
    }

    fn levels(&self) -> &[Grouping] {
        &self.levels
    }
}

/// An observer that finds passes of more than so many tests not worth while.
struct Hurried(u64);

impl<V> Observer<V> for Hurried {
    fn goes_finer(&mut self, _: Level, tests: u64) -> bool {
        tests <= self.0
    }
}

/// The groupings by remainder: each third circumstance, and a finer one, two groups each of these.
fn levels(universe: usize) -> Vec<Grouping> {
    let coarse: Vec<usize> = (0..universe).map(|member| member % 3).collect();
    let fine: Vec<usize> = (0..universe).map(|member| member % 6).collect();
    vec![
        Grouping { name: "thirds", partitions: vec![Partition::by_key(&coarse)] },
        Grouping { name: "sixths", partitions: vec![Partition::by_key(&fine)] },
    ]
}

#[test]
fn with_groups_the_result_is_1_minimal_as_well() {
    let mut random = Random::new(11);
    for _ in 0..2000 {
        let subject = Subject::random(&mut random);
        let space = Grouped { subject: &subject, levels: levels(subject.universe) };
        let mut tester = Sequential::new(subject.test());
        let mut experiment = Experiment::new(&space, &mut tester);
        let reduction = sweep(&mut experiment, Configuration::full(subject.universe));
        let smallest = &reduction.configuration;
        assert_eq!(reduction.end, End::Minimal(Level::Members));
        assert_eq!(subject.outcome(smallest), Outcome::Fail);
        for member in smallest.iter() {
            let without = subject.closure(&smallest.without(&[member]));
            assert_ne!(subject.outcome(&without), Outcome::Fail);
        }
    }
}

#[test]
fn where_finer_passes_are_not_worth_while_no_group_can_be_left_out() {
    let mut random = Random::new(12);
    let mut ends = [0; 2];
    for _ in 0..2000 {
        let subject = Subject::random(&mut random);
        let space = Grouped { subject: &subject, levels: levels(subject.universe) };
        let mut tester = Sequential::new(subject.test());
        let mut hurried = Hurried([0, 6][random.below(2)]);
        let mut experiment = Experiment::new(&space, &mut tester).observed_by(&mut hurried);
        let reduction = sweep(&mut experiment, Configuration::full(subject.universe));
        let smallest = &reduction.configuration;
        assert_eq!(subject.outcome(smallest), Outcome::Fail);
        let End::Minimal(Level::Groups(level)) = reduction.end else { continue };
        ends[level] += 1;
        for group in space.levels[level].partitions[0].groups() {
            let members: Vec<usize> = group.filter(|&member| smallest.contains(member)).collect();
            let without = subject.closure(&smallest.without(&members));
            assert!(members.is_empty() || subject.outcome(&without) != Outcome::Fail, "{reduction:?}");
        }
        // For each member what was seen without its group.
        assert!(reduction.evidence.iter().map(|seen| seen.0).eq(smallest.iter()), "{reduction:?}");
    }
    assert!(ends[0] > 100 && ends[1] > 100, "{ends:?}");
}

/// Returns the numbers of tests of a reduction to what is needed.
fn tests(space: &dyn Space, needed: &Configuration) -> Counts {
    let mut tester = Sequential::new(|c: &Configuration| {
        Ok::<_, Infallible>((if needed.is_subset(c) { Outcome::Fail } else { Outcome::Pass }, ()))
    });
    let mut experiment = Experiment::new(space, &mut tester);
    let reduction = sweep(&mut experiment, Configuration::full(needed.universe()));
    assert_eq!(reduction.configuration, *needed);
    experiment.counts()
}

#[test]
fn all_executions_of_a_needless_statement_go_in_one_test() {
    // A loop of two statements, of which every execution of the first is needed.
    const ROUNDS: usize = 500;
    let needed = Configuration::from_iter(2 * ROUNDS, (0..ROUNDS).map(|round| 2 * round));
    let statements: Vec<usize> = (0..2 * ROUNDS).map(|event| event % 2).collect();
    let level = Grouping { name: "statements", partitions: vec![Partition::by_key(&statements)] };
    let plain = tests(&Independent::new(2 * ROUNDS), &needed).total;
    let grouped = tests(&Independent::new(2 * ROUNDS).with_levels(vec![level]), &needed).total;
    // The proof alone is a test for each needed execution.
    assert!(grouped < 2 * ROUNDS as u64 + 50, "{grouped}");
    assert!(plain > grouped + ROUNDS as u64 / 2, "{plain} against {grouped}");
}

/// A space in which what is chosen needs all before it that have the same remainder.
struct Prerequisites;

impl Space for Prerequisites {
    fn len(&self) -> usize {
        12
    }

    fn direction(&self) -> crate::Direction {
        crate::Direction::Grows
    }

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        let is_needed = |&member: &usize| configuration.iter().any(|c| c >= member && c % 3 == member % 3);
        Configuration::from_iter(12, (0..12).filter(is_needed))
    }
}

#[test]
fn a_closure_that_adds_is_idempotent_monotone_and_leaves_a_minimal_result() {
    let mut random = Random::new(13);
    for _ in 0..500 {
        let any = |random: &mut Random| Configuration::from_iter(12, (0..12).filter(|_| random.chance(3)));
        let (one, other) = (any(&mut random), any(&mut random));
        let mut both = one.clone();
        both.insert_all(&other);
        let closed = Prerequisites.normalise(&one);
        assert!(one.is_subset(&closed) && Prerequisites.normalise(&closed) == closed);
        assert!(closed.is_subset(&Prerequisites.normalise(&both)));
        // The reduction ends with what is needed, and each member of it needs another or is needed itself.
        let needed = Prerequisites.normalise(&any(&mut random));
        assert!(tests(&Prerequisites, &needed).total <= 40);
    }
}

#[test]
fn where_one_execution_of_a_statement_goes_all_are_tried() {
    // The last circumstance keeps all even ones; without it none of them is needed.
    const ROUNDS: usize = 300;
    let last = 2 * ROUNDS;
    let test = |c: &Configuration| {
        let odd = (0..ROUNDS).all(|round| c.contains(2 * round + 1));
        let even = (0..ROUNDS).all(|round| c.contains(2 * round));
        let fails = odd && (even || !c.contains(last));
        Ok::<_, Infallible>((if fails { Outcome::Fail } else { Outcome::Pass }, ()))
    };
    let statements: Vec<usize> = (0..=last).map(|event| if event == last { 2 } else { event % 2 }).collect();
    let level = Grouping { name: "statements", partitions: vec![Partition::by_key(&statements)] };
    let space = Independent::new(last + 1).with_levels(vec![level]);
    let mut tester = Sequential::new(test);
    let mut experiment = Experiment::new(&space, &mut tester);
    let reduction = sweep(&mut experiment, Configuration::full(last + 1));
    assert_eq!(reduction.configuration.len(), ROUNDS);
    assert!(experiment.counts().fail < 10, "{:?}", experiment.counts());
}
