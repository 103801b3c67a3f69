//! Find what keeps a failure away, among all that a program is given.
//!
//! The question of [`simplify`](super::simplify) the other way round: with all circumstances the failure does not
//! show, without any it does. A minimal set that keeps it away is taken out, and a further one is looked for in the
//! rest, until the rest does not keep the failure away any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dd::{Configuration, Counts, Level, Observer, Outcome};
use tracer::Processors;
use tracer::denial::Actions;
use tracer::run::Run;
use tracer::termination::Termination;
use tracer::trace::Trace;

use super::driver::{self, SearchMeans, Strategy};
use super::error::{Cause, SessionError};
use super::interrupt::Interrupt;
use super::listener::{Begun, Listener, SearchWatcher};
use super::memory::Memory;
use super::permissions::openings;
use super::simplification::SimplificationKeeping;
use super::simplify::{
    Simplification, described, limits, oracle, other_failures, refused, setup, weakness, workers,
};
use super::simplify_request::SimplifyRequest;
use super::watcher::Watcher;
use crate::circumstances::input::{Given, InputTestSetup, InputWorker, Preventers, Snippets, Wanted};
use crate::circumstances::{PhaseTitle, Status};
use crate::oracle::{Evidence, Oracle, termination};
use crate::simplified::prevention::{Others, Preventer, PreventingSet, Prevention};
use crate::simplified::{Simplified, TriedInputs};
use crate::subject::Recorded;

/// Finds the sets that prevent a failure.
///
/// # Errors
/// If the failure shows with all that is given, or does not without any of it, or the test setup is broken.
pub fn prevent(
    request: &SimplifyRequest,
    interrupt: &Interrupt,
    listener: &dyn Listener,
) -> Result<Simplification, SessionError> {
    let started = Instant::now();
    let SimplifyRequest { invocation, given, .. } = request;
    let processors = Processors::available();
    let mut workers = workers(request, &processors)?;
    processors.bind(0);
    let mut keeping = SimplificationKeeping::reserve(request, given.fingerprint(), listener);
    let snippets = Snippets::of(given, request.method.granularity);
    let nothing = Oracle::accepting();
    let mut setup = setup(request, &nothing);
    let stop = interrupt.flag();
    let bare = snippets.choose(given, []);
    let mut look = |given| setup.examine(given, &mut workers[0], &stop).map(|(run, _)| run);
    let (first, failing) = (look(given)?, look(&bare)?);
    if interrupt.is_asked() {
        return Err(interrupt.or(SessionError::new(Cause::Failed, "")));
    }
    let Termination::Exited(status) = first.termination else {
        return Err(does_not_end(&setup, &first));
    };
    let oracle = oracle(request, &failing).map_err(|error| without_anything(error.cause, &error.message))?;
    setup.oracle = &oracle;
    setup.limits = limits(request, &generous(&first, &failing), setup.hangs);
    must_change(&setup, (given, &bare), &mut workers[0], &stop).map_err(|error| interrupt.or(error))?;
    setup.wanted = Wanted::Prevention(status);
    let described = described(&oracle, &setup);
    listener.tell(&format!("the failure: {described}"));
    listener.tell(&format!("prevented: it is not there, and {}", prevented(request, status)));
    keeping.begin(&described);

    let mut search = SetSearch {
        request,
        setup: &setup,
        workers: &mut workers,
        processors: &processors,
        snippets: &snippets,
        interrupt,
        listener,
        deadline: request.max_time.map(|time| started + time),
        left: (0..snippets.len()).collect(),
        tests: Counts::default(),
        warnings: openings(&invocation.permissions),
    };
    let (prevention, after) = search.all_sets()?;
    let (tests, warnings) = (search.tests, search.warnings);
    let containment = workers[0].containment();
    let last = setup.examine(&after, &mut workers[0], &Arc::default())?.0;
    let mut found = Simplified {
        status: status_of(&prevention, interrupt),
        criterion: described,
        before: given.clone(),
        arguments: after.apply(invocation).0.arguments,
        after,
        units: snippets.units(),
        is_trivial: false,
        is_derived: false,
        prevention: Some(prevention),
        tests,
        runs: setup.runs.load(Ordering::Relaxed),
        elapsed: started.elapsed(),
        errors_before: first.stderr.to_vec(),
        errors_after: last.stderr.to_vec(),
        other_failures: other_failures(&setup),
        containment,
        warnings,
        provenances: None,
        tried: TriedInputs::default(),
        kept_as: None,
    };
    keeping.conclude(&mut found);
    Ok(Simplification { found, first, last })
}

