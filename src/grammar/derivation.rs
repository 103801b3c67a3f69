//! Read a derivation of a text from its chart.

use std::ops::Range;

use super::chart::{Chart, Complete};
use super::{Grammar, GrammarError, GrammarTerm, Role, SymbolId};

/// A derivation of a text: a tree of symbols, each of which derives a stretch of it.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The symbols that derive something; each comes before those below it, the first one derives all.
    pub nodes: Vec<DerivationNode>,
    /// The first ambiguity, if there is any: a symbol with several derivations, and where its text begins.
    pub ambiguity: Option<(SymbolId, usize)>,
}

/// A node of a derivation: a symbol that derives a stretch of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivationNode {
    /// The symbol.
    pub symbol: SymbolId,
    /// The number of its alternative, from 0.
    pub alternative: usize,
    /// The stretch of the text, in bytes.
    pub range: Range<usize>,
    /// The child nodes, in the order of the text; of a repetition its elements.
    pub children: Vec<usize>,
}

impl Grammar {
    /// Parses a text. Where the grammar leaves a choice, one is taken, always the same: earlier parts rather long.
    ///
    /// # Errors
    /// If the grammar does not derive it, with the place up to which it does.
    pub fn derive(&self, text: &[u8]) -> Result<Derivation, GrammarError> {
        if u32::try_from(text.len()).is_err() {
            return Err(GrammarError::at(text, 0, "a text of 4 GiB and more is too long"));
        }
        let chart = Chart::of(self, text)?;
        let mut reading = Reading { grammar: self, text, chart: &chart, ambiguity: None, tasks: Vec::new() };
        let mut nodes = Vec::new();
        reading.tasks.push(Task { symbol: self.start, range: 0..text.len(), below: u32::MAX, parent: None });
        let mut next = 0;
        // Level by level, so that parents come first.
        while next < reading.tasks.len() {
            let task = reading.tasks[next].clone();
            next += 1;
            let alternative = reading.open(&task, nodes.len());
            if let Some(parent) = task.parent {
                let number = nodes.len();
                let parent: &mut DerivationNode = &mut nodes[parent];
                parent.children.push(number);
            }
            nodes.push(DerivationNode {
                symbol: task.symbol,
                alternative,
                range: task.range,
                children: Vec::new(),
            });
        }
        let ambiguity = reading.ambiguity.map(|(place, symbol)| (symbol, place));
        Ok(Derivation { nodes: flattened(self, nodes), ambiguity })
    }
}

/// A symbol whose derivation is to be read.
#[derive(Clone)]
struct Task {
    symbol: SymbolId,
    range: Range<usize>,
    /// The bound of its entry: it follows from entries of its column with a lower number than this, so that
    /// no derivation goes in circles.
    below: u32,
    parent: Option<usize>,
}

struct Reading<'r> {
    grammar: &'r Grammar,
    text: &'r [u8],
    chart: &'r Chart,
    ambiguity: Option<(usize, SymbolId)>,
    tasks: Vec<Task>,
}

