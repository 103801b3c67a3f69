//! Split a grammar into tokens.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use crate::grammar::{CharacterClass, GrammarError, Role};

/// A token of a grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GrammarToken {
    /// `<name>`, or `name`.
    Name(String),
    /// `::=`, `:=`, `=`, `:`, `->`
    Defines,
    /// `|`
    Or,
    /// `;`
    End,
    /// Text in quotes.
    Literal(String),
    /// `[a-z]`, with what is written in it.
    Characters(CharacterClass, String),
    /// An opening bracket; the one that closes it.
    Opens(char),
    /// A closing bracket.
    Closes(char),
    /// `..`
    To,
    /// `*`, `+`, `?`
    Repeats(Role),
}

/// The tokens of a grammar, and a position in them.
#[derive(Default)]
pub(super) struct Tokens<'g> {
    source: &'g str,
    tokens: Vec<(GrammarToken, usize)>,
    at: usize,
}

impl<'g> Tokens<'g> {
    pub(super) fn of(source: &'g str) -> Result<Tokens<'g>, GrammarError> {
        let mut scanner = Scanner { source, at: 0, names: names_at_line_starts(source) };
        let mut tokens = Vec::new();
        while let Some(token) = scanner.next()? {
            tokens.push(token);
        }
        Ok(Tokens { source, tokens, at: 0 })
    }

    pub(super) fn peek(&self) -> Option<&GrammarToken> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    pub(super) fn second(&self) -> Option<&GrammarToken> {
        self.tokens.get(self.at + 1).map(|(token, _)| token)
    }

    pub(super) fn next(&mut self) -> Option<GrammarToken> {
        let token = self.peek().cloned();
        self.at += 1;
        token
    }

    /// The place where the next token begins.
    pub(super) fn place(&self) -> usize {
        self.tokens.get(self.at).map_or(self.source.len(), |(_, place)| *place)
    }

    pub(super) fn error(&self, place: usize, reason: impl Into<String>) -> GrammarError {
        GrammarError::at(self.source.as_bytes(), place, reason)
    }
}

const DEFINING: [&str; 5] = ["::=", ":=", "->", "=", ":"];

/// The names that stand first in a line, or after a semicolon, before a sign that defines them.
fn names_at_line_starts(source: &str) -> HashSet<&str> {
    let defined = |line: &'_ str| -> Option<usize> {
        let length = word(line);
        let rest = line[length..].trim_start();
        (length > 0 && DEFINING.iter().any(|sign| rest.starts_with(sign))).then_some(length)
    };
    source.split(['\n', ';']).map(str::trim_start).filter_map(|line| Some(&line[..defined(line)?])).collect()
}

/// The length of the bare name with which a text begins.
fn word(text: &str) -> usize {
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    match text.chars().next() {
        Some(first) if first.is_alphabetic() || first == '_' => {
            // `a->b` defines `a`.
            let end = text.find(|c| !is_inner(c)).unwrap_or(text.len());
            let is_arrow = text[..end].ends_with('-') && text[end..].starts_with('>');
            end - usize::from(is_arrow)
        }
        _ => 0,
    }
}

struct Scanner<'g> {
    source: &'g str,
    at: usize,
    names: HashSet<&'g str>,
}

