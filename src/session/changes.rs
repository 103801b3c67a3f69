//! Find the changes that break a program: confirm both versions, search the history, then the changes, then bring a
//! passing and a failing version as close as can be.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use dd::Configuration;
use tracer::Processors;
use tracer::invocation::Invocation;
use tracer::program::Program;

use super::change_request::{ChangeGranularity, ChangesRequest, HistoryUse, Judgement};
use super::commits::{self, GuiltyCommits};
use super::driver::{self, Found, Obstacle, SearchMeans, Strategy};
use super::ends::{self, Ends};
use super::error::{Cause, SessionError};
use super::guilty::GuiltyChanges;
use super::interrupt::Interrupt;
use super::listener::{Begun, Listener, SearchWatcher};
use super::memory::Memory;
use super::permissions::openings;
use super::version_tester::{CountingWatcher, VersionTester};
use super::versions::{VersionHistory, VersionName, Versions};
use crate::circumstances::change::{
    BaseVersion, ChangeEdit, ChangePlan, ChangeSet, ChangeSpace, ChangeTestSetup, ChangeWorker, Changes,
    Commit, Judge, Resolution, Tree, ordered, patch,
};
use crate::circumstances::{RunLock, Status};
use crate::oracle::{Evidence, Oracle};

/// The number of lines up to which a result is reduced line by line, unless the user asks for it.
const FEW_LINES: usize = 64;

/// Finds them.
///
/// # Errors
/// If the versions cannot be compared, do not differ in the failure, or the test setup is broken.
pub fn changes(
    request: &ChangesRequest,
    interrupt: &Interrupt,
    listener: &dyn Listener,
) -> Result<GuiltyChanges, SessionError> {
    let started = Instant::now();
    let names = [("--good", &request.good), ("--bad", &request.bad)];
    let names = names.map(|(option, name)| VersionName { option, name });
    let mut versions = Versions::read(names, &request.folder, request.excluded.as_ref())?;
    let base = BaseVersion::new(&versions.good, &versions.bad)?;
    if let Some(history) = &versions.history {
        history.repository.read_from(&base);
    }
    versions.good = base.tree.clone();
    let program = Program::untraced(&request.test.program);
    let mut setup = setup(request, &base, &program, &versions);
    setup.interrupt = interrupt.flag();
    let mut workers = vec![ChangeWorker::new(&setup, 0)?];
    let Ends { criterion, shown } =
        ends::confirm(request, &versions, &mut setup, &mut workers[0], interrupt)?;
    listener.tell(&format!("the failure: {criterion}"));
    let jobs = request.jobs.map_or(Processors::available().count(), usize::from);
    for number in 1..jobs {
        workers.push(ChangeWorker::new(&setup, number)?);
    }
    let mut progress = listener.search(Begun { criterion: None, time: request.max_time, known: None });
    let mut search = Search { request, versions: &versions, setup: &setup, workers: &mut workers };
    let found = search.all(&mut *progress, listener);
    progress.ends();
    drop(progress);
    let found = found.map_err(|error| interrupt.or(error))?;
    let elapsed = started.elapsed();
    let containment = workers[0].containment();
    let (tests, runs) = (setup.counts(), setup.runs.load(Ordering::Relaxed));
    let warnings = warnings(request, &versions, &setup, &found);
    let patches = patches(&found.result)?;
    drop((workers, setup));
    Ok(GuiltyChanges {
        names: [&request.good, &request.bad].map(|name| name.to_string_lossy().into_owned()),
        criterion,
        shown,
        tests,
        runs,
        elapsed,
        containment,
        warnings,
        patches,
        kept: Some(base),
        ..found.result
    })
}

