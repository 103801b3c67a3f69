//! Understand a command line, without doing what it says.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use stripe::cli::{Reply, understand};

/// Takes the lines of `input` for the words behind `stripe`.
///
/// # Panics
/// If the parser does, or if its message has more than one line.
pub fn run(input: &[u8]) {
    // `--omit @FILE` reads a file: there must be none.
    let harmless = input.iter().map(|&byte| if byte == b'/' { b'_' } else { byte }).collect::<Vec<u8>>();
    let words = harmless.split(|&byte| byte == b'\n').map(|word| OsString::from_vec(word.to_vec()));
    let words: Vec<OsString> = std::iter::once("stripe".into()).chain(words).collect();
    if let Err(Reply::Refused(failure)) = understand(&words) {
        assert!(failure.message.lines().count() <= 1, "{}", failure.message);
    }
}
