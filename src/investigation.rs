//! Find the critical slice of a recorded run: the main job, from baseline to result.
//!
//! Under [`Control::Both`] in two phases: first a branch decides, then, from that result, the trace
//! states the control flow. The results are nested, so that what only the first one has is needed as a
//! decision. Before the search the recorded run must reproduce in full, twice, and the empty set must
//! not. After it the result must reproduce, twice, in processes that are started anew: otherwise something has
//! passed from one run to another, and the result is not called minimal.
//!
//! A search that was ended can go on: with its outcomes as [`Memory`] the same algorithm takes the same
//! way again without testing, and goes on where they end.

use std::collections::HashMap;
use std::sync::Arc;

use dd::{
    Algorithm, Configuration, Counts, End, Experiment, Observer, Outcome, Pool, Reduction, Sequential, Space,
    Stop,
};

use tracer::schedule::Control as Rule;
use tracer::trace::EventId;
use tracer::{Processors, Tracer, patiently};

use crate::circumstances::{EventTest, Laboratory, TestError, Universe};
use crate::printed::Printed;
use crate::slice::{Control, Evidence, Level, Necessity, Needed, Recorded, Status};

/// How to search.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// What makes a statement be executed.
    pub control: Control,
    /// How subsets are chosen.
    pub algorithm: Algorithm,
    /// At most this many tests in all.
    pub max_tests: Option<u64>,
}

/// So often a result must be confirmed.
const CONFIRMATIONS: usize = 2;

/// The means of a search: one tracer for each worker, where these may run, and what is known already.
pub struct Means<'m, 'p> {
    /// The workers' tracers. Without any the search only follows its memory, and ends where that does.
    pub tracers: &'m mut [Tracer<'p>],
    /// The processors, one for each worker in turn.
    pub processors: &'m Processors,
    /// What an earlier search with the same plan for the same run has left behind.
    pub memory: &'m Memory,
}

/// What a search leaves behind for one that goes on: one entry for each phase that it has begun.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    /// The phases, in any order.
    pub phases: Vec<PhaseMemory>,
}

/// What is known about a phase.
#[derive(Clone, Debug)]
pub struct PhaseMemory {
    /// What makes a statement be executed in it.
    pub rule: Rule,
    /// The outcomes of tests, by the fingerprints of effective sets.
    pub outcomes: HashMap<u128, (Outcome, Evidence)>,
    /// From where to start, if the outcomes do not lead there by themselves.
    pub start: Option<Configuration>,
}

impl Memory {
    fn of(&self, rule: Rule) -> Option<&PhaseMemory> {
        self.phases.iter().find(|phase| phase.rule == rule)
    }

    /// What tests have printed, as far as it is kept.
    pub fn printed(&self) -> impl Iterator<Item = Arc<Printed>> {
        let seen = self.phases.iter().flat_map(|phase| phase.outcomes.values());
        seen.filter_map(|(_, evidence)| evidence.printed.clone())
    }

    /// How many tests need not be made again.
    pub fn tests(&self) -> u64 {
        self.phases.iter().map(|phase| phase.outcomes.len() as u64).sum()
    }
}

/// Somebody who watches a search through its phases.
pub trait Watcher: Observer<Evidence> {
    /// Learns that a phase begins: what makes a statement be executed in it, and from what it starts.
    fn begins(&mut self, _rule: Rule, _start: &Configuration) {}
}

/// Watches nothing.
pub struct Nobody;

impl Observer<Evidence> for Nobody {}

impl Watcher for Nobody {}

/// What a search has found.
#[derive(Debug)]
pub struct Finding {
    /// How it ended.
    pub status: Status,
    /// What cannot be left out any more, if it is minimal.
    pub level: Level,
    /// What was seen when the result was to be confirmed, if it was not.
    pub unconfirmed: Option<Evidence>,
    /// The needed events in order.
    pub needed: Vec<Needed>,
    /// How many events could have been omitted.
    pub omittable: usize,
    /// The tests by outcome.
    pub tests: Counts,
}

