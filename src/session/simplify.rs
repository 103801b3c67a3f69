//! Simplify the input of a failing program.
//!
//! The program is run as it is, that run shows the failure if the user has not stated it, and the search leaves out
//! what the failure does not need. Nothing is traced.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dd::Outcome;
use tracer::Processors;
use tracer::denial::Actions;
use tracer::invocation::Limits;
use tracer::run::Run;
use tracer::termination::Termination;
use tracer::trace::Trace;

use super::command_keeping::CommandKeeping;
use super::driver::{self, Found, Obstacle, SearchMeans, Strategy};
use super::error::{Cause, SessionError};
use super::history::History;
use super::interrupt::Interrupt;
use super::kept_outcomes::KeptOutcomes;
use super::listener::{Begun, Listener};
use super::memory::Memory;
use super::outcomes::{OfFurther, question};
use super::permissions::openings;
use super::simplification;
use super::simplify_request::{OutcomeKeeping, SimplifyRequest};
use super::tried_inputs::tried_inputs;
use crate::archive::UntracedSearch;
use crate::baseline::not_reproduced;
use crate::circumstances::input::{Given, InputTestSetup, InputWorker, Inputs, KeptPath, OtherInput, Wanted};
use crate::circumstances::{RunLock, Status};
use crate::oracle::{Criterion, Evidence, Oracle, WantedCrash, message};
use crate::simplified::Simplified;
use crate::subject::Recorded;

/// A simplification that has come to its end.
pub struct Simplification {
    /// The result.
    pub found: Simplified,
    /// The run with the whole input.
    pub first: Run,
    /// The run with what is left.
    pub last: Run,
}

/// The time for which a program that does not end is watched, if the user does not set it.
const HANG: Duration = Duration::from_secs(1);

/// Simplifies the input. The outcomes of its tests are kept until it has come to its end.
///
/// # Errors
/// If the program does not show the failure, or the test setup is broken.
pub fn simplify(
    request: &SimplifyRequest,
    interrupt: &Interrupt,
    listener: &dyn Listener,
) -> Result<Simplification, SessionError> {
    let outcomes =
        KeptOutcomes::open(UntracedSearch::Simplification, question(request), request.keeping, listener)?;
    let mut keeping = simplification::reserve(request, outcomes.question, listener);
    let found = search(request, interrupt, listener, (&outcomes, &mut keeping));
    let is_unfinished = match &found {
        Ok(Simplification { found, .. }) => !found.is_trivial && found.status.is_early(),
        Err(error) => matches!(error.cause, Cause::Failed | Cause::Interrupted(_)),
    };
    let can_go_on = outcomes.end(is_unfinished);
    if can_go_on && found.is_ok() {
        listener.tell("stripe: the same command with --resume goes on from here");
    }
    found
}

