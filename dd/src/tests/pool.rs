//! Tests of worker threads: they find the same as one worker alone.

use std::sync::Mutex;
use std::time::Duration;

use crate::{
    Algorithm, Cancellation, Configuration, Counts, End, Experiment, Observer, Outcome, Pool, Reduction,
    Sequential, Space, Stop, Test, Tester,
};

const UNIVERSE: usize = 40;

/// A made-up program, whose every outcome follows from the configuration, but takes its time.
#[derive(Clone, Default)]
struct Fake {
    seed: u64,
}

impl Fake {
    /// A random decision that depends on nothing but the configuration and the seed.
    fn chance(&self, configuration: &Configuration, purpose: u64, rarity: u64) -> bool {
        let thrown = configuration.fingerprint() as u64 ^ self.seed ^ purpose;
        (thrown.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).is_multiple_of(rarity)
    }

    /// Whether a circumstance is needed in a seed's program; in some others chance decides everything.
    fn needs(&self, circumstance: usize) -> bool {
        (self.seed >> (circumstance % 11)) & 3 == 0
    }

    fn outcome(&self, configuration: &Configuration) -> Result<(Outcome, usize), String> {
        let chaotic = self.seed.is_multiple_of(4);
        let fails = match chaotic {
            true => configuration.len() == UNIVERSE || self.chance(configuration, 1, 3),
            false => (0..UNIVERSE).all(|c| !self.needs(c) || configuration.contains(c)),
        };
        if self.seed.is_multiple_of(3) && self.chance(configuration, 2, 60) {
            return Err(format!("{configuration:?} cannot be tested"));
        }
        let gone = if self.chance(configuration, 3, 5) { Outcome::Unresolved } else { Outcome::Pass };
        Ok((if fails { Outcome::Fail } else { gone }, configuration.len()))
    }
}

/// A space in which each fourth circumstance takes the three after it along.
struct Fours;

impl Space for Fours {
    fn len(&self) -> usize {
        UNIVERSE
    }

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        let stays = |&circumstance: &usize| configuration.contains(circumstance - circumstance % 4);
        Configuration::from_iter(UNIVERSE, configuration.iter().filter(stays))
    }
}

impl Test for Fake {
    type Evidence = usize;
    type Error = String;

    fn test(
        &mut self,
        configuration: &Configuration,
        cancellation: &Cancellation,
    ) -> Result<(Outcome, usize), String> {
        if self.chance(configuration, 4, 4) {
            std::thread::sleep(Duration::from_micros(50));
        }
        if cancellation.is_requested() {
            return Err("cut short, and yet looked at".into());
        }
        self.outcome(configuration)
    }
}

/// An observer that records what it is told.
#[derive(Debug, Default, PartialEq)]
struct Record {
    tested: Vec<(Configuration, Outcome, usize, Counts)>,
    improved: Vec<Configuration>,
}

impl Observer<usize> for Record {
    fn tested(&mut self, c: &Configuration, outcome: Outcome, evidence: &usize, counts: Counts) {
        self.tested.push((c.clone(), outcome, *evidence, counts));
    }

    fn improved(&mut self, smaller: &Configuration) {
        self.improved.push(smaller.clone());
    }
}

/// The result of a reduction with all that an observer sees of it.
type Seen = (Reduction<usize, String>, Counts, Record);

fn reduce(
    tester: &mut dyn Tester<Evidence = usize, Error = String>,
    algorithm: Algorithm,
    limit: Option<u64>,
) -> Seen {
    let mut record = Record::default();
    let mut experiment = Experiment::new(&Fours, tester).limited_to(limit).observed_by(&mut record);
    let reduction = algorithm.reduce(&mut experiment, Configuration::full(UNIVERSE));
    let counts = experiment.counts();
    (reduction, counts, record)
}

fn pool<W: Test + Send>(workers: Vec<W>, use_it: impl FnOnce(&mut Pool<W::Evidence, W::Error>))
where
    W::Evidence: Send,
    W::Error: Send,
{
    std::thread::scope(|scope| {
        let mut pool = Pool::new(scope, workers, |_| {}, |attempt| attempt()).expect("threads");
        use_it(&mut pool);
    });
}