/// Why there is nothing to be found.
#[derive(Debug)]
pub enum Obstacle {
    /// The recorded run, replayed in full, does not show the failure; what was seen.
    NotReplayable(Evidence),
    /// What a phase has found does not show the failure when the next one begins; what was seen.
    NotRepeatable(Evidence),
    /// The failure shows even if nothing is executed: an empty finding.
    Trivial(Box<Finding>),
    /// The set-up is broken.
    Broken(TestError),
}

impl From<TestError> for Obstacle {
    fn from(error: TestError) -> Obstacle {
        Obstacle::Broken(error)
    }
}

/// Reduces the run of the laboratory to what the failure needs.
///
/// # Errors
/// See [`Obstacle`].
pub fn investigate(
    laboratory: &Laboratory<'_>,
    plan: Plan,
    means: Means<'_, '_>,
    watcher: &mut dyn Watcher,
) -> Result<Finding, Obstacle> {
    let mut search = Search { laboratory, plan, means, watcher };
    match plan.control {
        Control::Program => search.single(Rule::Program),
        Control::Trace => search.single(Rule::Trace),
        Control::Both => search.both(),
    }
}

/// A search among the circumstances of a universe, whatever makes its tests.
type EventExperiment<'e> = Experiment<'e, Evidence, TestError>;

struct Search<'a, 'm, 'p> {
    laboratory: &'a Laboratory<'a>,
    plan: Plan,
    means: Means<'m, 'p>,
    watcher: &'a mut dyn Watcher,
}

/// From where a phase starts.
enum Start<'e> {
    /// From the whole run, after the checks that make a search meaningful.
    Recorded,
    /// From what an earlier phase executes in the end, behind its tests.
    Reduced { executed: &'e [EventId], tests: Counts },
}