impl Reading<'_> {
    /// Reads one derivation, of which the symbols become tasks. Returns the number of the alternative.
    fn open(&mut self, task: &Task, node: usize) -> usize {
        let Task { symbol, range, below, .. } = task;
        let (start, end) = (range.start as u32, range.end);
        let column = &self.chart.columns[end];
        let complete: Vec<&Complete> =
            column.complete_of(*symbol).iter().filter(|complete| complete.origin == start).collect();
        if complete.len() > 1 {
            self.doubt(*symbol, range.start);
        }
        let chosen = complete.iter().find(|complete| complete.number < *below);
        let chosen = chosen.expect("what is complete follows from what was found before");
        let (production, mut number, mut place) = (chosen.production, chosen.number, end);
        let terms = &self.grammar.productions[production as usize].terms;
        let mut children = Vec::new();
        for dot in (0..terms.len() as u32).rev() {
            match &terms[dot as usize] {
                GrammarTerm::Literal(literal) => place -= literal.len(),
                GrammarTerm::Class(_) => place = self.character_before(place),
                GrammarTerm::Symbol(below) => {
                    let (from, choices) = self.split(*below, (production, dot, start), place, number);
                    if choices > 1 {
                        self.doubt(*symbol, range.start);
                    }
                    let below =
                        Task { symbol: *below, range: from..place, below: number, parent: Some(node) };
                    children.extend(Some(below).filter(|task| !task.range.is_empty()));
                    place = from;
                }
            }
            let before = self.chart.columns[place].number(production, dot, start);
            number = before.expect("the entry before it was found");
        }
        self.tasks.extend(children.into_iter().rev());
        let productions = &self.grammar.symbols[*symbol as usize].productions;
        productions.iter().position(|&known| known == production).unwrap_or_default()
    }

    /// Finds where the last symbol of an entry begins that ends at `end`, and the number of such places. The
    /// place is the last one that follows from entries with lower numbers.
    fn split(
        &self,
        symbol: SymbolId,
        (production, dot, start): (u32, u32, u32),
        end: usize,
        number: u32,
    ) -> (usize, usize) {
        let column = &self.chart.columns[end];
        let (mut choices, mut chosen) = (0, None);
        if self.grammar.derives_nothing[symbol as usize]
            && let Some(before) = column.number(production, dot, start)
        {
            choices += 1;
            chosen = Some(end).filter(|_| before < number);
        }
        let mut last = None;
        for complete in column.complete_of(symbol).iter().rev() {
            let origin = complete.origin;
            let is_possible = || self.chart.columns[origin as usize].number(production, dot, start).is_some();
            if origin < start || origin as usize == end || !is_possible() {
                continue;
            }
            if last != Some(origin) {
                choices += 1;
                last = Some(origin);
            }
            if chosen.is_none() && complete.number < number {
                chosen = Some(origin as usize);
            }
        }
        (chosen.expect("an entry follows from earlier ones"), choices)
    }

    fn doubt(&mut self, symbol: SymbolId, place: usize) {
        if self.ambiguity.is_none_or(|(known, _)| place < known) {
            self.ambiguity = Some((place, symbol));
        }
    }

    fn character_before(&self, place: usize) -> usize {
        let is_inner = |at: &usize| matches!(self.text[*at], 0x80..=0xbf);
        (0..place).rev().find(|at| !is_inner(at)).unwrap_or(0)
    }
}

/// Returns the nodes with all elements of a repetition as its direct children. The grammar of the chart nests them.
fn flattened(grammar: &Grammar, mut nodes: Vec<DerivationNode>) -> Vec<DerivationNode> {
    let is_list = |symbol| matches!(grammar.role(symbol), Role::AnyNumber | Role::AtLeastOne);
    let is_inner: Vec<bool> = {
        let mut inner = vec![false; nodes.len()];
        for node in nodes.iter().filter(|node| is_list(node.symbol)) {
            for &child in &node.children {
                inner[child] |= nodes[child].symbol == node.symbol;
            }
        }
        inner
    };
    for number in 0..nodes.len() {
        if !is_list(nodes[number].symbol) || is_inner[number] {
            continue;
        }
        let (mut elements, mut at) = (Vec::new(), number);
        loop {
            let symbol = nodes[at].symbol;
            let mut rest = None;
            for child in std::mem::take(&mut nodes[at].children).into_iter().rev() {
                match nodes[child].symbol == symbol {
                    true => rest = Some(child),
                    false => elements.push(child),
                }
            }
            match rest {
                Some(rest) => at = rest,
                None => break,
            }
        }
        elements.reverse();
        nodes[number].children = elements;
    }
    let mut numbers = Vec::with_capacity(nodes.len());
    let mut next = 0;
    for &is_inner in &is_inner {
        numbers.push(next);
        next += usize::from(!is_inner);
    }
    let kept = nodes.into_iter().zip(is_inner).filter(|(_, is_inner)| !is_inner);
    kept.map(|(node, _)| DerivationNode {
        children: node.children.iter().map(|&child| numbers[child]).collect(),
        ..node
    })
    .collect()
}
