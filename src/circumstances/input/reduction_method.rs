//! Define the method by which an input is reduced.

use std::sync::Arc;

use super::derivations::DerivationStrategy;
use super::part::{InputPart, PartName};
use super::unit_levels::Granularity;
use crate::grammar::Grammar;

/// The method by which an input is reduced.
#[derive(Clone, Debug, Default)]
pub struct ReductionMethod {
    /// The granularity of units.
    pub granularity: Granularity,
    /// The grammar of the standard input and of each file; smaller derivations of these are tried then.
    pub grammar: Option<Arc<Grammar>>,
    /// The strategy that chooses derivations.
    pub derivations: DerivationStrategy,
    /// True if nothing is put in the place of what goes, but for what was in it.
    pub only_deletes: bool,
}

impl ReductionMethod {
    /// The grammar that derives a part, if any does.
    pub fn grammar_of(&self, part: &InputPart) -> Option<&Arc<Grammar>> {
        let is_content = matches!(part.name, PartName::Stdin | PartName::File(_));
        self.grammar.as_ref().filter(|_| is_content)
    }

    /// The strategy that chooses derivations.
    pub(super) fn strategy(&self) -> DerivationStrategy {
        if self.only_deletes { DerivationStrategy::Subtrees } else { self.derivations }
    }
}
