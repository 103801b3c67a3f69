//! Store the outputs of tests.
//!
//! A search makes many tests, and most of them print nearly what the recorded run has printed. So an output
//! is held as an [`Edit`] of the recorded one, and equal ones are held once. What a test prints must not
//! cost its search any noticeable time: of an output that differs in much only the beginning is kept, and
//! once [`Outputs`] are full, further ones are not. Does not judge outputs and does not show them.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use siphasher::sip128::{Hasher128, SipHasher13};
use tracer::run::Run;

/// The number of bytes that are kept of what differs from a recorded text.
pub const LONGEST_EDIT: usize = 16 << 10;

/// The size of all outputs of a search, in bytes.
pub const MOST_BYTES: usize = 8 << 20;

/// The size of an output in memory besides what differs, in bytes.
const OVERHEAD: usize = 64;

/// The size of the pieces in which texts are compared, in bytes.
const PIECE: usize = 256;

/// The output of a run, as its difference from that of the recorded run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// Its standard output.
    pub stdout: Edit,
    /// Its standard error.
    pub stderr: Edit,
    key: u128,
}

/// A text, as its difference from a recorded one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edit {
    /// The number of bytes at the beginning that are those of the recorded text.
    pub start: usize,
    /// The bytes that come then.
    pub middle: Vec<u8>,
    /// The end of the text.
    pub rest: Rest,
}

/// The end of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rest {
    /// The last so many bytes of the recorded text.
    Recorded(usize),
    /// A number of bytes that are not kept.
    Lost(usize),
}

/// A text, as far as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The kept beginning, or all of it.
    pub kept: Vec<u8>,
    /// The number of bytes that came after that.
    pub lost: usize,
}

impl Printed {
    /// Creates an output from the two streams.
    pub fn new(stdout: Edit, stderr: Edit) -> Printed {
        let mut hasher = SipHasher13::new();
        (&stdout, &stderr).hash(&mut hasher);
        Printed { key: hasher.finish128().as_u128(), stdout, stderr }
    }

    /// The output of `run`, where `recorded` is the recorded run.
    pub fn of(run: &Run, recorded: &Run) -> Printed {
        Printed::new(Edit::of(&run.stdout, &recorded.stdout), Edit::of(&run.stderr, &recorded.stderr))
    }

    /// A hash of the output: equal outputs have equal keys.
    pub fn key(&self) -> u128 {
        self.key
    }

    fn size(&self) -> usize {
        self.stdout.middle.len() + self.stderr.middle.len() + OVERHEAD
    }
}

impl Edit {
    /// The edit that makes `text` of `recorded`.
    pub fn of(text: &[u8], recorded: &[u8]) -> Edit {
        let start = common(text.chunks(PIECE).zip(recorded.chunks(PIECE)), text.iter().zip(recorded));
        let (text, recorded) = (&text[start..], &recorded[start..]);
        let end = common(
            text.rchunks(PIECE).zip(recorded.rchunks(PIECE)),
            text.iter().rev().zip(recorded.iter().rev()),
        );
        let middle = &text[..text.len() - end];
        match middle.len().checked_sub(LONGEST_EDIT) {
            None | Some(0) => Edit { start, middle: middle.to_vec(), rest: Rest::Recorded(end) },
            Some(more) => {
                Edit { start, middle: middle[..LONGEST_EDIT].to_vec(), rest: Rest::Lost(more + end) }
            }
        }
    }

    /// The text that the edit makes of `recorded`; `None` if that is shorter than it must have been.
    pub fn text(&self, recorded: &[u8]) -> Option<Text> {
        let mut kept = recorded.get(..self.start)?.to_vec();
        kept.extend(&self.middle);
        let lost = match self.rest {
            Rest::Lost(bytes) => bytes,
            Rest::Recorded(bytes) => {
                kept.extend(&recorded[recorded.len().checked_sub(bytes)?..]);
                0
            }
        };
        Some(Text { kept, lost })
    }
}

/// The number of equal bytes from where two texts begin: in whole pieces first, which is fast.
fn common<'t>(
    pieces: impl Iterator<Item = (&'t [u8], &'t [u8])>,
    bytes: impl Iterator<Item = (&'t u8, &'t u8)>,
) -> usize {
    let whole = pieces.take_while(|(one, other)| one.len() == PIECE && one == other).count() * PIECE;
    whole + bytes.skip(whole).take_while(|(one, other)| one == other).count()
}

