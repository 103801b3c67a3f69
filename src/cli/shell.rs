//! Write commands as they are typed into a shell.

use std::ffi::{OsStr, OsString};

/// The command line of these words.
pub(super) fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The command line of this program with these arguments.
pub(super) fn stripe(arguments: impl IntoIterator<Item = OsString>) -> String {
    let words = arguments.into_iter().map(|word| word.to_string_lossy().into_owned());
    let words: Vec<String> = std::iter::once("stripe".to_owned()).chain(words).collect();
    command_line(words.iter().map(String::as_str))
}

/// An option with its value, which may look like an option itself.
pub(super) fn option(name: &str, value: impl AsRef<OsStr>) -> Vec<OsString> {
    let value = value.as_ref();
    if value.as_encoded_bytes().starts_with(b"-") {
        let mut word = OsString::from(name);
        word.push("=");
        word.push(value);
        return vec![word];
    }
    vec![name.into(), value.to_owned()]
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_looks_like_an_option_is_none() {
        assert_eq!(option("--stdin", "in"), ["--stdin", "in"]);
        assert_eq!(option("--stdin", "-in"), ["--stdin=-in"]);
    }

    #[test]
    fn a_shell_reads_the_words_as_they_are() {
        let words = ["stripe", "--expect-match", "sum = 15", "it's", "", "a=b"];
        assert_eq!(command_line(words), r"stripe --expect-match 'sum = 15' 'it'\''s' '' a=b");
    }
}
