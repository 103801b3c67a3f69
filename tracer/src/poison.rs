//! Give undefined memory and registers a value that is unlikely to help.
//!
//! Reduction searches for lucky garbage: an omitted `a = 0` is not missed where the stack happens to
//! hold a zero. A run is therefore repeated under several patterns, and counts only if it shows the
//! failure under each.

/// What undefined values are set to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Poison {
    /// Nothing: they stay as the run left them.
    #[default]
    Off,
    /// Large negative numbers.
    Negative,
    /// Zeros.
    Zero,
    /// Large positive numbers.
    Positive,
}

impl Poison {
    /// The patterns in the order in which a test uses them.
    pub const PATTERNS: [Poison; 3] = [Poison::Negative, Poison::Zero, Poison::Positive];

    fn base(self) -> u32 {
        match self {
            Poison::Off | Poison::Zero => 0,
            Poison::Negative => 0xa5c3_e197,
            Poison::Positive => 0x5a3c_1e69,
        }
    }

    /// The word for a place, so that two undefined variables differ: sign and magnitude stay. Zeros
    /// stay zeros.
    pub fn word(self, place: u64) -> u32 {
        match self.base() {
            0 => 0,
            base => base ^ ((place >> 2) as u32).wrapping_mul(0x9e37_79b1) >> 12,
        }
    }

    /// The two words for a place as one.
    pub fn long(self, place: u64) -> u64 {
        u64::from(self.word(place)) | u64::from(self.word(place + 4)) << 32
    }

    /// Fills `memory` with what undefined memory from `place` on holds.
    pub fn fill(self, place: u64, memory: &mut Vec<u8>, length: usize) {
        memory.clear();
        let words = (0..length.div_ceil(4) as u64).flat_map(|i| self.word(place + 4 * i).to_le_bytes());
        memory.extend(words.take(length));
    }

    /// The value of glibc's tunable `glibc.malloc.perturb`: fresh memory is filled with its complement.
    /// All values are of one length, because the environment moves the stack.
    pub fn perturb(self) -> &'static str {
        match self {
            Poison::Off => "0x00",
            Poison::Negative => "0x5a",
            Poison::Zero => "0xff",
            Poison::Positive => "0xa5",
        }
    }
}
