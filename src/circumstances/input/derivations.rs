//! Find smaller derivations for the symbols of a text that a grammar derives.
//!
//! A symbol is replaced by what the same symbol derives below it; or by another alternative of it, filled with
//! what is found below, or else with the shortest text of each symbol; an element of a repetition can go.
//! So everything that is tried is derived by the grammar. Several symbols are replaced in one test, many at first.
//!
//! Source: the chapter "Reducing Failure-Inducing Inputs" of A. Zeller et al., The Fuzzing Book; C. Sun et al.,
//! "Perses: Syntax-Guided Program Reduction", ICSE 2018.

use std::collections::BTreeMap;
use std::ops::Range;

use super::simpler::{Simpler, is_simpler};
use super::swaps::{Swap, SwapPiece};
use crate::grammar::{Derivation, Grammar, Ingredient, Role, SymbolId};

/// The strategy: what a symbol is replaced by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DerivationStrategy {
    /// The texts that the same symbol derives below it.
    Subtrees,
    /// Other alternatives of the symbol.
    Alternatives,
    /// First subtrees, then alternatives.
    #[default]
    Both,
}

/// The kinds of simplifications, in their order: elements of repetitions; the first one where one has to stay; the
/// first or last one of a list, where another one takes its place; the nearest like symbols; other alternatives;
/// all like symbols.
const ELEMENTS: u8 = 0;
const FIRST_ELEMENT: u8 = 1;
const ENDS: u8 = 2;
const NEAREST: u8 = 3;
const ALTERNATIVES: u8 = 4;
const ALL_LIKE: u8 = 5;

/// The number of kinds.
pub(super) const KINDS: u8 = 6;

/// The largest number of like symbols further down that are tried.
const MOST_LIKE: usize = 1000;

/// The number of symbols of a kind below a symbol that fill an alternative in turn, and of the levels below that they
/// may be at.
const MOST_FILLINGS: usize = 3;
const MOST_LEVELS: usize = 64;

/// The largest number of ways to fill an alternative that are tried.
const MOST_COMBINATIONS: usize = 16;

/// The title of a kind of simplification.
pub(super) fn title(kind: u8) -> &'static str {
    match kind {
        ELEMENTS | FIRST_ELEMENT | ENDS => "elements of repetitions",
        NEAREST | ALL_LIKE => "symbols below their like",
        _ => "smaller alternatives",
    }
}

/// All simplifications of a kind; each by itself makes the text simpler.
pub(super) fn simpler_derivations(
    grammar: &Grammar,
    derivation: &Derivation,
    text: &[u8],
    strategy: DerivationStrategy,
    kind: u8,
) -> Vec<Simpler> {
    let tree = DerivationTree::new(grammar, derivation, text);
    let has_subtrees = strategy != DerivationStrategy::Alternatives;
    let mut found = match kind {
        ELEMENTS | FIRST_ELEMENT => tree.elements(kind),
        ENDS => tree.ends(),
        NEAREST if has_subtrees => tree.nearest(),
        ALL_LIKE if has_subtrees => tree.all_like(),
        ALTERNATIVES if strategy != DerivationStrategy::Subtrees => tree.alternatives(),
        _ => Vec::new(),
    };
    found.retain(|simpler| tree.is_simpler(&simpler.swap));
    found
}

/// A derivation with the parent of each symbol.
struct DerivationTree<'d> {
    grammar: &'d Grammar,
    derivation: &'d Derivation,
    text: &'d [u8],
    parents: Vec<Option<usize>>,
}

