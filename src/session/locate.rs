//! Locate a fault: record the failing run, make each change of it in a run of its own, and rank the lines.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use tracer::intervention::Alterations;
use tracer::invocation::Limits;
use tracer::plain::Runner;
use tracer::run::Run;
use tracer::termination::Termination;
use tracer::{Containment, Preference, Processors, Tracer};

use super::error::{Cause, SessionError};
use super::interrupt::Interrupt;
use super::listener::Listener;
use super::locate_attempts::{Attempt, Attempts, Patterns, Studied, changed_limits};
use super::locate_further::{Chosen, leave_out_unsteady};
pub use super::locate_tests::LocateTest;
use super::locate_tests::{TestOracles, Tried};
use super::recording::establish;
use crate::baseline::{Baseline, Demands, Ending, PoisonChoice};
use crate::circumstances::Status;
use crate::locate::{
    Candidate, Correct, Effect, EffectKind, Experiments, FurtherTests, Granule, ORDER, OnTests, Ranking,
    Spacing, Trials, candidates, ranking,
};
use crate::printed::Printed;
use crate::subject::{Recorded, Target};

/// A request to locate a fault.
pub struct LocateRequest {
    /// The program with its invocation.
    pub target: Target,
    /// The correct output, or a command that judges it; `None` if the run under study is the first test that fails.
    pub correct: Option<Correct>,
    /// Further tests, failing and passing.
    pub tests: Vec<LocateTest>,
    /// Whether white space counts in outputs.
    pub spacing: Spacing,
    /// The expected end of the run: whether the failure is that it does not end.
    pub ending: Ending,
    /// The largest number of runs with changes.
    pub max_tests: Option<u64>,
    /// The limit of time.
    pub max_time: Option<Duration>,
    /// The number of runs at the same time; `None`: one for each processor.
    pub jobs: Option<u16>,
    /// The limit of time of a run; `None`: ten times what the recorded one has taken.
    pub timeout: Option<Duration>,
}

/// The result of locating a fault.
pub struct Located {
    /// The status: whether all changes were tried.
    pub status: Status,
    /// The recorded run.
    pub baseline: Baseline,
    /// The candidates: all changes that can be tried.
    pub candidates: Vec<Candidate>,
    /// The effect of each change that was tried.
    pub effects: Vec<Option<Effect>>,
    /// The output of the run with each change that helps, by its number.
    pub printed: HashMap<usize, Printed>,
    /// The run without a change, and without a tracer.
    pub unchanged: Run,
    /// The name of the test that is the run under study, if it is one.
    pub studied: Option<String>,
    /// The effect of each change on further tests; `None` for those that were not tried on any.
    pub on_tests: Vec<Option<OnTests>>,
    /// The further tests.
    pub tests: FurtherTests,
    /// The number of runs with changes that were made.
    pub runs: u64,
    /// The ranking of the executed lines.
    pub ranking: Ranking,
    /// The number of different outputs.
    pub outputs: usize,
    /// The time from the first run to the end.
    pub elapsed: Duration,
    /// The containment of the runs.
    pub containment: Containment,
    /// Warnings that weaken the result; each one sentence.
    pub warnings: Vec<String>,
}

