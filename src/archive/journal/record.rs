//! Encode single records as bytes, and decode them.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

use super::super::ranges::{Ranges, put, take};
use crate::circumstances::PhaseId;
use crate::oracle::EvidenceKind;
use crate::printed::{Edit, Printed, Rest};
use dd::Outcome;

/// A record of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// A phase begins or goes on, with the number of circumstances.
    Phase { phase: PhaseId, universe: usize },
    /// This set is tried first.
    Guess { fingerprint: u128, members: Ranges },
    /// The search goes on from this set.
    Set { fingerprint: u128, members: Ranges },
    /// The search goes on from the last set without these.
    Without { fingerprint: u128, members: Ranges },
    /// A reason with its kind; its number is that of the reasons before it.
    Why(String, EvidenceKind),
    /// An output; its number is that of the outputs before it.
    Printed(Printed),
    /// A test of the configuration with this fingerprint. Its output may not be kept.
    Test { fingerprint: u128, outcome: Outcome, why: u64, printed: Option<u64> },
    /// The total effort so far.
    Effort { runs: u64, milliseconds: u64 },
}

impl Record {
    /// Encodes the record with its frame, for this place of the file.
    pub(super) fn framed(&self, place: u64) -> Vec<u8> {
        let content = self.content();
        let mut bytes = Vec::with_capacity(content.len() + 9);
        put(&mut bytes, content.len() as u64);
        bytes.extend(&content);
        bytes.extend(checksum(place, &content).to_le_bytes());
        bytes
    }

    /// Decodes the record at the front of `bytes`, which stand at this place of the file, and takes it off them.
    pub(super) fn unframe(bytes: &mut &[u8], place: u64) -> Result<Record, JournalDamage> {
        let length = take(bytes).ok_or(JournalDamage::Short)?;
        let length = usize::try_from(length).map_err(|_| JournalDamage::Short)?;
        let (content, rest) = bytes.split_at_checked(length).ok_or(JournalDamage::Short)?;
        let (check, rest) = rest.split_first_chunk().ok_or(JournalDamage::Short)?;
        if u32::from_le_bytes(*check) != checksum(place, content) {
            return Err(JournalDamage::Wrong);
        }
        *bytes = rest;
        Record::parse(content).ok_or(JournalDamage::Wrong)
    }

