//! The level of a search: how fine it is.

/// The level of a result: what was left out one by one to show that it is minimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The groups of this one of [`Space::levels`](super::Space::levels): no group can be left out as a whole.
    Groups(usize),
    /// Single circumstances: 1-minimal.
    Members,
}
