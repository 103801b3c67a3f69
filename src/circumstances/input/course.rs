//! Choose the phases within a part: units from coarse to fine, and simpler things in their place.

use std::sync::Arc;

use dd::{Algorithm, Configuration};
use tracer::invocation::Input;

use super::derivations::{self, DerivationStrategy, simpler_derivations};
use super::part::InputPart;
use super::reduction_method::ReductionMethod;
use super::rewriting::{self, simpler_things};
use super::simpler::{Simpler, SimplerClass};
use super::step::Step;
use super::swaps::Swaps;
use super::syntax_swaps::{self, simpler_nodes};
use super::unit_levels::{Granularity, UnitLevels};
use super::units::Unit;
use crate::grammar::{Derivation, Grammar};
use crate::syntax::{Language, SyntaxTree};

/// The length, in bytes, of a text in which it takes no time to check what has been tried; in a longer one
/// that is not checked where little can have been tried.
const SHORT: usize = 1 << 14;

/// A longer text is not parsed: each of many steps would take seconds.
const LONGEST_PARSED: usize = 4 << 20;

/// The way in which a part is reduced.
#[derive(Clone, Debug)]
pub(super) enum Way {
    /// Units are left out, and then, if so, simpler things are put in the place of others.
    Units(Granularity, bool),
    /// Nodes of the syntax tree go, or smaller ones take their place; such that were not in it only if so.
    Tree(Language, bool),
    /// Smaller derivations take the place of others.
    Derivations(Arc<Grammar>, DerivationStrategy),
}

impl Way {
    /// The ways that follow each other: where the language is known, its syntax tree comes before characters.
    pub(super) fn all_of(part: &InputPart, method: &ReductionMethod) -> Vec<Way> {
        if let Some(grammar) = method.grammar_of(part) {
            return vec![Way::Derivations(Arc::clone(grammar), method.strategy())];
        }
        let granularity = method.granularity.of(part.content.as_deref().unwrap_or_default());
        // Whoever names units wants whole ones of them.
        let units = Way::Units(granularity, granularity == Granularity::Auto && !method.only_deletes);
        let language =
            part.language.filter(|language| language.is_built_in() && part.len() <= LONGEST_PARSED);
        match (granularity, language) {
            (Granularity::Elements, Some(language)) => vec![Way::Tree(language, !method.only_deletes)],
            (Granularity::Auto, Some(language)) => vec![Way::Tree(language, !method.only_deletes), units],
            _ => vec![units],
        }
    }

    /// The finest unit; by a grammar characters, of which not each has to matter.
    pub(super) fn finest_unit(&self) -> Unit {
        match self {
            Way::Units(granularity, _) => granularity.finest(),
            Way::Tree(language, _) => Unit::Nodes(*language),
            Way::Derivations(..) => Unit::Characters,
        }
    }

    /// True if the units of further rounds are finer than those of the first one.
    fn has_finer_units(&self) -> bool {
        matches!(self, Way::Units(Granularity::Auto, _))
    }

    /// The algorithm for simplifications of a kind. Most nodes and derivations are not needed; but most of what is left
    /// when simpler things are tried in its place is.
    fn algorithm(&self, kind: u8) -> Algorithm {
        match self {
            Way::Derivations(..) => Algorithm::Halve,
            Way::Tree(..) if kind == 0 => Algorithm::Halve,
            Way::Tree(..) | Way::Units(..) => Algorithm::Prune,
        }
    }

    fn kinds(&self) -> u8 {
        match self {
            Way::Units(_, false) => 0,
            Way::Units(_, true) => rewriting::KINDS,
            Way::Tree(_, false) => syntax_swaps::KINDS - 1,
            Way::Tree(_, true) => syntax_swaps::KINDS,
            Way::Derivations(..) => derivations::KINDS,
        }
    }

    fn title(&self, kind: u8) -> &'static str {
        match self {
            Way::Units(..) => rewriting::title(kind),
            Way::Tree(..) => syntax_swaps::title(kind),
            Way::Derivations(..) => derivations::title(kind),
        }
    }
}

/// The course through a part: first its units, where it has any; then rounds of simplifications, until one changes
/// nothing.
pub(super) struct Course {
    levels: Option<UnitLevels>,
    /// The class that was tried last, in this round.
    last: Option<SimplerClass>,
    /// True if the round has changed anything.
    is_changed: bool,
    /// True if nothing was tried before this round; otherwise some of it need not be tried again.
    is_first_round: bool,
}

impl Course {
    /// Creates the course through a part that was not reduced yet, or else again with its finest units.
    pub(super) fn new(way: &Way, is_first_time: bool) -> Course {
        let levels = match way {
            Way::Units(granularity, _) => Some(UnitLevels::new(*granularity, is_first_time)),
            Way::Tree(..) if is_first_time => Some(UnitLevels::new(Granularity::Lines, true)),
            Way::Tree(..) | Way::Derivations(..) => None,
        };
        Course { levels, last: None, is_changed: false, is_first_round: is_first_time }
    }

