//! Hold the changes that break a program.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use dd::Configuration;
use tracer::Containment;

use crate::circumstances::Status;
use crate::circumstances::change::{BaseVersion, ChangeCounts, ChangeSet, Commit, Overlay, Tree, TriedPhase};
use crate::oracle::Evidence;

/// The guilty changes, with all that was found about them.
pub struct GuiltyChanges {
    /// The status of the search.
    pub status: Status,
    /// The versions, as the user has named them.
    pub names: [String; 2],
    /// A description, in words, of the tests that show the failure.
    pub criterion: String,
    /// The number of changes from the version that works to the one that fails.
    pub all: usize,
    /// The changes that are left.
    pub set: ChangeSet,
    /// The unit of a change, in words.
    pub unit: &'static str,
    /// The commit of each change, where one is known.
    pub commits: Vec<Option<Commit>>,
    /// The guilty commit, or several of which those in between say nothing; `None` if no commits were searched.
    pub suspects: Option<Vec<Commit>>,
    /// The commit to which the changes are added, if that is another one than the one that works.
    pub base_commit: Option<String>,
    /// The closest versions: the changes of one that passes, and those of one that fails.
    pub difference: [Vec<usize>; 2],
    /// The evidence of the tests without each change, as far as it was tried.
    pub without: Vec<(usize, Evidence)>,
    /// The outcome of the test of the failing version, in words.
    pub shown: String,
    /// The patch of each change by itself.
    pub patches: Vec<Vec<u8>>,
    /// The version to which the changes are added.
    pub base: Tree,
    /// The version's files on the disk.
    pub kept: Option<BaseVersion>,
    /// The overlay: the files that the changes make different.
    pub overlay: Overlay,
    /// The tests, by phases.
    pub tried: Vec<TriedPhase>,
    /// The number of versions tested, by outcome.
    pub tests: ChangeCounts,
    /// The number of outcomes that needed no test.
    pub predicted: u64,
    /// The number of builds and tests that were started.
    pub runs: u64,
    /// The time from the first test to the end.
    pub elapsed: Duration,
    /// The working directory of commands, relative to the top of a version.
    pub below: PathBuf,
    /// The containment of builds and tests.
    pub containment: Containment,
    /// Warnings that weaken the result; each one sentence.
    pub warnings: Vec<String>,
    /// The word by which commands name the search, if it is kept.
    pub kept_as: Option<String>,
}

impl GuiltyChanges {
    /// With nothing but the changes.
    pub(crate) fn of(status: Status, base: Tree, set: ChangeSet) -> GuiltyChanges {
        GuiltyChanges {
            status,
            names: Default::default(),
            criterion: String::new(),
            all: 0,
            commits: vec![None; set.changes.len()],
            set,
            unit: "change",
            suspects: None,
            base_commit: None,
            difference: Default::default(),
            without: Vec::new(),
            shown: String::new(),
            patches: Vec::new(),
            base,
            kept: None,
            overlay: Overlay::new(),
            tried: Vec::new(),
            tests: ChangeCounts::default(),
            predicted: 0,
            runs: 0,
            elapsed: Duration::ZERO,
            below: PathBuf::new(),
            containment: Containment::None,
            warnings: Vec::new(),
            kept_as: None,
        }
    }

    /// The version of one side of the difference.
    pub fn version(&self, side: usize) -> Tree {
        let chosen = Configuration::from_iter(self.set.changes.len(), self.difference[side].iter().copied());
        self.base.with(&self.set.apply(&chosen))
    }

    /// The files with changes that are left.
    pub fn files(&self) -> usize {
        let files: BTreeSet<usize> =
            self.set.changes.iter().flat_map(|change| change.edits.iter().map(|(file, _)| *file)).collect();
        files.len()
    }
}
