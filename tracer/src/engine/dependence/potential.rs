//! *Potential dependences*: the decisions that could have written what is read, had they gone another way, after the
//! event that has written it.
//!
//! Source: Agrawal, Horgan, Krauser and London, "Incremental Regression Testing", ICSM 1993; Gyimóthy, Beszédes and
//! Forgács, "An Efficient Relevant Slicing Method for Debugging", ESEC/FSE 1999.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::writers::{LastWriter, NOBODY};
use crate::program::other_ways::{FixedPlace, PossibleStore};
use crate::program::variables::{Memory, MemoryPiece, RegisterValues, Variables, View};
use crate::program::{LeaderId, Program};

/// The number of bytes that may be meant where nothing is known of the variable.
const WORD: u64 = 8;

/// The number of bytes of a larger variable that count as written.
const MOST_BYTES: u64 = 1 << 16;

/// The decisions of the run so far, with what they could have written.
#[derive(Default)]
pub(super) struct OtherWays {
    /// The possible stores, by the decision's leader and the one that has followed.
    known: HashMap<(LeaderId, Option<LeaderId>), Rc<Vec<PossibleStore>>>,
    /// The decisions that could have written each byte, in order.
    chances: HashMap<u64, Vec<LastWriter>>,
    /// The memory that instructions of the program have written, by their addresses in the file.
    written: HashMap<u64, HashSet<(u64, u64)>>,
    /// The number of entries in all lists of decisions.
    count: u64,
    /// Whether something could have been written at an unknown place.
    pub(super) lacks: bool,
}

/// A decision that has been made.
pub(super) struct MadeDecision<'d> {
    pub(super) event: LastWriter,
    pub(super) leader: LeaderId,
    /// The leader where control went on.
    pub(super) taken: Option<LeaderId>,
    pub(super) registers: &'d RegisterValues,
    pub(super) bias: u64,
}

impl OtherWays {
    /// Notes that the run has come to a decision.
    pub(super) fn decide(
        &mut self,
        (program, variables): (&Program, &Variables),
        memory: &dyn Memory,
        decision: MadeDecision<'_>,
    ) {
        let MadeDecision { event, leader, taken, registers, bias } = decision;
        let stores = self
            .known
            .entry((leader, taken))
            .or_insert_with(|| Rc::new(program.possible_stores(leader, taken)))
            .clone();
        let function = program.leader(leader).function;
        let view = View { function, registers, bias, memory, followed: &[] };
        let address = |place| match place {
            // The frame pointer.
            FixedPlace::Frame(offset) => registers.general[5].wrapping_add_signed(offset),
            FixedPlace::Global(address) => address.wrapping_add(bias),
        };
        for &store in stores.iter() {
            match store {
                PossibleStore::At(place, length) => self.add(event, address(place), length),
                PossibleStore::Within(place) => {
                    let start = address(place);
                    let whole = variables.object(view, start);
                    let (start, size) = whole.map_or((start, WORD), |whole| (whole.address, whole.size));
                    self.add(event, start, size.min(MOST_BYTES));
                }
                PossibleStore::Through(place, distance, length) => {
                    let pointer = memory.read(address(place), WORD as usize).unwrap_or_default();
                    if let Ok(pointer) = pointer.try_into() {
                        let start = u64::from_le_bytes(pointer).wrapping_add_signed(distance);
                        self.add(event, start, length);
                    }
                }
                PossibleStore::Unknown => self.lacks = true,
                PossibleStore::Somewhere(instruction) => {
                    let places = self.written.get(&instruction).cloned();
                    self.lacks |= places.is_none();
                    places.into_iter().flatten().for_each(|(start, length)| self.add(event, start, length));
                }
            }
        }
    }

    fn add(&mut self, event: LastWriter, start: u64, length: u64) {
        for at in start..start.saturating_add(length) {
            let decisions = self.chances.entry(at).or_default();
            if decisions.last() != Some(&event) {
                decisions.push(event);
                self.count += 1;
            }
        }
    }

    /// Notes that an instruction of the program has written memory.
    pub(super) fn writes(&mut self, instruction: u64, piece: MemoryPiece) {
        self.written.entry(instruction).or_default().insert((piece.address, piece.length));
    }

    /// The decisions that could have written a byte after the event that has.
    pub(super) fn since(&self, address: u64, writer: LastWriter) -> &[LastWriter] {
        let Some(decisions) = self.chances.get(&address) else { return &[] };
        let behind = if writer == NOBODY { 0 } else { decisions.partition_point(|&one| one <= writer) };
        &decisions[behind..]
    }

    /// The size of this in memory, in bytes, about.
    pub(super) fn memory(&self) -> u64 {
        self.count * size_of::<LastWriter>() as u64 + self.chances.len() as u64 * 64
    }
}
