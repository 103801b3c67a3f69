//! List the ranked lines of a located fault, each with one sentence, for reports to other tools.

use tracer::program::File;

use super::located::experiment;
use super::located_json::why;
use crate::locate::LineRank;
use crate::session::located::Located;
use crate::subject::Recorded;

/// A line of the ranking.
pub(super) struct RankedLine<'r> {
    pub(super) rank: usize,
    /// The number of lines that share the rank.
    pub(super) ties: usize,
    pub(super) file: &'r File,
    /// The line number, from 1.
    pub(super) line: u32,
    pub(super) function: &'r str,
    /// The reason for its rank, in a few words.
    pub(super) why: &'static str,
    /// Its best change with the effect, or the reason for its rank.
    pub(super) remark: String,
}

/// The first lines of the ranking, at most `most`.
pub(super) fn ranked<'r>(recorded: Recorded<'r>, found: &Located, most: usize) -> Vec<RankedLine<'r>> {
    let lines = found.ranking.lines.iter().take(most);
    let ranked = |line: &LineRank| {
        let LineRank { rank, ties, line: number, last, ref repairs, .. } = *line;
        let best = repairs.first().map(|&best| experiment(recorded, found, best, line));
        RankedLine {
            rank,
            ties,
            file: recorded.program.file(line.file),
            line: number,
            function: &recorded.program.function_of(recorded.trace.leader(last)).name,
            why: why(line.reason),
            remark: best.unwrap_or_else(|| why(line.reason).to_owned()),
        }
    };
    lines.map(ranked).collect()
}
