//! Make the changed runs of a program, several at the same time.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracer::intervention::Alterations;
use tracer::invocation::{Invocation, Limits};
use tracer::plain::Runner;
use tracer::poison::Poison;
use tracer::run::Run;
use tracer::{Processors, Untouched, start_thread};

use super::error::{Cause, SessionError};
use crate::archive::{AttemptJournal, AttemptKey, AttemptSeen};
use crate::baseline::{Baseline, recording_limits};
use crate::circumstances::TestError;
use crate::locate::{Candidate, Effect, EffectKind, Trials};
use crate::printed::Printed;
use crate::subject::Target;

/// A run that is made again with changes.
pub(super) struct Studied<'s> {
    /// The invocation of the program.
    pub(super) invocation: &'s Invocation,
    /// The limits of a run with a change.
    pub(super) limits: Limits,
    /// The correct output, and the run without a change.
    pub(super) trials: Trials<'s>,
    /// The patterns under which a change that helps must help as well.
    pub(super) patterns: Patterns,
}

/// Patterns for undefined values: a change may seem to help because of what happens to lie there.
#[derive(Default)]
pub(super) struct Patterns {
    /// Each pattern with the limits of a run under it.
    all: Vec<(Poison, Limits)>,
    /// The undefined memory that is not set to patterns.
    untouched: Arc<Untouched>,
}

impl Patterns {
    /// Selects those patterns of a recorded run under which a run that is not traced does the same, too; with a
    /// warning if one of them is not.
    pub(super) fn new(
        (target, baseline): (&Target, &Baseline),
        (runner, stop): (&mut Runner<'_>, &Arc<AtomicBool>),
        unchanged: &Run,
        limits_of: impl Fn(&Run) -> Limits,
    ) -> Result<(Patterns, Option<String>), SessionError> {
        let untouched = Arc::clone(&baseline.untouched);
        let mut patterns = Patterns { all: Vec::new(), untouched };
        let is_endless = baseline.recording.trace.endless().is_some();
        // Filling each frame takes time; how much is not known yet.
        let room = if is_endless { limits_of(unchanged) } else { recording_limits() };
        for &poison in baseline.patterns.iter().filter(|poison| **poison != Poison::Off) {
            let alterations = Alterations { interventions: &[], poison, untouched: &patterns.untouched };
            let run = runner.run_changed(&target.invocation, &alterations, &room, stop)?;
            if !is_endless && (run.stdout != unchanged.stdout || run.termination != unchanged.termination) {
                let warning = "with other undefined values the program prints something else when its statements are \
                               not traced, so that changes may make the output right by what happens to lie there";
                return Ok((Patterns::default(), Some(warning.to_owned())));
            }
            patterns.all.push((poison, limits_of(&run)));
        }
        Ok((patterns, None))
    }
}

/// An attempt: one change, in one of the runs.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    /// The run, by its index.
    pub(super) run: usize,
    /// The change, by its number among the candidates.
    pub(super) candidate: usize,
}

impl Attempt {
    /// Its key in the journal.
    fn key(self) -> AttemptKey {
        AttemptKey { run: self.run, change: self.candidate }
    }
}

/// Makes attempts until the budget is used up.
pub(super) struct Attempts<'b> {
    pub(super) runs: &'b [Studied<'b>],
    pub(super) candidates: &'b [Candidate],
    pub(super) stop: Arc<AtomicBool>,
    pub(super) deadline: Option<Instant>,
    /// The largest number of runs.
    pub(super) most: u64,
    /// The number of runs that have been begun.
    pub(super) begun: u64,
    /// The different outputs of the first of the runs that were seen.
    pub(super) outputs: HashSet<u64>,
    /// The outputs of the first of the runs with each change that helps.
    pub(super) printed: HashMap<usize, Printed>,
    /// The attempts of an earlier session.
    pub(super) known: &'b HashMap<AttemptKey, AttemptSeen>,
    /// The journal to which each attempt is written.
    pub(super) journal: Option<&'b AttemptJournal>,
    /// When the work was begun, and how long it had taken before.
    pub(super) started: (Instant, Duration),
}

