//! Find the events of the signs that the page shows.

use std::collections::{HashMap, HashSet};

use tracer::program::FileId;

use crate::subject::Recorded;

use super::super::executions::{self, Executions, Lines, Mark};
use super::data::RowDocument;

/// The number of runs of a folded line that are shown.
const MOST_RUNS: usize = 40;

/// The events that are shown, by line: all of a dotted line, the first of each run of a folded one.
pub(super) struct Shown(HashMap<(FileId, u32), Vec<u32>>);

impl Shown {
    /// Finds the events. `dotted` are the lines whose executions are all shown.
    pub(super) fn new(recorded: Recorded<'_>, lines: &Lines, dotted: &HashSet<(FileId, u32)>) -> Shown {
        let Recorded { program, trace } = recorded;
        let mut wanted: HashMap<(FileId, u32), Wanted> = HashMap::new();
        let mut shown: HashMap<(FileId, u32), Vec<u32>> = HashMap::new();
        for event in trace.events() {
            let leader = program.leader(trace.leader(event));
            let line = (leader.statement.file, leader.statement.line);
            if leader.kind.is_structural() {
                continue;
            }
            let wanted =
                wanted.entry(line).or_insert_with(|| Wanted::new(&lines[&line], dotted.contains(&line)));
            if wanted.takes_next() {
                shown.entry(line).or_default().push(event.time());
            }
        }
        Shown(shown)
    }

    /// Fills in the events of a row.
    pub(super) fn fill(&self, file: FileId, row: &mut RowDocument) {
        if let Some(events) = row.number.and_then(|number| self.0.get(&(file, number))) {
            row.events.clone_from(events);
        }
    }
}

/// The executions of a line that are shown.
struct Wanted {
    next: u64,
    /// The first executions of runs; `None` for all executions.
    firsts: Option<std::vec::IntoIter<u64>>,
    first: Option<u64>,
}

impl Wanted {
    fn new(executions: &Executions, is_dotted: bool) -> Wanted {
        let firsts: Vec<u64> = runs(executions).into_iter().map(|(_, first, _)| first).collect();
        let mut firsts = firsts.into_iter();
        let first = firsts.next();
        Wanted { next: 1, firsts: (!is_dotted).then_some(firsts), first }
    }

    /// True if the next execution is shown.
    fn takes_next(&mut self) -> bool {
        let number = self.next;
        self.next += 1;
        let Some(firsts) = &mut self.firsts else { return true };
        let takes = self.first == Some(number);
        if takes {
            self.first = firsts.next();
        }
        takes
    }
}

/// The first runs: letter, first and last execution.
pub(super) fn runs(executions: &Executions) -> Vec<(char, u64, u64)> {
    let mut first = 1;
    let run = |run: &executions::Run| {
        let ends = (letter(run.mark), first, first + run.count - 1);
        first += run.count;
        ends
    };
    executions.runs().iter().take(MOST_RUNS).map(run).collect()
}

pub(super) fn letter(mark: Mark) -> char {
    match mark {
        Mark::Effect => 'e',
        Mark::Decision => 'd',
        Mark::Unneeded => 'u',
        Mark::Fixed => 'f',
        Mark::Inferred => 'i',
        Mark::Hole => 'h',
    }
}
