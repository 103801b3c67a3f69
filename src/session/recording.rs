//! Record the run that is asked about, and check that it shows the failure.

use std::time::Duration;

use tracer::invocation::Limits;
use tracer::{Processors, Tracer};

use super::case::{Subject, method};
use super::error::{Cause, SessionError};
use super::interrupt::Interrupt;
use super::questions::{NamedCriterion, parts, questions};
use super::request::Request;
use crate::baseline::{Baseline, Demands, Ending, PoisonChoice, not_reproduced};
use crate::oracle::{Criterion, Oracle, Part};
use crate::slice::RunMethod;
use crate::subject::{Recorded, Target};
use dd::Outcome;

/// A recorded run with the questions about it.
pub struct Recording<'r> {
    /// The request.
    pub request: &'r Request,
    /// The recorded run.
    pub baseline: Baseline,
    /// The criterion, with what was found out about it.
    pub criterion: Criterion,
    /// The parts of the output that are asked about, with names.
    pub parts: Vec<(String, Part)>,
    /// The questions.
    pub questions: Vec<NamedCriterion>,
    /// The run method of the recording.
    method: RunMethod,
}

impl<'r> Recording<'r> {
    /// Records the run.
    ///
    /// # Errors
    /// If that is not possible, or if the run does not show the failure.
    pub fn make(
        request: &'r Request,
        tracer: &mut Tracer<'r>,
        interrupt: &Interrupt,
    ) -> Result<Recording<'r>, SessionError> {
        let target = &request.target;
        let baseline = establish(target, tracer, &demands(request.poison, &request.criterion), interrupt)?;
        let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
        let mut criterion = request.criterion.clone();
        criterion.locate(recorded);
        let run = &baseline.recording.run;
        let parts = parts(&request.several, run)?;
        let questions = questions(&criterion, &parts, run, recorded)?;
        for question in &questions {
            require_failure(&question.oracle, &baseline, recorded).map_err(|error| interrupt.or(error))?;
        }
        Ok(Recording { request, criterion, parts, questions, method: method(tracer), baseline })
    }

    /// The program with its recorded run.
    pub fn recorded(&self) -> Recorded<'_> {
        Recorded { program: &self.request.target.program, trace: &self.baseline.recording.trace }
    }

    /// The criterion of this name; the only one if no criterion has a name.
    pub fn criterion_of(&self, name: &str) -> Criterion {
        match self.parts.iter().find(|(known, _)| known == name) {
            Some((_, part)) => Criterion { part: Some(part.clone()), ..Criterion::default() },
            None => self.criterion.clone(),
        }
    }

    /// The recorded run, with the plan of its search.
    pub fn subject(&self) -> Subject<'_> {
        let Request { target, plan, timeout, .. } = self.request;
        let limits = limits(&self.baseline, *timeout);
        Subject { target, baseline: &self.baseline, method: &self.method, plan: *plan, limits }
    }
}

/// Creates a tracer for each worker.
///
/// # Errors
/// If the system refuses what they need.
pub fn tracers<'p>(
    target: &'p Target,
    preference: tracer::Preference,
    jobs: Option<u16>,
    processors: &Processors,
) -> Result<Vec<Tracer<'p>>, SessionError> {
    let jobs = jobs.map_or(processors.count(), usize::from);
    let tracers = (0..jobs).map(|_| Tracer::new(&target.program, &target.invocation, preference));
    Ok(tracers.collect::<Result<_, _>>()?)
}

/// The end of the run that the criterion expects.
pub fn ending(criterion: &Criterion) -> Ending {
    match criterion.endless {
        Some(_) => Ending::Never,
        None => Ending::Itself,
    }
}

/// The demands: what recordings must agree in.
pub fn demands(poison: PoisonChoice, criterion: &Criterion) -> Demands {
    let (only_lines, inner) = (criterion.only_lines.clone(), criterion.inner.clone());
    Demands { poison, only_lines, ending: ending(criterion), inner }
}

/// Records the run.
///
/// # Errors
/// If that is not possible, or must not be reduced.
pub fn establish(
    target: &Target,
    tracer: &mut Tracer<'_>,
    demands: &Demands,
    interrupt: &Interrupt,
) -> Result<Baseline, SessionError> {
    let established = Baseline::establish(&target.program, tracer, &target.conditions, demands);
    established.map_err(|error| interrupt.or(error))
}

fn require_failure(oracle: &Oracle, baseline: &Baseline, recorded: Recorded<'_>) -> Result<(), SessionError> {
    let run = &baseline.recording.run;
    let evidence = oracle.judge(run, recorded)?;
    match evidence.outcome {
        Outcome::Fail => Ok(()),
        _ => {
            let hint = oracle.hint(run).map_or_else(String::new, |hint| format!(" ({hint})"));
            let why = evidence.why + &hint;
            let message = not_reproduced(&why, oracle.unmet_text(run), recorded, run);
            Err(SessionError::new(Cause::NotReproduced, message))
        }
    }
}

/// The limits of a replay.
pub fn limits(baseline: &Baseline, timeout: Option<Duration>) -> Limits {
    let limits = baseline.limits();
    match timeout.filter(|_| baseline.recording.trace.endless().is_none()) {
        Some(timeout) => Limits { cpu: timeout, wall: timeout, idle: timeout, ..limits },
        None => limits,
    }
}
