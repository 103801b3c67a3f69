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
use tracer::{Processors, Untouched};

use super::error::SessionError;
use crate::baseline::{Baseline, recording_limits};
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
    /// The different outputs that were seen.
    pub(super) outputs: HashSet<u64>,
    /// The outputs of the first of the runs with each change that helps.
    pub(super) printed: HashMap<usize, Printed>,
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
        let room = self.most.saturating_sub(self.begun).min(attempts.len() as u64) as usize;
        let attempts_made = &attempts[..room];
        let effects = Mutex::new(vec![None; attempts.len()]);
        let outputs = Mutex::new(std::mem::take(&mut self.outputs));
        let printed = Mutex::new(std::mem::take(&mut self.printed));
        let next = AtomicUsize::new(0);
        let own = &*self;
        let work = |worker: usize, runner: &mut Runner<'_>| -> Result<(), SessionError> {
            processors.bind(worker);
            while let Some((number, attempt)) = own.take(&next, attempts_made) {
                let trials = &own.runs[attempt.run].trials;
                let run = own.run(runner, attempt)?;
                let effect = trials.judge(&run)?;
                let effect = Effect { kind: own.confirmed(runner, attempt, effect.kind)?, ..effect };
                let print = trials.fingerprint(&run);
                outputs.lock().unwrap_or_else(PoisonError::into_inner).insert(print);
                let text = printed_by_help(attempt, &run, (&effect, trials));
                let mut kept = printed.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(text.map(|text| (attempt.candidate, text)));
                drop(kept);
                let effect = Some(effect).filter(|effect| effect.kind != EffectKind::Untried);
                effects.lock().unwrap_or_else(PoisonError::into_inner)[number] = effect;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let work = &work;
            let workers = runners.iter_mut().enumerate();
            let workers: Vec<_> =
                workers.map(|(worker, runner)| scope.spawn(move || work(worker, runner))).collect();
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
    fn take(&self, next: &AtomicUsize, attempts: &[Attempt]) -> Option<(usize, Attempt)> {
        let is_over = self.stop.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let number = next.fetch_add(1, Ordering::Relaxed);
        let attempt = attempts.get(number).filter(|_| !is_over)?;
        Some((number, *attempt))
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
    let least = Duration::from_millis(100);
    let usual = match is_endless {
        false => (10 * recorded.cpu).max(least),
        // The time of a right run is not known; what was recorded took many times as long as it does untraced.
        true => recorded.wall.clamp(least, Duration::from_secs(5)),
    };
    let cpu = timeout.unwrap_or(usual);
    let patient = Duration::from_secs(10).max(10 * recorded.wall);
    Limits { cpu, wall: patient, idle: cpu.max(Duration::from_secs(1)), arrivals: u64::MAX, ..limits }
}
