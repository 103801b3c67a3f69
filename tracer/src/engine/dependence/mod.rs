//! Data dependences: who has written what each event reads, found by executing a run instruction by instruction.
//!
//! Every byte of memory and every register has a last writer, an event. What code does that is not traced, such
//! as that of a library, is done by the event that has called it. What the kernel does is known by its calls.
//! The run must go as recorded, which the rules of a replay watch.
//!
//! Source: Agrawal and Horgan, "Dynamic Program Slicing", PLDI 1990; last writers of addresses as in Zhang, Gupta
//! and Zhang, "Precise Dynamic Slicing Algorithms", ICSE 2003. Two things are unlike here, because memory is
//! looked at and not the source: an argument has been written by the call, not by the beginning of the function;
//! and what is only saved and restored keeps its writer.

mod files;
mod frames;
mod interpreter;
mod kernel;
mod library;
mod potential;
mod stepping;
mod writers;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use files::FileWriters;
use frames::{EndedEvent, OpenCalls};
use interpreter::Interpreter;
use library::LibraryState;
use potential::{MadeDecision, OtherWays};
use writers::{LastWriter, MemoryWriters, NOBODY, RegisterWriters};

use super::Execution;
use super::crash_state::{ProgramMemory, WatchedMemory};
use crate::address::RuntimeAddress;
use crate::dependence::{
    Dependences, DependencesBuilder, Incomplete, Interpretation, ValueAnswer, ValueQuestion,
};
use crate::process::{KernelState, MemoryRange, Tracee};
use crate::program::accesses::Mode;
use crate::program::operations::{Access, InsnRole, LONGEST, Operation, RAX, RBP};
use crate::program::variables::{MemoryPiece, RegisterValues, ValueBounds, Variables, View};
use crate::program::{LeaderKind, Program};
use crate::termination::Termination;
use crate::trace::{EventId, Trace};

pub(crate) use stepping::follow;

/// An investigation: what to find out, and at what cost.
pub(crate) struct Investigation<'i> {
    pub(crate) program: &'i Program,
    pub(crate) trace: &'i Trace,
    pub(crate) variables: &'i Variables,
    /// The questions for values.
    pub(crate) questions: &'i [ValueQuestion],
    /// The largest number of instructions that are executed one by one.
    pub(crate) instructions: u64,
    /// The largest number of bytes of memory for what is found out.
    pub(crate) memory: u64,
    /// Whether decisions count that could have written what is read, had they gone another way.
    pub(crate) asks_for_potential: bool,
    /// The choice of the processor or the tracer to execute the instructions.
    pub(crate) interpretation: Interpretation,
}

/// The distance around its base within which thread-local memory lies, in bytes.
const THREAD_LOCAL: u64 = 4096;
/// The size of a pointer in bytes.
const POINTER_SIZE: u64 = 8;

/// The detective: it notes the last writers and who reads them, while the run goes on.
struct Detective<'i> {
    investigation: Investigation<'i>,
    builder: DependencesBuilder,
    memory: MemoryWriters,
    registers: RegisterWriters,
    /// The writers of registers at the beginning of each handler of a signal that has not returned.
    interrupted: Vec<RegisterWriters>,
    calls: OpenCalls,
    library: LibraryState,
    files: FileWriters,
    other_ways: OtherWays,
    /// The last writers of the state that the kernel keeps.
    kernel: HashMap<KernelState, LastWriter>,
    /// The writers of what was read while no event took place: the reason why the next function is called.
    orphans: BTreeSet<LastWriter>,
    /// The decoded instructions by address; where memory with code is written, they are forgotten.
    operations: HashMap<u64, Option<Rc<Operation>>>,
    code_pages: HashSet<u64>,
    /// The names of what instructions read that always mean the same variable.
    names: HashMap<u64, u32>,
    answers: Vec<Option<ValueAnswer>>,
    /// The event whose instruction was executed last.
    last: Option<EventId>,
    /// The event that was reached last, by its position.
    arrived: u32,
    instructions: u64,
    interpreter: Interpreter,
    remarks: BTreeSet<String>,
}

/// An instruction that is being executed.
struct Pending {
    operation: Rc<Operation>,
    registers: RegisterValues,
    writes: Vec<Access>,
    /// The writer that a value keeps which is only stored or taken back.
    kept: Option<LastWriter>,
}

