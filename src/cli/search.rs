//! Search for the critical slice of a recorded run, and keep what is found on the way.

use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use tracer::invocation::Limits;
use tracer::schedule::Control as Rule;
use tracer::{Processors, Tracer};

use super::exit::{Exit, Failure};
use super::interrupt::Interrupt;
use super::keeping::Keeping;
use super::progress::Progress;
use super::questions::Inquiry;
use super::run::{conclude, manner, question, warnings};
use super::status::Board;
use super::target::Target;
use crate::archive::{Journal, Keeper};
use crate::baseline::Baseline;
use crate::circumstances::{Laboratory, RunMemo, Turns, Universe};
use crate::history::History;
use crate::investigation::{Finding, Means, Memory, Plan, Watcher, investigate};
use crate::printed::Outputs;
use crate::remarks::remarks;
use crate::slice::{ByProduct, CriticalSlice, Effects, Manner, Recorded};

/// A recorded run, and how it is searched.
#[derive(Clone, Copy)]
pub(super) struct Subject<'c> {
    pub(super) target: &'c Target,
    pub(super) baseline: &'c Baseline,
    /// How it was recorded.
    pub(super) manner: &'c Manner,
    pub(super) plan: Plan,
    pub(super) limits: Limits,
}

/// A recorded run with a question about it.
#[derive(Clone, Copy)]
pub(super) struct Case<'c> {
    pub(super) subject: Subject<'c>,
    pub(super) question: &'c Inquiry,
    /// The replays that other questions about the run have made.
    pub(super) memo: Option<&'c RunMemo>,
}

/// What an earlier search for the same has left behind, and where this one leaves the same.
#[derive(Default)]
pub(super) struct Past {
    pub(super) memory: Memory,
    pub(super) runs: u64,
    pub(super) elapsed: Duration,
    pub(super) journal: Option<Journal>,
}

/// Who does the work, and when it was begun.
pub(super) struct Crew<'m, 'p> {
    pub(super) tracers: &'m mut [Tracer<'p>],
    pub(super) processors: &'m Processors,
    pub(super) interrupt: &'m Interrupt,
    /// Where they write how far they have come.
    pub(super) board: &'m Board,
    pub(super) started: Instant,
}

/// The answer to a question, and how it was found out.
pub(super) struct Answer {
    pub(super) slice: CriticalSlice,
    pub(super) history: History,
}

impl<'c> Subject<'c> {
    pub(super) fn recorded(&self) -> Recorded<'c> {
        Recorded { program: &self.target.program, trace: &self.baseline.recording.trace }
    }
}

impl Case<'_> {
    /// Searches to the end, or to that of a budget; and keeps the result.
    pub(super) fn search(
        &self,
        crew: &mut Crew<'_, '_>,
        past: Past,
        mut progress: Progress,
        keeping: &Keeping,
    ) -> Result<(Answer, Exit), Failure> {
        self.announce(keeping);
        let runs = AtomicU64::new(past.runs);
        let outputs = Outputs::new(&self.subject.baseline.recording.run).knowing(past.memory.printed());
        let laboratory = Laboratory { outputs: Some(&outputs), ..self.laboratory(&runs) };
        let means = Means { tracers: &mut *crew.tracers, processors: crew.processors, memory: &past.memory };
        let trouble = |message: &str| keeping.warn(message);
        let mut history = History::default();
        let mut watcher = history.beside(&mut progress);
        let keeper = Keeper::new(past.journal, &mut watcher, &runs, &trouble);
        let mut keeper = keeper.since(crew.started, past.elapsed);
        let found = investigate(&laboratory, self.subject.plan, means, &mut keeper);
        let spent = keeper.finish();
        drop(watcher);
        progress.finish();
        let (finding, exit) = conclude(found, crew.interrupt)?;
        let tracer = crew.tracers.first();
        let more = warnings(self.subject.target, self.subject.baseline, &self.question.oracle, &finding);
        let manner = tracer.map_or_else(|| self.subject.manner.clone(), manner);
        let slice = self.slice((finding, &history), manner, spent, more);
        keeping.conclude(self.question.name.as_deref(), &slice);
        Ok((Answer { slice, history }, exit))
    }

    /// What an ended search has found, from its memory alone; `watcher` sees it find the way again.
    pub(super) fn remember(&self, past: &Past, watcher: &mut dyn Watcher) -> Result<Answer, Failure> {
        let runs = AtomicU64::new(past.runs);
        let means = Means { tracers: &mut [], processors: &Processors::available(), memory: &past.memory };
        let mut history = History::default();
        let laboratory = self.laboratory(&runs);
        let found = investigate(&laboratory, self.subject.plan, means, &mut history.beside(watcher));
        let (finding, _) = conclude(found, &Interrupt::default())?;
        let spent = (past.runs, past.elapsed);
        let slice = self.slice((finding, &history), self.subject.manner.clone(), spent, Vec::new());
        Ok(Answer { slice, history })
    }

    /// The result, for which so many runs were made in this time.
    fn slice(
        &self,
        (finding, history): (Finding, &History),
        manner: Manner,
        (runs, elapsed): (u64, Duration),
        more: Vec<String>,
    ) -> CriticalSlice {
        let Subject { target, baseline, plan, .. } = self.subject;
        let is_alone = finding.needed.is_empty() && self.question.oracle.asks_for_crash();
        let last = baseline.recording.trace.events().last();
        let remarks = remarks(self.subject.recorded(), &finding.needed);
        let remarks = self.question.oracle.remarks().iter().cloned().chain(remarks);
        CriticalSlice {
            crashed_at: last.filter(|_| is_alone),
            question: question(target, &self.question.oracle, plan, manner),
            status: finding.status,
            level: finding.level,
            effects: if history.rule() == Rule::Trace { Effects::Tried } else { Effects::Untried },
            recorded: baseline.recording.trace.len(),
            omittable: finding.omittable,
            needed: finding.needed,
            tests: finding.tests,
            runs,
            elapsed,
            warnings: baseline.warnings.iter().cloned().chain(more).chain(remarks).collect(),
            values: None,
            by_products: self.by_products(history),
            kept_as: None,
        }
    }

    /// The other failures that came up, with the events behind them.
    fn by_products(&self, history: &History) -> Vec<ByProduct> {
        let Recorded { program, trace } = self.subject.recorded();
        let universe = |rule| Universe::new(program, trace, rule);
        let mut universes: Vec<Universe> = Vec::new();
        let slips = history.slips().into_iter().map(|slip| {
            let known = universes.iter().position(|universe| universe.control() == slip.rule);
            let known = known.unwrap_or_else(|| {
                universes.push(universe(slip.rule));
                universes.len() - 1
            });
            let executed = universes[known].schedule(&slip.configuration).kept().collect();
            ByProduct { what: slip.what.clone(), tests: slip.tests, rule: slip.rule, executed }
        });
        slips.collect()
    }

    pub(super) fn laboratory<'l>(&'l self, runs: &'l AtomicU64) -> Laboratory<'l> {
        Laboratory {
            recorded: self.subject.recorded(),
            oracle: &self.question.oracle,
            patterns: &self.subject.baseline.patterns,
            untouched: &self.subject.baseline.untouched,
            limits: self.subject.limits,
            runs,
            memo: self.memo,
            outputs: None,
            turns: Turns::default(),
        }
    }

    fn announce(&self, keeping: &Keeping) {
        if let Some(name) = &self.question.name {
            keeping.tell(&format!("{name}: {}", self.question.oracle.describe()));
        }
    }
}
