//! Drive the search among circumstances of any kind: the checks before, the phases, the confirmation after.
//!
//! Before the search all circumstances together must show the failure, twice, and none of them must not. After
//! it the result must show it, twice, with everything started anew: otherwise something has passed from one run
//! to another, and the result is not called minimal.
//!
//! A search that was ended can go on: with its outcomes as [`Memory`] the same algorithm takes the same
//! way again without testing, and goes on where they end.

use dd::{
    Algorithm, Configuration, Counts, End, Experiment, Level, Outcome, Pool, Reduction, Sequential, Space,
    Stop,
};
use tracer::{Processors, patiently};

use super::memory::{Memory, PhaseMemory};
use super::watcher::Watcher;
use crate::circumstances::{
    Before, Kind, NextPhase, PhaseId, PhaseStart, PhaseTitle, Status, TestError, Trial,
};
use crate::oracle::Evidence;

/// The number of tests by which a result must be confirmed.
const CONFIRMATIONS: usize = 2;

/// The strategy of a search, whatever the kind of circumstance is.
#[derive(Clone, Copy, Debug)]
pub struct Strategy {
    /// The algorithm that chooses subsets.
    pub algorithm: Algorithm,
    /// The largest number of tests in all.
    pub max_tests: Option<u64>,
}

/// The means of a search: processors for its workers, and outcomes that are known already.
#[derive(Clone, Copy)]
pub struct SearchMeans<'m> {
    /// The processors, one for each worker in turn.
    pub processors: &'m Processors,
    /// The memory of an earlier search with the same plan for the same run.
    pub memory: &'m Memory,
}

/// The findings of a search.
#[derive(Debug)]
pub struct Found<S> {
    /// The phases that were begun, in order; at least one.
    pub phases: Vec<PhaseFound<S>>,
    /// True if the failure shows without any of the circumstances.
    pub is_trivial: bool,
    /// The evidence of the confirmation, if the result was not confirmed.
    pub unconfirmed: Option<Evidence>,
}

/// The findings of a phase.
#[derive(Debug)]
pub struct PhaseFound<S> {
    /// The phase.
    pub phase: PhaseId,
    /// Its circumstances.
    pub space: S,
    /// The status at its end.
    pub status: Status,
    /// The level at which the result is minimal, if it is.
    pub level: Level,
    /// An effective configuration that shows the failure.
    pub configuration: Configuration,
    /// The evidence of the tests without one of its circumstances, in ascending order; none for those that were not
    /// tried.
    pub evidence: Vec<(usize, Evidence)>,
    /// The tests by outcome.
    pub tests: Counts,
}

/// An obstacle: the reason why there is no result.
#[derive(Debug)]
pub enum Obstacle {
    /// All circumstances together do not show the failure; with the evidence.
    NotReplayable(Evidence),
    /// The result of a phase does not show the failure when the next one begins; with the evidence.
    NotRepeatable(Evidence),
    /// The test setup is broken.
    Broken(TestError),
}

impl From<TestError> for Obstacle {
    fn from(error: TestError) -> Obstacle {
        Obstacle::Broken(error)
    }
}

impl<S> Found<S> {
    /// The last phase that was begun.
    pub fn last(&self) -> &PhaseFound<S> {
        self.phases.last().expect("a search has a phase")
    }

    /// The status of the search.
    pub fn status(&self) -> Status {
        if self.unconfirmed.is_some() { Status::Unconfirmed } else { self.last().status }
    }

    /// The tests of all phases.
    pub fn tests(&self) -> Counts {
        self.phases.iter().map(|phase| phase.tests).sum()
    }
}