fn setup<'a>(
    request: &ChangesRequest,
    base: &'a BaseVersion,
    program: &'a Program,
    versions: &Versions,
) -> ChangeTestSetup<'a> {
    let below = |invocation: &Invocation| {
        let directory = versions.below.join(&invocation.directory);
        Invocation { directory, ..invocation.clone() }
    };
    let judge = match request.judgement {
        Judgement::Command => Judge::Command,
        Judgement::Program(_) => Judge::Program { oracle: Box::new(Oracle::accepting()), signal: None },
    };
    ChangeTestSetup {
        base,
        program,
        build: request.build.as_ref().map(below),
        test: below(&request.test),
        judge,
        build_limits: ends::first_limits(request.build_timeout),
        test_limits: ends::first_limits(request.timeout),
        repeat: request.repeat,
        is_always_clean: request.is_always_clean,
        error_pattern: request.error_pattern.clone(),
        turns: RunLock::default(),
        interrupt: Default::default(),
        records: Mutex::default(),
        runs: AtomicU64::new(0),
    }
}

/// A search with its setup.
struct Search<'s, 'p> {
    request: &'s ChangesRequest,
    versions: &'s Versions,
    setup: &'s ChangeTestSetup<'p>,
    workers: &'s mut [ChangeWorker<'p>],
}

/// The outcomes of a search.
struct Outcomes {
    result: GuiltyChanges,
    unconfirmed: Option<Evidence>,
    /// The number of changes that are no longer there in the version that does not work.
    lost: usize,
}

