//! Tests of trace files: random traces come back unchanged; damaged files are refused.

use std::path::Path;

use super::{Identity, ImageIdentity, TraceFileError, read_from, write};
use crate::program::Program;
use crate::program::sketch::leader;
use crate::tests::random::{LINES, Numbers, random_trace, subject};
use crate::trace::{Trace, TraceBuilder};

fn identity() -> Identity {
    let image = ImageIdentity { build_id: Some("c0ffee".into()), size: 4711, hash: 1 << 100 };
    Identity { images: vec![image], leaders: 24, layout: 42 }
}

fn file(program: &Program, trace: &Trace) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes, program, &identity(), trace).expect("memory can be written");
    bytes
}

fn read(program: &Program, bytes: &[u8]) -> Result<Trace, TraceFileError> {
    read_from(bytes, Path::new("some/trace"), program, &identity())
}

fn refusal(program: &Program, bytes: &[u8]) -> String {
    read(program, bytes).expect_err("a file that is not sound").to_string()
}

#[test]
fn random_traces_come_back_unchanged() {
    let program = subject();
    for seed in 0..300 {
        let trace = random_trace(&program, seed, (seed * seed) as usize % 5000);
        assert!(read(&program, &file(&program, &trace)).expect("a sound file") == trace, "seed {seed}");
    }
}

#[test]
fn a_trace_of_many_blocks_comes_back_unchanged() {
    let program = subject();
    for events in [super::BLOCK_EVENTS - 1, super::BLOCK_EVENTS, 3 * super::BLOCK_EVENTS + 1] {
        let trace = random_trace(&program, 7, events);
        assert!(read(&program, &file(&program, &trace)).expect("a sound file") == trace, "{events} events");
    }
}

#[test]
fn a_loop_takes_much_less_than_a_byte_an_event() {
    let program = subject();
    let mut builder = TraceBuilder::default();
    builder.arrive(&program, leader(&program, "main", 1), 1 << 40).expect("an entry");
    for round in 0..100_000u32 {
        let line = LINES[round as usize % 3];
        builder.arrive(&program, leader(&program, "main", line), (1 << 40) - 8).expect("in main");
    }
    let trace = builder.finish();
    let bytes = file(&program, &trace).len();
    assert!(bytes * 100 < trace.len(), "{bytes} bytes for {} events", trace.len());
}

#[test]
fn a_file_that_ends_at_any_earlier_byte_is_refused() {
    let program = subject();
    let bytes = file(&program, &random_trace(&program, 3, 200));
    for length in 0..bytes.len() {
        let told = refusal(&program, &bytes[..length]);
        assert!(told.starts_with("some/trace: is ") && told.contains(": "), "{length}: {told}");
    }
}

#[test]
fn a_file_with_any_bit_flipped_is_refused() {
    let program = subject();
    let bytes = file(&program, &random_trace(&program, 5, 200));
    for bit in 0..8 * bytes.len() {
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        let told = refusal(&program, &bytes);
        assert!(told.starts_with("some/trace: "), "bit {bit}: {told}");
    }
}

#[test]
fn a_file_with_more_behind_its_end_or_random_bytes_is_refused() {
    let program = subject();
    let mut bytes = file(&program, &random_trace(&program, 5, 100));
    bytes.push(0);
    assert!(refusal(&program, &bytes).contains("is damaged (its end is not where it should be): record"));
    let mut numbers = Numbers(99);
    for length in 0..200 {
        let mut noise: Vec<u8> = (0..length).map(|_| numbers.below(256) as u8).collect();
        assert!(refusal(&program, &noise).contains("is not a trace file"));
        noise.splice(0..0, *b"stripe trace 1\n");
        assert!(refusal(&program, &noise).contains("is damaged"));
    }
}

#[test]
fn exchanged_blocks_are_noticed() {
    let program = subject();
    let trace = random_trace(&program, 11, 2 * super::BLOCK_EVENTS);
    let bytes = file(&program, &trace);
    let begin = file(&program, &Trace::default()).len() - end_of(&Trace::default()).len();
    let packed = |at: usize| u32::from_le_bytes(bytes[at + 8..at + 12].try_into().expect("four")) as usize;
    let second = begin + 20 + packed(begin);
    let third = second + 20 + packed(second);
    let exchanged = [&bytes[..begin], &bytes[second..third], &bytes[begin..second], &bytes[third..]].concat();
    assert!(refusal(&program, &exchanged).contains("a checksum is wrong"));
}

/// The last block of a file of this trace.
fn end_of(trace: &Trace) -> Vec<u8> {
    let program = subject();
    let bytes = file(&program, trace);
    let header = super::MAGIC.len() + super::VERSION.len() + 12 + identity().to_bytes().len();
    bytes[header..].to_vec()
}

#[test]
fn another_version_and_another_program_are_told_apart() {
    let program = subject();
    let mut bytes = file(&program, &random_trace(&program, 5, 100));
    let other = |change: fn(&mut Identity)| {
        let mut identity = identity();
        change(&mut identity);
        let read = read_from(&bytes[..], Path::new("some/trace"), &program, &identity);
        read.expect_err("another program").to_string()
    };
    let told = other(|identity| identity.images[0].build_id = None);
    assert!(told.contains("belongs to another program: the executable has the build id none"), "{told}");
    assert!(other(|identity| identity.images[0].size = 1).contains("has 1 bytes instead of 4711"));
    assert!(other(|identity| identity.images[0].hash = 1).contains("has another content"));
    assert!(other(|identity| identity.leaders = 1).contains("another --scope, --granularity"));
    bytes[13] = b'2';
    let told = refusal(&program, &bytes);
    assert!(told.starts_with("some/trace: is a trace file of version 2"), "{told}");
}