/// Reduces the circumstances of a failing run to those that the failure needs.
///
/// # Errors
/// See [`Obstacle`].
pub fn search<K: Kind>(
    kind: &mut K,
    strategy: Strategy,
    means: SearchMeans<'_>,
    watcher: &mut dyn Watcher,
) -> Result<Found<K::Space>, Obstacle> {
    let mut found = Found { phases: Vec::new(), is_trivial: false, unconfirmed: None };
    while let Some(NextPhase { title, space, start }) = kind.next(before(&found)) {
        if let PhaseStart::Everything = start {
            rehearse(kind, &space, means)?;
        }
        let spent = found.tests().total;
        let max_tests = strategy.max_tests.map(|most| most.saturating_sub(spent));
        let algorithm = kind.algorithm().unwrap_or(strategy.algorithm);
        let strategy = Strategy { algorithm, max_tests };
        let phase = title.id;
        let memory = means.memory.of(phase);
        // A search that uses the outcomes of an earlier one uses its guess, too.
        let guess = match memory {
            Some(memory) => memory.guess.clone(),
            None => kind.guess(phase, &space),
        };
        let job = Job { title, space: &space, start, guess, strategy, memory };
        let Tested { reduction, tests, is_trivial } =
            make_tests(kind, &job, means.processors, &mut *watcher)?;
        let (status, level) = ended(reduction.end, watcher)?;
        let evidence = reduction.evidence.into_iter().map(|(number, _, seen)| (number, seen)).collect();
        let configuration = reduction.configuration;
        found.phases.push(PhaseFound { phase, space, status, level, configuration, evidence, tests });
        found.is_trivial |= is_trivial;
        if found.is_trivial || status != Status::Minimal {
            break;
        }
    }
    found.unconfirmed = confirm(kind, &found, means)?;
    Ok(found)
}

/// The result of the phase before.
fn before<S>(found: &Found<S>) -> Option<Before<'_, S>> {
    let PhaseFound { phase, space, configuration, .. } = found.phases.last()?;
    Some(Before { id: *phase, space, found: configuration })
}

/// Tests all circumstances together once; the phase's first test does it again.
fn rehearse<K: Kind>(kind: &mut K, space: &K::Space, means: SearchMeans<'_>) -> Result<(), Obstacle> {
    let Some(mut trial) = kind.first_trial(space) else { return Ok(()) };
    means.processors.bind(0);
    let evidence = trial.rehearse(&Configuration::full(space.len()))?;
    match evidence.outcome {
        Outcome::Fail => Ok(()),
        _ => Err(Obstacle::NotReplayable(evidence)),
    }
}

/// Tests the result with everything started anew; returns the evidence if it does not show the failure.
/// Skipped if the user has asked for the end.
fn confirm<K: Kind>(
    kind: &mut K,
    found: &Found<K::Space>,
    means: SearchMeans<'_>,
) -> Result<Option<Evidence>, Obstacle> {
    let last = found.last();
    if found.is_trivial || last.status == Status::Interrupted {
        return Ok(None);
    }
    let Some(mut trial) = kind.first_trial(&last.space) else { return Ok(None) };
    means.processors.bind(0);
    for _ in 0..CONFIRMATIONS {
        let evidence = trial.confirm(&last.configuration)?;
        if evidence.outcome != Outcome::Fail {
            return Ok(Some(evidence));
        }
    }
    Ok(None)
}

/// Makes the tests of a phase, with all workers.
fn make_tests<K: Kind>(
    kind: &mut K,
    job: &Job<'_, K::Space>,
    processors: &Processors,
    watcher: &mut dyn Watcher,
) -> Result<Tested, Obstacle> {
    let mut trials = kind.trials(job.space);
    match trials.len() {
        0 => job.carry_out(Experiment::recorded(job.space, None), watcher),
        1 => {
            let mut tester = Sequential::new(trials.remove(0));
            job.carry_out(Experiment::new(job.space, &mut tester), watcher)
        }
        _ => std::thread::scope(|scope| {
            let prepare = |worker| processors.bind(worker);
            let pool = Pool::new(scope, trials, prepare, |attempt| patiently(&mut *attempt));
            let mut pool = pool.map_err(TestError::Thread)?;
            job.carry_out(Experiment::new(job.space, &mut pool), watcher)
        }),
    }
}

/// A phase to be searched, whatever makes its tests.
struct Job<'j, S> {
    title: PhaseTitle,
    space: &'j S,
    start: PhaseStart,
    guess: Option<Configuration>,
    strategy: Strategy,
    memory: Option<&'j PhaseMemory>,
}

/// The result of the tests of a phase.
struct Tested {
    reduction: Reduction<Evidence, TestError>,
    tests: Counts,
    is_trivial: bool,
}

/// The result of the checks before a search.
enum Checked {
    Fails,
    FailsAnyway,
    FailsNot(Evidence),
}

