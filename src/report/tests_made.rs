//! Write the tests of a search as JSON lines, one for each test in the order of the search.
//!
//! An output stands in the line of the first test that has printed it; the others refer to that one.

use std::collections::HashMap;

use serde::Serialize;
use tracer::run::Run;

use crate::printed::{Edit, Printed};
use crate::session::history::{History, TestMade};

use super::spelling;

/// The length, in bytes, at which an output is cut.
const LONGEST_OUTPUT: usize = 64 << 10;

/// The number of bytes of outputs that are written in all.
const MOST_BYTES: usize = 64 << 20;

/// A line of the document: a test.
#[derive(Serialize)]
struct Line<'a> {
    /// The name of the criterion, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    criterion: Option<&'a str>,
    /// The number of the test, from 1.
    test: usize,
    /// The phase of the search, from 1.
    phase: usize,
    /// The number of events that were chosen.
    size: usize,
    /// The number of events to choose from.
    of: usize,
    /// `reproduced`, `not_reproduced` or `unresolved`.
    outcome: &'static str,
    /// The reason, in words.
    why: &'a str,
    /// The number of the first test with this criterion that has printed the same. Missing if the output is not kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    printed: Option<usize>,
    #[serde(flatten)]
    streams: Option<Streams>,
}

/// The output of a test.
#[derive(Serialize)]
struct Streams {
    stdout: Output,
    /// The number of bytes of standard output that are left out at the end.
    #[serde(skip_serializing_if = "is_none")]
    stdout_missing: usize,
    stderr: Output,
    /// The number of bytes of standard error that are left out at the end.
    #[serde(skip_serializing_if = "is_none")]
    stderr_missing: usize,
}

/// An output: text, or bytes that are not UTF-8.
#[derive(Serialize)]
#[serde(untagged)]
enum Output {
    Text(String),
    Bytes(Vec<u8>),
}

fn is_none(bytes: &usize) -> bool {
    *bytes == 0
}

/// Writes one object a line. The searches are about the recorded run `recorded`, and have the names of their
/// criteria, which are written if they are not empty.
pub fn jsonl(recorded: &Run, searches: &[(&str, &History)]) -> String {
    let mut room = MOST_BYTES;
    let mut of_one = |&(name, history): &(&str, &History)| {
        let name = (!name.is_empty()).then_some(name);
        let mut outputs = Outputs { recorded, first: HashMap::new(), room };
        let tests = history.tests().iter().enumerate();
        let lines =
            tests.map(|(position, test)| outputs.line(name, position, test) + "\n").collect::<String>();
        room = outputs.room;
        lines
    };
    searches.iter().map(&mut of_one).collect()
}

/// The outputs of a search that are already written.
struct Outputs<'r> {
    recorded: &'r Run,
    /// The numbers of the first tests with each output, by its key.
    first: HashMap<u128, usize>,
    /// The number of bytes that may still be written.
    room: usize,
}

impl Outputs<'_> {
    fn line(&mut self, criterion: Option<&str>, position: usize, test: &TestMade) -> String {
        let number = position + 1;
        let first = test.printed.as_ref().map(|printed| *self.first.entry(printed.key()).or_insert(number));
        let is_first = first == Some(number);
        let line = Line {
            criterion,
            test: number,
            phase: test.phase + 1,
            size: test.size,
            of: test.universe,
            outcome: spelling::outcome(test.outcome),
            why: &test.why,
            printed: first,
            streams: test.printed.as_ref().filter(|_| is_first).and_then(|printed| self.streams(printed)),
        };
        serde_json::to_string(&line).expect("a document has text keys only")
    }

    fn streams(&mut self, printed: &Printed) -> Option<Streams> {
        let (stdout, stdout_missing) = output(&printed.stdout, &self.recorded.stdout)?;
        let (stderr, stderr_missing) = output(&printed.stderr, &self.recorded.stderr)?;
        self.room = self.room.checked_sub(stdout.len() + stderr.len())?;
        let (stdout, stderr) = (Output::of(stdout), Output::of(stderr));
        Some(Streams { stdout, stdout_missing, stderr, stderr_missing })
    }
}

/// An output, cut if it is long, and the number of bytes that are missing.
fn output(edit: &Edit, recorded: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut text = edit.text(recorded)?;
    let cut = text.kept.len().saturating_sub(LONGEST_OUTPUT);
    text.kept.truncate(LONGEST_OUTPUT);
    Some((text.kept, text.lost + cut))
}

impl Output {
    fn of(bytes: Vec<u8>) -> Output {
        String::from_utf8(bytes).map_or_else(|error| Output::Bytes(error.into_bytes()), Output::Text)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::sample;
    use super::*;
    use crate::oracle::Evidence;
    use crate::session::watcher::NoWatcher;
    use dd::{Configuration, Counts, Observer, Outcome};

    #[test]
    fn each_test_is_a_line_in_the_order_of_the_search() {
        let history = sample::history(&[(3, &[0, 1, 2], Outcome::Fail), (3, &[1], Outcome::Pass)]);
        let expected = "\
{\"test\":1,\"phase\":1,\"size\":3,\"of\":3,\"outcome\":\"reproduced\",\"why\":\"as expected\"}
{\"test\":2,\"phase\":1,\"size\":1,\"of\":3,\"outcome\":\"not_reproduced\",\"why\":\"no output\"}
";
        assert_eq!(jsonl(&Run::with_output(b"", b""), &[("", &history)]), expected);
        let several = jsonl(&Run::with_output(b"", b""), &[("sum", &history), ("mul", &history)]);
        assert!(several.starts_with("{\"criterion\":\"sum\",\"test\":1,"), "{several}");
    }

    #[test]
    fn what_was_printed_stands_in_the_line_of_the_first_test_that_has() {
        let recorded = Run::with_output(b"sum = 15\n", b"");
        let mut history = History::default();
        let long = b"x".repeat(LONGEST_OUTPUT + 3);
        for (number, stdout) in [&b"sum = 15\n"[..], b"\xff\n", b"sum = 15\n", &long].into_iter().enumerate()
        {
            let printed = Some(Arc::new(Printed::of(&Run::with_output(stdout, b""), &recorded)));
            let evidence = Evidence { printed, ..Evidence::new(Outcome::Pass, "") };
            let counts = Counts { total: number as u64 + 1, ..Counts::default() };
            history.beside(&mut NoWatcher).tested(&Configuration::full(1), Outcome::Pass, &evidence, counts);
        }
        let lines = jsonl(&recorded, &[("", &history)]);
        let ends: Vec<&str> = lines.lines().map(|line| line.split_once("\"why\":\"\",").unwrap().1).collect();
        assert_eq!(ends[0], r#""printed":1,"stdout":"sum = 15\n","stderr":""}"#);
        assert_eq!(ends[1], r#""printed":2,"stdout":[255,10],"stderr":""}"#);
        assert_eq!(ends[2], r#""printed":1}"#);
        let missing = LONGEST_OUTPUT + 3 - crate::printed::LONGEST_EDIT;
        assert!(ends[3].ends_with(&format!(r#"x","stdout_missing":{missing},"stderr":""}}"#)));
    }
}
