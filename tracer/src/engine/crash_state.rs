//! The state of a program that has stopped where it crashes.

use std::cell::OnceCell;

use super::Placement;
use crate::address::RuntimeAddress;
use crate::process::{Mapped, Tracee};
use crate::program::Program;
use crate::program::detour::Detours;
use crate::program::variables::Memory;

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