impl<S: Space> Job<'_, S> {
    fn carry_out<'e>(
        &'e self,
        experiment: Experiment<'e, Evidence, TestError>,
        watcher: &'e mut dyn Watcher,
    ) -> Result<Tested, Obstacle> {
        let mut start = self.start();
        watcher.begins(&self.title, &start);
        if let Some(guess) = &self.guess {
            watcher.guesses(guess);
        }
        let outcomes = self.memory.map(|phase| &phase.outcomes);
        let experiment = experiment.remembering(outcomes).limited_to(self.strategy.max_tests);
        let mut experiment = experiment.observed_by(watcher);
        let mut algorithm = self.strategy.algorithm;
        let checked = self.check(&mut experiment, &start).and_then(|checked| {
            if let Checked::Fails = checked
                && let Some(guess) = self.held_guess(&mut experiment, &start)?
            {
                algorithm = of_guess(algorithm);
                start = guess;
            }
            Ok(checked)
        });
        let is_trivial = matches!(checked, Ok(Checked::FailsAnyway));
        let ended = |configuration, end| Reduction { configuration, end, evidence: Vec::new() };
        let reduction = match checked {
            Ok(Checked::Fails) => algorithm.reduce(&mut experiment, start),
            Ok(Checked::FailsAnyway) => {
                ended(Configuration::empty(self.space.len()), End::Minimal(Level::Members))
            }
            Ok(Checked::FailsNot(evidence)) => return Err(self.obstacle(evidence)),
            Err(stop) => ended(start, End::Stopped(stop)),
        };
        Ok(Tested { reduction, tests: experiment.counts(), is_trivial })
    }

    fn start(&self) -> Configuration {
        let remembered = self.memory.and_then(|phase| phase.start.as_ref());
        match (remembered, &self.start) {
            (Some(start), _) | (None, PhaseStart::CarriedOver(start)) => start.clone(),
            (None, PhaseStart::Everything | PhaseStart::Known) => Configuration::full(self.space.len()),
        }
    }

    /// Checks that the start shows the failure, and that the empty configuration does not.
    fn check(
        &self,
        experiment: &mut Experiment<'_, Evidence, TestError>,
        start: &Configuration,
    ) -> Result<Checked, Stop<TestError>> {
        if let PhaseStart::Known = self.start {
            return Ok(Checked::Fails);
        }
        let (outcome, evidence) = experiment.test(start)?;
        if outcome != Outcome::Fail {
            return Ok(Checked::FailsNot(evidence));
        }
        if let PhaseStart::CarriedOver(_) = self.start {
            return Ok(Checked::Fails);
        }
        let (outcome, _) = experiment.test(&Configuration::empty(self.space.len()))?;
        Ok(if outcome == Outcome::Fail { Checked::FailsAnyway } else { Checked::Fails })
    }

    /// The guess, if it shows the failure: the search starts from it.
    fn held_guess(
        &self,
        experiment: &mut Experiment<'_, Evidence, TestError>,
        start: &Configuration,
    ) -> Result<Option<Configuration>, Stop<TestError>> {
        let Some(guess) = &self.guess else { return Ok(None) };
        let within =
            Configuration::from_iter(start.universe(), guess.iter().filter(|&one| start.contains(one)));
        let guess = experiment.normalise(&within);
        if guess.is_empty() {
            return Ok(None);
        }
        // It may leave out nothing.
        if guess != *start && experiment.test(&guess)?.0 != Outcome::Fail {
            return Ok(None);
        }
        if guess != *start {
            // The outcome is known now, so that this only tells the observer.
            experiment.first_failure([guess.clone()])?;
        }
        Ok(Some(guess))
    }

    fn obstacle(&self, evidence: Evidence) -> Obstacle {
        match self.start {
            PhaseStart::Everything => Obstacle::NotReplayable(evidence),
            PhaseStart::CarriedOver(_) | PhaseStart::Known => Obstacle::NotRepeatable(evidence),
        }
    }
}

/// The algorithm that goes on from a guess that holds: most of it is needed.
fn of_guess(algorithm: Algorithm) -> Algorithm {
    match algorithm {
        Algorithm::Sweep => Algorithm::Prune,
        other => other,
    }
}

/// The status of a phase at its end, and the level at which its result is minimal.
fn ended(end: End<TestError>, watcher: &dyn Watcher) -> Result<(Status, Level), TestError> {
    Ok(match end {
        End::Minimal(level) => (Status::Minimal, level),
        End::Stopped(Stop::Limit | Stop::NotRecorded) => (Status::Budget, Level::Groups(0)),
        End::Stopped(Stop::Asked) => (watcher.reason(), Level::Groups(0)),
        End::Stopped(Stop::Error(error)) => return Err(error),
    })
}
