//! Name how fine a search is.

/// What was left out one by one to show that a result is minimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The groups of this one of [`Space::levels`](super::Space::levels): no group can be left out as a whole.
    Groups(usize),
    /// Single circumstances: 1-minimal.
    Members,
}
