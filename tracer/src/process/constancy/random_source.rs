//! Pseudo-random numbers: the same in each run.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The seed of the program's numbers.
const SEED: u64 = 0x0123_4567_89ab_cdef;

/// A generator of pseudo-random numbers: xoshiro256++ of Blackman and Vigna, seeded by SplitMix64.
#[derive(Clone, Debug)]
pub(super) struct RandomSource(Xoshiro256PlusPlus);

impl Default for RandomSource {
    fn default() -> RandomSource {
        RandomSource::new(SEED)
    }
}

impl RandomSource {
    /// The generator with this seed.
    pub(super) fn new(seed: u64) -> RandomSource {
        RandomSource(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Fills `bytes` with the next random bytes.
    pub(super) fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }

    /// Draws a seed for a further generator.
    pub(super) fn seed(&mut self) -> u64 {
        self.0.next_u64()
    }
}