#[test]
fn any_number_of_workers_finds_the_same_by_the_same_tests() {
    let (mut minimal, mut limited, mut broken) = (0, 0, 0);
    for seed in 0..120 {
        let fake = Fake { seed: seed * 0x5851_f42d };
        let algorithm = if seed % 5 == 0 { Algorithm::Ddmin } else { Algorithm::Sweep };
        let limit = (seed % 7 == 0).then_some(seed / 2);
        let alone = reduce(&mut Sequential::new(fake.clone()), algorithm, limit);
        match alone.0.end {
            End::Minimal(_) => minimal += 1,
            End::Stopped(Stop::Error(_)) => broken += 1,
            End::Stopped(_) => limited += 1,
        }
        for workers in [1, 2, 3, 5] {
            pool(vec![fake.clone(); workers], |pool| {
                assert_eq!(reduce(pool, algorithm, limit), alone, "seed {seed}, {workers} workers");
            });
        }
    }
    assert!(minimal > 50 && limited > 5 && broken > 10, "{minimal}, {limited}, {broken}");
}

/// Tests single members: 3 and 5 fail, 3 much later; those after 5 end when they are cancelled.
struct Patient<'n> {
    ended_alone: &'n Mutex<Vec<usize>>,
}

impl Test for Patient<'_> {
    type Evidence = ();
    type Error = String;

    fn test(
        &mut self,
        configuration: &Configuration,
        cancellation: &Cancellation,
    ) -> Result<(Outcome, ()), String> {
        const PAUSES: usize = 60_000;
        let member = configuration.iter().next().expect("a single member");
        let pauses = match member {
            3 => 100,
            6.. => PAUSES,
            _ => 1,
        };
        let pause = || std::thread::sleep(Duration::from_millis(1));
        if (0..pauses).inspect(|_| pause()).all(|_| !cancellation.is_requested()) && member != 3 {
            self.ended_alone.lock().expect("no panic").push(member);
        }
        Ok((if [3, 5].contains(&member) { Outcome::Fail } else { Outcome::Pass }, ()))
    }
}

#[test]
fn what_waits_after_a_failure_is_cancelled() {
    let ended_alone = Mutex::default();
    let single = |member| Configuration::from_iter(UNIVERSE, [member]);
    let worker = || Patient { ended_alone: &ended_alone };
    pool(vec![worker(), worker()], |pool| {
        let space = crate::Independent::new(UNIVERSE);
        let mut experiment = Experiment::new(&space, pool);
        let found = experiment.first_failure((0..20).map(single)).expect("no error");
        assert_eq!(found.expect("3 and 5 fail").configuration, single(3));
    });
    // While one worker is busy with 3, the other finds that 5 fails, and 6 and 7 need not be finished.
    let ended_alone = ended_alone.into_inner().expect("no panic");
    assert!(ended_alone.iter().all(|&member| member <= 5), "{ended_alone:?}");
}

/// A worker that is gone after some tests.
struct Mortal {
    fake: Fake,
    tests_left: usize,
}

const LOST: &str = "gone";

impl Test for Mortal {
    type Evidence = usize;
    type Error = String;

    fn test(
        &mut self,
        configuration: &Configuration,
        cancellation: &Cancellation,
    ) -> Result<(Outcome, usize), String> {
        self.tests_left = self.tests_left.checked_sub(1).ok_or(LOST)?;
        self.fake.test(configuration, cancellation)
    }

    fn is_lost(&self, error: &String) -> bool {
        error == LOST
    }
}

#[test]
fn what_a_lost_worker_has_not_tested_another_one_does() {
    for seed in (1..40).filter(|seed| seed % 3 != 0) {
        let fake = Fake { seed: seed * 0x5851_f42d };
        let alone = reduce(&mut Sequential::new(fake.clone()), Algorithm::Sweep, None);
        let mortal = |tests_left| Mortal { fake: fake.clone(), tests_left };
        // All but one die, some of them at once.
        let workers = vec![mortal(0), mortal(seed as usize), mortal(usize::MAX), mortal(5), mortal(0)];
        pool(workers, |pool| assert_eq!(reduce(pool, Algorithm::Sweep, None), alone, "seed {seed}"));
    }
}

#[test]
fn when_all_workers_are_lost_that_is_the_end() {
    let fake = Fake { seed: 0x5851_f42d };
    let mortal = |tests_left| Mortal { fake: fake.clone(), tests_left };
    for workers in [vec![mortal(0)], vec![mortal(2), mortal(0), mortal(7)]] {
        pool(workers, |pool| {
            let (reduction, ..) = reduce(pool, Algorithm::Sweep, None);
            let End::Stopped(Stop::Error(error)) = reduction.end else { panic!("{:?}", reduction.end) };
            assert_eq!(error, LOST);
        });
    }
}
