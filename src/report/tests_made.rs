//! Write the tests of a search as JSON lines, one for each test in the order of the search.

use serde::Serialize;

use crate::history::{History, TestMade};

use super::spelling;

/// A test.
#[derive(Serialize)]
struct Line<'a> {
    /// The name of the criterion, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    criterion: Option<&'a str>,
    /// Its number, from 1.
    test: usize,
    /// The phase of the search, from 1.
    phase: usize,
    /// How many events were chosen.
    size: usize,
    /// Out of how many.
    of: usize,
    /// `reproduced`, `not_reproduced` or `unresolved`.
    outcome: &'static str,
    /// The reason, in words.
    why: &'a str,
}

/// One object a line. The searches have the names of their criteria, which are told if they are not empty.
pub fn jsonl(searches: &[(&str, &History)]) -> String {
    let of_one = |&(name, history): &(&str, &History)| {
        let name = (!name.is_empty()).then_some(name);
        let tests = history.tests().iter().enumerate();
        tests.map(|(position, test)| line(name, position, test) + "\n").collect::<String>()
    };
    searches.iter().map(of_one).collect()
}

fn line(criterion: Option<&str>, position: usize, test: &TestMade) -> String {
    let line = Line {
        criterion,
        test: position + 1,
        phase: test.phase + 1,
        size: test.size,
        of: test.universe,
        outcome: spelling::outcome(test.outcome),
        why: &test.why,
    };
    serde_json::to_string(&line).expect("a document has text keys only")
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::dd::Outcome;

    #[test]
    fn each_test_is_a_line_in_the_order_of_the_search() {
        let history = sample::history(&[(3, &[0, 1, 2], Outcome::Fail), (3, &[1], Outcome::Pass)]);
        let expected = "\
{\"test\":1,\"phase\":1,\"size\":3,\"of\":3,\"outcome\":\"reproduced\",\"why\":\"as expected\"}
{\"test\":2,\"phase\":1,\"size\":1,\"of\":3,\"outcome\":\"not_reproduced\",\"why\":\"no output\"}
";
        assert_eq!(jsonl(&[("", &history)]), expected);
        let several = jsonl(&[("sum", &history), ("mul", &history)]);
        assert!(several.starts_with("{\"criterion\":\"sum\",\"test\":1,"), "{several}");
    }
}
