//! Read grammars in BNF and in the common forms of EBNF.

mod tokens;

use std::collections::HashMap;

use self::tokens::{GrammarToken, Tokens};
use super::least::{deriving_nothing, least_texts};
use super::{CharacterClass, Grammar, GrammarError, GrammarSymbol, GrammarTerm, Production, Role, SymbolId};

/// The deepest nesting of brackets.
const DEEPEST: usize = 100;

impl Grammar {
    /// Reads a grammar: rules like `<sum> ::= <number> "+" <sum> | <number>` or `sum = number, { "+", number
    /// };`. The first one is the start symbol.
    ///
    /// # Errors
    /// If it is no valid grammar, with the place; if a symbol has no rule, or two; if a symbol derives no
    /// finite text.
    pub fn read(text: &[u8]) -> Result<Grammar, GrammarError> {
        let source = str::from_utf8(text).map_err(|error| {
            GrammarError::at(text, error.valid_up_to(), "this is not UTF-8, which a grammar has to be")
        })?;
        let mut reader = Reader { tokens: Tokens::of(source)?, ..Reader::default() };
        while reader.tokens.peek().is_some() {
            reader.rule()?;
        }
        reader.finish(text)
    }
}

#[derive(Default)]
struct Reader<'g> {
    tokens: Tokens<'g>,
    symbols: Vec<GrammarSymbol>,
    productions: Vec<Production>,
    numbers: HashMap<String, SymbolId>,
    /// The place where each named symbol was seen first, and whether it has a rule.
    seen: HashMap<SymbolId, (usize, bool)>,
    /// The symbols of the rules, in their order.
    defined: Vec<SymbolId>,
    /// The character classes in square brackets as they are written, with their places.
    bracketed: Vec<(String, usize)>,
    depth: usize,
}

