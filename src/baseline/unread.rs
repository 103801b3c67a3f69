//! Find the undefined memory that the recorded run does not read, by replays in which only a part is filled.
//!
//! Each part of undefined memory is the frames of a function, or the heap. Parts are added to those
//! that are filled in halves, and halves of these, as long as the full replay stays the same under every
//! pattern: what is filled in the end has been tried together.

use std::collections::BTreeSet;

use tracer::Untouched;
use tracer::program::{FunctionId, LeaderKind, Program};
use tracer::trace::Trace;

/// The largest number of trials, each with all patterns; what was not tried stays as it is.
const MOST_TRIALS: u32 = 64;
/// The largest number of functions that are named.
const MOST_NAMES: usize = 5;

/// A part of undefined memory, which is filled or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MemoryPart {
    /// The allocated memory.
    Heap,
    /// The fresh frames of a function.
    Frames(FunctionId),
}

/// The result: the undefined memory of a run, divided into filled and untouched.
pub(super) struct Unread {
    /// The memory that is not filled.
    pub(super) untouched: Untouched,
    /// True if any memory is filled.
    pub(super) is_anything: bool,
    /// The untouched memory in words, as a part of a sentence.
    pub(super) words: String,
}

/// The parts of the undefined memory of a run.
pub(super) fn parts(program: &Program, trace: &Trace) -> Vec<MemoryPart> {
    let leaders = trace.events().map(|event| program.leader(trace.leader(event)));
    let entered = leaders.filter(|leader| leader.kind == LeaderKind::Entry).map(|leader| leader.function);
    let functions: BTreeSet<FunctionId> = entered.collect();
    std::iter::once(MemoryPart::Heap).chain(functions.into_iter().map(MemoryPart::Frames)).collect()
}

/// The untouched memory: all parts but those that are filled.
pub(super) fn untouched(all: &[MemoryPart], filled: &[MemoryPart]) -> Untouched {
    let mut untouched = Untouched::default();
    for part in all.iter().filter(|part| !filled.contains(part)) {
        match part {
            MemoryPart::Heap => untouched.heap = true,
            MemoryPart::Frames(function) => {
                untouched.frames.insert(*function);
            }
        }
    }
    untouched
}

/// Divides the parts, of which it is known that not all can be filled. `is_harmless` tells whether these parts
/// can be filled together.
pub(super) fn divide<E>(
    program: &Program,
    all: &[MemoryPart],
    is_harmless: impl FnMut(&[MemoryPart]) -> Result<bool, E>,
) -> Result<Unread, E> {
    let filled = fillable(all, is_harmless)?;
    let untouched = untouched(all, &filled);
    let words = if filled.is_empty() { String::new() } else { words(program, &untouched) };
    Ok(Unread { untouched, is_anything: !filled.is_empty(), words })
}

fn fillable<E>(
    all: &[MemoryPart],
    is_harmless: impl FnMut(&[MemoryPart]) -> Result<bool, E>,
) -> Result<Vec<MemoryPart>, E> {
    let mut search = Search { filled: Vec::new(), trials: 0, is_harmless };
    search.halve(all)?;
    Ok(search.filled)
}

struct Search<F> {
    filled: Vec<MemoryPart>,
    trials: u32,
    is_harmless: F,
}

impl<E, F: FnMut(&[MemoryPart]) -> Result<bool, E>> Search<F> {
    /// Fills as much of a group as possible; returns whether that is all of it.
    fn extend(&mut self, group: &[MemoryPart]) -> Result<bool, E> {
        if self.trials == MOST_TRIALS {
            return Ok(false);
        }
        self.trials += 1;
        let together = [&self.filled[..], group].concat();
        if (self.is_harmless)(&together)? {
            self.filled = together;
            return Ok(true);
        }
        self.halve(group)?;
        Ok(false)
    }

    /// Fills as much as possible of a group that cannot be filled as a whole.
    fn halve(&mut self, group: &[MemoryPart]) -> Result<(), E> {
        if group.len() < 2 {
            return Ok(());
        }
        let (first, second) = group.split_at(group.len() / 2);
        // With all of the first half, the second would be the whole group again.
        match self.extend(first)? {
            true => self.halve(second),
            false => self.extend(second).map(|_| ()),
        }
    }
}

fn words(program: &Program, untouched: &Untouched) -> String {
    let Untouched { frames, heap } = untouched;
    let named =
        frames.iter().take(MOST_NAMES).map(|&function| format!("`{}`", program.function(function).name));
    let mut all: Vec<String> = named.collect();
    match frames.len().saturating_sub(MOST_NAMES) {
        0 => {}
        1 => all.push("1 other function".into()),
        others => all.push(format!("{others} other functions")),
    }
    if *heap {
        all.push("allocated memory".into());
    }
    let last = all.pop().unwrap_or_default();
    match &all[..] {
        [] => format!(" of {last}"),
        first => format!(" of {} and of {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(count: u32) -> Vec<MemoryPart> {
        std::iter::once(MemoryPart::Heap)
            .chain((0..count).map(|number| MemoryPart::Frames(FunctionId(number))))
            .collect()
    }

    /// The parts that are filled where these parts are read, and the number of trials.
    fn filled_but(all: &[MemoryPart], read: &[MemoryPart]) -> (Vec<MemoryPart>, u32) {
        let mut trials = 0;
        let filled = fillable(all, |parts| {
            trials += 1;
            Ok::<_, ()>(!parts.iter().any(|part| read.contains(part)))
        });
        (filled.expect("no error"), trials)
    }

    #[test]
    fn all_is_filled_but_what_is_read() {
        let all = frames(20);
        for read in [vec![all[0]], vec![all[20]], vec![all[3], all[4]], vec![all[0], all[7], all[19]]] {
            let (filled, trials) = filled_but(&all, &read);
            let expected: Vec<MemoryPart> = all.iter().copied().filter(|part| !read.contains(part)).collect();
            assert_eq!(filled, expected);
            assert!(trials <= 12 * read.len() as u32, "{trials} trials");
        }
    }

    #[test]
    fn what_is_read_only_together_is_not_filled_together() {
        let all = frames(3);
        let filled =
            fillable(&all, |parts| Ok::<_, ()>(!(parts.contains(&all[1]) && parts.contains(&all[3]))));
        assert_eq!(filled, Ok(all[..3].to_vec()));
    }

    #[test]
    fn where_all_is_read_nothing_is_filled() {
        let all = frames(9);
        assert_eq!(filled_but(&all, &all).0, []);
        assert_eq!(filled_but(&all[..1], &all).0, []);
    }

    #[test]
    fn the_number_of_trials_is_bounded_and_what_was_not_tried_stays_as_it_is() {
        let all = frames(1000);
        let read: Vec<MemoryPart> = all.iter().copied().step_by(2).collect();
        let (filled, trials) = filled_but(&all, &read);
        assert_eq!(trials, MOST_TRIALS);
        assert!(!filled.is_empty() && filled.iter().all(|part| !read.contains(part)));
    }
}
