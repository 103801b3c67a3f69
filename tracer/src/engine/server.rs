//! The server: a program held at its first statement, which forks a child for each test.

use std::thread::ThreadId;

use agent::lockstep::CHECKPOINT;
use agent::names::LeaderId;
use agent::poison::Poison;
use agent::session::{AgentMode, End, Service, Session, Verdict, Wanted};

use super::checkpoint::{self, Checkpoint, ReplayState};
use super::inside::{Channel, Unable, offset};
use super::integrity::Integrity;
use super::{Conditions, Guide, waits_for_ever};
use crate::process::{FileState, Output, ProcessError, Tracee, Written, patiently};
use crate::schedule::Schedule;
use crate::termination::{Cut, Termination};
use crate::trace::{EventId, Trace};

/// The number of useless checkpoints after which a server makes no more.
const PATIENCE: u32 = 3;

/// The server: a process that waits at the first leader of the program, and others, its checkpoints, that wait further
/// on; each is a child of the one before.
pub(crate) struct Server {
    tracee: Tracee,
    output: Output,
    talk: Channel,
    terms: Terms,
    wanted: Wanted,
    first: ReplayState,
    checkpoints: Vec<Checkpoint>,
    /// The schedule of the latest test.
    latest: Option<Schedule>,
    /// The event at which the test under way is to be held.
    held_at: Option<EventId>,
    /// The number of further useless checkpoints that are allowed.
    patience: u32,
    /// The integrity of the session: what the test under way must leave as it is.
    integrity: Integrity,
    /// The state of the standard input's file before the first test.
    stdin: Option<FileState>,
    /// Whether a test has done what later ones would see.
    is_spoiled: bool,
}

/// The terms that all tests of a server have in common, because it was started with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    poison: Poison,
    memory: Option<u64>,
    file_size: u64,
    /// The number of events that a checkpoint has to save.
    distance: u32,
    /// The tracer's thread: ptrace ties a program to the one that started it.
    thread: ThreadId,
}

impl Terms {
    pub(crate) fn new(conditions: &Conditions, distance: u32) -> Terms {
        Terms {
            poison: conditions.poison,
            memory: conditions.limits.memory,
            file_size: conditions.limits.file_size,
            distance,
            thread: std::thread::current().id(),
        }
    }
}

impl Server {
    /// Makes a server of a program that has reached its first leader; the agent has this work in its tests.
    pub(crate) fn new(
        mut tracee: Tracee,
        mut output: Output,
        mut talk: Channel,
        (trace, work): (&Trace, AgentMode),
        terms: Terms,
    ) -> Result<Server, Unable> {
        let service: Service = talk.memory.get(offset::SERVICE);
        if service.tid_address == 0 {
            return Err(Unable::Unfit("the kernel does not tell where its thread's number is kept".into()));
        }
        if !tracee.is_fork_safe(&output) {
            let reason = "before its first statement it has opened files, shared memory or set a timer";
            return Err(Unable::Unfit(reason.into()));
        }
        (talk.session.duty, talk.session.service) = (work, service);
        talk.memory.set(offset::DUTY, talk.session.duty);
        let first = ReplayState::first(&talk, trace, output.written()?);
        tracee.serves()?;
        Ok(Server {
            stdin: tracee.stdin_state(),
            tracee,
            output,
            talk,
            terms,
            wanted: Wanted(0),
            first,
            checkpoints: Vec::new(),
            latest: None,
            held_at: None,
            patience: PATIENCE,
            integrity: Integrity::default(),
            is_spoiled: false,
        })
    }

    /// Whether it does tests on these terms.
    pub(crate) fn has(&self, terms: &Terms) -> bool {
        self.terms == *terms
    }

    /// Whether it can still do tests: it is this thread's, and no program that ran amok has killed it or has left
    /// anything that others would see.
    pub(crate) fn is_useful(&mut self) -> bool {
        !self.is_spoiled && self.terms.thread == std::thread::current().id() && self.tracee.is_alive()
    }

    /// Whether the session is intact: the test under way has left alone what the tracer has written. Only then its
    /// session can be believed. Otherwise there will be no more tests here.
    pub(crate) fn is_intact(&mut self) -> bool {
        let is_intact = self.integrity.holds(&self.talk, self.kept(EventId(0)), self.wanted.0);
        if !is_intact {
            self.is_spoiled = true;
            // A server may have taken what was written there for the wish for a test.
            let servers = self.checkpoints.iter().map(|checkpoint| &checkpoint.tracee);
            servers.chain([&self.tracee]).for_each(Tracee::end_children);
        }
        is_intact
    }

    /// Starts a test: forks a child that is stopped before the first arrival, or at the last checkpoint on its way;
    /// returns it, and the number of events of the trace before that.
    pub(crate) fn fork(
        &mut self,
        schedule: &Schedule,
        conditions: &Conditions,
    ) -> Result<(Tracee, u32), ProcessError> {
        while self.checkpoints.last().is_some_and(|last| !last.is_on_the_way_of(schedule)) {
            self.leave_checkpoint()?;
        }
        let from = self.checkpoints.last().map_or(0, |last| last.event.0);
        let wants_more = self.patience > 0 && self.checkpoints.len() < checkpoint::MOST;
        let before = self.latest.replace(schedule.clone()).filter(|_| wants_more);
        self.held_at =
            before.and_then(|before| checkpoint::place(schedule, &before, from, self.terms.distance));
        let tracee = self.start(schedule, conditions)?;
        Ok((tracee, from))
    }

