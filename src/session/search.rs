//! Search for the critical slice of a recorded run, and keep what is found on the way.

use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use tracer::invocation::Stdout;
use tracer::{Processors, Tracer};

use super::case::{Case, Plan, Subject, method};
use super::doubts::doubts;
use super::driver::{self, Obstacle, SearchMeans};
use super::error::{Cause, SessionError};
use super::history::History;
use super::interrupt::Interrupt;
use super::keeper::Keeper;
use super::keeping::Keeping;
use super::listener::SearchWatcher;
use super::memory::Memory;
use super::needed::Finding;
use super::past::Past;
use super::permissions::openings;
use super::remarks::remarks;
use super::watcher::Watcher;
use crate::circumstances::Status;
use crate::circumstances::events::{self, EventTestSetup, Events, Universe};
use crate::oracle::Evidence;
use crate::printed::Outputs;
use crate::remote::link::WorkerLink;
use crate::slice::{ByProduct, CriticalSlice, Effects, RunMethod};
use crate::subject::{Recorded, Target};

/// The resources of a search: tracers, processors, and the time at which it was begun.
pub struct SearchResources<'m, 'p> {
    /// The tracers, one for each worker.
    pub tracers: &'m mut [Tracer<'p>],
    /// The workers elsewhere, if there are any.
    pub links: &'m mut [WorkerLink],
    /// The processors on which they may run.
    pub processors: &'m Processors,
    /// The interrupt: whether the user has asked for the end.
    pub interrupt: &'m Interrupt,
    /// The time at which the session was begun.
    pub started: Instant,
}

/// The answer to a question, with the history of its search.
pub struct Answer {
    /// The result.
    pub slice: CriticalSlice,
    /// True if the failure shows even if nothing is executed.
    pub is_trivial: bool,
    /// The history: the tests that were made.
    pub history: History,
}

