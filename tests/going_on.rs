//! A search with a memory: what was found before is neither tested again nor lost.

mod support;

use std::sync::atomic::AtomicU64;

use dd::{Algorithm, Configuration, Counts, Observer, Outcome};
use stripe::baseline::recording_limits;
use stripe::circumstances::events::{Control, EventTestSetup, Events};
use stripe::circumstances::{PhaseTitle, RunLock, Status};
use stripe::oracle::{Criterion, Evidence, Oracle};
use stripe::session::driver::{SearchMeans, Strategy, search};
use stripe::session::memory::{Memory, PhaseMemory};
use stripe::session::needed::Finding;
use stripe::session::watcher::Watcher;
use stripe::subject::Recorded;
use support::engine::{invocation, load, record};
use support::{GCC, sample};
use tracer::invocation::Invocation;
use tracer::poison::Poison;
use tracer::program::{Granularity, Program};
use tracer::run::Recording;
use tracer::{Preference, Processors, Tracer};

/// The sample of the paper, recorded.
struct Subject {
    program: Program,
    start: Invocation,
    recording: Recording,
    oracle: Oracle,
}

/// Takes down what a search does, as the archive would.
#[derive(Default)]
struct Notes {
    memory: Memory,
    /// The sets of the phase at hand, each smaller than the last.
    sets: Vec<Configuration>,
    tests: usize,
}

impl Observer<Evidence> for Notes {
    fn tested(&mut self, configuration: &Configuration, outcome: Outcome, seen: &Evidence, _: Counts) {
        let phase = self.memory.phases.last_mut().expect("a phase");
        phase.outcomes.insert(configuration.fingerprint(), (outcome, seen.clone()));
        self.tests += 1;
    }

    fn improved(&mut self, smaller: &Configuration) {
        self.sets.push(smaller.clone());
    }
}

impl Watcher for Notes {
    fn begins(&mut self, phase: &PhaseTitle, _: &Configuration) {
        self.memory.phases.push(PhaseMemory {
            phase: phase.id,
            outcomes: Default::default(),
            guess: None,
            start: None,
        });
    }
}

impl Subject {
    fn new() -> Subject {
        let subject = sample(GCC, "");
        let program = load(&subject.path, Granularity::Statement);
        let input = std::fs::read(&subject.stdin).expect("an input");
        let start = invocation(&subject.path, &subject.directory, &[], input);
        let recording =
            record(&mut Tracer::new(&program, &start, Preference::Auto).expect("a tracer"), "sample");
        let oracle = Criterion::default().oracle(&recording.run).expect("an oracle");
        Subject { program, start, recording, oracle }
    }

    /// Searches with so many workers; tells how many replays that took.
    fn search(&self, control: Control, workers: usize, memory: &Memory) -> (Finding, Notes, u64) {
        let runs = AtomicU64::new(0);
        let setup = EventTestSetup {
            recorded: Recorded { program: &self.program, trace: &self.recording.trace },
            oracle: &self.oracle,
            patterns: &Poison::PATTERNS,
            untouched: &Default::default(),
            asked: &None,
            limits: recording_limits(),
            runs: &runs,
            memo: None,
            outputs: None,
            turns: RunLock::default(),
        };
        let new = |_| Tracer::new(&self.program, &self.start, Preference::Auto).expect("a tracer");
        let mut tracers: Vec<Tracer<'_>> = (0..workers).map(new).collect();
        let means = SearchMeans { processors: &Processors::available(), memory };
        let algorithm = Algorithm::Sweep;
        let mut kind = Events {
            setup: &setup,
            control,
            algorithm,
            guess: None,
            tracers: &mut tracers,
            links: &mut [],
            criterion: None,
        };
        let mut notes = Notes::default();
        let strategy = Strategy { algorithm, max_tests: None };
        let found = search(&mut kind, strategy, means, &mut notes).expect("a finding");
        let finding = Finding::of(found, setup.recorded, control);
        (finding, notes, runs.into_inner())
    }
}

fn events(finding: &Finding) -> Vec<u32> {
    finding.needed.iter().map(|needed| needed.event.time()).collect()
}

#[test]
fn a_complete_memory_is_the_result_without_a_single_replay() {
    let subject = Subject::new();
    for control in [Control::Both, Control::Program, Control::Trace] {
        let (found, notes, _) = subject.search(control, 1, &Memory::default());
        let (remembered, _, runs) = subject.search(control, 0, &notes.memory);
        assert_eq!((remembered.status, runs), (Status::Minimal, 0));
        assert_eq!((events(&remembered), remembered.tests), (events(&found), found.tests));
        let evidence =
            |finding: &Finding| finding.needed.iter().map(|n| n.without.clone()).collect::<Vec<_>>();
        assert_eq!(evidence(&remembered), evidence(&found));
    }
}

#[test]
fn without_a_memory_and_workers_everything_is_kept() {
    let (found, _, runs) = Subject::new().search(Control::Both, 0, &Memory::default());
    assert_eq!((found.status, found.tests.total, runs), (Status::Budget, 0, 0));
    assert_eq!(found.needed.len(), found.omittable);
}

#[test]
fn the_best_so_far_is_a_start_where_outcomes_mean_nothing_any_more() {
    let subject = Subject::new();
    for control in [Control::Trace, Control::Program] {
        let (found, notes, _) = subject.search(control, 1, &Memory::default());
        let best = notes.sets[notes.sets.len() * 2 / 3].clone();
        let phase = notes.memory.phases[0].phase;
        let start =
            PhaseMemory { phase, outcomes: Default::default(), guess: None, start: Some(best.clone()) };
        let (again, later, _) = subject.search(control, 2, &Memory { phases: vec![start] });
        assert_eq!(again.status, Status::Minimal);
        assert!(again.needed.len() <= best.len() && later.tests < notes.tests, "{}", later.tests);
        assert_eq!(again.needed.len(), found.needed.len());
    }
}
