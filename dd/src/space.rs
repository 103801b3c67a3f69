//! The space of a search: how many circumstances there are, and which go together.

use super::configuration::Configuration;
use super::groups::Grouping;
use super::outcome::Outcome;

/// The circumstances `0..n` and their relations.
///
/// Some circumstances cannot be without others: a statement execution not without the call it happens in, a
/// change of a file not without the change that creates the file. So a configuration has an *effective set*,
/// what a test of it really applies. Outcomes are remembered by it, and minimality is meant with respect to it.
pub trait Space {
    /// The number of circumstances.
    fn len(&self) -> usize;

    /// Whether there are no circumstances.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The direction in which an effective set differs from the configuration that was chosen.
    fn direction(&self) -> Direction {
        Direction::Shrinks
    }

    /// The effective set of `configuration`.
    ///
    /// It lies in the space's [`direction`](Space::direction); an effective set is its own effective set; and
    /// of two configurations the larger one has the larger effective set.
    fn normalise(&self, configuration: &Configuration) -> Configuration {
        configuration.clone()
    }

    /// The effective set of `effective`, which is one, without the circumstances in `left_out`, which come in
    /// ascending order.
    ///
    /// Most candidates come this way, a little is left out of much: a space that can tell what goes with the
    /// little without looking at the rest does so here. The result must be the same.
    fn normalise_without(&self, effective: &Configuration, left_out: &[usize]) -> Configuration {
        self.normalise(&effective.without(left_out))
    }

    /// The outcome of an effective set where that is plain without a test: most often
    /// [`Unresolved`](Outcome::Unresolved), because it is inconsistent.
    fn predict(&self, _effective: &Configuration) -> Option<Outcome> {
        None
    }

    /// The groupings of the circumstances, the coarsest first. None: each circumstance is for itself.
    fn levels(&self) -> &[Grouping] {
        &[]
    }
}

/// The direction in which an effective set differs from the configuration that was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// It is a subset: what lacks something that it needs is left out.
    #[default]
    Shrinks,
    /// It is a superset: what is needed is added.
    Grows,
}

/// Circumstances that can be chosen in any combination.
#[derive(Clone, Debug)]
pub struct Independent {
    universe: usize,
    levels: Vec<Grouping>,
}

impl Independent {
    /// A space of so many of them.
    pub fn new(universe: usize) -> Independent {
        Independent { universe, levels: Vec::new() }
    }

    /// The same space with groupings, the coarsest first.
    pub fn with_levels(self, levels: Vec<Grouping>) -> Independent {
        Independent { levels, ..self }
    }
}

impl Space for Independent {
    fn len(&self) -> usize {
        self.universe
    }

    fn levels(&self) -> &[Grouping] {
        &self.levels
    }
}
