//! The functions of libraries of which more is known than their instructions tell.
//!
//! Three things would make nearly every event depend on nearly every other one, and mean nothing to who reads the
//! program: the bookkeeping of the allocator, what an output stream knows of itself (how full it is), and that the C
//! library reads texts in blocks of up to 64 bytes, which takes in what lies beside them. So of what such code reads
//! only that counts which the functions are documented to read; see [`LibraryFunction`].

use std::collections::HashMap;

use crate::address::RuntimeAddress;
use crate::process::{MemoryRange, Tracee};
use crate::program::library::{ImageLocation, LibraryContents, LibraryFunction, contents};
use crate::program::variables::{MemoryPiece, RegisterValues};

/// The registers of the first three arguments of a function: System V ABI.
const ARGUMENTS: [usize; 3] = [7, 6, 2];
/// The offsets of a stream's pointers: its buffer, the end of that, and its lock; glibc, `struct _IO_FILE`.
const BUFFER: u64 = 56;
const BUFFER_END: u64 = 64;
const LOCK: u64 = 136;
/// The size of a lock in bytes.
const LOCK_SIZE: u64 = 16;
/// The size of a stream that was opened, in bytes, with what it needs for wide characters after it.
const STREAM_SIZE: u64 = 0x1d8;
/// The length up to which texts are looked at.
const LONGEST_TEXT: u64 = 1 << 20;

/// A function of a library that is being executed.
struct Extent {
    function: LibraryFunction,
    /// The stack pointer at its beginning.
    sp: u64,
    arguments: [u64; 3],
    /// Whether traced code has called it.
    is_direct: bool,
}

/// The state of the libraries of a run: what is known of them, and which of their functions are being executed.
#[derive(Default)]
pub(super) struct LibraryState {
    functions: HashMap<u64, LibraryFunction>,
    /// The streams that are written to.
    outputs: Vec<MemoryRange>,
    locks: Vec<MemoryRange>,
    input: Option<MemoryRange>,
    /// The ranges of the images: the executable first.
    images: Vec<MemoryRange>,
    extents: Vec<Extent>,
}

impl LibraryState {
    /// Reads the memory mappings of a program that is about to begin.
    pub(super) fn new(tracee: &Tracee) -> LibraryState {
        let mut state = LibraryState::default();
        for (start, path) in tracee.mapped_files() {
            let LibraryContents { functions, outputs, input, base, end } = contents(&path);
            let bias = start.0.wrapping_sub(base);
            let there = |address: u64| bias.wrapping_add(address);
            state.images.push((start.0, end.saturating_sub(base)));
            state.outputs.extend(outputs.into_iter().map(|(address, size)| (there(address), size)));
            state.input = input.map(|(address, size)| (there(address), size)).or(state.input);
            for (spot, function) in functions {
                let address = match spot {
                    ImageLocation::Address(address) => Some(there(address)),
                    ImageLocation::Slot(slot) => word(tracee, there(slot)),
                };
                state.functions.extend(address.map(|address| (address, function)));
            }
        }
        let locks = state.outputs.iter().filter_map(|&(stream, _)| word(tracee, stream + LOCK));
        state.locks = locks.map(|lock| (lock, LOCK_SIZE)).collect();
        state
    }

    /// Handles untraced code that is about to be executed. Returns what a function reads that begins here.
    pub(super) fn enter(
        &mut self,
        tracee: &Tracee,
        registers: &RegisterValues,
        is_traced: impl Fn(u64) -> bool,
    ) -> Vec<MemoryRange> {
        let Some(&function) = self.functions.get(&registers.pc) else { return Vec::new() };
        // Within a function that is known, others do what it needs.
        if self.extents.iter().any(|extent| hides(extent.function)) {
            return Vec::new();
        }
        let arguments = ARGUMENTS.map(|number| registers.general[number]);
        let is_direct = word(tracee, registers.sp()).is_some_and(is_traced);
        self.extents.push(Extent { function, sp: registers.sp(), arguments, is_direct });
        read_by(tracee, function, arguments)
    }

    /// Closes the functions that have begun below this stack pointer.
    pub(super) fn settle(&mut self, tracee: &Tracee, registers: &RegisterValues) {
        while let Some(Extent { function, arguments, .. }) =
            self.extents.pop_if(|extent| extent.sp < registers.sp())
        {
            match function {
                LibraryFunction::Opens if is_for_output(tracee, arguments[1]) => {
                    let stream = registers.general[0];
                    self.outputs.extend((stream != 0).then_some((stream, STREAM_SIZE)));
                }
                LibraryFunction::Closes => self.outputs.retain(|&(stream, _)| stream != arguments[0]),
                _ => {}
            }
        }
    }

