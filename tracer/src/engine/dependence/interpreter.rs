//! Execute instructions of a stopped program in the tracer's own process, where that is possible: a stop of the program for
//! each of them takes a hundred times as long.
//!
//! [`Operation::interpret`] computes the effect of an instruction. Nobody has to believe it: of each form of
//! instructions the first ones are executed by the processor as well, and a form about which the two disagree is left
//! to the processor from then on. Stored values go to the program at once; its registers are set before it goes on.

use std::collections::HashMap;

use crate::address::RuntimeAddress;
use crate::dependence::Interpretation;
use crate::engine::crash::values_of;
use crate::process::{Mapped, Registers, Tracee};
use crate::program::interpretation::{MachineState, Storage};
use crate::program::operations::Operation;

const PAGE: u64 = 4096;
/// So many instructions of a form are executed by the processor as well.
const TRIALS: u32 = 3;
/// After so many the processor executes one, so that signals come through, and what others have written is seen.
const MOST_IN_A_ROW: u32 = 4096;

/// The trust in the interpretation of a form of instructions, from comparisons with the processor.
#[derive(Clone, Copy)]
enum Trust {
    /// The processor agreed so often.
    Agreed(u32),
    /// It did not, once.
    Lost,
}

/// Executes instructions.
pub(super) struct Interpreter {
    interpretation: Interpretation,
    /// All registers, as the program had them when it stopped.
    stopped: Option<Registers>,
    /// The state that it is to have, if that is another one.
    ahead: Option<MachineState>,
    memory: MemoryCopy,
    forms: HashMap<u32, Trust>,
    in_a_row: u32,
    /// The number of instructions that the processor has not executed.
    pub(super) interpreted: u64,
    /// The number of instructions that both have executed.
    pub(super) compared: u64,
    /// The instructions about which the processor did not agree.
    pub(super) disagreements: Vec<String>,
}

/// The expected effect of an instruction, to be compared with that on the processor.
pub(super) struct Expectation {
    state: MachineState,
    stored: Option<Stored>,
    form: u32,
    undefined: u64,
    pc: u64,
}

/// The value that would have been stored: address, length, value.
type Stored = (u64, usize, u64);

/// The result of the attempt to interpret an instruction.
pub(super) enum Interpreted {
    /// It is done, and has led to this.
    Done(MachineState),
    /// The processor has to execute it, and should come to this.
    Expected(Expectation),
    /// The processor has to execute it.
    Left,
}

impl Interpreter {
    pub(super) fn new(interpretation: Interpretation) -> Interpreter {
        Interpreter {
            interpretation,
            stopped: None,
            ahead: None,
            memory: MemoryCopy::default(),
            forms: HashMap::new(),
            in_a_row: 0,
            interpreted: 0,
            compared: 0,
            disagreements: Vec::new(),
        }
    }

    /// The state of the program, which has stopped.
    pub(super) fn look(&mut self, tracee: &Tracee) -> Option<MachineState> {
        self.stopped = tracee.registers();
        self.ahead = None;
        self.stopped
            .as_ref()
            .map(|registers| MachineState { registers: values_of(registers), flags: registers.eflags })
    }

    /// Executes an instruction, if that is possible.
    pub(super) fn execute(
        &mut self,
        tracee: &Tracee,
        operation: &Operation,
        state: &MachineState,
    ) -> Interpreted {
        let form = operation.form();
        let trust = *self.forms.entry(form).or_insert(Trust::Agreed(0));
        let is_trusted = match (self.interpretation, trust) {
            (Interpretation::None, _) | (_, Trust::Lost) => return Interpreted::Left,
            (Interpretation::Checked, _) => false,
            (Interpretation::Trusted, Trust::Agreed(trials)) => trials >= TRIALS,
        };
        if self.in_a_row >= MOST_IN_A_ROW || !self.memory.has_code(tracee, state.registers.pc) {
            return Interpreted::Left;
        }
        let mut memory = ProgramStorage { tracee, copy: &mut self.memory, is_real: is_trusted, stored: None };
        let Some(next) = operation.interpret(state, &mut memory) else { return Interpreted::Left };
        let stored = memory.stored;
        if !is_trusted {
            let (undefined, pc) = (operation.undefined_flags(), state.registers.pc);
            return Interpreted::Expected(Expectation { state: next, stored, form, undefined, pc });
        }
        self.in_a_row += 1;
        self.interpreted += 1;
        self.ahead = Some(next);
        Interpreted::Done(next)
    }

    /// Gives the program the state to which its instructions have led.
    pub(super) fn hand_over(&mut self, tracee: &Tracee) {
        let (Some(state), Some(stopped)) = (self.ahead.take(), &mut self.stopped) else { return };
        let general = &state.registers.general;
        [stopped.rax, stopped.rcx, stopped.rdx, stopped.rbx] =
            [general[0], general[1], general[2], general[3]];
        [stopped.rsp, stopped.rbp, stopped.rsi, stopped.rdi] =
            [general[4], general[5], general[6], general[7]];
        [stopped.r8, stopped.r9, stopped.r10, stopped.r11] =
            [general[8], general[9], general[10], general[11]];
        [stopped.r12, stopped.r13, stopped.r14, stopped.r15] =
            [general[12], general[13], general[14], general[15]];
        (stopped.rip, stopped.eflags) = (state.registers.pc, state.flags);
        // No call of the kernel is to be made again.
        stopped.orig_rax = u64::MAX;
        tracee.set_registers(stopped);
    }

