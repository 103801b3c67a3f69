//! Define one condition that a run must meet, and judge runs by it.

use regex::bytes::Regex;
use tracer::Bytes;
use tracer::run::Run;
use tracer::termination::{Crash, Termination, signal_name};

use super::check::Check;
use super::difference::{self, first_difference, in_quotes, quoted};
use super::error::OracleError;
use super::evidence::Evidence;
use super::inner::InnerCondition;
use super::line::{Reason, RecordedLine, misplaced};
use super::occurrence::Occurrences;
use super::part::{Part, Tails};
use super::{message, sanitizer};
use dd::Outcome;

/// A condition that a run must meet.
#[derive(Debug)]
pub(super) enum Condition {
    Output(Bytes),
    /// The lines of the output that match.
    Lines {
        expected: Bytes,
        only: Regex,
        places: Occurrences,
    },
    Stderr(Bytes),
    Exit(i32),
    Crash(Option<i32>),
    /// A sanitizer reports this error.
    Report(String),
    /// Any crash, or any report of a sanitizer.
    AnyCrash,
    Match(Regex),
    Reject(Regex),
    StderrMatch(Regex),
    StderrReject(Regex),
    /// This error message is on standard error.
    Message(String),
    /// A line of the recorded output.
    Line(RecordedLine),
    /// From the match to the end of the line, in all lines that match.
    Part {
        tails: Tails,
        expected: Vec<u8>,
        places: Occurrences,
    },
    Check(Check),
    /// The run answers a question about one execution as the recorded run does.
    Inner(InnerCondition),
    /// The run never ends: it still runs where the recorded run does. With the place, in words.
    Endless(String),
}

/// Builds the condition that the part is as in the recorded `output`.
pub(super) fn condition_of(part: Part, output: &[u8]) -> Result<Condition, OracleError> {
    match part {
        Part::Line(number) => {
            let line = RecordedLine::new(output, number, Reason::Asked);
            line.map(Condition::Line).ok_or(OracleError::NoSuchLine { number: number + 1 })
        }
        Part::Matching(regex) => {
            let tails = Tails::new(regex, output)?;
            let (expected, places) = (tails.of(output), Occurrences::new(tails.keys(output)));
            Ok(Condition::Part { tails, expected, places })
        }
    }
}

/// Builds the condition that the output is the expected one, or the lines of it that match.
pub(super) fn output(expected: Bytes, only: Option<Regex>, recorded: &[u8]) -> Condition {
    let Some(only) = only else { return Condition::Output(expected) };
    let wanted = difference::lines(recorded).map(|line| (line, only.is_match(line)));
    let places = Occurrences::new(wanted);
    Condition::Lines { expected, only, places }
}

