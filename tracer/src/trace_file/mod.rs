//! Trace files: small, lossless, and trusted only as far as they can be checked.
//!
//! A file is a header, blocks, and an end:
//!
//! - the header: `stripe trace 1` and a newline; the length of what follows, the [`Identity`] of the
//!   program, a checksum;
//! - a block: the numbers of its events, of its bytes and of its compressed bytes; a checksum; the bytes,
//!   compressed by zstd;
//! - the end: a block without events, whose bytes are the number of events of the whole file.
//!
//! All numbers are little-endian. A checksum covers its block's head as well as its bytes, and is keyed by the
//! block's position, so that blocks cannot be exchanged. An event takes one byte before compression
//! wherever it can be foretold: see `moves`. Blocks have a limited size, so that memory does not depend on
//! the length of the trace, nor on lengths that a damaged file claims.
//!
//! Reading makes the events arrive again at a [`TraceBuilder`](crate::trace::TraceBuilder), so that a file can
//! only hold what a recording can.

mod blocks;
mod bytes;
mod error;
mod identity;
mod moves;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use error::TraceFileError;
pub use identity::{Identity, ImageIdentity, content};
pub use reader::{read, read_from};
pub use writer::write;

/// The bytes with which every file begins; the version follows.
const MAGIC: &[u8] = b"stripe trace ";

/// The version that this program writes, and the only one that it reads.
const VERSION: &[u8] = b"1\n";

/// The largest number of events in a block.
const BLOCK_EVENTS: usize = 1 << 16;

/// The largest size of an event: a symbol and two numbers of five bytes.
const EVENT_BYTES: usize = 11;

/// The largest size of an identity in bytes: that of a program with some thousand libraries.
const IDENTITY_BYTES: usize = 1 << 20;
