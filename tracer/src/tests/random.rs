//! Random runs for tests: they call, return and jump as it happens to.

use crate::program::Program;
use crate::program::sketch::{Outline, leader, program};
use crate::trace::{Trace, TraceBuilder};

/// A generator of pseudo-random numbers that are the same in each run: xorshift.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// A number from 0 to `limit`, itself not included.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

pub(super) const NAMES: [&str; 3] = ["main", "f", "g"];
pub(crate) const LINES: [u32; 6] = [2, 3, 4, 5, 6, 7];

/// A program of three functions.
pub(crate) fn subject() -> Program {
    program(&NAMES.map(|name| Outline { name, lines: &LINES, decisions: &[] }))
}

/// A run that calls, returns and jumps out of calls as it happens to.
pub(crate) fn random_trace(program: &Program, seed: u64, events: usize) -> Trace {
    let mut numbers = Numbers(seed + 1);
    let mut builder = TraceBuilder::default();
    let mut open: Vec<(&str, u64)> = Vec::new();
    while builder.len() < events {
        let top = open.last().copied();
        let (name, line, sp) = match (top, numbers.below(8)) {
            (None, _) | (_, 0) => {
                let name = NAMES[numbers.below(3) as usize];
                let sp = top.map_or(1 << 40, |(_, sp)| sp - 16 - 8 * numbers.below(3));
                open.push((name, sp));
                (name, 1, sp)
            }
            (Some((name, sp)), 1) => {
                open.pop();
                (name, 99, sp - 8)
            }
            (Some(_), 2) => {
                open.truncate(1 + numbers.below(open.len() as u64) as usize);
                let (name, sp) = open[open.len() - 1];
                (name, 2, sp - 8)
            }
            (Some((name, sp)), _) => (name, LINES[numbers.below(6) as usize], sp - 8),
        };
        let arrived = builder.arrive(program, leader(program, name, line), sp).expect("a sound run");
        // The same entry twice in a row opens one call.
        if arrived.is_none() && line == 1 {
            open.pop();
        }
    }
    builder.finish()
}
