//! The pace of a run: what an engine does about each arrival, the same for all engines.
//!
//! Counts, and lets pass what is no arrival: one at the leader where the program has gone on last, with
//! no other in between.

use crate::lockstep::{Deviation, Directive};
use crate::names::{LeaderId, Link};

/// The state of a run's arrivals so far.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Pace {
    /// The leader where the program has gone on last.
    pub current: Link,
    /// The number of arrivals.
    pub arrivals: u64,
    /// The largest number of arrivals.
    pub limit: u64,
    /// The number of times that the program was made to go on elsewhere than where it was.
    pub redirections: u64,
}

/// The part of the state that becomes undefined where the program goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// Nothing becomes undefined.
    Nothing,
    /// The frame of the function that is entered.
    Frame,
    /// The registers that a call may change, because statements were omitted.
    Registers,
}

/// The step to take about an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Let the program go on at this leader.
    GoOn {
        /// The leader.
        at: LeaderId,
        /// The part of the state that is undefined there.
        undefined: Undefined,
    },
    /// End the run: it has left the recorded path.
    Leave(Deviation),
    /// End the run: the limit of arrivals was reached.
    Enough,
    /// End the run: it does not leave the loop in which the recorded run has not ended.
    LoopsOn,
}

impl Pace {
    /// No arrival yet, and at most `limit`.
    pub fn new(limit: u64) -> Pace {
        Pace { current: Link::NONE, arrivals: 0, limit, redirections: 0 }
    }

    /// Handles an arrival; `guide` says what it means.
    #[inline(always)]
    pub fn arrive(&mut self, leader: LeaderId, guide: impl FnOnce() -> Directive) -> Step {
        if self.current.is(leader.0) {
            return Step::GoOn { at: leader, undefined: Undefined::Nothing };
        }
        self.arrivals += 1;
        if self.arrivals > self.limit {
            return Step::Enough;
        }
        let (at, undefined) = match guide() {
            Directive::RunFreely => (leader, Undefined::Nothing),
            Directive::Enter => (leader, Undefined::Frame),
            Directive::Resume { at, omitting: true } => (at, Undefined::Registers),
            Directive::Resume { at, omitting: false } => (at, Undefined::Nothing),
            Directive::Leave(deviation) => return Step::Leave(deviation),
            Directive::LoopsOn => return Step::LoopsOn,
        };
        self.redirections += u64::from(at != leader);
        self.current = at.0.into();
        Step::GoOn { at, undefined }
    }
}
