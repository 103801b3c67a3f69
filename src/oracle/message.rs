//! Find the message of a failing program on its standard error, and recognise it in other runs.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// The words that error messages of most programs contain.
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)error|fatal|panic|assert|exception|fail|abort|cannot|invalid|unexpected")
        .expect("an expression")
});

/// Numbers and addresses, which differ from input to input.
static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b0x[0-9a-fA-F]+|[0-9]+").expect("an expression"));

/// The error message of a program: the first line of its standard error that speaks of an error, or
/// else the last one; with 0 in place of each number. `None` if standard error is empty.
pub fn message(stderr: &[u8]) -> Option<String> {
    let lines = || stderr.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    lines().find(|line| ERROR.is_match(line)).or_else(|| lines().next_back()).map(without_numbers)
}

/// All lines that could be error messages, with 0 in place of each number.
pub(super) fn all(stderr: &[u8]) -> impl Iterator<Item = String> {
    stderr.split(|&byte| byte == b'\n').map(without_numbers)
}

fn without_numbers(line: &[u8]) -> String {
    let line = NUMBER.replace_all(line.trim_ascii(), &b"0"[..]);
    String::from_utf8_lossy(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_is_the_line_that_speaks_of_an_error_or_the_last_one() {
        let told = |stderr: &str| message(stderr.as_bytes());
        let compiler =
            "a.c: In function 'main':\na.c:12:3: error: expected ';' at 0x7f\ncompilation ended.\n";
        assert_eq!(told(compiler).as_deref(), Some("a.c:0:0: error: expected ';' at 0"));
        assert_eq!(told("reading\n  giving up at 17\n\n").as_deref(), Some("giving up at 0"));
        assert_eq!(told("\n \n"), None);
        assert!(all(b"x\nline 9: bad\n").any(|message| message == "line 0: bad"));
    }
}