impl<'d> DerivationTree<'d> {
    fn new(grammar: &'d Grammar, derivation: &'d Derivation, text: &'d [u8]) -> DerivationTree<'d> {
        let mut parents = vec![None; derivation.nodes.len()];
        for (number, node) in derivation.nodes.iter().enumerate() {
            node.children.iter().for_each(|&child| parents[child] = Some(number));
        }
        DerivationTree { grammar, derivation, text, parents }
    }

    fn len(&self) -> usize {
        self.derivation.nodes.len()
    }

    fn range(&self, node: usize) -> Range<usize> {
        self.derivation.nodes[node].range.clone()
    }

    fn symbol(&self, node: usize) -> SymbolId {
        self.derivation.nodes[node].symbol
    }

    fn role(&self, node: usize) -> Role {
        self.grammar.role(self.symbol(node))
    }

    fn children(&self, node: usize) -> &[usize] {
        &self.derivation.nodes[node].children
    }

    /// The symbols above a symbol, the nearest first.
    fn above(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.parents[node], |&node| self.parents[node])
    }

    fn is_simpler(&self, swap: &Swap) -> bool {
        let range = &swap.ranges[0];
        let pieces = || {
            swap.pieces.iter().map(|piece| match piece {
                SwapPiece::Text(text) => &text[..],
                SwapPiece::Part(part) => &self.text[part.clone()],
            })
        };
        match pieces().map(<[u8]>::len).sum::<usize>().cmp(&range.len()) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => {
                is_simpler(&pieces().collect::<Vec<_>>().concat(), &self.text[range.clone()])
            }
        }
    }

    /// Leaves out elements of repetitions, the outermost first. Of `x+` one stays, and that it is the first
    /// one is for another phase to change.
    fn elements(&self, kind: u8) -> Vec<Simpler> {
        let mut depths = vec![0; self.len()];
        let mut found = Vec::new();
        for node in 0..self.len() {
            let is_list = self.role(node).is_repetition();
            depths[node] = self.parents[node].map_or(0, |parent| depths[parent]) + u32::from(is_list);
            if !is_list {
                continue;
            }
            let elements = self.children(node);
            let needs_one = self.role(node) == Role::AtLeastOne;
            let these = match (kind, needs_one) {
                (ELEMENTS, false) => elements,
                (ELEMENTS, true) => elements.get(1..).unwrap_or_default(),
                (_, true) if elements.len() > 1 => &elements[..1],
                _ => &[],
            };
            found.extend(these.iter().map(|&element| {
                let swap = Swap { ranges: vec![self.range(element)], pieces: Vec::new() };
                Simpler { class: (kind, depths[node], 0), swap }
            }));
        }
        found
    }

    /// Leaves out the first or last `x` of `x ("," x)*`: the next one takes its place.
    fn ends(&self) -> Vec<Simpler> {
        let mut found = Vec::new();
        for node in 0..self.len() {
            for two in self.children(node).windows(2) {
                let is_list = |node| {
                    let most = usize::from(self.role(node) == Role::AtLeastOne);
                    self.role(node).is_repetition() && self.children(node).len() > most
                };
                let (one, other) = (two[0], two[1]);
                let like = |element: usize, symbol| {
                    self.children(element).iter().copied().find(|&child| self.symbol(child) == symbol)
                };
                let end = |range: Range<usize>, pieces, order| {
                    let swap = Swap { ranges: vec![range], pieces };
                    Simpler { class: (ENDS, order, 0), swap }
                };
                let between = |from: usize, to: usize| SwapPiece::Text(self.text[from..to].to_vec());
                if is_list(other)
                    && let Some(&element) = self.children(other).first()
                    && let Some(like) = like(element, self.symbol(one))
                {
                    let (one, element) = (self.range(one), self.range(element));
                    let pieces = vec![SwapPiece::Part(self.range(like)), between(one.end, element.start)];
                    found.push(end(one.start..element.end, pieces, 0));
                }
                if is_list(one)
                    && let Some(&element) = self.children(one).last()
                    && let Some(like) = like(element, self.symbol(other))
                {
                    let (other, element) = (self.range(other), self.range(element));
                    let pieces = vec![between(element.end, other.start), SwapPiece::Part(self.range(like))];
                    found.push(end(element.start..other.end, pieces, 1));
                }
            }
        }
        found
    }

    /// Replaces each named symbol by the symbols of its name right below it, if others come in between at all.
    fn nearest(&self) -> Vec<Simpler> {
        let mut below: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for node in (0..self.len()).filter(|&node| self.role(node) == Role::Named) {
            let symbol = self.symbol(node);
            if let Some(above) = self.above(node).find(|&above| self.symbol(above) == symbol) {
                below.entry(above).or_default().push(node);
            }
        }
        self.hoisted(NEAREST, below)
    }

    /// Replaces each named symbol by all symbols of its name below it, unless they are too many.
    fn all_like(&self) -> Vec<Simpler> {
        let mut below: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut count = 0;
        for node in (0..self.len()).filter(|&node| self.role(node) == Role::Named) {
            let symbol = self.symbol(node);
            for above in self.above(node).filter(|&above| self.symbol(above) == symbol).skip(1) {
                count += 1;
                if count > MOST_LIKE {
                    return Vec::new();
                }
                below.entry(above).or_default().push(node);
            }
        }
        self.hoisted(ALL_LIKE, below)
    }

    /// Replaces symbols by those below, the shortest first.
    fn hoisted(&self, kind: u8, below: BTreeMap<usize, Vec<usize>>) -> Vec<Simpler> {
        let mut found = Vec::new();
        for (above, mut below) in below {
            below.sort_by_key(|&node| (self.range(node).len(), node));
            found.extend(below.into_iter().zip(0..).map(|(node, rank)| {
                let pieces = vec![SwapPiece::Part(self.range(node))];
                let swap = Swap { ranges: vec![self.range(above)], pieces };
                Simpler { class: (kind, self.symbol(above), rank), swap }
            }));
        }
        found
    }

    /// Replaces each symbol by its other alternatives, the shortest first.
    fn alternatives(&self) -> Vec<Simpler> {
        let fillings = self.fillings();
        let mut found = Vec::new();
        for node in 0..self.len() {
            if self.role(node).is_repetition() {
                continue;
            }
            let own = self.derivation.nodes[node].alternative;
            let mut filled: Vec<Vec<SwapPiece>> = Vec::new();
            for (number, ingredients) in self.grammar.alternatives(self.symbol(node)).enumerate() {
                let below = |symbol| fillings.get(&(node, symbol)).map_or(&[][..], Vec::as_slice);
                match number == own {
                    true => filled.extend(self.filled(&ingredients, |_| &[])),
                    false => filled.extend(self.filled(&ingredients, below)),
                }
            }
            let length = |pieces: &Vec<SwapPiece>| pieces.iter().map(SwapPiece::len).sum::<usize>();
            filled.sort_by_key(length);
            found.extend(filled.into_iter().zip(0..).map(|(pieces, rank)| {
                let swap = Swap { ranges: vec![self.range(node)], pieces };
                Simpler { class: (ALTERNATIVES, 0, rank), swap }
            }));
        }
        found
    }

    /// The fillings for a symbol and a name: the shortest symbols of that name below it, none below another
    /// one of them.
    fn fillings(&self) -> BTreeMap<(usize, SymbolId), Vec<usize>> {
        let mut fillings: BTreeMap<(usize, SymbolId), Vec<usize>> = BTreeMap::new();
        for node in 0..self.len() {
            let symbol = self.symbol(node);
            for above in self.above(node).take(MOST_LEVELS) {
                fillings.entry((above, symbol)).or_default().push(node);
                if self.symbol(above) == symbol {
                    break;
                }
            }
        }
        for below in fillings.values_mut() {
            below.sort_by_key(|&node| (self.range(node).len(), node));
            below.truncate(MOST_FILLINGS);
        }
        fillings
    }

    /// Fills an alternative in all ways: each symbol of it is one of those below, or its shortest text. No
    /// symbol below is taken twice.
    fn filled<'f>(
        &self,
        ingredients: &[Ingredient],
        below: impl Fn(SymbolId) -> &'f [usize],
    ) -> Vec<Vec<SwapPiece>> {
        let mut filled: Vec<Vec<SwapPiece>> = vec![Vec::new()];
        for ingredient in ingredients {
            let choices: Vec<SwapPiece> = match ingredient {
                Ingredient::Text(text) => vec![SwapPiece::Text(text.clone())],
                Ingredient::Derived(symbol) => {
                    let least = SwapPiece::Text(self.grammar.least(*symbol).to_vec());
                    let below = below(*symbol).iter().map(|&node| SwapPiece::Part(self.range(node)));
                    below.chain([least]).collect()
                }
            };
            let mut next = Vec::new();
            for pieces in &filled {
                for choice in
                    choices.iter().filter(|choice| !pieces.iter().any(|piece| piece.overlaps(choice)))
                {
                    next.push([&pieces[..], std::slice::from_ref(choice)].concat());
                }
            }
            next.truncate(MOST_COMBINATIONS);
            filled = next;
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use dd::Configuration;

    use super::super::swaps::Swaps;
    use super::*;

    /// All texts that single simplifications lead to.
    fn all(grammar: &Grammar, text: &str, strategy: DerivationStrategy) -> Vec<String> {
        let derivation = grammar.derive(text.as_bytes()).expect("derived");
        let mut found = Vec::new();
        for kind in 0..KINDS {
            for simpler in simpler_derivations(grammar, &derivation, text.as_bytes(), strategy, kind) {
                let one = Swaps::choose(vec![simpler.swap]).join(text.as_bytes(), &Configuration::empty(1));
                found.push(String::from_utf8(one).expect("a text"));
            }
        }
        found.sort();
        found.dedup();
        found
    }

    #[test]
    fn everything_that_is_tried_is_derived_and_simpler() {
        let grammar = Grammar::read(
            b"e = t (('+' | '-') t)*; t = f | t '*' f; f = '-' f | '(' e ')' | n | 'let' x* 'in' f; n = [0-9]+ ('.' n)?; x = [a-z] '=' n",
        )
        .expect("a grammar");
        for text in ["1", "1+2*3-(4)", "-(-7)", "letx=1.5y=20in(3*4+-12)", "((8))*9+10"] {
            let found = all(&grammar, text, DerivationStrategy::Both);
            assert!(!found.is_empty());
            for other in found {
                assert!(grammar.derive(other.as_bytes()).is_ok(), "{text}: {other}");
                assert!(is_simpler(other.as_bytes(), text.as_bytes()), "{text}: {other}");
            }
        }
    }

    #[test]
    fn each_strategy_finds_its_own() {
        let grammar = Grammar::read(b"e = t '+' e | t; t = f '*' t | f; f = '(' e ')' | n; n = [0-9]")
            .expect("a grammar");
        let found = |strategy| all(&grammar, "1+(2*3)", strategy);
        let subtrees = found(DerivationStrategy::Subtrees);
        assert_eq!(subtrees, ["(2*3)", "1+(3)", "1+2", "1+2*3", "1+3", "2*3"]);
        let alternatives = found(DerivationStrategy::Alternatives);
        for text in ["(2*3)", "0", "1", "1+0", "0+(2*3)", "1+(2)", "1+(0*3)"] {
            assert!(alternatives.iter().any(|found| found == text), "{text}: {alternatives:?}");
        }
    }

    #[test]
    fn lists_lose_any_element() {
        let grammar = Grammar::read(b"l = '[' x (',' x)* ']'; x = [a-z]").expect("a grammar");
        let found = all(&grammar, "[a,b,c]", DerivationStrategy::Subtrees);
        assert_eq!(found, ["[a,b]", "[a,c]", "[b,c]"]);
        let grammar = Grammar::read(b"l = (x ';')+; x = [a-z]").expect("a grammar");
        assert_eq!(all(&grammar, "a;b;", DerivationStrategy::Subtrees), ["a;", "b;"]);
        assert!(all(&grammar, "a;", DerivationStrategy::Subtrees).is_empty());
    }
}
