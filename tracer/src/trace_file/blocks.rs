//! Blocks: frames of bytes that can be checked before anything is believed.

use std::hash::Hasher;
use std::io::{self, Read, Write};

use siphasher::sip::SipHasher13;

use super::bytes::ByteCursor;
use super::{BLOCK_EVENTS, EVENT_BYTES};

/// The length of a block's head: three numbers and a checksum.
const HEAD: usize = 20;

/// The level of compression: the fastest that still finds the repetitions of loops.
const LEVEL: i32 = 1;

/// A block that has been checked.
pub(super) struct Block {
    /// The number of events in it; 0 for the end.
    pub(super) events: u32,
    /// Its bytes, uncompressed.
    pub(super) bytes: Vec<u8>,
}

/// The checksum, which changes with every bit of the parts, and with the position of the block.
fn checksum(position: u64, parts: &[&[u8]]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(position, 0);
    parts.iter().for_each(|part| hasher.write(part));
    hasher.finish()
}

/// Writes a piece that stands alone, such as the header: its length, itself, a checksum.
pub(super) fn write_plain(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    let length = (bytes.len() as u32).to_le_bytes();
    out.write_all(&length)?;
    out.write_all(bytes)?;
    out.write_all(&checksum(u64::MAX, &[&length, bytes]).to_le_bytes())
}

/// Reads such a piece, as [`write_plain`] has written it, of at most `most` bytes; `Ok(None)` if it is damaged.
pub(super) fn read_plain(input: &mut dyn Read, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    let count = u32::from_le_bytes(length) as usize;
    if count > most {
        return Ok(None);
    }
    let (mut bytes, mut check) = (vec![0; count], [0; 8]);
    input.read_exact(&mut bytes)?;
    input.read_exact(&mut check)?;
    let sound = u64::from_le_bytes(check) == checksum(u64::MAX, &[&length, &bytes]);
    Ok(sound.then_some(bytes))
}

/// Writes blocks one after the other.
pub(super) struct BlockWriter<W> {
    out: W,
    position: u64,
    compressor: zstd::bulk::Compressor<'static>,
}

impl<W: Write> BlockWriter<W> {
    pub(super) fn new(out: W) -> io::Result<Self> {
        Ok(BlockWriter { out, position: 0, compressor: zstd::bulk::Compressor::new(LEVEL)? })
    }

    pub(super) fn write(&mut self, events: u32, bytes: &[u8]) -> io::Result<()> {
        let packed = self.compressor.compress(bytes)?;
        let mut head = Vec::with_capacity(HEAD);
        for number in [events, bytes.len() as u32, packed.len() as u32] {
            head.extend(number.to_le_bytes());
        }
        let check = checksum(self.position, &[&head, &packed]);
        head.extend(check.to_le_bytes());
        self.position += 1;
        self.out.write_all(&head)?;
        self.out.write_all(&packed)
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The reason why the next block cannot be had.
pub(super) enum Unsound {
    /// The file cannot be read.
    Unreadable(io::Error),
    /// The content is not what was written.
    Damaged(&'static str),
}

impl From<io::Error> for Unsound {
    fn from(error: io::Error) -> Unsound {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Unsound::Damaged("it ends too early"),
            _ => Unsound::Unreadable(error),
        }
    }
}

/// Reads blocks one after the other.
pub(super) struct BlockReader<R> {
    input: R,
    position: u64,
    decompressor: zstd::bulk::Decompressor<'static>,
}

impl<R: Read> BlockReader<R> {
    pub(super) fn new(input: R) -> io::Result<Self> {
        Ok(BlockReader { input, position: 0, decompressor: zstd::bulk::Decompressor::new()? })
    }

    /// Reads the next block. Lengths are believed only as far as a block can be large.
    pub(super) fn next(&mut self) -> Result<Block, Unsound> {
        let mut head = [0; HEAD];
        self.input.read_exact(&mut head)?;
        let mut numbers = ByteCursor(&head);
        let mut number = || numbers.u32().expect("a head is long enough");
        let (events, length, packed) = (number(), number() as usize, number() as usize);
        let most = BLOCK_EVENTS * EVENT_BYTES;
        if events as usize > BLOCK_EVENTS || length > most || packed > zstd::zstd_safe::compress_bound(most) {
            return Err(Unsound::Damaged("a block is larger than any that was written"));
        }
        let mut bytes = vec![0; packed];
        self.input.read_exact(&mut bytes)?;
        let check = numbers.u64().expect("a head is long enough");
        if checksum(self.position, &[&head[..HEAD - 8], &bytes]) != check {
            return Err(Unsound::Damaged("a checksum is wrong"));
        }
        self.position += 1;
        let bytes = self.decompressor.decompress(&bytes, length).ok().filter(|bytes| bytes.len() == length);
        Ok(Block { events, bytes: bytes.ok_or(Unsound::Damaged("a block cannot be decompressed"))? })
    }

    /// Whether nothing follows.
    pub(super) fn is_at_end(&mut self) -> io::Result<bool> {
        Ok(self.input.read(&mut [0])? == 0)
    }
}