impl<'p> Search<'_, 'p> {
    fn all(
        &mut self,
        progress: &mut dyn SearchWatcher,
        listener: &dyn Listener,
    ) -> Result<Outcomes, SessionError> {
        let mut watcher = CountingWatcher::new(self.setup, progress);
        let guilty = self.commits(&mut watcher)?;
        if let Some(guilty) = &guilty {
            commits::told(guilty).iter().for_each(|line| listener.tell(line));
        }
        let is_over = self.request.granularity == ChangeGranularity::Commits
            || guilty.as_ref().is_some_and(|guilty| guilty.status != Status::Minimal);
        match guilty {
            Some(guilty) if is_over => self.of_commits(guilty),
            guilty => self.of_changes(guilty, &mut watcher),
        }
    }

    fn commits(
        &mut self,
        watcher: &mut CountingWatcher<'_, 'p>,
    ) -> Result<Option<GuiltyCommits>, SessionError> {
        let is_used = self.request.history == HistoryUse::First;
        let history = self.versions.history.as_ref().filter(|_| is_used);
        let history = match history {
            Some(history) if history.repository.is_ancestor(&history.good, &history.bad)? => Some(history),
            _ => None,
        };
        let Some(history) = history else {
            return match self.request.granularity {
                ChangeGranularity::Commits => Err(SessionError::new(
                    Cause::Request,
                    "--by commits needs two revisions of one git repository, of which --good comes before --bad",
                )),
                _ => Ok(None),
            };
        };
        let max_tests = self.request.strategy.max_tests;
        let excluded = self.request.excluded.as_ref();
        let mut tester =
            VersionTester { setup: self.setup, worker: &mut self.workers[0], max_tests, excluded };
        commits::guilty(&mut tester, history, &self.versions.bad, watcher)
    }

    /// The result where nothing finer than commits is searched.
    fn of_commits(&self, guilty: GuiltyCommits) -> Result<Outcomes, SessionError> {
        let set = ChangeSet::between(&guilty.passing, &guilty.failing, self.request.separation)?;
        let commit = match &guilty.suspects[..] {
            [one] if !one.id.is_empty() => Some(one.clone()),
            _ => None,
        };
        let count = set.changes.len();
        let result = GuiltyChanges {
            commits: vec![commit; count],
            all: count,
            overlay: set.apply(&Configuration::full(count)),
            difference: [Vec::new(), (0..count).collect()],
            base_commit: Some(guilty.passing_commit),
            predicted: guilty.predicted,
            suspects: Some(guilty.suspects),
            ..GuiltyChanges::of(guilty.status, guilty.passing, set)
        };
        Ok(Outcomes { result, unconfirmed: None, lost: 0 })
    }

    fn of_changes(
        &mut self,
        guilty: Option<GuiltyCommits>,
        watcher: &mut CountingWatcher<'_, 'p>,
    ) -> Result<Outcomes, SessionError> {
        let good = &self.versions.good;
        let bad = guilty.as_ref().map_or(&self.versions.bad, |guilty| &guilty.failing);
        let set = self.set(good, bad)?;
        let guess =
            guilty.as_ref().map(|guilty| commits::overlapping(&set, &guilty.passing, bad)).transpose()?;
        let (all, unit) = (set.changes.len(), self.unit());
        let plan = ChangePlan {
            groups: self.request.groups.clone(),
            resolution: if self.setup.build.is_some() { self.request.resolution } else { Resolution::Off },
            most_lines: match self.request.granularity {
                ChangeGranularity::Auto => FEW_LINES,
                ChangeGranularity::Lines => usize::MAX,
                _ => 0,
            },
            guess,
            unit,
        };
        let mut changes = Changes::new(self.setup, self.workers, plan, set);
        let (processors, memory) = (Processors::any(), Memory::default());
        let means = SearchMeans { processors: &processors, memory: &memory };
        let spent = self.setup.counts().total;
        let max_tests = self.request.strategy.max_tests.map(|most| most.saturating_sub(spent));
        let strategy = Strategy { max_tests, ..self.request.strategy };
        let found = driver::search(&mut changes, strategy, means, watcher).map_err(refused)?;
        let left = changes.left(&found.last().configuration);
        let is_of_lines = found.last().phase.0 == b'l';
        let result = GuiltyChanges {
            all,
            unit: if is_of_lines { "line" } else { unit },
            without: without(&found),
            predicted: found.tests().predicted + guilty.as_ref().map_or(0, |guilty| guilty.predicted),
            suspects: guilty.as_ref().map(|guilty| guilty.suspects.clone()),
            ..GuiltyChanges::of(found.status(), good.clone(), left)
        };
        let result = self.narrowed(result, watcher)?;
        let commits = self.attributed(&result.set, guilty.as_ref())?;
        let lost = if guilty.is_some() { commits::lost(&result.set, &self.versions.bad) } else { 0 };
        Ok(Outcomes { result: GuiltyChanges { commits, ..result }, unconfirmed: found.unconfirmed, lost })
    }

    /// The changes between two versions, in the granularity that is asked for.
    fn set(&self, good: &Tree, bad: &Tree) -> Result<ChangeSet, SessionError> {
        let set = ChangeSet::between(good, bad, self.request.separation)?;
        let path = |file: usize| set.files[file].path.clone();
        let set = match self.request.granularity {
            ChangeGranularity::Files => set.united(|change| path(change.edits[0].0)),
            ChangeGranularity::Functions => {
                set.united(|change| (path(change.edits[0].0), change.function.clone()))
            }
            _ => set.clone(),
        };
        Ok(ordered(set, &self.request.groups))
    }

    fn unit(&self) -> &'static str {
        match self.request.granularity {
            ChangeGranularity::Files => "file",
            ChangeGranularity::Functions => "function",
            _ => "change",
        }
    }

    /// Narrows the difference between a passing and a failing version as far as possible.
    fn narrowed(
        &mut self,
        result: GuiltyChanges,
        watcher: &mut CountingWatcher<'_, 'p>,
    ) -> Result<GuiltyChanges, SessionError> {
        let set = &result.set;
        let count = set.changes.len();
        let full = Configuration::full(count);
        let overlay = set.apply(&full);
        let mut difference = [Configuration::empty(count), full];
        if result.status == Status::Minimal && count > 1 {
            let space = ChangeSpace::new(set, &[]);
            let max_tests = self.request.strategy.max_tests;
            let worker = &mut self.workers[0];
            let mut tester = VersionTester { setup: self.setup, worker, max_tests, excluded: None };
            difference = tester.isolated(set, &space, watcher)?;
        }
        let difference = difference.map(|side| side.iter().collect());
        Ok(GuiltyChanges { difference, overlay, ..result })
    }

    /// The commit of each change, as far as the history tells.
    fn attributed(
        &self,
        set: &ChangeSet,
        guilty: Option<&GuiltyCommits>,
    ) -> Result<Vec<Option<Commit>>, SessionError> {
        let none = || vec![None; set.changes.len()];
        let (Some(history), Some(guilty)) = (&self.versions.history, guilty) else { return Ok(none()) };
        let theirs = commits::overlapping(set, &guilty.passing, &guilty.failing)?;
        let known = |number: usize| match &guilty.suspects[..] {
            [one] if theirs.contains(number) => Some(one.clone()).filter(|one| !one.id.is_empty()),
            _ => None,
        };
        let tip = guilty.suspects.last().filter(|commit| !commit.id.is_empty());
        let commit = |number: usize| -> Result<Option<Commit>, SessionError> {
            match (known(number), tip) {
                (None, Some(tip)) => blamed(history, set, number, &tip.id),
                (known, _) => Ok(known),
            }
        };
        (0..set.changes.len()).map(commit).collect()
    }
}

