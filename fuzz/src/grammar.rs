//! Read a grammar, and derive a text from it.

use std::hint::black_box;

use stripe::grammar::{Grammar, GrammarError};

use crate::expectation::SEPARATOR;

/// No longer text is parsed: some grammars are ambiguous everywhere.
const LONGEST_TEXT: usize = 64;

/// Takes `input` for a grammar and a text, with [`SEPARATOR`] between them.
///
/// # Panics
/// If reading or parsing does, if a message has more than one line, or if a derivation is not what it should be.
pub fn run(input: &[u8]) {
    let at = input.windows(SEPARATOR.len()).position(|bytes| bytes == SEPARATOR);
    let (grammar, text) = match at {
        Some(at) => (&input[..at], &input[at + SEPARATOR.len()..]),
        None => (input, &b""[..]),
    };
    let grammar = match Grammar::read(grammar) {
        Ok(grammar) => grammar,
        Err(error) => return told(&error),
    };
    match grammar.derive(&text[..text.len().min(LONGEST_TEXT)]) {
        Ok(derivation) => {
            for node in &derivation.nodes {
                let is_inner = |&child: &usize| {
                    let inner = &derivation.nodes[child].range;
                    node.range.start <= inner.start && inner.end <= node.range.end
                };
                assert!(node.children.iter().all(is_inner), "{node:?}");
            }
        }
        Err(error) => told(&error),
    }
    if grammar.least_text().len() <= LONGEST_TEXT {
        black_box(grammar.derive(grammar.least_text())).expect("what a grammar derives");
    }
}

fn told(error: &GrammarError) {
    assert!(!error.to_string().contains('\n'), "{error}");
}
