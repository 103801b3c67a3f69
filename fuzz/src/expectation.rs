//! Compare an output with what the user expects of it.

use std::hint::black_box;

use regex::bytes::Regex;
use stripe::oracle::{Criterion, Part, diff, expression, first_difference};
use stripe::subject::Recorded;
use tracer::run::Run;

use crate::subject::subject;

/// Between the expected text, the actual one and an expression.
pub const SEPARATOR: &[u8] = b"\n--\n";

/// Takes `input` for an expected text, an output and an expression, with [`SEPARATOR`] between them, and
/// judges the output by every criterion that can be made of them.
///
/// # Panics
/// If judging does, if a message has more than one line, or if an output differs from itself.
pub fn run(input: &[u8]) {
    let (expected, rest) = parted(input);
    let (actual, words) = parted(rest);
    let regex = std::str::from_utf8(words).ok().and_then(|text| expression(text).ok());
    let run = finished(actual);
    for criterion in criteria(expected, actual, regex.as_ref()) {
        judge(criterion, &run, expected);
    }
    compare(expected, actual, regex.as_ref());
}

fn parted(text: &[u8]) -> (&[u8], &[u8]) {
    let at = text.windows(SEPARATOR.len()).position(|window| window == SEPARATOR);
    at.map_or((text, &[]), |at| (&text[..at], &text[at + SEPARATOR.len()..]))
}

fn finished(output: &[u8]) -> Run {
    Run::with_output(output, output)
}

fn criteria(expected: &[u8], actual: &[u8], regex: Option<&Regex>) -> Vec<Criterion> {
    let text = || Some(expected.into());
    let part = |part: Part| Criterion { part: Some(part), reference: text(), ..Criterion::default() };
    let mut criteria = vec![
        Criterion { output: text(), only_lines: regex.cloned(), ..Criterion::default() },
        Criterion { stderr: text(), exit: Some(1), ..Criterion::default() },
        Criterion { reference: text(), ..Criterion::default() },
        Criterion { matches: regex.cloned().into_iter().collect(), ..Criterion::default() },
        Criterion { rejects: regex.cloned().into_iter().collect(), ..Criterion::default() },
    ];
    criteria.extend(regex.cloned().map(|regex| part(Part::Matching(regex))));
    criteria.extend(Part::each_line(actual).into_iter().take(3).map(part));
    criteria
}

fn judge(criterion: Criterion, run: &Run, other: &[u8]) {
    let subject = subject();
    let recorded = Recorded { program: &subject.program, trace: &subject.trace };
    let oracle = match criterion.oracle(run) {
        Ok(oracle) => oracle,
        Err(error) => return one_line(&error.to_string()),
    };
    one_line(&oracle.describe());
    let evidence = oracle.judge(run, recorded).expect("there is no check that could fail");
    one_line(&evidence.why);
    let elsewhere = oracle.judge(&finished(other), recorded).expect("there is no check that could fail");
    one_line(&elsewhere.why);
    oracle.remarks().iter().for_each(|remark| one_line(remark));
    if let Some(unmet) = oracle.unmet_text(run) {
        black_box(diff(&unmet.expected, &unmet.actual, 10));
    }
}

fn compare(expected: &[u8], actual: &[u8], regex: Option<&Regex>) {
    assert_eq!(first_difference("output", expected, expected, regex), None);
    if let Some(told) = first_difference("output", expected, actual, regex) {
        one_line(&told);
    }
    let changes = diff(expected, actual, 10);
    assert!(changes.lines().count() <= 10, "{changes}");
}

fn one_line(text: &str) {
    assert!(!text.contains('\n'), "{text}");
}
