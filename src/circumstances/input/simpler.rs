//! Define which of two texts is the simpler one.

use super::swaps::Swap;

/// A simplification: a simpler text for a stretch of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Simpler {
    /// The class: simplifications of a class are tried together, classes in ascending order.
    pub(super) class: SimplerClass,
    pub(super) swap: Swap,
}

/// The kind of a simplification, and two numbers that order those of a kind.
pub(super) type SimplerClass = (u8, u32, u32);

/// True if a text is simpler than another one: shorter, or of the same length and before it in the order of
/// [`rank`]. Each sequence of ever simpler texts ends.
pub(super) fn is_simpler(one: &[u8], than: &[u8]) -> bool {
    let ranks = |text: &[u8]| -> Vec<(u8, u8)> { text.iter().map(|&byte| rank(byte)).collect() };
    one.len() < than.len() || one.len() == than.len() && ranks(one) < ranks(than)
}

/// The rank of a byte. A space is simpler than other white space, a digit than a letter, a small one than a capital
/// one; anything else comes last.
fn rank(byte: u8) -> (u8, u8) {
    let class = match byte {
        b' ' => 0,
        b'\n' => 1,
        byte if byte.is_ascii_whitespace() => 2,
        b'0'..=b'9' => 3,
        b'a'..=b'z' => 4,
        b'A'..=b'Z' => 5,
        _ => 6,
    };
    (class, byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_is_simpler_and_then_the_order_decides() {
        let texts: [&[u8]; 9] = [b"", b" ", b"\n", b"0", b"7", b"a", b"Z", b"_", b"00"];
        for (number, one) in texts.iter().enumerate() {
            for (other_number, other) in texts.iter().enumerate() {
                assert_eq!(is_simpler(one, other), number < other_number, "{one:?} {other:?}");
            }
        }
    }
}
