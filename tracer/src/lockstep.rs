//! Decide, at each leader that a replay reaches, where it goes on.
//!
//! A replay needs no global position. Each frame holds the activation of the trace that it repeats, its
//! latest executed event and what that event has yet to call; the expected event is the next one of the
//! same activation. Omission is nothing but going on at the leader of a later event. Pure: arrivals
//! come in as leader and stack pointer, directives go out, and any engine may obey them.
//!
//! Source: Cleve and Zeller, "Finding Failure Causes through Automated Testing", AADEBUG 2000, section
//! 6, made precise for calls.

use crate::calls::Calls;
use crate::program::{LeaderId, LeaderKind, Program};
use crate::schedule::{Control, Schedule};
use crate::trace::{ActivationId, EventId, Trace};

/// What the engine has to do at an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directive {
    /// Go on as the program does: nothing here belongs to the trace.
    RunFreely,
    /// A function is entered. Go on as the program does, behind whatever a fresh frame needs.
    Enter,
    /// Go on at this leader.
    Resume {
        /// Where.
        at: LeaderId,
        /// Whether at least one omitted event lies in between.
        omitting: bool,
    },
    /// End the run: it has left the recorded path and says nothing.
    Leave(Deviation),
}

/// How a replay left the recorded path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deviation {
    /// After the event, control went to another leader than recorded.
    Diverged {
        /// The latest executed event.
        after: EventId,
        /// Where the trace went on.
        expected: LeaderId,
        /// Where the replay went.
        reached: LeaderId,
    },
    /// The event called another function than recorded, or one more.
    OtherCall {
        /// The calling event; `None` before `main`.
        caller: Option<EventId>,
        /// The function's entry.
        entered: LeaderId,
    },
    /// The event was left with a recorded call not made.
    MissingCall {
        /// The calling event.
        caller: EventId,
        /// The recorded event at the entry of the function that was not called.
        missing: EventId,
    },
    /// The activation had no further event in the trace, but went on.
    RanPastEnd {
        /// The last recorded event of the activation.
        after: EventId,
        /// Where the replay went.
        reached: LeaderId,
    },
    /// Control reached a function in its middle.
    NotEntered(LeaderId),
}

#[derive(Clone, Debug)]
enum Frame {
    /// Repeats an activation of the trace.
    Recorded {
        current: EventId,
        /// The first of the current event's callees that is still to come.
        callee: Option<ActivationId>,
    },
    /// A call that the trace does not know, or one within such a call; what happens in it is ignored.
    Free,
}

/// A replay's position in the trace.
#[derive(Clone, Debug)]
pub struct Lockstep<'a> {
    program: &'a Program,
    trace: &'a Trace,
    schedule: &'a Schedule,
    frames: Calls<Frame>,
    /// The first activation that no traced code calls and that is still to come.
    root: Option<ActivationId>,
    /// The event executed last, in whatever frame.
    latest: Option<EventId>,
}

impl<'a> Lockstep<'a> {
    /// Begins a replay of `trace`, a run of `program`, as `schedule` says.
    pub fn new(program: &'a Program, trace: &'a Trace, schedule: &'a Schedule) -> Lockstep<'a> {
        Lockstep {
            program,
            trace,
            schedule,
            frames: Calls::default(),
            root: trace.first_root(),
            latest: None,
        }
    }

    /// Takes an arrival at a leader with this stack pointer.
    pub fn arrive(&mut self, leader: LeaderId, sp: u64) -> Directive {
        let reached = self.program.leader(leader);
        if !self.frames.settle(reached, sp) {
            return Directive::Leave(Deviation::NotEntered(leader));
        }
        if reached.kind == LeaderKind::Entry {
            return self.enter(leader, sp);
        }
        let directive = self.go_on(leader);
        let at = match directive {
            Directive::Resume { at, .. } => self.program.leader(at),
            _ => reached,
        };
        self.frames.go_on(at);
        directive
    }

    /// The event executed last: what the replay was doing when it ended.
    pub fn latest(&self) -> Option<EventId> {
        self.latest
    }

    /// The latest event of each open frame, innermost first; `None` for a frame that the trace does not
    /// know.
    pub fn stack(&self) -> impl Iterator<Item = Option<EventId>> + '_ {
        self.frames.iter().map(|frame| match frame {
            Frame::Recorded { current, .. } => Some(*current),
            Frame::Free => None,
        })
    }

    fn enter(&mut self, leader: LeaderId, sp: u64) -> Directive {
        let entry = self.program.leader(leader);
        let (remaining, caller) = match self.frames.innermost() {
            Some(Frame::Free) => {
                self.frames.enter(entry, sp, Frame::Free);
                return Directive::Enter;
            }
            Some(Frame::Recorded { current, callee, .. }) => (*callee, Some(*current)),
            None => (self.root, None),
        };
        let is_this = |&activation: &ActivationId| self.trace.leader(self.trace.entry(activation)) == leader;
        // What the match passes over cannot come any more: the trace states the order.
        let matched = match self.schedule.control() {
            Control::Program => remaining.filter(is_this),
            Control::Trace => {
                std::iter::successors(remaining, |&activation| self.trace.sibling(activation)).find(is_this)
            }
        };
        match (matched, self.schedule.control()) {
            (Some(activation), _) => {
                self.consume(self.trace.sibling(activation));
                let current = self.trace.entry(activation);
                let callee = self.trace.first_callee(current);
                self.frames.enter(entry, sp, Frame::Recorded { current, callee });
                self.latest = Some(current);
                Directive::Enter
            }
            (None, Control::Trace) => {
                self.frames.enter(entry, sp, Frame::Free);
                Directive::Enter
            }
            (None, Control::Program) => Directive::Leave(Deviation::OtherCall { caller, entered: leader }),
        }
    }

    /// Sets what the innermost frame, or the outside world, has yet to call.
    fn consume(&mut self, rest: Option<ActivationId>) {
        match self.frames.innermost_mut() {
            Some(Frame::Recorded { callee, .. }) => *callee = rest,
            _ => self.root = rest,
        }
    }

    fn go_on(&mut self, leader: LeaderId) -> Directive {
        let Some(Frame::Recorded { current, callee }) = self.frames.innermost_mut() else {
            return Directive::RunFreely;
        };
        let after = *current;
        let Some(mut next) = self.trace.next(after) else {
            return Directive::Leave(Deviation::RanPastEnd { after, reached: leader });
        };
        if self.schedule.control() == Control::Program {
            let expected = self.trace.leader(next);
            if leader != expected {
                return Directive::Leave(Deviation::Diverged { after, expected, reached: leader });
            }
            if let Some(missing) = *callee {
                return Directive::Leave(Deviation::MissingCall {
                    caller: after,
                    missing: self.trace.entry(missing),
                });
            }
        }
        let mut omitting = false;
        while !self.schedule.keeps(next) {
            omitting = true;
            // The last event of an activation is never omitted while the activation takes place.
            next = match self.trace.next(next) {
                Some(later) => later,
                None => return Directive::Leave(Deviation::RanPastEnd { after: next, reached: leader }),
            };
        }
        *current = next;
        *callee = self.trace.first_callee(next);
        self.latest = Some(next);
        Directive::Resume { at: self.trace.leader(next), omitting }
    }
}