impl Condition {
    /// Judges a run: `None` if it meets the condition, else an outcome with the reason.
    pub(super) fn judge(&self, run: &Run, crash: Option<&Crash>) -> Result<Option<Evidence>, OracleError> {
        let why = match self {
            Condition::Output(expected) => first_difference("output", expected, &run.stdout, None),
            Condition::Lines { expected, only, places } => {
                match first_difference("output", expected, &run.stdout, Some(only)) {
                    None => return Ok(misplaced(places, difference::lines(&run.stdout))),
                    why => why,
                }
            }
            Condition::Stderr(expected) => first_difference("standard error", expected, &run.stderr, None),
            Condition::Exit(expected) => match run.termination {
                Termination::Exited(status) if status == *expected => None,
                Termination::Exited(status) => Some(format!("exit status {status} instead of {expected}")),
                _ => Some(format!("no exit status, instead of {expected}")),
            },
            Condition::Crash(signal) => crash_missing(run, signal.or(crash.map(|crash| crash.signal))),
            Condition::AnyCrash => {
                let crashed = matches!(run.termination, Termination::Crashed(_));
                let is_shown = crashed || sanitizer::report(&run.stderr).is_some();
                (!is_shown).then(|| "it did not crash".into())
            }
            Condition::StderrMatch(regex) => (!regex.is_match(&run.stderr))
                .then(|| format!("standard error does not match {}", in_quotes(regex))),
            Condition::StderrReject(regex) => {
                let found = regex.find(&run.stderr);
                found.map(|found| format!("standard error has {}", quoted(found.as_bytes())))
            }
            Condition::Message(wanted) => {
                let is_there = message::all(&run.stderr).any(|message| message == *wanted);
                (!is_there).then(|| format!("no message {} on standard error", quoted(wanted.as_bytes())))
            }
            Condition::Report(report) => {
                sanitizer::report(&run.stderr).is_none().then(|| format!("no report of {report}"))
            }
            Condition::Match(regex) => {
                (!regex.is_match(&run.stdout)).then(|| format!("output does not match {}", in_quotes(regex)))
            }
            Condition::Reject(regex) => {
                regex.find(&run.stdout).map(|found| format!("output has {}", quoted(found.as_bytes())))
            }
            Condition::Line(line) => return Ok(line.missing_in(&run.stdout)),
            Condition::Part { tails, expected, places } => {
                match first_difference("matching output", expected, &tails.of(&run.stdout), None) {
                    None => return Ok(misplaced(places, tails.keys(&run.stdout).map(|(key, _)| key))),
                    why => why,
                }
            }
            Condition::Check(check) => return check.judge(run),
            Condition::Inner(inner) => inner.missing_in(run),
            Condition::Endless(_) => match &run.termination {
                Termination::Endless(_) => None,
                _ => Some("it ended by itself".into()),
            },
        };
        Ok(why.map(|why| Evidence::new(Outcome::Pass, why)))
    }

    pub(super) fn describe(&self, crash: Option<&Crash>, told: Option<&str>) -> String {
        match self {
            Condition::Output(expected) if expected.is_empty() => "no output".into(),
            Condition::Output(_) => "the same standard output".into(),
            Condition::Lines { only, .. } => {
                format!("the same lines of output that match {}", in_quotes(only))
            }
            Condition::Stderr(_) => "the same standard error".into(),
            Condition::Exit(status) => format!("exit status {status}"),
            Condition::Crash(signal) => {
                let recorded = crash.map(|crash| crash.signal);
                let told = told.filter(|_| signal.is_none_or(|it| Some(it) == recorded));
                match told {
                    Some(told) => format!("the same crash ({told})"),
                    None => format!("the same crash ({})", signal_name(signal.or(recorded).unwrap_or(0))),
                }
            }
            Condition::AnyCrash => "a crash, whichever".into(),
            Condition::StderrMatch(regex) => format!("standard error that matches {}", in_quotes(regex)),
            Condition::StderrReject(regex) => {
                format!("standard error that does not match {}", in_quotes(regex))
            }
            Condition::Message(wanted) => {
                format!("the message {} on standard error, numbers aside", quoted(wanted.as_bytes()))
            }
            Condition::Match(regex) => format!("output that matches {}", in_quotes(regex)),
            Condition::Reject(regex) => format!("output that does not match {}", in_quotes(regex)),
            Condition::Report(report) => format!("the same report ({report})"),
            Condition::Line(line) => line.describe(),
            Condition::Check(check) => {
                format!("`{}` says so", difference::in_one_line(check.command().as_bytes()))
            }
            Condition::Part { tails, .. } => tails.describe(),
            Condition::Inner(inner) => inner.describe(),
            Condition::Endless(place) => format!("it does not end: {place}"),
        }
    }
}

/// The reason why a run does not end by the wanted signal; `None` if it does.
fn crash_missing(run: &Run, wanted: Option<i32>) -> Option<String> {
    let wanted = wanted.unwrap_or(0);
    match &run.termination {
        Termination::Crashed(crash) if crash.signal == wanted => None,
        Termination::Crashed(crash) => {
            Some(format!("{} instead of {}", signal_name(crash.signal), signal_name(wanted)))
        }
        _ => Some(format!("ended by itself instead of by {}", signal_name(wanted))),
    }
}
