//! Record the statements that a run executes, and its end.

use std::collections::BTreeSet;

use tracer::invocation::Limits;
use tracer::program::{Program, Statement};
use tracer::run::Run;
use tracer::{Preference, Tracer};

use super::error::{Cause, SessionError};
use super::interrupt::Interrupt;
use crate::baseline::{Ending, limits_like};
use crate::oracle::termination;
use crate::subject::{Recorded, Target, executed};

/// The coverage of a run.
pub struct Covered {
    /// The run, as seen from outside.
    pub run: Run,
    /// Its end, in words.
    pub ended: String,
    /// The statements that it has executed.
    pub statements: BTreeSet<Statement>,
    /// The number of events.
    pub events: usize,
    /// True if the run did not end.
    pub endless: bool,
    /// The limits of a run like it.
    pub limits: Limits,
}

/// Records one run. A run that is expected never to end may end nevertheless.
///
/// # Errors
/// If it cannot be recorded.
pub fn cover(target: &Target, ending: Ending, interrupt: &Interrupt) -> Result<Covered, SessionError> {
    let mut tracer = Tracer::new(&target.program, &target.invocation, Preference::Auto)?;
    let recording = match ending {
        Ending::Itself => tracer.record(&target.conditions),
        Ending::Never => tracer.record_endless(&target.conditions),
    };
    let recording = recording.map_err(|error| interrupt.or(SessionError::new(Cause::Failed, error)))?;
    let recorded = Recorded { program: &target.program, trace: &recording.trace };
    Ok(Covered {
        ended: termination(&recording.run.termination, recorded),
        statements: executed(recorded),
        events: recording.trace.len(),
        endless: recording.trace.endless().is_some(),
        limits: limits_like(&recording),
        run: recording.run,
    })
}

/// The coverable statements of a program, in the order of the source, each with its function.
pub fn coverable(program: &Program) -> Vec<(Statement, String)> {
    let leaders = program.leaders().iter().filter(|leader| !leader.kind.is_structural());
    let named = leaders.map(|leader| (leader.statement, program.function(leader.function).name.clone()));
    let mut statements: Vec<(Statement, String)> = named.collect();
    statements.sort();
    statements.dedup_by_key(|(statement, _)| *statement);
    statements
}
