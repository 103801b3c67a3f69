//! Lockstep: the rules that decide, at each leader that a replay reaches, where it goes on.
//!
//! A replay needs no global position. Each frame holds the activation of the trace that it repeats, its
//! latest executed event and what that event has yet to call; the expected event is the next one of the
//! same activation. Omission is nothing but going on at the leader of a later event. Pure: arrivals
//! come in as leader and stack pointer, directives go out, and any engine may obey them.
//!
//! Source: Cleve and Zeller, "Finding Failure Causes through Automated Testing", AADEBUG 2000, section
//! 6, made precise for calls.

use crate::calls::{Call, Calls};
use crate::names::{ActivationId, Control, EventId, LeaderId, LeaderKind, Link, Mark};
use crate::stack::Stack;
use crate::tape::Tape;

/// The script of a replay: the recorded run, and what of it is executed.
#[derive(Clone, Copy, Debug)]
pub struct Script<'a> {
    /// The mark of each leader.
    pub marks: &'a [Mark],
    /// The recorded run.
    pub tape: Tape<'a>,
    /// The control flow: what makes a statement be executed.
    pub control: Control,
    /// The list of kept events: 1 for an event that is executed, 0 for one that is omitted. [`CHECKPOINT`] is as good
    /// as 1 here.
    pub kept: &'a [u8],
}

/// The value in [`Script::kept`] of an event that is executed, and at which the replay is to be held.
pub const CHECKPOINT: u8 = 2;

impl Script<'_> {
    #[inline(always)]
    fn keeps(&self, event: EventId) -> bool {
        self.kept[event.0 as usize] != 0
    }

    #[inline(always)]
    fn mark(&self, leader: LeaderId) -> Mark {
        self.marks[leader.0 as usize]
    }
}

/// The directive for the engine at an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directive {
    /// Go on as the program does: nothing here belongs to the trace.
    RunFreely,
    /// A function is entered. Go on as the program does, after whatever a fresh frame needs.
    Enter,
    /// Go on at this leader.
    Resume {
        /// The leader.
        at: LeaderId,
        /// Whether at least one omitted event lies in between.
        omitting: bool,
    },
    /// End the run: it has left the recorded path and says nothing.
    Leave(Deviation),
    /// End the run: it is in the loop in which the recorded run has not ended, and was there for long enough.
    LoopsOn,
}

/// The deviation of a replay: how it left the recorded path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deviation {
    /// After the event, control went to another leader than recorded.
    Diverged {
        /// The latest executed event.
        after: EventId,
        /// The leader where the trace went on.
        expected: LeaderId,
        /// The leader where the replay went.
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
        /// The leader where the replay went.
        reached: LeaderId,
    },
    /// Control reached a function in its middle.
    NotEntered(LeaderId),
}

/// The state of an open call.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Frame {
    /// The latest executed event of the activation that is repeated; none for a call that the trace
    /// does not know, or one within such a call: what happens in it is ignored.
    current: Link,
    /// The first of the current event's callees that is still to come.
    callee: Link,
}

impl Frame {
    /// A call that the trace does not know.
    pub const FREE: Frame = Frame { current: Link::NONE, callee: Link::NONE };

    /// The latest executed event; `None` for a call that the trace does not know.
    pub fn current(&self) -> Option<EventId> {
        self.current.get().map(EventId)
    }
}

/// The position of a replay, besides its open calls.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Position {
    /// The first activation that no traced code calls and that is still to come.
    root: Link,
    /// The number of leaders of the loop that never ends that were reached after the last event.
    turns: u32,
}

impl Position {
    /// The position before the first event.
    pub fn start(tape: Tape<'_>) -> Position {
        Position { root: tape.first_root().into(), turns: 0 }
    }
}

/// The next arrival that a replay expects, if it expects one.
///
/// It may be taken without the rules, by whoever is faster: an arrival at the leader that is
/// [foreseen](crate::tape::Tape::foreseen) after `event`, with a stack pointer that is not above `entry_sp`, at a kept
/// event, makes that event the current one, and the program goes on where it is. [`Lockstep::catch_up`] then brings the
/// rules to the same point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Expectation {
    /// The latest event of the innermost call; none where nothing can be foreseen.
    pub event: Link,
    /// The stack pointer at the entry of that call.
    pub entry_sp: u64,
}

impl Expectation {
    /// No expectation.
    pub const NONE: Expectation = Expectation { event: Link::NONE, entry_sp: 0 };
}

/// The state of a replay in lockstep with its trace.
#[derive(Clone, Debug)]
pub struct Lockstep<'a, S> {
    script: Script<'a>,
    position: Position,
    frames: Calls<S>,
}

impl<'a, S: Stack<Thing = Call<Frame>>> Lockstep<'a, S> {
    /// Continues a replay from `position`, with these calls open.
    #[inline(always)]
    pub fn new(script: Script<'a>, position: Position, open: S) -> Lockstep<'a, S> {
        Lockstep { script, position, frames: Calls::new(open) }
    }

    /// The next arrival that can be expected now.
    #[inline(always)]
    pub fn expectation(&self) -> Expectation {
        match (self.frames.innermost(), self.frames.entry_sp()) {
            (Some(frame), Some(entry_sp)) => Expectation { event: frame.current, entry_sp },
            _ => Expectation::NONE,
        }
    }

    /// Notes expected arrivals that were taken without the rules; `event` is the latest. Returns the leader where the
    /// program has gone on, if there were any.
    #[inline(always)]
    pub fn catch_up(&mut self, event: Link) -> Option<LeaderId> {
        let frame = self.frames.innermost_mut()?;
        let latest = event.get().filter(|_| frame.current != event).map(EventId)?;
        let tape = self.script.tape;
        *frame = Frame { current: event, callee: tape.first_callee(latest).into() };
        let leader = tape.leader(latest);
        self.frames.go_on(self.script.mark(leader));
        Some(leader)
    }

    /// The position of the replay.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The latest event of each open frame, innermost first; `None` for a frame that the trace does not
    /// know.
    pub fn stack(&self) -> impl Iterator<Item = Option<EventId>> + '_ {
        self.frames.iter().map(Frame::current)
    }

