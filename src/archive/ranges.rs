//! Encode sets of numbers as ranges: few bytes for what is dense, or sparse.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use dd::Configuration;

/// Ascending numbers as ranges: how many numbers are left out, then how many follow each other, and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// The ranges of ascending numbers.
    pub(super) fn of(numbers: impl Iterator<Item = usize>) -> Ranges {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        let mut next = 0;
        for number in numbers {
            match ranges.last_mut() {
                Some((_, length)) if number == next => *length += 1,
                _ => ranges.push(((number - next) as u64, 1)),
            }
            next = number + 1;
        }
        Ranges(ranges)
    }

    /// Returns the configuration of the numbers, if they are below `universe`.
    pub(super) fn within(&self, universe: usize) -> Option<Configuration> {
        let mut configuration = Configuration::empty(universe);
        let mut next = 0usize;
        for &(gap, length) in &self.0 {
            let first = next.checked_add(usize::try_from(gap).ok()?)?;
            next = first.checked_add(usize::try_from(length).ok()?)?;
            if next > universe {
                return None;
            }
            (first..next).for_each(|number| configuration.insert(number));
        }
        Some(configuration)
    }

    /// Appends them as bytes.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        for &(gap, length) in &self.0 {
            put(bytes, gap);
            put(bytes, length);
        }
    }

    /// Reads them back; `None` if these are no ranges.
    pub(super) fn read(mut bytes: &[u8]) -> Option<Ranges> {
        let mut ranges = Vec::new();
        while !bytes.is_empty() {
            ranges.push((take(&mut bytes)?, take(&mut bytes)?));
        }
        Some(Ranges(ranges))
    }

    /// Their bytes as a text, in base64.
    pub(super) fn text(&self) -> String {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        STANDARD.encode(bytes)
    }

    /// Reads that text back; `None` if it is no such text.
    pub(super) fn of_text(text: &str) -> Option<Ranges> {
        Ranges::read(&STANDARD.decode(text).ok()?)
    }
}

/// Appends a number in LEB128: as few bytes as it needs.
pub(super) fn put(bytes: &mut Vec<u8>, number: u64) {
    leb128::write::unsigned(bytes, number).expect("memory can be written");
}

/// Takes such a number away.
pub(super) fn take(bytes: &mut &[u8]) -> Option<u64> {
    leb128::read::unsigned(bytes).ok()
}
