//! The caller of a function, by the unwind tables of the file that holds it.
//!
//! Compilers leave these tables in every program and library, without debug information too; see System V
//! ABI for AMD64, 3.7, and DWARF 5, 6.4. What a file says is read once.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use gimli::{BaseAddresses, CfaRule, EhFrame, EndianArcSlice, RegisterRule, RunTimeEndian, UnwindSection};

use super::elf::{self, Elf};
use super::guard::guarded;
use super::variables::{Memory, RegisterValues};
use crate::address::FileAddress;

type Reader = EndianArcSlice<RunTimeEndian>;

/// The files of code that a program may execute, read when they are asked for.
#[derive(Default)]
pub(crate) struct Objects(Mutex<HashMap<PathBuf, Option<Arc<CodeObject>>>>);

/// The unwind tables of a file of code.
pub(crate) struct CodeObject {
    /// The lowest address of its segments.
    pub(crate) base: FileAddress,
    /// The address of the GNU C library's `stdout`, which keeps what it has not written to the standard output yet.
    pub(crate) stdout: Option<FileAddress>,
    frames: EhFrame<Reader>,
    bases: BaseAddresses,
    /// The rows of the tables for addresses that were asked for: the tables are long.
    known: Mutex<HashMap<u64, Option<Row>>>,
}

/// A row of an unwind table: how the caller is found from an instruction.
#[derive(Clone)]
struct Row {
    /// The frame's beginning: a register, by its DWARF number, and the offset from its value.
    frame: (u16, i64),
    /// The places of saved registers, by their offsets from the frame's beginning.
    saved: Vec<(u16, i64)>,
}

/// The return address in DWARF's numbers of registers: System V ABI for AMD64, Figure 3.36.
const RETURN_ADDRESS: u16 = 16;
/// The stack pointer in DWARF's numbers of registers.
const STACK_POINTER: u16 = 7;

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Objects").finish_non_exhaustive()
    }
}

impl Objects {
    /// The tables of the file at `path`; `None` if it cannot be read.
    pub(crate) fn at(&self, path: &Path) -> Option<Arc<CodeObject>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(path.into()).or_insert_with(|| CodeObject::read(path).map(Arc::new)).clone()
    }
}

impl CodeObject {
    fn read(path: &Path) -> Option<CodeObject> {
        guarded(path, || {
            let data = elf::read(path)?;
            let elf = Elf::parse(path, &data)?;
            let section = Arc::from(&*elf.section(".eh_frame")?);
            Ok(CodeObject {
                base: FileAddress(elf.base()),
                stdout: elf.symbol("_IO_2_1_stdout_").map(FileAddress),
                frames: EhFrame::from(Reader::new(section, RunTimeEndian::Little)),
                bases: BaseAddresses::default()
                    .set_eh_frame(elf.section_address(".eh_frame").unwrap_or(0))
                    .set_text(elf.section_address(".text").unwrap_or(0)),
                known: Mutex::default(),
            })
        })
        .ok()
    }

    fn row(&self, path: &Path, pc: u64) -> Option<Row> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let row = known.entry(pc);
        row.or_insert_with(|| guarded(path, || Ok(self.look_up(pc))).ok().flatten()).clone()
    }

    fn look_up(&self, pc: u64) -> Option<Row> {
        let mut context = gimli::UnwindContext::new();
        let find_cie = EhFrame::cie_from_offset;
        let row = self.frames.unwind_info_for_address(&self.bases, &mut context, pc, find_cie).ok()?;
        let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else { return None };
        let saved = row.registers().filter_map(|(register, rule)| match rule {
            RegisterRule::Offset(offset) => Some((register.0, *offset)),
            _ => None,
        });
        Some(Row { frame: (register.0, *offset), saved: saved.collect() })
    }

    /// The registers in the caller of the function that is at `pc` of this file; `None` if the tables do not tell.
    /// Registers that were not saved keep their values.
    pub(crate) fn caller(
        &self,
        path: &Path,
        pc: FileAddress,
        registers: &RegisterValues,
        memory: &dyn Memory,
    ) -> Option<RegisterValues> {
        let row = self.row(path, pc.0)?;
        let (register, offset) = row.frame;
        let frame = registers.dwarf(register)?.wrapping_add_signed(offset);
        let mut caller = *registers;
        caller.set_dwarf(STACK_POINTER, frame);
        let mut comes_back = false;
        for (register, offset) in row.saved {
            let word = memory.read(frame.wrapping_add_signed(offset), 8)?;
            caller.set_dwarf(register, u64::from_le_bytes(word.try_into().ok()?));
            comes_back |= register == RETURN_ADDRESS;
        }
        comes_back.then_some(caller)
    }
}