/// The search for one set after the other.
struct SetSearch<'s, 'r> {
    request: &'s SimplifyRequest,
    setup: &'s InputTestSetup<'r>,
    workers: &'s mut [InputWorker<'r>],
    processors: &'s Processors,
    snippets: &'s Snippets,
    interrupt: &'s Interrupt,
    listener: &'s dyn Listener,
    deadline: Option<Instant>,
    /// The circumstances that are in no set yet.
    left: Vec<usize>,
    tests: Counts,
    warnings: Vec<String>,
}

impl SetSearch<'_, '_> {
    /// Finds all sets; returns what is given with the first one only as well.
    fn all_sets(&mut self) -> Result<(Prevention, Given), SessionError> {
        let given = &self.request.given;
        let (mut sets, mut first) = (Vec::new(), None);
        let others = loop {
            let (set, numbers) = self.next_set()?;
            let is_minimal = set.status == Status::Minimal;
            sets.push(set);
            self.left.retain(|number| !numbers.contains(number));
            first.get_or_insert_with(|| self.snippets.choose(given, numbers));
            if !is_minimal {
                break Others::Unknown;
            }
            let rest = self.snippets.choose(given, self.left.iter().copied());
            let stop = self.interrupt.flag();
            let (_, evidence) = self.setup.examine(&rest, &mut self.workers[0], &stop)?;
            match evidence.outcome {
                _ if self.interrupt.is_asked() => break Others::Unknown,
                Outcome::Pass => break Others::Fail,
                Outcome::Unresolved => break Others::Unresolved(evidence.why),
                Outcome::Fail if self.is_over() => {
                    self.warnings.push(format!("{OTHERS_TOO}; raise --max-tests or --max-time"));
                    break Others::Unknown;
                }
                Outcome::Fail => {}
            }
        };
        let prevention = Prevention { circumstances: self.snippets.len(), sets, others };
        Ok((prevention, first.unwrap_or_else(|| given.clone())))
    }

    fn is_over(&self) -> bool {
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        is_late || self.request.strategy.max_tests.is_some_and(|most| self.tests.total >= most)
    }

    /// Finds a set among those that are left, which keep the failure away; with its numbers.
    fn next_set(&mut self) -> Result<(PreventingSet, Vec<usize>), SessionError> {
        let given = &self.request.given;
        let Strategy { algorithm, max_tests } = self.request.strategy;
        let max_tests = max_tests.map(|most| most.saturating_sub(self.tests.total));
        let strategy = Strategy { algorithm, max_tests };
        let time = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let progress = self.listener.search(Begun { criterion: None, time, known: None });
        let mut progress = OfFailure(progress);
        let mut kind = Preventers::new(self.setup, self.workers, given, self.snippets, &self.left);
        let means = SearchMeans { processors: self.processors, memory: &Memory::default() };
        let found = driver::search(&mut kind, strategy, means, &mut progress);
        progress.0.ends();
        drop(progress);
        let found = found.map_err(|obstacle| refused(obstacle, self.interrupt))?;
        if found.is_trivial {
            let why = "without anything of what is given the failure shows in one run and not in another; make the \
                       program, or what judges it, depend on nothing else";
            return Err(SessionError::new(Cause::Flaky, why));
        }
        self.tests = [self.tests, found.tests()].into_iter().sum();
        self.warnings.extend(weakness(&found));
        let last = found.last();
        let without = |number: usize| {
            let seen = last.evidence.iter().find(|(known, _)| *known == number);
            seen.map(|(_, evidence)| evidence.clone())
        };
        let member = |number: usize| {
            let (name, content) = self.snippets.told(given, self.left[number]);
            // Without its only member a set is empty, for which the failure is known.
            let alone = || Evidence::new(Outcome::Pass, "the failure is there");
            let without = without(number).or_else(|| (last.configuration.len() == 1).then(alone));
            Preventer { name, content, without }
        };
        let members = last.configuration.iter().map(member).collect();
        let numbers = last.configuration.iter().map(|number| self.left[number]).collect();
        Ok((PreventingSet { status: found.status(), members, tests: found.tests() }, numbers))
    }
}

/// A watcher that reports of each test whether the failure was there, which is the opposite of what the search wants.
struct OfFailure<'w>(Box<dyn SearchWatcher + 'w>);