    /// Creates the course through a part that was not reduced yet, of which the program has read only so much.
    pub(super) fn first(way: &Way, part: &InputPart) -> Course {
        let mut course = Course::new(way, true);
        let text = part.content.as_deref().unwrap_or_default();
        course.levels = course.levels.map(|levels| levels.of_read(text, part.read));
        course
    }

    /// The next step in a part with this text; `is_less`: the one before has made it smaller. `is_refuted`
    /// tells whether a text in the part's place is known not to show the failure.
    pub(super) fn next(
        &mut self,
        way: &Way,
        part: usize,
        text: &Input,
        mut is_less: bool,
        is_refuted: &dyn Fn(Vec<u8>) -> bool,
    ) -> Option<Step> {
        loop {
            if let Some(levels) = &mut self.levels {
                if let Some((unit, units)) = levels.next(text, is_less) {
                    let algorithm = levels.algorithm(unit);
                    return Some(Step::Units { part, units, unit, algorithm, text: text.clone() });
                }
                self.levels = None;
                is_less = false;
            }
            self.is_changed |= is_less && self.last.is_some();
            if let Some((swaps, title)) = self.next_swaps(way, text, is_refuted) {
                let algorithm = way.algorithm(self.last.map_or(0, |(kind, ..)| kind));
                return Some(Step::Swaps { part, swaps, title, algorithm, text: text.clone() });
            }
            // The units of the first round are not the finest ones.
            let has_finer = self.is_first_round && way.has_finer_units();
            if !std::mem::replace(&mut self.is_changed, false) && !has_finer {
                return None;
            }
            let is_first_round = false;
            *self = Course { is_first_round, ..Course::new(way, false) };
            is_less = false;
        }
    }

    /// The swaps that are tried together next, with their title.
    fn next_swaps(
        &mut self,
        way: &Way,
        text: &[u8],
        is_refuted: &dyn Fn(Vec<u8>) -> bool,
    ) -> Option<(Swaps, &'static str)> {
        let first = self.last.map_or(0, |(kind, ..)| kind);
        let mut all = WaysToSimplify::new(way, text);
        for kind in first..way.kinds() {
            let mut simpler = all.of_kind(kind);
            simpler.retain(|simpler| self.last.is_none_or(|last| last <= simpler.class));
            simpler.sort_by_key(|simpler| simpler.class);
            let is_new = |simpler: &&Simpler| {
                let may_be_refuted =
                    !self.is_first_round || self.last == Some(simpler.class) || text.len() < SHORT;
                !may_be_refuted || !is_refuted(alone(simpler, text))
            };
            let mut classes = simpler.chunk_by(|one, other| one.class == other.class);
            let due = classes.find_map(|class| {
                let wanted: Vec<_> = class.iter().filter(is_new).collect();
                (!wanted.is_empty()).then_some(wanted)
            });
            if let Some(due) = due {
                self.last = Some(due[0].class);
                let swaps = Swaps::choose(due.into_iter().map(|simpler| simpler.swap.clone()).collect());
                return Some((swaps, way.title(kind)));
            }
        }
        None
    }
}

/// The text with a single simplification.
fn alone(simpler: &Simpler, text: &[u8]) -> Vec<u8> {
    Swaps::choose(vec![simpler.swap.clone()]).join(text, &Configuration::empty(1))
}

/// The ways in which a text can be simplified.
struct WaysToSimplify<'w> {
    way: &'w Way,
    text: &'w [u8],
    derivation: Option<Derivation>,
    tree: Option<SyntaxTree>,
}

impl<'w> WaysToSimplify<'w> {
    fn new(way: &'w Way, text: &'w [u8]) -> WaysToSimplify<'w> {
        let derivation = match way {
            Way::Units(..) | Way::Tree(..) => None,
            Way::Derivations(grammar, _) => Some(
                grammar.derive(text).expect("what takes the place of what is derived is derived as well"),
            ),
        };
        let tree = match way {
            Way::Tree(language, _) => SyntaxTree::of(text, *language),
            Way::Units(..) | Way::Derivations(..) => None,
        };
        WaysToSimplify { way, text, derivation, tree }
    }

    fn of_kind(&mut self, kind: u8) -> Vec<Simpler> {
        match (self.way, &self.derivation) {
            (Way::Derivations(grammar, strategy), Some(derivation)) => {
                simpler_derivations(grammar, derivation, self.text, *strategy, kind)
            }
            (Way::Tree(..), _) => {
                self.tree.as_ref().map_or_else(Vec::new, |tree| simpler_nodes(tree, self.text, kind))
            }
            _ => simpler_things(self.text, kind),
        }
    }
}
