//! Write what is left of what a failing program was given.

use dd::Counts;
use serde::Serialize;

use super::json::seconds;
use super::prevention::{self, PreventionDocument};
use super::quoting::{escaped, quoted};
use super::schema::{Tests, VERSION};
use super::source::printable;
use super::spelling;
use super::style::{Style, wrap};
use super::words::{contained, count, duration};
use crate::circumstances::Status;
use crate::circumstances::input::{InputPart, PartName, Unit};
use crate::simplified::{Simplified, TriedInputs};

/// The name and version of the document.
const INPUT: &str = "stripe.input/1";

/// The number of lines of an input that are shown.
const MOST_LINES: usize = 40;

/// Writes the result for people: what is left of each part, what the runs say before and after, and the verdict.
pub fn text(found: &Simplified, style: Style) -> String {
    let mut text = match &found.prevention {
        Some(prevention) => prevention::sets(prevention, style),
        None => left(found, style) + &curve(&found.tried),
    };
    text += &messages(found, style);
    let verdict = match &found.prevention {
        Some(prevention) => prevention::verdict(prevention, &tail_of(found)),
        None => format!("{} {}", verdict_of(found), tail_of(found)),
    };
    text += &format!("{}\n", wrap(&verdict, style.width));
    for failure in &found.other_failures {
        let what = format!(
            "another failure, in {}: {}, with {} bytes",
            count(failure.tests, "test"),
            failure.what,
            failure.given.len()
        );
        text += &format!("{}\n", wrap(&printable(&what), style.width));
    }
    for warning in &found.warnings {
        text += &format!("{}\n", wrap(&printable(&format!("warning: {warning}")), style.width));
    }
    text
}

/// Writes what is left of each part.
fn left(found: &Simplified, style: Style) -> String {
    let mut text = String::new();
    let shown = found.parts().filter(|(before, ..)| !is_listed(before));
    for (before, after, unit) in shown {
        text += &format!("{}\n", style.bold(&heading(before, after, unit)));
        text += &content(after, style);
    }
    text + &listed(found, style)
}

/// The progress of the number of bytes, in a line: the first and the last improvement, and the largest in between.
fn curve(tried: &TriedInputs) -> String {
    const MOST: usize = 5;
    let [(_, all), further @ ..] = &tried.curve[..] else { return String::new() };
    let mut steps: Vec<(usize, (usize, usize))> =
        tried.curve.windows(2).map(|two| (two[0].1 - two[1].1, two[1])).collect();
    let Some(last) = further.last() else { return String::new() };
    steps.sort_by_key(|(gone, _)| std::cmp::Reverse(*gone));
    let mut shown: Vec<(usize, usize)> = steps.into_iter().take(MOST).map(|(_, point)| point).collect();
    shown.push(*last);
    shown.sort_unstable();
    shown.dedup();
    let shown: Vec<String> = shown.iter().map(|(test, bytes)| format!("{bytes} after {test}")).collect();
    format!("bytes and tests: {all}, {}\n", shown.join(", "))
}

/// True for arguments and variables, which are shown together.
fn is_listed(part: &InputPart) -> bool {
    matches!(part.name, PartName::Argument(_) | PartName::Variable(_))
}

pub(super) fn heading(before: &InputPart, after: &InputPart, unit: Unit) -> String {
    let (from, to) = (size(before, unit), size(after, unit));
    let left = if after.content.is_none() { "left out".to_owned() } else { count(to as u64, unit.name()) };
    format!("{}: {left} of {from}", printable(&after.name.to_string()))
}

/// The number of units of a part.
fn size(part: &InputPart, unit: Unit) -> usize {
    part.content.as_deref().map_or(0, |content| unit.count_in(content))
}

/// The content of a part, indented, with what a terminal cannot show escaped.
fn content(part: &InputPart, style: Style) -> String {
    let Some(bytes) = &part.content else { return String::new() };
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    let mut text = String::new();
    for line in lines.iter().take(MOST_LINES) {
        text += &format!("  {}\n", style.cut(&escaped(line), style.width.saturating_sub(2)));
    }
    if lines.len() > MOST_LINES {
        text += &format!("  {} {} more lines\n", style.ellipsis(), lines.len() - MOST_LINES);
    }
    text
}

/// Writes the arguments and variables that are left.
fn listed(found: &Simplified, style: Style) -> String {
    let mut text = String::new();
    let parts = || found.parts().map(|(_, after, _)| after);
    if parts().any(|part| matches!(part.name, PartName::Argument(_))) {
        let words: Vec<String> = found.arguments.iter().map(|word| quoted(word.as_encoded_bytes())).collect();
        text += &format!("{}\n  {}\n", style.bold("arguments"), words.join(" "));
    }
    let mut variables = parts().filter(|part| matches!(part.name, PartName::Variable(_))).peekable();
    if variables.peek().is_some() {
        text += &format!("{}\n", style.bold("environment"));
        let mut is_any = false;
        for part in variables {
            if let (PartName::Variable(name), Some(value)) = (&part.name, &part.content) {
                text += &format!("  {}={}\n", printable(&name.to_string_lossy()), quoted(value));
                is_any = true;
            }
        }
        if !is_any {
            text += "  (no variable is needed)\n";
        }
    }
    text
}

