//! Schedules: which events a replay executes and which it omits.
//!
//! Any selection of events is made *down-closed* first: without the event that called it an activation
//! does not take place, and under [`Control::Program`] nothing happens without the decision that
//! governs it. Two selections with the same closure are the same experiment. Pure: needs a trace and
//! the structure of the program, no process.

use std::ops::Range;

pub use agent::names::Control;
use fixedbitset::FixedBitSet;

use crate::program::{LeaderId, Program};
use crate::trace::{EventId, Trace};

/// A schedule: the events that a replay executes, and what it does about branches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    control: Control,
    kept: FixedBitSet,
}

impl Schedule {
    /// The schedule that executes all of `trace`.
    pub fn everything(trace: &Trace, control: Control) -> Schedule {
        let mut kept = FixedBitSet::with_capacity(trace.len());
        kept.insert_range(..);
        Schedule { control, kept }
    }

    /// The control flow of the replay: what makes a statement be executed again.
    pub fn control(&self) -> Control {
        self.control
    }

    /// Whether the replay executes the event.
    pub fn keeps(&self, event: EventId) -> bool {
        self.kept.contains(event.0 as usize)
    }

    /// The first event, by position, that not both schedules execute or omit alike; 0 if branches mean something else
    /// to them.
    pub(crate) fn agrees_before(&self, other: &Schedule) -> u32 {
        if self.control != other.control {
            return 0;
        }
        let (one, other) = (self.kept.as_slice(), other.kept.as_slice());
        let word = one.iter().zip(other).position(|(one, other)| one != other);
        let equal = word.map_or(self.kept.len(), |word| {
            word * usize::BITS as usize + (one[word] ^ other[word]).trailing_zeros() as usize
        });
        equal as u32
    }

    /// The schedule as bytes: for each event 1 if it is executed, 0 if it is omitted.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.kept.len().next_multiple_of(8));
        for word in self.kept.as_slice() {
            for byte in word.to_le_bytes() {
                // Each of the eight bits becomes the lowest one of a byte.
                let spread =
                    (u64::from(byte) & 0x7f).wrapping_mul(0x0002_0408_1020_4081) & 0x0101_0101_0101_0101;
                bytes.extend((spread | u64::from(byte >> 7) << 56).to_le_bytes());
            }
        }
        bytes.truncate(self.kept.len());
        bytes
    }

    /// The executed events in order, structural ones included.
    pub fn kept(&self) -> impl Iterator<Item = EventId> + '_ {
        self.kept.ones().map(|event| EventId(event as u32))
    }

    /// Adds these events to those that the replay executes.
    ///
    /// # Panics
    /// If they reach beyond the trace.
    pub fn execute(&mut self, events: Range<EventId>) {
        self.kept.insert_range(positions(events));
    }

    /// Adds these events to those that the replay omits.
    ///
    /// # Panics
    /// If they reach beyond the trace.
    pub fn omit(&mut self, events: Range<EventId>) {
        self.kept.remove_range(positions(events));
    }
}

fn positions(events: Range<EventId>) -> Range<usize> {
    events.start.0 as usize..events.end.0 as usize
}

/// The omittable events of a trace, and the rule by which others go with them.
#[derive(Clone, Debug)]
pub struct Omission<'a> {
    trace: &'a Trace,
    control: Control,
    omittable: FixedBitSet,
    /// The decision that governs each event, by position; `u32::MAX` for none. Empty under
    /// [`Control::Trace`].
    governors: Vec<u32>,
    /// The end of the range of events that cannot take place without each event, by position.
    ends: Vec<u32>,
}

const NO_GOVERNOR: u32 = u32::MAX;

impl<'a> Omission<'a> {
    /// Finds what can be omitted from `trace`, a run of `program`.
    ///
    /// An event is omittable if its statement is not structural and its activation goes on after it; under
    /// [`Control::Program`] moreover if it governs, directly or not, only omittable events: the way to an epilogue or
    /// to a final `exit()` cannot be left out.
    pub fn new(program: &Program, trace: &'a Trace, control: Control) -> Omission<'a> {
        let mut omittable = FixedBitSet::with_capacity(trace.len());
        for event in trace.events() {
            omittable.set(event.0 as usize, trace.is_omittable(program, event));
        }
        let governors = match control {
            Control::Trace => Vec::new(),
            Control::Program => governors(program, trace),
        };
        for (event, &governor) in governors.iter().enumerate().rev() {
            if governor != NO_GOVERNOR && !omittable.contains(event) {
                omittable.remove(governor as usize);
            }
        }
        let ends = ends(trace, &governors);
        Omission { trace, control, omittable, governors, ends }
    }

    /// The events that a selection may leave out, in order.
    pub fn omittable(&self) -> impl Iterator<Item = EventId> + '_ {
        self.omittable.ones().map(|event| EventId(event as u32))
    }

