//! Let several workers test at once, and tell the same as one alone.
//!
//! Candidates come in order, and most of them do not fail; so each worker bets that those before its
//! own will not. The first failure in order wins, whatever is finished first; what the bets behind it
//! have cost is lost, and they are ended early. Knows workers and configurations, nothing else.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

use crate::dd::{Configuration, Outcome, Test, TestFunction};

/// A testing function that one thread owns, and that another can cut short.
pub trait Worker: Test + Send {
    /// Once this is set, the test at hand may end soon with any outcome: nobody will look at it.
    fn stop_flag(&self) -> Arc<AtomicBool>;
}

/// Workers side by side, as one testing function.
pub struct Speculation<'s, V, E> {
    normalise: Box<dyn Fn(&Configuration) -> Configuration + 's>,
    crew: Mutex<Crew<V, E>>,
}

struct Crew<V, E> {
    hands: Vec<Hand>,
    results: Receiver<Finished<V, E>>,
    /// The number of the search; results of an earlier one are stale.
    search: u64,
}

/// The coordinator's view of a worker.
struct Hand {
    jobs: Sender<Job>,
    stop: Arc<AtomicBool>,
    /// The search and the position of the candidate that it works on.
    busy: Option<(u64, usize)>,
}

struct Job {
    search: u64,
    position: usize,
    configuration: Configuration,
}

struct Finished<V, E> {
    hand: usize,
    search: u64,
    position: usize,
    configuration: Configuration,
    result: Result<(Outcome, V), E>,
}

impl<'s, V: Send + 's, E: Send + 's> Speculation<'s, V, E> {
    /// Gives each worker a thread; they end with this value. `prepare` is called first on each thread,
    /// with the worker's number; `normalise` tells effective sets.
    pub fn new<'e: 's, W>(
        scope: &'s Scope<'s, 'e>,
        workers: Vec<W>,
        prepare: impl Fn(usize) + Clone + Send + 's,
        normalise: impl Fn(&Configuration) -> Configuration + 's,
    ) -> Self
    where
        W: Worker<Evidence = V, Error = E> + 's,
    {
        let (report, results) = channel();
        let hire = |(number, mut worker): (usize, W)| {
            let (jobs, orders) = channel::<Job>();
            let stop = worker.stop_flag();
            let (report, prepare, flag) = (report.clone(), prepare.clone(), Arc::clone(&stop));
            scope.spawn(move || {
                prepare(number);
                for Job { search, position, configuration } in orders {
                    flag.store(false, Ordering::Relaxed);
                    let result = worker.test(&configuration);
                    let finished = Finished { hand: number, search, position, configuration, result };
                    if report.send(finished).is_err() {
                        return;
                    }
                }
            });
            Hand { jobs, stop, busy: None }
        };
        let hands = workers.into_iter().enumerate().map(hire).collect();
        Speculation { normalise: Box::new(normalise), crew: Mutex::new(Crew { hands, results, search: 0 }) }
    }
}

impl<V: Clone, E> TestFunction for Speculation<'_, V, E> {
    type Evidence = V;
    type Error = E;

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        (self.normalise)(configuration)
    }

    fn first_failure(
        &self,
        candidates: &mut dyn Iterator<Item = Configuration>,
        tested: &mut dyn FnMut(&Configuration, Outcome, &V),
    ) -> Result<Option<Configuration>, E> {
        let mut crew = self.crew.lock().unwrap_or_else(PoisonError::into_inner);
        crew.search += 1;
        let mut finished: BTreeMap<usize, Finished<V, E>> = BTreeMap::new();
        // Positions: the next to hand out, the next to report; the first that ends the search.
        let (mut drawn, mut reported, mut end) = (0, 0, usize::MAX);
        let mut exhausted = false;
        loop {
            while !exhausted && end == usize::MAX && crew.has_idle() {
                match candidates.next() {
                    Some(configuration) => crew.hand_out(drawn, configuration),
                    None => {
                        exhausted = true;
                        break;
                    }
                }
                drawn += 1;
            }
            if reported == drawn && exhausted {
                return Ok(None);
            }
            let Some(result) = crew.receive() else { continue };
            if !matches!(result.result, Ok((Outcome::Pass | Outcome::Unresolved, _))) && result.position < end
            {
                end = result.position;
                crew.cut_short_behind(end);
            }
            finished.insert(result.position, result);
            while let Some(Finished { configuration, result, .. }) = finished.remove(&reported) {
                let (outcome, evidence) = result?;
                tested(&configuration, outcome, &evidence);
                if outcome == Outcome::Fail {
                    return Ok(Some(configuration));
                }
                reported += 1;
            }
        }
    }
}

impl<V, E> Crew<V, E> {
    fn has_idle(&self) -> bool {
        self.hands.iter().any(|hand| hand.busy.is_none())
    }

    fn hand_out(&mut self, position: usize, configuration: Configuration) {
        let search = self.search;
        let idle = self.hands.iter_mut().find(|hand| hand.busy.is_none()).expect("asked for before");
        idle.busy = Some((search, position));
        idle.jobs.send(Job { search, position, configuration }).expect("workers outlive the coordinator");
    }

    /// Waits for a result; `None` for one that an earlier search no longer needs.
    fn receive(&mut self) -> Option<Finished<V, E>> {
        let finished = self.results.recv().expect("workers outlive the coordinator");
        self.hands[finished.hand].busy = None;
        (finished.search == self.search).then_some(finished)
    }

    fn cut_short_behind(&self, position: usize) {
        let behind = self.hands.iter().filter(|hand| hand.busy.is_some_and(|(_, at)| at > position));
        behind.for_each(|hand| hand.stop.store(true, Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails where the configuration has all of 3, 5 and 8, after a while that depends on it.
    struct Slow {
        stop: Arc<AtomicBool>,
    }

    impl Test for Slow {
        type Evidence = usize;
        type Error = String;

        fn test(&mut self, configuration: &Configuration) -> Result<(Outcome, usize), String> {
            let delay = configuration.fingerprint() as u64 % 300;
            std::thread::sleep(std::time::Duration::from_micros(delay));
            if self.stop.load(Ordering::Relaxed) {
                return Err("cut short, and yet looked at".into());
            }
            let fails = [3, 5, 8].iter().all(|&member| configuration.contains(member));
            Ok((if fails { Outcome::Fail } else { Outcome::Pass }, configuration.len()))
        }
    }

    impl Worker for Slow {
        fn stop_flag(&self) -> Arc<AtomicBool> {
            Arc::clone(&self.stop)
        }
    }

    #[test]
    fn any_number_of_workers_finds_the_same_with_the_same_counts() {
        let results: Vec<_> = [1, 2, 5].into_iter().map(reduce_with).collect();
        assert_eq!(results[0].0, vec![3, 5, 8]);
        assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
    }

    fn reduce_with(workers: usize) -> (Vec<usize>, crate::dd::Counts) {
        std::thread::scope(|scope| {
            let workers = (0..workers).map(|_| Slow { stop: Arc::default() }).collect();
            let crew = Speculation::new(scope, workers, |_| {}, Configuration::clone);
            let mut experiment = crate::dd::Experiment::new(crew);
            let reduction = crate::dd::Algorithm::Sweep.reduce(&mut experiment, Configuration::full(40));
            (reduction.configuration.iter().collect(), experiment.counts())
        })
    }
}
