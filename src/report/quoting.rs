//! Quote bytes so that people can read them, and a shell too.

use super::source::printable;

/// Escapes a line, with its end if that is not the usual one, and with bytes that are no characters.
pub(super) fn escaped(line: &[u8]) -> String {
    let body = line.strip_suffix(b"\n").unwrap_or(line);
    let is_plain = |c: char| !c.is_control() || c == '\t';
    match str::from_utf8(body) {
        Ok(text) if text.chars().all(is_plain) => printable(text),
        Ok(text) => text
            .chars()
            .map(|c| if is_plain(c) { c.to_string() } else { c.escape_default().to_string() })
            .collect(),
        Err(_) => body.escape_ascii().to_string(),
    }
}

/// Quotes a word for a shell, where it can be shown.
pub(super) fn quoted(word: &[u8]) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=:,+@%".contains(byte);
    match str::from_utf8(word) {
        Ok(text) if !word.is_empty() && word.iter().all(is_plain) => text.to_owned(),
        Ok(text) if !text.chars().any(char::is_control) => format!("'{}'", text.replace('\'', r"'\''")),
        _ => format!("$'{}'", word.escape_ascii()),
    }
}