    /// The decision that governs the event; `None` under [`Control::Trace`].
    pub fn governor(&self, event: EventId) -> Option<EventId> {
        self.governors.get(event.0 as usize).filter(|&&governor| governor != NO_GOVERNOR).map(|&g| EventId(g))
    }

    /// The event and all that cannot take place without it, directly or not: these are neighbours.
    ///
    /// What happens between two events of an activation happens in the activations that the first of them
    /// called; and a decision governs what follows in its activation up to the end of its ways. So a
    /// schedule is down-closed if it omits whole stretches of this kind: leaving out the selected events
    /// one by one leads to the same as [`schedule`](Omission::schedule), at the cost of what is left out.
    pub fn with_dependents(&self, event: EventId) -> Range<EventId> {
        event..EventId(self.ends[event.0 as usize])
    }

    /// The ranges of [`with_dependents`](Omission::with_dependents) of all omittable events in order; what else is kept
    /// here is given back first.
    pub fn into_stretches(self) -> impl Iterator<Item = Range<EventId>> {
        let Omission { omittable, ends, .. } = self;
        omittable.into_ones().map(move |event| EventId(event as u32)..EventId(ends[event]))
    }

    /// The schedule that executes the selected events as far as they can be: the down-closure.
    ///
    /// An event is kept if it is selected or not omittable, *and* the event that called its activation
    /// is kept, *and* its governor is.
    pub fn schedule(&self, is_selected: impl Fn(EventId) -> bool) -> Schedule {
        let mut kept = FixedBitSet::with_capacity(self.trace.len());
        for event in self.trace.events() {
            let wanted = !self.omittable.contains(event.0 as usize) || is_selected(event);
            let requires = |other: Option<EventId>| other.is_none_or(|other| kept.contains(other.0 as usize));
            let called = requires(self.trace.caller(self.trace.activation(event)));
            if wanted && called && requires(self.governor(event)) {
                kept.insert(event.0 as usize);
            }
        }
        Schedule { control: self.control, kept }
    }
}

/// The end of the range of events that cannot take place without each event. What an event needs comes before it, so
/// that from the end to the beginning each event is complete before it is looked at.
fn ends(trace: &Trace, governors: &[u32]) -> Vec<u32> {
    let mut ends: Vec<u32> = trace.events().map(EventId::time).collect();
    for event in trace.events().rev() {
        let position = event.0 as usize;
        // A governor needs the caller itself.
        let governor = governors.get(position).copied().filter(|&governor| governor != NO_GOVERNOR);
        let needed = governor.or_else(|| trace.caller(trace.activation(event)).map(|caller| caller.0));
        if let Some(needed) = needed {
            ends[needed as usize] = ends[needed as usize].max(ends[position]);
        }
    }
    ends
}

