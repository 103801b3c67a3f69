//! Tell whether a run with less input comes to the failure by the same statements.
//!
//! This guards against another failure that only looks like the wanted one. The set of executed statements counts, not
//! how often each is: loops through less input have fewer rounds.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tracer::invocation::Replacement;
use tracer::invocation::{Invocation, Limits};
use tracer::poison::Poison;
use tracer::program::{Program, Statement};
use tracer::{Conditions, Preference, RecordError, Tracer};

use crate::subject::{Recorded, executed};

/// The largest size of a recorded trace, in bytes.
const LONGEST_TRACE: u64 = 1 << 30;

/// A recorded run takes so many times as long as one that is not recorded, at most.
const SLOWER: u32 = 200;

/// The statements that have led to the failure.
pub struct KeptPath<'a> {
    program: &'a Program,
    statements: BTreeSet<Statement>,
}

impl<'a> KeptPath<'a> {
    /// Records the run with all that is given.
    ///
    /// # Errors
    /// If it cannot be recorded.
    pub fn of(
        program: &'a Program,
        (invocation, files): (&Invocation, &[Replacement]),
        limits: &Limits,
        stop: &Arc<AtomicBool>,
    ) -> Result<KeptPath<'a>, RecordError> {
        let statements = recorded(program, (invocation, files), limits, stop)?;
        Ok(KeptPath { program, statements })
    }

    /// The reason why a run with this input comes to the failure in another way; `None` if it does not.
    pub(super) fn departure(
        &self,
        given: (&Invocation, &[Replacement]),
        limits: &Limits,
        stop: &Arc<AtomicBool>,
    ) -> Option<String> {
        let statements = match recorded(self.program, given, limits, stop) {
            Ok(statements) => statements,
            Err(error) => {
                return Some(format!("the failure is there, but its run cannot be recorded: {error}"));
            }
        };
        let missing = self.statements.difference(&statements).count();
        let further = statements.difference(&self.statements).count();
        (missing + further > 0).then(|| {
            format!(
                "the failure is there, but by other statements: {missing} are not executed any more, and {further} are \
                 executed that were not"
            )
        })
    }
}

/// The statements that a run with this input executes.
fn recorded(
    program: &Program,
    (invocation, files): (&Invocation, &[Replacement]),
    limits: &Limits,
    stop: &Arc<AtomicBool>,
) -> Result<BTreeSet<Statement>, RecordError> {
    let conditions = Conditions {
        poison: Poison::Off,
        untouched: Default::default(),
        limits: Limits { trace: LONGEST_TRACE, ..limits.with_time(SLOWER) },
        stop: Arc::clone(stop),
        asked: None,
    };
    let mut tracer = Tracer::new(program, invocation, Preference::Auto)?.with_files(files);
    let recording = tracer.record(&conditions)?;
    Ok(executed(Recorded { program, trace: &recording.trace }))
}
