//! The placement of the program's images in memory, and the breakpoints there.
//!
//! With address space randomisation off an image lies at the same place in each run, so everything
//! here is computed once and serves all runs of a worker. Arming writes the text of all traced
//! functions at once, with an `int3` at each leader.

use std::collections::{BTreeMap, HashMap};

use super::INT3;
use crate::address::{FileAddress, LoadBias, RuntimeAddress};
use crate::process::{AT_BASE, AT_ENTRY, Pid, Tracee};
use crate::program::detour::Patch;
use crate::program::{ImageId, LeaderId, Program, symbol_address};
use crate::termination::ImagePlace;

/// The addresses of the images.
#[derive(Clone, Default)]
pub(crate) struct Placement {
    biases: Vec<Option<LoadBias>>,
    leaders: HashMap<u64, LeaderId>,
    sites: Vec<Site>,
    chunks: Vec<Chunk>,
    /// The index of each piece of text by its first address.
    chunk_starts: BTreeMap<u64, usize>,
    /// The function that the dynamic loader calls after each change to the list of libraries.
    loader_hook: Option<RuntimeAddress>,
}

/// The address of a leader.
#[derive(Clone, Copy)]
struct Site {
    address: RuntimeAddress,
    /// The index of the piece of text that holds it.
    chunk: Option<u32>,
}

/// A piece of traced text.
#[derive(Clone)]
struct Chunk {
    image: ImageId,
    start: RuntimeAddress,
    original: Vec<u8>,
    patched: Vec<u8>,
}

/// A part of a piece of traced text, without breakpoints and with them.
struct Bytes<'a> {
    original: &'a [u8],
    patched: &'a [u8],
}

/// The largest number of bytes of text that are written at once rather than two breakpoints apart.
const MOST_AT_ONCE: usize = 512;

impl Placement {
    /// Locates the executable. The program has not executed an instruction yet.
    pub(crate) fn start(&mut self, program: &Program, tracee: &Tracee) {
        let entry = tracee.auxiliary(AT_ENTRY).unwrap_or(0);
        let bias = LoadBias::between(program.executable().entry, RuntimeAddress(entry));
        let executable = ImageId(0);
        if self.biases.first().copied().flatten() != Some(bias)
            || self.biases.iter().skip(1).any(Option::is_some)
        {
            *self = Placement { biases: vec![None; program.images().len()], ..Placement::default() };
            self.sites = vec![Site { address: RuntimeAddress(0), chunk: None }; program.leaders().len()];
            self.place(program, executable, bias);
        }
        if self.awaits_libraries() {
            self.loader_hook = loader_hook(tracee);
        }
    }

    fn place(&mut self, program: &Program, image: ImageId, bias: LoadBias) {
        self.biases[usize::from(image.0)] = Some(bias);
        for (start, original) in &program.images()[usize::from(image.0)].text {
            let start = bias.to_runtime(*start);
            self.chunk_starts.insert(start.0, self.chunks.len());
            self.chunks.push(Chunk { image, start, original: original.clone(), patched: original.clone() });
        }
        for (number, leader) in
            program.leaders().iter().enumerate().filter(|(_, leader)| leader.image == image)
        {
            let address = bias.to_runtime(leader.address);
            self.leaders.insert(address.0, LeaderId(number as u32));
            let chunk = self.chunk_at(address);
            if let Some(chunk) = chunk {
                let offset = self.chunks[chunk].offset(address);
                self.chunks[chunk].patched[offset] = INT3;
            }
            self.sites[number] = Site { address, chunk: chunk.map(|position| position as u32) };
        }
    }

    /// The index of the piece of text that holds an address.
    fn chunk_at(&self, address: RuntimeAddress) -> Option<usize> {
        let (_, &position) = self.chunk_starts.range(..=address.0).next_back()?;
        self.chunks[position].contains(address).then_some(position)
    }

    /// Locates the libraries that have been mapped meanwhile.
    pub(crate) fn place_libraries(&mut self, program: &Program, tracee: &Tracee) {
        let mapped = tracee.mapped_files();
        for (number, image) in program.images().iter().enumerate() {
            let path = image.path.canonicalize().unwrap_or_else(|_| image.path.clone());
            let place = mapped.iter().find(|(_, file)| *file == path);
            if let (None, Some((start, _))) = (self.biases[number], place) {
                let bias = LoadBias::between(image.base, *start);
                self.place(program, ImageId(number as u16), bias);
            }
        }
    }

