//! The prediction of where control goes next, so that an event can be written in one byte.
//!
//! A *move* leads from one event to the next: it closes some of the open calls and reaches a leader. Two
//! questions describe it. From the leader at hand: does control stay in the call, and where, or how many
//! calls are left? If some are: where does control go on, seen from the leader that had called? Programs
//! repeat themselves, so that to each question the latest answers at the same leader are remembered, and
//! the answer is written as its rank among them, or spelled out if it is new.

use super::bytes::{ByteCursor, put, unzigzag, zigzag};

/// The number of answers that are remembered for each question at each leader.
const REMEMBERED: usize = 4;

/// The rank of an answer that is spelled out.
const NEW: u8 = REMEMBERED as u8;

/// The number of ranks.
const RANKS: u8 = NEW + 1;

/// The flag of an answer that counts calls that are left.
const LEAVES: u32 = 1 << 31;

/// A number that is no answer: none is so large.
const NOTHING: u32 = u32::MAX;

/// A move: where control goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    /// The number of open calls that are over.
    pub(super) closed: u32,
    /// The leader that is reached.
    pub(super) leader: u32,
}

/// The origin of a move. Both are the number of leaders where there is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct From {
    /// The leader of the event at hand.
    pub(super) here: u32,
    /// The leader at which the innermost call that stays open was left.
    pub(super) caller: u32,
}

/// The latest answers to one question, the newest first.
#[derive(Clone, Copy)]
struct Answers([u32; REMEMBERED]);

impl Answers {
    /// The rank of an answer, which becomes the newest.
    fn rank(&mut self, answer: u32) -> u8 {
        let rank = self.0.iter().position(|&known| known == answer);
        self.0[..=rank.unwrap_or(REMEMBERED - 1)].rotate_right(1);
        self.0[0] = answer;
        rank.map_or(NEW, |rank| rank as u8)
    }

    /// The answer with this rank, which becomes the newest.
    fn at(&mut self, rank: u8) -> Option<u32> {
        let answer = *self.0.get(usize::from(rank)).filter(|&&answer| answer != NOTHING)?;
        self.0[..=usize::from(rank)].rotate_right(1);
        Some(answer)
    }
}

/// The predictor of moves, which knows those so far. Writer and reader learn the same.
pub(super) struct MovePredictor {
    /// The answers from each leader: the next one, or how many calls are left.
    moves: Vec<Answers>,
    /// The answers at each leader that has called: where control goes on after the call.
    returns: Vec<Answers>,
}

impl MovePredictor {
    /// A predictor that knows nothing yet of a program with so many leaders.
    pub(super) fn new(leaders: usize) -> MovePredictor {
        let answers = vec![Answers([NOTHING; REMEMBERED]); leaders + 1];
        MovePredictor { moves: answers.clone(), returns: answers }
    }

    /// Appends a move.
    pub(super) fn write(&mut self, from: From, next: Move, bytes: &mut Vec<u8>) {
        let (symbol, stays) = (bytes.len(), next.closed == 0);
        bytes.push(0);
        let answer = if stays { next.leader } else { LEAVES | next.closed };
        let rank = self.moves[from.here as usize].rank(answer);
        if rank == NEW {
            put(bytes, if stays { distance(from.here, next.leader) << 1 } else { next.closed << 1 | 1 });
        }
        bytes[symbol] = rank;
        if !stays {
            let rank = self.returns[from.caller as usize].rank(next.leader);
            if rank == NEW {
                put(bytes, distance(from.caller, next.leader));
            }
            bytes[symbol] += RANKS * rank;
        }
    }

    /// Reads a move. `caller` tells the leader at which the innermost call was left that stays open, once it is known
    /// how many are over; `None` if that cannot be.
    pub(super) fn read(
        &mut self,
        here: u32,
        caller: impl FnOnce(u32) -> Option<u32>,
        bytes: &mut ByteCursor<'_>,
    ) -> Option<Move> {
        let symbol = bytes.byte()?;
        let (first, second) = (symbol % RANKS, symbol / RANKS);
        let answer = match first {
            NEW => {
                let answer = spelled(here, bytes.number()?);
                self.moves[here as usize].rank(answer);
                answer
            }
            rank => self.moves[here as usize].at(rank)?,
        };
        if answer & LEAVES == 0 {
            return (second == 0).then_some(Move { closed: 0, leader: answer });
        }
        let closed = answer & !LEAVES;
        let caller = caller(closed)?;
        let leader = match second {
            NEW => {
                let leader = near(caller, bytes.number()?);
                self.returns[caller as usize].rank(leader);
                leader
            }
            rank => self.returns[caller as usize].at(rank)?,
        };
        Some(Move { closed, leader })
    }
}

/// A spelled out answer to the first question.
fn spelled(here: u32, number: u32) -> u32 {
    if number & 1 == 0 { near(here, number >> 1) & !LEAVES } else { LEAVES | number >> 1 }
}

/// The difference of two leaders as a small number: those that follow each other are mostly neighbours.
fn distance(from: u32, to: u32) -> u32 {
    zigzag(to.wrapping_sub(from) as i32)
}

fn near(from: u32, distance: u32) -> u32 {
    from.wrapping_add(unzigzag(distance) as u32)
}