/// The governor of each event: the latest decision of its activation that had another way, one that
/// need not lead here.
///
/// Per activation a stack of decisions: at event e, those are popped whose immediate post-dominator is
/// e's leader; the governor of e is then the top; e is pushed if more than one leader can follow it.
fn governors(program: &Program, trace: &Trace) -> Vec<u32> {
    let mut governors = vec![NO_GOVERNOR; trace.len()];
    let entries = trace.events().filter(|&event| trace.entry(trace.activation(event)) == event);
    let mut decisions: Vec<(EventId, Option<LeaderId>)> = Vec::new();
    for entry in entries {
        decisions.clear();
        for event in std::iter::successors(Some(entry), |&event| trace.next(event)) {
            let leader = trace.leader(event);
            while decisions.last().is_some_and(|&(_, end)| end == Some(leader)) {
                decisions.pop();
            }
            if let Some((governor, _)) = decisions.last() {
                governors[event.0 as usize] = governor.0;
            }
            if program.leader(leader).decides {
                decisions.push((event, program.leader(leader).post_dominator));
            }
        }
    }
    governors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::LeaderKind;
    use crate::program::sketch::{Outline, program};
    use crate::trace::TraceBuilder;

    /// Marsaglia's xorshift generator: the same numbers in every run.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 20) as usize % bound
        }
    }

    /// A random program: functions with branches whose ways meet after them, before them (a loop), or never.
    fn any_program(random: &mut Random) -> Program {
        let lines = [2, 3, 4, 5, 6, 7, 8];
        let mut decisions = || -> Vec<(u32, u32)> {
            let end = |line| (line, random.below(9) as u32);
            lines.map(end).into_iter().filter(|&(line, end)| (line + end) % 3 == 0).collect()
        };
        let all = [decisions(), decisions(), decisions()];
        let outlines = ["main", "f", "g"].iter().zip(&all);
        let outlines = outlines.map(|(name, decisions)| Outline { name, lines: &lines, decisions });
        program(&outlines.collect::<Vec<_>>())
    }

    /// A random trace: calls, returns, jumps over several frames and several roots, but nothing that a branch explains.
    fn any_trace(program: &Program, random: &mut Random) -> Trace {
        let mut builder = TraceBuilder::default();
        let mut stack: Vec<usize> = Vec::new();
        for _ in 0..random.below(120) {
            if stack.is_empty() || random.below(4) == 0 {
                stack.push(random.below(3));
                let function = &program.functions()[stack[stack.len() - 1]];
                if !arrive(&mut builder, program, function.leaders.start, stack.len()) {
                    stack.pop();
                }
                continue;
            }
            while random.below(6) == 0 && stack.len() > 1 {
                stack.pop();
            }
            let leaders = &program.functions()[stack[stack.len() - 1]].leaders;
            let statement = 1 + random.below(leaders.len() - 1) as u32;
            arrive(&mut builder, program, leaders.start + statement, stack.len());
            if statement as usize == leaders.len() - 1 {
                stack.pop();
            } else if random.below(40) == 0 {
                stack.clear();
            }
        }
        builder.finish()
    }

    /// Adds an arrival; false if it does not count.
    fn arrive(builder: &mut TraceBuilder, program: &Program, leader: u32, depth: usize) -> bool {
        let leader = LeaderId(leader);
        let entered = program.leader(leader).kind == LeaderKind::Entry;
        let sp = 0x8000 - 32 * depth as u64 + if entered { 24 } else { 0 };
        builder.arrive(program, leader, sp).expect("a sound trace").is_some()
    }

    fn on_random_traces(mut check: impl FnMut(&Omission<'_>, &mut Random)) {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for _ in 0..1000 {
            let program = any_program(&mut random);
            let trace = any_trace(&program, &mut random);
            for control in [Control::Trace, Control::Program] {
                check(&Omission::new(&program, &trace, control), &mut random);
            }
        }
    }

    #[test]
    fn what_cannot_take_place_without_an_event_follows_it_without_a_gap() {
        let mut dependents = 0;
        on_random_traces(|omission, _| {
            let trace = omission.trace;
            for event in trace.events() {
                let mut vanished = FixedBitSet::with_capacity(trace.len());
                vanished.insert(event.0 as usize);
                for other in trace.events() {
                    let needs = [omission.governor(other), trace.caller(trace.activation(other))];
                    if needs.into_iter().flatten().any(|needed| vanished.contains(needed.0 as usize)) {
                        vanished.insert(other.0 as usize);
                    }
                }
                let stretch = positions(omission.with_dependents(event));
                assert!(vanished.ones().eq(stretch), "{event:?}: {vanished:?}");
                dependents += vanished.count_ones(..) - 1;
            }
        });
        assert!(dependents > 100_000, "{dependents}");
    }

    #[test]
    fn leaving_out_events_with_their_dependents_closes_any_selection() {
        on_random_traces(|omission, random| {
            let rarity = 1 + random.below(20);
            let left_out: Vec<EventId> = omission.omittable().filter(|_| random.below(rarity) == 0).collect();
            let mut schedule = Schedule::everything(omission.trace, omission.control);
            for &event in &left_out {
                schedule.omit(omission.with_dependents(event));
            }
            assert_eq!(schedule, omission.schedule(|event| left_out.binary_search(&event).is_err()));
        });
    }

    #[test]
    fn schedules_agree_up_to_the_first_event_that_one_keeps_and_the_other_omits() {
        on_random_traces(|omission, random| {
            let rarity = 1 + random.below(200);
            let kept: Vec<bool> = (0..omission.trace.len()).map(|_| random.below(rarity) != 0).collect();
            let one = omission.schedule(|_| true);
            let other = omission.schedule(|event| kept[event.0 as usize]);
            let differs = |&event: &EventId| one.keeps(event) != other.keeps(event);
            let first =
                omission.trace.events().find(differs).map_or(omission.trace.len() as u32, |event| event.0);
            assert_eq!(one.agrees_before(&other), first);
        });
    }

    #[test]
    fn the_stretches_of_all_omittable_events_are_those_of_each() {
        on_random_traces(|omission, _| {
            let each = omission.omittable().map(|event| omission.with_dependents(event));
            assert!(omission.clone().into_stretches().eq(each));
        });
    }
}
