//! Make the questions of a run: one criterion, or several that share the recording.

use regex::bytes::Regex;
use tracer::run::Run;
use tracer::termination::Termination;

use super::error::{Cause, SessionError};
use crate::oracle::{Criterion, Oracle, OracleError, Part};
use crate::subject::Recorded;

/// The largest number of lines of an output that are asked about one by one.
const MOST_LINES: usize = 100;

/// Several criteria for one run.
#[derive(Clone, Debug)]
pub enum Several {
    /// One for each line of the output.
    EachLine,
    /// Those with these names: the lines that match. None if there is a single criterion.
    Named(Vec<(String, Regex)>),
}

/// A criterion, with its name if there are several.
pub struct NamedCriterion {
    /// The name; `None` if there is a single one.
    pub name: Option<String>,
    /// The oracle.
    pub oracle: Oracle,
    /// True if it is known to be about wrong output.
    pub is_wrong: bool,
}

/// The parts of the output that the user asks about, with names; none if there is a single criterion.
pub fn parts(several: &Several, run: &Run) -> Result<Vec<(String, Part)>, SessionError> {
    let parts: Vec<(String, Part)> = match several {
        Several::EachLine => each_line(run)?,
        Several::Named(named) => {
            named.iter().map(|(name, regex)| (name.clone(), Part::Matching(regex.clone()))).collect()
        }
    };
    for (number, (name, _)) in parts.iter().enumerate() {
        if parts[..number].iter().any(|(other, _)| other == name) {
            let message = format!("--criterion: the name {name} is given twice: give each its own");
            return Err(SessionError::new(Cause::Request, message));
        }
    }
    Ok(parts)
}

/// The lines of the output, named by their numbers.
fn each_line(run: &Run) -> Result<Vec<(String, Part)>, SessionError> {
    let lines = Part::each_line(&run.stdout);
    let refused = |message: String| Err(SessionError::new(Cause::NotReproduced, message));
    let name = |line: &Part| match line {
        Part::Line(number) => format!("line{}", number + 1),
        Part::Matching(_) => unreachable!("each part is a line"),
    };
    match (lines.len(), &run.termination) {
        (0, Termination::Crashed(_)) => refused(
            "--each-line: the recorded run prints nothing and crashes: without --each-line the crash is the failure"
                .into(),
        ),
        (0, _) => {
            refused("--each-line: the recorded run prints nothing: ask with --expect-exit or --check".into())
        }
        (1..=MOST_LINES, _) => Ok(lines.into_iter().map(|line| (name(&line), line)).collect()),
        (many, _) => refused(format!(
            "--each-line: the recorded run prints {many} lines, and {MOST_LINES} are the most: name those that matter with \
             --criterion"
        )),
    }
}

/// Builds the questions about a recorded run. A correct output tells which of several are about wrong output.
pub fn questions(
    criterion: &Criterion,
    parts: &[(String, Part)],
    run: &Run,
    recorded: Recorded<'_>,
) -> Result<Vec<NamedCriterion>, SessionError> {
    if parts.is_empty() {
        let oracle = criterion.clone().oracle(run).map_err(unmet)?.telling(run, recorded.program);
        let oracle = oracle.placed(recorded);
        return Ok(vec![NamedCriterion { name: None, oracle, is_wrong: false }]);
    }
    let question = |(name, part): &(String, Part)| {
        let reference = criterion.reference.clone();
        let criterion = Criterion { part: Some(part.clone()), reference, ..Criterion::default() };
        let oracle = criterion.oracle(run).map_err(|error| {
            SessionError::new(Cause::NotReproduced, format!("--criterion {name}: {error}"))
        })?;
        Ok(NamedCriterion { name: Some(name.clone()), is_wrong: oracle.is_about_wrong_output(), oracle })
    };
    parts.iter().map(question).collect()
}

/// The error that the recorded run does not show the failure.
fn unmet(error: OracleError) -> SessionError {
    let cause = match error {
        OracleError::LineMissing { .. } => Cause::OutputMissing,
        _ => Cause::NotReproduced,
    };
    SessionError::new(cause, error)
}

/// A description of the questions, for a list.
pub fn described(questions: &[NamedCriterion]) -> String {
    let names: Vec<&str> = questions.iter().filter_map(|question| question.name.as_deref()).collect();
    match (&names[..], questions) {
        ([], [only]) => only.oracle.describe(),
        _ => names.join(", "),
    }
}