    /// Handles an arrival at a leader with this stack pointer.
    #[inline(always)]
    pub fn arrive(&mut self, leader: LeaderId, sp: u64) -> Directive {
        let reached = self.script.mark(leader);
        if !self.frames.settle(reached, sp) {
            return Directive::Leave(Deviation::NotEntered(leader));
        }
        if reached.kind == LeaderKind::Entry {
            return self.enter(leader, sp);
        }
        let directive = self.go_on(leader);
        let at = match directive {
            Directive::Resume { at, .. } => self.script.mark(at),
            _ => reached,
        };
        self.frames.go_on(at);
        directive
    }

    #[inline(always)]
    fn enter(&mut self, leader: LeaderId, sp: u64) -> Directive {
        let entry = self.script.mark(leader);
        let (remaining, caller) = match self.frames.innermost() {
            Some(frame) => match frame.current() {
                Some(current) => (frame.callee.get().map(ActivationId), Some(current)),
                None => {
                    self.frames.enter(entry, sp, Frame::FREE);
                    return Directive::Enter;
                }
            },
            None => (self.position.root.get().map(ActivationId), None),
        };
        match (self.matching(remaining, leader), self.script.control) {
            (Some(activation), _) => {
                self.consume(self.script.tape.sibling(activation));
                let current = self.script.tape.entry(activation);
                let callee = self.script.tape.first_callee(current).into();
                self.frames.enter(entry, sp, Frame { current: current.0.into(), callee });
                Directive::Enter
            }
            (None, control) if control == Control::Trace || self.loops_on(caller) => {
                self.frames.enter(entry, sp, Frame::FREE);
                Directive::Enter
            }
            (None, _) => Directive::Leave(Deviation::OtherCall { caller, entered: leader }),
        }
    }

    /// The remaining activation that an arrival at this entry repeats. What the match passes over
    /// cannot come any more: the trace states the order.
    #[inline(always)]
    fn matching(&self, mut remaining: Option<ActivationId>, leader: LeaderId) -> Option<ActivationId> {
        let tape = self.script.tape;
        while let Some(activation) = remaining {
            if tape.leader(tape.entry(activation)) == leader {
                return remaining;
            }
            if self.script.control == Control::Program {
                return None;
            }
            remaining = tape.sibling(activation);
        }
        None
    }

    /// Sets the activations that the innermost frame, or the outside world, has yet to call.
    #[inline(always)]
    fn consume(&mut self, rest: Option<ActivationId>) {
        match self.frames.innermost_mut() {
            Some(frame) => frame.callee = rest.into(),
            None => self.position.root = rest.into(),
        }
    }

    #[inline(always)]
    fn go_on(&mut self, leader: LeaderId) -> Directive {
        let Script { tape, control, .. } = self.script;
        let Some(&Frame { current, callee }) = self.frames.innermost() else {
            return Directive::RunFreely;
        };
        let Some(after) = current.get().map(EventId) else {
            return Directive::RunFreely;
        };
        let Some(mut next) = tape.next(after) else {
            return self.go_on_after_end(after, leader);
        };
        if control == Control::Program {
            let expected = tape.leader(next);
            if leader != expected {
                return Directive::Leave(Deviation::Diverged { after, expected, reached: leader });
            }
            if let Some(missing) = callee.get() {
                let missing = tape.entry(ActivationId(missing));
                return Directive::Leave(Deviation::MissingCall { caller: after, missing });
            }
        }
        let mut omitting = false;
        while !self.script.keeps(next) {
            omitting = true;
            // The last event of an activation is never omitted while the activation takes place.
            next = match tape.next(next) {
                Some(later) => later,
                None => return Directive::Leave(Deviation::RanPastEnd { after: next, reached: leader }),
            };
        }
        if let Some(frame) = self.frames.innermost_mut() {
            *frame = Frame { current: next.0.into(), callee: tape.first_callee(next).into() };
        }
        Directive::Resume { at: tape.leader(next), omitting }
    }

    /// Whether the recorded run has not ended, and the replay is where it looped.
    #[inline(always)]
    fn loops_on(&self, latest: Option<EventId>) -> bool {
        latest.is_some_and(|latest| self.script.tape.loops_from(latest))
    }

    /// Handles an arrival after the last recorded event of an activation. A run that never ends is not recorded for
    /// ever: in its loop the program goes its own way, but it must not leave it.
    #[cold]
    #[inline(never)]
    fn go_on_after_end(&mut self, after: EventId, leader: LeaderId) -> Directive {
        let endless = self.script.tape.endless;
        if !self.loops_on(Some(after)) || !endless.has(leader) {
            return Directive::Leave(Deviation::RanPastEnd { after, reached: leader });
        }
        self.position.turns = self.position.turns.saturating_add(1);
        if endless.enough > 0 && self.position.turns >= endless.enough {
            return Directive::LoopsOn;
        }
        Directive::RunFreely
    }
}
