//! Make a testing function out of something that can make a single test.
//!
//! Does not look ahead: the next test begins when the last one is over.

use super::configuration::Configuration;
use super::outcome::Outcome;
use super::test_function::TestFunction;
use std::cell::RefCell;

/// A single test at a time. Every suitable closure is one.
pub trait Test {
    /// See [`TestFunction::Evidence`].
    type Evidence: Clone;
    /// See [`TestFunction::Error`].
    type Error;

    /// See [`TestFunction::normalise`].
    fn normalise(&self, configuration: &Configuration) -> Configuration {
        configuration.clone()
    }

    /// See [`TestFunction::normalise_without`].
    fn normalise_without(&self, effective: &Configuration, left_out: &[usize]) -> Configuration {
        self.normalise(&effective.without(left_out))
    }

    /// Tests one effective set.
    ///
    /// # Errors
    /// If the test cannot be made at all.
    fn test(&mut self, configuration: &Configuration) -> Result<(Outcome, Self::Evidence), Self::Error>;
}

impl<F, V: Clone, E> Test for F
where
    F: FnMut(&Configuration) -> Result<(Outcome, V), E>,
{
    type Evidence = V;
    type Error = E;

    fn test(&mut self, configuration: &Configuration) -> Result<(Outcome, V), E> {
        self(configuration)
    }
}

/// The testing function that makes one test after the other.
// Candidates are normalised between two tests, never during one: the cell is always free.
#[derive(Debug)]
pub struct Sequential<T>(RefCell<T>);

impl<T: Test> Sequential<T> {
    /// Makes a testing function of a single test.
    pub fn new(test: T) -> Self {
        Sequential(RefCell::new(test))
    }
}

impl<T: Test> TestFunction for Sequential<T> {
    type Evidence = T::Evidence;
    type Error = T::Error;

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        self.0.borrow().normalise(configuration)
    }

    fn normalise_without(&self, effective: &Configuration, left_out: &[usize]) -> Configuration {
        self.0.borrow().normalise_without(effective, left_out)
    }

    fn first_failure(
        &self,
        candidates: &mut dyn Iterator<Item = Configuration>,
        tested: &mut dyn FnMut(&Configuration, Outcome, &Self::Evidence),
    ) -> Result<Option<Configuration>, Self::Error> {
        for candidate in candidates {
            let (outcome, evidence) = self.0.borrow_mut().test(&candidate)?;
            tested(&candidate, outcome, &evidence);
            if outcome == Outcome::Fail {
                return Ok(Some(candidate));
            }
        }
        Ok(None)
    }
}
