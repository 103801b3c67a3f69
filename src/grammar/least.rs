//! Find the shortest text that each symbol of a grammar derives.

use super::{GrammarTerm, Production};

/// The shortest text of each symbol, and of those of equal length the first one; `None` for a symbol that derives no
/// finite text.
///
/// Source: D. Knuth, "A Generalization of Dijkstra's Algorithm", 1977, as an iteration to the fixed point: no
/// derivation of a shortest text holds a symbol twice on one path, so that there is an end.
pub(super) fn least_texts(symbols: usize, productions: &[Production]) -> Vec<Option<Vec<u8>>> {
    let mut least: Vec<Option<Vec<u8>>> = vec![None; symbols];
    loop {
        let mut is_changed = false;
        for Production { symbol, terms } in productions {
            let Some(text) = joined(terms, &least) else { continue };
            let known = &mut least[*symbol as usize];
            let is_less = known.as_ref().is_none_or(|known| (text.len(), &text) < (known.len(), known));
            if is_less {
                *known = Some(text);
                is_changed = true;
            }
        }
        if !is_changed {
            return least;
        }
    }
}

fn joined(terms: &[GrammarTerm], least: &[Option<Vec<u8>>]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    for term in terms {
        match term {
            GrammarTerm::Literal(literal) => text.extend_from_slice(literal),
            GrammarTerm::Class(class) => {
                text.extend_from_slice(class.least()?.encode_utf8(&mut [0; 4]).as_bytes());
            }
            GrammarTerm::Symbol(symbol) => text.extend_from_slice(least[*symbol as usize].as_ref()?),
        }
        // Nobody wants a text of this length, and doubling rules would write ever longer ones.
        if text.len() > LONGEST_TEXT {
            return None;
        }
    }
    Some(text)
}

const LONGEST_TEXT: usize = 1 << 20;

/// The symbols that derive the empty text (the nullable ones).
pub(super) fn deriving_nothing(symbols: usize, productions: &[Production]) -> Vec<bool> {
    let mut nothing = vec![false; symbols];
    loop {
        let before = nothing.clone();
        for Production { symbol, terms } in productions {
            let is_empty = |term: &GrammarTerm| match term {
                GrammarTerm::Literal(text) => text.is_empty(),
                GrammarTerm::Class(_) => false,
                GrammarTerm::Symbol(symbol) => before[*symbol as usize],
            };
            nothing[*symbol as usize] |= terms.iter().all(is_empty);
        }
        if nothing == before {
            return nothing;
        }
    }
}
