//! Read grammars, and derive texts from them.
//!
//! A grammar is written in BNF or in one of the common forms of EBNF ([`Grammar::read`]). Any context-free
//! grammar will do: ambiguous, left-recursive, with empty alternatives. Its terminals are characters, so that
//! it has to say where spaces may stand. A text is parsed after J. Earley, "An Efficient Context-Free Parsing
//! Algorithm", CACM 1970, with the treatment of nullable symbols by J. Aycock and R. N. Horspool, "Practical
//! Earley Parsing", 2002.

mod chart;
mod derivation;
mod least;
mod notation;

use std::fmt;
use std::ops::RangeInclusive;

pub use derivation::{Derivation, DerivationNode};

/// The number of a symbol of a [`Grammar`].
pub type SymbolId = u32;

/// A context-free grammar whose repetitions are kept as such.
#[derive(Clone, Debug)]
pub struct Grammar {
    symbols: Vec<GrammarSymbol>,
    productions: Vec<Production>,
    /// The start symbol, from which texts are derived.
    start: SymbolId,
    /// The shortest text that each symbol derives, and of those of equal length the first one.
    least: Vec<Vec<u8>>,
    derives_nothing: Vec<bool>,
}

/// A symbol of a grammar.
#[derive(Clone, Debug)]
struct GrammarSymbol {
    /// The name as the grammar writes it; what has no name is called after the symbol around it.
    name: String,
    role: Role,
    /// Its productions (alternatives), in the order of the grammar.
    productions: Vec<u32>,
}

/// The role of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A symbol that the grammar names.
    Named,
    /// A choice in brackets.
    Choice,
    /// The element of a repetition.
    Element,
    /// `x*`: its derivation has any number of elements.
    AnyNumber,
    /// `x+`: at least one element.
    AtLeastOne,
    /// `x?`: one element, or none.
    AtMostOne,
}

impl Role {
    /// True if its derivation is a list of elements.
    pub fn is_repetition(self) -> bool {
        matches!(self, Role::AnyNumber | Role::AtLeastOne | Role::AtMostOne)
    }
}

/// A production: one alternative of a symbol.
#[derive(Clone, Debug)]
struct Production {
    symbol: SymbolId,
    terms: Vec<GrammarTerm>,
}

/// A term of a production: a terminal or a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
enum GrammarTerm {
    Literal(Vec<u8>),
    Class(CharacterClass),
    Symbol(SymbolId),
}

/// A character class: one character of some, or of all but some.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CharacterClass {
    ranges: Vec<RangeInclusive<char>>,
    is_negated: bool,
}

impl CharacterClass {
    fn contains(&self, character: char) -> bool {
        self.ranges.iter().any(|range| range.contains(&character)) != self.is_negated
    }

    /// The simplest character of the class: a digit, a letter, another printable character, or else the first one.
    fn least(&self) -> Option<char> {
        let mut simple = ('0'..='9').chain('a'..='z').chain('A'..='Z').chain(' '..='~');
        let first = || match self.is_negated {
            true => ('\0'..=char::MAX).find(|&character| self.contains(character)),
            false => self.ranges.iter().map(|range| *range.start()).min(),
        };
        simple.find(|&character| self.contains(character)).or_else(first)
    }
}

/// An error in a grammar, or in a text that it does not derive; with the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrammarError {
    /// The line, from 1.
    pub line: usize,
    /// The column, in characters, from 1.
    pub column: usize,
    /// The reason: what is wrong there, and what would be right.
    pub reason: String,
}

impl GrammarError {
    /// Creates the error for this place of a text.
    fn at(text: &[u8], place: usize, reason: impl Into<String>) -> GrammarError {
        let before = &text[..place.min(text.len())];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        GrammarError {
            line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(),
            column: 1 + String::from_utf8_lossy(&before[line_start..]).chars().count(),
            reason: reason.into(),
        }
    }
}

impl fmt::Display for GrammarError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GrammarError { line, column, reason } = self;
        write!(formatter, "line {line}, column {column}: {reason}")
    }
}

impl std::error::Error for GrammarError {}

impl Grammar {
    /// The shortest text that the grammar derives, and of those of equal length the first one.
    pub fn least_text(&self) -> &[u8] {
        self.least(self.start)
    }

    /// The shortest text that one of its symbols derives.
    pub fn least(&self, symbol: SymbolId) -> &[u8] {
        &self.least[symbol as usize]
    }

    /// The role of a symbol.
    pub fn role(&self, symbol: SymbolId) -> Role {
        self.symbols[symbol as usize].role
    }

    /// The name of a symbol as the grammar writes it.
    pub fn name(&self, symbol: SymbolId) -> &str {
        &self.symbols[symbol as usize].name
    }

    /// The alternatives of a symbol, each as its ingredients.
    pub fn alternatives(&self, symbol: SymbolId) -> impl Iterator<Item = Vec<Ingredient>> + '_ {
        self.symbols[symbol as usize].productions.iter().map(|&production| {
            let terms = self.productions[production as usize].terms.iter();
            terms.map(Ingredient::of).collect()
        })
    }
}

/// A part of an alternative, for writing texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ingredient {
    /// A terminal as text; of a character class the simplest character.
    Text(Vec<u8>),
    /// A text that this symbol derives.
    Derived(SymbolId),
}

impl Ingredient {
    fn of(term: &GrammarTerm) -> Ingredient {
        match term {
            GrammarTerm::Literal(text) => Ingredient::Text(text.clone()),
            GrammarTerm::Class(class) => {
                let character = class.least().map_or_else(String::new, String::from);
                Ingredient::Text(character.into_bytes())
            }
            GrammarTerm::Symbol(symbol) => Ingredient::Derived(*symbol),
        }
    }
}

#[cfg(test)]
mod tests;
