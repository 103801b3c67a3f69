//! Name the algorithms, so that a caller can choose one.

use super::configuration::Configuration;
use super::ddmin::ddmin;
use super::experiment::Experiment;
use super::reduction::ReductionOf;
use super::sweep::sweep;
use super::test_function::TestFunction;

/// A way to reduce a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Complements only, from the end to the beginning: see [`sweep()`].
    #[default]
    Sweep,
    /// The algorithm of the papers: see [`ddmin()`].
    Ddmin,
}

impl Algorithm {
    /// Reduces `start`, which is known to fail, to a 1-minimal configuration.
    ///
    /// A caller who can guess which circumstances matter tests the guess here, before the call,
    /// with [`Experiment::test`], and starts from it if it fails, otherwise from what was recorded.
    pub fn reduce<T: TestFunction>(
        self,
        experiment: &mut Experiment<'_, T>,
        start: Configuration,
    ) -> ReductionOf<T> {
        match self {
            Algorithm::Sweep => sweep(experiment, start),
            Algorithm::Ddmin => ddmin(experiment, start),
        }
    }
}
