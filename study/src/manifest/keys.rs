//! The keys of manifests, and a reader of values by them; what does not fit is a mistake.

use std::path::Path;

use super::mistake::Mistake;
use super::record::{Given, Record};
use crate::times::duration;

/// The keys of a fault.
pub(crate) const FAULT_KEYS: [&str; 26] = [
    "name",
    "group",
    "directory",
    "build",
    "program",
    "arguments",
    "input",
    "environment",
    "files",
    "reference",
    "correct",
    "check",
    "expect_match",
    "reject_match",
    "only_lines",
    "expect_exit",
    "expect_signal",
    "expect_timeout",
    "faulty",
    "missing",
    "tests",
    "without",
    "scope",
    "timeout",
    "max_tests",
    "max_time",
];

/// The keys at the top of a TOML manifest.
pub(crate) const TOP_KEYS: [&str; 5] = ["techniques", "controls", "budgets", "defaults", "fault"];

/// The keys of a test.
pub(crate) const TEST_KEYS: [&str; 5] = ["name", "arguments", "input", "reference", "passes"];

/// A reader of the values of records, which notes mistakes.
pub(crate) struct KeyReader<'t> {
    pub(crate) file: &'t Path,
    pub(crate) mistakes: &'t mut Vec<Mistake>,
}

impl KeyReader<'_> {
    pub(crate) fn complain(&mut self, line: usize, what: impl Into<String>) {
        self.mistakes.push(Mistake { file: self.file.to_owned(), line, what: what.into() });
    }

    /// Notes keys that are not known, or occur twice, as mistakes.
    pub(crate) fn only(&mut self, record: &Record, known: &[&str]) {
        let mut seen: Vec<&str> = Vec::new();
        for (key, given) in &record.entries {
            if !known.contains(&key.as_str()) {
                let near = known.iter().copied().min_by_key(|one| distance(one, key));
                let near = near.filter(|one| distance(one, key) <= 3);
                let hint = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the keys are {}", known.join(", ")),
                };
                self.complain(given.line, format!("the key `{key}` is not known: {hint}"));
            } else if seen.contains(&key.as_str()) {
                self.complain(given.line, format!("the key `{key}` is given twice: remove one"));
            }
            seen.push(key);
        }
    }

    fn take<T>(
        &mut self,
        record: &Record,
        key: &str,
        form: &str,
        read: impl Fn(&Given) -> Option<T>,
    ) -> Option<(usize, T)> {
        let given = record.get(key)?;
        let taken = read(given);
        if taken.is_none() {
            self.complain(given.line, format!("`{key}` has to be {form}"));
        }
        taken.map(|taken| (given.line, taken))
    }

    pub(crate) fn text(&mut self, record: &Record, key: &str) -> Option<(usize, String)> {
        self.take(record, key, "a text in quotation marks", Given::text)
    }

    pub(crate) fn texts(&mut self, record: &Record, key: &str) -> Option<(usize, Vec<String>)> {
        self.take(record, key, "a list of texts, such as [\"a\", \"b\"]", Given::texts)
    }

    /// A time, as the option of stripe takes it.
    pub(crate) fn time(&mut self, record: &Record, key: &str) -> Option<String> {
        let (line, text) = self.text(record, key)?;
        if let Err(why) = duration(&text) {
            self.complain(line, format!("`{key}` is `{text}`: {why}"));
        }
        Some(text)
    }

    pub(crate) fn flag(&mut self, record: &Record, key: &str) -> Option<bool> {
        self.take(record, key, "true or false", Given::flag).map(|(_, flag)| flag)
    }

    pub(crate) fn number(&mut self, record: &Record, key: &str) -> Option<u64> {
        let read = |given: &Given| given.number().and_then(|number| number.try_into().ok());
        self.take(record, key, "a number from 0 on", read).map(|(_, number)| number)
    }
}

/// The edit distance: the number of letters to be changed, inserted or removed to make one word of the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &with) in other.iter().enumerate() {
            let least = (diagonal + usize::from(letter != with)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], least);
        }
    }
    row[other.len()]
}
