//! Hold a program at its first statement, and let it fork a child for each test.

use std::mem::offset_of;
use std::thread::ThreadId;

use agent::lockstep::Position;
use agent::names::LeaderId;
use agent::pace::Pace;
use agent::poison::Poison;
use agent::session::{Duty, Service, Session, Verdict};

use super::inside::{Talk, Unable, nothing_expected};
use super::{Conditions, Guide};
use crate::process::{Output, ProcessError, Tracee};
use crate::schedule::Schedule;
use crate::trace::Trace;

/// A process that waits at the first leader of the program.
pub(crate) struct Server {
    tracee: Tracee,
    output: Output,
    talk: Talk,
    terms: Terms,
    wanted: u32,
}

/// What all tests of a server have in common, because it was started with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    poison: Poison,
    memory: Option<u64>,
    file_size: u64,
    /// ptrace ties a program to the thread that started it.
    thread: ThreadId,
}

impl Terms {
    pub(crate) fn new(conditions: &Conditions) -> Terms {
        Terms {
            poison: conditions.poison,
            memory: conditions.limits.memory,
            file_size: conditions.limits.file_size,
            thread: std::thread::current().id(),
        }
    }
}

impl Server {
    /// Takes over a program that has reached its first leader.
    pub(crate) fn new(
        mut tracee: Tracee,
        mut output: Output,
        mut talk: Talk,
        conditions: &Conditions,
    ) -> Result<Server, Unable> {
        let service: Service = talk.memory.get(SERVICE);
        if service.tid_address == 0 {
            return Err(Unable::Unfit("the kernel does not tell where its thread's number is kept".into()));
        }
        output.keep()?;
        talk.session.duty = Duty::Replay;
        talk.memory.set(DUTY, talk.session.duty);
        tracee.serves()?;
        tracee.go_on(0);
        Ok(Server { tracee, output, talk, terms: Terms::new(conditions), wanted: 0 })
    }

    /// Whether it does tests on these terms.
    pub(crate) fn has(&self, terms: &Terms) -> bool {
        self.terms == *terms
    }

    /// Whether it can still do tests: it is this thread's, and no program that ran amok has killed it.
    pub(crate) fn is_useful(&mut self) -> bool {
        self.terms.thread == std::thread::current().id() && self.tracee.is_alive()
    }

    /// Starts a test: a child that is stopped before the first arrival.
    pub(crate) fn fork(
        &mut self,
        trace: &Trace,
        schedule: &Schedule,
        conditions: &Conditions,
    ) -> Result<Tracee, ProcessError> {
        let Talk { memory, session } = &self.talk;
        memory.set(PACE, Pace::new(conditions.limits.arrivals));
        memory.set(POSITION, Position::start(trace.tape()));
        memory.set(EXPECTATION, nothing_expected(trace.len()));
        memory.set(VERDICT, Verdict::NONE);
        memory.set(DEPTH, 0u32);
        memory.set(FLOOR, session.stack.floor);
        memory.set(CONTROL, schedule.control());
        memory.put(Talk::REST + session.kept.address - session.calls.address, &schedule.bytes());
        self.wanted = self.wanted.wrapping_add(1);
        memory.set(WANTED, self.wanted);
        memory.wake(WANTED);
        let expected = || memory.get::<Service>(SERVICE).child;
        let child = self.tracee.forked(expected, &conditions.limits)?;
        child.ok_or_else(|| ProcessError::System {
            what: "forking the program",
            source: std::io::Error::other("it was refused"),
        })
    }

    /// What the children have in common with this process.
    pub(crate) fn talk(&self) -> &Talk {
        &self.talk
    }

    /// Everything that the latest child, which is gone, has written.
    pub(crate) fn take_output(&mut self) -> Result<(Vec<u8>, Vec<u8>), ProcessError> {
        self.output.take()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.tracee.end_alone();
    }
}

/// Knows where a replay is that the agent guides.
pub(crate) struct Onlooker<'a> {
    pub(crate) talk: &'a Talk,
    pub(crate) trace: &'a Trace,
}

impl Guide for Onlooker<'_> {
    fn position(&self) -> Vec<Option<LeaderId>> {
        self.talk.stack(self.trace)
    }
}

const DUTY: u64 = offset_of!(Session, duty) as u64;
const PACE: u64 = offset_of!(Session, pace) as u64;
const POSITION: u64 = offset_of!(Session, position) as u64;
const EXPECTATION: u64 = offset_of!(Session, expectation) as u64;
const VERDICT: u64 = offset_of!(Session, verdict) as u64;
const DEPTH: u64 = offset_of!(Session, depth) as u64;
const CONTROL: u64 = offset_of!(Session, control) as u64;
const FLOOR: u64 = offset_of!(Session, stack.floor) as u64;
const SERVICE: u64 = offset_of!(Session, service) as u64;
const WANTED: u64 = offset_of!(Session, service.wanted) as u64;
