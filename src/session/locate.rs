//! Locate a fault: record the failing run, make each change of it in a run of its own, and rank the lines.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tracer::invocation::Limits;
use tracer::plain::Runner;
use tracer::run::Run;
use tracer::termination::Termination;
use tracer::{Containment, Preference, Processors, Tracer};

use super::error::{Cause, SessionError};
use super::interrupt::Interrupt;
use super::listener::Listener;
use super::locate_attempts::{Attempt, Attempts, Studied, changed_limits};
pub use super::locate_tests::LocateTest;
use super::locate_tests::{Jury, Tried};
use super::recording::establish;
use crate::baseline::{Baseline, Demands, Ending, PoisonChoice};
use crate::circumstances::Status;
use crate::locate::{
    Candidate, Correct, Effect, EffectKind, Experiments, FurtherTests, Granule, ORDER, OnTests, Ranking,
    TestCoverage, Trials, candidates, ranking,
};
use crate::subject::{Recorded, Target};

/// Of more failing tests than these the first ones are tried with changes, and of more passing tests so many that are
/// spread evenly; all count for what tests execute.
const MOST_FAILING: usize = 5;
const MOST_PASSING: usize = 20;

/// What is asked.
pub struct LocateRequest {
    /// The program and how it is started.
    pub target: Target,
    /// What would be right; `None` if the run under study is the first test that fails.
    pub correct: Option<Correct>,
    /// Further tests, failing and passing.
    pub tests: Vec<LocateTest>,
    /// Whether the failure is that it does not end.
    pub ending: Ending,
    /// At most so many runs with changes.
    pub max_tests: Option<u64>,
    /// For at most this time.
    pub max_time: Option<Duration>,
    /// How many runs are made at the same time; `None`: one for each processor.
    pub jobs: Option<u16>,
    /// When a run is ended; `None`: after ten times what the recorded one has taken.
    pub timeout: Option<Duration>,
}

/// What was found.
pub struct Located {
    /// Whether all changes were tried.
    pub status: Status,
    /// The recorded run.
    pub baseline: Baseline,
    /// All changes that can be tried.
    pub candidates: Vec<Candidate>,
    /// What came of each that was tried.
    pub effects: Vec<Option<Effect>>,
    /// The test that is the run under study, by its name, if it is one.
    pub studied: Option<String>,
    /// What each does to further tests; of those that were not tried on any nothing.
    pub on_tests: Vec<Option<OnTests>>,
    /// The further tests.
    pub tests: FurtherTests,
    /// How many runs with changes were made.
    pub runs: u64,
    /// The executed lines.
    pub ranking: Ranking,
    /// How many different outputs there were.
    pub outputs: usize,
    /// From the first run to the end.
    pub elapsed: Duration,
    /// How well the runs were contained.
    pub containment: Containment,
    /// What weakens the result; each one sentence.
    pub warnings: Vec<String>,
}

/// Locates. Without a correct output the first failing test becomes the run under study.
///
/// # Errors
/// If the run is right, cannot be recorded, or the set-up is broken.
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
    let demands = Demands { poison: PoisonChoice::Off, only_lines: None, ending: request.ending };
    let baseline = establish(target, &mut tracer, &demands, interrupt)?;
    drop(tracer);
    let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
    let limits = free_limits(&baseline, request.timeout);
    let mut runners = runners(request, &processors)?;
    let unchanged = runners[0].run_changed(&target.invocation, &[], &[], &limits, &interrupt.flag())?;
    must_be_wrong(&correct, &unchanged, &baseline)?;
    leave_out_unsteady(&mut tests, &mut runners[0], &interrupt.flag(), &mut warnings)?;
    let all = candidates(recorded);
    listener.tell(&format!("{} changes can be tried", all.len()));
    let own = Studied { invocation: &target.invocation, limits, trials: Trials::new(&correct, &unchanged) };
    let first_wrong = own.trials.first_wrong();
    let chosen = Chosen::new(&tests);
    let runs: Vec<Studied<'_>> = std::iter::once(own).chain(chosen.studied(&tests)).collect();
    let mut attempts = Attempts {
        runs: &runs,
        candidates: &all,
        stop: interrupt.flag(),
        deadline: request.max_time.map(|time| Instant::now() + time),
        most: request.max_tests.unwrap_or(u64::MAX),
        begun: 0,
        outputs: HashSet::new(),
    };
    let own: Vec<Attempt> = (0..all.len()).map(|candidate| Attempt { run: 0, candidate }).collect();
    let effects = attempts.make(&own, &mut runners, &processors).map_err(|error| interrupt.or(error))?;
    let outputs = attempts.outputs.len();
    let further_tests = OnFurther { recorded, tests: &tests, chosen: &chosen, effects: &effects };
    let (on_tests, is_complete) =
        further_tests.make(&mut attempts, &mut runners, &processors).map_err(|error| interrupt.or(error))?;
    let tried = effects.iter().flatten().count();
    let status = match tried == all.len() && is_complete {
        true => Status::Minimal,
        false if interrupt.signal().is_some() => Status::Interrupted,
        false => Status::Budget,
    };
    let runs = attempts.begun;
    let further = further(recorded, &tests, &chosen);
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

