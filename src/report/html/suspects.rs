//! List, for the page, the lines that only criteria about wrong output need.

use serde::Serialize;

use crate::subject::Recorded;

use super::super::comparison::{Compared, suspects};
use super::super::source::Sources;

/// The lines that are needed for what is wrong and for nothing that is right, by file and line; `None` unless some
/// criteria are about wrong output and others are not.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub struct WrongOnly(Option<Vec<Line>>);

/// A line of the source.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct Line {
    file: String,
    line: u32,
    text: String,
}

impl WrongOnly {
    /// Compares what the criteria need.
    pub fn of(recorded: Recorded<'_>, all: &[Compared<'_>]) -> WrongOnly {
        let mut sources = Sources::new(recorded.program);
        let mut line = |(file, line)| Line {
            file: recorded.program.file(file).shown.clone(),
            line,
            text: sources.line(file, line).unwrap_or_default().trim().to_owned(),
        };
        WrongOnly(suspects(recorded, all).map(|places| {
            let mut lines: Vec<Line> = places.into_iter().map(&mut line).collect();
            lines.sort();
            lines
        }))
    }
}
