//! The instructions in a file of code that read from the processor what differs from run to run.

use std::path::Path;

use gimli::{BaseAddresses, EhFrame, LittleEndian, UnwindSection};
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic};
use object::{Object, ObjectSection, ReadCache, SectionKind};

/// An instruction that reads something from the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessorReading {
    /// Its offset in the file.
    pub(crate) offset: u64,
    /// Its length in bytes.
    pub(crate) length: u64,
    /// The value that it reads.
    pub(crate) what: Read,
}

/// The value that an instruction reads from the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// A random number, `rdrand` or `rdseed`: into the register of this number, so many bytes.
    Random { register: usize, size: usize },
    /// The cycle counter, `rdtsc`.
    Cycles,
    /// The cycle counter and the number of the processor, `rdtscp`.
    CyclesAndProcessor,
}

/// The instructions of this kind in the file at `path`; none if it cannot be read.
pub(crate) fn readings(path: &Path) -> Vec<ProcessorReading> {
    let Ok(data) = super::elf::contents(path) else { return Vec::new() };
    let Ok(file) = object::File::parse(&*data) else { return Vec::new() };
    let mut readings = Vec::new();
    for section in file.sections().filter(|section| section.kind() == SectionKind::Text) {
        let (Ok(code), Some((offset, _))) = (section.data(), section.file_range()) else { continue };
        let places: Vec<u64> = candidates(code).map(|place| section.address() + place as u64).collect();
        // Few files have any.
        if places.is_empty() {
            continue;
        }
        for (start, length) in functions(&file) {
            let function = start.checked_sub(section.address()).and_then(|from| {
                let from = usize::try_from(from).ok()?;
                code.get(from..from.checked_add(usize::try_from(length).ok()?)?)
            });
            let is_near = places.iter().any(|&place| (start..start.saturating_add(length)).contains(&place));
            if let Some(function) = function.filter(|_| is_near) {
                let there = |reading: ProcessorReading| ProcessorReading {
                    offset: reading.offset - section.address() + offset,
                    ..reading
                };
                readings.extend(decode(function, start).map(there));
            }
        }
    }
    readings
}

/// Whether the program at `path` is started by glibc's dynamic loader.
pub(crate) fn is_loaded_by_glibc(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return false };
    // Of a large program only the little that is looked at is read.
    let data = ReadCache::new(file);
    let Ok(file) = object::File::parse(&data) else { return false };
    let loader = file.section_by_name(".interp").and_then(|section| section.data().ok());
    loader.is_some_and(|loader| String::from_utf8_lossy(loader).contains("/ld-linux"))
}

/// The offsets at which such an instruction may be, by its last bytes. Others may have these by chance.
fn candidates(code: &[u8]) -> impl Iterator<Item = usize> {
    let is_one = |place: &usize| match code[*place..] {
        [0x0f, 0x31, ..] | [0x0f, 0x01, 0xf9, ..] => true,
        [0x0f, 0xc7, operand, ..] => operand >= 0xf0,
        _ => false,
    };
    (0..code.len()).filter(is_one)
}

/// The addresses and lengths of the functions of a file, as far as its unwind table knows.
fn functions(file: &object::File<'_>) -> Vec<(u64, u64)> {
    let Some(section) = file.section_by_name(".eh_frame") else { return Vec::new() };
    let Ok(data) = section.data() else { return Vec::new() };
    let table = EhFrame::new(data, LittleEndian);
    let bases = BaseAddresses::default().set_eh_frame(section.address());
    let mut functions = Vec::new();
    let mut entries = table.entries(&bases);
    while let Ok(Some(entry)) = entries.next() {
        if let gimli::CieOrFde::Fde(partial) = entry
            && let Ok(entry) = partial.parse(EhFrame::cie_from_offset)
        {
            functions.push((entry.initial_address(), entry.len()));
        }
    }
    functions
}

/// The instructions of this kind in a function, with their addresses in place of offsets.
fn decode(code: &[u8], start: u64) -> impl Iterator<Item = ProcessorReading> {
    let decoder = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
    decoder.into_iter().take_while(|instruction| instruction.code() != Code::INVALID).filter_map(reading)
}

fn reading(instruction: Instruction) -> Option<ProcessorReading> {
    let what = match instruction.mnemonic() {
        Mnemonic::Rdrand | Mnemonic::Rdseed => {
            let register = instruction.op0_register();
            Read::Random { register: register.number(), size: register.size() }
        }
        Mnemonic::Rdtsc => Read::Cycles,
        Mnemonic::Rdtscp => Read::CyclesAndProcessor,
        _ => return None,
    };
    Some(ProcessorReading { offset: instruction.ip(), length: instruction.len() as u64, what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_known_by_length_and_by_what_they_read() {
        // nop; rdrand eax; rdseed r10; rdrand dx; rdtsc; rdtscp
        let code = [
            0x90, 0x0f, 0xc7, 0xf0, 0x49, 0x0f, 0xc7, 0xfa, 0x66, 0x0f, 0xc7, 0xf2, 0x0f, 0x31, 0x0f, 0x01,
            0xf9,
        ];
        let found: Vec<ProcessorReading> = decode(&code, 16).collect();
        let reading = |offset, length, what| ProcessorReading { offset, length, what };
        let random = |register, size| Read::Random { register, size };
        let expected = [
            reading(17, 3, random(0, 4)),
            reading(20, 4, random(10, 8)),
            reading(24, 4, random(2, 2)),
            reading(28, 2, Read::Cycles),
            reading(30, 3, Read::CyclesAndProcessor),
        ];
        assert_eq!(found, expected);
        assert_eq!(candidates(&code).collect::<Vec<_>>(), [1, 5, 9, 12, 14]);
    }

    #[test]
    fn bytes_within_another_instruction_are_none() {
        // mov eax, 0xf0c70f90; mov eax, 0x310f90
        let code = [0xb8, 0x90, 0x0f, 0xc7, 0xf0, 0xb8, 0x90, 0x0f, 0x31, 0x00];
        assert_eq!((candidates(&code).count(), decode(&code, 0).count()), (2, 0));
    }

    #[test]
    fn a_file_that_is_none_has_none() {
        for path in ["/does/not/exist", "/dev/null"].map(Path::new) {
            assert_eq!(readings(path), []);
            assert!(!is_loaded_by_glibc(path));
        }
    }

    #[test]
    fn programs_of_this_system_are_loaded_by_glibc() {
        assert!(is_loaded_by_glibc(Path::new("/proc/self/exe")));
    }
}
