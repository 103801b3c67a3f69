//! Tell what becomes of changed lines in a critical slice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tracer::program::{FileId, Program};

use crate::slice::CriticalSlice;
use crate::subject::Recorded;

use super::executions::{self, Mark};
use super::markers;
use super::source::{Sources, printable};
use super::style::Style;
use super::words::count;

/// So many lines are told.
const MOST_LINES: usize = 40;

/// The lines that changes have brought into the files below `root`, each with its executions in the slice: those that
/// are needed lead from the change to the failure.
pub fn changed_lines(
    recorded: Recorded<'_>,
    slice: &CriticalSlice,
    (lines, root): (&BTreeMap<PathBuf, Vec<usize>>, &Path),
    style: Style,
) -> String {
    let counted = executions::count(recorded, slice);
    let mut sources = Sources::new(recorded.program);
    let mut told = String::from("The lines that the changes have brought, in this slice:\n");
    let all: Vec<(&PathBuf, usize)> =
        lines.iter().flat_map(|(path, lines)| lines.iter().map(move |line| (path, *line))).collect();
    for (path, line) in all.iter().take(MOST_LINES) {
        let file = file(recorded.program, &root.join(path));
        let number = u32::try_from(*line).unwrap_or(u32::MAX);
        let found = file.and_then(|file| counted.get(&(file, number)));
        let (sign, what) = match found.map(|executions| (executions.executed(), executions.needed())) {
            None | Some((0, _)) => (' ', "not executed".to_owned()),
            Some((executed, 0)) => {
                (markers::glyph(Mark::Unneeded, style), count(executed, "execution") + ", not needed")
            }
            Some((executed, needed)) => (
                markers::glyph(Mark::Effect, style),
                format!("{needed} of {} needed", count(executed, "execution")),
            ),
        };
        let text = file.and_then(|file| sources.line(file, number)).unwrap_or_default();
        let text = printable(text.trim());
        let place = printable(&format!("{}:{line}", path.display()));
        told +=
            &format!("{}\n", style.cut(format!("  {sign} {place}  {what}  {text}").trim_end(), style.width));
    }
    if all.len() > MOST_LINES {
        told += &format!("  {} {} more lines\n", style.ellipsis(), all.len() - MOST_LINES);
    }
    told
}

/// The source file of this path.
fn file(program: &Program, path: &Path) -> Option<FileId> {
    (0..)
        .zip(program.files())
        .find(|(_, file)| file.path.components().eq(path.components()))
        .map(|(number, _)| FileId(number))
}
