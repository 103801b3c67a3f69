//! The algorithm dd: finds the circumstances that make the difference between nothing, which passes, and all, which
//! fails.
//!
//! Source: ESEC/FSE 1999, section 4.

use super::{keep_smaller, union};
use crate::configuration::Configuration;
use crate::experiment::Experiment;
use crate::groups::Splitter;
use crate::outcome::Outcome;
use crate::reduction::Inducing;
use crate::stop::Stop;

/// Finds the failure-inducing circumstances among `start`, which is known to fail, where nothing is known to
/// pass. Binary search where there is one; several that fail only together are found as well.
///
/// The configuration c is cut into two halves, while r remains applied:
/// - *Found in c1* or *c2*: if a half together with r fails, go on with that half.
/// - *Interference*: otherwise the failure needs something of each half. Go on with each of them, while the
///   other one remains applied, and take both results together.
///
/// Right where each configuration is consistent (no test is unresolved) and the failure is monotone: more
/// circumstances do not make it vanish. Where that is not known, test what was found and reduce it by
/// [`sweep`](super::sweep()). Groups are cut last.
pub fn dd<V: Clone, E>(experiment: &mut Experiment<'_, V, E>, start: Configuration) -> Inducing<E> {
    let splitter = Splitter::new(experiment.space().levels());
    let nothing = Configuration::empty(start.universe());
    let mut search = Search { experiment, splitter, failing: start.clone(), stopped: None };
    let configuration = search.dd2(start, &nothing);
    Inducing { configuration, failing: search.failing, stopped: search.stopped }
}

struct Search<'s, 'e, V, E> {
    experiment: &'s mut Experiment<'e, V, E>,
    splitter: Splitter,
    /// The smallest configuration that is known to fail.
    failing: Configuration,
    stopped: Option<Stop<E>>,
}

impl<V: Clone, E> Search<'_, '_, V, E> {
    /// The failure-inducing circumstances of c, while r remains applied; all of c once the search is stopped.
    fn dd2(&mut self, c: Configuration, r: &Configuration) -> Configuration {
        let members: Vec<usize> = c.iter().collect();
        if members.len() <= 1 || self.stopped.is_some() {
            return c;
        }
        let halves = self.splitter.split(&members, 2);
        let [c1, c2] =
            [0, 1].map(|half| Configuration::from_iter(c.universe(), halves[half].iter().copied()));
        let candidates = [union(&c1, r), union(&c2, r)];
        match self.experiment.first_wanted(candidates, |_, outcome| outcome == Outcome::Fail) {
            Ok(Some((half, _))) => {
                let found = [c1, c2][half].clone();
                keep_smaller(self.experiment, &mut self.failing, &union(&found, r));
                self.dd2(found, r)
            }
            Ok(None) => {
                let (with_c2, with_c1) = (union(&c2, r), union(&c1, r));
                let of_c1 = self.dd2(c1, &with_c2);
                union(&of_c1, &self.dd2(c2, &with_c1))
            }
            Err(stop) => {
                self.stopped = Some(stop);
                c
            }
        }
    }
}
