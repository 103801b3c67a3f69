//! Read the values of options: times, signals, events and the like.
//!
//! Each function parses one kind of value; its error is a part of a sentence.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum;
use regex::bytes::Regex;

use crate::oracle::expression;

pub(super) use study::times::duration;

/// The place of a variable where an execution begins, as in `sum@13#3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValuePlace {
    /// The name of the variable in the source.
    pub name: String,
    /// The name of the execution.
    pub place: String,
}

impl FromStr for ValuePlace {
    type Err = String;

    fn from_str(text: &str) -> Result<ValuePlace, String> {
        match text.rsplit_once('@') {
            Some((name, place)) if !name.is_empty() => {
                Ok(ValuePlace { name: name.to_owned(), place: place.to_owned() })
            }
            _ => {
                Err("names no place: write sum@13#3 for sum where the third execution of line 13 begins"
                    .into())
            }
        }
    }
}

/// An output file.
#[derive(Clone, Debug)]
pub struct Emission {
    /// The kind of output.
    pub kind: EmissionKind,
    /// The path of the file.
    pub file: PathBuf,
}

/// The kind of an output that can be written to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum EmissionKind {
    /// The result for people.
    #[default]
    Text,
    /// The result for programs.
    Json,
    /// A page to look at in a browser.
    Html,
    /// All events of the trace, for programs.
    Trace,
    /// The tests of the search, a JSON object a line.
    Jsonl,
    /// The needed events as a table.
    Csv,
    /// Needed executions as coverage.
    Lcov,
    /// The needed events as a thread flow.
    Sarif,
    /// Annotations for GitHub Actions.
    Github,
    /// Needed statements as `file:line:column: text`.
    Quickfix,
    /// The calls of the slice and who feeds whom, for Graphviz.
    Dot,
    /// The calls of the run, for trace viewers.
    Chrome,
    /// A script by which gdb performs the slice.
    Gdb,
}

/// Writes the kind as the user types it.
impl fmt::Display for EmissionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.to_possible_value().expect("no kind is hidden");
        f.write_str(value.get_name())
    }
}

impl EmissionKind {
    /// True if it needs the tests of the search.
    pub(super) fn tells_history(self) -> bool {
        matches!(self, EmissionKind::Html | EmissionKind::Jsonl)
    }

    /// True if it holds the environment of the program.
    pub(super) fn holds_environment(self) -> bool {
        matches!(self, EmissionKind::Gdb)
    }

    /// True if it can hold the results of several criteria.
    pub(super) fn holds_several(self) -> bool {
        !matches!(self, EmissionKind::Dot | EmissionKind::Gdb)
    }
}

/// A list of events by number, as ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventList(pub Vec<RangeInclusive<u32>>);

impl EventList {
    /// Creates a list of these ranges, in order.
    pub(super) fn new(mut ranges: Vec<RangeInclusive<u32>>) -> EventList {
        ranges.sort_by_key(|range| *range.start());
        let mut list: Vec<RangeInclusive<u32>> = Vec::new();
        for range in ranges {
            match list.last_mut() {
                Some(last) if *range.start() <= *last.end() => {
                    *last = *last.start()..=(*last.end()).max(*range.end());
                }
                _ => list.push(range),
            }
        }
        EventList(list)
    }

    /// True if an event is in the list.
    pub(super) fn contains(&self, event: u32) -> bool {
        let later = self.0.partition_point(|range| *range.start() <= event);
        self.0[..later].last().is_some_and(|range| range.contains(&event))
    }
}

/// One of the by-products of a search, counted from 1; of several criteria, `NAME:N`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByProductNumber {
    /// The name of the criterion.
    pub criterion: Option<String>,
    /// Its number, from 1.
    pub number: usize,
}

/// Parses a by-product, `N` or `NAME:N`.
pub(super) fn by_product(text: &str) -> Result<ByProductNumber, String> {
    let (criterion, number) = match text.rsplit_once(':') {
        Some((name, number)) => (Some(name.to_owned()), number),
        None => (None, text),
    };
    match number.parse() {
        Ok(number @ 1..) => Ok(ByProductNumber { criterion, number }),
        _ => Err("no by-product: they count from 1; of several criteria write NAME:N".into()),
    }
}

/// Splits a command-line word at its first `=`; it need not be UTF-8.
pub(super) fn split_at_equals(text: &OsStr) -> Option<(&OsStr, &OsStr)> {
    let bytes = text.as_bytes();
    let place = bytes.iter().position(|&byte| byte == b'=')?;
    Some((OsStr::from_bytes(&bytes[..place]), OsStr::from_bytes(&bytes[place + 1..])))
}

/// Parses a variable of the environment, `NAME=VALUE`.
pub(super) fn environment_variable(text: OsString) -> Result<(OsString, OsString), String> {
    match split_at_equals(&text) {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("not of the form NAME=VALUE".into()),
    }
}

/// Parses a regular expression. The message of a bad one is a drawing of several lines; the last one says
/// what is wrong.
pub(super) fn regex(text: &str) -> Result<Regex, String> {
    expression(text).map_err(|error| {
        let message = error.to_string();
        let last = message.lines().last().unwrap_or_default();
        last.trim_start_matches("error: ").to_owned()
    })
}