impl Attempts<'_> {
    /// Makes the attempts and returns the effect of each; `None` for those for which there was no time or
    /// no room. As many are made at the same time as there are runners; the effect of one does not depend on that.
    pub(super) fn make(
        &mut self,
        attempts: &[Attempt],
        runners: &mut [Runner<'_>],
        processors: &Processors,
    ) -> Result<Vec<Option<Effect>>, SessionError> {
        let (effects, unknown) = self.remembered(attempts);
        let room = self.most.saturating_sub(self.begun).min(unknown.len() as u64) as usize;
        let attempts_made = &unknown[..room];
        let effects = Mutex::new(effects);
        let outputs = Mutex::new(std::mem::take(&mut self.outputs));
        let printed = Mutex::new(std::mem::take(&mut self.printed));
        let next = AtomicUsize::new(0);
        let own = &*self;
        let work = |worker: usize, runner: &mut Runner<'_>| -> Result<(), SessionError> {
            processors.bind(worker);
            while let Some((number, attempt)) = own.take(&next, attempts_made) {
                let seen = own.seen(runner, attempt)?;
                if seen.effect.kind == EffectKind::Untried {
                    continue;
                }
                own.write_down(attempt, &seen)?;
                if attempt.run == 0 {
                    outputs.lock().unwrap_or_else(PoisonError::into_inner).insert(seen.output);
                }
                effects.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(seen.effect);
                let mut kept = printed.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(seen.printed.map(|text| (attempt.candidate, text)));
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let work = &work;
            let (mut workers, mut refusal) = (Vec::new(), None);
            for (worker, runner) in runners.iter_mut().enumerate() {
                match start_thread(scope, move || work(worker, runner)) {
                    Ok(worker) => workers.push(worker),
                    Err(error) => refusal = Some(error),
                }
            }
            // Those that were started make all attempts.
            if let Some(error) = refusal.filter(|_| workers.is_empty()) {
                return Err(SessionError::new(Cause::Failed, TestError::Thread(error)));
            }
            let ended = workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            ended.collect::<Result<(), SessionError>>()
        })?;
        self.begun += room as u64;
        self.outputs = outputs.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.printed = printed.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(effects.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The effects of attempts that an earlier session has made, and the other attempts with their positions.
    fn remembered(&mut self, attempts: &[Attempt]) -> (Vec<Option<Effect>>, Vec<(usize, Attempt)>) {
        let (mut effects, mut unknown) = (vec![None; attempts.len()], Vec::new());
        for (number, attempt) in attempts.iter().enumerate() {
            let Some(seen) = self.known.get(&attempt.key()) else {
                unknown.push((number, *attempt));
                continue;
            };
            effects[number] = Some(seen.effect);
            self.begun += 1;
            self.outputs.extend((attempt.run == 0).then_some(seen.output));
            self.printed.extend(seen.printed.clone().map(|text| (attempt.candidate, text)));
        }
        (effects, unknown)
    }

    /// Makes an attempt, and judges it.
    fn seen(&self, runner: &mut Runner<'_>, attempt: Attempt) -> Result<AttemptSeen, SessionError> {
        let trials = &self.runs[attempt.run].trials;
        let run = self.run(runner, attempt)?;
        let effect = trials.judge(&run)?;
        let effect = Effect { kind: self.confirmed(runner, attempt, effect.kind)?, ..effect };
        let printed = printed_by_help(attempt, &run, (&effect, trials));
        Ok(AttemptSeen { effect, output: Trials::fingerprint(&run), printed })
    }

    fn write_down(&self, attempt: Attempt, seen: &AttemptSeen) -> Result<(), SessionError> {
        let (started, before) = self.started;
        let noted = self.journal.map(|journal| journal.note(attempt.key(), seen, before + started.elapsed()));
        Ok(noted.transpose().map(drop)?)
    }

    fn run(&self, runner: &mut Runner<'_>, attempt: Attempt) -> Result<Run, SessionError> {
        let Studied { invocation, limits, .. } = &self.runs[attempt.run];
        let change = [self.candidates[attempt.candidate].intervention];
        Ok(runner.run_changed(invocation, &Alterations::of(&change), limits, &self.stop)?)
    }

    /// The effect of a change that helps, with other undefined values.
    fn confirmed(
        &self,
        runner: &mut Runner<'_>,
        attempt: Attempt,
        mut kind: EffectKind,
    ) -> Result<EffectKind, SessionError> {
        let Studied { invocation, trials, patterns, .. } = &self.runs[attempt.run];
        let change = [self.candidates[attempt.candidate].intervention];
        for (poison, limits) in &patterns.all {
            if !matches!(kind, EffectKind::Right | EffectKind::Nearer) {
                break;
            }
            let alterations =
                Alterations { interventions: &change, poison: *poison, untouched: &patterns.untouched };
            let run = runner.run_changed(invocation, &alterations, limits, &self.stop)?;
            kind = kind.with_pattern(trials.judge(&run)?.kind);
        }
        Ok(kind)
    }

    /// The next attempt, unless the time is over.
    fn take(&self, next: &AtomicUsize, attempts: &[(usize, Attempt)]) -> Option<(usize, Attempt)> {
        let is_over = self.stop.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let number = next.fetch_add(1, Ordering::Relaxed);
        attempts.get(number).copied().filter(|_| !is_over)
    }
}

/// The output of the first run with a change that helps.
fn printed_by_help(attempt: Attempt, run: &Run, (effect, trials): (&Effect, &Trials<'_>)) -> Option<Printed> {
    (attempt.run == 0 && effect.kind.helps()).then(|| Printed::of(run, trials.unchanged()))
}

/// The limits of a run with a change: a loop that does not end any more is detected by processor time, which does
/// not depend on the load of the machine. `limits`: those of a run like the recorded one.
pub(super) fn changed_limits(
    recorded: &Run,
    is_endless: bool,
    limits: Limits,
    timeout: Option<Duration>,
) -> Limits {
    let recorded = recorded.usage;
    // Long enough for what a busy machine adds to a run of a moment; each loop that does not end costs this much.
    let least = Duration::from_millis(20);
    let usual = match is_endless {
        false => (10 * recorded.cpu).max(least),
        // The time of a right run is not known; what was recorded took many times as long as it does untraced.
        true => recorded.wall.clamp(Duration::from_millis(100), Duration::from_secs(5)),
    };
    let cpu = timeout.unwrap_or(usual);
    let patient = Duration::from_secs(10).max(10 * recorded.wall);
    Limits { cpu, wall: patient, idle: cpu.max(Duration::from_secs(1)), arrivals: u64::MAX, ..limits }
}
