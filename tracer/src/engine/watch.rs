//! Look at events while a run is repeated: instruction by instruction, what they read and write.
//!
//! The run is led by breakpoints as in any other replay. At an event that is wanted, the program is
//! single-stepped through the event's own code; the memory operands of each instruction are computed from
//! the registers before it. A function that it calls runs as ever, up to a breakpoint where it returns.
//! What code that is not traced has written is seen by comparing what it was handed the address of, and
//! the variables of the function that called it.
//!
//! What was seen means what the ledger says; this module only looks.

use std::collections::HashMap;
use std::ops::Range;

use agent::names::LeaderId;
use fixedbitset::FixedBitSet;

use super::ledger::Ledger;
use super::{Execution, Method, Replayer, Trap};
use crate::address::RuntimeAddress;
use crate::observation::{Limit, Observation};
use crate::process::{ProcessError, Registers, SIGTRAP, Stop, Tracee};
use crate::program::accesses::{self, Effect, Mode};
use crate::program::variables::{Memory, Named, RegisterValues, Variables, View};
use crate::program::{FunctionId, LeaderKind, Program};
use crate::termination::Termination;
use crate::trace::{EventId, Trace};

/// As many instructions of one event are looked at...
const MOST_OF_EVENT: u32 = 2_000;
/// ...and as many in all: a step costs some ten microseconds.
const MOST_IN_ALL: u32 = 60_000;
/// Of memory that is handed to code that is not traced, so much is compared.
const MOST_COMPARED: u64 = 4096;
/// The registers with the first arguments of a call: System V ABI.
const ARGUMENTS: [usize; 6] = [7, 6, 2, 1, 8, 9];

/// What to look at.
pub(crate) struct Assignment<'w> {
    program: &'w Program,
    trace: &'w Trace,
    variables: &'w Variables,
    /// The events to be looked at, by position.
    wanted: FixedBitSet,
}

impl<'w> Assignment<'w> {
    /// To look at these events of `trace`, and at the entries of their functions, where parameters get their
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

/// Looks at the events of an assignment while the run goes on.
pub(crate) struct Witness<'w> {
    assignment: Assignment<'w>,
    ledger: Ledger,
    /// The event that is stepped through.
    current: Option<Glance>,
    /// The events that wait for functions to return, innermost last.
    calling: Vec<Calling>,
    /// The latest event of the run.
    latest: Option<EventId>,
    /// The last event that is wanted.
    last: Option<EventId>,
    /// How many instructions may still be looked at.
    left: u32,
}

/// An event that is looked at.
struct Glance {
    event: EventId,
    /// To whom its writes are attributed: a parameter is written by the event that calls.
    author: EventId,
    function: FunctionId,
    bias: u64,
    steps: u32,
    /// What it has written, to be read again in the end.
    written: Vec<Named>,
    /// The bytes that it has overwritten, by address.
    overwritten: HashMap<u64, u8>,
    /// Where it has read what may be a pointer.
    pointers: Vec<u64>,
}

/// An event that waits for a function to return.
struct Calling {
    glance: Glance,
    /// Where the function returns to, and the stack pointer then.
    back: u64,
    sp: u64,
    callee: Callee,
}

/// What an event has called.
enum Callee {
    Traced(FunctionId),
    /// Code that is not traced; what it may read or write.
    Foreign(Vec<Exposed>),
}

/// What code that is not traced may read or write.
struct Exposed {
    named: Named,
    bytes: Vec<u8>,
    before: Option<String>,
    role: Role,
}

/// How code that is not traced comes by a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The call was handed the address of this variable of the function, or of a part of one.
    HandedOwn,
    /// The call was handed its address.
    Handed,
    /// It may have been told before.
    Own,
}

struct Inside<'t>(&'t Tracee);

impl Memory for Inside<'_> {
    fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        self.0.read(RuntimeAddress(address), length)
    }
}

