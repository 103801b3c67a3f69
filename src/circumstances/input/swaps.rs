//! Replace stretches of a text by shorter or simpler texts, some of many.
//!
//! A swap is a circumstance: where it is chosen, the text stays as it is, where it is left out, the other one stands
//! there. That one may hold parts of what it replaces, in which other swaps go on; those in none of the parts go with
//! it.

use std::cmp::Reverse;
use std::ops::Range;

use dd::{Configuration, Space};

use super::provenance::InputPiece;

/// A swap: something simpler for a stretch of a text, or for several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Swap {
    /// The stretches, in order.
    pub(super) ranges: Vec<Range<usize>>,
    /// The pieces that replace each stretch.
    pub(super) pieces: Vec<SwapPiece>,
}

/// A piece of a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SwapPiece {
    /// This text.
    Text(Vec<u8>),
    /// A part of the stretch.
    Part(Range<usize>),
}

impl SwapPiece {
    pub(super) fn len(&self) -> usize {
        match self {
            SwapPiece::Text(text) => text.len(),
            SwapPiece::Part(part) => part.len(),
        }
    }

    /// True if both hold a common part of a stretch.
    pub(super) fn overlaps(&self, other: &SwapPiece) -> bool {
        match (self, other) {
            (SwapPiece::Part(one), SwapPiece::Part(other)) => one.start < other.end && other.start < one.end,
            _ => false,
        }
    }
}

/// Swaps in one text, whose stretches do not cross, and which do not come between another one and its parts.
#[derive(Clone, Debug, Default)]
pub(super) struct Swaps {
    swaps: Vec<Swap>,
    /// The stretches with the numbers of their swaps; those that hold others come before them.
    stretches: Vec<(Range<usize>, usize)>,
}

/// The rest that is still to be written.
enum Rest<'s> {
    Text(&'s [u8]),
    /// The content of this stretch, with the swaps from this number on.
    Stretch(Range<usize>, usize),
}

impl Swaps {
    /// Chooses as many of these as go together: of two that do not, the one that begins first and reaches farther.
    pub(super) fn choose(wanted: Vec<Swap>) -> Swaps {
        let numbered = wanted.iter().enumerate();
        let mut stretches: Vec<(Range<usize>, usize)> = numbered
            .flat_map(|(number, swap)| swap.ranges.iter().map(move |range| (range.clone(), number)))
            .collect();
        stretches.sort_unstable_by_key(|(range, number)| (range.start, Reverse(range.end), *number));
        let mut is_refused = vec![false; wanted.len()];
        // The stretches that hold the next one, the innermost last.
        let mut open: Vec<(Range<usize>, usize)> = Vec::new();
        for (range, number) in &stretches {
            while open.last().is_some_and(|(outer, _)| outer.end <= range.start) {
                open.pop();
            }
            let has_room = open.last().is_none_or(|(outer, holder)| {
                let is_between = |part: &Range<usize>| part != range && holds(range, part);
                outer != range && holds(outer, range) && !parts(&wanted[*holder].pieces).any(is_between)
            });
            if has_room && !is_refused[*number] {
                open.push((range.clone(), *number));
            } else {
                is_refused[*number] = true;
            }
        }
        let mut numbers = Vec::new();
        let mut swaps = Vec::new();
        for (swap, is_refused) in wanted.into_iter().zip(&is_refused) {
            numbers.push(swaps.len());
            swaps.extend(Some(swap).filter(|_| !is_refused));
        }
        stretches.retain(|(_, number)| !is_refused[*number]);
        stretches.iter_mut().for_each(|(_, number)| *number = numbers[*number]);
        Swaps { swaps, stretches }
    }

    /// The index of the first stretch that begins with this one or after its beginning, as far as it is in order.
    fn first_from(&self, range: &Range<usize>) -> usize {
        let key = |range: &Range<usize>| (range.start, Reverse(range.end));
        self.stretches.partition_point(|(known, _)| key(known) < key(range))
    }

    /// The number of swaps.
    pub(super) fn len(&self) -> usize {
        self.swaps.len()
    }

    /// The text with the other swaps made.
    pub(super) fn join(&self, text: &[u8], chosen: &Configuration) -> Vec<u8> {
        let mut joined = Vec::new();
        for piece in self.pieces(text.len(), chosen) {
            match piece {
                InputPiece::Kept(range) => joined.extend_from_slice(&text[range]),
                InputPiece::Other(other) => joined.extend(other),
            }
        }
        joined
    }

