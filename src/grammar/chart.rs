//! Build the chart of Earley's algorithm: all that a text can be derived from.

use std::collections::HashSet;

use super::{Grammar, GrammarError, GrammarTerm, SymbolId};

/// The largest number of chart entries; more would need a gigabyte.
const MOST_ENTRIES: usize = 30_000_000;

/// The chart: parts of productions that derive stretches of a text, by the ends of the stretches.
pub(super) struct Chart {
    pub(super) columns: Vec<Column>,
}

/// A column of the chart: the entries that end at one place of the text.
#[derive(Default)]
pub(super) struct Column {
    /// The entries in the order in which they were found: each follows from earlier ones.
    entries: Vec<Entry>,
    /// The numbers of the entries in the order of the entries.
    ordered: Vec<u32>,
    /// The complete productions: symbol, origin, production, number of the entry; in order.
    pub(super) complete: Vec<Complete>,
    /// The symbols that entries wait for, with the entries that have gone beyond them; in order.
    waiting: Vec<(SymbolId, Entry)>,
}

/// An entry (Earley item): so much of a production derives the text from `origin` to the column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Entry {
    production: u32,
    dot: u32,
    origin: u32,
}

/// A complete entry: a production derives the text from `origin` to the column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Complete {
    pub(super) symbol: SymbolId,
    pub(super) origin: u32,
    pub(super) production: u32,
    pub(super) number: u32,
}

impl Column {
    /// The number of this entry, if it is there.
    pub(super) fn number(&self, production: u32, dot: u32, origin: u32) -> Option<u32> {
        let wanted = Entry { production, dot, origin };
        let place = self.ordered.binary_search_by_key(&wanted, |&number| self.entries[number as usize]);
        place.ok().map(|place| self.ordered[place])
    }

    /// The complete entries of a symbol, in the order of the origins.
    pub(super) fn complete_of(&self, symbol: SymbolId) -> &[Complete] {
        let from = self.complete.partition_point(|complete| complete.symbol < symbol);
        let to = self.complete.partition_point(|complete| complete.symbol <= symbol);
        &self.complete[from..to]
    }

    /// Sorts the entries, once they are complete.
    fn close(&mut self, grammar: &Grammar) {
        let numbered = || self.entries.iter().zip(0_u32..);
        let mut ordered: Vec<u32> = numbered().map(|(_, number)| number).collect();
        ordered.sort_unstable_by_key(|&number| self.entries[number as usize]);
        let mut complete = Vec::new();
        let mut waiting = Vec::new();
        for (entry, number) in numbered() {
            let &Entry { production, dot, origin } = entry;
            let of = &grammar.productions[production as usize];
            match of.terms.get(dot as usize) {
                None => complete.push(Complete { symbol: of.symbol, origin, production, number }),
                Some(GrammarTerm::Symbol(symbol)) => {
                    waiting.push((*symbol, Entry { dot: dot + 1, ..*entry }))
                }
                Some(_) => {}
            }
        }
        complete.sort_unstable();
        waiting.sort_unstable();
        (self.ordered, self.complete, self.waiting) = (ordered, complete, waiting);
    }

    fn waiting_for(&self, symbol: SymbolId) -> &[(SymbolId, Entry)] {
        let from = self.waiting.partition_point(|(known, _)| *known < symbol);
        let to = self.waiting.partition_point(|(known, _)| *known <= symbol);
        &self.waiting[from..to]
    }
}

impl Chart {
    /// Builds the chart of a whole text.
    pub(super) fn of(grammar: &Grammar, text: &[u8]) -> Result<Chart, GrammarError> {
        let mut chart = Chart { columns: Vec::new() };
        chart.columns.resize_with(text.len() + 1, Column::default);
        let (mut seen, mut entries) = (HashSet::new(), 0);
        for place in 0..=text.len() {
            chart.fill(grammar, text, place, &mut seen);
            chart.columns[place].close(grammar);
            entries += chart.columns[place].entries.len();
            if entries > MOST_ENTRIES {
                let reason = "up to here the text has too many partial derivations to be held in memory; write lists as \
                              item* instead of list ::= item list, and rules that are not ambiguous, or give a smaller \
                              text";
                return Err(GrammarError::at(text, place, reason));
            }
        }
        let end = &chart.columns[text.len()];
        match end.complete_of(grammar.start).iter().any(|complete| complete.origin == 0) {
            true => Ok(chart),
            false => Err(chart.where_it_stops(grammar, text)),
        }
    }