/// Runs the program along its trace and looks at what is wanted, until all of that was seen.
pub(crate) fn watch(
    execution: &mut Execution<'_>,
    guide: &mut Replayer<'_>,
    assignment: Assignment<'_>,
) -> Result<(Observation, Option<Termination>), ProcessError> {
    let last = assignment.wanted.ones().next_back().map(|event| EventId(event as u32));
    let mut witness = Witness {
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
    if let Some(termination) = &ended {
        witness.note_end(termination);
    }
    Ok((witness.ledger.finish(), ended))
}

impl Witness<'_> {
    /// How the run ended; `None` if all was seen before.
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
                return Ok(Some(execution.crash(signal, guide)));
            }
        }
    }

    fn has_seen_all(&self) -> bool {
        let is_behind = self.last.is_none_or(|last| self.latest.is_some_and(|latest| latest > last));
        self.current.is_none() && self.calling.is_empty() && (is_behind || self.left == 0)
    }

    /// Serves a breakpoint: of a leader, or one where a function returns.
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

    /// The run has reached another event.
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
            self.ledger.observation.limit.get_or_insert(Limit::Instructions(glance.event));
            self.close(execution.tracee, glance);
            return Ok(None);
        }
        glance.steps += 1;
        self.left -= 1;
        self.disarm(execution);
        self.look_before(&Inside(execution.tracee), &mut glance, &registers, &effect);
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
        if effect.is_call && location.pc != effect.end {
            self.call(execution, (glance, &registers, &effect), reached);
        } else if reached.is_some_and(|leader| !execution.pace.current.is(leader.0)) {
            self.close(execution.tracee, glance);
        } else {
            self.current = Some(glance);
        }
        Ok(None)
    }

    /// What an instruction is about to read and write.
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

    /// What an instruction has written.
    fn look_behind(&mut self, tracee: &Tracee, glance: &Glance, effect: &Effect) {
        for &(piece, mode) in &effect.accesses {
            if mode != Mode::Read
                && let Some(bytes) = Inside(tracee).read(piece.address, piece.length as usize)
            {
                self.ledger.wrote(glance.author, piece.address, &bytes);
            }
        }
    }

    /// The event has called a function, which is about to begin.
    fn call(
        &mut self,
        execution: &Execution<'_>,
        (glance, registers, effect): (Glance, &RegisterValues, &Effect),
        reached: Option<LeaderId>,
    ) {
        let program = self.assignment.program;
        let entered = reached.map(|leader| program.leader(leader));
        let callee = match entered.filter(|leader| leader.kind == LeaderKind::Entry) {
            Some(leader) => Callee::Traced(leader.function),
            None => Callee::Foreign(self.exposed(&Inside(execution.tracee), &glance, registers)),
        };
        self.calling.push(Calling { glance, back: effect.end, sp: registers.sp(), callee });
    }

    /// What a call of code that is not traced is handed the address of, and the function's own variables.
    fn exposed(&self, memory: &dyn Memory, glance: &Glance, registers: &RegisterValues) -> Vec<Exposed> {
        let variables = self.assignment.variables;
        let view = glance.view(registers, memory);
        let handed = ARGUMENTS.iter().filter_map(|&number| variables.object(view, registers.general[number]));
        let own = variables.own(view);
        let role = |named: &Named| match own.iter().any(|own| own.overlaps(named)) {
            true => Role::HandedOwn,
            false => Role::Handed,
        };
        let handed: Vec<(Named, Role)> = handed.map(|named| (named.clone(), role(&named))).collect();
        let mut exposed: Vec<Exposed> = Vec::new();
        for (named, role) in handed.into_iter().chain(own.into_iter().map(|named| (named, Role::Own))) {
            let is_known = exposed.iter().any(|known| known.named.overlaps(&named));
            let size = named.size.min(MOST_COMPARED) as usize;
            if let Some(bytes) = memory.read(named.address, size).filter(|_| !is_known) {
                let past = Past { memory, overwritten: &glance.overwritten };
                let before = variables.value(&named, &past);
                exposed.push(Exposed { named, bytes, before, role });
            }
        }
        exposed
    }

    /// A function has returned to an event, or to another call of the same code.
    fn come_back(&mut self, execution: &mut Execution<'_>, pc: u64, sp: u64) -> Result<Trap, ProcessError> {
        self.disarm(execution);
        execution.tracee.set_pc(RuntimeAddress(pc));
        self.settle(execution.tracee, sp - 1);
        match self.calling.pop_if(|calling| calling.back == pc && calling.sp == sp) {
            Some(calling) => {
                let glance = self.returned(execution.tracee, calling);
                self.current = Some(glance);
            }
            None => {
                execution.tracee.step(0);
                if let Stop::Signal(signal) = execution.tracee.wait()? {
                    execution.tracee.send(signal);
                }
            }
        }
        Ok(Trap::Served)
    }

    /// What a function has left behind.
    fn returned(&mut self, tracee: &Tracee, calling: Calling) -> Glance {
        let Calling { mut glance, callee, .. } = calling;
        match callee {
            Callee::Traced(function) => self.take_result(tracee, &glance, function),
            Callee::Foreign(exposed) => self.compare(tracee, &mut glance, exposed),
        }
        glance
    }

    fn take_result(&mut self, tracee: &Tracee, glance: &Glance, function: FunctionId) {
        let Assignment { program, trace, variables, .. } = self.assignment;
        let result = tracee.registers().and_then(|registers| variables.result(function, registers.rax));
        let latest =
            self.latest.filter(|&latest| trace.caller(trace.activation(latest)) == Some(glance.event));
        let (Some(value), Some(latest)) = (result, latest) else { return };
        let name = format!("{}()", program.function(function).name);
        self.ledger.reads(glance.event, &name, || Some(value));
        let activation = trace.activation(latest);
        let is_last = |event: &EventId| {
            trace.activation(*event) == activation
                && !program.leader(trace.leader(*event)).kind.is_structural()
        };
        let first = trace.entry(activation);
        let last = (first.0..=latest.0).rev().map(EventId).find(is_last);
        if let Some(last) = last.filter(|last| self.assignment.wanted.contains(last.0 as usize)) {
            self.ledger.hands_over(last, glance.event, &name);
        }
    }

    /// What code that is not traced has written of what it could.
    fn compare(&mut self, tracee: &Tracee, glance: &mut Glance, exposed: Vec<Exposed>) {
        let variables = self.assignment.variables;
        let memory = Inside(tracee);
        for Exposed { named, bytes, before, role } in exposed {
            let Some(now) = memory.read(named.address, bytes.len()) else { continue };
            if let Some(changed) = changed(&bytes, &now).or_else(|| self.set_as_before(&named, &bytes, role))
            {
                let address = named.address + changed.start as u64;
                self.ledger.wrote(glance.author, address, &now[changed.clone()]);
                glance.overwrites(address, &bytes[changed]);
                glance.writes(&mut self.ledger, named, |_, _| before);
            } else if role != Role::Own {
                self.ledger.reads(glance.event, &named.name, || variables.value(&named, &memory));
                self.ledger.read(glance.event, named.address, &bytes, &named.name);
            }
        }
    }

    /// The bytes of a value that a call was handed, if it must have set them though they are as before:
    /// nobody else had.
    fn set_as_before(&self, named: &Named, bytes: &[u8], role: Role) -> Option<Range<usize>> {
        let knows_all = self.assignment.wanted.is_full();
        let is_set = role == Role::HandedOwn && knows_all && !self.ledger.is_written(named.address, bytes);
        is_set.then_some(0..bytes.len())
    }

    /// Functions whose frames are at or below `sp` have ended, whether they have returned or not.
    fn settle(&mut self, tracee: &Tracee, sp: u64) {
        while let Some(calling) = self.calling.pop_if(|calling| calling.sp <= sp) {
            let glance = self.returned(tracee, calling);
            self.close(tracee, glance);
        }
    }

    /// An event has ended, or is no longer looked at.
    fn close(&mut self, tracee: &Tracee, glance: Glance) {
        for named in &glance.written {
            let after = self.assignment.variables.value(named, &Inside(tracee));
            self.ledger.leaves(glance.event, &named.name, after.unwrap_or_default());
        }
    }

    /// Puts breakpoints where functions return.
    fn arm(&self, execution: &Execution<'_>) {
        for calling in
            self.calling.iter().filter(|calling| execution.placement.leader_at(calling.back).is_none())
        {
            execution.tracee.write(RuntimeAddress(calling.back), &[super::INT3]);
        }
    }

    /// Takes them out.
    fn disarm(&self, execution: &Execution<'_>) {
        for calling in
            self.calling.iter().filter(|calling| execution.placement.leader_at(calling.back).is_none())
        {
            if let Some(text) = execution.placement.text(calling.back) {
                execution.tracee.write(RuntimeAddress(calling.back), &text[..1]);
            }
        }
    }

    fn note_end(&mut self, termination: &Termination) {
        let is_missing = self.last.is_some_and(|last| self.latest.is_none_or(|latest| latest < last));
        let limit = match termination {
            Termination::Cut(_) => Limit::Time,
            Termination::Left(_) => Limit::LeftPath(self.latest),
            Termination::Exited(_) | Termination::Crashed(_) if is_missing => Limit::LeftPath(self.latest),
            Termination::Exited(_) | Termination::Crashed(_) => return,
        };
        self.ledger.observation.limit.get_or_insert(limit);
    }
}

