//! The two kinds of addresses of a debugger: of the file and of the running process.
//!
//! A [`FileAddress`] is what the ELF file and its debug information say; a [`RuntimeAddress`] is what the processor
//! sees. They differ by the [`LoadBias`], which is known only once the kernel or the dynamic loader has placed the
//! image. This module does no arithmetic beyond that translation.

use std::fmt;

/// An address as the ELF file states it, before loading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileAddress(pub u64);

/// An address in the memory of a running process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuntimeAddress(pub u64);

/// The load bias of an image: what has to be added to a file address to get the run-time address.
///
/// Zero for a position-dependent executable. The sum wraps, as the processor's does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadBias(pub u64);

impl LoadBias {
    /// The bias that puts `file` at `runtime`.
    pub fn between(file: FileAddress, runtime: RuntimeAddress) -> LoadBias {
        LoadBias(runtime.0.wrapping_sub(file.0))
    }

    /// The run-time address of `address`.
    pub fn to_runtime(self, address: FileAddress) -> RuntimeAddress {
        RuntimeAddress(address.0.wrapping_add(self.0))
    }

    /// The file address of `address`.
    pub fn to_file(self, address: RuntimeAddress) -> FileAddress {
        FileAddress(address.0.wrapping_sub(self.0))
    }
}

impl fmt::Display for FileAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Display for RuntimeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
