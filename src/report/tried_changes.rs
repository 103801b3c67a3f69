//! Tell which changes of a failing run were tried at a place, whatever came of them.

use std::collections::BTreeSet;

use tracer::trace::EventId;

use super::located::{experiment, head};
use super::source::Sources;
use super::style::{Style, wrap_behind};
use crate::locate::Granule;
use crate::session::located::Located;
use crate::subject::Recorded;

/// All changes of the lines of these executions, or of these executions alone, with the effect of each.
pub fn tried_at(
    recorded: Recorded<'_>,
    found: &Located,
    events: &[EventId],
    is_single: bool,
    style: Style,
) -> String {
    let place = |event: EventId| recorded.program.leader(recorded.trace.leader(event)).statement;
    let lines: BTreeSet<_> = events.iter().map(|&event| (place(event).file, place(event).line)).collect();
    let mut text = String::new();
    for line in found.ranking.lines.iter().filter(|line| lines.contains(&(line.file, line.line))) {
        text += &head(recorded, line, &mut Sources::new(recorded.program), style);
        let mut tried: Vec<usize> = (0..found.candidates.len())
            .filter(|&number| {
                let candidate = &found.candidates[number];
                let statement = candidate.statement(recorded);
                let is_meant = match candidate.granule {
                    Granule::Execution(_, event) => !is_single || events.contains(&event),
                    Granule::Statement => events.iter().any(|&event| place(event) == statement),
                };
                (statement.file, statement.line) == (line.file, line.line) && is_meant
            })
            .collect();
        tried.sort_by_key(|&number| found.effects[number].map(|effect| effect.kind));
        // What was not tried is told last.
        tried.sort_by_key(|&number| found.effects[number].is_none());
        for number in tried {
            let told = experiment(recorded, found, number, line);
            text += &format!("{}\n", wrap_behind("       ", &told, style.width));
        }
    }
    text
}
