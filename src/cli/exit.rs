//! Name the exit statuses.

use std::process::ExitCode;

use crate::circumstances::Status;
use crate::session::{Cause, SessionError};
use crate::subject::PlaceError;

/// The end of the program, as the shell sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Finished; a slice is 1-minimal, a replay has reproduced the failure.
    Done,
    /// An operational error, or a replay that has not reproduced the failure.
    Failed,
    /// The command line cannot be used.
    Usage,
    /// The recorded run does not show the failure.
    NotReproduced,
    /// Two runs differ.
    Flaky,
    /// A budget has ended the search.
    Budget,
    /// The failure shows even if nothing is executed.
    Trivial,
    /// A study has left something out.
    LeftOut,
    /// A fault of this program.
    Internal,
    /// A replay says nothing.
    Unresolved,
    /// The user has ended it, with this signal.
    Interrupted(i32),
}

impl Exit {
    /// The exit status.
    pub fn status(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::NotReproduced => 3,
            Exit::Flaky => 4,
            Exit::Budget => 5,
            Exit::Trivial => 6,
            Exit::LeftOut => 7,
            Exit::Internal => 70,
            Exit::Unresolved => 125,
            Exit::Interrupted(signal) => 128 + signal as u8,
        }
    }
}

impl Exit {
    /// The exit of a command whose work has this status; by the user's `signal`, if there was one.
    pub fn of(status: Status, signal: Option<i32>) -> Exit {
        match status {
            Status::Minimal => Exit::Done,
            Status::Unconfirmed => Exit::Flaky,
            Status::Budget => Exit::Budget,
            Status::Interrupted => signal.map_or(Exit::Budget, Exit::Interrupted),
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.status())
    }
}

/// An error that ends the program.
#[derive(Debug)]
pub struct Failure {
    /// The exit status.
    pub exit: Exit,
    /// The message for the user.
    pub message: String,
}

impl Failure {
    /// Creates a failure with this exit status.
    pub fn new(exit: Exit, message: impl ToString) -> Failure {
        Failure { exit, message: message.to_string() }
    }

    /// Converts errors into failures with this exit status.
    pub fn of<E: ToString>(exit: Exit) -> impl Fn(E) -> Failure {
        move |error| Failure::new(exit, error)
    }
}

impl From<PlaceError> for Failure {
    fn from(error: PlaceError) -> Failure {
        Failure::new(Exit::Usage, error)
    }
}

impl From<SessionError> for Failure {
    fn from(SessionError { cause, message }: SessionError) -> Failure {
        let exit = match cause {
            Cause::Failed => Exit::Failed,
            Cause::Request => Exit::Usage,
            Cause::NotReproduced | Cause::OutputMissing => Exit::NotReproduced,
            Cause::Flaky => Exit::Flaky,
            Cause::Interrupted(signal) => Exit::Interrupted(signal),
        };
        Failure { exit, message }
    }
}

/// Any other error is an operational one.
impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::new(Exit::Failed, error)
    }
}