impl Search<'_, '_, '_> {
    fn single(&mut self, rule: Rule) -> Result<Finding, Obstacle> {
        let universe = self.universe(rule);
        self.rehearse(&universe)?;
        let phase = self.phase(&universe, Start::Recorded)?;
        self.confirmed(&universe, &phase, self.finding(&phase, universe.len()))
    }

    fn both(&mut self) -> Result<Finding, Obstacle> {
        let before = self.universe(Rule::Program);
        self.rehearse(&before)?;
        let decided = self.phase(&before, Start::Recorded)?;
        let universe = self.universe(Rule::Trace);
        if decided.status != Status::Minimal {
            return self.confirmed(&before, &decided, self.finding(&decided, universe.len()));
        }
        let start = Start::Reduced { executed: &decided.executed, tests: decided.tests };
        let stated = self.phase(&universe, start)?;
        let for_effect = stated.kept.iter().map(|&event| stated.needed(event, Necessity::Effect));
        let only_decisions = decided.kept.iter().filter(|event| stated.kept.binary_search(event).is_err());
        let only_decisions = only_decisions.map(|&event| decided.needed(event, Necessity::Decision));
        let mut needed: Vec<Needed> = for_effect.chain(only_decisions).collect();
        needed.sort_by_key(|needed| needed.event);
        let tests = sum(decided.tests, stated.tests);
        let level = stated.level.min(decided.level);
        let (status, omittable) = (stated.status, universe.len());
        let finding = Finding { status, level, unconfirmed: None, needed, omittable, tests };
        self.confirmed(&universe, &stated, finding)
    }

    fn universe(&self, rule: Rule) -> Universe {
        let Recorded { program, trace } = self.laboratory.recorded;
        let universe = Universe::new(program, trace, rule);
        match self.plan.algorithm {
            Algorithm::Sweep => universe.grouped(program, trace),
            Algorithm::Ddmin => universe,
        }
    }

    /// Replays what the last phase has found in processes that are started anew. Who has asked for the end does
    /// not want to wait for that.
    fn confirmed(
        &mut self,
        universe: &Universe,
        phase: &Phase,
        mut finding: Finding,
    ) -> Result<Finding, Obstacle> {
        let Some(tracer) = self.means.tracers.first_mut() else { return Ok(finding) };
        if finding.status == Status::Interrupted {
            return Ok(finding);
        }
        self.means.processors.bind(0);
        // What is remembered confirms nothing.
        let laboratory = Laboratory { memo: None, ..self.laboratory.clone() };
        let mut test = EventTest::new(&laboratory, universe, tracer);
        let schedule = universe.schedule(&universe.configuration(phase.executed.iter().copied()));
        for _ in 0..CONFIRMATIONS {
            let evidence = test.confirm(&schedule)?;
            if evidence.outcome != Outcome::Fail {
                (finding.status, finding.unconfirmed) = (Status::Unconfirmed, Some(evidence));
                break;
            }
        }
        Ok(finding)
    }

    /// What one phase alone has found. Whether an event is needed for its effect has not been tried
    /// where a branch decides; a decision is then taken to be needed as such.
    fn finding(&self, phase: &Phase, omittable: usize) -> Finding {
        let Recorded { program, trace } = self.laboratory.recorded;
        let necessity = |event| match phase.rule {
            Rule::Program if program.leader(trace.leader(event)).decides => Necessity::Decision,
            _ => Necessity::Effect,
        };
        let needed = phase.kept.iter().map(|&event| phase.needed(event, necessity(event)));
        Finding {
            status: phase.status,
            level: phase.level,
            unconfirmed: None,
            needed: needed.collect(),
            omittable,
            tests: phase.tests,
        }
    }

    /// Replays the recorded run in full once; the phase's first test does it again.
    fn rehearse(&mut self, universe: &Universe) -> Result<(), Obstacle> {
        let Some(tracer) = self.means.tracers.first_mut() else { return Ok(()) };
        self.means.processors.bind(0);
        let mut test = EventTest::new(self.laboratory, universe, tracer);
        let (_, evidence) = test.examine(&universe.schedule(&Configuration::full(universe.len())))?;
        match evidence.outcome {
            Outcome::Fail => Ok(()),
            _ => Err(Obstacle::NotReplayable(evidence)),
        }
    }

    fn phase(&mut self, universe: &Universe, start: Start<'_>) -> Result<Phase, Obstacle> {
        let Search { laboratory, plan, means, watcher } = self;
        let job = Job { universe, start, plan: *plan, memory: means.memory };
        match &mut *means.tracers {
            [] => job.carry_out(Experiment::recorded(universe, None), &mut **watcher),
            [tracer] => {
                let mut tester = Sequential::new(EventTest::new(laboratory, universe, tracer));
                job.carry_out(Experiment::new(universe, &mut tester), &mut **watcher)
            }
            tracers => std::thread::scope(|scope| {
                let workers =
                    tracers.iter_mut().map(|tracer| EventTest::new(laboratory, universe, tracer)).collect();
                let processors = means.processors;
                let pool = Pool::new(
                    scope,
                    workers,
                    |worker| processors.bind(worker),
                    |attempt| patiently(&mut *attempt),
                );
                let mut pool = pool.map_err(TestError::Thread)?;
                job.carry_out(Experiment::new(universe, &mut pool), &mut **watcher)
            }),
        }
    }
}

/// A phase to be done, whatever makes its tests.
struct Job<'j> {
    universe: &'j Universe,
    start: Start<'j>,
    plan: Plan,
    memory: &'j Memory,
}

