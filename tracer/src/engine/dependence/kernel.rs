//! The data flow through the kernel: by its calls, and by signals.

use super::Detective;
use super::files::Handover;
use super::writers::{LastWriter, NOBODY};
use crate::address::RuntimeAddress;
use crate::process::{CallEffect, FileAction, KernelState, SystemCall, Tracee};
use crate::program::accesses::Mode;
use crate::program::operations::{Access, RAX};
use crate::program::variables::{MemoryPiece, RegisterValues};

impl Detective<'_> {
    /// Notes the effects of a system call.
    pub(super) fn call_kernel(&mut self, tracee: &Tracee, before: &RegisterValues, now: &RegisterValues) {
        const ARGUMENTS: [usize; 6] = [7, 6, 2, 10, 8, 9];
        let arguments = ARGUMENTS.map(|number| before.general[number]);
        let (number, result) = (before.general[RAX as usize], now.general[RAX as usize] as i64);
        let call = SystemCall { number, arguments, result };
        if call.returns_from_handler() {
            self.registers = self.interrupted.pop().unwrap_or_default();
            return;
        }
        let CallEffect { reads, writes, fresh, moved, asks, changes, file, is_unknown } =
            call.effect(|address, length| tracee.read(RuntimeAddress(address), length));
        let writer = self.calls.event().map_or(NOBODY, |event| event.0);
        if is_unknown && writer != NOBODY {
            self.remarks.insert(format!(
                "what system call {number} reads and writes is not known, so that dependences by it are missing"
            ));
        }
        asks.into_iter().for_each(|state| self.ask(state));
        for state in changes {
            self.kernel.insert(state, writer);
        }
        for (address, length) in reads {
            self.read_by_kernel(tracee, before, address, length);
        }
        if let Some(action) = file {
            self.use_file(tracee, before, writer, action);
        }
        let moved_to = moved.map(|((_, length), to)| (to, length));
        for changed in writes.iter().chain(&fresh).copied().chain(moved_to) {
            self.forget_code(changed);
        }
        writes.into_iter().for_each(|(address, length)| self.memory.set(address, length, writer));
        fresh.into_iter().for_each(|(address, length)| self.memory.set(address, length, NOBODY));
        if let Some((from, to)) = moved {
            self.memory.shift(from, to);
        }
    }

    /// Notes that the innermost event reads state that the kernel keeps.
    fn ask(&mut self, state: KernelState) {
        let writer = self.kernel.get(&state).copied().filter(|&writer| writer != NOBODY);
        match (self.calls.innermost(), writer) {
            (Some(call), Some(writer)) if call.event.0 != writer => {
                call.reads(writer, 0, self.arrived);
            }
            (None, Some(writer)) => {
                self.orphans.insert(writer);
            }
            _ => {}
        }
    }

    /// Notes that the handler of a signal is about to begin.
    pub(super) fn enter_handler(&mut self, signal: u64) {
        self.interrupted.push(self.registers.clone());
        // The event that is interrupted does not need that, but what happens then does.
        for state in [KernelState::Handler(signal), KernelState::Signals, KernelState::Timer] {
            let writer = self.kernel.get(&state).copied().filter(|&writer| writer != NOBODY);
            self.orphans.extend(writer);
        }
    }

    fn read_by_kernel(&mut self, tracee: &Tracee, at: &RegisterValues, address: u64, length: u64) {
        let piece = MemoryPiece { address, length };
        self.read_memory(tracee, at, Access { piece, mode: Mode::Read, is_fixed: false }, false);
    }

    /// Notes that a file was read or written.
    fn use_file(&mut self, tracee: &Tracee, at: &RegisterValues, writer: LastWriter, action: FileAction) {
        let sources = match action {
            FileAction::Reads(descriptor) | FileAction::Seeks(descriptor) => {
                self.files.read(tracee, descriptor, Some(writer))
            }
            FileAction::ReadsElsewhere(descriptor) => self.files.read(tracee, descriptor, None),
            FileAction::Writes(descriptor, pieces) => {
                let is_held_back =
                    pieces.iter().all(|&(address, _)| self.library.is_held_back(tracee, address));
                if !is_held_back {
                    for &(address, length) in &pieces {
                        self.read_by_kernel(tracee, at, address, length);
                    }
                }
                let is_by_the_way = is_held_back && !self.library.flushes();
                let opener = self.kernel.get(&KernelState::Descriptor(descriptor)).copied().unwrap_or(NOBODY);
                let handover = Handover { flusher: writer, opener, is_by_the_way };
                self.files.write(tracee, &self.memory, (descriptor, &pieces), handover);
                return;
            }
        };
        let number = self.builder.number("stdin");
        let number = if at.general[7] == 0 { number } else { 0 };
        if let Some(call) = self.calls.innermost() {
            let own = call.event.0;
            let sources = sources.into_iter().filter(|&from| from != own);
            sources.for_each(|from| call.reads(from, number, self.arrived));
        }
    }
}
