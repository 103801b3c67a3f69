//! The tester, which makes the tests that an experiment submits; and one that makes them one after the other.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::configuration::Configuration;
use super::outcome::Outcome;

/// The number of a test that was submitted; no two of one experiment are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TestId(pub u64);

/// A test that has ended, with its result.
pub type Finished<V, E> = (TestId, Result<(Outcome, V), E>);

/// Makes the tests that an experiment submits. Never decides what to test.
pub trait Tester {
    /// The evidence that a test shows besides its outcome. The experiment keeps it as long as it may matter.
    type Evidence: Clone;
    /// The reason why a test could not be made at all. It ends the search.
    type Error;

    /// The number of tests that may be submitted and not finished at the same time, at least one.
    fn capacity(&self) -> usize;

    /// Submits a test of an effective set. There is room for it.
    fn submit(&mut self, id: TestId, configuration: &Configuration);

    /// Waits for one of the tests that were submitted and not cancelled, and are not finished, whichever ends
    /// first. There is at least one.
    fn next(&mut self) -> Finished<Self::Evidence, Self::Error>;

    /// Cancels a test. Nobody will look at its result: it need not be begun, or not be finished.
    fn cancel(&mut self, id: TestId);
}

/// A function that makes a single test at a time. Every suitable closure is one.
pub trait Test {
    /// See [`Tester::Evidence`].
    type Evidence: Clone;
    /// See [`Tester::Error`].
    type Error;

    /// Tests one effective set. Once `cancellation` is requested the test may end with any result.
    ///
    /// # Errors
    /// If the test cannot be made at all.
    fn test(
        &mut self,
        configuration: &Configuration,
        cancellation: &Cancellation,
    ) -> Result<(Outcome, Self::Evidence), Self::Error>;

    /// Whether this error means that whoever makes the tests is gone, and the test was not made: among several at the
    /// same time another one makes it then.
    fn is_lost(&self, _error: &Self::Error) -> bool {
        false
    }
}

impl<F, V: Clone, E> Test for F
where
    F: FnMut(&Configuration) -> Result<(Outcome, V), E>,
{
    type Evidence = V;
    type Error = E;

    fn test(&mut self, configuration: &Configuration, _: &Cancellation) -> Result<(Outcome, V), E> {
        self(configuration)
    }
}

/// The request to end a test whose result is not needed any more. Copies stand for the same request.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Whether the cancellation was requested.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag that is set when the cancellation is requested.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.0
    }

    pub(super) fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The tester that makes one test after the other, each when its result is waited for.
pub struct Sequential<T> {
    test: T,
    submitted: Option<(TestId, Configuration)>,
}

impl<T: Test> Sequential<T> {
    /// Makes a tester of a single test.
    pub fn new(test: T) -> Self {
        Sequential { test, submitted: None }
    }
}

impl<T> fmt::Debug for Sequential<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequential").field("submitted", &self.submitted).finish_non_exhaustive()
    }
}

impl<T: Test> Tester for Sequential<T> {
    type Evidence = T::Evidence;
    type Error = T::Error;

    fn capacity(&self) -> usize {
        1
    }

    fn submit(&mut self, id: TestId, configuration: &Configuration) {
        self.submitted = Some((id, configuration.clone()));
    }

    fn next(&mut self) -> Finished<T::Evidence, T::Error> {
        let (id, configuration) = self.submitted.take().expect("a test was submitted");
        (id, self.test.test(&configuration, &Cancellation::default()))
    }

    fn cancel(&mut self, id: TestId) {
        self.submitted.take_if(|submitted| submitted.0 == id);
    }
}
