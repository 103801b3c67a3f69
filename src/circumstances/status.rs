//! Define the ways in which a search among circumstances ends.

/// The status of a search at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Minimal: nothing can be left out any more, of the level that the result names.
    Minimal,
    /// A budget was used up; what is kept so far reproduces the failure.
    Budget,
    /// The user asked for the end; what is kept so far reproduces the failure.
    Interrupted,
    /// The result did not reproduce the failure again, in a process that was started anew.
    Unconfirmed,
}

impl Status {
    /// Whether the search could go on.
    pub fn is_early(self) -> bool {
        matches!(self, Status::Budget | Status::Interrupted)
    }
}