fn search(
    request: &SimplifyRequest,
    interrupt: &Interrupt,
    listener: &dyn Listener,
    (outcomes, keeping): (&KeptOutcomes<Evidence>, &mut CommandKeeping<'_>),
) -> Result<Simplification, SessionError> {
    let started = Instant::now();
    let SimplifyRequest { invocation, given, .. } = request;
    let processors = Processors::available();
    let mut workers = workers(request, &processors)?;
    processors.bind(0);
    let nothing = Oracle::accepting();
    let mut setup = setup(request, &nothing);
    let keep = |given: u128, evidence: &Evidence| outcomes.note(given, evidence);
    setup.recalled = outcomes.recalled.clone();
    setup.keep = Some(&keep);
    let stop = interrupt.flag();
    workers[0].note_open_files(true);
    let first = setup.examine(given, &mut workers[0], &stop).map_err(|error| interrupt.or(error))?.0;
    workers[0].note_open_files(false);
    if interrupt.is_asked() {
        return Err(interrupt.or(SessionError::new(Cause::Failed, "")));
    }
    let oracle = oracle(request, &first)?;
    setup.oracle = &oracle;
    setup.limits = limits(request, &first, setup.hangs);
    must_fail(&setup, given, &mut workers[0], &stop).map_err(|error| interrupt.or(error))?;
    setup.path = path(request, setup.limits, &stop).map_err(|error| interrupt.or(error))?;
    let described = described(&oracle, &setup);
    listener.tell(&format!("the failure: {described}"));
    keeping.begin(&described);

    let known = (request.keeping == OutcomeKeeping::Resumed).then_some(outcomes.recalled.len() as u64);
    let Strategy { algorithm, max_tests } = request.strategy;
    let inner = listener.search(Begun { criterion: None, time: request.max_time, known });
    // Known tests are counted as others are, and do not use up the budget.
    let most = max_tests.filter(|_| known.is_some());
    let mut progress = OfFurther { inner, fresh: &setup.fresh, most };
    let strategy = Strategy { algorithm, max_tests: max_tests.filter(|_| known.is_none()) };
    let mut known = given.clone();
    known.note_read(&first);
    let mut inputs = Inputs::new(&setup, &mut workers, &request.method, known);
    let means = SearchMeans { processors: &processors, memory: &Memory::default() };
    let mut history = History::default();
    let found = driver::search(&mut inputs, strategy, means, &mut history.beside(&mut progress));
    progress.inner.ends();
    drop(progress);
    let found = found.map_err(|obstacle| refused(obstacle, interrupt))?;
    let after = inputs.left(&found.last().configuration);
    let units = inputs.finest_units();
    let chosen: Vec<_> = found.phases.iter().map(|phase| &phase.configuration).collect();
    let (tried, provenances) = tried_inputs(&history, &inputs.into_past(), &chosen);
    let containment = workers[0].containment();
    // The user may have asked for the end of the search; this run is a part of its result.
    let last = setup.examine(&after, &mut workers[0], &Arc::default())?.0;
    let mut found = Simplified {
        prevention: None,
        status: found.status(),
        criterion: described,
        before: given.clone(),
        arguments: after.apply(invocation).0.arguments,
        after,
        units,
        is_trivial: found.is_trivial,
        is_derived: request.method.grammar.is_some(),
        tests: found.tests(),
        runs: setup.runs.load(Ordering::Relaxed),
        elapsed: started.elapsed(),
        errors_before: first.stderr.to_vec(),
        errors_after: last.stderr.to_vec(),
        other_failures: other_failures(&setup),
        containment,
        warnings: openings(&invocation.permissions)
            .into_iter()
            .chain(request.remarks.iter().cloned())
            .chain(outcomes.trouble())
            .chain(weakness(&found))
            .collect(),
        provenances,
        tried,
        kept_as: None,
    };
    simplification::conclude(keeping, &mut found);
    Ok(Simplification { found, first, last })
}

/// The setup for the first runs, in which each run that ends or crashes is accepted.
pub(super) fn setup<'r>(request: &'r SimplifyRequest, accepting: &'r Oracle) -> InputTestSetup<'r> {
    let hangs = request.criterion.as_ref().is_some_and(|criterion| criterion.endless.is_some());
    InputTestSetup {
        program: &request.program,
        invocation: &request.invocation,
        other: request.other.clone(),
        oracle: accepting,
        path: None,
        limits: first_limits(request, hangs),
        hangs,
        judges: request.judges,
        wanted: Wanted::Failure,
        runs: AtomicU64::new(0),
        turns: RunLock::default(),
        known: Mutex::default(),
        recalled: HashMap::new(),
        fresh: AtomicU64::new(0),
        keep: None,
        other_failures: Mutex::default(),
    }
}

/// The failures of another kind that came up, the most frequent first.
pub(super) fn other_failures(setup: &InputTestSetup<'_>) -> Vec<OtherInput> {
    let mut failures =
        std::mem::take(&mut *setup.other_failures.lock().unwrap_or_else(PoisonError::into_inner));
    failures.sort_by_key(|failure| std::cmp::Reverse(failure.tests));
    failures
}

/// The oracle of the failure: what the user says, or else what the run with the whole input shows.
pub(super) fn oracle(request: &SimplifyRequest, first: &Run) -> Result<Oracle, SessionError> {
    let criterion = match &request.criterion {
        Some(criterion) => criterion.clone(),
        None => of_run(first)?,
    };
    match criterion.is_empty() {
        // The behaviour of the other program is all that counts.
        true => Ok(Oracle::accepting()),
        false => Ok(criterion.oracle(first)?.telling(first, &request.program)),
    }
}

/// Checks that the failure shows with the whole input.
fn must_fail(
    setup: &InputTestSetup<'_>,
    given: &Given,
    worker: &mut InputWorker<'_>,
    stop: &Arc<AtomicBool>,
) -> Result<(), SessionError> {
    let (run, evidence) = setup.examine(given, worker, stop)?;
    if evidence.outcome == Outcome::Fail {
        return Ok(());
    }
    let recorded = Recorded { program: setup.program, trace: &Trace::default() };
    let why = not_reproduced(&evidence.why, setup.oracle.unmet_text(&run), recorded, &run);
    Err(SessionError::new(Cause::NotReproduced, why))
}

/// The statements that lead to the failure with all that is given, if the same ones have to.
fn path<'r>(
    request: &'r SimplifyRequest,
    limits: Limits,
    stop: &Arc<AtomicBool>,
) -> Result<Option<KeptPath<'r>>, SessionError> {
    let Some(program) = &request.path else { return Ok(None) };
    let recorded = KeptPath::of(program, (&request.invocation, &[]), &limits, stop);
    let refused = |error| {
        SessionError::new(
            Cause::Failed,
            format!("the path to the failure cannot be kept: {error}; leave --keep-path out"),
        )
    };
    recorded.map(Some).map_err(refused)
}

