//! Define the error of a session that leads to no result.

use std::fmt;
use std::io;

use tracer::program::LoadError;
use tracer::{ObserveError, ProcessError};

use crate::archive::ArchiveError;
use crate::baseline::BaselineError;
use crate::circumstances::TestError;
use crate::oracle::OracleError;

/// The error of a session that leads to no result.
#[derive(Debug)]
pub struct SessionError {
    /// The kind of the error, for the exit status.
    pub cause: Cause,
    /// The reason with its remedy, for the user.
    pub message: String,
}

/// The kind of a session's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The machine, the program or a file fails.
    Failed,
    /// The request makes no sense.
    Request,
    /// The recorded run does not show the failure.
    NotReproduced,
    /// Nothing of its output is wrong but that some is missing.
    OutputMissing,
    /// Two runs differ.
    Flaky,
    /// The user has ended it, with this signal.
    Interrupted(i32),
}

impl SessionError {
    /// Creates an error of this kind.
    pub fn new(cause: Cause, message: impl ToString) -> SessionError {
        SessionError { cause, message: message.to_string() }
    }

    /// Converts errors into errors of this kind.
    pub fn of<E: ToString>(cause: Cause) -> impl Fn(E) -> SessionError {
        move |error| SessionError::new(cause, error)
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl From<ArchiveError> for SessionError {
    fn from(error: ArchiveError) -> SessionError {
        let cause = match error {
            ArchiveError::NoRuns(_)
            | ArchiveError::NoSearches(_)
            | ArchiveError::NoSuchRun(_)
            | ArchiveError::NoOutcomes(_)
            | ArchiveError::Untraced { .. } => Cause::Request,
            _ => Cause::Failed,
        };
        SessionError::new(cause, error)
    }
}

impl From<BaselineError> for SessionError {
    fn from(error: BaselineError) -> SessionError {
        let cause = match error {
            BaselineError::Flaky(_) => Cause::Flaky,
            BaselineError::NoPlace(_) => Cause::Request,
            BaselineError::Record(_) => Cause::Failed,
        };
        SessionError::new(cause, error)
    }
}

impl From<ProcessError> for SessionError {
    fn from(error: ProcessError) -> SessionError {
        SessionError::new(Cause::Failed, error)
    }
}

impl From<TestError> for SessionError {
    fn from(error: TestError) -> SessionError {
        SessionError::new(Cause::Failed, error)
    }
}

impl From<OracleError> for SessionError {
    fn from(error: OracleError) -> SessionError {
        SessionError::new(Cause::Failed, error)
    }
}

impl From<ObserveError> for SessionError {
    fn from(error: ObserveError) -> SessionError {
        SessionError::new(Cause::Failed, error)
    }
}

/// A program that is not there or not executable is an error of the request; one that cannot be traced is not.
impl From<LoadError> for SessionError {
    fn from(error: LoadError) -> SessionError {
        let cause = match error {
            LoadError::Directory(_)
            | LoadError::NoFile(_)
            | LoadError::NotExecutable(_)
            | LoadError::TooLong(_)
            | LoadError::Unreadable { .. } => Cause::Request,
            _ => Cause::Failed,
        };
        SessionError::new(cause, error)
    }
}

impl From<io::Error> for SessionError {
    fn from(error: io::Error) -> SessionError {
        SessionError::new(Cause::Failed, error)
    }
}