/// The commit that has made a change, of those up to `tip`.
fn blamed(
    history: &VersionHistory,
    set: &ChangeSet,
    number: usize,
    tip: &str,
) -> Result<Option<Commit>, SessionError> {
    let (file, edit) = &set.changes[number].edits[0];
    let path = &set.files[*file].path;
    let VersionHistory { repository, good, .. } = history;
    let name = match edit {
        ChangeEdit::Lines(_, new) if !new.is_empty() => {
            repository.blame(good, tip, (new.start + 1, new.end), path)?.pop()
        }
        ChangeEdit::Lines(..) => None,
        _ => repository.latest(good, tip, path)?,
    };
    Ok(name.map(|name| repository.described(&name)).transpose()?)
}

/// The evidence of the tests without each of the changes that are left.
fn without(found: &Found<ChangeSpace>) -> Vec<(usize, Evidence)> {
    let last = found.last();
    let members: Vec<usize> = last.configuration.iter().collect();
    let place = |member: &usize| members.binary_search(member).ok();
    last.evidence.iter().filter_map(|(member, seen)| Some((place(member)?, seen.clone()))).collect()
}

/// The patch of each change by itself.
fn patches(found: &GuiltyChanges) -> Result<Vec<Vec<u8>>, SessionError> {
    let count = found.set.changes.len();
    let one = |number: usize| {
        let overlay = found.set.apply(&Configuration::from_iter(count, [number]));
        Ok(patch(&found.base, &overlay)?.0)
    };
    (0..count).map(one).collect()
}

fn refused(obstacle: Obstacle) -> SessionError {
    match obstacle {
        Obstacle::NotReplayable(seen) | Obstacle::NotRepeatable(seen) => SessionError::new(
            Cause::Flaky,
            format!(
                "a version does not show the same each time: {}; let the test depend on nothing but its tree, or have \
                 each version tested several times with --repeat",
                seen.why
            ),
        ),
        Obstacle::Broken(error) => error.into(),
    }
}

fn warnings(
    request: &ChangesRequest,
    versions: &Versions,
    setup: &ChangeTestSetup<'_>,
    found: &Outcomes,
) -> Vec<String> {
    let mut warnings = openings(&request.test.permissions);
    warnings.extend(versions.warnings.iter().cloned());
    let records = setup.records.lock().unwrap_or_else(PoisonError::into_inner);
    if !records.tampered.is_empty() {
        let files: Vec<&str> = records.tampered.iter().map(String::as_str).collect();
        warnings.push(format!(
            "builds or tests have changed files of the tree, which were restored before the next test: {}",
            files.join(", ")
        ));
    }
    if found.lost > 0 {
        warnings.push(
            "what the changes have done was changed again in later commits, so that the version that does not work may \
             have another cause; --flat looks at these two versions only"
                .into(),
        );
    }
    match (found.result.status, &found.unconfirmed) {
        (Status::Unconfirmed, Some(seen)) => warnings.push(format!(
            "the result was built and tested once more in a clean tree, and does not show the failure: {}; --clean \
             builds each version in a clean tree",
            seen.why
        )),
        (Status::Budget, _) => warnings.push("a budget ended the search; raise --max-tests or --max-time".into()),
        (Status::Interrupted, _) => warnings.push("the search was interrupted".into()),
        _ => {}
    }
    warnings
}
