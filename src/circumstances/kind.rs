//! Define what a search must know of a kind of circumstance.
//!
//! A kind numbers the circumstances of each of its phases (a [`Space`]), and makes tests of some of them. What
//! the numbers mean, and how a test is made, is known nowhere else. So a new kind is one implementation of
//! [`Kind`], and needs no change elsewhere.

use std::io;

use dd::{Algorithm, Configuration, Space, Test};
use tracer::ProcessError;

use crate::oracle::{Evidence, OracleError};
use crate::remote::link::WorkerLoss;

/// The identifier of a phase of a search. Journals keep the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhaseId(pub u8);

/// The title of a phase, for watchers.
#[derive(Clone, Debug)]
pub struct PhaseTitle {
    /// The identifier of the phase.
    pub id: PhaseId,
    /// The things that are tried, in words: `lines of the standard input`.
    pub what: String,
    /// The name of one of its circumstances, in the singular: `line`.
    pub unit: &'static str,
}

/// The next phase of a search.
#[derive(Debug)]
pub struct NextPhase<S> {
    /// Its title.
    pub title: PhaseTitle,
    /// Its circumstances.
    pub space: S,
    /// The configuration from which it starts.
    pub start: PhaseStart,
}

/// The start of a phase.
#[derive(Clone, Debug)]
pub enum PhaseStart {
    /// All of its circumstances: they must show the failure, and none of them must not.
    Everything,
    /// The result of the phase before among its own circumstances: these must show the failure here, too.
    CarriedOver(Configuration),
    /// All of its circumstances, which are known to show the failure.
    Known,
}

/// A finished phase with its result.
#[derive(Debug)]
pub struct Before<'b, S> {
    /// The identifier of the phase.
    pub id: PhaseId,
    /// Its circumstances.
    pub space: &'b S,
    /// The configuration that it has found.
    pub found: &'b Configuration,
}

/// The reason why a test cannot be made: nothing that the program does, but a broken test setup.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum TestError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Oracle(#[from] OracleError),
    #[error(
        "{0}: free room among the files for temporary ones, or set TMPDIR to a folder with more, and try again"
    )]
    Files(io::Error),
    #[error("starting a thread failed: {0}: free memory or process slots, or take -j1, and try again")]
    Thread(io::Error),
    #[error("{0}; no worker is left: start it again, or go on with `stripe reduce` where the run is kept")]
    Lost(#[from] WorkerLoss),
}

/// A kind of circumstance of a failing run, with the workers that make tests of some of them.
pub trait Kind {
    /// The circumstances of a phase.
    type Space: Space;
    /// The tests of one worker.
    type Trial<'t>: Trial
    where
        Self: 't;

    /// The phase after one that has a result, or the first one; `None` after the last. Each goes on from
    /// the result of the one before.
    fn next(&mut self, before: Option<Before<'_, Self::Space>>) -> Option<NextPhase<Self::Space>>;

    /// A guess: the circumstances that may well be enough in this phase. Tested once, before the search; if
    /// they show the failure, that starts from them.
    fn guess(&mut self, _phase: PhaseId, _space: &Self::Space) -> Option<Configuration> {
        None
    }

    /// The algorithm that chooses subsets in the next phase, if that is not for the user to say.
    fn algorithm(&self) -> Option<Algorithm> {
        None
    }

    /// The workers, each of which may have a thread of its own. Without any, a search only follows its memory,
    /// and ends where that does.
    fn trials<'t>(&'t mut self, space: &'t Self::Space) -> Vec<Self::Trial<'t>>;

    /// The testing function for the tests before the search and after it.
    fn first_trial<'t>(&'t mut self, space: &'t Self::Space) -> Option<Self::Trial<'t>> {
        self.trials(space).into_iter().next()
    }
}

/// Makes the tests of one worker, one after the other.
pub trait Trial: Test<Evidence = Evidence, Error = TestError> + Send {
    /// Makes a test that does not count.
    ///
    /// # Errors
    /// If the test setup is broken.
    fn rehearse(&mut self, configuration: &Configuration) -> Result<Evidence, TestError>;

    /// Makes a test with everything started anew and nothing remembered: whatever has passed from one test to
    /// another is gone.
    ///
    /// # Errors
    /// If the test setup is broken.
    fn confirm(&mut self, configuration: &Configuration) -> Result<Evidence, TestError>;
}