impl Job<'_> {
    fn carry_out<'e>(
        &'e self,
        experiment: EventExperiment<'e>,
        watcher: &'e mut dyn Watcher,
    ) -> Result<Phase, Obstacle> {
        let spent = match self.start {
            Start::Recorded => 0,
            Start::Reduced { tests, .. } => tests.total,
        };
        let left = self.plan.max_tests.map(|most| most.saturating_sub(spent));
        let start = self.start();
        watcher.begins(self.universe.control(), &start);
        let outcomes = self.remembered().map(|phase| &phase.outcomes);
        let mut experiment = experiment.remembering(outcomes).limited_to(left).observed_by(watcher);
        let reduction = match self.check(&mut experiment, &start) {
            Ok(None) => self.plan.algorithm.reduce(&mut experiment, start),
            Ok(Some(obstacle)) => return Err(obstacle),
            Err(stop) => Reduction { configuration: start, end: End::Stopped(stop), evidence: Vec::new() },
        };
        self.conclude(reduction, experiment.counts())
    }

    fn remembered(&self) -> Option<&PhaseMemory> {
        self.memory.of(self.universe.control())
    }

    fn start(&self) -> Configuration {
        if let Some(start) = self.remembered().and_then(|phase| phase.start.as_ref()) {
            return start.clone();
        }
        match self.start {
            Start::Recorded => Configuration::full(self.universe.len()),
            Start::Reduced { executed, .. } => self.universe.configuration(executed.iter().copied()),
        }
    }

    /// The start must show the failure, and nothing at all must not.
    fn check(
        &self,
        experiment: &mut EventExperiment<'_>,
        start: &Configuration,
    ) -> Result<Option<Obstacle>, Stop<TestError>> {
        let (outcome, evidence) = experiment.test(start)?;
        if outcome != Outcome::Fail {
            return Ok(Some(match self.start {
                Start::Recorded => Obstacle::NotReplayable(evidence),
                Start::Reduced { .. } => Obstacle::NotRepeatable(evidence),
            }));
        }
        if let Start::Recorded = self.start {
            let (outcome, _) = experiment.test(&Configuration::empty(self.universe.len()))?;
            return Ok((outcome == Outcome::Fail).then(|| {
                Obstacle::Trivial(Box::new(Finding {
                    status: Status::Minimal,
                    level: Level::Execution,
                    unconfirmed: None,
                    needed: Vec::new(),
                    omittable: self.universe.len(),
                    tests: experiment.counts(),
                }))
            }));
        }
        Ok(None)
    }

    fn conclude(&self, reduction: Reduction<Evidence, TestError>, tests: Counts) -> Result<Phase, Obstacle> {
        let (status, level) = match reduction.end {
            End::Minimal(dd::Level::Members) => (Status::Minimal, Level::Execution),
            End::Minimal(dd::Level::Groups(0)) => (Status::Minimal, Level::Statement),
            End::Minimal(dd::Level::Groups(_)) => (Status::Minimal, Level::History),
            End::Stopped(Stop::Limit) => (Status::Budget, Level::Statement),
            End::Stopped(Stop::Asked | Stop::NotRecorded) => (Status::Interrupted, Level::Statement),
            End::Stopped(Stop::Error(error)) => return Err(error.into()),
        };
        let schedule = self.universe.schedule(&reduction.configuration);
        let events = |numbers: &mut dyn Iterator<Item = usize>| {
            numbers.map(|number| self.universe.event(number)).collect()
        };
        Ok(Phase {
            rule: schedule.control(),
            status,
            level,
            kept: events(&mut reduction.configuration.iter()),
            evidence: reduction
                .evidence
                .into_iter()
                .map(|(number, _, seen)| (self.universe.event(number), seen))
                .collect(),
            executed: schedule.kept().collect(),
            tests,
        })
    }
}

/// The result of a phase. All lists are in the order of events.
struct Phase {
    rule: Rule,
    status: Status,
    level: Level,
    kept: Vec<EventId>,
    evidence: Vec<(EventId, Evidence)>,
    /// All events that the final replay executes, omittable or not.
    executed: Vec<EventId>,
    tests: Counts,
}

impl Phase {
    fn needed(&self, event: EventId, necessity: Necessity) -> Needed {
        let seen = self.evidence.binary_search_by_key(&event, |&(event, _)| event);
        Needed { event, necessity, without: seen.ok().map(|position| self.evidence[position].1.clone()) }
    }
}

fn sum(one: Counts, other: Counts) -> Counts {
    Counts {
        total: one.total + other.total,
        fail: one.fail + other.fail,
        pass: one.pass + other.pass,
        unresolved: one.unresolved + other.unresolved,
        cached: one.cached + other.cached,
        predicted: one.predicted + other.predicted,
    }
}
