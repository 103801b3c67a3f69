//! Choose the units in which a text is reduced, one after the other: from coarse to fine.

use dd::Algorithm;

use super::units::{Unit, Units};

/// The granularity of a reduction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granularity {
    /// Text to single characters, by way of its lines and brackets; anything else to single bytes.
    #[default]
    Auto,
    /// To single lines.
    Lines,
    /// To single tokens, by way of lines.
    Tokens,
    /// To single elements of bracketed lists, by way of lines.
    Elements,
    /// To single characters, and nothing else.
    Characters,
    /// To single bytes, and nothing else.
    Bytes,
}

impl Granularity {
    /// The granularity for this text.
    pub(super) fn of(self, text: &[u8]) -> Granularity {
        if self == Granularity::Auto && !is_text(text) { Granularity::Bytes } else { self }
    }

    /// The finest unit.
    pub(super) fn finest(self) -> Unit {
        match self {
            Granularity::Bytes => Unit::Bytes,
            Granularity::Lines => Unit::Lines,
            Granularity::Tokens => Unit::Tokens,
            Granularity::Elements => Unit::Elements(0),
            Granularity::Auto | Granularity::Characters => Unit::Characters,
        }
    }
}

/// The sequence of units in which a text is reduced.
pub(super) struct UnitLevels {
    levels: Vec<UnitLevel>,
    /// True if coarser units were left out before the first of these.
    is_pruned: bool,
    at: usize,
    /// The depth of brackets at which elements are taken next.
    depth: usize,
    /// True if anything went since the outermost elements were taken, if these are the finest units.
    is_unsettled: bool,
    is_begun: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnitLevel {
    Units(Unit),
    /// Elements within brackets, from the outermost to the innermost.
    AllElements,
    /// The lines around indented blocks; where some go, lines have another turn.
    Frames,
    /// Pairs of brackets; where some go, the finest units have another turn.
    Pairs,
}

impl UnitLevels {
    /// Creates the sequence for a text that was not reduced yet, or else for its finest units only.
    pub(super) fn new(granularity: Granularity, is_first_time: bool) -> UnitLevels {
        use UnitLevel::{AllElements, Frames, Pairs, Units};
        let levels: &[UnitLevel] = match granularity {
            // Simpler things are put in the place of others before single characters have their turn.
            Granularity::Auto if is_first_time => {
                &[Units(Unit::Lines), Frames, AllElements, Units(Unit::Tokens), Pairs]
            }
            Granularity::Auto => &[Units(Unit::Characters), Pairs],
            Granularity::Lines => &[Units(Unit::Lines)],
            Granularity::Tokens if is_first_time => {
                &[Units(Unit::Lines), Frames, AllElements, Units(Unit::Tokens), Pairs]
            }
            Granularity::Tokens => &[Units(Unit::Tokens), Pairs],
            Granularity::Elements if is_first_time => &[Units(Unit::Lines), Frames, AllElements],
            Granularity::Elements => &[AllElements],
            Granularity::Characters => &[Units(Unit::Characters)],
            Granularity::Bytes => &[Units(Unit::Bytes)],
        };
        UnitLevels {
            levels: levels.to_vec(),
            is_pruned: !is_first_time,
            at: 0,
            depth: 0,
            is_unsettled: false,
            is_begun: false,
        }
    }

    /// The same, for a text of which the program has read only so much: first the rest goes, in one test.
    pub(super) fn of_read(mut self, text: &[u8], read: Option<usize>) -> UnitLevels {
        let Some(read) = read.filter(|&read| read < text.len()) else { return self };
        let end = match self.levels.last() {
            Some(UnitLevel::Units(Unit::Bytes)) => read,
            // To the end of the line: coarse units and characters are not cut.
            _ => text[read..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| read + at + 1),
        };
        if end < text.len() {
            self.levels.insert(0, UnitLevel::Units(Unit::Read(end)));
        }
        self
    }

    /// The algorithm that takes the fewest tests for units of this kind: most of the brackets, and of the finest units
    /// after coarser ones, are needed.
    pub(super) fn algorithm(&self, unit: Unit) -> Algorithm {
        match unit {
            Unit::Frames | Unit::Pairs => Algorithm::Prune,
            Unit::Characters | Unit::Bytes if self.is_pruned => Algorithm::Prune,
            _ => Algorithm::Halve,
        }
    }

    /// The units of the next phase; `is_less`: the one before has left something out.
    pub(super) fn next(&mut self, text: &[u8], is_less: bool) -> Option<(Unit, Units)> {
        let is_less = std::mem::replace(&mut self.is_begun, true) && is_less;
        self.is_unsettled |= is_less;
        if is_less && self.at > 0 && matches!(self.levels[self.at - 1], UnitLevel::Frames | UnitLevel::Pairs)
        {
            self.at -= 2;
        }
        while let Some(&level) = self.levels.get(self.at) {
            let unit = match level {
                UnitLevel::Units(unit) => unit,
                UnitLevel::Frames => Unit::Frames,
                UnitLevel::Pairs => Unit::Pairs,
                UnitLevel::AllElements => Unit::Elements(self.depth),
            };
            let units = Units::of(text, unit);
            match level {
                UnitLevel::AllElements if units.len() > 0 => self.depth += 1,
                // Where these are the finest units, what went within may have kept what is around it.
                UnitLevel::AllElements if self.at + 1 == self.levels.len() && self.is_unsettled => {
                    (self.depth, self.is_unsettled) = (0, false);
                    continue;
                }
                _ => (self.at, self.depth) = (self.at + 1, 0),
            }
            // A single coarse unit is the whole text.
            let least =
                if matches!(level, UnitLevel::Units(Unit::Lines)) && self.levels.len() > 1 { 2 } else { 1 };
            if units.len() >= least {
                return Some((unit, units));
            }
        }
        None
    }
}

/// True for text that people would read: UTF-8 without the control characters that texts do not have.
fn is_text(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c);
    str::from_utf8(bytes).is_ok() && !bytes.iter().any(is_control)
}
