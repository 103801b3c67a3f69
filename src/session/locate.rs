//! Locate a fault: record the failing run, make each change of it in a run of its own, and rank the lines.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracer::invocation::Limits;
use tracer::plain::Runner;
use tracer::run::Run;
use tracer::termination::Termination;
use tracer::{Containment, Preference, Processors, Tracer};

use super::error::{Cause, SessionError};
use super::interrupt::Interrupt;
use super::listener::Listener;
use super::recording::establish;
use crate::baseline::{Baseline, Demands, Ending, PoisonChoice};
use crate::circumstances::Status;
use crate::locate::{Candidate, Correct, Effect, EffectKind, Granule, Ranking, Trials, candidates, ranking};
use crate::subject::{Recorded, Target};

/// What is asked.
pub struct LocateRequest {
    /// The program and how it is started.
    pub target: Target,
    /// What would be right.
    pub correct: Correct,
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

/// Locates.
///
/// # Errors
/// If the run is right, cannot be recorded, or the set-up is broken.
pub fn locate(
    request: &LocateRequest,
    interrupt: &Interrupt,
    listener: &dyn Listener,
) -> Result<Located, SessionError> {
    let started = Instant::now();
    let LocateRequest { target, correct, .. } = request;
    let processors = Processors::available();
    let mut tracer = Tracer::new(&target.program, &target.invocation, Preference::Auto)?;
    processors.bind(0);
    let demands = Demands { poison: PoisonChoice::Off, only_lines: None, ending: request.ending };
    let baseline = establish(target, &mut tracer, &demands, interrupt)?;
    drop(tracer);
    let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
    let limits = free_limits(&baseline, request.timeout);
    let mut runners = runners(request, &processors)?;
    let unchanged = run(&mut runners[0], target, &[], &limits, &interrupt.flag())?;
    must_be_wrong(correct, &unchanged, &baseline)?;
    let containment = runners[0].containment();
    let all = candidates(recorded);
    listener.tell(&format!("{} changes can be tried", all.len()));
    let trials = Trials::new(correct, &unchanged);
    let bench = Bench {
        target,
        candidates: &all,
        trials: &trials,
        limits: &limits,
        stop: interrupt.flag(),
        deadline: request.max_time.map(|time| Instant::now() + time),
        next: AtomicUsize::new(0),
        most: request.max_tests.map_or(all.len(), |most| all.len().min(most as usize)),
    };
    let (effects, outputs) = bench.make_all(runners, &processors).map_err(|error| interrupt.or(error))?;
    let tried = effects.iter().flatten().filter(|effect| effect.kind != EffectKind::Untried).count();
    let status = match tried == all.len() {
        true => Status::Minimal,
        false if interrupt.signal().is_some() => Status::Interrupted,
        false => Status::Budget,
    };
    let ranking = ranking(recorded, &all, &effects, trials.first_wrong());
    let warnings = warnings(&baseline, status);
    Ok(Located {
        status,
        candidates: all,
        effects,
        ranking,
        outputs,
        elapsed: started.elapsed(),
        containment,
        warnings,
        baseline,
    })
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

fn run(
    runner: &mut Runner<'_>,
    target: &Target,
    changes: &[tracer::intervention::Intervention],
    limits: &Limits,
    stop: &Arc<AtomicBool>,
) -> Result<Run, SessionError> {
    Ok(runner.run_changed(&target.invocation, &[], changes, limits, stop)?)
}

/// What a changed run may use up: a loop that does not end any more is seen by the processor's time, which does not
/// depend on the load of the machine.
pub fn free_limits(baseline: &Baseline, timeout: Option<Duration>) -> Limits {
    let recorded = baseline.recording.run.usage;
    let least = Duration::from_millis(100);
    let usual = match baseline.recording.trace.endless() {
        None => (10 * recorded.cpu).max(least),
        // How long a right run takes is not known; what was recorded took many times as long as it does untraced.
        Some(_) => recorded.wall.clamp(least, Duration::from_secs(5)),
    };
    let cpu = timeout.unwrap_or(usual);
    let patient = Duration::from_secs(10).max(10 * recorded.wall);
    Limits {
        cpu,
        wall: patient,
        idle: cpu.max(Duration::from_secs(1)),
        arrivals: u64::MAX,
        ..baseline.limits()
    }
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

/// Makes the changed runs.
struct Bench<'b> {
    target: &'b Target,
    candidates: &'b [Candidate],
    trials: &'b Trials<'b>,
    limits: &'b Limits,
    stop: Arc<AtomicBool>,
    deadline: Option<Instant>,
    /// The next one to be made.
    next: AtomicUsize,
    most: usize,
}

impl Bench<'_> {
    /// What comes of each change, by as many workers as there are runners; and how many different outputs there were.
    fn make_all(
        &self,
        runners: Vec<Runner<'_>>,
        processors: &Processors,
    ) -> Result<(Vec<Option<Effect>>, usize), SessionError> {
        let effects = Mutex::new(vec![None; self.candidates.len()]);
        let outputs = Mutex::new(HashSet::new());
        let lock = || effects.lock().unwrap_or_else(PoisonError::into_inner);
        let work = |worker: usize, mut runner: Runner<'_>| -> Result<(), SessionError> {
            processors.bind(worker);
            while let Some(number) = self.take() {
                let change = [self.candidates[number].intervention];
                let run = run(&mut runner, self.target, &change, self.limits, &self.stop)?;
                let effect = self.trials.judge(&run)?;
                outputs.lock().unwrap_or_else(PoisonError::into_inner).insert(self.trials.fingerprint(&run));
                lock()[number] = Some(effect).filter(|effect| effect.kind != EffectKind::Untried);
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let work = &work;
            let workers: Vec<_> = runners
                .into_iter()
                .enumerate()
                // ptrace ties a program to the thread that has started it, and a runner to its starter.
                .map(|(worker, runner)| scope.spawn(move || work(worker, runner)))
                .collect();
            let ended = workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            ended.collect::<Result<(), SessionError>>()
        })?;
        let outputs = outputs.into_inner().unwrap_or_else(PoisonError::into_inner).len();
        Ok((effects.into_inner().unwrap_or_else(PoisonError::into_inner), outputs))
    }

    fn take(&self) -> Option<usize> {
        let is_over = self.stop.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.most && !is_over).then_some(number)
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
