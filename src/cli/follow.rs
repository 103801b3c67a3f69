//! Follow the run of `stripe run` by its dependences: for the first guess of the search, and for the comparison after it.

use tracer::Tracer;

use super::choices::GuessChoice;
use super::exit::Failure;
use super::options::RunOptions;
use super::progress::ProgressPrinter;
use super::slice_options::MOST_INSTRUCTIONS;
use crate::circumstances::events::EventGuess;
use crate::session::dynamic::{FollowBudget, FollowedRun, follow};
use crate::session::error::SessionError;
use crate::session::findings::Findings;
use crate::session::guess::guesses;
use crate::session::layers::{Layers, layers};
use crate::session::listener::Listener;
use crate::session::recording::Recording;

/// The number of instructions up to which a run is followed for a guess: beyond, that takes longer than most searches
/// gain by it.
const MOST_FOR_GUESS: u64 = 2_000_000;

/// A run of `stripe run` that can be followed, and its dependences.
pub(super) struct Follower<'f> {
    recording: &'f Recording<'f>,
    printer: &'f ProgressPrinter,
    followed: Option<FollowedRun<'f>>,
}

impl<'f> Follower<'f> {
    /// Creates a follower; the run is not followed yet.
    pub(super) fn new(recording: &'f Recording<'f>, printer: &'f ProgressPrinter) -> Follower<'f> {
        Follower { recording, printer, followed: None }
    }

    /// The guess for each question, if the options ask for it. A run that cannot be followed is searched without.
    pub(super) fn guess(&mut self, options: &RunOptions, tracer: &mut Tracer<'_>) -> Vec<Option<EventGuess>> {
        if options.search.guess == GuessChoice::None {
            return Vec::new();
        }
        let most = if options.compare { MOST_INSTRUCTIONS } else { MOST_FOR_GUESS };
        let trouble = |why: &dyn std::fmt::Display| {
            self.printer.tell(&format!(
                "stripe: nothing is guessed, and the search starts from the whole run: {why}"
            ));
        };
        match self.follow(tracer, most) {
            Ok(followed) => {
                let guesses = guesses(self.recording, &followed, &|error| trouble(error));
                self.followed = Some(followed);
                guesses
            }
            Err(error) => {
                trouble(&error);
                Vec::new()
            }
        }
    }

    /// Finds the dynamic slices to compare with the critical ones.
    pub(super) fn compare<'r>(
        &mut self,
        findings: &'r Findings,
        tracer: &mut Tracer<'_>,
    ) -> Result<Vec<Layers<'r>>, Failure> {
        let followed = match self.followed.take() {
            Some(followed) => followed,
            None => self.follow(tracer, MOST_INSTRUCTIONS)?,
        };
        Ok(layers(self.recording, findings, &followed)?)
    }

    fn follow(&self, tracer: &mut Tracer<'_>, instructions: u64) -> Result<FollowedRun<'f>, SessionError> {
        self.printer.tell("following the run instruction by instruction");
        let target = &self.recording.request.target;
        let memory = target.conditions.limits.trace;
        let budget = FollowBudget { instructions, memory, asks_for_potential: false };
        follow((target, tracer), &self.recording.baseline, &[], budget)
    }
}
