//! Made-up programs to be tested, and a record of what is done with them.

use crate::{Configuration, Counts, Observer, Outcome, Space};

/// Marsaglia's xorshift generator: the same numbers in every run.
#[derive(Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 20) as usize % bound
    }

    /// A random decision: true once in `rarity` times.
    pub(super) fn chance(&mut self, rarity: usize) -> bool {
        self.below(rarity) == 0
    }
}

/// A made-up program: all of it fails, and the rest follows from a few rules.
#[derive(Clone)]
pub(super) struct Subject {
    pub(super) universe: usize,
    /// The circumstances that the failure needs ...
    needed: Configuration,
    /// ... or, if there is a seed, it is spread at random, as are passes and unresolved outcomes.
    noise: Option<u64>,
    /// Pairs of which the first without the second says nothing.
    conflicts: Vec<(usize, usize)>,
    /// Pairs of which the first vanishes with the second, which comes earlier.
    callers: Vec<(usize, usize)>,
    /// The seed of the tests that cannot be made, if there are any.
    broken: Option<u64>,
}

impl Subject {
    pub(super) fn monotone(needed: Configuration) -> Self {
        let (noise, broken) = (None, None);
        let universe = needed.universe();
        Subject { universe, needed, noise, conflicts: vec![], callers: vec![], broken }
    }

    /// The same where of each pair neither says anything without the other.
    pub(super) fn paired(self, pairs: &[(usize, usize)]) -> Self {
        let both = |&(one, other): &(usize, usize)| [(one, other), (other, one)];
        Subject { conflicts: pairs.iter().flat_map(both).collect(), ..self }
    }

    pub(super) fn random(random: &mut Random) -> Self {
        let universe = random.below(24);
        let rarity = 1 + random.below(6);
        let needed = (0..universe).filter(|_| random.chance(rarity)).collect::<Vec<_>>();
        let mut subject = Subject::monotone(Configuration::from_iter(universe, needed));
        if universe > 1 && random.chance(2) {
            let pairs = 0..random.below(universe);
            let pair = |_| (random.below(universe), random.below(universe));
            subject.conflicts = pairs.map(pair).collect();
        }
        if random.chance(2) {
            let called = (1..universe).filter(|_| random.chance(2)).collect::<Vec<_>>();
            subject.callers = called.into_iter().map(|e| (e, random.below(e))).collect();
        }
        subject.noise = random.chance(3).then(|| random.next());
        subject
    }

    /// Returns this subject with some tests that cannot be made, perhaps.
    pub(super) fn sometimes_broken(&self, random: &mut Random) -> Self {
        Subject { broken: random.chance(2).then(|| random.next()), ..self.clone() }
    }

    pub(super) fn any_configuration(&self, random: &mut Random) -> Configuration {
        let members = (0..self.universe).filter(|_| !random.chance(5));
        Configuration::from_iter(self.universe, members)
    }

    pub(super) fn closure(&self, configuration: &Configuration) -> Configuration {
        let mut closed = configuration.clone();
        for &(called, caller) in &self.callers {
            if !closed.contains(caller) {
                closed = closed.without(&[called]);
            }
        }
        closed
    }

    pub(super) fn outcome(&self, configuration: &Configuration) -> Outcome {
        let vain = |&(one, other)| configuration.contains(one) && !configuration.contains(other);
        if configuration.len() == self.universe {
            Outcome::Fail
        } else if let Some(seed) = self.noise {
            [Outcome::Fail, Outcome::Unresolved, Outcome::Pass, Outcome::Pass][dice(configuration, seed, 4)]
        } else if self.conflicts.iter().any(vain) {
            Outcome::Unresolved
        } else if self.needed.is_subset(configuration) {
            Outcome::Fail
        } else {
            Outcome::Pass
        }
    }

    pub(super) fn breaks(&self, configuration: &Configuration) -> bool {
        self.broken.is_some_and(|seed| dice(configuration, seed, 30) == 0)
    }
}

/// Returns a number that depends on nothing but the configuration and the seed.
fn dice(configuration: &Configuration, seed: u64, sides: usize) -> usize {
    let mut random = Random::new(configuration.fingerprint() as u64 ^ seed);
    random.next();
    random.below(sides)
}

impl Space for Subject {
    fn len(&self) -> usize {
        self.universe
    }

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        self.closure(configuration)
    }
}

impl Subject {
    /// A test: the evidence is the fingerprint of what was tested, the error the set that broke.
    pub(super) fn test(
        &self,
    ) -> impl FnMut(&Configuration) -> Result<(Outcome, u128), Configuration> + Clone + '_ {
        |configuration: &Configuration| {
            if self.breaks(configuration) {
                return Err(configuration.clone());
            }
            Ok((self.outcome(configuration), configuration.fingerprint()))
        }
    }
}

/// An observer that records what it is told, and loses patience after a number of tests.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Record {
    pub(super) tested: Vec<(Configuration, Outcome, u128, Counts)>,
    pub(super) recalled: Vec<(Configuration, Outcome, u128, Counts)>,
    pub(super) improved: Vec<Configuration>,
    pub(super) patience: Option<usize>,
}

impl Observer<u128> for Record {
    fn tested(&mut self, c: &Configuration, outcome: Outcome, evidence: &u128, counts: Counts) {
        self.tested.push((c.clone(), outcome, *evidence, counts));
    }

    fn recalled(&mut self, c: &Configuration, outcome: Outcome, evidence: &u128, counts: Counts) {
        self.recalled.push((c.clone(), outcome, *evidence, counts));
    }

    fn improved(&mut self, smaller: &Configuration) {
        self.improved.push(smaller.clone());
    }

    fn should_stop(&mut self) -> bool {
        self.patience.is_some_and(|patience| self.tested.len() >= patience)
    }
}
