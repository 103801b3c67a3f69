//! The last writers of each byte of memory and of each register.

use std::collections::HashMap;

use crate::program::operations::{ALL_REGISTERS, RegisterBits};

/// A last writer: an event by its position, or nobody.
pub(super) type LastWriter = u32;

/// No writer that is known: what was there before, or a constant of the program.
pub(super) const NOBODY: LastWriter = u32::MAX;

const PAGE: u64 = 4096;

/// The last writers of memory: a table for each page that was written, with a place for each byte.
#[derive(Default)]
pub(super) struct MemoryWriters {
    pages: HashMap<u64, Box<[LastWriter; PAGE as usize]>>,
}

impl MemoryWriters {
    /// Sets the writer of the bytes from `address` on.
    pub(super) fn set(&mut self, address: u64, length: u64, writer: LastWriter) {
        let mut at = address;
        let end = address.saturating_add(length);
        while at < end {
            let (page, offset) = (at / PAGE, (at % PAGE) as usize);
            let count = ((end - at) as usize).min(PAGE as usize - offset);
            match self.pages.get_mut(&page) {
                Some(table) => table[offset..offset + count].fill(writer),
                None if writer == NOBODY => {}
                None => {
                    let table = self.pages.entry(page).or_insert_with(|| Box::new([NOBODY; PAGE as usize]));
                    table[offset..offset + count].fill(writer);
                }
            }
            at += count as u64;
        }
    }

    /// The last writer of a byte.
    pub(super) fn get(&self, address: u64) -> LastWriter {
        self.pages.get(&(address / PAGE)).map_or(NOBODY, |table| table[(address % PAGE) as usize])
    }

    /// Calls `tell` with the writers of some bytes, those of successive bytes once.
    pub(super) fn each(&self, address: u64, length: u64, mut tell: impl FnMut(LastWriter)) {
        let mut latest = NOBODY;
        for at in address..address.saturating_add(length) {
            let writer = self.get(at);
            if writer != NOBODY && writer != latest {
                tell(writer);
            }
            latest = writer;
        }
    }

    /// The one writer of all these bytes, if there is one.
    pub(super) fn common(&self, address: u64, length: u64) -> Option<LastWriter> {
        let first = self.get(address);
        (address..address.saturating_add(length)).all(|at| self.get(at) == first).then_some(first)
    }

    /// Moves the writers with memory that has moved from one address to another.
    pub(super) fn shift(&mut self, (from, length): (u64, u64), to: u64) {
        if from != to {
            let writers: Vec<LastWriter> =
                (from..from.saturating_add(length)).map(|at| self.get(at)).collect();
            self.set(from, length, NOBODY);
            for (at, writer) in (to..).zip(writers) {
                self.set(at, 1, writer);
            }
        }
    }

    /// The size of the tables in memory, in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.pages.len() as u64 * PAGE * size_of::<LastWriter>() as u64
    }
}

/// The last writers of registers.
#[derive(Clone)]
pub(super) struct RegisterWriters([LastWriter; ALL_REGISTERS as usize]);

impl Default for RegisterWriters {
    fn default() -> RegisterWriters {
        RegisterWriters([NOBODY; ALL_REGISTERS as usize])
    }
}

impl RegisterWriters {
    pub(super) fn get(&self, register: u32) -> LastWriter {
        self.0[register as usize]
    }

    pub(super) fn set(&mut self, register: u32, writer: LastWriter) {
        self.0[register as usize] = writer;
    }

    /// Sets the writer of all registers of a set.
    pub(super) fn set_all(&mut self, registers: RegisterBits, writer: LastWriter) {
        each(registers, |register| self.set(register, writer));
    }
}

/// Calls `tell` with the registers of a set.
pub(super) fn each(mut registers: RegisterBits, mut tell: impl FnMut(u32)) {
    while registers != 0 {
        tell(registers.trailing_zeros());
        registers &= registers - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writers(memory: &MemoryWriters, address: u64, length: u64) -> Vec<LastWriter> {
        let mut found = Vec::new();
        memory.each(address, length, |writer| found.push(writer));
        found
    }

    #[test]
    fn the_last_writer_of_each_byte_is_known_across_pages() {
        let mut memory = MemoryWriters::default();
        memory.set(0xffe, 4, 1);
        memory.set(0x1000, 1, 2);
        assert_eq!(writers(&memory, 0xff0, 0x20), [1, 2, 1]);
        assert_eq!((memory.common(0xffe, 2), memory.common(0xffe, 4)), (Some(1), None));
        memory.set(0xfff, 3, NOBODY);
        assert_eq!(writers(&memory, 0xff0, 0x20), [1]);
        assert_eq!(memory.memory(), 2 * 4 * 4096);
    }

    #[test]
    fn memory_that_moves_takes_its_writers_along() {
        let mut memory = MemoryWriters::default();
        memory.set(0x1000, 2, 7);
        memory.set(0x1002, 1, 8);
        memory.shift((0x1000, 3), 0x9000);
        assert_eq!((writers(&memory, 0x1000, 8), writers(&memory, 0x9000, 8)), (vec![], vec![7, 8]));
    }

    #[test]
    fn registers_of_a_set_have_one_writer() {
        let mut registers = RegisterWriters::default();
        registers.set_all(0b1010, 5);
        assert_eq!([0, 1, 2, 3].map(|register| registers.get(register)), [NOBODY, 5, NOBODY, 5]);
    }
}