/// Parses an expression with a name, `NAME=RE`. The name is also that of a folder.
pub(super) fn named_regex(text: &str) -> Result<(String, Regex), String> {
    let (name, expression) = text.split_once('=').ok_or("not of the form NAME=RE")?;
    let plain = |c: char| c.is_alphanumeric() || "_-+.".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
        return Err("the name must be of letters, digits, `_`, `-`, `+` and `.`".into());
    }
    Ok((name.to_owned(), regex(expression)?))
}

/// Parses a size such as `500M` or `4G` to bytes; a plain number means bytes.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim_end_matches(['B', 'b', 'i']) {
        "" => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        "g" | "G" => 30,
        "t" | "T" => 40,
        _ => return Err("the units are K, M, G and T".into()),
    };
    let number: u64 = number.parse().map_err(|_| "not a whole number with a unit".to_owned())?;
    match number.checked_mul(1 << shift) {
        Some(bytes) if bytes >= 1 << 20 => Ok(bytes),
        Some(_) => Err("less than a megabyte holds no recording".into()),
        None => Err("too large".into()),
    }
}

/// Parses a signal: its name, with or without `SIG`, or its number.
pub(super) fn signal(text: &str) -> Result<i32, String> {
    let name = text.to_ascii_uppercase();
    let name = if name.starts_with("SIG") { name } else { format!("SIG{name}") };
    (1..=31)
        .find(|&number| tracer::termination::signal_name(number) == name || text.parse() == Ok(number))
        .ok_or_else(|| "no such signal: write its name, such as SEGV, or its number".into())
}

/// Parses an output file, `KIND=FILE`.
pub(super) fn emission(text: OsString) -> Result<Emission, String> {
    let (kind, file) = split_at_equals(&text).ok_or("not of the form KIND=FILE")?;
    let kind = EmissionKind::from_str(&kind.to_string_lossy(), false)
        .map_err(|_| format!("the kind must be {}", kinds()))?;
    match file.is_empty() {
        true => Err("the file has no name".into()),
        false => Ok(Emission { kind, file: file.into() }),
    }
}

/// The names of all kinds of output files, as a part of a sentence.
fn kinds() -> String {
    let mut names: Vec<String> = EmissionKind::value_variants().iter().map(EmissionKind::to_string).collect();
    let last = names.pop().unwrap_or_default();
    format!("{} or {last}", names.join(", "))
}

/// Parses a list of events by number, `8-12,40`, or `@FILE` with such a list, which may be too long for a
/// command line; an empty text is an empty list.
pub(super) fn event_list(text: &str) -> Result<EventList, String> {
    match text.strip_prefix('@') {
        Some(file) => ranges(&super::reading::list(Path::new(file))?),
        None => ranges(text),
    }
}

fn ranges(text: &str) -> Result<EventList, String> {
    let number = |text: &str| match text.trim().parse::<u32>() {
        Ok(number @ 1..) => Ok(number),
        _ => Err(format!("`{text}` is no event: events count from 1")),
    };
    let range = |text: &str| match text.split_once('-') {
        Some((first, last)) => match number(first)?..=number(last)? {
            range if range.is_empty() => Err(format!("`{text}` ends before it begins")),
            range => Ok(range),
        },
        None => Ok(number(text)?..=number(text)?),
    };
    let parts = text.split([',', '\n']).filter(|part| !part.trim().is_empty());
    parts.map(range).collect::<Result<_, String>>().map(EventList::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_expression_has_a_harmless_name() {
        let (name, expression) = named_regex("sum=^sum = 1").unwrap();
        assert_eq!((&name[..], expression.as_str()), ("sum", "^sum = 1"));
        for bad in ["sum", "=sum", "a/b=sum", "..=sum", "a=("] {
            assert!(named_regex(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn event_lists_are_ranges_from_one() {
        assert_eq!(event_list("8-12,40"), Ok(EventList(vec![8..=12, 40..=40])));
        assert_eq!(event_list(""), Ok(EventList::default()));
        let list = event_list("40,8-12,10-14,3").expect("events");
        assert_eq!(list, EventList(vec![3..=3, 8..=14, 40..=40]));
        let contained: Vec<u32> = (0..50).filter(|&event| list.contains(event)).collect();
        assert_eq!(contained, [3, 8, 9, 10, 11, 12, 13, 14, 40]);
        for bad in ["0", "a", "5-3", "-"] {
            assert!(event_list(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_by_product_has_a_number_and_perhaps_the_name_of_a_criterion() {
        assert_eq!(by_product("2"), Ok(ByProductNumber { criterion: None, number: 2 }));
        assert_eq!(by_product("sum:1"), Ok(ByProductNumber { criterion: Some("sum".into()), number: 1 }));
        for bad in ["", "0", "sum", "sum:", "-1"] {
            assert!(by_product(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn signals_have_names_and_numbers() {
        assert_eq!(signal("segv"), Ok(11));
        assert_eq!(signal("SIGABRT"), Ok(6));
        assert_eq!(signal("8"), Ok(8));
        assert!(signal("SIGNONSENSE").is_err());
    }
}
