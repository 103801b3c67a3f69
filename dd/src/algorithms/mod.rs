//! Choose which configurations to test.
//!
//! Each algorithm is a function of an [`Experiment`] and the configuration to start from.

mod dd;
mod dd_plus;
mod ddmin;
mod isolate;
mod sweep;

pub use dd::dd;
pub use dd_plus::dd_plus;
pub use ddmin::ddmin;
pub use isolate::isolate;
pub use sweep::sweep;

use super::configuration::Configuration;
use super::experiment::Experiment;
use super::reduction::Reduction;

/// A way to reduce a configuration, so that a caller can choose one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Groups and chunks are left out, from the end to the beginning: see [`sweep()`].
    #[default]
    Sweep,
    /// The algorithm of the papers: see [`ddmin()`].
    Ddmin,
}

impl Algorithm {
    /// Reduces `start`, which is known to fail, to a minimal configuration.
    ///
    /// A caller who can guess which circumstances matter tests the guess here, before the call,
    /// with [`Experiment::test`], and starts from it if it fails, otherwise from what was recorded.
    pub fn reduce<V: Clone, E>(
        self,
        experiment: &mut Experiment<'_, V, E>,
        start: Configuration,
    ) -> Reduction<V, E> {
        match self {
            Algorithm::Sweep => sweep(experiment, start),
            Algorithm::Ddmin => ddmin(experiment, start),
        }
    }
}

/// What is selected in both.
fn intersection(one: &Configuration, other: &Configuration) -> Configuration {
    one.without(&one.iter().filter(|&member| !other.contains(member)).collect::<Vec<_>>())
}

/// What is selected in one of them or in both.
fn union(one: &Configuration, other: &Configuration) -> Configuration {
    let mut both = one.clone();
    both.insert_all(other);
    both
}

/// What is selected in the first and not in the second.
fn difference(one: &Configuration, other: &Configuration) -> Configuration {
    one.without(&other.iter().collect::<Vec<_>>())
}