    /// Whether an image is not in memory yet.
    pub(crate) fn awaits_libraries(&self) -> bool {
        self.biases.iter().any(Option::is_none)
    }

    /// Whether the loader's hook is at `pc`.
    pub(crate) fn is_loader_hook(&self, pc: u64) -> bool {
        self.loader_hook == Some(RuntimeAddress(pc))
    }

    /// The leader at `pc`.
    pub(crate) fn leader_at(&self, pc: u64) -> Option<LeaderId> {
        self.leaders.get(&pc).copied()
    }

    /// The address of a leader.
    pub(crate) fn address(&self, leader: LeaderId) -> RuntimeAddress {
        self.sites[leader.0 as usize].address
    }

    /// The address of the executable's first instruction.
    pub(crate) fn entry(&self, program: &Program) -> RuntimeAddress {
        let bias = self.biases.first().copied().flatten().unwrap_or(LoadBias(0));
        bias.to_runtime(program.executable().entry)
    }

    /// The traced text from an address on, without breakpoints; `None` outside of it.
    pub(crate) fn text(&self, address: u64) -> Option<&[u8]> {
        let chunk = &self.chunks[self.chunk_at(RuntimeAddress(address))?];
        chunk.original.get(chunk.offset(RuntimeAddress(address))..)
    }

    /// The place in an image that lies at an address.
    pub(crate) fn image_place(&self, program: &Program, address: u64) -> Option<ImagePlace> {
        let images = program.images().iter().zip(&self.biases).zip(0..);
        images.into_iter().find_map(|((image, bias), number)| {
            let place = bias.as_ref()?.to_file(RuntimeAddress(address));
            let is_within = image.base <= place && place < image.end;
            is_within.then_some(ImagePlace { image: ImageId(number), address: place })
        })
    }

    /// The bias of an image: what has to be added to its addresses; 0 as long as it is not in memory.
    pub(crate) fn bias(&self, image: ImageId) -> u64 {
        self.biases.get(usize::from(image.0)).copied().flatten().map_or(0, |bias| bias.0)
    }

    /// The first address at which the text in memory differs from the file.
    pub(crate) fn changed_text(&self, tracee: &Tracee) -> Option<FileAddress> {
        self.chunks.iter().find_map(|chunk| {
            let actual = tracee.read(chunk.start, chunk.original.len()).unwrap_or_default();
            let same = actual.iter().zip(&chunk.original).take_while(|(one, other)| one == other).count();
            let bias = self.biases[usize::from(chunk.image.0)].unwrap_or(LoadBias(0));
            (same < chunk.original.len()).then(|| bias.to_file(RuntimeAddress(chunk.start.0 + same as u64)))
        })
    }

    /// The first address at which the text is neither that of the file nor what was put there to lead to
    /// the tracer: the program, or who unpacked it, has changed it since it was started.
    pub(crate) fn overwritten_text(&self, tracee: &Tracee) -> Option<FileAddress> {
        self.chunks.iter().find_map(|chunk| {
            let actual = tracee.read(chunk.start, chunk.original.len())?;
            let known = chunk.original.iter().zip(&chunk.patched);
            let foreign =
                actual.iter().zip(known).position(|(actual, (one, other))| ![one, other].contains(&actual));
            let bias = self.biases[usize::from(chunk.image.0)].unwrap_or(LoadBias(0));
            foreign.map(|offset| bias.to_file(RuntimeAddress(chunk.start.0 + offset as u64)))
        })
    }

    /// Inserts all breakpoints, except that of `current`.
    pub(crate) fn arm_all(&self, tracee: &Tracee, current: Option<LeaderId>) {
        for chunk in &self.chunks {
            tracee.write(chunk.start, &chunk.patched);
        }
        if let Some(hook) = self.loader_hook {
            tracee.write(hook, &[INT3]);
        }
        if let Some(current) = current {
            self.disarm(tracee, current);
        }
    }

    /// Removes all breakpoints.
    pub(crate) fn disarm_all(&self, tracee: &Tracee) {
        self.originals().for_each(|(start, bytes)| {
            tracee.write(start, bytes);
        });
    }

    /// Removes all breakpoints from the copy of the memory that a forked process has.
    pub(crate) fn disarm_fork(&self, tracee: &Tracee, fork: Pid) {
        self.originals().for_each(|(start, bytes)| tracee.write_to_fork(fork, start, bytes));
    }

