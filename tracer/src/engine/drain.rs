//! The drain: it takes the arrivals that the agent records in buffers, while the program runs.

use std::mem::offset_of;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agent::names::LeaderId;
use agent::pace::Pace;
use agent::session::{Arrival, Ring, Session};

use super::inside::Channel;
use super::{Guide, Recorder};
use crate::invocation::Limits;
use crate::process::{Shared, WaitingWork};
use crate::program::Program;

/// Brings arrivals from the agent to the recorder: from a thread of its own as long as the program runs,
/// and at once where somebody has to know all of them.
pub(crate) struct Drain<'p, 't> {
    talk: &'t Channel,
    leaders: u32,
    /// The waiting work of taking a full buffer.
    attendance: WaitingWork,
    taken: Mutex<Taken<'p>>,
    ended: AtomicBool,
}

struct Taken<'p> {
    recorder: Recorder<'p>,
    /// The number of full buffers that were taken so far, and the number of arrivals of the next.
    buffers: u32,
    ahead: u64,
    chunk: Vec<Arrival>,
    /// The address for the next arrival, and the leader of the one before, when the buffer was looked at last.
    seen: (u64, u32),
}

/// The longest sleep of the thread before it looks whether the program has ended.
const NAP: Duration = Duration::from_millis(50);

impl<'p, 't> Drain<'p, 't> {
    /// A drain for the arrivals in `program` that the agent records.
    pub(crate) fn new(
        program: &'p Program,
        talk: &'t Channel,
        limits: &Limits,
        attendance: WaitingWork,
    ) -> Drain<'p, 't> {
        let recorder = Recorder::new(program, limits);
        let taken = Taken { recorder, buffers: 0, ahead: 0, chunk: Vec::new(), seen: (0, u32::MAX) };
        let leaders = program.leaders().len() as u32;
        Drain { talk, leaders, attendance, taken: Mutex::new(taken), ended: AtomicBool::new(false) }
    }

    /// Takes full buffers until [`Drain::end`].
    pub(crate) fn drain(&self) {
        while !self.ended.load(Ordering::Relaxed) {
            let ring = self.ring();
            let mut taken = self.taken();
            let before = taken.recorder.len();
            if self.take_full(&mut taken) {
                if taken.recorder.len() > before {
                    taken.recorder.is_seen_to_go_on();
                }
                continue;
            }
            self.glance(&mut taken, ring);
            drop(taken);
            self.memory().sleep(FILLED, ring.filled, NAP);
        }
    }

    /// Makes [`Drain::drain`] return.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        self.memory().wake(FILLED);
    }

    /// The recorder with all arrivals. The program has ended.
    pub(crate) fn finish(self) -> Recorder<'p> {
        self.take_all();
        self.taken.into_inner().unwrap_or_else(PoisonError::into_inner).recorder
    }

    /// Takes all arrivals so far. The program is stopped, or has ended.
    fn take_all(&self) {
        let mut taken = self.taken();
        while self.take_full(&mut taken) {}
        let Ring { buffers, size, .. } = self.talk.session.ring;
        let next = self.ring().next.saturating_sub(buffers.address) / size_of::<Arrival>() as u64;
        let count = next.saturating_sub(self.first(&taken));
        self.take(&mut taken, count.min(size));
    }

    /// Takes the next buffer, if it is full.
    fn take_full(&self, taken: &mut Taken<'_>) -> bool {
        if self.ring().filled == taken.buffers {
            return false;
        }
        self.attendance.during(|| self.take(taken, self.talk.session.ring.size));
        (taken.buffers, taken.ahead) = (taken.buffers.wrapping_add(1), 0);
        self.memory().set(DRAINED, taken.buffers);
        self.memory().wake(DRAINED);
        true
    }

    /// Looks whether there are events in the buffer that is being filled: arrivals at other leaders than before. A read
    /// may be torn, which makes a program seem to go on at worst.
    fn glance(&self, taken: &mut Taken<'_>, ring: Ring) {
        const LOOKED_AT: u64 = 16;
        let (next, leader) = taken.seen;
        if ring.next == next {
            return;
        }
        let written = ring.next.saturating_sub(self.talk.session.ring.buffers.address);
        let count = (written / size_of::<Arrival>() as u64).min(self.talk.session.ring.buffers.count);
        let first = self.first(taken).max(count.saturating_sub(LOOKED_AT)).min(count);
        let mut latest = Vec::new();
        self.memory().append_to(
            &mut latest,
            Channel::REST + first * size_of::<Arrival>() as u64,
            (count - first) as usize,
        );
        if latest.iter().any(|arrival: &Arrival| arrival.leader != leader) {
            taken.recorder.is_seen_to_go_on();
        }
        taken.seen = (ring.next, latest.last().map_or(leader, |arrival| arrival.leader));
    }

    /// The beginning of the buffer that is to be taken next, counted in arrivals.
    fn first(&self, taken: &Taken<'_>) -> u64 {
        let Ring { buffers, size, .. } = self.talk.session.ring;
        u64::from(taken.buffers) % (buffers.count / size) * size
    }

    /// Takes those of the next buffer's first `count` arrivals that were not taken yet.
    fn take(&self, taken: &mut Taken<'_>, count: u64) {
        let (size, first) = (size_of::<Arrival>() as u64, self.first(taken));
        // A program that runs amok may have written other numbers.
        let end = (first + count).min(self.talk.session.ring.buffers.count);
        let first = (first + std::mem::replace(&mut taken.ahead, count)).min(end);
        taken.chunk.clear();
        self.memory().append_to(&mut taken.chunk, Channel::REST + first * size, (end - first) as usize);
        for &Arrival { sp, leader, .. } in &taken.chunk {
            if leader >= self.leaders || !taken.recorder.takes(LeaderId(leader), sp) {
                // Nothing that follows would make sense: the run ends at the next arrival that asks.
                self.memory().set(LIMIT, 0u64);
                return;
            }
        }
    }

    fn ring(&self) -> Ring {
        self.memory().get(RING)
    }

    fn memory(&self) -> &Shared {
        &self.talk.memory
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, Taken<'p>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guide for &Drain<'_, '_> {
    fn position(&self) -> Vec<Option<LeaderId>> {
        self.take_all();
        self.taken().recorder.position()
    }
}

const RING: u64 = offset_of!(Session, ring) as u64;
const FILLED: u64 = RING + offset_of!(Ring, filled) as u64;
const DRAINED: u64 = RING + offset_of!(Ring, drained) as u64;
const LIMIT: u64 = offset_of!(Session, pace) as u64 + offset_of!(Pace, limit) as u64;