impl Reader<'_> {
    fn rule(&mut self) -> Result<(), GrammarError> {
        let place = self.tokens.place();
        let name = match self.tokens.next() {
            Some(GrammarToken::Name(name)) if self.tokens.peek() == Some(&GrammarToken::Defines) => name,
            _ => {
                return Err(self
                    .tokens
                    .error(place, "a rule is wanted, such as <number> ::= <digit> | <digit> <number>"));
            }
        };
        self.tokens.next();
        let symbol = self.named(&name, place);
        if self.seen[&symbol].1 {
            let reason =
                format!("{name} has a rule already; put all alternatives into one, with | between them");
            return Err(self.tokens.error(place, reason));
        }
        self.seen.insert(symbol, (place, true));
        self.defined.push(symbol);
        for terms in self.alternatives(&name)? {
            self.produce(symbol, terms);
        }
        let place = self.tokens.place();
        match self.tokens.peek() {
            Some(GrammarToken::End) => {
                self.tokens.next();
                Ok(())
            }
            None | Some(GrammarToken::Name(_)) => Ok(()),
            Some(_) => Err(self
                .tokens
                .error(place, "this closes or repeats nothing, or a bracket is missing before it")),
        }
    }

    fn alternatives(&mut self, rule: &str) -> Result<Vec<Vec<GrammarTerm>>, GrammarError> {
        let mut alternatives = vec![self.sequence(rule)?];
        while self.tokens.peek() == Some(&GrammarToken::Or) {
            self.tokens.next();
            alternatives.push(self.sequence(rule)?);
        }
        Ok(alternatives)
    }

    fn sequence(&mut self, rule: &str) -> Result<Vec<GrammarTerm>, GrammarError> {
        let mut terms = Vec::new();
        while let Some(mut term) = self.term(rule)? {
            while let Some(GrammarToken::Repeats(role)) = self.tokens.peek() {
                let role = *role;
                self.tokens.next();
                term = self.repeated(term, role, rule);
            }
            terms.push(term);
        }
        Ok(terms)
    }

    /// Reads the next term of a sequence, if it has any.
    fn term(&mut self, rule: &str) -> Result<Option<GrammarTerm>, GrammarError> {
        let place = self.tokens.place();
        let Some(token) = self.tokens.peek().cloned() else { return Ok(None) };
        let is_rule =
            matches!(token, GrammarToken::Name(_)) && self.tokens.second() == Some(&GrammarToken::Defines);
        let term = match token {
            _ if is_rule => return Ok(None),
            GrammarToken::Name(name) => GrammarTerm::Symbol(self.named(&name, place)),
            GrammarToken::Literal(text) => GrammarTerm::Literal(text.into_bytes()),
            GrammarToken::Characters(class, written) => {
                self.bracketed.push((written, place));
                GrammarTerm::Class(class)
            }
            GrammarToken::Opens(close) => return self.bracket(close, rule).map(Some),
            GrammarToken::Defines
            | GrammarToken::Or
            | GrammarToken::End
            | GrammarToken::Closes(_)
            | GrammarToken::To
            | GrammarToken::Repeats(_) => return Ok(None),
        };
        self.tokens.next();
        if self.tokens.peek() == Some(&GrammarToken::To) {
            return self.range(&term, place).map(Some);
        }
        Ok(Some(term))
    }

    /// Reads the rest of a range: `"a".."z"`
    fn range(&mut self, first: &GrammarTerm, place: usize) -> Result<GrammarTerm, GrammarError> {
        self.tokens.next();
        let last = match self.tokens.next() {
            Some(GrammarToken::Literal(last)) => single(last.as_bytes()),
            _ => None,
        };
        let first = match first {
            GrammarTerm::Literal(text) => single(text),
            _ => None,
        };
        match (first, last) {
            (Some(first), Some(last)) if first <= last => {
                Ok(GrammarTerm::Class(CharacterClass { ranges: vec![first..=last], is_negated: false }))
            }
            _ => {
                Err(self.tokens.error(place, "a range goes from one character to a later one: \"a\"..\"z\""))
            }
        }
    }

    /// Reads a group in brackets, from the opening one to the closing one.
    fn bracket(&mut self, close: char, rule: &str) -> Result<GrammarTerm, GrammarError> {
        let opening = self.tokens.place();
        self.tokens.next();
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self
                .tokens
                .error(opening, "brackets stand too deep in each other; give what they hold a name"));
        }
        let alternatives = self.alternatives(rule)?;
        self.depth -= 1;
        if self.tokens.peek() != Some(&GrammarToken::Closes(close)) {
            return Err(self
                .tokens
                .error(opening, format!("this bracket is not closed: {close} is missing")));
        }
        self.tokens.next();
        let choice = self.symbol(rule, Role::Choice);
        for terms in alternatives {
            self.produce(choice, terms);
        }
        let choice = GrammarTerm::Symbol(choice);
        Ok(match close {
            ']' => self.repeated(choice, Role::AtMostOne, rule),
            '}' => self.repeated(choice, Role::AnyNumber, rule),
            _ => choice,
        })
    }

    fn repeated(&mut self, term: GrammarTerm, role: Role, rule: &str) -> GrammarTerm {
        let element = match term {
            GrammarTerm::Symbol(symbol) if self.symbols[symbol as usize].role == Role::Choice => {
                self.symbols[symbol as usize].role = Role::Element;
                symbol
            }
            term => {
                let element = self.symbol(rule, Role::Element);
                self.produce(element, vec![term]);
                element
            }
        };
        let all = self.symbol(rule, role);
        let (all_term, element) = (GrammarTerm::Symbol(all), GrammarTerm::Symbol(element));
        match role {
            Role::AtLeastOne => self.produce(all, vec![element.clone()]),
            _ => self.produce(all, Vec::new()),
        }
        match role {
            Role::AtMostOne => self.produce(all, vec![element]),
            _ => self.produce(all, vec![all_term.clone(), element]),
        }
        all_term
    }

    fn named(&mut self, name: &str, place: usize) -> SymbolId {
        if let Some(&known) = self.numbers.get(name) {
            return known;
        }
        let symbol = self.symbol(name, Role::Named);
        self.numbers.insert(name.to_owned(), symbol);
        self.seen.insert(symbol, (place, false));
        symbol
    }

    fn symbol(&mut self, name: &str, role: Role) -> SymbolId {
        self.symbols.push(GrammarSymbol { name: name.to_owned(), role, productions: Vec::new() });
        (self.symbols.len() - 1) as SymbolId
    }

    fn produce(&mut self, symbol: SymbolId, mut terms: Vec<GrammarTerm>) {
        terms.retain(|term| *term != GrammarTerm::Literal(Vec::new()));
        self.symbols[symbol as usize].productions.push(self.productions.len() as u32);
        self.productions.push(Production { symbol, terms });
    }

    fn finish(self, text: &[u8]) -> Result<Grammar, GrammarError> {
        let Some(&start) = self.defined.first() else {
            return Err(GrammarError::at(
                text,
                0,
                "there is no rule; write one, such as <start> ::= \"a\" | \"a\" <start>",
            ));
        };
        for symbol in 0..self.symbols.len() as SymbolId {
            if let Some((place, false)) = self.seen.get(&symbol) {
                let name = &self.symbols[symbol as usize].name;
                let reason =
                    format!("{name} has no rule; write {name} ::= ..., or put it into quotes if it is text");
                return Err(GrammarError::at(text, *place, reason));
            }
        }
        for (written, place) in &self.bracketed {
            let rule = written.split_whitespace().find(|word| self.numbers.contains_key(*word));
            if let Some(rule) = rule {
                let written = written.replace(char::is_control, " ");
                let reason = format!(
                    "[{written}] can be one of these characters, or what the rule {rule} says, or nothing: write \
                     (...)? for the latter, and \"a\" | \"b\" for the former"
                );
                return Err(GrammarError::at(text, *place, reason));
            }
        }
        let least = least_texts(self.symbols.len(), &self.productions);
        for &symbol in &self.defined {
            if least[symbol as usize].is_none() {
                let name = &self.symbols[symbol as usize].name;
                let reason = format!(
                    "{name} derives no text that ends, or none below a mebibyte; it needs an alternative without itself"
                );
                return Err(GrammarError::at(text, self.seen[&symbol].0, reason));
            }
        }
        let derives_nothing = deriving_nothing(self.symbols.len(), &self.productions);
        let least = least.into_iter().map(Option::unwrap_or_default).collect();
        let Reader { symbols, productions, .. } = self;
        Ok(Grammar { symbols, productions, start, least, derives_nothing })
    }
}

/// The character of a text that has exactly one.
fn single(text: &[u8]) -> Option<char> {
    let mut characters = str::from_utf8(text).ok()?.chars();
    characters.next().filter(|_| characters.next().is_none())
}