    fn content(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Record::Phase { phase, universe } => {
                bytes.extend([b'P', phase.0]);
                put(&mut bytes, *universe as u64);
            }
            Record::Guess { fingerprint, members }
            | Record::Set { fingerprint, members }
            | Record::Without { fingerprint, members } => {
                bytes.push(match self {
                    Record::Guess { .. } => b'G',
                    Record::Set { .. } => b'S',
                    _ => b'I',
                });
                bytes.extend(fingerprint.to_le_bytes());
                members.write(&mut bytes);
            }
            Record::Why(why, EvidenceKind::Plain) => {
                bytes.push(b'W');
                bytes.extend(why.bytes());
            }
            Record::Why(why, EvidenceKind::Ambiguous) => {
                bytes.push(b'A');
                bytes.extend(why.bytes());
            }
            Record::Why(why, EvidenceKind::OtherFailure(failure)) => {
                bytes.push(b'F');
                put(&mut bytes, failure.len() as u64);
                bytes.extend(failure.bytes());
                bytes.extend(why.bytes());
            }
            Record::Printed(printed) => {
                bytes.push(b'O');
                write_edit(&mut bytes, &printed.stdout);
                write_edit(&mut bytes, &printed.stderr);
            }
            Record::Test { fingerprint, outcome, why, printed } => {
                bytes.extend([b'T', spelled(*outcome)]);
                bytes.extend(fingerprint.to_le_bytes());
                put(&mut bytes, *why);
                printed.iter().for_each(|&printed| put(&mut bytes, printed));
            }
            Record::Effort { runs, milliseconds } => {
                bytes.push(b'E');
                put(&mut bytes, *runs);
                put(&mut bytes, *milliseconds);
            }
        }
        bytes
    }

    fn parse(content: &[u8]) -> Option<Record> {
        let (kind, mut rest) = content.split_first()?;
        let record = match kind {
            b'P' => {
                let (&phase, after) = rest.split_first()?;
                rest = after;
                Record::Phase { phase: PhaseId(phase), universe: usize::try_from(take(&mut rest)?).ok()? }
            }
            b'G' => Record::Guess { fingerprint: fingerprint(&mut rest)?, members: Ranges::read(rest)? },
            b'S' => Record::Set { fingerprint: fingerprint(&mut rest)?, members: Ranges::read(rest)? },
            b'I' => Record::Without { fingerprint: fingerprint(&mut rest)?, members: Ranges::read(rest)? },
            b'W' => Record::Why(text(rest)?, EvidenceKind::Plain),
            b'A' => Record::Why(text(rest)?, EvidenceKind::Ambiguous),
            b'F' => {
                let length = take_length(&mut rest)?;
                let (failure, why) = rest.split_at_checked(length)?;
                Record::Why(text(why)?, EvidenceKind::OtherFailure(text(failure)?))
            }
            b'T' => {
                let (outcome, after) = rest.split_first()?;
                rest = after;
                let outcome = unspelled(*outcome)?;
                let (fingerprint, why) = (fingerprint(&mut rest)?, take(&mut rest)?);
                let printed = if rest.is_empty() { None } else { Some(take(&mut rest)?) };
                Record::Test { fingerprint, outcome, why, printed }
            }
            b'O' => Record::Printed(Printed::new(read_edit(&mut rest)?, read_edit(&mut rest)?)),
            b'E' => Record::Effort { runs: take(&mut rest)?, milliseconds: take(&mut rest)? },
            _ => return None,
        };
        Some(record)
    }
}

/// The reason why a record cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JournalDamage {
    /// The file ends within it.
    Short,
    /// Its content is not what was written: the checksum differs.
    Wrong,
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

/// The outcome as a letter, after the signs of the papers.
fn spelled(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Fail => b'x',
        Outcome::Pass => b'v',
        Outcome::Unresolved => b'?',
    }
}

fn unspelled(letter: u8) -> Option<Outcome> {
    match letter {
        b'x' => Some(Outcome::Fail),
        b'v' => Some(Outcome::Pass),
        b'?' => Some(Outcome::Unresolved),
        _ => None,
    }
}

fn checksum(place: u64, content: &[u8]) -> u32 {
    let mut hasher = SipHasher13::new_with_keys(place, 0);
    hasher.write(content);
    hasher.finish() as u32
}

fn write_edit(bytes: &mut Vec<u8>, edit: &Edit) {
    put(bytes, edit.start as u64);
    put(bytes, edit.middle.len() as u64);
    bytes.extend(&edit.middle);
    let (letter, rest) = match edit.rest {
        Rest::Recorded(rest) => (b'r', rest),
        Rest::Lost(rest) => (b'l', rest),
    };
    bytes.push(letter);
    put(bytes, rest as u64);
}

fn read_edit(bytes: &mut &[u8]) -> Option<Edit> {
    let start = take_length(bytes)?;
    let length = take_length(bytes)?;
    let (middle, behind) = bytes.split_at_checked(length)?;
    let (letter, behind) = behind.split_first()?;
    *bytes = behind;
    let rest = take_length(bytes)?;
    let rest = if *letter == b'r' { Rest::Recorded(rest) } else { Rest::Lost(rest) };
    Some(Edit { start, middle: middle.to_vec(), rest })
}

fn fingerprint(bytes: &mut &[u8]) -> Option<u128> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u128::from_le_bytes(*taken))
}

fn take_length(bytes: &mut &[u8]) -> Option<usize> {
    usize::try_from(take(bytes)?).ok()
}
