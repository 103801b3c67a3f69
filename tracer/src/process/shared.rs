//! Shared memory: files in memory that the tracer and programs both map.
//!
//! A program that runs amok may write anything there. So what is read here has to be valid whatever
//! its bits are ([`Plain`]), and nothing is borrowed from it.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::time::Duration;

use agent::calls::Call;
use agent::lockstep::{Expectation, Frame, Position};
use agent::pace::Pace;
use agent::session::{Arrival, Ring, Service, Verdict};
use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap, munmap};

use super::ProcessError;
use super::sealed::{Sealed, seal_length, sealable_file};

/// Types that are valid whatever their bits are.
///
/// # Safety
/// They consist of numbers only.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: numbers.
unsafe impl Plain for u8 {}
// SAFETY: numbers.
unsafe impl Plain for u32 {}
// SAFETY: numbers.
unsafe impl Plain for u64 {}
// SAFETY: two numbers.
unsafe impl Plain for Arrival {}
// SAFETY: numbers only, `Frame` included.
unsafe impl Plain for Call<Frame> {}
// SAFETY: numbers only.
unsafe impl Plain for Pace {}
// SAFETY: numbers only.
unsafe impl Plain for Expectation {}
// SAFETY: numbers only.
unsafe impl Plain for Position {}
// SAFETY: numbers only.
unsafe impl Plain for Ring {}
// SAFETY: numbers only.
unsafe impl Plain for Service {}
// SAFETY: numbers only.
unsafe impl Plain for Verdict {}

/// The number of bytes of addresses that are left when a piece is mapped: where they are limited (RLIMIT_AS), the piece is
/// refused, which can be told, before some small allocation is, which ends the process.
const HEADROOM: usize = 16 << 20;

/// A piece of shared memory, which programs can map, too.
pub(crate) struct Shared {
    file: File,
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the memory belongs to this value, and all access to it is by copies.
unsafe impl Send for Shared {}
// SAFETY: as above. Copies that are made at the same time may be torn, which `Plain` allows for.
unsafe impl Sync for Shared {}

impl Shared {
    /// Makes a piece of so many bytes of zeros, rounded up to whole pages. Memory is taken only where something is
    /// written.
    pub(crate) fn new(length: u64) -> Result<Shared, ProcessError> {
        let failed = |source| ProcessError::System { what: "sharing memory with the program", source };
        let file = sealable_file()?;
        let length = (length as usize).max(1).next_multiple_of(PAGE);
        file.set_len(length as u64).and_then(|()| seal_length(&file)).map_err(failed)?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        let size = (length + HEADROOM).try_into().expect("at least a page");
        // SAFETY: a new mapping, which nothing else uses.
        let start = unsafe { mmap(None, size, access, MapFlags::MAP_SHARED, &file, 0) };
        let start = start.map_err(|errno| failed(errno.into()))?;
        // SAFETY: the end of that mapping, which nobody has used.
        unsafe { munmap(start.byte_add(length), HEADROOM) }.map_err(|errno| failed(errno.into()))?;
        // What another thread forks meanwhile would have the mapping too, and the file could not be sealed.
        // SAFETY: the mapping that was just made.
        unsafe { madvise(start, length, MmapAdvise::MADV_DONTFORK) }.map_err(|errno| failed(errno.into()))?;
        let start = start.cast();
        Ok(Shared { file, start, length })
    }

    /// Its length in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length as u64
    }

    /// The file to be mapped by a program.
    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Ends the sharing and seals the file: what it holds now stays as it is, for whoever maps it.
    pub(crate) fn seal(self) -> Result<Sealed, ProcessError> {
        let failed =
            |source| ProcessError::System { what: "sealing what is shared with the program", source };
        let file = self.file.try_clone().map_err(failed)?;
        // No mapping may be left by which it could be written.
        drop(self);
        Sealed::new(file).map_err(failed)
    }

