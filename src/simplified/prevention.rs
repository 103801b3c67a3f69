//! Hold what keeps a failure away: one minimal set of circumstances after the other.

use dd::Counts;

use crate::circumstances::Status;
use crate::oracle::Evidence;

/// What keeps a failure away.
#[derive(Clone, Debug)]
pub struct Prevention {
    /// How many circumstances there are in all.
    pub circumstances: usize,
    /// Sets without a common member; each keeps the failure away by itself.
    pub sets: Vec<PreventingSet>,
    /// What all others together do.
    pub others: Others,
}

/// Circumstances that together keep a failure away.
#[derive(Clone, Debug)]
pub struct PreventingSet {
    /// How its search ended: whether it is minimal.
    pub status: Status,
    /// Its members, in the order in which they are given.
    pub members: Vec<Preventer>,
    /// The tests of its search.
    pub tests: Counts,
}

/// A circumstance that is needed to keep a failure away.
#[derive(Clone, Debug)]
pub struct Preventer {
    /// What it is called: `argument 3`.
    pub name: String,
    /// What it holds.
    pub content: Vec<u8>,
    /// What happened with the other members of the set alone; `None` if that was not tried.
    pub without: Option<Evidence>,
}

/// What all circumstances do that are in no set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Others {
    /// The failure is there.
    Fail,
    /// That run says nothing; why.
    Unresolved(String),
    /// Nobody knows: the search has ended before.
    Unknown,
}
