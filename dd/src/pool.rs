//! The pool of workers, which makes several tests at the same time, a thread for each worker.
//!
//! Knows workers and configurations, nothing else. That the result is the same as that of one worker alone is
//! the work of the experiment, which takes results in the order of its candidates.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope};

use super::configuration::Configuration;
use super::tester::{Cancellation, Finished, Test, TestId, Tester};

/// The number of tests that are submitted for each worker: one that it makes, and one that waits for it, so that it
/// need not wait for the next.
const SUBMITTED: usize = 2;

/// Worker threads that make tests. They end with this value.
pub struct Pool<V, E> {
    workers: usize,
    /// The queue where all workers find their orders.
    orders: Sender<Order>,
    results: Receiver<Report<V, E>>,
    /// The tests that somebody waits for.
    pending: HashMap<TestId, Cancellation>,
}

struct Order {
    id: TestId,
    configuration: Configuration,
    cancellation: Cancellation,
}

/// The report of a worker on an order.
enum Report<V, E> {
    Finished(Finished<V, E>),
    /// The worker is gone, and the test was not made.
    Lost(Order, E),
}

impl<V: Send, E: Send> Pool<V, E> {
    /// Gives each worker a thread. `prepare` is called first on each thread, with the worker's number.
    /// `persist` is handed the attempt to start a thread, and may make it several times where the machine
    /// refuses for the moment. Workers for whom there is no thread are left out, but for the first.
    ///
    /// # Errors
    /// If there is no thread at all.
    pub fn new<'s, 'e: 's, W>(
        scope: &'s Scope<'s, 'e>,
        workers: Vec<W>,
        prepare: impl Fn(usize) + Clone + Send + 's,
        persist: impl Fn(&mut dyn FnMut() -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<Self>
    where
        W: Test<Evidence = V, Error = E> + Send + 's,
        V: 's,
        E: 's,
    {
        let (orders, queue) = channel();
        let (report, results) = channel();
        let (mut started, queue) = (0, Arc::new(Mutex::new(queue)));
        for (number, worker) in workers.into_iter().enumerate() {
            // Taken by its thread: one that cannot be started takes nothing along.
            let worker = Arc::new(Mutex::new(Some(worker)));
            let attempt = persist(&mut || {
                let (worker, prepare) = (Arc::clone(&worker), prepare.clone());
                let (queue, report) = (Arc::clone(&queue), report.clone());
                let thread = Builder::new().spawn_scoped(scope, move || {
                    let worker = worker.lock().unwrap_or_else(PoisonError::into_inner).take();
                    prepare(number);
                    work(worker.expect("a single thread takes it"), &queue, &report);
                });
                thread.map(drop)
            });
            match attempt {
                Ok(()) => started += 1,
                Err(error) if started == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(Pool { workers: started, orders, results, pending: HashMap::new() })
    }
}

/// Makes tests until there will be no more, or until the worker is gone.
fn work<T: Test>(
    mut worker: T,
    queue: &Mutex<Receiver<Order>>,
    report: &Sender<Report<T::Evidence, T::Error>>,
) {
    loop {
        // The worker that waits for an order holds the lock, and the others wait for the lock.
        let order = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(order) = order else { return };
        if order.cancellation.is_requested() {
            continue;
        }
        let (report_of, is_lost) = match worker.test(&order.configuration, &order.cancellation) {
            Err(error) if worker.is_lost(&error) => (Report::Lost(order, error), true),
            result => (Report::Finished((order.id, result)), false),
        };
        if report.send(report_of).is_err() || is_lost {
            return;
        }
    }
}

impl<V, E> Pool<V, E> {
    /// Puts the test of a worker that is gone back into the queue. If nobody is left to make it, that is the result of
    /// the oldest test.
    fn requeue(&mut self, order: Order, error: E) -> Option<Finished<V, E>> {
        self.workers -= 1;
        if self.workers == 0 {
            // None of them will be made any more, and the oldest is the one that is waited for: a result of another one
            // would leave the search waiting for ever.
            let id = self.pending.keys().min().copied();
            return id.map(|id| (id, Err(error)));
        }
        // If that one is gone as well, it says so next.
        let _ = self.orders.send(order);
        None
    }
}

impl<V: Clone, E> Tester for Pool<V, E> {
    type Evidence = V;
    type Error = E;

    fn capacity(&self) -> usize {
        (SUBMITTED * self.workers).max(1)
    }

    fn submit(&mut self, id: TestId, configuration: &Configuration) {
        let cancellation = Cancellation::default();
        self.pending.insert(id, cancellation.clone());
        let order = Order { id, configuration: configuration.clone(), cancellation };
        // If all are gone, they say so next.
        let _ = self.orders.send(order);
    }

    fn next(&mut self) -> Finished<V, E> {
        loop {
            let report = self.results.recv().expect("each worker reports before it is gone");
            let finished = match report {
                Report::Finished(finished) => Some(finished),
                Report::Lost(order, error) => self.requeue(order, error),
            };
            let Some((id, result)) = finished else { continue };
            // What was cancelled may have ended all the same.
            if self.pending.remove(&id).is_some() {
                return (id, result);
            }
        }
    }

    fn cancel(&mut self, id: TestId) {
        if let Some(cancellation) = self.pending.remove(&id) {
            cancellation.request();
        }
    }
}

impl<V, E> fmt::Debug for Pool<V, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("workers", &self.workers).finish_non_exhaustive()
    }
}
