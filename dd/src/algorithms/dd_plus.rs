//! The algorithm dd+: finds the circumstances that make the difference, where many configurations are inconsistent.
//!
//! Source: ESEC/FSE 1999, section 5.

use super::{difference, intersection, keep_smaller, union};
use crate::configuration::Configuration;
use crate::experiment::Experiment;
use crate::groups::Splitter;
use crate::outcome::Outcome;
use crate::reduction::Inducing;
use crate::stop::Stop;

/// Finds the failure-inducing circumstances among `start`, which is known to fail, where nothing is known to
/// pass, and where tests may be unresolved: most subsets of a set of changes do not even compile.
///
/// The configuration c is cut into n subsets c1, ..., cn of about equal size, n = 2 at first, while r remains
/// applied. The *complement* of ci is the rest of c.
/// - *Found*: if a subset with r fails, go on with it and n = 2.
/// - *Interference*: if a subset passes and its complement does, too, the failure needs something of both. Go
///   on with each, while the other one remains applied, and take both results together.
/// - *Preference*: if a subset is unresolved and its complement passes, the subset holds what is
///   failure-inducing, and the complement remains applied, because with it tests are consistent.
/// - *Try again*: otherwise, if there are larger n, with twice as many subsets. Subsets that pass are excluded
///   from c, and so are those whose complement fails; both remain applied.
/// - *Nothing left*: otherwise c is all that can be said.
///
/// Right under the same assumptions as [`dd`](super::dd()) but consistency; where they are not known to hold,
/// test what was found and reduce it by [`sweep`](super::sweep()). Groups are cut last.
pub fn dd_plus<V: Clone, E>(experiment: &mut Experiment<'_, V, E>, start: Configuration) -> Inducing<E> {
    let splitter = Splitter::new(experiment.space().levels());
    let nothing = Configuration::empty(start.universe());
    let mut search = Search { experiment, splitter, failing: start.clone(), stopped: None };
    let configuration = search.dd3(start, nothing);
    Inducing { configuration, failing: search.failing, stopped: search.stopped }
}

struct Search<'s, 'e, V, E> {
    experiment: &'s mut Experiment<'e, V, E>,
    splitter: Splitter,
    /// The smallest configuration that is known to fail.
    failing: Configuration,
    stopped: Option<Stop<E>>,
}

/// The step to which the outcomes of the subsets of a configuration lead.
enum Step {
    /// This subset fails.
    Found(Configuration),
    /// A subset and its complement pass.
    Interference(Configuration, Configuration),
    /// A subset is unresolved, and its complement passes.
    Preference(Configuration, Configuration),
    /// The rest of c, and the part of it that remains applied.
    TryAgain(Configuration, Configuration),
}

impl<V: Clone, E> Search<'_, '_, V, E> {
    /// The failure-inducing circumstances of c, while r remains applied; all of c once the search is stopped.
    fn dd3(&mut self, mut c: Configuration, mut r: Configuration) -> Configuration {
        let mut n = 2;
        loop {
            if c.len() <= 1 || self.stopped.is_some() {
                return c;
            }
            let subsets = self.split(&c, n);
            match self.step(&c, &r, &subsets) {
                Err(stop) => {
                    self.stopped = Some(stop);
                    return c;
                }
                Ok(Step::Found(subset)) => (c, n) = (subset, 2),
                Ok(Step::Preference(subset, complement)) => {
                    r.insert_all(&complement);
                    (c, n) = (subset, 2);
                }
                Ok(Step::Interference(subset, complement)) => {
                    let (beside_subset, beside_complement) = (union(&complement, &r), union(&subset, &r));
                    let of_subset = self.dd3(subset, beside_subset);
                    return union(&of_subset, &self.dd3(complement, beside_complement));
                }
                Ok(Step::TryAgain(left, applied)) => {
                    let is_finest = n >= c.len() && left.len() == c.len();
                    // An ambiguous failure can leave nothing: then all of c is what can be said.
                    if is_finest || left.is_empty() {
                        return c;
                    }
                    r.insert_all(&applied);
                    (c, n) = (left, 2 * n);
                }
            }
        }
    }

    fn split(&self, c: &Configuration, n: usize) -> Vec<Configuration> {
        let members: Vec<usize> = c.iter().collect();
        let parts = self.splitter.split(&members, n.min(members.len()));
        parts.into_iter().map(|part| Configuration::from_iter(c.universe(), part.iter().copied())).collect()
    }

    fn step(
        &mut self,
        c: &Configuration,
        r: &Configuration,
        subsets: &[Configuration],
    ) -> Result<Step, Stop<E>> {
        let fails = |_, outcome| outcome == Outcome::Fail;
        let candidates = subsets.iter().map(|subset| union(subset, r));
        if let Some((found, _)) = self.experiment.first_wanted(candidates, fails)? {
            keep_smaller(self.experiment, &mut self.failing, &union(&subsets[found], r));
            return Ok(Step::Found(subsets[found].clone()));
        }
        let complements: Vec<Configuration> = subsets.iter().map(|subset| difference(c, subset)).collect();
        let candidates = complements.iter().map(|complement| union(complement, r));
        if let Some((i, _)) = self.experiment.first_wanted(candidates, |_, o| o == Outcome::Pass)? {
            let (subset, complement) = (subsets[i].clone(), complements[i].clone());
            return Ok(match self.experiment.outcome(&union(&subset, r))? {
                Outcome::Pass => Step::Interference(subset, complement),
                _ => Step::Preference(subset, complement),
            });
        }
        let mut left = c.clone();
        for (subset, complement) in subsets.iter().zip(&complements) {
            let subset_passes = self.experiment.outcome(&union(subset, r))? == Outcome::Pass;
            let beside = union(complement, r);
            let complement_fails = self.experiment.outcome(&beside)? == Outcome::Fail;
            if complement_fails {
                keep_smaller(self.experiment, &mut self.failing, &beside);
            }
            if subset_passes || complement_fails {
                left = intersection(&left, complement);
            }
        }
        let applied = difference(c, &left);
        Ok(Step::TryAgain(left, applied))
    }
}
