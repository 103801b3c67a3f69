//! Compute the time and place of the events of a trace, one after the other.

use std::collections::HashMap;

use tracer::program::Statement;
use tracer::trace::EventId;

use crate::subject::Recorded;

use super::schema::Place;
use super::spelling;

/// Counts the executions of each statement seen so far.
pub(super) struct Places<'a> {
    recorded: Recorded<'a>,
    occurrences: HashMap<(Statement, &'static str), u32>,
}

impl<'a> Places<'a> {
    pub(super) fn new(recorded: Recorded<'a>) -> Places<'a> {
        Places { recorded, occurrences: HashMap::new() }
    }

    /// The place of an event. To be asked of all events in order.
    pub(super) fn next(&mut self, event: EventId) -> Place<'a> {
        let program = self.recorded.program;
        let leader = program.leader(self.recorded.trace.leader(event));
        let statement = leader.statement;
        let occurrence = self.occurrences.entry((statement, spelling::kind(leader.kind))).or_default();
        *occurrence += 1;
        Place {
            event: event.time(),
            file: &program.file(statement.file).shown,
            line: statement.line,
            column: statement.column,
            function: &program.function(leader.function).name,
            occurrence: *occurrence,
            time: event.time(),
        }
    }
}
