//! Let several workers test at once, and tell the same as one alone.
//!
//! Candidates come in order, and most of them do not fail; so each worker bets that those before its
//! own will not. The first failure in order wins, whatever is finished first; what the bets behind it
//! have cost is lost, and they are ended early. Knows workers and configurations, nothing else.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};

use tracer::patiently;

use crate::dd::{Configuration, Outcome, Test, TestFunction};

/// How many candidates are under way for each worker: one that it tests, and one that waits for it, so that
/// it need not wait for the next.
const AHEAD: usize = 2;

/// A testing function that one thread owns, and that another can cut short.
pub trait Worker: Test + Send {
    /// Once this is set, the next test may end soon with any outcome: nobody will look at it.
    fn heed(&mut self, stop: Arc<AtomicBool>);
}

/// Tells effective sets. Every suitable closure does.
pub trait Normalise {
    /// See [`TestFunction::normalise`].
    fn normalise(&self, configuration: &Configuration) -> Configuration;

    /// See [`TestFunction::normalise_without`].
    fn normalise_without(&self, effective: &Configuration, left_out: &[usize]) -> Configuration {
        self.normalise(&effective.without(left_out))
    }
}

impl<F: Fn(&Configuration) -> Configuration> Normalise for F {
    fn normalise(&self, configuration: &Configuration) -> Configuration {
        self(configuration)
    }
}

/// Workers side by side, as one testing function.
pub struct Speculation<'s, V, E> {
    normal: &'s dyn Normalise,
    crew: Mutex<Crew<V, E>>,
}

struct Crew<V, E> {
    workers: usize,
    /// Where all workers find their jobs.
    jobs: Sender<Job>,
    results: Receiver<Finished<V, E>>,
    search: Arc<Search>,
    /// The jobs of the search that are not finished: what cuts them short, by position.
    under_way: BTreeMap<usize, Arc<AtomicBool>>,
}

/// One search for the first failure, as all threads see it.
struct Search {
    /// The first position that is known to end it. A worker sets it before it takes the next job.
    end: AtomicUsize,
}

struct Job {
    search: Arc<Search>,
    position: usize,
    configuration: Configuration,
    stop: Arc<AtomicBool>,
}

struct Finished<V, E> {
    search: Arc<Search>,
    position: usize,
    configuration: Configuration,
    result: Result<(Outcome, V), E>,
}

impl<'s, V: Send + 's, E: Send + 's> Speculation<'s, V, E> {
    /// Gives each worker a thread; they end with this value. `prepare` is called first on each thread,
    /// with the worker's number; `normal` tells effective sets. Workers for whom the machine has no thread
    /// are left out, but for the first.
    ///
    /// # Errors
    /// If there is no thread at all.
    pub fn new<'e: 's, W>(
        scope: &'s Scope<'s, 'e>,
        workers: Vec<W>,
        prepare: impl Fn(usize) + Clone + Send + 's,
        normal: &'s dyn Normalise,
    ) -> io::Result<Self>
    where
        W: Worker<Evidence = V, Error = E> + 's,
    {
        let (jobs, orders) = channel();
        let (report, results) = channel();
        let (mut crew, orders) = (0, Arc::new(Mutex::new(orders)));
        for (number, worker) in workers.into_iter().enumerate() {
            // Taken by its thread: one that cannot be started takes nothing along.
            let worker = Arc::new(Mutex::new(Some(worker)));
            let started = patiently(|| {
                let (worker, prepare) = (Arc::clone(&worker), prepare.clone());
                let (orders, report) = (Arc::clone(&orders), report.clone());
                Builder::new().spawn_scoped(scope, move || {
                    let worker = worker.lock().unwrap_or_else(PoisonError::into_inner).take();
                    prepare(number);
                    work(worker.expect("a single thread takes it"), &orders, &report);
                })
            });
            match started {
                Ok(_) => crew += 1,
                Err(error) if crew == 0 => return Err(error),
                Err(_) => break,
            }
        }
        let (search, under_way) = (Search::begin(), BTreeMap::new());
        let crew = Mutex::new(Crew { workers: crew, jobs, results, search, under_way });
        Ok(Speculation { normal, crew })
    }
}

/// Does jobs until there will be no more.
fn work<W: Worker>(
    mut worker: W,
    orders: &Mutex<Receiver<Job>>,
    report: &Sender<Finished<W::Evidence, W::Error>>,
) {
    loop {
        // Who waits for a job holds the lock, and the others wait for the lock.
        let order = orders.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { search, position, configuration, stop }) = order else { return };
        if position > search.end() {
            continue;
        }
        worker.heed(stop);
        let result = worker.test(&configuration);
        if is_end(&result) {
            search.end_at(position);
        }
        if report.send(Finished { search, position, configuration, result }).is_err() {
            return;
        }
    }
}