    /// Whether these bytes lie at this offset.
    pub(crate) fn holds(&self, offset: u64, bytes: &[u8]) -> bool {
        const PIECE: usize = 1 << 16;
        let mut found: Vec<u8> = Vec::with_capacity(PIECE.min(bytes.len()));
        bytes.chunks(PIECE).zip(0..).all(|(expected, number)| {
            found.clear();
            self.append_to(&mut found, offset + number * PIECE as u64, expected.len());
            found == expected
        })
    }

    /// Reads the value at this offset.
    pub(crate) fn get<T: Plain>(&self, offset: u64) -> T {
        // SAFETY: `place` has checked that it lies in the mapping; any bits are valid. Volatile,
        // because the program may change it meanwhile.
        unsafe { self.place(offset, size_of::<T>()).cast::<T>().as_ptr().read_volatile() }
    }

    /// Writes a value to this offset.
    pub(crate) fn set<T: Copy>(&self, offset: u64, value: T) {
        // SAFETY: `place` has checked that it lies in the mapping.
        unsafe { self.place(offset, size_of::<T>()).cast::<T>().as_ptr().write_volatile(value) };
    }

    /// Writes several values of a kind to this offset.
    pub(crate) fn put<T: Copy>(&self, offset: u64, values: &[T]) {
        let place = self.place(offset, size_of_val(values)).cast::<T>();
        // SAFETY: `place` has checked that there is room; the two do not overlap, because nothing is
        // borrowed from the mapping.
        unsafe { place.as_ptr().copy_from_nonoverlapping(values.as_ptr(), values.len()) };
    }

    /// Appends to `values` the `count` values that lie at this offset.
    pub(crate) fn append_to<T: Plain>(&self, values: &mut Vec<T>, offset: u64, count: usize) {
        let place = self.place(offset, count * size_of::<T>()).cast::<T>();
        values.reserve(count);
        // SAFETY: the source lies in the mapping, there is room after the values, and any bits are valid.
        unsafe {
            place.as_ptr().copy_to_nonoverlapping(values.as_mut_ptr().add(values.len()), count);
            values.set_len(values.len() + count);
        }
    }

    /// Wakes a program that sleeps on the number at this offset, futex(2).
    pub(crate) fn wake(&self, offset: u64) {
        // A refusal would let the program sleep for ever.
        const TRIES: usize = 3;
        let place = self.place(offset, size_of::<u32>()).as_ptr();
        // SAFETY: the call reads nothing but the address.
        let wake = || unsafe { libc::syscall(libc::SYS_futex, place, libc::FUTEX_WAKE, 1) };
        let _ = (0..TRIES).any(|_| wake() >= 0);
    }

    /// Sleeps as long as the number at this offset is `value`, but not longer than `most`.
    pub(crate) fn sleep(&self, offset: u64, value: u32, most: Duration) {
        let place = self.place(offset, size_of::<u32>()).as_ptr();
        let most = nix::sys::time::TimeSpec::from(most);
        // SAFETY: the call reads the number and the time, which outlive it.
        unsafe {
            libc::syscall(libc::SYS_futex, place, libc::FUTEX_WAIT, value, &raw const *most.as_ref());
        }
    }

    fn place(&self, offset: u64, size: usize) -> NonNull<u8> {
        let offset = offset as usize;
        assert!(offset <= self.length && size <= self.length - offset, "outside of the shared memory");
        // SAFETY: just checked.
        unsafe { self.start.add(offset) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and nothing is borrowed from it.
        let _ = unsafe { munmap(self.start.cast(), self.length) };
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shared({} bytes, descriptor {})", self.length, self.file.as_raw_fd())
    }
}

/// The size of a page.
const PAGE: usize = 4096;

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn memory_is_sealed_while_another_thread_starts_processes() {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    assert!(Command::new("true").status().expect("started").success());
                }
            });
            let sealed: Vec<_> = (0..300).map(|_| Shared::new(1 << 16).and_then(Shared::seal)).collect();
            over.store(true, Ordering::Relaxed);
            assert!(sealed.iter().all(Result::is_ok), "{sealed:?}");
        });
    }
}