    /// The pieces of a text of this length with the other swaps made.
    pub(super) fn pieces(&self, length: usize, chosen: &Configuration) -> Vec<InputPiece> {
        let mut pieces = Vec::new();
        let written = |rest: &Rest<'_>| {
            pieces.push(match rest {
                Rest::Text(other) => InputPiece::Other(other.to_vec()),
                Rest::Stretch(range, _) => InputPiece::Kept(range.clone()),
            });
        };
        self.walk(length, chosen, |_| {}, written);
        pieces
    }

    /// The chosen swaps that the text still has.
    fn reached(&self, chosen: &Configuration) -> Configuration {
        let mut reached = Vec::new();
        let length = self.stretches.iter().map(|(range, _)| range.end).max().unwrap_or(0);
        self.walk(length, chosen, |number| reached.push(number), |_| {});
        Configuration::from_iter(self.len(), reached)
    }

    /// Walks through what is left of a text of this length; calls back for each chosen swap that is met, and for each
    /// stretch without one that is written.
    fn walk(
        &self,
        length: usize,
        chosen: &Configuration,
        mut met: impl FnMut(usize),
        mut written: impl FnMut(&Rest<'_>),
    ) {
        let mut to_do = vec![Rest::Stretch(0..length, 0)];
        while let Some(rest) = to_do.pop() {
            let Rest::Stretch(range, from) = &rest else {
                written(&rest);
                continue;
            };
            let next = self.stretches.get(*from).filter(|(inner, _)| inner.start < range.end);
            let Some((inner, number)) = next else {
                written(&rest);
                continue;
            };
            written(&Rest::Stretch(range.start..inner.start, *from));
            let behind = self.stretches.partition_point(|(known, _)| known.start < inner.end);
            to_do.push(Rest::Stretch(inner.end..range.end, behind));
            if chosen.contains(*number) {
                met(*number);
                to_do.push(Rest::Stretch(inner.clone(), from + 1));
                continue;
            }
            to_do.extend(self.swaps[*number].pieces.iter().rev().map(|piece| match piece {
                SwapPiece::Text(text) => Rest::Text(text),
                SwapPiece::Part(part) => Rest::Stretch(part.clone(), self.first_from(part).max(from + 1)),
            }));
        }
    }
}

fn holds(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn parts(pieces: &[SwapPiece]) -> impl Iterator<Item = &Range<usize>> {
    pieces.iter().filter_map(|piece| match piece {
        SwapPiece::Part(part) => Some(part),
        SwapPiece::Text(_) => None,
    })
}

/// The space of the circumstances of a phase.
#[derive(Clone, Debug)]
pub enum InputSpace {
    /// This number of circumstances, which can be left out in any combination.
    Independent(usize),
    /// Swaps, of which some go with others.
    Swaps(SwapSpace),
}

/// The space of swaps in a text.
#[derive(Clone, Debug)]
pub struct SwapSpace(pub(super) Swaps);

impl Space for InputSpace {
    fn len(&self) -> usize {
        match self {
            InputSpace::Independent(count) => *count,
            InputSpace::Swaps(SwapSpace(swaps)) => swaps.len(),
        }
    }

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        match self {
            InputSpace::Independent(_) => configuration.clone(),
            InputSpace::Swaps(SwapSpace(swaps)) => swaps.reached(configuration),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(range: Range<usize>) -> SwapPiece {
        SwapPiece::Part(range)
    }

    fn swap(range: Range<usize>, pieces: &[SwapPiece]) -> Swap {
        Swap { ranges: vec![range], pieces: pieces.to_vec() }
    }

    fn joined(swaps: &Swaps, made: &[usize]) -> String {
        let chosen = Configuration::full(swaps.len()).without(made);
        String::from_utf8(swaps.join(b"f(g(h(x)))", &chosen)).expect("a text")
    }

    #[test]
    fn swaps_go_on_in_what_others_leave() {
        let text = SwapPiece::Text(b"1".to_vec());
        let swaps = Swaps::choose(vec![
            swap(0..10, &[part(2..9)]),
            swap(2..9, &[part(4..8)]),
            swap(4..8, &[part(6..7)]),
            swap(6..7, &[text]),
        ]);
        assert_eq!(swaps.len(), 4);
        let expected = [
            (&[][..], "f(g(h(x)))"),
            (&[0], "g(h(x))"),
            (&[1], "f(h(x))"),
            (&[0, 1], "h(x)"),
            (&[0, 2, 3], "g(1)"),
            (&[0, 1, 2, 3], "1"),
        ];
        for (made, left) in expected {
            assert_eq!(joined(&swaps, made), left, "{made:?}");
        }
    }

    #[test]
    fn what_is_gone_with_another_swap_is_no_circumstance_any_more() {
        let gone = swap(0..10, &[SwapPiece::Text(b"y".to_vec())]);
        let swaps = Swaps::choose(vec![swap(6..7, &[]), gone, swap(2..3, &[])]);
        let space = InputSpace::Swaps(SwapSpace(swaps.clone()));
        let without = Configuration::full(3).without(&[1]);
        assert!(space.normalise(&without).is_empty());
        assert_eq!(joined(&swaps, &[1]), "y");
        assert_eq!(joined(&swaps, &[0, 2]), "f((h()))");
        let one = Configuration::full(3).without(&[0]);
        assert_eq!(space.normalise(&one), one);
    }

    #[test]
    fn what_crosses_or_comes_between_another_one_and_its_part_is_not_chosen() {
        let outer = swap(0..10, &[part(4..8)]);
        let chosen = |others: &[Swap]| {
            let outer = std::iter::once(outer.clone());
            Swaps::choose(outer.chain(others.iter().cloned()).collect()).len()
        };
        assert_eq!(chosen(&[swap(2..9, &[])]), 1);
        assert_eq!(chosen(&[swap(4..8, &[])]), 2);
        assert_eq!(chosen(&[swap(4..8, &[]), swap(6..9, &[])]), 2);
        assert_eq!(chosen(&[swap(0..10, &[])]), 1);
        // One stretch that does not fit is enough.
        assert_eq!(chosen(&[Swap { ranges: vec![4..5, 2..9], pieces: vec![] }]), 1);
    }
}