    /// Fills the column of a place, given all columns before.
    fn fill(&mut self, grammar: &Grammar, text: &[u8], place: usize, seen: &mut HashSet<Entry>) {
        let (before, rest) = self.columns.split_at_mut(place);
        let (column, after) = rest.split_first_mut().expect("there is a column for each place");
        seen.clear();
        seen.extend(column.entries.iter().copied());
        let mut predicted = HashSet::new();
        let mut found = |column: &mut Column, entry: Entry| {
            if seen.insert(entry) {
                column.entries.push(entry);
            }
        };
        let begins = |production: u32| Entry { production, dot: 0, origin: place as u32 };
        if place == 0 {
            grammar.productions_of(grammar.start).for_each(|production| found(column, begins(production)));
        }
        let mut number = 0;
        while let Some(&entry) = column.entries.get(number) {
            number += 1;
            let of = &grammar.productions[entry.production as usize];
            let beyond = Entry { dot: entry.dot + 1, ..entry };
            match of.terms.get(entry.dot as usize) {
                Some(GrammarTerm::Symbol(symbol)) => {
                    if predicted.insert(*symbol) {
                        grammar
                            .productions_of(*symbol)
                            .for_each(|production| found(column, begins(production)));
                    }
                    if grammar.derives_nothing[*symbol as usize] {
                        found(column, beyond);
                    }
                }
                Some(terminal) => {
                    if let Some(length) = matched(terminal, &text[place..]) {
                        after[length - 1].entries.push(beyond);
                    }
                }
                // A nullable symbol was advanced over when it was predicted (Aycock and Horspool).
                None if entry.origin as usize == place => {}
                None => {
                    let origin = &before[entry.origin as usize];
                    origin.waiting_for(of.symbol).iter().for_each(|&(_, beyond)| found(column, beyond));
                }
            }
        }
    }

    /// The error at the last place where anything was still possible, with what was expected there.
    fn where_it_stops(&self, grammar: &Grammar, text: &[u8]) -> GrammarError {
        let (place, column) = self
            .columns
            .iter()
            .enumerate()
            .rfind(|(_, column)| !column.entries.is_empty())
            .expect("the first column has entries");
        let mut wanted: Vec<String> = Vec::new();
        for entry in &column.entries {
            let of = &grammar.productions[entry.production as usize];
            let Some(term) = of.terms.get(entry.dot as usize) else { continue };
            let word = match term {
                GrammarTerm::Literal(literal) => format!("{:?}", String::from_utf8_lossy(literal)),
                GrammarTerm::Class(_) => format!("a character of {}", grammar.name(of.symbol)),
                GrammarTerm::Symbol(_) => continue,
            };
            if !wanted.contains(&word) {
                wanted.push(word);
            }
        }
        const MOST: usize = 8;
        let more = if wanted.len() > MOST { ", ..." } else { "" };
        wanted.truncate(MOST);
        let found = match str::from_utf8(&text[place..]).map(|rest| rest.chars().next()) {
            Ok(None) => "the text ends".to_owned(),
            Ok(Some(character)) => format!("{character:?} comes"),
            Err(error) if error.valid_up_to() == 0 => "what is no UTF-8 comes".to_owned(),
            Err(_) => format!(
                "{:?} comes",
                String::from_utf8_lossy(&text[place..]).chars().next().unwrap_or_default()
            ),
        };
        let expected = match wanted.is_empty() {
            true => "the end was expected".to_owned(),
            false => format!("expected was {}{more}", wanted.join(", ")),
        };
        GrammarError::at(
            text,
            place,
            format!("the grammar derives nothing that goes on like this: {found}, and {expected}"),
        )
    }
}

impl Grammar {
    fn productions_of(&self, symbol: SymbolId) -> impl Iterator<Item = u32> + '_ {
        self.symbols[symbol as usize].productions.iter().copied()
    }
}

/// The length of the text that a terminal matches, if it does.
pub(super) fn matched(terminal: &GrammarTerm, text: &[u8]) -> Option<usize> {
    match terminal {
        GrammarTerm::Literal(literal) => text.starts_with(literal).then_some(literal.len()),
        GrammarTerm::Class(class) => {
            let length = match text.first()? {
                0..=0x7f => 1,
                0xc2..=0xdf => 2,
                0xe0..=0xef => 3,
                _ => 4,
            };
            let character = str::from_utf8(text.get(..length)?).ok()?.chars().next()?;
            class.contains(character).then_some(length)
        }
        GrammarTerm::Symbol(_) => None,
    }
}