/// What is right for the run under study, and the tests beside it.
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
    let mut jury = Jury {
        target: &mut request.target,
        check: check.as_ref(),
        timeout: request.timeout,
        interrupt,
        listener,
    };
    let (mut tests, warnings) = jury.try_all(&request.tests)?;
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

/// Tests that print something else when their statements are not traced say nothing.
fn leave_out_unsteady(
    tests: &mut Vec<Tried>,
    runner: &mut Runner<'_>,
    stop: &Arc<AtomicBool>,
    warnings: &mut Vec<String>,
) -> Result<(), SessionError> {
    let mut kept = Vec::new();
    for test in tests.drain(..) {
        if test.is_steady(runner, stop)? {
            kept.push(test);
        } else {
            let name = &test.name;
            warnings
                .push(format!("the test {name} is left out: it prints something else when it is not traced"));
        }
    }
    *tests = kept;
    Ok(())
}

/// The tests on which changes are tried, by their positions among all.
struct Chosen {
    failing: Vec<usize>,
    passing: Vec<usize>,
}

impl Chosen {
    fn new(tests: &[Tried]) -> Chosen {
        let of = |fails: bool| -> Vec<usize> {
            let is_fit = |test: &Tried| test.fails == fails && test.correct.is_some();
            (0..tests.len()).filter(|&number| is_fit(&tests[number])).collect()
        };
        let (mut failing, passing) = (of(true), of(false));
        failing.truncate(MOST_FAILING);
        let step = passing.len().div_ceil(MOST_PASSING).max(1);
        Chosen { failing, passing: passing.into_iter().step_by(step).collect() }
    }

    /// They, in this order: the failing ones first.
    fn all(&self) -> impl Iterator<Item = usize> {
        self.failing.iter().chain(&self.passing).copied()
    }

    fn studied<'t>(&self, tests: &'t [Tried]) -> impl Iterator<Item = Studied<'t>> {
        self.all().filter_map(|number| {
            let Tried { invocation, correct, unchanged, limits, .. } = &tests[number];
            let trials = Trials::new(correct.as_ref()?, unchanged);
            Some(Studied { invocation, limits: *limits, trials })
        })
    }
}

/// Tries changes on the further tests that make the run under study right.
struct OnFurther<'o> {
    recorded: Recorded<'o>,
    tests: &'o [Tried],
    chosen: &'o Chosen,
    effects: &'o [Option<Effect>],
}

