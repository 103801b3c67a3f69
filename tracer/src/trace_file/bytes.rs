//! Numbers as bytes, and the untrusting way back.

/// Appends a number in as few bytes as it needs (LEB128).
pub(super) fn put(bytes: &mut Vec<u8>, number: u32) {
    leb128::write::unsigned(bytes, number.into()).expect("memory can be written");
}

/// Maps small numbers of either sign to small numbers.
pub(super) fn zigzag(number: i32) -> u32 {
    ((number << 1) ^ (number >> 31)) as u32
}

/// The inverse of [`zigzag`].
pub(super) fn unzigzag(number: u32) -> i32 {
    (number >> 1) as i32 ^ -((number & 1) as i32)
}

/// Bytes that are taken from the front. What is not there is `None`.
pub(super) struct ByteCursor<'a>(pub(super) &'a [u8]);

impl<'a> ByteCursor<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N).map(|taken| taken.try_into().expect("as many as asked for"))
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Takes a number that [`put`] has written.
    pub(super) fn number(&mut self) -> Option<u32> {
        leb128::read::unsigned(&mut self.0).ok()?.try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_small_ones_take_a_byte() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u32::MAX - 1, u32::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(bytes.len() == 1, number < 128);
            let mut read = ByteCursor(&bytes);
            assert_eq!((read.number(), read.0.len()), (Some(number), 0));
        }
        for number in [0, -1, 1, i32::MIN, i32::MAX] {
            assert_eq!(unzigzag(zigzag(number)), number);
        }
        assert_eq!(zigzag(-1), 1);
    }

    #[test]
    fn a_number_that_ends_early_or_is_too_large_is_none() {
        for bad in [&[][..], &[0x80], &[0xff; 5], &[0xff, 0xff, 0xff, 0xff, 0x10]] {
            assert_eq!(ByteCursor(bad).number(), None, "{bad:?}");
        }
    }
}
