//! Watch a search through its phases.

use dd::{Configuration, Observer};

use crate::circumstances::{PhaseTitle, Status};
use crate::oracle::Evidence;

/// A watcher of a search and its phases.
pub trait Watcher: Observer<Evidence> {
    /// Learns that a phase begins, and its start.
    fn begins(&mut self, _phase: &PhaseTitle, _start: &Configuration) {}

    /// Learns the guess that is tried first in the phase that has begun: it may well show the failure.
    fn guesses(&mut self, _guess: &Configuration) {}

    /// The reason why it has asked for the end: [`Status::Budget`] or [`Status::Interrupted`].
    fn reason(&self) -> Status {
        Status::Interrupted
    }
}

/// A watcher that does nothing.
#[derive(Debug)]
pub struct NoWatcher;

impl Observer<Evidence> for NoWatcher {}

impl Watcher for NoWatcher {}