impl Glance {
    fn view<'v>(&'v self, registers: &'v RegisterValues, memory: &'v dyn Memory) -> View<'v> {
        View { function: self.function, registers, bias: self.bias, memory, followed: &self.pointers }
    }

    /// It overwrites these bytes.
    fn overwrites(&mut self, address: u64, bytes: &[u8]) {
        for (at, &byte) in (address..).zip(bytes) {
            self.overwritten.entry(at).or_insert(byte);
        }
    }

    /// It writes a value, of which `before` tells what it was. Parts of it that it has written before do not
    /// count any more, nor does a part of what it has written already.
    fn writes(
        &mut self,
        ledger: &mut Ledger,
        named: Named,
        before: impl FnOnce(&Named, &Glance) -> Option<String>,
    ) {
        if self.written.iter().any(|whole| whole.holds(&named)) {
            return;
        }
        self.written.retain(|part| {
            let is_part = named.holds(part);
            if is_part {
                ledger.forget(self.event, &part.name);
            }
            !is_part
        });
        if ledger.writes(self.event, &named.name, || before(&named, self)) {
            self.written.push(named);
        }
    }
}

/// The memory as it was before an event.
struct Past<'p> {
    memory: &'p dyn Memory,
    overwritten: &'p HashMap<u64, u8>,
}

impl Memory for Past<'_> {
    fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = self.memory.read(address, length)?;
        for (at, byte) in (address..).zip(&mut bytes) {
            *byte = self.overwritten.get(&at).copied().unwrap_or(*byte);
        }
        Some(bytes)
    }
}

/// Where two texts of the same length differ; a number differs as a whole.
fn changed(before: &[u8], now: &[u8]) -> Option<Range<usize>> {
    let differ = |(one, other): (&u8, &u8)| one != other;
    let first = before.iter().zip(now).position(differ)?;
    let last = before.iter().zip(now).rposition(differ)?;
    Some(if now.len() <= 16 { 0..now.len() } else { first..last + 1 })
}

fn registers(tracee: &Tracee) -> Option<RegisterValues> {
    let r: Registers = tracee.registers()?;
    let general = [
        r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13,
        r.r14, r.r15,
    ];
    Some(RegisterValues { general, pc: r.rip, fs_base: r.fs_base })
}
