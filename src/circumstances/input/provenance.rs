//! Tell which bytes of a part are still there after several steps, and what stands in the place of others.

use std::ops::Range;

/// A stretch of what is left of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputPiece {
    /// These bytes of the original.
    Kept(Range<usize>),
    /// Something else.
    Other(Vec<u8>),
}

impl InputPiece {
    /// The number of its bytes.
    pub fn len(&self) -> usize {
        match self {
            InputPiece::Kept(range) => range.len(),
            InputPiece::Other(text) => text.len(),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The provenance of the bytes of a part: its pieces in order. Those that are kept are in the order of the original.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The pieces; neighbours are merged.
    pub pieces: Vec<InputPiece>,
}

impl Provenance {
    /// All of a part as it was given.
    pub fn whole(length: usize) -> Provenance {
        Provenance {
            pieces: Some(InputPiece::Kept(0..length)).filter(|piece| !piece.is_empty()).into_iter().collect(),
        }
    }

    /// The number of bytes of all pieces.
    pub fn len(&self) -> usize {
        self.pieces.iter().map(InputPiece::len).sum()
    }

    /// Whether nothing is there.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The same in the original, where `self` consists of pieces of what `before` tells of. `original` is the part as it
    /// was given.
    pub(super) fn within(&self, before: &Provenance, original: &[u8]) -> Provenance {
        let mut starts = Vec::with_capacity(before.pieces.len());
        let mut at = 0;
        for piece in &before.pieces {
            starts.push(at);
            at += piece.len();
        }
        let mut found = Provenance::default();
        for piece in &self.pieces {
            let range = match piece {
                InputPiece::Other(text) => {
                    found.push(InputPiece::Other(text.clone()), original);
                    continue;
                }
                InputPiece::Kept(range) => range,
            };
            let first = starts.partition_point(|start| *start <= range.start).saturating_sub(1);
            for (start, piece) in starts.iter().zip(&before.pieces).skip(first) {
                let from = range.start.max(*start) - start;
                let to = range.end.min(start + piece.len()).saturating_sub(*start);
                if *start >= range.end {
                    break;
                }
                if from < to {
                    found.push(part_of(piece, from..to), original);
                }
            }
        }
        found
    }

    /// Appends a piece. One that stands before others in the original has changed its place: it is something else.
    pub(super) fn push(&mut self, piece: InputPiece, original: &[u8]) {
        if piece.is_empty() {
            return;
        }
        let behind = self.pieces.iter().rev().find_map(|piece| match piece {
            InputPiece::Kept(range) => Some(range.end),
            InputPiece::Other(_) => None,
        });
        let piece = match piece {
            InputPiece::Kept(range) if range.start < behind.unwrap_or(0) => {
                InputPiece::Other(original[range].to_vec())
            }
            piece => piece,
        };
        match (self.pieces.last_mut(), piece) {
            (Some(InputPiece::Kept(last)), InputPiece::Kept(next)) if last.end == next.start => {
                last.end = next.end
            }
            (Some(InputPiece::Other(last)), InputPiece::Other(next)) => last.extend(next),
            (_, piece) => self.pieces.push(piece),
        }
    }
}

fn part_of(piece: &InputPiece, range: Range<usize>) -> InputPiece {
    match piece {
        InputPiece::Kept(kept) => InputPiece::Kept(kept.start + range.start..kept.start + range.end),
        InputPiece::Other(text) => InputPiece::Other(text[range].to_vec()),
    }
}

/// The provenances of the bytes of all parts; `None` for parts that are left out.
pub type Provenances = Vec<Option<Provenance>>;

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(range: Range<usize>) -> InputPiece {
        InputPiece::Kept(range)
    }

    fn other(text: &str) -> InputPiece {
        InputPiece::Other(text.into())
    }

    #[test]
    fn pieces_of_pieces_are_pieces_of_the_original() {
        let original = b"0123456789";
        // 12 x 67
        let before = Provenance { pieces: vec![kept(1..3), other("x"), kept(6..8)] };
        let within =
            |pieces: &[InputPiece]| Provenance { pieces: pieces.to_vec() }.within(&before, original).pieces;
        assert_eq!(within(&[kept(0..5)]), before.pieces);
        assert_eq!(within(&[kept(1..4)]), [kept(2..3), other("x"), kept(6..7)]);
        assert_eq!(within(&[kept(0..1), kept(1..2)]), [kept(1..3)]);
        assert_eq!(within(&[other("y"), kept(2..3), other("z")]), [other("yxz")]);
        assert_eq!(within(&[kept(2..2)]), []);
    }

    #[test]
    fn what_has_changed_its_place_is_something_else() {
        let moved = Provenance { pieces: vec![kept(5..7), kept(1..3)] };
        let found = moved.within(&Provenance::whole(10), b"0123456789");
        assert_eq!(found.pieces, [kept(5..7), other("12")]);
    }
}
