//! Report in one line what is wrong with a command line.
//!
//! Uses the words of the parser, which draws several lines and ends with a summary of all options.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Error};

use super::exit::{Exit, Failure};
use super::interpreters;
use super::options::CommandLine;

/// The failure for a parser error.
pub(super) fn failure(error: &Error, words: &[OsString]) -> Failure {
    let mut message = one_line(&error.render().to_string());
    let subcommand = words.get(1).and_then(|name| name.to_str());
    if is_stray_word(error) {
        let interpreter = words.get(2).map(Path::new).filter(|word| interpreters::is_interpreter(word));
        if let Some(interpreter) = interpreter {
            return Failure::new(Exit::Usage, interpreters::explanation(interpreter));
        }
        message += "; the program's own arguments go after --";
    }
    let known = |name: &&str| CommandLine::command().find_subcommand(name).is_some();
    let of = subcommand.filter(known).map_or_else(String::new, |name| format!(" {name}"));
    Failure::new(Exit::Usage, format!("{message}; see `stripe{of} --help`"))
}

/// True for a word that is neither an option nor the program.
fn is_stray_word(error: &Error) -> bool {
    let stray = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) => !word.starts_with('-'),
        _ => false,
    };
    error.kind() == ErrorKind::UnknownArgument && stray
}

/// The message and the tips, without the summary that follows.
fn one_line(rendered: &str) -> String {
    let told = rendered
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let mut words = String::new();
    for line in told.filter(|line| !line.is_empty()) {
        let (separator, text) = match line.strip_prefix("tip: ") {
            Some(tip) => ("; ", tip),
            None => (" ", line.trim_start_matches("error: ")),
        };
        if !words.is_empty() {
            words += separator;
        }
        words += text;
    }
    words
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn message(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = CommandLine::try_parse_from(&words).expect_err("wrong usage");
        failure(&error, &words).message
    }

    #[test]
    fn a_wrong_command_line_is_told_in_one_line_with_a_remedy() {
        assert_eq!(
            message("stripe run"),
            "the following required arguments were not provided: <PROGRAM>; see `stripe run --help`"
        );
        assert_eq!(
            message("stripe run ./p 5"),
            "unexpected argument '5' found; the program's own arguments go after --; see `stripe run --help`"
        );
        let told = message("stripe run python3 x.py");
        assert!(told.starts_with("python3: is an interpreter, and stripe sees"), "{told}");
        let message = message("stripe rum ./p");
        assert!(message.starts_with("unrecognized subcommand 'rum'; "), "{message}");
        assert!(message.ends_with("; see `stripe --help`"), "{message}");
    }

    #[test]
    fn a_bad_value_is_told_with_what_would_be_good() {
        let told = message("stripe run ./p --control loose");
        assert!(told.contains("[possible values: both, program, trace]"), "{told}");
        let told = message("stripe run ./p --expect-match (");
        assert!(told.contains("'(' for '--expect-match <RE>': unclosed group;"), "{told}");
        let told = message("stripe run ./p --timeout -1");
        assert!(told.contains("must be more than nothing"), "{told}");
    }
}
