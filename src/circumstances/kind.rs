//! State what a search must know of a kind of circumstance.
//!
//! A kind numbers the circumstances of each of its phases (a [`Space`]), and makes tests of some of them. What
//! the numbers mean, and how a test is made, nobody else knows. So a new kind is one implementation of
//! [`Kind`], and needs no change elsewhere.

use std::io;

use dd::{Algorithm, Configuration, Space, Test};
use tracer::ProcessError;

use crate::oracle::{Evidence, OracleError};
use crate::remote::link::WorkerLoss;

/// A phase of a search. Journals keep the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhaseId(pub u8);

/// What a phase is about, for whoever watches it.
#[derive(Clone, Debug)]
pub struct PhaseTitle {
    /// Which phase.
    pub id: PhaseId,
    /// What is tried in it, in words: `lines of the standard input`.
    pub what: String,
    /// What one of its circumstances is called, in the singular: `line`.
    pub unit: &'static str,
}

/// A phase that is to be done.
#[derive(Debug)]
pub struct NextPhase<S> {
    /// What it is about.
    pub title: PhaseTitle,
    /// Its circumstances.
    pub space: S,
    /// From where it starts.
    pub start: PhaseStart,
}

/// From where a phase starts.
#[derive(Clone, Debug)]
pub enum PhaseStart {
    /// From all of its circumstances: they must show the failure, and none of them must not.
    Everything,
    /// From what the phase before has found among its own circumstances: these must show the failure here, too.
    CarriedOver(Configuration),
    /// From all of its circumstances, which are known to show the failure.
    Known,
}

/// A phase that has found something.
#[derive(Debug)]
pub struct Before<'b, S> {
    /// Which phase.
    pub id: PhaseId,
    /// Its circumstances.
    pub space: &'b S,
    /// What it has found among them.
    pub found: &'b Configuration,
}

/// Why a test cannot be made: nothing that the program does, but a broken set-up.
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

/// A kind of circumstance of a failing run, and who makes tests of some of them.
pub trait Kind {
    /// The circumstances of a phase.
    type Space: Space;
    /// What one worker makes its tests with.
    type Trial<'t>: Trial
    where
        Self: 't;

    /// The phase after one that has found something, or the first one; `None` after the last. Each goes on from
    /// what the one before has found.
    fn next(&mut self, before: Option<Before<'_, Self::Space>>) -> Option<NextPhase<Self::Space>>;

    /// Which circumstances may well be enough in this phase. Tested once, before the search; if they show the
    /// failure, that starts from them.
    fn guess(&mut self, _phase: PhaseId, _space: &Self::Space) -> Option<Configuration> {
        None
    }

    /// How subsets are chosen in the phase that is to be done, if that is not for the user to say.
    fn algorithm(&self) -> Option<Algorithm> {
        None
    }

    /// The workers, each of which may have a thread of its own. Without any, a search only follows its memory,
    /// and ends where that does.
    fn trials<'t>(&'t mut self, space: &'t Self::Space) -> Vec<Self::Trial<'t>>;

    /// Who makes the tests before the search and after it.
    fn first_trial<'t>(&'t mut self, space: &'t Self::Space) -> Option<Self::Trial<'t>> {
        self.trials(space).into_iter().next()
    }
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