    /// Whether it counts that untraced code reads this piece.
    pub(super) fn counts(&self, tracee: &Tracee, piece: MemoryPiece) -> bool {
        for extent in &self.extents {
            match extent.function {
                LibraryFunction::Reallocates => {
                    // The length of a block stands before it, with three flags: glibc, `malloc.c`.
                    let block = extent.arguments[0];
                    let size =
                        word(tracee, block.wrapping_sub(8)).map_or(0, |size| (size & !7).saturating_sub(8));
                    return block <= piece.address && piece.address < block.saturating_add(size);
                }
                function if hides(function) => return false,
                _ => {}
            }
        }
        // The state of an output stream is the library's own bookkeeping.
        !self.outputs.iter().chain(&self.locks).any(|&book| holds(book, piece.address))
    }

    /// Whether an address lies in standard input, or in what that has read ahead.
    pub(super) fn is_of_input(&self, tracee: &Tracee, address: u64) -> bool {
        self.input.is_some_and(|stream| holds(stream, address) || is_in_buffer(tracee, stream.0, address))
    }

    /// Whether an address lies in what an output stream holds back.
    pub(super) fn is_held_back(&self, tracee: &Tracee, address: u64) -> bool {
        self.outputs.iter().any(|&(stream, _)| is_in_buffer(tracee, stream, address))
    }

    /// Whether traced code has asked for the flush of a stream.
    pub(super) fn flushes(&self) -> bool {
        let asks =
            |extent: &Extent| matches!(extent.function, LibraryFunction::Flushes | LibraryFunction::Closes);
        self.extents.iter().any(|extent| extent.is_direct && asks(extent))
    }

    /// Whether an address lies in the data of an image.
    pub(super) fn is_static(&self, address: u64) -> bool {
        self.images.iter().any(|&image| holds(image, address))
    }
}

/// Whether the reads of a function's own instructions do not count.
fn hides(function: LibraryFunction) -> bool {
    use LibraryFunction::*;
    !matches!(function, Opens | Flushes | Closes)
}

fn holds((start, length): MemoryRange, address: u64) -> bool {
    address.checked_sub(start).is_some_and(|distance| distance < length)
}

fn is_in_buffer(tracee: &Tracee, stream: u64, address: u64) -> bool {
    let (start, end) = (word(tracee, stream + BUFFER), word(tracee, stream + BUFFER_END));
    start.zip(end).is_some_and(|(start, end)| (start..end).contains(&address))
}

fn word(tracee: &Tracee, address: u64) -> Option<u64> {
    let bytes = tracee.read(RuntimeAddress(address), 8)?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

/// Whether a stream that is opened in this mode, fopen(3), is for output alone.
fn is_for_output(tracee: &Tracee, mode: u64) -> bool {
    let mode = tracee.read(RuntimeAddress(mode), 3).unwrap_or_default();
    let end = mode.iter().position(|&byte| byte == 0).unwrap_or(mode.len());
    matches!(mode.first(), Some(b'w' | b'a')) && !mode[..end].contains(&b'+')
}

/// The ranges that a function reads that begins with these arguments.
fn read_by(tracee: &Tracee, function: LibraryFunction, arguments: [u64; 3]) -> Vec<MemoryRange> {
    use LibraryFunction::*;
    let text = |address: u64, most: u64| (address, text_length(tracee, address, most));
    let [first, second, third] = arguments;
    match function {
        ReadsTexts(count) => {
            arguments[..usize::from(count)].iter().map(|&at| text(at, LONGEST_TEXT)).collect()
        }
        ReadsTextsUpTo(count) => arguments[..usize::from(count)].iter().map(|&at| text(at, third)).collect(),
        ReadsTextUpToSecond => vec![text(first, second)],
        ReadsBoth => vec![(first, third), (second, third)],
        ReadsFirst => vec![(first, third.min(LONGEST_TEXT))],
        Allocates | Reallocates | Opens | Flushes | Closes => Vec::new(),
    }
}

/// The length of a text with the byte that ends it, at most so many bytes.
fn text_length(tracee: &Tracee, address: u64, most: u64) -> u64 {
    let most = most.min(LONGEST_TEXT);
    let mut length = 0;
    while length < most {
        // Not beyond the page: the next one may not be there.
        let room = (4096 - (address.wrapping_add(length) & 0xfff)).min(most - length);
        let Some(bytes) = tracee.read(RuntimeAddress(address.wrapping_add(length)), room as usize) else {
            break;
        };
        match bytes.iter().position(|&byte| byte == 0) {
            Some(end) => return length + end as u64 + 1,
            None => length += room,
        }
    }
    length
}