impl<'i> Detective<'i> {
    fn new(investigation: Investigation<'i>) -> Detective<'i> {
        Detective {
            builder: DependencesBuilder::new(investigation.trace.len()),
            answers: vec![None; investigation.questions.len()],
            interpreter: Interpreter::new(investigation.interpretation),
            investigation,
            memory: MemoryWriters::default(),
            registers: RegisterWriters::default(),
            interrupted: Vec::new(),
            calls: OpenCalls::default(),
            library: LibraryState::default(),
            files: FileWriters::default(),
            other_ways: OtherWays::default(),
            kernel: HashMap::new(),
            orphans: BTreeSet::new(),
            operations: HashMap::new(),
            code_pages: HashSet::new(),
            names: HashMap::new(),
            last: None,
            arrived: 0,
            instructions: 0,
            remarks: Default::default(),
        }
    }

    /// Notes that the run has reached an event.
    fn arrive(&mut self, execution: &Execution<'_>, event: EventId, registers: &RegisterValues) {
        let Investigation { program, trace, .. } = self.investigation;
        self.arrived = event.0;
        let leader = program.leader(trace.leader(event));
        let bias = execution.placement.bias(leader.image);
        let ended = self.calls.arrive((program, trace), (event, bias), registers);
        ended.into_iter().for_each(|ended| self.end(execution.tracee, ended));
        let orphans = std::mem::take(&mut self.orphans);
        if let Some(call) = self.calls.innermost().filter(|_| leader.kind == LeaderKind::Entry) {
            orphans.into_iter().for_each(|writer| call.reads(writer, 0, event.0));
        }
        if leader.kind == LeaderKind::Entry && execution.conditions.poison != agent::poison::Poison::Off {
            // The frame holds a pattern of the tracer's.
            let size = program.function_of(trace.leader(event)).undefined_size();
            self.memory.set(registers.sp().saturating_sub(size), size, NOBODY);
        }
        self.last = Some(event);
        if self.investigation.asks_for_potential && leader.decides {
            let taken = trace.next(event).map(|next| trace.leader(next));
            let decision =
                MadeDecision { event: event.0, leader: trace.leader(event), taken, registers, bias };
            let memory = ProgramMemory(execution.tracee);
            self.other_ways.decide((program, self.investigation.variables), &memory, decision);
        }
        self.answer(execution.tracee, event, registers, bias);
    }

    /// Answers the questions about values at this event. A value that a pointer leads to has been written by who has
    /// written the pointer, too: another one would lead elsewhere.
    fn answer(&mut self, tracee: &Tracee, event: EventId, registers: &RegisterValues, bias: u64) {
        let Investigation { program, trace, variables, questions, .. } = self.investigation;
        let function = program.leader(trace.leader(event)).function;
        for (number, question) in questions.iter().enumerate().filter(|(_, question)| question.event == event)
        {
            let memory = WatchedMemory::new(tracee);
            let view = View { function, registers, bias, memory: &memory, followed: &[] };
            let Some(named) = variables.called(view, &question.name) else { continue };
            // All of it counts, not only what is shown.
            let _ = variables.text_within(&named, &memory, ValueBounds::WHOLE);
            let mut writers = BTreeSet::new();
            for MemoryPiece { address, length } in memory.into_read() {
                self.memory.each(address, length, |writer| {
                    writers.insert(EventId(writer));
                });
            }
            let value = variables.value(&named, &ProgramMemory(tracee)).unwrap_or_default().text;
            self.answers[number] = Some(ValueAnswer { value, writers: writers.into_iter().collect() });
        }
    }

    /// Notes that an event is over.
    fn end(&mut self, tracee: &Tracee, EndedEvent { event, read, potential, overwritten }: EndedEvent) {
        self.builder.take(event, &read);
        self.builder.take_potential(event, &potential);
        // A library that leaves its own data as they were has not written them: its locks above all.
        let mut left = overwritten.into_iter().peekable();
        while let Some((start, first)) = left.next() {
            let mut stretch = vec![first];
            while let Some((_, next)) = left.next_if(|&(at, _)| at == start + stretch.len() as u64) {
                stretch.push(next);
            }
            let now = tracee.read(RuntimeAddress(start), stretch.len()).unwrap_or_default();
            for ((at, now), (before, writer)) in (start..).zip(now).zip(stretch) {
                if now == before && self.memory.get(at) == event.0 {
                    self.memory.set(at, 1, writer);
                }
            }
        }
    }

    /// Closes the calls that have returned.
    fn settle(&mut self, tracee: &Tracee, registers: &RegisterValues) {
        while let Some(ended) = self.calls.settle(registers.sp()) {
            self.end(tracee, ended);
        }
        self.library.settle(tracee, registers);
    }

    /// The decoded instruction at an address.
    fn operation(&mut self, tracee: &Tracee, pc: u64) -> Option<Rc<Operation>> {
        if let Some(known) = self.operations.get(&pc) {
            return known.clone();
        }
        let mut bytes = tracee.read(RuntimeAddress(pc), LONGEST);
        // The next page may not be there.
        let room = (4096 - (pc & 0xfff)) as usize;
        if bytes.is_none() && room < LONGEST {
            bytes = tracee.read(RuntimeAddress(pc), room);
        }
        let operation = bytes.and_then(|bytes| Operation::decode(&bytes, pc)).map(Rc::new);
        self.operations.insert(pc, operation.clone());
        self.code_pages.extend([pc >> 12, (pc + LONGEST as u64) >> 12]);
        operation
    }

    /// Handles an instruction that is about to be executed.
    fn before(&mut self, execution: &Execution<'_>, registers: RegisterValues) -> Option<Pending> {
        let tracee: &Tracee = execution.tracee;
        self.settle(tracee, &registers);
        let operation = self.operation(tracee, registers.pc)?;
        let is_traced = execution.placement.text(registers.pc).is_some();
        match self.calls.innermost() {
            Some(call) if is_traced => call.registers = registers,
            Some(_) => {
                let is_text = |pc| execution.placement.text(pc).is_some();
                for (address, length) in self.library.enter(tracee, &registers, is_text) {
                    let access =
                        Access { piece: MemoryPiece { address, length }, mode: Mode::Read, is_fixed: false };
                    self.read_memory(tracee, &registers, access, false);
                }
            }
            None => {}
        }
        self.last = self.calls.event().or(self.last);
        let is_saving = !is_traced || self.calls.innermost().is_none_or(|call| call.is_structural);
        let accesses: Vec<Access> = operation.accesses(&registers).collect();
        let kept = self.kept(&operation, &accesses, is_saving);
        for &access in accesses.iter().filter(|access| access.mode != Mode::Write) {
            let is_saved = kept.is_some() && matches!(operation.role, InsnRole::Pop(_));
            if !is_saved && (is_traced || self.library.counts(tracee, access.piece)) {
                self.read_memory(tracee, &registers, access, is_traced);
            }
        }
        if kept.is_none() {
            self.read_registers(tracee, &operation, &registers, &accesses);
        }
        let writes: Vec<Access> = accesses.into_iter().filter(|access| access.mode != Mode::Read).collect();
        if !is_traced {
            writes.iter().for_each(|access| self.note_overwritten(tracee, &registers, access.piece));
        }
        Some(Pending { operation, registers, writes, kept })
    }

    /// The writer that a value keeps because the instruction only saves it, takes it back, or hands an argument
    /// over to the function that has been called.
    fn kept(&self, operation: &Operation, accesses: &[Access], is_saving: bool) -> Option<LastWriter> {
        match operation.role {
            InsnRole::Push(register) | InsnRole::Store(register) if is_saving => {
                Some(self.registers.get(register))
            }
            InsnRole::Pop(_) => {
                let MemoryPiece { address, length } = accesses.first()?.piece;
                self.memory.common(address, length)
            }
            InsnRole::Frame => Some(NOBODY),
            _ => None,
        }
    }

    /// Notes that the innermost event reads memory.
    fn read_memory(&mut self, tracee: &Tracee, at: &RegisterValues, access: Access, is_traced: bool) {
        let MemoryPiece { address, length } = access.piece;
        let Some(call) = self.calls.innermost() else {
            return self.memory.each(address, length, |writer| {
                self.orphans.insert(writer);
            });
        };
        let mut news = Vec::new();
        self.memory.each(address, length, |writer| {
            if writer != call.event.0 && call.noticed.insert((at.pc, writer)) {
                news.push(writer);
            }
        });
        if !news.is_empty() {
            let (number, now) = (self.name(tracee, at, access, is_traced), self.arrived);
            let Some(call) = self.calls.innermost() else { return };
            news.into_iter().for_each(|writer| call.reads(writer, number, now));
        }
        if self.investigation.asks_for_potential {
            self.read_potentially(tracee, at, access, is_traced);
        }
        let call = self.calls.innermost().filter(|call| !call.pointers.contains(&address));
        if let Some(call) = call.filter(|_| is_traced && length == POINTER_SIZE) {
            call.pointers.push(address);
        }
    }

    /// Notes that the innermost event reads memory that decisions could have written.
    fn read_potentially(&mut self, tracee: &Tracee, at: &RegisterValues, access: Access, is_traced: bool) {
        let MemoryPiece { address, length } = access.piece;
        let mut decisions = BTreeSet::new();
        for byte in address..address.saturating_add(length) {
            decisions.extend(self.other_ways.since(byte, self.memory.get(byte)));
        }
        if decisions.is_empty() {
            return;
        }
        let (number, now) = (self.name(tracee, at, access, is_traced), self.arrived);
        let Some(call) = self.calls.innermost() else { return };
        let event = call.event.0;
        for decision in decisions.into_iter().filter(|&decision| decision != event) {
            call.potential.entry((decision, number)).or_insert(now);
        }
    }

    /// The number of the name that the source has for a piece of memory.
    fn name(&mut self, tracee: &Tracee, at: &RegisterValues, access: Access, is_traced: bool) -> u32 {
        let is_constant = is_traced && access.is_fixed;
        if let Some(&number) = self.names.get(&at.pc).filter(|_| is_constant) {
            return number;
        }
        let memory = ProgramMemory(tracee);
        let Some(call) = self.calls.innermost() else { return 0 };
        let registers = if is_traced { at } else { &call.registers };
        let (function, bias) = (call.function, call.bias);
        let view = View { function, registers, bias, memory: &memory, followed: &call.pointers };
        let named = self.investigation.variables.name(view, access.piece).map(|named| named.name);
        let is_input = !is_traced && self.library.is_of_input(tracee, access.piece.address);
        let name = if is_input { Some("stdin".to_owned()) } else { named };
        let number = self.builder.number(&name.unwrap_or_default());
        if is_constant {
            self.names.insert(at.pc, number);
        }
        number
    }

    /// Notes that the innermost event reads registers.
    fn read_registers(
        &mut self,
        tracee: &Tracee,
        operation: &Operation,
        at: &RegisterValues,
        accesses: &[Access],
    ) {
        let mut news = Vec::new();
        if let Some(call) = self.calls.innermost() {
            writers::each(operation.reads, |register| {
                let writer = self.registers.get(register);
                if writer != NOBODY && writer != call.event.0 && call.noticed.insert((at.pc, writer)) {
                    news.push(writer);
                }
            });
        }
        for writer in news {
            let number = self.name_of_register(tracee, EventId(writer), at, accesses);
            if let Some(call) = self.calls.innermost() {
                call.reads(writer, number, self.arrived);
            }
        }
    }

    /// The name of a value in a register: `f()` if a function has returned it, or what it is stored into.
    fn name_of_register(
        &mut self,
        tracee: &Tracee,
        writer: EventId,
        at: &RegisterValues,
        accesses: &[Access],
    ) -> u32 {
        let Investigation { program, trace, .. } = self.investigation;
        let Some(event) = self.calls.event() else { return 0 };
        let called = trace.activation(writer);
        if called != trace.activation(event) && trace.caller(called) == Some(event) {
            let name = format!("{}()", program.function_of(trace.leader(writer)).name);
            return self.builder.number(&name);
        }
        match accesses.iter().find(|access| access.mode == Mode::Write) {
            Some(&access) if self.calls.innermost().is_some_and(|call| call.is_structural) => {
                self.name(tracee, at, access, true)
            }
            _ => 0,
        }
    }

    /// Notes that a library is about to overwrite this: if it is its own, it may leave it as it was.
    fn note_overwritten(&mut self, tracee: &Tracee, at: &RegisterValues, piece: MemoryPiece) {
        let MemoryPiece { address, length } = piece;
        let is_thread_local = address.abs_diff(at.fs_base) < THREAD_LOCAL;
        if !is_thread_local && !self.library.is_static(address) {
            return;
        }
        let memory = ProgramMemory(tracee);
        let Some(call) = self.calls.innermost() else { return };
        let (function, registers, bias) = (call.function, &call.registers, call.bias);
        let view = View { function, registers, bias, memory: &memory, followed: &[] };
        if self.investigation.variables.is_global(view, piece) {
            return;
        }
        let bytes = tracee.read(RuntimeAddress(address), length as usize).unwrap_or_default();
        for (at, byte) in (address..).zip(bytes) {
            call.overwritten.entry(at).or_insert((byte, self.memory.get(at)));
        }
    }

    /// Handles an instruction that has been executed.
    fn after(&mut self, execution: &Execution<'_>, pending: &Pending, now: &RegisterValues) {
        let Pending { operation, registers, writes, kept } = pending;
        let tracee: &Tracee = execution.tracee;
        let writer = self.calls.event().map_or(NOBODY, |event| event.0);
        let is_saved = matches!(operation.role, InsnRole::Push(_) | InsnRole::Store(_));
        for &Access { piece: MemoryPiece { address, length }, .. } in writes {
            self.memory.set(address, length, kept.filter(|_| is_saved).unwrap_or(writer));
            if let Some(call) = self.calls.innermost().filter(|_| self.investigation.asks_for_potential) {
                let instruction = registers.pc.wrapping_sub(call.bias);
                self.other_ways.writes(instruction, MemoryPiece { address, length });
            }
            self.forget_code((address, length));
        }
        match operation.role {
            InsnRole::Pop(register) => self.registers.set(register, kept.unwrap_or(writer)),
            InsnRole::Frame => self.registers.set(RBP, NOBODY),
            InsnRole::SystemCall => {
                self.registers.set(RAX, writer);
                self.call_kernel(tracee, registers, now);
            }
            // What a call and a return do to registers is up to the code there.
            _ => self.registers.set_all(operation.writes, writer),
        }
    }

    /// Memory has changed: other instructions may lie there now.
    fn forget_code(&mut self, (address, length): MemoryRange) {
        let pages = address >> 12..=address.saturating_add(length.saturating_sub(1)) >> 12;
        let has_code = match pages.end() - pages.start() {
            0 => self.code_pages.contains(pages.start()),
            _ => self.code_pages.iter().any(|page| pages.contains(page)),
        };
        if has_code {
            self.operations.clear();
            self.code_pages.clear();
        }
    }

    /// The memory that was used for what was found out, in bytes.
    fn memory_used(&self) -> u64 {
        self.memory.memory() + self.builder.memory() + self.other_ways.memory()
    }

    /// The dependences that were found out.
    fn finish(
        mut self,
        tracee: &Tracee,
        ended: Option<&Termination>,
        enough: Option<Incomplete>,
    ) -> Dependences {
        while let Some(ended) = self.calls.settle(u64::MAX) {
            self.end(tracee, ended);
        }
        if self.other_ways.lacks {
            self.remarks.insert(
                "what some decisions would have written, had they gone another way, is not known, because it goes by a \
                 pointer or the decision is a switch: the slice may lack them"
                    .to_owned(),
            );
        }
        let mut found = self.builder.finish();
        let latest = self.last;
        found.incomplete = enough.or(match ended {
            Some(Termination::Exited(_) | Termination::Crashed(_) | Termination::Reached) => None,
            Some(Termination::Left(_)) => Some(Incomplete::LeftPath(latest)),
            Some(Termination::Endless(_)) => None,
            Some(Termination::Cut(_)) | None => Some(Incomplete::Time(latest)),
        });
        [found.stdout, found.stderr] = self.files.printed;
        (found.answers, found.last, found.remarks) = (self.answers, latest, self.remarks);
        found.instructions = self.instructions;
        (found.interpreted, found.compared) = (self.interpreter.interpreted, self.interpreter.compared);
        found.disagreements = self.interpreter.disagreements;
        found
    }
}
