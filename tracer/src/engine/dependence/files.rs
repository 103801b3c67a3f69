//! The data flow through files, and what is printed.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use super::writers::{LastWriter, MemoryWriters, NOBODY};
use crate::address::RuntimeAddress;
use crate::dependence::{Printed, PrintedBytes};
use crate::process::{MemoryRange, Tracee};
use crate::trace::EventId;

/// The writers of the files that a program uses.
#[derive(Default)]
pub(super) struct FileWriters {
    /// The files that standard output and standard error lead to at the beginning.
    standard: [Option<PathBuf>; 2],
    files: HashMap<PathBuf, FileState>,
    pub(super) printed: [Printed; 2],
}

/// The writers of a file.
#[derive(Default)]
struct FileState {
    /// The last writer of the file position.
    position: Option<LastWriter>,
    /// The writers of the contents.
    contents: BTreeSet<LastWriter>,
}

/// A handover of bytes to the kernel: by whom, and how.
#[derive(Clone, Copy)]
pub(super) struct Handover {
    pub(super) flusher: LastWriter,
    /// The event by which the descriptor leads where it does.
    pub(super) opener: LastWriter,
    /// Whether it only makes room in a stream.
    pub(super) is_by_the_way: bool,
}

impl FileWriters {
    pub(super) fn new(tracee: &Tracee) -> FileWriters {
        FileWriters { standard: [1, 2].map(|number| tracee.descriptor(number)), ..FileWriters::default() }
    }

    /// The writers of what a descriptor yields that is read from; with a `reader` that of the file position, too, whose
    /// last writer is then the reader.
    pub(super) fn read(
        &mut self,
        tracee: &Tracee,
        descriptor: u64,
        reader: Option<LastWriter>,
    ) -> Vec<LastWriter> {
        let Some(path) = tracee.descriptor(descriptor) else { return Vec::new() };
        let state = self.files.entry(path).or_default();
        let position = reader.and_then(|reader| state.position.replace(reader));
        state.contents.iter().copied().chain(position).filter(|&writer| writer != NOBODY).collect()
    }

    /// Notes that bytes are written to a descriptor.
    pub(super) fn write(
        &mut self,
        tracee: &Tracee,
        memory: &MemoryWriters,
        (descriptor, pieces): (u64, &[MemoryRange]),
        handover: Handover,
    ) {
        let target = tracee.descriptor(descriptor);
        match self.standard(descriptor, target.as_ref()) {
            Some(number) => {
                let printed = &mut self.printed[number];
                pieces.iter().for_each(|&piece| print(printed, tracee, memory, piece, handover));
            }
            None => {
                let state = self.files.entry(target.unwrap_or_default()).or_default();
                state.position = Some(handover.flusher);
                state.contents.insert(handover.flusher);
                for &(address, length) in pieces {
                    memory.each(address, length, |writer| {
                        state.contents.insert(writer);
                    });
                }
            }
        }
    }

    /// The number of the standard stream to which a descriptor leads: standard output (0) or standard error (1).
    fn standard(&self, descriptor: u64, target: Option<&PathBuf>) -> Option<usize> {
        let is_same = |number: &usize| self.standard[*number].as_ref() == target && target.is_some();
        let own = descriptor.checked_sub(1).map(|number| number as usize).filter(|&number| number < 2);
        own.filter(|number| is_same(number)).or_else(|| [0, 1].into_iter().find(is_same))
    }
}

fn print(
    printed: &mut Printed,
    tracee: &Tracee,
    memory: &MemoryWriters,
    (address, length): MemoryRange,
    Handover { flusher, opener, is_by_the_way }: Handover,
) {
    let bytes = tracee.read(RuntimeAddress(address), length as usize).unwrap_or_default();
    let event = |writer: LastWriter| (writer != NOBODY).then_some(EventId(writer));
    for at in (address..).take(bytes.len()) {
        let piece = PrintedBytes {
            length: 1,
            writer: event(memory.get(at)),
            flusher: event(flusher),
            opener: event(opener),
            is_by_the_way,
        };
        match printed.pieces.last_mut() {
            Some(last) if PrintedBytes { length: 1, ..*last } == piece => last.length += 1,
            _ => printed.pieces.push(piece),
        }
    }
    printed.bytes.extend(bytes);
}
