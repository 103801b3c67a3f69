//! Gather the needed events by statement, for tools that show one remark at a place of the source.

use std::collections::HashSet;

use tracer::program::FileId;

use crate::slice::CriticalSlice;
use crate::subject::Recorded;

use super::executions::{self, Executions};
use super::folding;
use super::words;

/// A statement with needed executions.
pub(super) struct NeededStatement {
    pub(super) file: FileId,
    pub(super) line: u32,
    /// The column, from 1; 0 where the compiler gives none, or where lines are the statements.
    pub(super) column: u32,
    /// A remark: which of its executions are needed, and what was seen without the first of them.
    pub(super) remark: String,
}

/// The statements in the order in which their first needed executions happened.
pub(super) fn find(recorded: Recorded<'_>, slice: &CriticalSlice) -> Vec<NeededStatement> {
    let executions = executions::by_statement(recorded, slice);
    let mut seen = HashSet::new();
    let mut spots = Vec::new();
    for needed in &slice.needed {
        let statement = recorded.program.leader(recorded.trace.leader(needed.event)).statement;
        if statement.line == 0 || !seen.insert(statement) {
            continue;
        }
        let without = needed.without.as_ref().map(|seen| {
            format!(". Without event {}: {}: {}", needed.event.time(), words::outcome(seen.outcome), seen.why)
        });
        let remark = summary(&executions[&statement]) + &without.unwrap_or_default();
        spots.push(NeededStatement {
            file: statement.file,
            line: statement.line,
            column: statement.column,
            remark,
        });
    }
    spots
}

fn summary(executions: &Executions) -> String {
    let (needed, executed) = (executions.needed(), executions.executed());
    match (needed, executed) {
        (1, 1) => "needed".to_owned(),
        _ if needed == executed => format!("needed in all of its {executed} executions"),
        _ => format!("needed in {needed} of its {executed} executions ({})", folding::list(executions)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

    #[test]
    fn a_statement_has_one_remark_about_all_of_its_executions() {
        let sample = Sample::sum_mul();
        let effects = [sample.omittable(6), sample.omittable(11)[1..].to_vec()].concat();
        let spots = find(sample.recorded(), &sample.slice(&effects, &sample.omittable(10)));
        let told: Vec<(u32, &str)> = spots.iter().map(|spot| (spot.line, spot.remark.as_str())).collect();
        let expected = [
            (6, "needed. Without event 2: not reproduced: no output"),
            (10, "needed in all of its 7 executions. Without event 8: not reproduced: no output"),
            (
                11,
                "needed in 5 of its 6 executions (1: not; 2 to 6: needed). Without event 13: not \
                 reproduced: no output",
            ),
        ];
        assert_eq!(told, expected);
    }
}
