//! Test versions one after the other, and count what was tested.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dd::{Configuration, Counts, End, Experiment, Observer, Outcome, Sequential, Stop, isolate};
use regex::bytes::Regex;

use super::error::SessionError;
use super::listener::SearchWatcher;
use super::versions::{VersionHistory, is_wanted};
use super::watcher::Watcher;
use crate::circumstances::change::{ChangeSet, ChangeSpace, ChangeTestSetup, ChangeWorker, Tree};
use crate::circumstances::{PhaseId, PhaseTitle, Status, TestError};
use crate::oracle::Evidence;

/// A worker that tests versions as they are.
pub(super) struct VersionTester<'b, 'p> {
    pub(super) setup: &'b ChangeTestSetup<'p>,
    pub(super) worker: &'b mut ChangeWorker<'p>,
    /// The largest number of tests in all.
    pub(super) max_tests: Option<u64>,
    /// A pattern of paths that belong to no version.
    pub(super) excluded: Option<&'b Regex>,
}

impl<'p> VersionTester<'_, 'p> {
    /// The number of tests that may still be made.
    pub(super) fn tests_left(&self) -> Option<u64> {
        self.max_tests.map(|most| most.saturating_sub(self.setup.counts().total))
    }

    /// The files of a commit.
    pub(super) fn commit_tree(&self, history: &VersionHistory, commit: &str) -> std::io::Result<Tree> {
        let mut tree = history.repository.tree(commit)?;
        tree.retain(|path| is_wanted(path, self.excluded));
        Ok(tree)
    }

    /// Tests the version of a configuration.
    pub(super) fn test_of_phase(
        &mut self,
        configuration: &Configuration,
        tree: &Tree,
    ) -> Result<(Outcome, Evidence), TestError> {
        let overlay = self.setup.base.tree.overlay_to(tree);
        let seen = self.setup.examine(&overlay, self.worker, &Arc::<AtomicBool>::default())?;
        self.setup.keep_version(configuration.fingerprint(), &overlay);
        Ok((seen.evidence.outcome, seen.evidence.clone()))
    }

    /// Tests a version.
    pub(super) fn outcome(&mut self, tree: &Tree) -> Result<Outcome, SessionError> {
        let overlay = self.setup.base.tree.overlay_to(tree);
        let seen = self.setup.counted(&overlay, self.worker, &Arc::<AtomicBool>::default())?;
        Ok(seen.evidence.outcome)
    }

    /// Isolates a passing and a failing part of changes that fail together, as close as can be.
    pub(super) fn isolated(
        &mut self,
        set: &ChangeSet,
        space: &ChangeSpace,
        watcher: &mut dyn Watcher,
    ) -> Result<[Configuration; 2], SessionError> {
        let count = set.changes.len();
        self.setup.begin_phase();
        let title = PhaseTitle { id: PhaseId(b'd'), what: "the closest versions".into(), unit: "change" };
        watcher.begins(&title, &Configuration::full(count));
        let max_tests = self.tests_left();
        let (setup, worker) = (self.setup, &mut *self.worker);
        let test = |configuration: &Configuration| -> Result<(Outcome, Evidence), TestError> {
            let overlay = set.apply(configuration);
            let seen = setup.examine(&overlay, worker, &Arc::<AtomicBool>::default())?;
            setup.keep_version(configuration.fingerprint(), &overlay);
            Ok((seen.evidence.outcome, seen.evidence.clone()))
        };
        let mut tester = Sequential::new(test);
        let mut experiment = Experiment::new(space, &mut tester).limited_to(max_tests).observed_by(watcher);
        let found = isolate(&mut experiment, Configuration::empty(count), Configuration::full(count));
        match found.end {
            End::Stopped(Stop::Error(error)) => Err(error.into()),
            _ => Ok([found.passing, found.failing]),
        }
    }
}

/// A watcher that hands everything on, and counts the versions that were tested.
pub(super) struct CountingWatcher<'w, 'p> {
    setup: &'w ChangeTestSetup<'p>,
    inner: &'w mut dyn SearchWatcher,
}

impl<'w, 'p> CountingWatcher<'w, 'p> {
    pub(super) fn new(
        setup: &'w ChangeTestSetup<'p>,
        inner: &'w mut dyn SearchWatcher,
    ) -> CountingWatcher<'w, 'p> {
        CountingWatcher { setup, inner }
    }
}

impl Observer<Evidence> for CountingWatcher<'_, '_> {
    fn tested(&mut self, configuration: &Configuration, outcome: Outcome, seen: &Evidence, counts: Counts) {
        self.setup.count(configuration.fingerprint());
        self.inner.tested(configuration, outcome, seen, counts);
    }

    fn improved(&mut self, smaller: &Configuration) {
        self.inner.improved(smaller);
    }

    fn should_stop(&mut self) -> bool {
        self.inner.should_stop()
    }

    fn goes_finer(&mut self, level: dd::Level, tests: u64) -> bool {
        self.inner.goes_finer(level, tests)
    }
}

impl Watcher for CountingWatcher<'_, '_> {
    fn begins(&mut self, phase: &PhaseTitle, start: &Configuration) {
        self.inner.begins(phase, start);
    }

    fn reason(&self) -> Status {
        self.inner.reason()
    }
}