impl Case<'_> {
    /// Searches to the end, or until the budget is used up; and keeps the result.
    ///
    /// # Errors
    /// If there is nothing to be found, or the test setup is broken.
    pub fn search(
        &self,
        resources: &mut SearchResources<'_, '_>,
        past: Past,
        mut progress: Box<dyn SearchWatcher + '_>,
        keeping: &Keeping<'_>,
    ) -> Result<Answer, SessionError> {
        if let Some(name) = &self.question.name {
            keeping.tell(&format!("{name}: {}", self.question.oracle.describe()));
        }
        let runs = AtomicU64::new(past.runs);
        let outputs = Outputs::new(&self.subject.baseline.recording.run).knowing(past.memory.printed());
        let setup = EventTestSetup { outputs: Some(&outputs), ..self.setup(&runs) };
        let trouble = |message: &str| keeping.warn(message);
        let mut history = History::default();
        let mut watcher = history.beside(&mut *progress);
        let keeper = Keeper::new(past.journal, &mut watcher, &runs, &trouble);
        let mut keeper = keeper.since(resources.started, past.elapsed);
        let workers = (&mut *resources.tracers, &mut *resources.links);
        let found = self.found(&setup, workers, resources.processors, &past.memory, &mut keeper);
        let spent = keeper.finish();
        drop(watcher);
        progress.ends();
        let finding = found.map_err(|obstacle| refused(obstacle, resources.interrupt))?;
        let more = self.warnings(&finding);
        let method = resources.tracers.first().map_or_else(|| self.subject.method.clone(), method);
        let answer = self.answer(finding, history, method, spent, more);
        keeping.conclude(self.question.name.as_deref(), &answer.slice);
        Ok(answer)
    }

    /// Restores the result of an ended search from its memory alone; `watcher` watches it being replayed.
    ///
    /// # Errors
    /// If it has found nothing.
    pub fn remember(&self, past: &Past, watcher: &mut dyn Watcher) -> Result<Answer, SessionError> {
        let runs = AtomicU64::new(past.runs);
        let mut history = History::default();
        let setup = self.setup(&runs);
        let mut beside = history.beside(watcher);
        let nobody = (&mut [][..], &mut [][..]);
        let found = self.found(&setup, nobody, &Processors::available(), &past.memory, &mut beside);
        drop(beside);
        let finding = found.map_err(|obstacle| refused(obstacle, &Interrupt::default()))?;
        let spent = (past.runs, past.elapsed);
        Ok(self.answer(finding, history, self.subject.method.clone(), spent, Vec::new()))
    }

    fn found(
        &self,
        setup: &EventTestSetup<'_>,
        (tracers, links): (&mut [Tracer<'_>], &mut [WorkerLink]),
        processors: &Processors,
        memory: &Memory,
        watcher: &mut dyn Watcher,
    ) -> Result<Finding, Obstacle> {
        let Plan { control, strategy } = self.subject.plan;
        let (algorithm, guess) = (strategy.algorithm, self.guess);
        let criterion = self.question.name.as_deref();
        let mut events = Events { setup, control, algorithm, guess, tracers, links, criterion };
        let found = driver::search(&mut events, strategy, SearchMeans { processors, memory }, watcher)?;
        Ok(Finding::of(found, self.subject.recorded(), control))
    }

    /// The answer, with the effort of so many runs and this time.
    fn answer(
        &self,
        finding: Finding,
        history: History,
        method: RunMethod,
        (runs, elapsed): (u64, Duration),
        more: Vec<String>,
    ) -> Answer {
        let Subject { baseline, .. } = self.subject;
        let is_alone = finding.needed.is_empty() && self.question.oracle.asks_for_crash();
        let last = baseline.recording.trace.events().last();
        let remarks = match self.question.oracle.is_inner() {
            true => Vec::new(),
            false => remarks(self.subject.recorded(), &finding.needed),
        };
        let remarks = self.question.oracle.remarks().iter().cloned().chain(remarks);
        let slice = CriticalSlice {
            crashed_at: last.filter(|_| is_alone),
            question: self.subject.question(&self.question.oracle, method),
            status: finding.status,
            level: finding.level,
            effects: if history.phase() == Some(events::TRACE) { Effects::Tried } else { Effects::Untried },
            recorded: baseline.recording.trace.len(),
            omittable: finding.omittable,
            needed: finding.needed,
            tests: finding.tests,
            runs,
            elapsed,
            warnings: baseline.warnings.iter().cloned().chain(more).chain(remarks).collect(),
            values: None,
            by_products: self.by_products(&history),
            kept_as: None,
        };
        Answer { slice, is_trivial: finding.is_trivial, history }
    }

    /// The other failures that came up, with their events.
    fn by_products(&self, history: &History) -> Vec<ByProduct> {
        let Recorded { program, trace } = self.subject.recorded();
        let mut universes: Vec<Universe> = Vec::new();
        let other_failures = history.other_failures().into_iter().map(|other| {
            let rule = events::rule(other.phase);
            let known = universes.iter().position(|universe| universe.control() == rule);
            let known = known.unwrap_or_else(|| {
                universes.push(Universe::new(program, trace, rule));
                universes.len() - 1
            });
            let executed = universes[known].schedule(&other.configuration).kept().collect();
            ByProduct { what: other.what.clone(), tests: other.tests, rule, executed }
        });
        other_failures.collect()
    }

    /// Warnings that weaken the answer, besides those of the baseline.
    fn warnings(&self, finding: &Finding) -> Vec<String> {
        let Subject { target, baseline, .. } = self.subject;
        let run = &baseline.recording.run;
        let mut warnings = doubts(&target.program);
        warnings.extend(unseen_leaks(target));
        warnings.extend(openings(&target.invocation.permissions));
        warnings.extend(run.denied.iter().map(|action| {
            format!("the program tried to {action}; that was denied in the recorded run and in all others")
        }));
        if run.unwritten > 0 && target.invocation.stdout == Stdout::File {
            warnings.push(format!(
                "the crash has lost {} bytes of output that the C library had not written yet; with --pty it writes \
                 each line at once",
                run.unwritten
            ));
        }
        if !self.question.oracle.is_strict() {
            warnings.push(
                "the criterion is weak: it asks for nothing that a run must print; --expect-output or --expect-match ask for more"
                    .into(),
            );
        }
        match finding.status {
            Status::Minimal => {}
            Status::Unconfirmed => warnings.extend(finding.unconfirmed.iter().map(unconfirmed)),
            Status::Budget => warnings
                .push("a budget ended the search; raise --max-tests, --max-time or --total-time".into()),
            Status::Interrupted => warnings.push("the search was interrupted".into()),
        }
        warnings
    }
}

/// A warning that leaks are not looked for in the program's runs.
fn unseen_leaks(target: &Target) -> Option<String> {
    let name = target.leak_checker()?.name();
    Some(format!(
        "the program is compiled with {name}, whose search for leaks does not work in a traced program: it is switched \
         off (detect_leaks=0), so that leaks are not found"
    ))
}

/// A warning that the search was led astray: by something that passes from run to run, or by time.
fn unconfirmed(seen: &Evidence) -> String {
    format!(
        "the result was replayed once more from the beginning, and the failure was not reproduced: {}",
        seen.why
    )
}

fn refused(obstacle: Obstacle, interrupt: &Interrupt) -> SessionError {
    let flaky = |what: &str, evidence: &Evidence| {
        let remedy = "give it more time with --timeout if that is what it lacks, otherwise the program, or what \
                      judges it, depends on more than its input: make that constant";
        interrupt.or(SessionError::new(Cause::Flaky, format!("{what}: {}; {remedy}", evidence.why)))
    };
    match obstacle {
        Obstacle::NotReplayable(evidence) => {
            flaky("the recorded run shows the failure, but a full replay of it does not", &evidence)
        }
        Obstacle::NotRepeatable(evidence) => {
            flaky("what was found shows the failure, but the next replay of it does not", &evidence)
        }
        Obstacle::Broken(error) => interrupt.or(error),
    }
}
