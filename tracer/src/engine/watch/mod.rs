//! The watch of events while a run is repeated: instruction by instruction, what they read and write.
//!
//! The run is led by breakpoints as in any other replay. At an event that is wanted, the program is
//! single-stepped through the event's own code; the memory operands of each instruction are computed from
//! the registers before it. A function that it calls runs as ever, up to a breakpoint where it returns.
//! Writes of code that is not traced are seen by comparing what it was handed the address of, and
//! the variables of the function that called it.
//!
//! The ledger says what that means; this module only looks.

mod calls;
mod glance;

use std::collections::HashMap;

use agent::lockstep::Deviation;
use fixedbitset::FixedBitSet;

use calls::Calling;
use glance::{Glance, Past};

use super::crash::registers;
use super::crash_state::ProgramMemory;
use super::ledger::Ledger;
use super::{Execution, Method, Replayer, Trap};
use crate::address::RuntimeAddress;
use crate::observation::{Limit, Observation};
use crate::process::{ProcessError, SIGTRAP, Stop, Tracee};
use crate::program::accesses::{self, Effect, Mode, Way};
use crate::program::variables::{Memory, RegisterValues, Variables};
use crate::program::{LeaderKind, Program};
use crate::termination::Termination;
use crate::trace::{EventId, Trace};

/// The largest number of instructions of one event that are looked at...
const MOST_OF_EVENT: u32 = 2_000;
/// ...and the largest number in all: a step costs some ten microseconds.
const MOST_IN_ALL: u32 = 60_000;

/// An assignment: the events to be looked at.
pub(crate) struct Assignment<'w> {
    program: &'w Program,
    trace: &'w Trace,
    variables: &'w Variables,
    /// The events to be looked at, by position.
    wanted: FixedBitSet,
}

impl<'w> Assignment<'w> {
    /// An assignment of these events of `trace`, and of the entries of their functions, where parameters get their
    /// values.
    pub(crate) fn new(
        program: &'w Program,
        trace: &'w Trace,
        variables: &'w Variables,
        events: &[EventId],
    ) -> Assignment<'w> {
        let mut wanted = FixedBitSet::with_capacity(trace.len());
        for &event in events {
            wanted.insert(event.0 as usize);
            wanted.insert(trace.entry(trace.activation(event)).0 as usize);
        }
        Assignment { program, trace, variables, wanted }
    }
}

/// The watch of the events of an assignment while the run goes on.
pub(crate) struct EventWatch<'w> {
    assignment: Assignment<'w>,
    ledger: Ledger,
    /// The event that is being stepped through.
    current: Option<Glance>,
    /// The events that wait for functions to return, innermost last.
    calling: Vec<Calling>,
    /// The latest event of the run.
    latest: Option<EventId>,
    /// The last event that is wanted.
    last: Option<EventId>,
    /// The number of instructions that may still be looked at.
    left: u32,
}

/// Runs the program along its trace and looks at what is wanted, until all of that was seen.
pub(crate) fn watch(
    execution: &mut Execution<'_>,
    guide: &mut Replayer<'_>,
    assignment: Assignment<'_>,
) -> Result<(Observation, Option<Termination>), ProcessError> {
    let last = assignment.wanted.ones().next_back().map(|event| EventId(event as u32));
    let mut witness = EventWatch {
        assignment,
        ledger: Ledger::default(),
        current: None,
        calling: Vec::new(),
        latest: None,
        last,
        left: MOST_IN_ALL,
    };
    let ended = match execution.begin(Method::Breakpoint)? {
        Some(termination) => Some(termination),
        None => witness.run(execution, guide)?,
    };
    witness.settle(execution.tracee, u64::MAX);
    match &ended {
        Some(termination) => witness.note_end(termination),
        None if witness.left == 0 => witness.limit(witness.latest.map_or(Limit::Time, Limit::Instructions)),
        None => {}
    }
    Ok((witness.ledger.finish(), ended))
}