    /// Whether the test under way is held where that was wanted.
    pub(crate) fn holds(&mut self, termination: &Termination) -> bool {
        let (_, end) = self.talk.result();
        let is_serving = *termination == Termination::Cut(Cut::Stopped)
            && end == Some(End::Serving)
            && self.held_at.is_some();
        is_serving && self.is_intact()
    }

    /// Makes a checkpoint of a test that is held, and goes on with it as a child.
    pub(crate) fn go_on_from(
        &mut self,
        mut held: Tracee,
        schedule: &Schedule,
        conditions: &Conditions,
    ) -> Result<Tracee, ProcessError> {
        let Some(event) = self.held_at.take() else {
            return Ok(held);
        };
        if !held.is_fork_safe(&self.output) {
            self.patience -= 1;
            self.talk.memory.set(self.kept(event), 1u8);
            self.integrity.keep(event.0 as usize);
            self.talk.memory.set(offset::VERDICT, Verdict::NONE);
            self.ask(self.wanted.go_on(self.next_rank()));
            return Ok(held);
        }
        let moment = ReplayState::now(&self.talk, self.output.written()?);
        held.serves()?;
        self.checkpoints.push(Checkpoint { tracee: held, moment, event, schedule: schedule.clone() });
        self.start(schedule, conditions)
    }

    /// The offset at which the agent reads whether the event is kept, from the beginning of the session.
    fn kept(&self, event: EventId) -> u64 {
        let session = &self.talk.session;
        Channel::REST + session.kept.address - session.calls.address + u64::from(event.0)
    }

    /// The rank of the process after the last checkpoint.
    fn next_rank(&self) -> u8 {
        self.checkpoints.len() as u8 + 1
    }

    fn ask(&mut self, wanted: Wanted) {
        self.wanted = wanted;
        self.talk.memory.set(offset::WANTED, wanted.0);
        self.talk.memory.wake(offset::WANTED);
    }

    /// Starts the rest of a test, which begins at the last checkpoint.
    fn start(&mut self, schedule: &Schedule, conditions: &Conditions) -> Result<Tracee, ProcessError> {
        let last = self.checkpoints.last();
        let moment = last.map_or(&self.first, |last| &last.moment);
        let session = moment.put(&self.talk, conditions.limits.arrivals);
        let Wanted(wanted) = self.wanted;
        let service = Service { wanted, rank: u32::from(self.next_rank()), ..session.service };
        let session = Session { verdict: Verdict::NONE, control: schedule.control(), service, ..session };
        let mut kept = schedule.bytes();
        if let Some(event) = self.held_at {
            kept[event.0 as usize] = CHECKPOINT;
        }
        self.integrity.establish(&self.talk, session, self.kept(EventId(0)), kept);
        if self.checkpoints.is_empty() {
            return patiently(|| self.ask_for_child(conditions));
        }
        // A test that ran amok may have killed the process that is asked, or there is no room for so many processes.
        match self.ask_for_child(conditions) {
            Err(ProcessError::NotForked { .. }) => {
                self.leave_checkpoint()?;
                self.start(schedule, conditions)
            }
            asked => asked,
        }
    }

    /// Has the process at the last checkpoint fork, once.
    fn ask_for_child(&mut self, conditions: &Conditions) -> Result<Tracee, ProcessError> {
        self.ask(self.wanted.next_test(self.next_rank() - 1));
        let expected = || self.talk.memory.get::<Service>(offset::SERVICE).child;
        let server = self.checkpoints.last_mut().map_or(&mut self.tracee, |last| &mut last.tracee);
        server.forked(expected, &conditions.limits)
    }

    /// Ends the last checkpoint.
    fn leave_checkpoint(&mut self) -> Result<(), ProcessError> {
        let Some(last) = self.checkpoints.pop() else {
            return Ok(());
        };
        let earlier = self.checkpoints.last().map_or(&self.first, |last| &last.moment);
        self.output.take_back(&last.moment.written, &earlier.written)
    }

    /// The output of the latest test, whose process is gone.
    pub(crate) fn take_output(&mut self) -> Result<Written, ProcessError> {
        let now = self.output.written()?;
        let last = self.checkpoints.last().map_or(&self.first, |last| &last.moment);
        self.output.take_back(&now, &last.written)?;
        self.tracee.restore_stdin();
        self.is_spoiled |= !self.output.is_as_made() || self.tracee.stdin_state() != self.stdin;
        Ok(now)
    }

    /// The channel to the agent, which the children have in common with this process.
    pub(crate) fn talk(&self) -> &Channel {
        &self.talk
    }
}

/// The position of a replay that the agent guides.
pub(crate) struct ReplayPosition<'a> {
    pub(crate) talk: &'a Channel,
    pub(crate) trace: &'a Trace,
}

impl Guide for ReplayPosition<'_> {
    fn position(&self) -> Vec<Option<LeaderId>> {
        let leaders = self.talk.stack(self.trace).into_iter();
        leaders.map(|event| event.map(|event| self.trace.leader(event))).collect()
    }

    fn waits_for_ever(&self, cut: Cut) -> bool {
        waits_for_ever(self.trace, self.talk.stack(self.trace).first().copied().flatten(), cut)
    }
}
