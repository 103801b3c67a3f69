//! The integrity of a session: whether a test has left alone what the tracer has written for it.
//!
//! A session lies in the memory of the program that it is about, which may run amok. Most of it is written by the
//! tracer before a test, and only read in it; so is the rest of its page, which holds nothing, and the list of
//! the events that are kept. If any of that is another one afterwards, then what the agent writes is no more to
//! be trusted, and neither is the run.

use std::mem::offset_of;

use agent::session::Session;

use super::inside::{Channel, offset};

/// The parts of a session that a test must leave as they are.
#[derive(Debug, Default)]
pub(super) struct Integrity {
    /// The page with the session, in which all is zero that the agent writes.
    page: Vec<u8>,
    /// The list of kept events.
    kept: Vec<u8>,
}

/// The parts of the session that the agent writes, or that the tracer writes during a test: offsets and lengths.
const WRITTEN: [(usize, usize); 14] = [
    (offset_of!(Session, program_sp), 8),
    (offset_of!(Session, target), 8),
    (offset_of!(Session, spare), 16),
    (offset_of!(Session, undefinition.resume), 8),
    (offset_of!(Session, undefinition.keep), 8),
    (offset_of!(Session, depth), 4),
    (offset_of!(Session, pace.current), 4),
    (offset_of!(Session, pace.arrivals), 8),
    (offset_of!(Session, pace.redirections), 8),
    (offset_of!(Session, position), size_of::<agent::lockstep::Position>()),
    (offset_of!(Session, expectation), size_of::<agent::lockstep::Expectation>()),
    (offset_of!(Session, verdict), size_of::<agent::session::Verdict>()),
    (offset_of!(Session, stack.floor), 8),
    (offset_of!(Session, service.child), 4),
];

impl Integrity {
    /// Writes the session and the list of kept events, which lies at this offset, for a test that begins.
    pub(super) fn establish(&mut self, talk: &Channel, session: Session, list: u64, kept: Vec<u8>) {
        talk.memory.set(0, session);
        talk.memory.put(list, &kept);
        *self = Integrity { page: page(talk), kept };
    }

    /// Notes that the tracer keeps an event after all.
    pub(super) fn keep(&mut self, event: usize) {
        self.kept[event] = 1;
    }

    /// Whether all is as it was written, and `wanted` was asked for last.
    pub(super) fn holds(&self, talk: &Channel, list: u64, wanted: u32) -> bool {
        let word = (offset::WANTED as usize)..(offset::WANTED as usize + size_of::<u32>());
        let mut expected = self.page.clone();
        expected[word].copy_from_slice(&wanted.to_ne_bytes());
        page(talk) == expected && talk.memory.holds(list, &self.kept)
    }
}

/// The page with the session, without what is written to it.
fn page(talk: &Channel) -> Vec<u8> {
    let mut page = Vec::new();
    talk.memory.append_to(&mut page, 0, Channel::REST as usize);
    for (offset, length) in WRITTEN {
        page[offset..offset + length].fill(0);
    }
    page
}