impl EventWatch<'_> {
    /// Runs the program; returns how the run ended, or `None` if all was seen before.
    fn run(
        &mut self,
        execution: &mut Execution<'_>,
        guide: &mut Replayer<'_>,
    ) -> Result<Option<Termination>, ProcessError> {
        let mut signal = 0;
        loop {
            if self.has_seen_all() {
                return Ok(None);
            }
            let stop = match self.current.take() {
                Some(glance) if signal == 0 => self.step(execution, glance)?,
                glance => {
                    // A handler would be taken for the event's own code.
                    glance.into_iter().for_each(|glance| self.close(execution.tracee, glance));
                    self.arm(execution);
                    execution.tracee.go_on(signal);
                    Some(execution.tracee.wait()?)
                }
            };
            let Some(stop) = stop else { continue };
            signal = match stop {
                Stop::Trap => match self.trap(execution, guide)? {
                    Trap::Served => 0,
                    Trap::Foreign => SIGTRAP,
                    Trap::End(termination) => return Ok(Some(termination)),
                },
                Stop::Signal(signal) => signal,
                _ => match execution.event(stop, Method::Breakpoint, guide) {
                    Some(termination) => return Ok(Some(termination)),
                    None => 0,
                },
            };
            if signal != 0 && execution.tracee.is_fatal(signal) {
                return Ok(Some(execution.crash(signal, Method::Breakpoint, guide)));
            }
        }
    }

    fn has_seen_all(&self) -> bool {
        let is_behind = self.last.is_none_or(|last| self.latest.is_some_and(|latest| latest > last));
        self.current.is_none() && self.calling.is_empty() && (is_behind || self.left == 0)
    }

    /// Handles a breakpoint: of a leader, or one where a function returns.
    fn trap(
        &mut self,
        execution: &mut Execution<'_>,
        guide: &mut Replayer<'_>,
    ) -> Result<Trap, ProcessError> {
        let Some(location) = execution.tracee.location() else { return Ok(Trap::Served) };
        let pc = location.pc.wrapping_sub(1);
        let is_leader = execution.placement.leader_at(pc).is_some();
        if !is_leader && self.calling.iter().any(|calling| calling.back == pc) && !execution.replaced {
            return self.come_back(execution, pc, location.sp);
        }
        let before = execution.pace.arrivals;
        let trap = execution.trap(Method::Breakpoint, guide)?;
        if execution.pace.arrivals > before && matches!(trap, Trap::Served) {
            self.settle(execution.tracee, location.sp);
            self.arrive(execution, guide);
        }
        Ok(trap)
    }

    /// Notes that the run has reached another event.
    fn arrive(&mut self, execution: &Execution<'_>, guide: &Replayer<'_>) {
        let Assignment { program, trace, wanted, .. } = &self.assignment;
        let Some(event) = guide.current() else { return };
        self.latest = self.latest.max(Some(event));
        if !wanted.contains(event.0 as usize) || self.left == 0 {
            return;
        }
        let leader = program.leader(trace.leader(event));
        let author = match leader.kind {
            LeaderKind::Entry => trace.caller(trace.activation(event)).unwrap_or(event),
            LeaderKind::Statement | LeaderKind::Epilogue => event,
        };
        let bias = execution.placement.bias(leader.image);
        self.ledger.begin(event);
        let (function, written) = (leader.function, Vec::new());
        let (overwritten, pointers) = (HashMap::new(), Vec::new());
        self.current =
            Some(Glance { event, author, function, bias, steps: 0, written, overwritten, pointers });
    }

    /// Lets the program execute one instruction of an event; a stop that is no end of that is handed back.
    fn step(
        &mut self,
        execution: &mut Execution<'_>,
        mut glance: Glance,
    ) -> Result<Option<Stop>, ProcessError> {
        let looked_at = registers(execution.tracee).and_then(|registers| {
            let text = execution.placement.text(registers.pc)?;
            Some((registers, accesses::effect(&text[..text.len().min(15)], &registers)?))
        });
        let Some((registers, effect)) = looked_at else {
            self.close(execution.tracee, glance);
            return Ok(None);
        };
        if glance.steps >= MOST_OF_EVENT || self.left == 0 {
            self.limit(Limit::Event(glance.event));
            self.close(execution.tracee, glance);
            return Ok(None);
        }
        glance.steps += 1;
        self.left -= 1;
        self.disarm(execution);
        self.look_before(&ProgramMemory(execution.tracee), &mut glance, &registers, &effect);
        execution.tracee.step(0);
        match execution.tracee.wait()? {
            Stop::Trap => {}
            other => {
                self.current = Some(glance);
                return Ok(Some(other));
            }
        }
        self.look_behind(execution.tracee, &glance, &effect);
        let Some(location) = execution.tracee.location() else {
            self.close(execution.tracee, glance);
            return Ok(None);
        };
        let reached = execution.placement.leader_at(location.pc);
        if effect.way == Way::Call && location.pc != effect.end {
            self.call(execution, (glance, &registers, &effect), reached);
        } else if effect.way == Way::Return
            || reached.is_some_and(|leader| !execution.pace.current.is(leader.0))
        {
            self.close(execution.tracee, glance);
        } else {
            self.current = Some(glance);
        }
        Ok(None)
    }

    /// Notes what an instruction is about to read and write.
    fn look_before(
        &mut self,
        memory: &dyn Memory,
        glance: &mut Glance,
        registers: &RegisterValues,
        effect: &Effect,
    ) {
        let variables = self.assignment.variables;
        for &(piece, mode) in &effect.accesses {
            let named = variables.name(glance.view(registers, memory), piece);
            let Some(bytes) = memory.read(piece.address, piece.length as usize) else { continue };
            if matches!(mode, Mode::Read | Mode::Update) {
                let name = named.as_ref().map_or("", |named| &named.name);
                if let Some(named) = &named {
                    self.ledger.reads(glance.event, &named.name, || variables.value(named, memory));
                }
                self.ledger.read(glance.event, piece.address, &bytes, name);
                if piece.length == 8 {
                    glance.pointers.push(piece.address);
                }
            }
            if let Mode::Write | Mode::Update = mode {
                glance.overwrites(piece.address, &bytes);
                if let Some(named) = named {
                    glance.writes(&mut self.ledger, named, |named, glance| {
                        variables.value(named, &Past { memory, overwritten: &glance.overwritten })
                    });
                }
            }
        }
    }

    /// Notes what an instruction has written.
    fn look_behind(&mut self, tracee: &Tracee, glance: &Glance, effect: &Effect) {
        for &(piece, mode) in &effect.accesses {
            if mode != Mode::Read
                && let Some(bytes) = ProgramMemory(tracee).read(piece.address, piece.length as usize)
            {
                self.ledger.wrote(glance.author, piece.address, &bytes);
            }
        }
    }

    /// Ends the watch of an event, which has ended or is no longer looked at.
    fn close(&mut self, tracee: &Tracee, glance: Glance) {
        for named in &glance.written {
            let after = self.assignment.variables.value(named, &ProgramMemory(tracee));
            self.ledger.leaves(glance.event, &named.name, after);
        }
    }

    /// The return addresses of functions, unless there is a leader with a breakpoint of its own.
    fn returns(&self, execution: &Execution<'_>) -> impl Iterator<Item = u64> {
        let backs = self.calling.iter().map(|calling| calling.back);
        backs.filter(|&back| execution.placement.leader_at(back).is_none())
    }

    /// Inserts breakpoints where functions return.
    fn arm(&self, execution: &Execution<'_>) {
        for back in self.returns(execution) {
            execution.tracee.write(RuntimeAddress(back), &[super::INT3]);
        }
    }

    /// Removes these breakpoints.
    fn disarm(&self, execution: &Execution<'_>) {
        for back in self.returns(execution) {
            if let Some(text) = execution.placement.text(back) {
                execution.tracee.write(RuntimeAddress(back), &text[..1]);
            }
        }
    }

    fn note_end(&mut self, termination: &Termination) {
        let is_missing = self.last.is_some_and(|last| self.latest.is_none_or(|latest| latest < last));
        let limit = match termination {
            Termination::Cut(_) | Termination::Endless(_) => Limit::Time,
            // The trace may end where the run was asked something.
            Termination::Left(Deviation::RanPastEnd { .. })
                if self.latest == self.assignment.trace.events().next_back() =>
            {
                return;
            }
            Termination::Left(_) => Limit::LeftPath(self.latest),
            Termination::Exited(_) | Termination::Crashed(_) if is_missing => Limit::LeftPath(self.latest),
            Termination::Exited(_) | Termination::Crashed(_) | Termination::Reached => return,
        };
        self.limit(limit);
    }

    fn limit(&mut self, limit: Limit) {
        self.ledger.observation.limit = Some(limit);
    }
}