/// The reason why a result is less than minimal.
pub(super) fn weakness<S>(found: &Found<S>) -> Option<String> {
    match found.status() {
        Status::Minimal => None,
        Status::Unconfirmed => found.unconfirmed.as_ref().map(|seen| {
            let what =
                "the result was tested once more from the beginning, and the failure was not reproduced";
            format!("{what}: {}", seen.why)
        }),
        Status::Budget => Some("a budget ended the search; raise --max-tests or --max-time".into()),
        Status::Interrupted => Some("the search was interrupted".into()),
    }
}

pub(super) fn workers<'r>(
    request: &'r SimplifyRequest,
    processors: &Processors,
) -> Result<Vec<InputWorker<'r>>, SessionError> {
    let jobs = request.jobs.map_or(processors.count(), usize::from);
    let SimplifyRequest { program, invocation, other, .. } = request;
    let workers = (0..jobs).map(|_| InputWorker::new(program, invocation, other.as_ref()));
    Ok(workers.collect::<Result<_, _>>()?)
}

pub(super) fn described(oracle: &Oracle, setup: &InputTestSetup<'_>) -> String {
    let failure = match (&setup.other, setup.hangs) {
        (Some(_), _) => "the two programs differ in their output or exit status".into(),
        (None, true) => format!(
            "{}, for {:.1} s of the processor's time or asleep",
            oracle.describe(),
            setup.limits.cpu.as_secs_f64()
        ),
        (None, false) => oracle.describe(),
    };
    if setup.path.is_some() { format!("{failure}, by the same statements") } else { failure }
}

