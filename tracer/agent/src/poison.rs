//! Poison: values of undefined memory and registers that are unlikely to help.
//!
//! Reduction searches for lucky garbage: an omitted `a = 0` is not missed where the stack happens to
//! hold a zero. A run is therefore repeated under several patterns, and counts only if it shows the
//! failure under each.

/// The pattern of undefined values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u32)]
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

/// The general registers that a call may change, by their numbers in the machine's encoding: rax, rcx,
/// rdx, rsi, rdi, r8 to r11.
pub const SCRATCH: [u32; 9] = [0, 1, 2, 6, 7, 8, 9, 10, 11];

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

    /// The word for a place, so that two undefined variables differ: sign and magnitude stay. Zeros stay zeros.
    pub fn word(self, place: u64) -> u32 {
        match self.base() {
            0 => 0,
            base => base ^ ((place >> 2) as u32).wrapping_mul(0x9e37_79b1) >> 12,
        }
    }

    /// The two words for a place as one.
    pub fn long(self, place: u64) -> u64 {
        u64::from(self.word(place)) | u64::from(self.word(place.wrapping_add(4))) << 32
    }

    /// Fills `memory` with the pattern of undefined memory from `place` on.
    pub fn fill(self, place: u64, memory: &mut [u8]) {
        let mut place = place;
        let mut words = memory.chunks_exact_mut(4);
        for word in &mut words {
            word.copy_from_slice(&self.word(place).to_le_bytes());
            place = place.wrapping_add(4);
        }
        let last = self.word(place);
        for (i, byte) in words.into_remainder().iter_mut().enumerate() {
            *byte = (last >> (8 * i)) as u8;
        }
    }

    /// The values for the general registers of [`SCRATCH`] once they are undefined, in that order.
    pub fn general(self) -> [u64; SCRATCH.len()] {
        SCRATCH.map(|number| self.long(8 * u64::from(number)))
    }

    /// The value for each of the two halves of an SSE register once it is undefined.
    pub fn vector(self) -> u64 {
        self.long(0)
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
