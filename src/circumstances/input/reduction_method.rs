//! Say how what a program is given is made smaller.

use std::sync::Arc;

use super::derivations::DerivationStrategy;
use super::part::{InputPart, PartName};
use super::unit_levels::Granularity;
use crate::grammar::Grammar;

/// How what a program is given is made smaller.
#[derive(Clone, Debug, Default)]
pub struct ReductionMethod {
    /// How fine the parts are reduced.
    pub granularity: Granularity,
    /// What derives the standard input and each file; of these smaller derivations are tried then.
    pub grammar: Option<Arc<Grammar>>,
    /// Which of them.
    pub derivations: DerivationStrategy,
    /// Whether nothing is put in the place of what goes, but for what was in it.
    pub only_deletes: bool,
}

impl ReductionMethod {
    /// The grammar that derives a part, if any does.
    pub fn grammar_of(&self, part: &InputPart) -> Option<&Arc<Grammar>> {
        let is_content = matches!(part.name, PartName::Stdin | PartName::File(_));
        self.grammar.as_ref().filter(|_| is_content)
    }

    /// Which derivations are tried.
    pub(super) fn strategy(&self) -> DerivationStrategy {
        if self.only_deletes { DerivationStrategy::Subtrees } else { self.derivations }
    }
}