/// Writes the messages of the program with the whole input, and with what is left: whether it is still the same
/// failure is for people to see.
fn messages(found: &Simplified, style: Style) -> String {
    const MOST: usize = 4;
    let told = |title: &str, stderr: &[u8]| {
        let text = String::from_utf8_lossy(stderr).into_owned();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let shown = lines
            .iter()
            .take(MOST)
            .map(|line| format!("  {}\n", style.cut(&printable(line), style.width - 2)));
        format!("{title}\n{}", shown.collect::<String>())
    };
    let (first, last) = (&found.errors_before, &found.errors_after);
    match (first.is_empty() && last.is_empty(), first == last) {
        (true, _) => String::new(),
        (_, true) => told("standard error, with all and with what is left:", first),
        _ => told("standard error with all:", first) + &told("standard error with what is left:", last),
    }
}

pub(super) fn verdict_of(found: &Simplified) -> String {
    let units: Vec<&str> = found.units.iter().map(|unit| unit.name()).collect();
    let unit = units.first().filter(|first| units.iter().all(|unit| unit == *first)).unwrap_or(&"unit");
    let minimal = match found.status {
        _ if found.is_trivial && found.is_derived => {
            "the failure shows with the shortest text of the grammar".to_owned()
        }
        _ if found.is_trivial => "the failure shows even if nothing is given".to_owned(),
        Status::Minimal if found.is_derived => {
            "no single symbol of it has a smaller derivation that will do".to_owned()
        }
        Status::Minimal => format!("no single {unit} of it can be left out"),
        Status::Budget | Status::Interrupted => "the search was cut short: perhaps less would do".to_owned(),
        Status::Unconfirmed => "the result was not confirmed".to_owned(),
    };
    format!("{} of {} bytes are left; {minimal}.", found.after.len(), found.before.len())
}

/// The end of the verdict: what the failure is, and what it cost to find out.
pub(super) fn tail_of(found: &Simplified) -> String {
    // In a search for preventers, Fail means that the failure has gone away.
    let (reproduced, not) = match found.prevention {
        Some(_) => (found.tests.pass, found.tests.fail),
        None => (found.tests.fail, found.tests.pass),
    };
    format!(
        "The failure: {}. {}, {} ({reproduced} reproduced, {not} not, {} unresolved), {}.",
        printable(&found.criterion),
        capitalised(&contained(&found.containment)),
        count(found.tests.total, "test"),
        found.tests.unresolved,
        duration(found.elapsed),
    )
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    status: &'static str,
    criterion: &'a str,
    trivial: bool,
    grammar: bool,
    containment: &'static str,
    parts: Vec<PartDocument<'a>>,
    prevention: Option<PreventionDocument<'a>>,
    tests: Tests,
    seconds: f64,
    other_failures: Vec<OtherDocument<'a>>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct PartDocument<'a> {
    name: String,
    unit: &'static str,
    before: usize,
    after: usize,
    /// True if the part is there at all.
    present: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<&'a [u8]>,
}

#[derive(Serialize)]
struct OtherDocument<'a> {
    what: &'a str,
    tests: u64,
    bytes: usize,
    parts: Vec<PartDocument<'a>>,
}

/// Writes what is left as a document of the schema `stripe.input/1`.
pub fn json(found: &Simplified) -> String {
    let others = found.other_failures.iter().map(|failure| OtherDocument {
        what: &failure.what,
        tests: failure.tests,
        bytes: failure.given.len(),
        parts: found
            .parts()
            .zip(&failure.given.parts)
            .map(|((before, _, unit), after)| part(before, after, unit))
            .collect(),
    });
    let document = Document {
        schema: INPUT,
        version: VERSION,
        status: spelling::status(found.status),
        criterion: &found.criterion,
        trivial: found.is_trivial,
        grammar: found.is_derived,
        containment: spelling::containment(&found.containment),
        parts: found.parts().map(|(before, after, unit)| part(before, after, unit)).collect(),
        prevention: found.prevention.as_ref().map(prevention::document),
        tests: tests(found),
        seconds: seconds(found.elapsed),
        other_failures: others.collect(),
        warnings: &found.warnings,
    };
    serde_json::to_string_pretty(&document).expect("a document has text keys only") + "\n"
}

pub(super) fn tests(found: &Simplified) -> Tests {
    let Counts { total, fail, pass, unresolved, cached, .. } = found.tests;
    let (reproduced, not_reproduced) = if found.prevention.is_some() { (pass, fail) } else { (fail, pass) };
    Tests { total, reproduced, not_reproduced, unresolved, cached, runs: found.runs }
}

fn part<'a>(before: &InputPart, after: &'a InputPart, unit: Unit) -> PartDocument<'a> {
    let content = after.content.as_deref();
    let text = content.map(str::from_utf8);
    PartDocument {
        name: match &after.name {
            PartName::Stdin => "stdin".into(),
            name => name.to_string(),
        },
        unit: unit.name(),
        before: size(before, unit),
        after: size(after, unit),
        present: after.content.is_some(),
        text: text.and_then(Result::ok),
        bytes: content.filter(|_| text.is_some_and(|text| text.is_err())),
    }
}
