//! The state of a program that has stopped where it crashes.

use std::cell::{OnceCell, RefCell};

use super::Placement;
use crate::address::RuntimeAddress;
use crate::process::{Mapped, Tracee};
use crate::program::Program;
use crate::program::detour::Detours;
use crate::program::variables::{Memory, MemoryPiece};

/// The state of a program that has stopped where it crashes.
pub(super) struct CrashState<'s> {
    pub(super) program: &'s Program,
    pub(super) placement: &'s Placement,
    pub(super) tracee: &'s Tracee,
    pub(super) detours: Option<&'s Detours>,
    pub(super) mapped: OnceCell<Vec<Mapped>>,
}

/// The memory of a program.
pub(super) struct ProgramMemory<'t>(pub(super) &'t Tracee);

impl Memory for ProgramMemory<'_> {
    fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        self.0.read(RuntimeAddress(address), length)
    }
}

/// The memory of a program, with what was read of it.
pub(super) struct WatchedMemory<'t> {
    memory: ProgramMemory<'t>,
    read: RefCell<Vec<MemoryPiece>>,
}

impl WatchedMemory<'_> {
    pub(super) fn new(tracee: &Tracee) -> WatchedMemory<'_> {
        WatchedMemory { memory: ProgramMemory(tracee), read: RefCell::default() }
    }

    /// The pieces of memory that were read, in that order.
    pub(super) fn into_read(self) -> Vec<MemoryPiece> {
        self.read.into_inner()
    }
}

impl Memory for WatchedMemory<'_> {
    fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let bytes = self.memory.read(address, length)?;
        self.read.borrow_mut().push(MemoryPiece { address, length: length as u64 });
        Some(bytes)
    }
}
