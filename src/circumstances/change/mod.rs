//! Leave out changes: which of the differences between a version that works and one that does not break it?
//!
//! First the changes that are failure-inducing are found by dd+, with a loop that adds to what does not build the
//! changes that the messages ask for. What that leads to is reduced without the loop, so that the result is 1-minimal;
//! then, if it is small, line by line.
//!
//! Source: A. Zeller, "Yesterday, my program worked. Today, it does not. Why?", ESEC/FSE 1999.

mod building;
mod difference;
mod git;
mod guilty_lines;
mod messages;
mod moves;
mod patch;
mod place;
mod records;
mod space;
mod test;
mod text;
mod tree;
mod work_tree;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dd::{Algorithm, Configuration};

pub use building::{ChangeTestSetup, ChangeWorker, Judge, shell_command};
pub use difference::{Change, ChangeEdit, ChangeSet, ChangedFile, Separation};
pub use git::{Commit, Repository, is_pointer};
pub use patch::{ComparedLine, changed_lines, compared_lines, patch};
pub use place::place;
pub use records::{ChangeCounts, Examination, Inconsistency, Records, TriedMember, TriedPhase, TriedVersion};
pub use space::{ChangeGroup, ChangeSpace, ordered};
pub use test::ChangeTest;
pub use text::LinedText;
pub use tree::{Content, EntryMode, Overlay, Tree, TreeEntry};
pub use work_tree::{BaseVersion, WorkTree, write_tree};

use super::{Before, Kind, NextPhase, PhaseId, PhaseStart, PhaseTitle};

/// Failure resolution: whether messages of failed builds lead to further changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// They do.
    On,
    /// They do not: a test is of its own changes only.
    Off,
}

/// The stage of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Finds the failure-inducing changes.
    Inducing,
    /// Shows that no change can be left out.
    Minimal,
    /// Shows that no line can be left out.
    Lines,
}

/// The plan by which changes are reduced.
#[derive(Clone, Debug)]
pub struct ChangePlan {
    /// The groups of changes that are tried together.
    pub groups: Vec<ChangeGroup>,
    /// Failure resolution while failure-inducing changes are looked for: whether failed builds lead to
    /// further changes.
    pub resolution: Resolution,
    /// The largest number of lines of a result that is reduced line by line.
    pub most_lines: usize,
    /// A guess: the changes that may break the version.
    pub guess: Option<Configuration>,
    /// The name of one change.
    pub unit: &'static str,
}

/// The changes between two versions, and the workers that test versions with some of them.
pub struct Changes<'m, 'p> {
    setup: &'m ChangeTestSetup<'p>,
    workers: &'m mut [ChangeWorker<'p>],
    plan: ChangePlan,
    set: ChangeSet,
    stage: Stage,
}

impl<'m, 'p> Changes<'m, 'p> {
    /// Creates the kind with these changes, which are ordered.
    pub fn new(
        setup: &'m ChangeTestSetup<'p>,
        workers: &'m mut [ChangeWorker<'p>],
        plan: ChangePlan,
        set: ChangeSet,
    ) -> Changes<'m, 'p> {
        Changes { setup, workers, plan, set, stage: Stage::Inducing }
    }

    /// The changes that are left with this result of the last phase: without them it is the version that works.
    pub fn left(&self, found: &Configuration) -> ChangeSet {
        self.set.chosen(&self.applied(found))
    }

    /// The changes that were applied for a configuration: more than that, where a failed build has asked for it.
    fn applied(&self, found: &Configuration) -> Configuration {
        match self.stage {
            Stage::Inducing => self.setup.applied(&self.set, found, self.plan.resolution),
            Stage::Minimal | Stage::Lines => found.clone(),
        }
    }

    fn space(&self) -> ChangeSpace {
        ChangeSpace::new(&self.set, &self.plan.groups)
    }

    fn phase(&self, id: u8, what: String, unit: &'static str, start: PhaseStart) -> NextPhase<ChangeSpace> {
        self.setup.records.begin_phase(PhaseId(id), self.set.members());
        NextPhase { title: PhaseTitle { id: PhaseId(id), what, unit }, space: self.space(), start }
    }

    fn minimal(&mut self, found: &Configuration) -> NextPhase<ChangeSpace> {
        let applied = self.applied(found);
        self.stage = Stage::Minimal;
        let what = format!("one {} after the other", self.plan.unit);
        self.phase(b'm', what, self.plan.unit, PhaseStart::CarriedOver(applied))
    }

    fn lines(&mut self, found: &Configuration) -> Option<NextPhase<ChangeSpace>> {
        let (left, before) = (self.set.chosen(found), found.len());
        let finer = left.lines();
        if finer.changes.len() > self.plan.most_lines || finer.changes.len() <= before {
            return None;
        }
        (self.set, self.stage) = (finer, Stage::Lines);
        Some(self.phase(b'l', "lines of what is left".into(), "line", PhaseStart::Known))
    }
}

impl<'p> Kind for Changes<'_, 'p> {
    type Space = ChangeSpace;
    type Trial<'t>
        = ChangeTest<'t, 'p>
    where
        Self: 't;

    fn next(&mut self, before: Option<Before<'_, ChangeSpace>>) -> Option<NextPhase<ChangeSpace>> {
        match (before, self.stage) {
            (None, _) => {
                let is_guessed = self.plan.guess.as_ref().is_some_and(|guess| !guess.is_empty());
                let start = if is_guessed { PhaseStart::Known } else { PhaseStart::Everything };
                Some(self.phase(b'c', "what breaks it".into(), self.plan.unit, start))
            }
            (Some(Before { found, .. }), Stage::Inducing) => Some(self.minimal(found)),
            (Some(Before { found, .. }), Stage::Minimal) => self.lines(found),
            (Some(_), Stage::Lines) => None,
        }
    }

    fn guess(&mut self, _phase: PhaseId, _space: &ChangeSpace) -> Option<Configuration> {
        self.plan.guess.take()
    }

    fn algorithm(&self) -> Option<Algorithm> {
        Some(match self.stage {
            Stage::Inducing => Algorithm::DdPlus,
            Stage::Minimal | Stage::Lines => Algorithm::Pairs,
        })
    }

    fn trials<'t>(&'t mut self, space: &'t ChangeSpace) -> Vec<ChangeTest<'t, 'p>> {
        let Changes { setup, workers, set, plan, stage } = self;
        let resolution = match stage {
            Stage::Inducing => plan.resolution,
            Stage::Minimal | Stage::Lines => Resolution::Off,
        };
        let (setup, set) = (&**setup, &*set);
        let worker = |worker: &'t mut ChangeWorker<'p>| ChangeTest {
            setup,
            worker,
            set,
            space,
            resolution,
            stop: Arc::<AtomicBool>::default(),
        };
        workers.iter_mut().map(worker).collect()
    }
}
