//! Test a version with some of the changes; where it does not build, with those that the messages ask for.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dd::{Cancellation, Configuration, Outcome, Space, Test};

use super::Resolution;
use super::bench::{ChangeTestSetup, ChangeWorker, Inconsistency};
use super::difference::ChangeSet;
use super::messages::{mentioning, names};
use super::space::ChangeSpace;
use super::tree::fingerprint;
use crate::circumstances::{TestError, Trial};
use crate::oracle::Evidence;

/// The largest number of times that a failed build leads to further changes.
const MOST_ROUNDS: usize = 12;

/// One worker's testing function.
pub struct ChangeTest<'t, 'p> {
    pub(super) setup: &'t ChangeTestSetup<'p>,
    pub(super) worker: &'t mut ChangeWorker<'p>,
    pub(super) set: &'t ChangeSet,
    pub(super) space: &'t ChangeSpace,
    pub(super) resolution: Resolution,
    pub(super) stop: Arc<AtomicBool>,
}

impl ChangeTestSetup<'_> {
    /// The changes that were applied in the end for a configuration that was tested.
    pub(super) fn applied(
        &self,
        set: &ChangeSet,
        found: &Configuration,
        resolution: Resolution,
    ) -> Configuration {
        let mut applied = found.clone();
        for _ in 0..MOST_ROUNDS {
            let asked = (resolution == Resolution::On).then(|| self.asked_for(set, &applied)).flatten();
            match asked {
                Some(more) => more.into_iter().for_each(|change| applied.insert(change)),
                None => break,
            }
        }
        applied
    }

    /// The changes that a failed build of this configuration asks for; none if it is not known to fail.
    fn asked_for(&self, set: &ChangeSet, applied: &Configuration) -> Option<Vec<usize>> {
        let seen = self.known(&set.apply(applied))?;
        if seen.inconsistency != Some(Inconsistency::Construction) {
            return None;
        }
        let names = names(&seen.printed, self.error_pattern.as_ref());
        let mut more = mentioning(set, &names, applied);
        // The changes that they need are added.
        let mut at = 0;
        while at < more.len() {
            let needed = set.changes[more[at]].needs;
            more.extend(needed.filter(|needed| !applied.contains(*needed) && !more.contains(needed)));
            at += 1;
        }
        Some(more).filter(|more| !more.is_empty())
    }
}

impl ChangeTest<'_, '_> {
    fn examine(
        &mut self,
        configuration: &Configuration,
        stop: &Arc<AtomicBool>,
    ) -> Result<Evidence, TestError> {
        let mut applied = configuration.clone();
        let mut trail = Vec::new();
        let evidence = loop {
            if let Some(why) = self.impossible(&applied) {
                break Evidence::new(Outcome::Unresolved, why);
            }
            let overlay = self.set.apply(&applied);
            trail.push(fingerprint(&overlay));
            let seen = self.setup.examine(&overlay, self.worker, stop)?;
            let may_go_on = self.resolution == Resolution::On && trail.len() <= MOST_ROUNDS;
            let asked = may_go_on.then(|| self.setup.asked_for(self.set, &applied)).flatten();
            match asked {
                Some(more) => more.into_iter().for_each(|change| applied.insert(change)),
                None => break seen.evidence.clone(),
            }
        };
        self.setup.keep_trail(configuration.fingerprint(), trail);
        Ok(evidence)
    }

    /// The reason why changes make no version: a file where a folder is.
    fn impossible(&self, applied: &Configuration) -> Option<String> {
        if self.space.normalise(applied) == *applied {
            return None;
        }
        let lacks =
            |&change: &usize| self.set.changes[change].needs.is_some_and(|needed| !applied.contains(needed));
        let change = applied.iter().find(lacks)?;
        let path = &self.set.files[self.set.changes[change].edits[0].0].path;
        Some(format!(
            "{}: cannot be without another change",
            String::from_utf8_lossy(path.as_os_str().as_bytes())
        ))
    }
}

impl Test for ChangeTest<'_, '_> {
    type Evidence = Evidence;
    type Error = TestError;

    fn test(
        &mut self,
        configuration: &Configuration,
        cancellation: &Cancellation,
    ) -> Result<(Outcome, Evidence), TestError> {
        let evidence = self.examine(configuration, cancellation.flag())?;
        Ok((evidence.outcome, evidence))
    }
}

impl Trial for ChangeTest<'_, '_> {
    fn rehearse(&mut self, configuration: &Configuration) -> Result<Evidence, TestError> {
        let stop = Arc::clone(&self.stop);
        self.examine(configuration, &stop)
    }

    fn confirm(&mut self, configuration: &Configuration) -> Result<Evidence, TestError> {
        let applied = self.setup.applied(self.set, configuration, self.resolution);
        let overlay = self.set.apply(&applied);
        Ok(self.setup.examine_clean(&overlay, self.worker, &self.stop)?.evidence)
    }
}