    fn originals(&self) -> impl Iterator<Item = (RuntimeAddress, &[u8])> {
        self.chunks.iter().map(|chunk| (chunk.start, chunk.original.as_slice()))
    }

    /// Lets the program go on at `to`: removes its breakpoint, and inserts that of `from` again, the only one that is
    /// out so far. A write costs the same for one byte and for a few hundred, so that one is enough if the two lie
    /// close to each other.
    pub(crate) fn give_way(&self, tracee: &Tracee, from: Option<LeaderId>, to: LeaderId) {
        let together = from.and_then(|from| self.stretch(from, to));
        match (together, from) {
            (Some((start, bytes)), _) => {
                let mut text = [0; MOST_AT_ONCE];
                let text = &mut text[..bytes.patched.len()];
                text.copy_from_slice(bytes.patched);
                let gap = (self.address(to).0 - start.0) as usize;
                text[gap] = bytes.original[gap];
                tracee.write(start, text);
            }
            (None, Some(from)) => {
                self.disarm(tracee, to);
                tracee.write(self.address(from), &[INT3]);
            }
            (None, None) => self.disarm(tracee, to),
        }
    }

    /// The text from one leader to another, whichever comes first, if it is short enough to be written
    /// at once; and where it begins.
    fn stretch(&self, one: LeaderId, other: LeaderId) -> Option<(RuntimeAddress, Bytes<'_>)> {
        let (one, other) = (self.sites[one.0 as usize], self.sites[other.0 as usize]);
        let chunk = &self.chunks[one.chunk.filter(|_| one.chunk == other.chunk)? as usize];
        let (start, end) = (one.address.min(other.address), one.address.max(other.address));
        let range = chunk.offset(start)..chunk.offset(end) + 1;
        let bytes =
            Bytes { original: &chunk.original[range.clone()], patched: &chunk.patched[range.clone()] };
        (range.len() <= MOST_AT_ONCE).then_some((start, bytes))
    }

    /// Removes the breakpoint of one leader.
    fn disarm(&self, tracee: &Tracee, leader: LeaderId) {
        let Site { address, chunk } = self.sites[leader.0 as usize];
        if let Some(chunk) = chunk.map(|position| &self.chunks[position as usize]) {
            tracee.write(address, &[chunk.original[chunk.offset(address)]]);
        }
    }

    /// Whether the executable lies where it is expected, according to the kernel.
    pub(crate) fn is_of(&self, program: &Program, tracee: &Tracee) -> bool {
        tracee.auxiliary(AT_ENTRY) == Some(self.entry(program).0)
    }

    /// Uses these patches instead of breakpoints.
    pub(crate) fn patch(&mut self, patches: &[Patch]) {
        for chunk in &mut self.chunks {
            chunk.patched.clone_from(&chunk.original);
        }
        for Patch { address, bytes, .. } in patches {
            if let Some(chunk) = self.chunk_at(*address).map(|position| &mut self.chunks[position]) {
                let offset = chunk.offset(*address);
                chunk.patched[offset..offset + bytes.len()].copy_from_slice(bytes);
            }
        }
    }

    /// The first address of traced text and the last.
    pub(crate) fn extent(&self) -> (RuntimeAddress, RuntimeAddress) {
        let start = self.chunks.iter().map(|chunk| chunk.start);
        let end = self.chunks.iter().map(|chunk| RuntimeAddress(chunk.start.0 + chunk.original.len() as u64));
        (start.min().unwrap_or(RuntimeAddress(0)), end.max().unwrap_or(RuntimeAddress(0)))
    }
}

impl Chunk {
    fn contains(&self, address: RuntimeAddress) -> bool {
        (self.start.0..self.start.0 + self.original.len() as u64).contains(&address.0)
    }

    fn offset(&self, address: RuntimeAddress) -> usize {
        (address.0 - self.start.0) as usize
    }
}

/// The address of the dynamic loader's `_dl_debug_state`, the function that exists for debuggers.
///
/// Source: glibc, `elf/dl-debug.c`; GDB calls it the `r_brk` interface.
fn loader_hook(tracee: &Tracee) -> Option<RuntimeAddress> {
    let base = tracee.auxiliary(AT_BASE).filter(|&base| base != 0)?;
    let (_, loader) = tracee.mapped_files().into_iter().find(|(start, _)| start.0 == base)?;
    let hook = symbol_address(&loader, "_dl_debug_state")?;
    Some(LoadBias(base).to_runtime(hook))
}
