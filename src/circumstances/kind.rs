//! State what a search must know of a kind of circumstance.
//!
//! A kind numbers the circumstances of each of its phases (a [`Space`]), and makes tests of some of them. What
//! the numbers mean, and how a test is made, nobody else knows. So a new kind is one implementation of
//! [`Kind`], and needs no change elsewhere.

use std::io;

use dd::{Configuration, Space, Test};
use tracer::ProcessError;

use crate::oracle::{Evidence, OracleError};

/// A phase of a search: most kinds have one. Journals keep the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhaseId(pub u8);

/// Why a test cannot be made: nothing that the program does, but a broken set-up.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum TestError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Oracle(#[from] OracleError),
    #[error("starting a thread failed: {0}: free memory or process slots, or take -j1, and try again")]
    Thread(io::Error),
}

/// A kind of circumstance of a failing run, and who makes tests of some of them.
pub trait Kind {
    /// The circumstances of a phase.
    type Space: Space;
    /// What one worker makes its tests with.
    type Trial<'t>: Trial
    where
        Self: 't;

    /// The phases, in order: each goes on from what the one before has found.
    fn phases(&self) -> &[PhaseId];

    /// The circumstances of a phase.
    fn space(&self, phase: PhaseId) -> Self::Space;

    /// Among the circumstances of a phase, what the one before has found among its own.
    fn carried_over(&self, before: &Self::Space, found: &Configuration, now: &Self::Space) -> Configuration;

    /// The workers, each of which may have a thread of its own. Without any, a search only follows its memory,
    /// and ends where that does.
    fn trials<'t>(&'t mut self, space: &'t Self::Space) -> Vec<Self::Trial<'t>>;
}

/// Makes the tests of one worker, one after the other.
pub trait Trial: Test<Evidence = Evidence, Error = TestError> + Send {
    /// Makes a test that does not count.
    ///
    /// # Errors
    /// If the set-up is broken.
    fn rehearse(&mut self, configuration: &Configuration) -> Result<Evidence, TestError>;

    /// The same with everything started anew and nothing remembered: whatever has passed from one test to
    /// another is gone.
    ///
    /// # Errors
    /// If the set-up is broken.
    fn confirm(&mut self, configuration: &Configuration) -> Result<Evidence, TestError>;
}