impl OnFurther<'_> {
    /// What each change does to them, and whether all that is worth it was tried. A change of a single execution is
    /// about that one run alone.
    fn make(
        &self,
        attempts: &mut Attempts<'_>,
        runners: &mut [Runner<'_>],
        processors: &Processors,
    ) -> Result<(Vec<Option<OnTests>>, bool), SessionError> {
        let candidates = attempts.candidates;
        let mut found: Vec<Option<OnTests>> = vec![None; candidates.len()];
        let repairs = |number: &usize| {
            candidates[*number].granule == Granule::Statement
                && self.effects[*number].is_some_and(|effect| effect.kind == EffectKind::Right)
        };
        let repairing: Vec<usize> = (0..candidates.len()).filter(repairs).collect();
        if self.chosen.all().next().is_none() {
            return Ok((found, true));
        }
        // A statement that a test does not execute changes nothing there.
        let executes = |run: usize, candidate: usize| {
            let test = &self.tests[self.chosen.all().nth(run - 1).expect("one of them")];
            test.statements.contains(&candidates[candidate].statement(self.recorded))
        };
        let runs = 1..=self.chosen.all().count();
        let all: Vec<Attempt> = repairing
            .iter()
            .flat_map(|&candidate| runs.clone().map(move |run| Attempt { run, candidate }))
            .filter(|attempt| executes(attempt.run, attempt.candidate))
            .collect();
        let effects = attempts.make(&all, runners, processors)?;
        repairing.iter().for_each(|&number| found[number] = Some(OnTests::default()));
        for (attempt, effect) in all.iter().zip(&effects) {
            let Some(with) = &mut found[attempt.candidate] else { continue };
            match effect {
                // Nothing is said of a change that was not tried on all tests.
                None => found[attempt.candidate] = None,
                Some(effect) if attempt.run <= self.chosen.failing.len() => {
                    with.repaired += usize::from(effect.kind == EffectKind::Right);
                }
                Some(effect) => with.broken += usize::from(effect.kind != EffectKind::Right),
            }
        }
        Ok((found, effects.iter().all(Option::is_some)))
    }
}

/// What a ranking needs to know of the tests.
fn further(recorded: Recorded<'_>, tests: &[Tried], chosen: &Chosen) -> FurtherTests {
    let leaders = recorded.trace.events().map(|event| recorded.program.leader(recorded.trace.leader(event)));
    let own: BTreeSet<_> =
        leaders.filter(|leader| !leader.kind.is_structural()).map(|leader| leader.statement).collect();
    let others = tests.iter().map(|test| TestCoverage::new(&test.statements, test.fails));
    FurtherTests {
        coverage: std::iter::once(TestCoverage::new(&own, true)).chain(others).collect(),
        failing: chosen.failing.len(),
        passing: chosen.passing.len(),
    }
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

/// What a run with a change may use up.
pub fn free_limits(baseline: &Baseline, timeout: Option<Duration>) -> Limits {
    let is_endless = baseline.recording.trace.endless().is_some();
    changed_limits(&baseline.recording.run, is_endless, baseline.limits(), timeout)
}

/// The run as it is must be wrong, and do without the tracer what it does with it.
fn must_be_wrong(correct: &Correct, unchanged: &Run, baseline: &Baseline) -> Result<(), SessionError> {
    let recorded = &baseline.recording.run;
    let ends = !matches!(recorded.termination, Termination::Endless(_));
    if ends && (unchanged.stdout != recorded.stdout) {
        let why = "the program prints something else when its statements are not traced, so that no change would mean \
                   anything: make constant what it depends on";
        return Err(SessionError::new(Cause::Flaky, why));
    }
    let effect = Trials::new(correct, unchanged).judge(unchanged)?;
    match effect.kind {
        EffectKind::Right => {
            let why = "the run is right: its output is that of --reference, or --check says so; give the input that makes \
                       the program fail";
            Err(SessionError::new(Cause::NotReproduced, why))
        }
        _ => Ok(()),
    }
}

impl Located {
    /// How many changes were tried, made the run right, and brought it nearer.
    pub fn counts(&self) -> (usize, usize, usize) {
        let of = |kind| self.effects.iter().flatten().filter(|effect| effect.kind == kind).count();
        (self.effects.iter().flatten().count(), of(EffectKind::Right), of(EffectKind::Nearer))
    }

    /// Whether a change is about a single execution of several.
    pub fn execution(&self, number: usize) -> Option<u32> {
        match self.candidates[number].granule {
            Granule::Statement => None,
            Granule::Execution(execution, _) => Some(execution),
        }
    }
}