/// Locates the fault. Without a correct output the first failing test becomes the run under study.
///
/// # Errors
/// If the run is right, cannot be recorded, or the test setup is broken.
pub fn locate(
    request: &mut LocateRequest,
    interrupt: &Interrupt,
    listener: &dyn Listener,
) -> Result<Located, SessionError> {
    let started = Instant::now();
    let processors = Processors::available();
    processors.bind(0);
    let Suite { correct, studied, mut tests, mut warnings } = suite(request, interrupt, listener)?;
    let target = &request.target;
    let mut tracer = Tracer::new(&target.program, &target.invocation, Preference::Auto)?;
    let demands =
        Demands { poison: PoisonChoice::Auto, only_lines: None, ending: request.ending, inner: None };
    let baseline = establish(target, &mut tracer, &demands, interrupt)?;
    drop(tracer);
    let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
    let limits = free_limits(&baseline, request.timeout);
    let mut runners = runners(request, &processors)?;
    let unchanged =
        runners[0].run_changed(&target.invocation, &Alterations::of(&[]), &limits, &interrupt.flag())?;
    let trials = Trials::new(&correct, &unchanged);
    warnings.extend(must_be_wrong(&trials, &unchanged, &baseline)?);
    leave_out_unsteady(&mut tests, &mut runners[0], &interrupt.flag(), &mut warnings)?;
    let all = candidates(recorded);
    listener.tell(&format!("{} changes can be tried", all.len()));
    let first_wrong = trials.first_wrong();
    let limits_of =
        |run: &Run| changed_limits(run, is_endless(&baseline), baseline.limits(), request.timeout);
    let worker = (&mut runners[0], &interrupt.flag());
    let (patterns, warning) = Patterns::new((target, &baseline), worker, &unchanged, limits_of)?;
    warnings.extend(warning);
    let own = Studied { invocation: &target.invocation, limits, trials, patterns };
    let chosen = Chosen::new(&tests);
    let runs: Vec<Studied<'_>> = std::iter::once(own).chain(chosen.studied()).collect();
    let mut attempts = Attempts {
        runs: &runs,
        candidates: &all,
        stop: interrupt.flag(),
        deadline: request.max_time.map(|time| Instant::now() + time),
        most: request.max_tests.unwrap_or(u64::MAX),
        begun: 0,
        outputs: HashSet::new(),
        printed: HashMap::new(),
    };
    let own: Vec<Attempt> = (0..all.len()).map(|candidate| Attempt { run: 0, candidate }).collect();
    let effects = attempts.make(&own, &mut runners, &processors).map_err(|error| interrupt.or(error))?;
    let outputs = attempts.outputs.len();
    let (on_tests, is_complete) = chosen
        .try_repairs(recorded, &effects, &mut attempts, (&mut runners, &processors))
        .map_err(|error| interrupt.or(error))?;
    let tried = effects.iter().flatten().count();
    let status = match tried == all.len() && is_complete {
        true => Status::Minimal,
        false if interrupt.signal().is_some() => Status::Interrupted,
        false => Status::Budget,
    };
    let (runs, printed) = (attempts.begun, std::mem::take(&mut attempts.printed));
    let further = chosen.further(recorded, &tests);
    let known = Experiments {
        candidates: &all,
        effects: &effects,
        first_wrong,
        on_tests: &on_tests,
        tests: &further,
    };
    let ranking = ranking(recorded, &known, &ORDER);
    warnings.extend(self::warnings(&baseline, status));
    Ok(Located {
        status,
        effects,
        printed,
        unchanged,
        ranking,
        outputs,
        on_tests,
        tests: further,
        studied,
        runs,
        elapsed: started.elapsed(),
        containment: runners[0].containment(),
        warnings,
        candidates: all,
        baseline,
    })
}

/// The correct output of the run under study, and the further tests.
struct Suite {
    correct: Correct,
    /// The test that is the run under study.
    studied: Option<String>,
    tests: Vec<Tried>,
    warnings: Vec<String>,
}

/// Runs the tests. Without a correct output the first failing one becomes the run under study.
fn suite(
    request: &mut LocateRequest,
    interrupt: &Interrupt,
    listener: &dyn Listener,
) -> Result<Suite, SessionError> {
    let given = request.target.invocation.clone();
    let check = request.correct.clone().filter(|correct| matches!(correct, Correct::Check(_)));
    let mut oracles = TestOracles {
        target: &mut request.target,
        check: check.as_ref(),
        spacing: request.spacing,
        timeout: request.timeout,
        interrupt,
        listener,
    };
    let (mut tests, warnings) = oracles.try_all(&request.tests)?;
    request.target.invocation = given;
    let Some(correct) = request.correct.clone() else {
        let is_fit = |test: &Tried| test.fails && test.correct.is_some();
        let Some(first) = tests.iter().position(is_fit) else {
            let why = "no test fails whose correct output is known: give --reference, or a failing test with a `reference`";
            let told = warnings.iter().map(|warning| format!("; {warning}")).collect::<String>();
            return Err(SessionError::new(Cause::NotReproduced, format!("{why}{told}")));
        };
        let Tried { name, invocation, correct, .. } = tests.remove(first);
        request.target.invocation = invocation;
        let correct = correct.expect("that is what was looked for");
        return Ok(Suite { correct, studied: Some(name), tests, warnings });
    };
    tests.retain(|test| !test.is_same_run(&request.target.invocation));
    Ok(Suite { correct, studied: None, tests, warnings })
}

