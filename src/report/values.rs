//! List the values that the needed executions read and wrote.

use tracer::observation::Observation;
use tracer::trace::EventId;

use crate::slice::CriticalSlice;
use crate::subject::Recorded;

use super::happening;
use super::source::{Sources, printable};
use super::style::{Style, length};

/// The largest number of executions that are listed in a text.
const MOST: usize = 200;

/// Lists the executions of a slice with their values; empty if these were not observed.
pub(super) fn section(recorded: Recorded<'_>, slice: &CriticalSlice, style: Style) -> String {
    let Some(values) = &slice.values else { return String::new() };
    let mut teller = ValueWriter::new(recorded, values, style);
    let told = slice.told().filter_map(|event| {
        let text = teller.told(event).filter(|text| !text.is_empty())?;
        Some((teller.name(event), text))
    });
    let told: Vec<(String, String)> = told.collect();
    if told.is_empty() {
        return String::new();
    }
    let column = told.iter().take(MOST).map(|(name, _)| length(name)).max().unwrap_or(0);
    let mut section = String::from(match slice.crashed_at {
        Some(_) => "What the last execution did before the crash, by line and time:\n",
        None => "What they did, by line and time:\n",
    });
    for (name, text) in told.iter().take(MOST) {
        let room = style.width.saturating_sub(column + 4);
        section.push_str(&format!("  {name:<column$}  {}\n", style.cut(&printable(text), room)));
    }
    if told.len() > MOST {
        section.push_str(&format!("  and {} more: --format json has all of them\n", told.len() - MOST));
    }
    section + "\n"
}

/// Lists them for one of several criteria.
pub fn of_criterion(recorded: Recorded<'_>, slice: &CriticalSlice, name: &str, style: Style) -> String {
    match section(recorded, slice, style) {
        empty if empty.is_empty() => empty,
        section => format!("\n{name}:\n{}\n", section.trim_end()),
    }
}

/// Describes what events did with values.
pub(super) struct ValueWriter<'a> {
    recorded: Recorded<'a>,
    values: &'a Observation,
    sources: Sources<'a>,
    style: Style,
}

impl<'a> ValueWriter<'a> {
    pub(super) fn new(recorded: Recorded<'a>, values: &'a Observation, style: Style) -> ValueWriter<'a> {
        ValueWriter { recorded, values, sources: Sources::new(recorded.program), style }
    }

    /// A description of what an event did with values; `None` if it was not observed.
    pub(super) fn told(&mut self, event: EventId) -> Option<String> {
        let seen = self.values.seen.get(&event)?;
        let Recorded { program, trace } = self.recorded;
        let statement = program.leader(trace.leader(event)).statement;
        let line = self.sources.line(statement.file, statement.line).unwrap_or_default();
        Some(happening::told(seen, line, self.style))
    }

    /// The paper's name of an event: line and time.
    fn name(&self, event: EventId) -> String {
        let Recorded { program, trace } = self.recorded;
        format!("{}_{}", program.leader(trace.leader(event)).statement.line, event.time())
    }
}
