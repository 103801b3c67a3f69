//! Make the questions of a run: one criterion, or several that share the recording.

use tracer::run::Run;

use super::exit::{Exit, Failure};
use super::options::SeveralOptions;
use crate::oracle::{Criterion, Oracle, Part};
use crate::slice::Recorded;

/// As many lines of an output are asked about one by one.
const MOST_LINES: usize = 100;

/// A criterion, with its name if there are several.
pub(super) struct Inquiry {
    pub(super) name: Option<String>,
    pub(super) oracle: Oracle,
    /// Whether it is known to be about wrong output.
    pub(super) is_wrong: bool,
}

/// The parts of the output that the user asks about, with names; none if there is a single criterion.
pub(super) fn parts(options: &SeveralOptions, output: &[u8]) -> Result<Vec<(String, Part)>, Failure> {
    let named = options.criterion.iter().map(|(name, regex)| (name.clone(), Part::Matching(regex.clone())));
    let parts: Vec<(String, Part)> = if options.each_line { each_line(output)? } else { named.collect() };
    for (number, (name, _)) in parts.iter().enumerate() {
        if parts[..number].iter().any(|(other, _)| other == name) {
            let message = format!("--criterion: the name {name} is given twice: give each its own");
            return Err(Failure::new(Exit::Usage, message));
        }
    }
    Ok(parts)
}

fn each_line(output: &[u8]) -> Result<Vec<(String, Part)>, Failure> {
    let lines = Part::each_line(output);
    let refused = |message: String| Err(Failure::new(Exit::NotReproduced, message));
    match lines.len() {
        0 => {
            refused("--each-line: the recorded run prints nothing: ask with --expect-exit or --check".into())
        }
        1..=MOST_LINES => {
            Ok(lines.into_iter().enumerate().map(|(at, line)| (format!("line{}", at + 1), line)).collect())
        }
        many => refused(format!(
            "--each-line: the recorded run prints {many} different lines, and {MOST_LINES} are the most: name those that \
             matter with --criterion"
        )),
    }
}

/// The questions about a recorded run. A correct output tells which of several are about wrong output.
pub(super) fn questions(
    criterion: &Criterion,
    parts: &[(String, Part)],
    run: &Run,
    recorded: Recorded<'_>,
) -> Result<Vec<Inquiry>, Failure> {
    let unmet = Failure::of(Exit::NotReproduced);
    if parts.is_empty() {
        let oracle = criterion.clone().oracle(run).map_err(unmet)?.telling(run, recorded.program);
        return Ok(vec![Inquiry { name: None, oracle, is_wrong: false }]);
    }
    let question = |(name, part): &(String, Part)| {
        let criterion = Criterion { part: Some(part.clone()), ..Criterion::default() };
        let oracle = criterion
            .oracle(run)
            .map_err(|error| Failure::new(Exit::NotReproduced, format!("--criterion {name}: {error}")))?;
        Ok(Inquiry { name: Some(name.clone()), oracle, is_wrong: false })
    };
    let mut questions = parts.iter().map(question).collect::<Result<Vec<Inquiry>, Failure>>()?;
    if let Some(correct) = &criterion.reference {
        for question in &mut questions {
            question.is_wrong = !question.oracle.accepts(correct, recorded);
        }
    }
    Ok(questions)
}

/// The questions in words, for a list.
pub(super) fn described(questions: &[Inquiry]) -> String {
    let names: Vec<&str> = questions.iter().filter_map(|question| question.name.as_deref()).collect();
    match (&names[..], questions) {
        ([], [only]) => only.oracle.describe(),
        _ => names.join(", "),
    }
}
