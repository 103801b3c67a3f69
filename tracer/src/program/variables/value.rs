//! A value: its type, its bytes, and its text.

/// A value of the program at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Value {
    /// The name of its type as the debug information has it: `int`, `char`, `point`; empty for a type without a name,
    /// such as a pointer.
    pub type_name: String,
    /// Its first bytes as they lie in memory, at most [`Value::MOST_BYTES`]; of a bit field the bits, as an integer of
    /// its type. What it leads to by pointers is not among them.
    pub bytes: Vec<u8>,
    /// The text, as debuggers write it: `42`, `65 'A'`, `{x = 1, y = 2}`, `0x4052a0 "name"`.
    pub text: String,
}

impl Value {
    /// The largest number of bytes that are kept.
    pub const MOST_BYTES: usize = 256;

    /// Whether an integer, a character or a pointer of so many bytes would be this number, whatever its sign.
    pub fn is_number(&self, number: i128) -> bool {
        let length = self.bytes.len();
        let (bytes, sign) = (number.to_le_bytes(), if number < 0 { 0xff } else { 0 });
        (1..=bytes.len()).contains(&length)
            && bytes[..length] == self.bytes[..]
            && bytes[length..].iter().all(|&byte| byte == sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_same_whatever_its_size_and_its_sign() {
        let value = |bytes: &[u8]| Value { bytes: bytes.into(), ..Value::default() };
        assert!(value(&[65]).is_number(65) && value(&65_u64.to_le_bytes()).is_number(65));
        assert!(value(&[0xff; 4]).is_number(-1) && value(&[0xff; 4]).is_number(u32::MAX.into()));
        assert!(!value(&[0xff, 0, 0, 0]).is_number(-1) && !value(&[0]).is_number(256));
        assert!(!value(&[]).is_number(0) && !value(&[0; 32]).is_number(0));
    }
}