impl Observer<Evidence> for OfFailure<'_> {
    fn tested(&mut self, tested: &Configuration, outcome: Outcome, evidence: &Evidence, counts: Counts) {
        let of_failure = match outcome {
            Outcome::Fail => Outcome::Pass,
            Outcome::Pass => Outcome::Fail,
            Outcome::Unresolved => Outcome::Unresolved,
        };
        self.0.tested(tested, of_failure, evidence, counts);
    }

    fn improved(&mut self, smaller: &Configuration) {
        self.0.improved(smaller);
    }

    fn goes_finer(&mut self, level: Level, tests: u64) -> bool {
        self.0.goes_finer(level, tests)
    }

    fn should_stop(&mut self) -> bool {
        self.0.should_stop()
    }
}

impl Watcher for OfFailure<'_> {
    fn begins(&mut self, phase: &PhaseTitle, start: &Configuration) {
        self.0.begins(phase, start);
    }

    fn reason(&self) -> Status {
        self.0.reason()
    }
}

/// The warning where a budget ends the search between two sets.
const OTHERS_TOO: &str = "a budget ended the search; the others keep the failure away as well";

/// The status of the search.
fn status_of(prevention: &Prevention, interrupt: &Interrupt) -> Status {
    match (prevention.sets.last().map(|set| set.status), &prevention.others) {
        (Some(Status::Minimal), Others::Unknown) if interrupt.signal().is_some() => Status::Interrupted,
        (Some(Status::Minimal), Others::Unknown) => Status::Budget,
        (Some(status), _) => status,
        (None, _) => Status::Budget,
    }
}

/// Checks that the failure shows without anything, and does not with all that is given.
fn must_change(
    setup: &InputTestSetup<'_>,
    (given, bare): (&Given, &Given),
    worker: &mut InputWorker<'_>,
    stop: &Arc<AtomicBool>,
) -> Result<(), SessionError> {
    let (_, without) = setup.examine(bare, worker, stop)?;
    if without.outcome != Outcome::Fail {
        return Err(without_anything(Cause::NotReproduced, &without.why));
    }
    let (_, with) = setup.examine(given, worker, stop)?;
    let why = match with.outcome {
        Outcome::Pass => return Ok(()),
        Outcome::Fail => {
            "with all that is given the failure is still there, so that nothing of it prevents the \
                          failure; check what is given, and what the failure is"
                .to_owned()
        }
        Outcome::Unresolved => {
            format!(
                "with all that is given the run says nothing about the failure: {}; it has to end by itself, without \
                 any failure",
                with.why
            )
        }
    };
    Err(SessionError::new(Cause::NotReproduced, why))
}

fn without_anything(cause: Cause, why: &str) -> SessionError {
    let remedy = "what the program cannot do without has to stay: name with --arguments=RE and --environment=RE what \
                  may be left out";
    let message = format!("without anything of what is given the failure is not there: {why}; {remedy}");
    SessionError::new(cause, message)
}

fn does_not_end(setup: &InputTestSetup<'_>, first: &Run) -> SessionError {
    let recorded = Recorded { program: setup.program, trace: &Trace::default() };
    let how = termination(&first.termination, recorded);
    let message = format!(
        "with all that is given the program does not end by itself ({how}), so that nothing prevents a failure; give \
         what makes it work, or more time with --timeout"
    );
    SessionError::new(Cause::NotReproduced, message)
}

/// A description of the runs that count as prevented, apart from that the failure does not show.
fn prevented(request: &SimplifyRequest, status: i32) -> String {
    match request.judges {
        true => "the check ends with 1 to 124".into(),
        false => format!("the program ends by itself with exit status {status}, as with all that is given"),
    }
}

/// A run with the larger usage of the two.
fn generous(first: &Run, failing: &Run) -> Run {
    let (mut usage, other) = (first.usage, failing.usage);
    usage.cpu = usage.cpu.max(other.cpu);
    usage.wall = usage.wall.max(other.wall).min(LONGEST_FAILURE.max(first.usage.wall));
    usage.memory = usage.memory.max(other.memory);
    let denied = Actions::from_bits(first.denied.bits() | failing.denied.bits());
    Run { usage, denied, ..first.clone() }
}

/// The longest failing run that is waited for again and again.
const LONGEST_FAILURE: Duration = Duration::from_secs(60);
