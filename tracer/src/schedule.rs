//! Say which events a replay executes and which it omits.
//!
//! Any selection of events is made *down-closed* first: without the event that called it an activation
//! does not take place, and under [`Control::Program`] nothing happens without the decision that
//! governs it. Two selections with the same closure are the same experiment. Pure: needs a trace and
//! the structure of the program, no process.

use fixedbitset::FixedBitSet;

use crate::program::{LeaderId, Program};
use crate::trace::{EventId, Trace};

/// What makes a statement be executed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Control {
    /// The trace states the control flow; a branch has no effect of its own.
    Trace,
    /// A branch decides, and has to go as recorded.
    Program,
}

/// Which events a replay executes, and what it does about branches.
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

    /// What makes a statement be executed again.
    pub fn control(&self) -> Control {
        self.control
    }

    /// Whether the replay executes the event.
    pub fn keeps(&self, event: EventId) -> bool {
        self.kept.contains(event.0 as usize)
    }

    /// The executed events in order, structural ones included.
    pub fn kept(&self) -> impl Iterator<Item = EventId> + '_ {
        self.kept.ones().map(|event| EventId(event as u32))
    }
}

/// The omittable events of a trace, and the rule by which others go with them.
#[derive(Debug)]
pub struct Omission<'a> {
    trace: &'a Trace,
    control: Control,
    omittable: FixedBitSet,
    /// The decision that governs each event, by position; `u32::MAX` for none. Empty under
    /// [`Control::Trace`].
    governors: Vec<u32>,
}

const NO_GOVERNOR: u32 = u32::MAX;

impl<'a> Omission<'a> {
    /// Finds what can be omitted from `trace`, a run of `program`.
    ///
    /// An event is omittable if its statement is not structural and its activation goes on behind it;
    /// under [`Control::Program`] moreover if it governs, directly or not, only omittable events: the
    /// way to an epilogue or to a final `exit()` cannot be left out.
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
        Omission { trace, control, omittable, governors }
    }

    /// What makes a statement be executed again.
    pub fn control(&self) -> Control {
        self.control
    }

    /// The events that a selection may leave out, in order.
    pub fn omittable(&self) -> impl Iterator<Item = EventId> + '_ {
        self.omittable.ones().map(|event| EventId(event as u32))
    }

    /// The decision that governs the event; `None` under [`Control::Trace`].
    pub fn governor(&self, event: EventId) -> Option<EventId> {
        self.governors.get(event.0 as usize).filter(|&&governor| governor != NO_GOVERNOR).map(|&g| EventId(g))
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
