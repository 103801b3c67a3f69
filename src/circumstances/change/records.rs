//! Remember what versions have shown, and which of them the tests of a search have led to.
//!
//! A version is known by what is different from the one that works, whatever changes have led to it, so that nothing is
//! built twice. A test is told by its changes: where a failed build has asked for more of them, by all in the end.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dd::{Configuration, Outcome};
use tracer::run::Usage;

use super::tree::{Overlay, fingerprint};
use crate::circumstances::PhaseId;
use crate::oracle::Evidence;

/// The number of files changed by tests that are named.
const MOST_NAMED: usize = 5;

/// So many tests of a search are told one by one.
const MOST_TOLD: usize = 2000;

/// The reason why a test says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Inconsistency {
    /// The changes do not make a version.
    Integration,
    /// The version does not build.
    Construction,
    /// The test hangs, or does something else that is neither right nor the failure.
    Execution,
}

/// The examination of a version: the evidence of its test.
#[derive(Clone, Debug)]
pub struct Examination {
    /// The outcome with its reason.
    pub evidence: Evidence,
    /// The reason why it says nothing, if so.
    pub inconsistency: Option<Inconsistency>,
    /// The number of builds.
    pub builds: u64,
    /// The end of what the build printed if it failed, otherwise of what the test printed.
    pub printed: Vec<u8>,
    /// The usage of the build and of the test.
    pub usage: [Option<Usage>; 2],
}

/// The numbers of tests of versions: no version counts twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeCounts {
    /// The number of all tests.
    pub total: u64,
    /// Tests that showed the failure.
    pub fail: u64,
    /// Tests that did not show it.
    pub pass: u64,
    /// Tests without a version: the changes do not go together.
    pub integration: u64,
    /// Tests whose version did not build.
    pub construction: u64,
    /// Tests that did something else.
    pub execution: u64,
    /// The number of builds that were made for them.
    pub builds: u64,
}

/// A change or a commit that is applied or not in the tests of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriedMember {
    /// The file; of a commit, its name.
    pub file: String,
    /// The place in the file; of a commit, the first line of its message.
    pub place: String,
}

/// A test of a phase.
#[derive(Clone, Debug)]
pub struct TriedVersion {
    /// The configuration that the search has asked for.
    pub asked: Configuration,
    /// That, and what a failed build has asked for.
    pub applied: Configuration,
    /// The examination of the version: its outcome and evidence.
    pub seen: Arc<Examination>,
}

/// A phase with its tests.
#[derive(Clone, Debug)]
pub struct TriedPhase {
    /// The id of the phase.
    pub id: PhaseId,
    /// The changes or commits that are applied or not.
    pub members: Vec<TriedMember>,
    /// The tests, as far as there is room.
    pub tests: Vec<TriedVersion>,
}

/// All that was learnt.
#[derive(Default)]
pub struct Records(Mutex<Learnt>);

#[derive(Default)]
struct Learnt {
    known: HashMap<u128, Arc<Examination>>,
    /// The versions that a test of a configuration of this phase has led to.
    trails: HashMap<u128, Trail>,
    counted: HashSet<u128>,
    counts: ChangeCounts,
    phases: Vec<TriedPhase>,
    told: usize,
    /// Files of the tree that builds or tests have changed.
    tampered: BTreeSet<String>,
}

/// The course of a test: the versions it has judged, one after another.
struct Trail {
    /// The versions, the last one being judged.
    versions: Vec<u128>,
    /// The changes of the last one.
    applied: Configuration,
}

impl Records {
    fn lock(&self) -> MutexGuard<'_, Learnt> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A phase begins, with other configurations: of these members.
    pub fn begin_phase(&self, id: PhaseId, members: Vec<TriedMember>) {
        let mut learnt = self.lock();
        learnt.trails.clear();
        learnt.phases.push(TriedPhase { id, members, tests: Vec::new() });
    }

    /// The numbers of tests of versions so far, as far as the search has asked for them.
    pub fn counts(&self) -> ChangeCounts {
        self.lock().counts
    }

    /// The tests by phases.
    pub fn phases(&self) -> Vec<TriedPhase> {
        self.lock().phases.clone()
    }

    /// Learns that the search has asked for a test: counts the versions that were looked at for the first time.
    pub fn tested(&self, configuration: &Configuration) {
        let mut learnt = self.lock();
        let Some(Trail { versions, applied }) = learnt.trails.remove(&configuration.fingerprint()) else {
            return;
        };
        versions.iter().for_each(|version| learnt.count(*version));
        let seen = versions.last().and_then(|version| learnt.known.get(version).cloned());
        if let (Some(seen), true) = (seen, learnt.told < MOST_TOLD) {
            learnt.told += 1;
            if let Some(phase) = learnt.phases.last_mut() {
                phase.tests.push(TriedVersion { asked: configuration.clone(), applied, seen });
            }
        }
    }

    /// Keeps by which versions a configuration was tested, and the changes of the last one.
    pub(super) fn keep_trail(
        &self,
        configuration: &Configuration,
        versions: Vec<u128>,
        applied: Configuration,
    ) {
        self.lock().trails.insert(configuration.fingerprint(), Trail { versions, applied });
    }

    /// Records that a configuration was tested by this version.
    pub fn keep_version(&self, configuration: &Configuration, overlay: &Overlay) {
        self.keep_trail(configuration, vec![fingerprint(overlay)], configuration.clone());
    }

    /// The recorded examination of a version, if there is one.
    pub fn known(&self, overlay: &Overlay) -> Option<Arc<Examination>> {
        self.lock().known.get(&fingerprint(overlay)).cloned()
    }

    /// Learns what a version has shown.
    pub(super) fn learn(&self, version: u128, seen: Arc<Examination>) {
        self.lock().known.insert(version, seen);
    }

    /// Learns what an earlier search has found out, where nothing is known yet.
    pub fn recall(&self, earlier: HashMap<u128, Examination>) {
        let mut learnt = self.lock();
        for (version, seen) in earlier {
            learnt.known.entry(version).or_insert_with(|| Arc::new(seen));
        }
    }

    /// Counts a version that was tested by itself.
    pub(super) fn count(&self, version: u128) {
        self.lock().count(version);
    }

    /// Learns which files of a tree were changed.
    pub(super) fn tamper(&self, files: impl Iterator<Item = String>) {
        let mut learnt = self.lock();
        let room = MOST_NAMED.saturating_sub(learnt.tampered.len());
        learnt.tampered.extend(files.take(room));
    }

    /// Files of the tree that builds or tests have changed.
    pub fn tampered(&self) -> Vec<String> {
        self.lock().tampered.iter().cloned().collect()
    }
}

impl Learnt {
    fn count(&mut self, version: u128) {
        let Some(seen) = self.known.get(&version).cloned() else { return };
        if !self.counted.insert(version) {
            return;
        }
        let counts = &mut self.counts;
        counts.total += 1;
        counts.builds += seen.builds;
        match (seen.evidence.outcome, seen.inconsistency) {
            (Outcome::Fail, _) => counts.fail += 1,
            (Outcome::Pass, _) => counts.pass += 1,
            (_, Some(Inconsistency::Integration)) => counts.integration += 1,
            (_, Some(Inconsistency::Construction)) => counts.construction += 1,
            (_, Some(Inconsistency::Execution) | None) => counts.execution += 1,
        }
    }
}