fn warnings(baseline: &Baseline, status: Status) -> Vec<String> {
    let cut = match status {
        Status::Interrupted => Some("the work was interrupted: not all changes were tried".to_owned()),
        Status::Budget => Some(
            "a budget ended the work: not all changes were tried; raise --max-tests or --max-time".to_owned(),
        ),
        Status::Minimal | Status::Unconfirmed => None,
    };
    baseline.warnings.iter().cloned().chain(cut).collect()
}

fn runners<'r>(request: &'r LocateRequest, processors: &Processors) -> Result<Vec<Runner<'r>>, SessionError> {
    let jobs = request.jobs.map_or(processors.count(), usize::from);
    let LocateRequest { target, .. } = request;
    let runners = (0..jobs).map(|_| Runner::new(&target.program, &target.invocation));
    Ok(runners.collect::<Result<_, _>>()?)
}

/// The limits of a run with a change.
pub fn free_limits(baseline: &Baseline, timeout: Option<Duration>) -> Limits {
    changed_limits(&baseline.recording.run, is_endless(baseline), baseline.limits(), timeout)
}

fn is_endless(baseline: &Baseline) -> bool {
    baseline.recording.trace.endless().is_some()
}

/// Checks that the unchanged run is wrong, and that it does without the tracer what it does with it.
/// Returns a warning if it is wrong by white space alone.
fn must_be_wrong(
    trials: &Trials<'_>,
    unchanged: &Run,
    baseline: &Baseline,
) -> Result<Option<String>, SessionError> {
    let recorded = &baseline.recording.run;
    let ends = !matches!(recorded.termination, Termination::Endless(_));
    if ends && (unchanged.stdout != recorded.stdout) {
        let why = "the program prints something else when its statements are not traced, so that no change would mean \
                   anything: make constant what it depends on";
        return Err(SessionError::new(Cause::Flaky, why));
    }
    let effect = trials.judge(unchanged)?;
    match (effect.kind, effect.only_space) {
        (EffectKind::Right, true) => {
            let why = "the run is right but for white space, which --ignore-space lets count as right: leave that option \
                       out, or give the input that makes the program fail";
            Err(SessionError::new(Cause::NotReproduced, why))
        }
        (EffectKind::Right, false) => {
            let why = "the run is right: its output is that of --reference, or --check says so; give the input that makes \
                       the program fail";
            Err(SessionError::new(Cause::NotReproduced, why))
        }
        (_, true) => Ok(Some(
            "the output differs from the correct one in white space only; with --ignore-space the run counts as right"
                .to_owned(),
        )),
        _ => Ok(None),
    }
}

impl Located {
    /// The numbers of changes that were tried, that made the run right, and that brought it nearer.
    pub fn counts(&self) -> (usize, usize, usize) {
        let of = |kind| self.effects.iter().flatten().filter(|effect| effect.kind == kind).count();
        (self.effects.iter().flatten().count(), of(EffectKind::Right), of(EffectKind::Nearer))
    }

    /// The number of changes that make the run right but for white space.
    pub fn only_space(&self) -> usize {
        let is_changed = |effect: &&Effect| effect.only_space && effect.kind != EffectKind::Unchanged;
        self.effects.iter().flatten().filter(is_changed).count()
    }

    /// The number of changes that make the run right only with what happens to lie in undefined memory.
    pub fn by_undefined_memory(&self) -> usize {
        self.effects.iter().flatten().filter(|effect| effect.kind == EffectKind::Undefined).count()
    }

    /// The number of the execution, if a change is about a single one of several.
    pub fn execution(&self, number: usize) -> Option<u32> {
        match self.candidates[number].granule {
            Granule::Statement => None,
            Granule::Execution(execution, _) => Some(execution),
        }
    }
}
