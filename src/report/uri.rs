//! Write paths as URIs: RFC 3986, and RFC 8089 for absolute ones.

use std::fmt::Write;
use std::path::Path;

/// The URI of an absolute path: `file:///home/a%20b.c`.
pub(super) fn absolute(path: &Path) -> String {
    format!("file://{}", encoded(path.as_os_str().as_encoded_bytes()))
}

/// The URI of a relative path: `a%20b.c`.
pub(super) fn relative(path: &str) -> String {
    encoded(path.as_bytes())
}

fn encoded(path: &[u8]) -> String {
    let mut text = String::new();
    for &byte in path {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            text.push(byte as char);
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_plain_is_encoded() {
        assert_eq!(absolute(Path::new("/src/a b.c")), "file:///src/a%20b.c");
        assert_eq!(relative("caf\u{e9}/c:1.c"), "caf%C3%A9/c%3A1.c");
    }
}
