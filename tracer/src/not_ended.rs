//! The account of what a program was doing when its recording had to be ended.
//!
//! The lines that were executed last, as far back as there are no others: in an endless loop these are its
//! lines, and how often each was executed says how long it has gone round. Pure: reads a trace.

use std::collections::BTreeMap;
use std::fmt;

use crate::program::{LeaderId, Program};
use crate::termination::Cut;
use crate::trace::Trace;

/// The largest number of lines that are named.
const MOST_LINES: usize = 6;

/// The number of last statements that are looked at in any case; more are as long as they are on the same lines.
const LEAST_LAST: usize = 10_000;
const MOST_LAST: usize = 100_000_000;

/// An account of a run that had not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotEnded {
    /// The reason why the run was ended.
    pub cut: Cut,
    /// The number of statements that were executed.
    pub statements: usize,
    /// The number of the last of them that these lines are about.
    pub last: usize,
    /// The lines with the number of executions of each among them, the most frequent first.
    pub lines: Vec<(String, usize)>,
    /// The number of further lines that were executed among them.
    pub others: usize,
}

impl NotEnded {
    /// An account of the run of `program` that was ended for this reason.
    pub(crate) fn new(program: &Program, trace: &Trace, cut: Cut) -> NotEnded {
        let line = |leader: LeaderId| {
            let statement = program.leader(leader).statement;
            (statement.file.0, statement.line)
        };
        let mut lines: BTreeMap<(u32, u32), (LeaderId, usize)> = BTreeMap::new();
        let mut executed: Vec<usize> = vec![0; program.leaders().len()];
        let mut last = 0;
        for leader in trace.events().rev().take(MOST_LAST).map(|event| trace.leader(event)) {
            if executed[leader.0 as usize] == 0 {
                let is_further = !lines.contains_key(&line(leader));
                if is_further && last >= LEAST_LAST {
                    break;
                }
                lines.entry(line(leader)).or_insert((leader, 0));
            }
            executed[leader.0 as usize] += 1;
            last += 1;
        }
        for (leader, times) in (0..).map(LeaderId).zip(executed).filter(|&(_, times)| times > 0) {
            lines.entry(line(leader)).and_modify(|(_, sum)| *sum += times);
        }
        let mut lines: Vec<(String, usize)> =
            lines.into_values().map(|(leader, times)| (program.place(leader).to_string(), times)).collect();
        lines.sort_by_key(|&(_, times)| std::cmp::Reverse(times));
        let others = lines.len().saturating_sub(MOST_LINES);
        lines.truncate(MOST_LINES);
        NotEnded { cut, statements: trace.len(), last, lines, others }
    }
}

/// Writes what the program was doing, as the end of a sentence about it.
impl fmt::Display for NotEnded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotEnded { statements, last, lines, others, .. } = self;
        let named: Vec<String> =
            lines.iter().map(|(line, times)| format!("{line} ({})", count(*times, "time"))).collect();
        write!(
            f,
            "it was still going after {}; the last {last} of them are ",
            count(*statements, "statement")
        )?;
        f.write_str(&named.join(", "))?;
        if *others > 0 {
            write!(f, " and {}", count(*others, "other line"))?;
        }
        Ok(())
    }
}

fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}
