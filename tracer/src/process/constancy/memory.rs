//! The memory that a system call's arguments point to.

use std::io::{IoSlice, IoSliceMut};

use nix::sys::uio::{RemoteIoVec, process_vm_readv, process_vm_writev};
use nix::unistd::Pid;

use super::clock::SECOND;

/// The size of a page.
const PAGE: u64 = 4096;

/// The memory of a stopped process, with the access that the process itself has.
#[derive(Clone, Copy)]
pub(super) struct TaskMemory(pub(super) Pid);

impl TaskMemory {
    /// Fills `bytes` from this address; false if not all of it could be read.
    pub(super) fn read(self, at: u64, bytes: &mut [u8]) -> bool {
        let remote = RemoteIoVec { base: at as usize, len: bytes.len() };
        let length = bytes.len();
        process_vm_readv(self.0, &mut [IoSliceMut::new(bytes)], &[remote]) == Ok(length)
    }

    /// Writes `bytes` to this address; false if not all of it could be written.
    pub(super) fn write(self, at: u64, bytes: &[u8]) -> bool {
        let remote = RemoteIoVec { base: at as usize, len: bytes.len() };
        process_vm_writev(self.0, &[IoSlice::new(bytes)], &[remote]) == Ok(bytes.len())
    }

    /// Reads the word at this address.
    pub(super) fn word(self, at: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(at, &mut bytes).then(|| u64::from_ne_bytes(bytes))
    }

    /// Whether the text at this address, up to its zero byte, is one of these.
    pub(super) fn is_text(self, at: u64, texts: &[&[u8]]) -> bool {
        let mut bytes = [0; 16];
        // The text may end with its page, after which nothing need be mapped.
        let first = (PAGE - at % PAGE).min(bytes.len() as u64) as usize;
        let (page, next) = bytes.split_at_mut(first);
        self.read(at, page)
            && (page.contains(&0) || next.is_empty() || self.read(at + first as u64, next))
            && texts.iter().any(|text| bytes.starts_with(text) && bytes.get(text.len()) == Some(&0))
    }

    /// Reads the time at this address (`timespec` or `timeval`), whose second word counts units of so many nanoseconds.
    pub(super) fn time(self, at: u64, unit: u64) -> Option<u64> {
        let (seconds, parts) = (self.word(at)?, self.word(at.wrapping_add(8))?);
        Some(seconds.saturating_mul(SECOND).saturating_add(parts.saturating_mul(unit)))
    }

    /// Writes a time to this address, as [`TaskMemory::time`] reads it.
    pub(super) fn set_time(self, at: u64, nanoseconds: u64, unit: u64) -> bool {
        self.write(at, &time(nanoseconds, unit))
    }
}

/// A time in the form of the kernel: seconds, and units of so many nanoseconds.
pub(super) fn time(nanoseconds: u64, unit: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&(nanoseconds / SECOND).to_ne_bytes());
    bytes[8..].copy_from_slice(&(nanoseconds % SECOND / unit).to_ne_bytes());
    bytes
}