/// The criterion of a failing run that can be recognised as failing without the user's help: a crash, the report of a
/// sanitizer, or a failing exit status with a message.
///
/// # Errors
/// If it shows nothing of that.
pub fn of_run(run: &Run) -> Result<Criterion, SessionError> {
    let refuse = |what: &str| {
        let remedy = "say what the failure is: --expect-match, --expect-stderr-match, --expect-exit, --expect-timeout \
                      or --check";
        Err(SessionError::new(Cause::NotReproduced, format!("{what}: {remedy}")))
    };
    match run.termination {
        Termination::Crashed(_) => Ok(Criterion { crash: Some(WantedCrash::Same), ..Criterion::default() }),
        Termination::Exited(status) => {
            let reported = Criterion { crash: Some(WantedCrash::Same), ..Criterion::default() };
            let oracle = reported.clone().oracle(run)?;
            match message(&run.stderr) {
                _ if oracle.asks_for_report() => Ok(reported),
                Some(message) if status != 0 => {
                    Ok(Criterion { exit: Some(status), message: Some(message), ..Criterion::default() })
                }
                _ if status != 0 => {
                    refuse(&format!("the program ends with exit status {status} and says nothing"))
                }
                _ => refuse("the program ends with exit status 0, which is no failure by itself"),
            }
        }
        Termination::Cut(cut) => refuse(&format!("the program {cut}")),
        Termination::Left(_) | Termination::Endless(_) | Termination::Reached => {
            refuse("the program does not end")
        }
    }
}

/// The largest number of processes that a run may start: compilers and builds start many.
const MOST_TASKS: u32 = 10_000;
/// The largest size, in bytes, of a file that a run writes.
const LONGEST_FILE: u64 = 256 << 20;
const MOST_OUTPUT: u64 = 64 << 20;

fn limits_of(time: Duration) -> Limits {
    Limits {
        cpu: time,
        wall: time,
        idle: time,
        arrivals: u64::MAX,
        memory: None,
        trace: u64::MAX,
        file_size: LONGEST_FILE,
        output: MOST_OUTPUT,
        tasks: MOST_TASKS,
        tolerated: Actions::ALL,
    }
}

/// The limits of a run on a busy machine, where a program uses little of its time: what counts is processor time, or
/// that it sleeps.
pub(super) fn patient_limits_of(time: Duration) -> Limits {
    Limits { wall: 10 * time + Duration::from_secs(5), ..limits_of(time) }
}

fn first_limits(request: &SimplifyRequest, hangs: bool) -> Limits {
    const LONGEST: Duration = Duration::from_secs(600);
    match (request.timeout, hangs) {
        (None, true) => patient_limits_of(HANG),
        (None, false) => limits_of(LONGEST),
        (Some(time), _) => patient_limits_of(time),
    }
}

/// The limits of a test: generously more than the first run used.
pub(super) fn limits(request: &SimplifyRequest, first: &Run, hangs: bool) -> Limits {
    let usage = first.usage;
    if hangs || request.timeout.is_some() {
        // Only the time is another one.
        return Limits { tolerated: first.denied, ..first_limits(request, hangs) };
    }
    let wall = (20 * usage.wall).clamp(Duration::from_secs(10), Duration::from_secs(600));
    // Unlike time on the clock it hardly depends on the load, and what does not end costs all of it again and again.
    let cpu = (10 * usage.cpu).max(Duration::from_millis(300));
    // Sleeping takes no time where clocks are made up: who sleeps waits for somebody.
    let idle = (4 * usage.wall).clamp(Duration::from_secs(1), Duration::from_secs(60));
    let memory = (usage.memory > 0).then(|| (4 * usage.memory).max(usage.memory + (256 << 20)));
    Limits { cpu, idle, memory, tolerated: first.denied, ..limits_of(wall) }
}

pub(super) fn refused(obstacle: Obstacle, interrupt: &Interrupt) -> SessionError {
    match obstacle {
        Obstacle::NotReplayable(seen) | Obstacle::NotRepeatable(seen) => {
            let why = format!(
                "the failure does not show in each run with the same input: {}; make the program, or what judges it, \
                 depend on nothing else, or give it more time with --timeout if that is what it lacks",
                seen.why
            );
            interrupt.or(SessionError::new(Cause::Flaky, why))
        }
        Obstacle::Broken(error) => interrupt.or(error),
    }
}