/// A store of the different outputs of the tests of a search.
///
/// Several workers may use it at the same time. Once there is no more room, it is by chance which outputs
/// have come first.
#[derive(Debug)]
pub struct Outputs<'r> {
    recorded: &'r Run,
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    all: HashMap<u128, Arc<Printed>>,
    /// The number of bytes that may still be kept.
    room: usize,
}

impl<'r> Outputs<'r> {
    /// Creates an empty store; outputs are held as differences from those of `recorded`.
    pub fn new(recorded: &'r Run) -> Outputs<'r> {
        Outputs::with_room(recorded, MOST_BYTES)
    }

    fn with_room(recorded: &'r Run, room: usize) -> Outputs<'r> {
        Outputs { recorded, known: Mutex::new(Known { all: HashMap::new(), room }) }
    }

    /// Returns the store with the outputs that an earlier search has kept.
    pub fn knowing(self, earlier: impl IntoIterator<Item = Arc<Printed>>) -> Outputs<'r> {
        earlier.into_iter().for_each(|printed| drop(self.add(printed)));
        self
    }

    /// Stores the output of a run; `None` if there is no more room.
    pub fn keep(&self, run: &Run) -> Option<Arc<Printed>> {
        self.add(Arc::new(Printed::of(run, self.recorded)))
    }

    /// Keeps an output, as it is known if it is; `None` if there is no more room.
    pub fn add(&self, printed: Arc<Printed>) -> Option<Arc<Printed>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(same) = known.all.get(&printed.key) {
            return Some(Arc::clone(same));
        }
        known.room = known.room.checked_sub(printed.size())?;
        known.all.insert(printed.key, Arc::clone(&printed));
        Some(printed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts of a few letters, so that they have much in common.
    fn texts() -> Vec<Vec<u8>> {
        let letters = |number: u32| (0..number % 7).map(|place| b'a' + (number >> place & 1) as u8).collect();
        let long = |middle: &[u8]| [&[b'x'; 3 * PIECE], middle, &[b'y'; 2 * PIECE + 7]].concat();
        let longer = [&b""[..], b"x", b"y", b"xy", b"sum", &[b'x'; PIECE], &[b'y'; PIECE - 1]];
        (0..90).map(letters).chain(longer.into_iter().map(long)).collect()
    }

    #[test]
    fn every_text_comes_back_from_every_other() {
        for recorded in texts() {
            for text in texts() {
                let edit = Edit::of(&text, &recorded);
                assert_eq!(edit.text(&recorded), Some(Text { kept: text.clone(), lost: 0 }), "{recorded:?}");
                assert!(edit.middle.len() <= text.len());
                assert!(text != recorded || edit.middle.is_empty());
            }
        }
    }

    #[test]
    fn of_a_text_that_differs_in_much_the_beginning_is_kept() {
        let (recorded, text) = (b"begin end".to_vec(), [b"begin ", &[b'!'; LONGEST_EDIT + 5][..], b"end"]);
        let edit = Edit::of(&text.concat(), &recorded);
        assert_eq!((edit.start, edit.rest), (6, Rest::Lost(8)));
        let text = edit.text(&recorded).unwrap();
        assert_eq!((text.kept.len(), text.lost), (6 + LONGEST_EDIT, 8));
    }

    #[test]
    fn an_edit_of_another_text_is_noticed() {
        let edit = Edit::of(b"sum = 14\n", b"sum = 15\n");
        assert_eq!((edit.text(b"sum"), edit.text(b"")), (None, None));
        assert_eq!(Edit { start: 0, ..edit }.text(b""), None);
    }

    #[test]
    fn equal_outputs_are_kept_once_and_none_without_room() {
        let recorded = Run::with_output(b"sum = 15\n", b"");
        let outputs = Outputs::with_room(&recorded, 2 * (OVERHEAD + 1));
        let first = outputs.keep(&Run::with_output(b"sum = 14\n", b"")).unwrap();
        let second = outputs.keep(&Run::with_output(b"sum = 15\n", b"!")).unwrap();
        assert_ne!(first.key(), second.key());
        assert_eq!(outputs.keep(&Run::with_output(b"", b"")), None);
        let again = outputs.keep(&Run::with_output(b"sum = 14\n", b"")).unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        let later = Outputs::with_room(&recorded, 0).knowing([first]);
        assert_eq!(later.keep(&Run::with_output(b"sum = 14\n", b"")), None, "the room holds for both");
    }
}