/// Whether a search goes no further than this.
fn is_end<V, E>(result: &Result<(Outcome, V), E>) -> bool {
    !matches!(result, Ok((Outcome::Pass | Outcome::Unresolved, _)))
}

impl<V: Clone, E> TestFunction for Speculation<'_, V, E> {
    type Evidence = V;
    type Error = E;

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        self.normal.normalise(configuration)
    }

    fn normalise_without(&self, effective: &Configuration, left_out: &[usize]) -> Configuration {
        self.normal.normalise_without(effective, left_out)
    }

    fn first_failure(
        &self,
        candidates: &mut dyn Iterator<Item = Configuration>,
        tested: &mut dyn FnMut(&Configuration, Outcome, &V),
    ) -> Result<Option<Configuration>, E> {
        let mut crew = self.crew.lock().unwrap_or_else(PoisonError::into_inner);
        crew.begin();
        let mut finished: BTreeMap<usize, Finished<V, E>> = BTreeMap::new();
        // Positions: the next to hand out, the next to report.
        let (mut drawn, mut reported) = (0, 0);
        let mut exhausted = false;
        loop {
            while !exhausted && crew.wants_more() {
                match candidates.next() {
                    Some(configuration) => {
                        crew.hand_out(drawn, configuration);
                        drawn += 1;
                    }
                    None => exhausted = true,
                }
            }
            if reported == drawn && exhausted {
                return Ok(None);
            }
            let Some(result) = crew.receive() else { continue };
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

impl Search {
    fn begin() -> Arc<Search> {
        Arc::new(Search { end: AtomicUsize::new(usize::MAX) })
    }

    fn end(&self) -> usize {
        self.end.load(Ordering::Relaxed)
    }

    fn end_at(&self, position: usize) {
        self.end.fetch_min(position, Ordering::Relaxed);
    }
}

impl<V, E> Crew<V, E> {
    /// Begins a search. Whatever is left of the one before lies behind its end, and is cut short.
    fn begin(&mut self) {
        self.search = Search::begin();
        self.under_way.clear();
    }

    fn wants_more(&self) -> bool {
        self.under_way.len() < AHEAD * self.workers && self.search.end() == usize::MAX
    }

    fn hand_out(&mut self, position: usize, configuration: Configuration) {
        let stop: Arc<AtomicBool> = Arc::default();
        self.under_way.insert(position, Arc::clone(&stop));
        let job = Job { search: Arc::clone(&self.search), position, configuration, stop };
        self.jobs.send(job).expect("workers outlive the coordinator");
    }

    /// Waits for a result; `None` for one that an earlier search no longer needs.
    fn receive(&mut self) -> Option<Finished<V, E>> {
        let finished = self.results.recv().expect("workers outlive the coordinator");
        if !Arc::ptr_eq(&finished.search, &self.search) {
            return None;
        }
        self.under_way.remove(&finished.position);
        if is_end(&finished.result) {
            let behind = self.under_way.range(self.search.end() + 1..);
            behind.for_each(|(_, stop)| stop.store(true, Ordering::Relaxed));
        }
        Some(finished)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dd::{Algorithm, Counts, End, Experiment, Observer, ReductionOf, Sequential, Stop};
    use std::time::Duration;

    const UNIVERSE: usize = 40;

    /// A made-up program, whose every outcome follows from the configuration, but takes its time.
    #[derive(Clone, Default)]
    struct Fake {
        seed: u64,
        stop: Arc<AtomicBool>,
    }

    impl Fake {
        /// Throws dice that depend on nothing but the configuration and the seed.
        fn chance(&self, configuration: &Configuration, purpose: u64, rarity: u64) -> bool {
            let thrown = configuration.fingerprint() as u64 ^ self.seed ^ purpose;
            (thrown.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).is_multiple_of(rarity)
        }

        /// Whether a circumstance is needed in a seed's program; in some others chance decides everything.
        fn needs(&self, circumstance: usize) -> bool {
            (self.seed >> (circumstance % 11)) & 3 == 0
        }

        fn outcome(&self, configuration: &Configuration) -> Result<(Outcome, usize), String> {
            let chaotic = self.seed.is_multiple_of(4);
            let fails = match chaotic {
                true => configuration.len() == UNIVERSE || self.chance(configuration, 1, 3),
                false => (0..UNIVERSE).all(|c| !self.needs(c) || configuration.contains(c)),
            };
            if self.seed.is_multiple_of(3) && self.chance(configuration, 2, 60) {
                return Err(format!("{configuration:?} cannot be tested"));
            }
            let gone = if self.chance(configuration, 3, 5) { Outcome::Unresolved } else { Outcome::Pass };
            Ok((if fails { Outcome::Fail } else { gone }, configuration.len()))
        }
    }

    /// Each fourth circumstance takes the three behind it along.
    fn closure(configuration: &Configuration) -> Configuration {
        let stays = |&circumstance: &usize| configuration.contains(circumstance - circumstance % 4);
        Configuration::from_iter(UNIVERSE, configuration.iter().filter(stays))
    }

    impl Test for Fake {
        type Evidence = usize;
        type Error = String;

        fn normalise(&self, configuration: &Configuration) -> Configuration {
            closure(configuration)
        }

        fn test(&mut self, configuration: &Configuration) -> Result<(Outcome, usize), String> {
            if self.chance(configuration, 4, 4) {
                std::thread::sleep(Duration::from_micros(50));
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err("cut short, and yet looked at".into());
            }
            self.outcome(configuration)
        }
    }

    impl Worker for Fake {
        fn heed(&mut self, stop: Arc<AtomicBool>) {
            self.stop = stop;
        }
    }

    /// Writes down what an observer learns.
    #[derive(Debug, Default, PartialEq)]
    struct Record {
        tested: Vec<(Configuration, Outcome, usize, Counts)>,
        improved: Vec<Configuration>,
    }

    impl Observer<usize> for Record {
        fn tested(&mut self, c: &Configuration, outcome: Outcome, evidence: &usize, counts: Counts) {
            self.tested.push((c.clone(), outcome, *evidence, counts));
        }

        fn improved(&mut self, smaller: &Configuration) {
            self.improved.push(smaller.clone());
        }
    }

    /// All that can be seen of a reduction.
    type Seen<T> = (ReductionOf<T>, Counts, Record);

    fn reduce<T>(test_function: T, algorithm: Algorithm, limit: Option<u64>) -> Seen<T>
    where
        T: TestFunction<Evidence = usize, Error = String>,
    {
        let mut record = Record::default();
        let mut experiment = Experiment::new(test_function).limited_to(limit).observed_by(&mut record);
        let reduction = algorithm.reduce(&mut experiment, Configuration::full(UNIVERSE));
        let counts = experiment.counts();
        (reduction, counts, record)
    }

    #[test]
    fn any_number_of_workers_finds_the_same_by_the_same_tests() {
        let (mut minimal, mut limited, mut broken) = (0, 0, 0);
        for seed in 0..120 {
            let fake = Fake { seed: seed * 0x5851_f42d, ..Fake::default() };
            let algorithm = if seed % 5 == 0 { Algorithm::Ddmin } else { Algorithm::Sweep };
            let limit = (seed % 7 == 0).then_some(seed / 2);
            let alone = reduce(Sequential::new(fake.clone()), algorithm, limit);
            match alone.0.end {
                End::Minimal => minimal += 1,
                End::Stopped(Stop::Error(_)) => broken += 1,
                End::Stopped(_) => limited += 1,
            }
            for workers in [1, 2, 3, 5] {
                let together = std::thread::scope(|scope| {
                    let workers = vec![fake.clone(); workers];
                    let crew = Speculation::new(scope, workers, |_| {}, &closure).expect("threads");
                    reduce(crew, algorithm, limit)
                });
                assert_eq!(together, alone, "seed {seed}, {workers} workers");
            }
        }
        assert!(minimal > 50 && limited > 5 && broken > 10, "{minimal}, {limited}, {broken}");
    }

    /// Notes what it tests: the candidates are single members, and 3 and 5 fail, 3 much later.
    struct Noted<'n> {
        begun: &'n Mutex<Vec<usize>>,
    }

    impl Test for Noted<'_> {
        type Evidence = ();
        type Error = String;

        fn test(&mut self, configuration: &Configuration) -> Result<(Outcome, ()), String> {
            let member = configuration.iter().next().expect("a single member");
            self.begun.lock().expect("no panic").push(member);
            let (fails, late) = ([3, 5].contains(&member), member == 3);
            std::thread::sleep(Duration::from_millis(if late { 100 } else { 1 }));
            Ok((if fails { Outcome::Fail } else { Outcome::Pass }, ()))
        }
    }

    impl Worker for Noted<'_> {
        fn heed(&mut self, _: Arc<AtomicBool>) {}
    }

    #[test]
    fn what_waits_behind_a_failure_is_never_begun() {
        let begun = Mutex::default();
        let single = |member| Configuration::from_iter(UNIVERSE, [member]);
        std::thread::scope(|scope| {
            let workers = vec![Noted { begun: &begun }, Noted { begun: &begun }];
            let crew = Speculation::new(scope, workers, |_| {}, &Configuration::clone).expect("threads");
            let mut experiment = Experiment::new(crew);
            let found = experiment.first_failure((0..20).map(single)).expect("no error");
            assert_eq!(found.expect("3 and 5 fail").configuration, single(3));
        });
        // While one worker is busy with 3, the other finds that 5 fails, and 6 and 7 are dropped.
        let begun = begun.into_inner().expect("no panic");
        assert!(begun.iter().all(|&member| member <= 5), "{begun:?}");
    }
}