    /// The program goes on by itself: what its memory holds will not be known any more. `keeps_map` if it executes
    /// one instruction that is none of the kernel's, so that no memory comes or goes.
    pub(super) fn let_go(&mut self, keeps_map: bool) {
        self.in_a_row = 0;
        self.memory.pages.clear();
        if !keeps_map || std::mem::take(&mut self.memory.is_outdated) {
            self.memory.mapped = None;
        }
    }

    /// Whether the processor has done what was expected.
    pub(super) fn compare(&mut self, tracee: &Tracee, expected: &Expectation, now: &MachineState) {
        let Expectation { state, stored, form, undefined, pc } = expected;
        // Of the flags the status alone: the others are the kernel's and the debugger's.
        let status = 0x8d5 & !undefined;
        let is_stored = stored.is_none_or(|(address, length, value)| {
            let there = tracee.read(RuntimeAddress(address), length);
            there.is_some_and(|there| there == value.to_le_bytes()[..length])
        });
        let agrees = is_stored
            && state.registers.general == now.registers.general
            && state.registers.pc == now.registers.pc
            && (state.flags ^ now.flags) & status == 0;
        self.compared += 1;
        let trust = self.forms.entry(*form).or_insert(Trust::Agreed(0));
        match (agrees, *trust) {
            (true, Trust::Agreed(trials)) => *trust = Trust::Agreed(trials.saturating_add(1)),
            (true, Trust::Lost) => {}
            (false, _) => {
                *trust = Trust::Lost;
                self.disagreements.push(format!("form {form} at {pc:#x}"));
            }
        }
    }
}

/// A copy of parts of the program's memory.
#[derive(Default)]
struct MemoryCopy {
    pages: HashMap<u64, Box<[u8; PAGE as usize]>>,
    mapped: Option<Vec<Mapped>>,
    /// Whether something was not found in it.
    is_outdated: bool,
}

impl MemoryCopy {
    /// The mapping that contains an address.
    fn mapped(&mut self, tracee: &Tracee, address: u64) -> Option<&Mapped> {
        let all = self.mapped.get_or_insert_with(|| tracee.mapped());
        let behind = all.partition_point(|mapped| mapped.start.0 <= address);
        let found = behind.checked_sub(1).map(|at| &all[at]).filter(|mapped| mapped.contains(address));
        // The stack grows when it is used.
        self.is_outdated |= found.is_none();
        found
    }

    /// Whether code can be executed there: all of an instruction.
    fn has_code(&mut self, tracee: &Tracee, pc: u64) -> bool {
        self.mapped(tracee, pc).is_some_and(|mapped| mapped.is_code)
    }

    fn page(&mut self, tracee: &Tracee, number: u64) -> Option<&mut [u8; PAGE as usize]> {
        if !self.pages.contains_key(&number) {
            let address = number * PAGE;
            self.mapped(tracee, address).filter(|mapped| mapped.is_readable && !mapped.is_shared)?;
            let bytes = tracee.read(RuntimeAddress(address), PAGE as usize)?;
            self.pages.insert(number, bytes.into_boxed_slice().try_into().ok()?);
        }
        self.pages.get_mut(&number).map(|page| &mut **page)
    }
}

/// The program's memory as instructions use it.
struct ProgramStorage<'t> {
    tracee: &'t Tracee,
    copy: &'t mut MemoryCopy,
    /// Whether something is stored in earnest.
    is_real: bool,
    stored: Option<Stored>,
}

impl Storage for ProgramStorage<'_> {
    fn load(&mut self, address: u64, length: usize) -> Option<u64> {
        let mut value = [0; 8];
        let (page, offset) = (address / PAGE, (address % PAGE) as usize);
        let here = length.min(PAGE as usize - offset);
        value[..here].copy_from_slice(&self.copy.page(self.tracee, page)?[offset..offset + here]);
        if here < length {
            let rest = &self.copy.page(self.tracee, page + 1)?[..length - here];
            value[here..length].copy_from_slice(rest);
        }
        Some(u64::from_le_bytes(value))
    }

    fn store(&mut self, address: u64, length: usize, value: u64) -> Option<()> {
        let last = address.checked_add(length as u64 - 1)?;
        for end in [address, last] {
            let is_own = |mapped: &&Mapped| mapped.is_writable && !mapped.is_code && !mapped.is_shared;
            self.copy.mapped(self.tracee, end).filter(is_own)?;
        }
        if self.is_real {
            let bytes = &value.to_le_bytes()[..length];
            if !self.tracee.write(RuntimeAddress(address), bytes) {
                return None;
            }
            for (at, &byte) in (address..).zip(bytes) {
                if let Some(page) = self.copy.pages.get_mut(&(at / PAGE)) {
                    page[(at % PAGE) as usize] = byte;
                }
            }
        }
        self.stored = Some((address, length, value));
        Some(())
    }
}
