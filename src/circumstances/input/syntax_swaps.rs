//! Find what can be left out or replaced in the syntax tree of a text.
//!
//! A node goes, with the sign that separates it from the next one; or a node below it that is compatible takes its place;
//! or the smallest text of the same kind. Which of that the language allows is for a test to say.
//!
//! Source: G. Misherghi and Z. Su, "HDD", ICSE 2006; C. Sun et al., "Perses", ICSE 2018; S. Herfert et al.,
//! "Automatically Reducing Tree-Structured Test Inputs", ASE 2017.

use std::collections::HashMap;

use super::simpler::{Simpler, is_simpler};
use super::swaps::{Swap, SwapPiece};
use crate::syntax::{SyntaxNode, SyntaxTree};

/// The kinds of simplifications, in their order.
const NODES: u8 = 0;
const COMPATIBLE: u8 = 1;
const SMALLEST: u8 = 2;

/// The number of kinds of simplifications.
pub(super) const KINDS: u8 = 3;

/// So many nodes below a node are tried in its place, the nearest ones.
const MOST_BELOW: usize = 3;

/// The title of a kind of simplification.
pub(super) fn title(kind: u8) -> &'static str {
    match kind {
        NODES => "nodes of the syntax tree",
        COMPATIBLE => "nodes in the place of those around them",
        _ => "the smallest of their kind",
    }
}

/// All simplifications of a kind; each by itself makes the text simpler.
pub(super) fn simpler_nodes(tree: &SyntaxTree, text: &[u8], kind: u8) -> Vec<Simpler> {
    match kind {
        NODES => left_out(tree),
        COMPATIBLE => hoisted(tree),
        _ => smallest(tree, text),
    }
}

/// Nodes that stand beside others, the outermost first, each with the sign that separates it from the next one.
fn left_out(tree: &SyntaxTree) -> Vec<Simpler> {
    let mut found = Vec::new();
    for node in tree.nodes.iter().filter(|node| node.children.len() > 1) {
        for (place, &child) in node.children.iter().enumerate() {
            let child = &tree.nodes[child];
            if !child.is_named || child.range.is_empty() {
                continue;
            }
            let next = node.children.get(place + 1).map(|&next| &tree.nodes[next]);
            let end = next.filter(|next| separates(next)).map_or(child.range.end, |next| next.range.end);
            let range = child.range.start..end;
            let swap = Swap { ranges: vec![range], pieces: Vec::new() };
            found.push(Simpler { class: (NODES, child.depth, 0), swap });
        }
    }
    found
}

fn separates(node: &SyntaxNode) -> bool {
    !node.is_named && matches!(node.kind, "," | ";")
}

/// Nodes with the nearest compatible ones below them in their place.
fn hoisted(tree: &SyntaxTree) -> Vec<Simpler> {
    let mut below: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, node) in tree.nodes.iter().enumerate().filter(|(_, node)| node.is_named) {
        let is_around = |above: &usize| {
            let above = &tree.nodes[*above];
            above.range != node.range && is_compatible(above.kind, node.kind)
        };
        // What a block holds can do without the statement around it.
        if is_block(node.kind)
            && let Some(above) = node.parent.filter(|&above| tree.nodes[above].range != node.range)
        {
            below.entry(above).or_default().push(number);
        }
        if let Some(above) = tree.above(number).find(is_around) {
            below.entry(above).or_default().push(number);
        }
    }
    let mut found = Vec::new();
    for (above, below) in below {
        for (&node, rank) in below.iter().take(MOST_BELOW).zip(0..) {
            let pieces = vec![SwapPiece::Part(tree.nodes[node].range.clone())];
            let swap = Swap { ranges: vec![tree.nodes[above].range.clone()], pieces };
            found.push(Simpler { class: (COMPATIBLE, rank, tree.nodes[above].depth), swap });
        }
    }
    found.sort_by_key(|simpler| (simpler.class, simpler.swap.ranges[0].start));
    found
}

/// Whether a node of one kind may stand where one of another kind does: of the same kind, or of one family, as
/// `call_expression` and `binary_expression`.
fn is_compatible(one: &str, other: &str) -> bool {
    one == other || family(one).is_some() && family(one) == family(other)
}

/// Whether nodes of this kind hold statements, as the body of a loop does.
fn is_block(kind: &str) -> bool {
    ["block", "body", "compound_statement"].iter().any(|name| kind.ends_with(name))
}

fn family(kind: &str) -> Option<&str> {
    const FAMILIES: [&str; 5] = ["expression", "statement", "declaration", "definition", "element"];
    let last = kind.rsplit('_').next()?;
    match kind {
        // What stands for a value in most grammars.
        "identifier" | "number" | "string" | "number_literal" | "string_literal" | "call" => {
            Some("expression")
        }
        _ => FAMILIES.contains(&last).then_some(last),
    }
}

/// Nodes by the smallest text of their kind, and bodies by nothing between brackets.
fn smallest(tree: &SyntaxTree, text: &[u8]) -> Vec<Simpler> {
    let mut known: HashMap<&str, &[u8]> = HashMap::new();
    let named = || tree.nodes.iter().filter(|node| node.is_named && !node.range.is_empty());
    for node in named() {
        let own = &text[node.range.clone()];
        let smallest = known.entry(node.kind).or_insert(own);
        if is_simpler(own, smallest) {
            *smallest = own;
        }
    }
    let mut found = Vec::new();
    for node in named().filter(|node| node.parent.is_some()) {
        let own = &text[node.range.clone()];
        let emptied: &[u8] = match (own.first(), own.last()) {
            (Some(b'{'), Some(b'}')) => b"{}",
            (Some(b'('), Some(b')')) => b"()",
            (Some(b'['), Some(b']')) => b"[]",
            _ if family(node.kind) == Some("expression") => b"0",
            _ => own,
        };
        for (other, rank) in [(emptied, 0), (known[node.kind], 1)] {
            if is_simpler(other, own) && !(rank == 1 && other == emptied) {
                let pieces = vec![SwapPiece::Text(other.to_vec())];
                let swap = Swap { ranges: vec![node.range.clone()], pieces };
                found.push(Simpler { class: (SMALLEST, node.depth, rank), swap });
            }
        }
    }
    found
}
