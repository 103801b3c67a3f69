//! Hold what keeps a failure away: one minimal set of circumstances after the other.

use dd::Counts;

use crate::circumstances::Status;
use crate::oracle::Evidence;

/// The circumstances that keep a failure away.
#[derive(Clone, Debug)]
pub struct Prevention {
    /// The number of circumstances in all.
    pub circumstances: usize,
    /// Sets without a common member; each keeps the failure away by itself.
    pub sets: Vec<PreventingSet>,
    /// The outcome with all others together.
    pub others: Others,
}

/// Circumstances that together keep a failure away.
#[derive(Clone, Debug)]
pub struct PreventingSet {
    /// The status of its search: whether it is minimal.
    pub status: Status,
    /// Its members, in the order in which they are given.
    pub members: Vec<Preventer>,
    /// The tests of its search.
    pub tests: Counts,
}

/// A circumstance that is needed to keep a failure away.
#[derive(Clone, Debug)]
pub struct Preventer {
    /// The name: `argument 3`.
    pub name: String,
    /// The content.
    pub content: Vec<u8>,
    /// The evidence of the test with the other members of the set alone; `None` if that was not tried.
    pub without: Option<Evidence>,
}

/// The outcome with all circumstances that are in no set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Others {
    /// The failure is there.
    Fail,
    /// That run says nothing; with the reason.
    Unresolved(String),
    /// Not tested: the search has ended before.
    Unknown,
}
