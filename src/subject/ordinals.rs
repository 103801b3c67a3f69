//! Count the executions of each line, so that each has a name: `11#3` is the third of line 11.
//!
//! As everywhere in reports, entries and epilogues of functions do not count.

use std::collections::HashMap;

use tracer::program::{FileId, Statement};
use tracer::trace::EventId;

use super::Recorded;

/// The ordinal numbers of executions: each counted among those of its line.
pub struct Ordinals<'a> {
    recorded: Recorded<'a>,
    /// The ordinal of each event; 0 for events that do not count.
    numbers: Vec<u32>,
    totals: HashMap<(FileId, u32), u32>,
    has_several_files: bool,
}

impl<'a> Ordinals<'a> {
    /// Counts the executions of each line in a recorded run.
    pub fn new(recorded: Recorded<'a>) -> Ordinals<'a> {
        let Recorded { program, trace } = recorded;
        let mut totals: HashMap<(FileId, u32), u32> = HashMap::new();
        let number = |event| {
            let leader = program.leader(trace.leader(event));
            if leader.kind.is_structural() {
                return 0;
            }
            let total = totals.entry((leader.statement.file, leader.statement.line)).or_default();
            *total += 1;
            *total
        };
        let numbers = trace.events().map(number).collect();
        let first = totals.keys().next().map(|&(file, _)| file);
        let has_several_files = totals.keys().any(|&(file, _)| Some(file) != first);
        Ordinals { recorded, numbers, totals, has_several_files }
    }

    /// The statement of an event.
    pub fn statement(&self, event: EventId) -> Statement {
        let Recorded { program, trace } = self.recorded;
        program.leader(trace.leader(event)).statement
    }

    /// The ordinal of an event among the executions of its line, from 1; `None` for entries and epilogues.
    pub fn number(&self, event: EventId) -> Option<u32> {
        Some(self.numbers[event.0 as usize]).filter(|&number| number > 0)
    }

    /// The number of executions of a line.
    pub fn total(&self, file: FileId, line: u32) -> u32 {
        self.totals.get(&(file, line)).copied().unwrap_or(0)
    }

    /// The executions of a line, in order.
    pub fn of_line(&self, file: FileId, line: u32) -> Vec<EventId> {
        let is_meant = |event: &EventId| {
            let statement = self.statement(*event);
            (statement.file, statement.line) == (file, line) && self.number(*event).is_some()
        };
        self.recorded.trace.events().filter(is_meant).collect()
    }

    /// The executed lines of a file, ascending.
    pub fn lines(&self, file: FileId) -> Vec<u32> {
        let mut lines: Vec<u32> =
            self.totals.keys().filter(|(of, _)| *of == file).map(|&(_, line)| line).collect();
        lines.sort_unstable();
        lines
    }

    /// The name of an execution: `11#3`, with the file if there are several.
    pub fn name(&self, event: EventId) -> String {
        let Statement { file, line, .. } = self.statement(event);
        let place = match self.has_several_files {
            true => format!("{}:{line}", self.recorded.program.file(file).shown),
            false => line.to_string(),
        };
        match self.number(event) {
            Some(number) => format!("{place}#{number}"),
            None => format!("{place}, event {}", event.time()),
        }
    }
}
