//! Read a trace from a file.

use std::hash::Hasher;
use std::path::Path;

use siphasher::sip::SipHasher13;
use tracer::trace_file::read_from;

use crate::subject::subject;

/// Reads `input` as a trace file, and once more as the events of one with sound checksums: else no change
/// would ever get past them.
///
/// # Panics
/// If reading does, or if its message has more than one line.
pub fn run(input: &[u8]) {
    read(input);
    read(&sealed(input));
}

fn read(bytes: &[u8]) {
    let subject = subject();
    if let Err(error) = read_from(bytes, Path::new("some/trace"), &subject.program, &subject.identity) {
        let told = error.to_string();
        assert!(told.starts_with("some/trace: ") && told.lines().count() == 1, "{told}");
    }
}

/// A file with one block: the first two bytes of `input` say how many events it holds, the others are
/// these.
pub fn sealed(input: &[u8]) -> Vec<u8> {
    let (count, events) = input.split_at(input.len().min(2));
    let count = count.iter().fold(0, |count, &byte| count << 8 | u32::from(byte));
    let mut file = header();
    file.extend(block(0, count, events));
    file.extend(block(1, 0, &u64::from(count).to_le_bytes()));
    file
}

/// The beginning of each file about the subject.
fn header() -> Vec<u8> {
    let subject = subject();
    let mut empty = Vec::new();
    tracer::trace_file::write(&mut empty, &subject.program, &subject.identity, &Default::default())
        .expect("memory can be written");
    empty.truncate(empty.len() - block(0, 0, &[0; 8]).len());
    empty
}

/// A block as the documentation of [`tracer::trace_file`] describes it.
fn block(position: u64, events: u32, bytes: &[u8]) -> Vec<u8> {
    let packed = zstd::bulk::compress(bytes, 1).expect("memory is there");
    let numbers = [events, bytes.len() as u32, packed.len() as u32].map(u32::to_le_bytes).concat();
    let mut hasher = SipHasher13::new_with_keys(position, 0);
    hasher.write(&numbers);
    hasher.write(&packed);
    [&numbers[..], &hasher.finish().to_le_bytes(), &packed].concat()
}
