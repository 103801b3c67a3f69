//! Divide the memory that stripe may take.
//!
//! A search needs several tables for each recorded statement. So a recording may hold only a part of the memory that
//! there is, and it is known beforehand how many statements that are.

/// The divisor of the available memory: stripe takes at most this part of it, unless the user says otherwise.
const SHARE: u64 = 2;

/// The memory of a search and its report for each byte of a trace, the trace itself included: a statement takes 12
/// bytes in a trace, and up to 117 were measured in all.
const SEARCH: u64 = 10;

/// The largest amount of memory that stripe takes, in bytes: as the user says, or else a share of what is available.
pub(super) fn most(asked: Option<u64>) -> u64 {
    asked.unwrap_or_else(|| tracer::available_memory().map_or(u64::MAX, |bytes| bytes / SHARE))
}

/// The part of it that the trace of a recorded run may take, in bytes.
pub(super) fn for_trace(asked: Option<u64>) -> u64 {
    most(asked) / SEARCH
}