impl<'g> Scanner<'g> {
    fn rest(&self) -> &'g str {
        &self.source[self.at..]
    }

    fn error(&self, reason: impl Into<String>) -> GrammarError {
        GrammarError::at(self.source.as_bytes(), self.at, reason)
    }

    fn next(&mut self) -> Result<Option<(GrammarToken, usize)>, GrammarError> {
        self.skip()?;
        let place = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(None) };
        if let Some(sign) = DEFINING.iter().find(|sign| rest.starts_with(**sign)) {
            self.at += sign.len();
            return Ok(Some((GrammarToken::Defines, place)));
        }
        let sign = match first {
            '|' => Some(GrammarToken::Or),
            ';' => Some(GrammarToken::End),
            '(' => Some(GrammarToken::Opens(')')),
            '{' => Some(GrammarToken::Opens('}')),
            '[' if self.is_optional(&rest[1..]) => Some(GrammarToken::Opens(']')),
            ')' | ']' | '}' => Some(GrammarToken::Closes(first)),
            '*' => Some(GrammarToken::Repeats(Role::AnyNumber)),
            '+' => Some(GrammarToken::Repeats(Role::AtLeastOne)),
            '?' => Some(GrammarToken::Repeats(Role::AtMostOne)),
            _ => None,
        };
        if let Some(sign) = sign {
            self.at += 1;
            return Ok(Some((sign, place)));
        }
        let token = match first {
            '[' => self.characters()?,
            '"' | '\'' => GrammarToken::Literal(self.literal(first)?),
            '<' => self.name()?,
            '#' => GrammarToken::Literal(self.character()?.to_string()),
            '.' if rest.starts_with("..") => {
                self.at += 2;
                GrammarToken::To
            }
            _ if word(rest) > 0 => {
                self.at += word(rest);
                GrammarToken::Name(self.source[place..self.at].to_owned())
            }
            _ => {
                return Err(self.error(format!(
                    "{} has no meaning here; put it into quotes if it is text",
                    first.escape_debug()
                )));
            }
        };
        Ok(Some((token, place)))
    }

    /// Skips spaces, commas and comments.
    fn skip(&mut self) -> Result<(), GrammarError> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            self.at += rest.len() - trimmed.len();
            let is_number = trimmed
                .strip_prefix("#x")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_hexdigit()));
            if trimmed.starts_with("(*") {
                let Some(end) = trimmed.find("*)") else {
                    return Err(self.error("this comment does not end: *) is missing"));
                };
                self.at += end + 2;
            } else if trimmed.starts_with("//") || trimmed.starts_with('#') && !is_number {
                self.at += trimmed.find('\n').unwrap_or(trimmed.len());
            } else {
                return Ok(());
            }
        }
    }

    /// True if square brackets with this content hold something optional, and not characters: it begins with
    /// a text in quotes, another bracket, or the name of a rule.
    fn is_optional(&self, content: &str) -> bool {
        let content = content.trim_start_matches([' ', '\t', '\n', '\r']);
        let length = word(content);
        content.starts_with(['"', '\'', '<', '(', '{', '['])
            || self.names.contains(&content[..length]) && !content[length..].starts_with(']')
            || self.names.contains(&content[..length]) && length > 1
    }

    /// Reads a name in angle brackets: `<name>`
    fn name(&mut self) -> Result<GrammarToken, GrammarError> {
        let end = self.rest().find(['>', '\n']).filter(|&end| self.rest()[end..].starts_with('>'));
        let Some(end) = end.filter(|&end| end > 1) else {
            return Err(self.error(
                "a name in angle brackets is wanted, such as <number>; put < into quotes if it is text",
            ));
        };
        let name = &self.rest()[..=end];
        self.at += name.len();
        Ok(GrammarToken::Name(name.to_owned()))
    }

    fn literal(&mut self, quote: char) -> Result<String, GrammarError> {
        let opening = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.rest().chars().next() {
                Some(c) if c == quote => break,
                None | Some('\n') => {
                    self.at = opening;
                    let reason = format!(
                        "this text does not end in its line: {quote} is missing; a backslash is written \\\\"
                    );
                    return Err(self.error(reason));
                }
                Some(_) => text.push(self.character()?),
            }
        }
        self.at += 1;
        Ok(text)
    }

    /// Reads a character, or an escape for one: `\n`, `\x41`, `\u{41}`, `#x41`.
    fn character(&mut self) -> Result<char, GrammarError> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Err(self.error("a character is missing")) };
        let number = |digits: &str| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
        let hex = |text: &str| text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
        let (character, length) = match (first, rest.as_bytes().get(1)) {
            ('\\', Some(b'n')) => (Some('\n'), 2),
            ('\\', Some(b't')) => (Some('\t'), 2),
            ('\\', Some(b'r')) => (Some('\r'), 2),
            ('\\', Some(b'f')) => (Some('\u{c}'), 2),
            ('\\', Some(b'0')) => (Some('\0'), 2),
            ('\\', Some(b'x')) => {
                let length = hex(&rest[2..]).min(2);
                (number(&rest[2..2 + length]).filter(|_| length == 2), 2 + length)
            }
            ('\\', Some(b'u')) if rest[2..].starts_with('{') => {
                let length = hex(&rest[3..]);
                (number(&rest[3..3 + length]).filter(|_| rest[3 + length..].starts_with('}')), 4 + length)
            }
            ('\\', Some(&sign)) if sign.is_ascii_punctuation() || sign == b' ' => (Some(char::from(sign)), 2),
            ('\\', _) => (None, 1),
            ('#', Some(b'x')) if hex(&rest[2..]) > 0 => {
                let length = hex(&rest[2..]);
                (number(&rest[2..2 + length]), 2 + length)
            }
            _ => (Some(first), first.len_utf8()),
        };
        let Some(character) = character else {
            return Err(self.error("this stands for no character; there are \\n, \\t, \\r, \\f, \\0, \\x41, \\u{41}, #x41, and \\\\"));
        };
        self.at += length;
        Ok(character)
    }

    /// Reads a character class: `[a-z_]`, `[^"]`
    fn characters(&mut self) -> Result<GrammarToken, GrammarError> {
        let opening = self.at;
        self.at += 1;
        let is_negated = self.rest().starts_with('^');
        self.at += usize::from(is_negated);
        let first = self.at;
        let mut ranges: Vec<RangeInclusive<char>> = Vec::new();
        while !self.rest().starts_with(']') {
            if self.rest().is_empty() {
                self.at = opening;
                return Err(self.error("this bracket is not closed: ] is missing"));
            }
            let from = self.character()?;
            let is_range = self.rest().starts_with('-') && !self.rest().starts_with("-]");
            self.at += usize::from(is_range);
            let to = if is_range { self.character()? } else { from };
            if from > to {
                return Err(self.error(format!(
                    "a range goes from one character to a later one, and {to:?} is before {from:?}"
                )));
            }
            ranges.push(from..=to);
        }
        let written = self.source[first..self.at].to_owned();
        self.at += 1;
        if ranges.is_empty() && !is_negated {
            self.at = opening;
            return Err(self.error("these brackets are empty: no character is one of none"));
        }
        let written = if is_negated { format!("^{written}") } else { written };
        Ok(GrammarToken::Characters(CharacterClass { ranges, is_negated }, written))
    }
}
