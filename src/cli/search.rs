//! Search for the critical slice of a recorded run, and keep what is found on the way.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tracer::invocation::Limits;
use tracer::{Processors, Tracer};

use super::exit::{Exit, Failure};
use super::interrupt::Interrupt;
use super::keeping::Keeping;
use super::progress::Progress;
use super::run::{conclude, question, warnings};
use super::target::Target;
use crate::archive::{Journal, Keeper};
use crate::baseline::Baseline;
use crate::circumstances::Laboratory;
use crate::investigation::{Means, Memory, Plan, investigate};
use crate::oracle::Oracle;
use crate::slice::{CriticalSlice, Recorded};

/// A recorded run with a question about it.
#[derive(Clone, Copy)]
pub(super) struct Case<'c> {
    pub(super) target: &'c Target,
    pub(super) baseline: &'c Baseline,
    pub(super) oracle: &'c Oracle,
    pub(super) plan: Plan,
    pub(super) limits: Limits,
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
    pub(super) started: Instant,
}

impl<'c> Case<'c> {
    pub(super) fn recorded(&self) -> Recorded<'c> {
        Recorded { program: &self.target.program, trace: &self.baseline.recording.trace }
    }

    /// Searches to the end, or to that of a budget.
    pub(super) fn search(
        &self,
        crew: &mut Crew<'_, '_>,
        past: Past,
        progress: &mut Progress,
        keeping: &Keeping,
    ) -> Result<(CriticalSlice, Exit), Failure> {
        let runs = AtomicU64::new(past.runs);
        let laboratory = self.laboratory(&runs);
        let means = Means { tracers: &mut *crew.tracers, processors: crew.processors, memory: &past.memory };
        let trouble = |message: &str| keeping.warn(message);
        let keeper = Keeper::new(past.journal, progress, &runs, &trouble);
        let mut keeper = keeper.since(crew.started, past.elapsed);
        let found = investigate(&laboratory, self.plan, means, &mut keeper);
        keeper.finish();
        progress.finish();
        let (finding, exit) = conclude(found, crew.interrupt)?;
        let mut all_warnings = self.baseline.warnings.clone();
        all_warnings.extend(warnings(self.target, crew.tracers.first(), self.oracle, &finding));
        let slice = CriticalSlice {
            question: question(self.target, self.oracle, self.plan),
            status: finding.status,
            recorded: self.recorded().trace.len(),
            omittable: finding.omittable,
            needed: finding.needed,
            tests: finding.tests,
            runs: runs.load(Ordering::Relaxed),
            elapsed: past.elapsed + crew.started.elapsed(),
            warnings: all_warnings,
        };
        Ok((slice, exit))
    }

    /// What an ended search has found, from its memory alone.
    pub(super) fn remember(&self, past: &Past) -> Result<CriticalSlice, Failure> {
        let runs = AtomicU64::new(past.runs);
        let means = Means { tracers: &mut [], processors: &Processors::available(), memory: &past.memory };
        let found = investigate(&self.laboratory(&runs), self.plan, means, &mut Nobody);
        let (finding, _) = conclude(found, &Interrupt::default())?;
        Ok(CriticalSlice {
            question: question(self.target, self.oracle, self.plan),
            status: finding.status,
            recorded: self.recorded().trace.len(),
            omittable: finding.omittable,
            tests: finding.tests,
            runs: past.runs,
            elapsed: past.elapsed,
            warnings: self.baseline.warnings.clone(),
            needed: finding.needed,
        })
    }

    fn laboratory<'l>(&'l self, runs: &'l AtomicU64) -> Laboratory<'l> {
        Laboratory {
            recorded: self.recorded(),
            oracle: self.oracle,
            patterns: &self.baseline.patterns,
            limits: self.limits,
            runs,
        }
    }
}

/// Watches nothing.
struct Nobody;

impl crate::dd::Observer<crate::slice::Evidence> for Nobody {}

impl crate::investigation::Watcher for Nobody {}
